"""A run that schedules a cluster and grows past its bound: its past goes, who waits for a person goes on waiting."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from schedweb.runs.models import ClusterWrite, Followed, Run
from schedweb.runs.storing import sizes
from tests.apiserver import ApiServer
from tests.schedweb.clusters.conftest import until
from tests.schedweb.clusters.followed import stands
from tests.schedweb.clusters.scheduled import Begin, asks, at_rest, begun, bindings, decide, state
from tests.schedweb.clusters.scheduling.conftest import node_of, ours
from tests.schedweb.clusters.test_thinning import BOUND, from_its_base, often

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quick_watching", "often")]
__all__ = ["often"]


def bound_until_thinned(server: ApiServer, run: Run, name: str) -> list[str]:
    """Pods are bound and deleted until the run begins later than before; answers which."""
    before, made = Run.objects.get(pk=run.pk).base_position, []
    for part in range(60):
        names = [f"{name}-{part}-{number}" for number in range(10)]
        server.add(*(ours(each) for each in names))
        for each in names:
            until(lambda each=each: node_of(server, each))  # type: ignore[misc]
        until(stands(run, names[-1], "bound"))
        for each in names:
            server.remove("pods", each, "default")
        until(stands(run, names[-1], ""))
        made += names
        if Run.objects.get(pk=run.pk).base_position > before:
            return made
    raise AssertionError("nothing went")


def test_its_past_goes_and_nothing_is_done_twice(
    server: ApiServer, operator: Client, version: str, workers: Begin
) -> None:
    server.add(asks("waits"), asks("rejected-later"), ours("large", cpu="900"))
    run = begun(operator, version)
    Followed.objects.filter(run=run).update(most_bytes=BOUND)
    first = workers(run)
    until(stands(run, "waits", "waiting"))
    until(stands(run, "rejected-later", "waiting"))
    came = bound_until_thinned(server, run, "a")
    first.lose_the_lease()

    second = workers(run)
    came += bound_until_thinned(server, run, "b")
    assert not node_of(server, "waits"), "still nobody has approved"
    decide(operator, run, "approve", "waits")
    decide(operator, run, "reject", "rejected-later", "too dear")
    until(lambda: node_of(server, "waits"))
    until(stands(run, "waits", "bound"))
    second.supervisor.child.child.kill()
    server.add(ours("after"))
    until(lambda: node_of(server, "after"))
    until(stands(run, "after", "bound"))
    at_rest(run)
    second.end()

    assert sorted(bindings(server)) == sorted([*came, "after", "waits"]), "each of them once"
    from_its_base(run)
    assert sum(sizes.measure(run.pk).values()) < 2 * BOUND
    left: Any = operator.get(f"/api/v1/runs/{run.pk}/schedule/writes/").json()
    assert left["results"], "the newest writes are told"
    rows = ClusterWrite.objects.filter(run=run).order_by("number")
    assert rows.count() < rows.values_list("number", flat=True).reverse()[0], "older ones are gone"
    assert state(operator, run)["on_their_way"] == 0
    asked = {"position": run.base_position - 1}
    refused = operator.post(f"/api/v1/runs/{run.pk}/forks/", asked, content_type="application/json")
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "thinned")
