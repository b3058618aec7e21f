"""A followed run that grows past its bound loses its oldest part and goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db.models import Max
from django.test import Client
from pytest_django import Settings

from schedweb.accounts.models import AuditEntry
from schedweb.engine.moments import moment
from schedweb.runs.following import thinning
from schedweb.runs.following.thinning import Thinning, forget, forget_some, next_base, rebase
from schedweb.runs.models import Checkpoint, Followed, JournalEntry, Run, RunBase
from schedweb.runs.playing.commands import command_append
from schedweb.runs.storing import sizes
from schedweb.runs.storing.lease import Lease, LeaseLost
from schedweb.runs.storing.stored import begin_of
from schedweb.worker.playing import play_run
from tests.apiserver import ApiServer
from tests.apiserver.manifests import node, pod
from tests.schedweb.clusters.conftest import CONTEXT, Worker, until
from tests.schedweb.clusters.followed import (
    MESSAGE,
    URL,
    column,
    followed,
    live,
    same_as_the_cluster,
    stands,
    state,
    unschedulable,
)

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quick_watching")]
BOUND = 600_000


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    """Measured, and a checkpoint made, far more often than of a run that lasts for days."""
    monkeypatch.setattr(sizes, "EVERY_SECONDS", 0.1)
    monkeypatch.setattr(sizes, "SHARE", 1)
    settings.ENGINE_CHECKPOINT_SECONDS = 0.2


def told_until_thinned(cluster: ApiServer, run: Run, name: str) -> int:
    """Pods come and go until the run begins later than before; answers where. They are as large together as what is
    kept of the run several times over."""
    before = Run.objects.get(pk=run.pk).base_position
    for part in range(50):
        for number in range(100):
            cluster.add(unschedulable(f"{name}-{part}-{number}"))
            cluster.remove("pods", f"{name}-{part}-{number}", "shop")
        cluster.add(pod(f"{name}-{part}", "shop", on="n1"))
        until(stands(run, f"{name}-{part}", "bound"))
        cluster.remove("pods", f"{name}-{part}", "shop")
        until(stands(run, f"{name}-{part}", ""))
        if (base := Run.objects.get(pk=run.pk).base_position) > before:
            return base
    raise AssertionError("nothing went")


def from_its_base(run: Run) -> None:
    """Replay from the base alone, to the digest that is stored."""
    run.refresh_from_db()
    assert run.base_position > 0
    Checkpoint.objects.filter(run=run).delete()
    again = moment(begin_of(run))
    assert (again.digest, again.position) == (run.digest, run.position)


@pytest.mark.usefixtures("often")
def test_it_goes_on_within_its_bound(
    cluster: ApiServer, operator: Client, olga: User, workers: Callable[[Run], Worker]
) -> None:
    run = followed(operator)
    Followed.objects.filter(run=run).update(most_bytes=BOUND)
    first = workers(run)
    live(operator, run)
    cluster.add(unschedulable("stays"))
    cluster.add(node("short-lived"))
    until(run.node_records.filter(name="short-lived").exists)
    cluster.remove("nodes", "short-lived")
    bases = [told_until_thinned(cluster, run, "a"), told_until_thinned(cluster, run, "b")]
    assert 0 < bases[0] < bases[1]
    until(lambda: not run.node_records.filter(name="short-lived").exists())
    first.lose_the_lease()
    second = workers(run)
    live(operator, run)
    bases.append(told_until_thinned(cluster, run, "c"))
    second.supervisor.child.child.kill()
    cluster.add(pod("after-the-engine-died", "shop", on="n2"))
    until(stands(run, "after-the-engine-died", "bound"))
    until(same_as_the_cluster(cluster, run))
    second.end()

    run.refresh_from_db()
    base = run.base_position
    assert not JournalEntry.objects.filter(run=run, position__lt=base, type="cluster_changes").exclude(
        number=JournalEntry.objects.filter(run=run).aggregate(newest=Max("number"))["newest"]
    )
    assert sum(sizes.measure(run.pk).values()) < BOUND
    assert operator.get(f"/api/v1/runs/{run.pk}/pods/shop/stays/").json()["answer"]["message"] == MESSAGE

    early = operator.get(f"/api/v1/runs/{run.pk}@{base - 1}/")
    assert (early.status_code, early.json()["error"]["code"]) == (422, "thinned")
    thinned = operator.get(f"/api/v1/runs/{run.pk}/").json()["thinned"]
    assert thinned["position"] == base
    assert early.json()["error"]["message"] == thinned["text"]
    assert f"The past of {run} before {thinned['at'][:10]}" in thinned["text"]
    why = {"name": "why_pending", "position": base - 1, "arguments": {"namespace": "shop", "name": "stays"}}
    for address, asked in (
        ("forks", {"position": base - 1}),
        ("forks", {"position": base - 1, "arrivals": True}),
        ("analyses", why),
    ):
        refused = operator.post(f"/api/v1/runs/{run.pk}/{address}/", asked, content_type="application/json")
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, "thinned")
    from_its_base(run)

    forked = operator.post(f"/api/v1/runs/{run.pk}/forks/", {}, content_type="application/json")
    assert forked.status_code == 201, forked.content
    fork = Run.objects.get(pk=forked.json()["id"])
    command_append(run_id=fork.pk, user=olga, body={"type": "play", "speed": "max"})
    its = workers(fork)
    until(lambda: Run.objects.get(pk=fork.pk).state == "finished")
    its.end()
    assert column(fork, "after-the-engine-died") == "bound"
    here = fork.pod_records.exclude(column="deleted")
    assert set(here.values_list("name", flat=True)) == set(
        run.pod_records.exclude(column="deleted").values_list("name", flat=True)
    )
    assert not here.filter(manifest=None).exists()
    assert fork.node_records.count() == 3
    from_its_base(fork)


def grown(cluster: ApiServer, operator: Client, workers: Callable[[Run], Worker]) -> tuple[Run, Lease]:
    """A run with some checkpoints that nobody plays, as its last holder's lease leaves it."""
    run = followed(operator)
    worker = workers(run)
    live(operator, run)
    for number in range(4):
        cluster.add(pod(f"more-{number}", "shop", on="n1"))
        until(stands(run, f"more-{number}", "bound"))
    worker.end()
    again = workers(run)
    live(operator, run)
    again.end()
    Run.objects.filter(pk=run.pk).update(lease_owner="me")
    run.refresh_from_db()
    return run, Lease(run.pk, run.epoch, "me", False, None)


