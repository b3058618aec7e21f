"""For the same decisions our writer sends what kube-scheduler 1.36.2 sent, request by request."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.apiserver import ApiServer
from tests.apiserver.manifests import node
from tests.apiserver.recordings import is_readable, load, scenarios
from tests.apiserver.test_recordings import BEFORE, NO_MATTER, NODES, NOTHING_SENT, UNREADABLE, WORLD, in_order
from tests.schedweb.clusters.writing.recorded import DEPARTURES, Written


def writes_in(scenario: str) -> int:
    """Those of kube-scheduler that are not about its lease."""
    return sum(
        1
        for each in load(scenario)["requests"]
        if each.get("verb") not in (None, "GET")
        and "userAgent" in each
        and "status" in each
        and "/leases" not in each["path"]
        and is_readable(each)
    )


WITH_WRITES = [name for name in scenarios() if name not in NOTHING_SENT and writes_in(name)]


@pytest.mark.parametrize("scenario", WITH_WRITES)
def test_our_requests_are_the_recorded_ones(scenario: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
    with ApiServer(tls=False) as server:
        replay = Written(server, scenario, tmp_path)
        server.add(*(node(name) for name in NODES))
        replay.seed()
        if scenario in BEFORE:
            BEFORE[scenario](replay)
        for _, step in in_order(replay):
            if isinstance(step, dict) and "path" in step:
                replay.send(step)
            elif isinstance(step, str) and step not in NO_MATTER:
                WORLD[step](replay)
            server.settle()
            replay.look()
    repeated = sum(1 for _, outcome in replay.outcomes if outcome.tries > 1)
    assert replay.written + replay.departed + repeated == writes_in(scenario)
    assert replay.unreadable == UNREADABLE.get(scenario, 0)


def test_scenarios_without_writes_are_known() -> None:
    without = set(scenarios()) - set(WITH_WRITES)
    assert without == {"api_gone_15s_scheduler_exits", "bind_gated", "no_profile", "rbac", "startup_default_protobuf"}
    assert {each.scenario for each in DEPARTURES} <= set(WITH_WRITES)
