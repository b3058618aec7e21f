"""The API describes itself: every operation and parameter, and the list at its root."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from tests.schedweb.runs.conftest import Game
from tests.schedweb.runs.sharing.test_share_links import make, patterns
from tests.schedweb.runs.test_api import check_shape, schema

pytestmark = pytest.mark.django_db(transaction=True)


def operations() -> Iterator[tuple[str, Any]]:
    for path, methods in schema()["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def test_every_operation_and_every_parameter_is_described() -> None:
    undescribed = []
    for name, operation in operations():
        if not operation.get("description", "").strip():
            undescribed.append(name)
        undescribed += [
            f"{name} {each['name']}"
            for each in operation.get("parameters", ())
            if not each.get("description", "").strip()
        ]
    assert undescribed == []
    assert len(list(operations())) > 70


def test_the_root_lists_every_address_there_is(client: Client) -> None:
    body = client.get("/api/v1/").json()
    check_shape("/api/v1/", body)
    listed = {each["path"] for each in body["endpoints"]}
    assert listed == set(schema()["paths"])
    methods = {(each["path"], one["method"]): one for each in body["endpoints"] for one in each["methods"]}
    wait = methods["/api/v1/runs/{run}/wait/", "GET"]
    assert (wait["name"], wait["role"], [each["name"] for each in wait["parameters"]]) == (
        "runs_wait",
        "viewer",
        ["seconds"],
    )
    assert methods["/api/v1/runs/", "POST"]["role"] == "operator"
    assert methods["/api/v1/configurations/", "POST"]["role"] == "editor"
    for address in ("openapi", "docs"):
        assert client.get(body[address]).status_code == 200
    # As many as are routed: none was left out of the description.
    routed = [each for each in patterns() if each.startswith("api/v1/")]
    assert len(listed) == len(routed)


def test_nobody_and_no_visitor_is_told(played: Game, client: Client) -> None:
    assert Client().get("/api/v1/").status_code == 401
    visitor = Client()
    visitor.get(make(client, played.id)["path"])
    assert visitor.get("/api/v1/").status_code == 403