@pytest.mark.usefixtures("often")
def test_who_dies_on_the_way_leaves_nothing_half_gone(
    cluster: ApiServer, operator: Client, workers: Callable[[Run], Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    run, lease = grown(cluster, operator, workers)
    before = JournalEntry.objects.filter(run=run).count()
    where = next_base(run)
    assert where is not None
    zombie = Lease(run.pk, run.epoch - 1, "me", False, None)
    with pytest.raises(LeaseLost):
        rebase(run, zombie, where)
    run.refresh_from_db()
    assert (run.base_position, RunBase.objects.exists()) == (0, False)

    assert rebase(run, lease, where)
    run.refresh_from_db()
    kept = run.base_position, JournalEntry.objects.filter(run=run).count()
    assert kept == (where, before), "the switch, and nothing has gone yet"
    assert moment(begin_of(run)).digest == run.digest
    with pytest.raises(LeaseLost):
        forget(run, zombie)
    assert JournalEntry.objects.filter(run=run).count() == before

    monkeypatch.setattr(thinning, "AT_ONCE", 1)
    steps = 0

    def dies(rows: Any, held: Lease) -> bool:
        nonlocal steps
        steps += 1
        if steps == 3:
            raise OSError("killed")
        return forget_some(rows, held)

    with monkeypatch.context() as patched:
        patched.setattr(thinning, "forget_some", dies)
        with pytest.raises(OSError, match="killed"):
            forget(run, lease)
    assert JournalEntry.objects.filter(run=run).count() == before - 2
    assert moment(begin_of(run)).digest == run.digest
    Thinning(lease).when_over()
    left = JournalEntry.objects.filter(run=run, position__lt=where)
    newest = JournalEntry.objects.filter(run=run).aggregate(newest=Max("number"))["newest"]
    assert set(left.values_list("number", flat=True)) <= {newest}
    from_its_base(run)
    Run.objects.filter(pk=run.pk).update(lease_owner="", lease_expires=None)
    workers(run)
    cluster.add(pod("afterwards", "shop", on="n0"))
    until(stands(run, "afterwards", "bound"))


@pytest.mark.usefixtures("often")
def test_what_another_version_thinned_is_followed_by_a_new_run(
    cluster: ApiServer, operator: Client, workers: Callable[[Run], Worker]
) -> None:
    run, lease = grown(cluster, operator, workers)
    where = next_base(run)
    assert where is not None
    assert rebase(run, lease, where)
    RunBase.objects.update(engine_version="1")
    Checkpoint.objects.update(engine_version="1")
    Run.objects.filter(pk=run.pk).update(lease_owner="", lease_expires=None)
    refused = operator.post(f"/api/v1/runs/{run.pk}/forks/", {}, content_type="application/json")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "other_version")
    assert play_run(run.pk)
    run.refresh_from_db()
    new = Run.objects.exclude(pk=run.pk).get()
    assert (run.state, new.follows, new.own_world) == ("stopped", CONTEXT, False)
    ended = state(operator, run)
    assert ended["state"] == "ended"
    assert f"{CONTEXT} is followed by {new} now." in ended["problem"]
    assert state(operator, new)["most_bytes"] == ended["most_bytes"]
    workers(new)
    until(same_as_the_cluster(cluster, new))


@pytest.mark.parametrize("megabytes", [0, -5, 100_001, "much"])
def test_a_bound_that_cannot_be_is_refused(cluster: ApiServer, operator: Client, megabytes: Any) -> None:
    answer = operator.post(URL, {"megabytes": megabytes}, content_type="application/json")
    assert (answer.status_code, answer.json()["error"]["path"]) == (400, "megabytes")
    assert not cluster.requests
    with pytest.raises(CommandError, match="a whole number from 1 to 100000 is wanted"):
        call_command("cluster", "follow", CONTEXT, f"--megabytes={megabytes}")


def test_a_person_says_how_much_is_kept(cluster: ApiServer, operator: Client, olga: User) -> None:
    run = followed(operator, megabytes=80)
    url = f"/api/v1/runs/{run.pk}/follow/"
    known = operator.get(url).json()
    assert (known["most_bytes"], known["measured_at"]) == (80_000_000, None)
    assert operator.get(f"/api/v1/clusters/{CONTEXT}/").json()["follow_megabytes"] == 500

    def keep(megabytes: object) -> tuple[int, Any]:
        answer = operator.put(url, {"megabytes": megabytes}, content_type="application/json")
        return answer.status_code, answer.json()

    assert keep(120) == (200, operator.get(url).json())
    assert Followed.objects.get(run=run).most_bytes == 120_000_000
    noted = AuditEntry.objects.get(action="run.keep")
    assert (noted.username, noted.target, noted.details) == ("olga", str(run), {"megabytes": 120, "before": 80})
    for wrong in (0, 100_001, "much", None):
        assert keep(wrong)[0] == 400
    Run.objects.filter(pk=run.pk).update(state=Run.State.STOPPED)
    assert (keep(90)[0], keep(90)[1]["error"]["code"]) == (409, "stopped")
    Followed.objects.filter(run=run).delete()
    assert keep(90)[0] == 404
    assert AuditEntry.objects.filter(action="run.keep").count() == 1


@pytest.mark.usefixtures("often")
def test_a_smaller_bound_takes_effect_while_it_plays(
    cluster: ApiServer, operator: Client, workers: Callable[[Run], Worker]
) -> None:
    run = followed(operator, megabytes=100)
    worker = workers(run)
    live(operator, run)
    cluster.add(pod("early", "shop", on="n1"))
    until(stands(run, "early", "bound"))
    until(lambda: Run.objects.get(pk=run.pk).measured_at)
    assert Run.objects.get(pk=run.pk).base_position == 0
    url = f"/api/v1/runs/{run.pk}/follow/"
    assert operator.put(url, {"megabytes": 1}, content_type="application/json").status_code == 200
    assert told_until_thinned(cluster, run, "later") > 0
    worker.end()
