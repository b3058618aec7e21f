"""The running product keeps to what its OpenAPI file says, whatever it is asked: schemathesis asks.

`CONTRACT_EXAMPLES=300 pytest tests/deploy/test_contract.py` asks for much longer, and other things each time.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final
from zlib import crc32

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from scripts.processes import Playground
from scripts.site import CONFIGURATION, Site
from tests.deploy.main_flow import CLUSTER
from tests.first_start import FirstStart

EXAMPLES: Final = int(os.environ.get("CONTRACT_EXAMPLES", "0"))
"""0: as many as the tests of every day have time for, always the same ones."""
CHECKED: Final = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
PATIENCE: Final = 60
BOUNDED: Final = settings(
    max_examples=EXAMPLES or 3,
    derandomize=not EXAMPLES,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


class Asked:
    """A playground with a run that was played, and the ids of what is there."""

    def __init__(self, playground: Playground) -> None:
        self.site = Site(playground.origin)
        self.site.open_link(playground.link)
        snapshot = self.site.import_snapshot(json.dumps(CLUSTER), "contract")
        saved = self.site.post("/api/v1/configurations/", {"name": "asks a person", "text": CONFIGURATION})
        wanted = {"snapshot": snapshot["id"], "configuration_version": saved["latest"]["id"], "seed": 7}
        run = self.site.post("/api/v1/runs/", wanted)["id"]
        self.site.command(run, {"type": "play", "speed": "max"})
        self.site.run_until(run, "it waits for a person", lambda seen: seen["state"] == "waiting_for_person")
        journal = self.site.get(f"/api/v1/runs/{run}/journal/")["results"]
        self.known = {
            "run": run,
            "other": run,
            "snapshot_id": snapshot["id"],
            "configuration_id": saved["id"],
            "entry": journal[0]["id"],
            "namespace": "shop",
            "name": "too-large",
            "number": 1,
            "position": 1,
        }

    def ask(self, case: Any) -> Any:
        headers = {"X-CSRFToken": self.site.csrf_token, "Origin": self.site.origin}
        return case.call(base_url=self.site.origin, cookies=self.site.cookies(), headers=headers, timeout=PATIENCE)


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory, first_start: FirstStart) -> Iterator[Asked]:
    playground = Playground(first_start.into(tmp_path_factory.mktemp("contract")))
    try:
        yield Asked(playground)
    finally:
        playground.process.stop()


def described(asked: Asked) -> Any:
    document = asked.site.ask("GET", "/api/schema/?format=json").body
    schema = schemathesis.openapi.from_dict(document)

    @schema.hook
    def map_path_parameters(context: Any, parameters: dict[str, Any] | None) -> dict[str, Any] | None:
        """What is there, half of the time: else everything would be answered 404. What deletes names nothing."""
        if not parameters or context.operation.method.upper() == "DELETE":
            return parameters
        return {
            name: asked.known.get(name, value) if crc32(str(value).encode()) % 2 else value
            for name, value in parameters.items()
        }

    @schema.hook
    def map_query(context: Any, query: dict[str, Any] | None) -> dict[str, Any] | None:
        """Nobody has time to wait."""
        return {**query, "seconds": 0} if query and "seconds" in query else query

    return schema


@pytest.mark.timeout(0 if EXAMPLES else 300)
def test_it_answers_as_described(asked: Asked) -> None:
    faults: dict[str, str] = {}
    statuses: Counter[int] = Counter()
    for result in described(asked).get_all_operations():
        operation = result.ok()

        @BOUNDED
        @given(case=operation.as_strategy())
        def look(case: Any) -> None:
            answer = asked.ask(case)
            statuses[answer.status_code] += 1
            case.validate_response(answer, checks=CHECKED)

        try:
            look()
        except (AssertionError, schemathesis.errors.SchemathesisError, BaseExceptionGroup) as error:
            faults[operation.label] = str(error)[:1500]
    assert not faults, "\n\n".join(f"{name}: {text}" for name, text in faults.items())
    assert statuses.total() > 150
    assert statuses[200] > 20, "what it asks for is there"
