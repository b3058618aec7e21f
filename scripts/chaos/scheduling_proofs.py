"""What must be true of a real cluster that a run scheduled while everything broke: from the cluster's own record of
what it was asked and of what changed, laid beside what the run says.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from scripts.chaos import proofs
from scripts.chaos.cluster import Cluster
from scripts.chaos.people import Accepted
from scripts.chaos.real_cluster import SHOP, Made, RealCluster
from tests.apiserver.kinds import Json
from tests.apiserver.log import Request

MAY_WRITE_FOR: Final = timedelta(seconds=10)
"""After the last renewal of the Lease (schedweb/clusters/writing/lease.py)."""
ON_THE_WAY: Final = timedelta(seconds=1)
"""A request that nothing delays is there within it, on a busy machine."""
RESTLESS: Final = ("active", "backoff", "in_flight", "waiting")


@dataclass
class Counted:
    """Figures of a run that is over."""

    bound: int = 0
    pending: int = 0
    approved: int = 0
    rejected: int = 0
    decided_again: int = 0
    """Approvals of pods that could not be bound then."""
    evicted: int = 0
    volumes: int = 0
    writes: int = 0
    late: int = 0
    """Writes that arrived late, because their way or their sender stood still."""
    outcomes: list[tuple[Any, ...]] = field(default_factory=list)
    """(purpose, result, how many) of the run's own record of its writes."""
    wrong: list[str] = field(default_factory=list)


@dataclass
class Told:
    """What the run says of itself."""

    columns: dict[str, tuple[str, str]]
    """uid → (column, node)."""
    attempts: dict[str, tuple[str, str]]
    """uid → (result, message) of the last one."""
    decisions: dict[str, list[str]]
    """uid → approved, rejected, …, in their order."""

    @staticmethod
    def by(cluster: Cluster, run: str) -> Told:
        decisions: dict[str, list[str]] = defaultdict(list)
        rows = cluster.rows("SELECT pod_uid, decision FROM runs_decision WHERE run_id = %s ORDER BY number", run)
        for uid, decision in rows:
            decisions[uid].append(decision)
        records = cluster.rows('SELECT uid, "column", node FROM runs_podrecord WHERE run_id = %s', run)
        last = cluster.rows("SELECT pod_uid, result, message FROM runs_attempt WHERE run_id = %s ORDER BY number", run)
        return Told(
            {uid: (column, node) for uid, column, node in records},
            {uid: (result, message) for uid, result, message in last},
            decisions,
        )


def unquiet(cluster: Cluster, real: RealCluster, run: str) -> list[str]:
    """What is still under way, and what is not yet as the run says: empty when all has settled."""
    unanswered = cluster.rows(
        "SELECT purpose, name FROM runs_clusterwrite WHERE run_id = %s AND outcome IS NULL LIMIT 5", run
    )
    told = Told.by(cluster, run)
    stored = pods_of(real)
    found = [f"a write without an outcome: {row}" for row in unanswered]
    for made in real.made.values():
        column = told.columns.get(made.uid, ("", ""))[0]
        if column in (*RESTLESS, ""):
            found.append(f"{made.planned.name} is {column or 'unknown'} in the run")
        else:
            found += of_pod(made, stored, told)
    return found


def prove(cluster: Cluster, real: RealCluster, accepted: Accepted, run: str) -> Counted:
    """After the run was stopped."""
    counted, told, stored = Counted(), Told.by(cluster, run), pods_of(real)
    wrong = counted.wrong
    for made in real.made.values():
        wrong += of_pod(made, stored, told)
    is_bound = [bool(stored.get(made.uid, {}).get("spec", {}).get("nodeName")) for made in real.made.values()]
    counted.bound, counted.pending = sum(is_bound), len(is_bound) - sum(is_bound)
    wrong += bound_twice(real)
    wrong += of_decisions(cluster, real, accepted, run, told, counted)
    wrong += of_evictions(real, counted)
    wrong += of_volumes(real, stored, counted)
    wrong += without_lease(real, counted)
    lost, doubled, pending = proofs.commands_lost_or_doubled(cluster, accepted)
    wrong += [*lost, *doubled, *pending, *proofs.bound_twice(cluster, [run])]
    wrong += [f"not at rest: {row}" for row in proofs.unsettled(cluster, [run])]
    wrong += [f"replay: {why or 'the run is gone'}" for why in [proofs.replays(cluster, [run]).get(run, "gone")] if why]
    counted.outcomes = cluster.rows(
        "SELECT purpose, outcome->>'result', count(*) FROM runs_clusterwrite WHERE run_id = %s "
        "GROUP BY 1, 2 ORDER BY 1, 2",
        run,
    )
    wrong += [
        f"{times} writes ({purpose}) without an outcome" for purpose, result, times in counted.outcomes if not result
    ]
    return counted


def pods_of(real: RealCluster) -> dict[str, Json]:
    """By uid."""
    return {each["metadata"]["uid"]: each for each in real.server.all("pods")}


# --- one pod ----------------------------------------------------------------------------------------------------------


def of_pod(made: Made, stored: dict[str, Json], told: Told) -> Iterator[str]:
    """Bound as it should be, and where the run says; or pending, for the reason that the run says and that is true."""
    name, pod = made.planned.name, stored.get(made.uid)
    if pod is None:
        yield f"{name} is gone"
        return
    node = pod["spec"].get("nodeName", "")
    column, known = told.columns.get(made.uid, ("", ""))
    result, message = told.attempts.get(made.uid, ("", ""))
    if (column == "bound") != bool(node) or (node and node != known):
        yield f"{name}: {node or 'pending'} in the cluster, {column} {known} in the run"
    last = (told.decisions.get(made.uid) or [""])[-1]
    if made.planned.asks and bool(node) != (last == "approved"):
        yield f"{name}: {node or 'pending'}, though it was {last or 'not decided'}"
    elif not made.planned.asks and bool(node) == (made.planned.kind == "huge"):
        yield f"{name}: {node or 'pending'}: {result} {message}"
    if not node:
        yield from of_reason(made, pod, result, message)


def of_reason(made: Made, pod: Json, result: str, message: str) -> Iterator[str]:
    conditions = pod["status"].get("conditions", [])
    condition: Json = next((each for each in conditions if each["type"] == "PodScheduled"), {})
    said = (condition.get("status"), condition.get("reason"), condition.get("message"))
    reason = "SchedulerError" if result == "error" else "Unschedulable"
    if said != ("False", reason, message):
        yield f"{made.planned.name}: the cluster says {said}, the run {(result, message)}"
    true = "not today" if made.planned.asks else "Insufficient cpu"
    if true not in str(said[2]):
        yield f"{made.planned.name}: {true} is why, and what is said is {said}"


# --- what was asked of the cluster ------------------------------------------------------------------------------------


def done(requests: list[Request]) -> list[Request]:
    """That were carried out, whoever heard of it."""
    return [each for each in requests if each.status in (200, 201) and not each.dry_run]


def bound_twice(real: RealCluster) -> Iterator[str]:
    bindings = Counter(
        each.body["metadata"]["uid"] for each in done(real.server.requests.select(resource="pods/binding"))
    )
    for uid, times in (bindings | real.witness.bound).items():
        if times > 1:
            yield f"{uid} was bound {times} times"
    yield from (f"moved: {each}" for each in real.witness.moved)
    for made in real.made.values():
        changes = real.witness.bound[made.uid]
        if changes != bindings[made.uid]:
            yield f"{made.planned.name}: {bindings[made.uid]} bindings, and its node was set {changes} times"


def of_decisions(
    cluster: Cluster, real: RealCluster, accepted: Accepted, run: str, told: Told, counted: Counted
) -> Iterator[str]:
    """Each that was carried out is one decision of the run and at least one Event of the pod, and none is both."""
    rows = cluster.rows(
        "SELECT client_id::text, result FROM runs_journalentry WHERE run_id = %s AND type = 'decide'", run
    )
    results = dict(rows)
    carried_out: Counter[tuple[str, str]] = Counter()
    for client_id, body in accepted.commands.get(run, {}).items():
        if body["type"] != "decide" or (result := results.get(client_id)) is None:
            continue
        for each in (result if isinstance(result, dict) else json.loads(result)).get("pods", []):
            if each["decided"]:
                carried_out[each["name"], "approved" if body["decision"] == "approve" else "rejected"] += 1
    names = {made.uid: made.planned.name for made in real.made.values()}
    known = Counter((names.get(uid, uid), each) for uid, decided in told.decisions.items() for each in decided)
    if carried_out != known:
        yield f"decisions: people were told {carried_out - known}, the run has {known - carried_out}"
    events = Counter(
        (each["involvedObject"]["name"], each["reason"].lower())
        for each in real.server.all("Event")
        if each["reason"] in ("Approved", "Rejected")
    )
    for about, times in known.items():
        if not 1 <= events[about] <= times:
            yield f"{about[0]} was {about[1]} {times} times, and {events[about]} Events say so"
    yield from (f"{about}: an Event of what nobody decided" for about in events if not known[about])
    counted.approved = sum(times for (_, what), times in known.items() if what == "approved")
    counted.rejected = sum(times for (_, what), times in known.items() if what == "rejected")
    counted.decided_again = sum(max(0, times - 1) for (_, what), times in known.items() if what == "approved")


def of_evictions(real: RealCluster, counted: Counted) -> Iterator[str]:
    deletions = done(real.server.requests.select(verb="delete", resource="pods"))
    counted.evicted = len(deletions)
    for uid, times in Counter(each.body["preconditions"]["uid"] for each in deletions).items():
        if times > 1:
            yield f"{uid} was evicted {times} times"
    urgent = sum(made.planned.kind == "urgent" for made in real.made.values())
    if len(deletions) > urgent:
        yield f"{len(deletions)} pods were evicted for {urgent} that needed room"
    for each in deletions:
        if not each.name.startswith("low-"):
            yield f"{each.name} was evicted"
    left = sum(each["metadata"].get("labels", {}).get("guarded") == "yes" for each in real.server.all("pods"))
    guarded = real.server.get("poddisruptionbudgets", "guards", SHOP)["spec"]["minAvailable"]
    if left != guarded:
        yield f"{guarded - left} pods were evicted against their budget, with others left"


def of_volumes(real: RealCluster, stored: dict[str, Json], counted: Counted) -> Iterator[str]:
    """Who is bound has a volume that only its claim has, and that its node reaches."""
    volumes = {each["metadata"]["name"]: each for each in real.server.all("persistentvolumes")}
    for made in real.made.values():
        node = stored.get(made.uid, {}).get("spec", {}).get("nodeName")
        if not made.planned.storage or not node:
            continue
        counted.volumes += 1
        claim = real.server.get("persistentvolumeclaims", made.planned.name, SHOP)
        volume: Any = volumes.get(claim["spec"].get("volumeName", ""))
        if volume is None:
            yield f"{made.planned.name} is bound, and its claim is not"
            continue
        if volume["spec"]["claimRef"].get("uid") != claim["metadata"]["uid"]:
            yield f"{made.planned.name}: its volume is another claim's"
        terms = volume["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
        if node not in terms[0]["matchExpressions"][0]["values"]:
            yield f"{made.planned.name}: its volume is not where it is"


def without_lease(real: RealCluster, counted: Counted) -> Iterator[str]:
    """Every write came from the worker that held the Lease, as far as nothing delayed it."""
    holder, renewed = "", datetime.min.replace(tzinfo=UTC)
    last_held: dict[str, datetime] = {}
    for each in done(real.server.requests.writes()):
        if each.resource == "leases":
            gone = not each.body["spec"].get("holderIdentity")
            holder, renewed = "" if gone else each.user, each.at
            last_held[each.user] = each.at
            continue
        counted.writes += 1
        if holder == each.user and each.at - renewed <= MAY_WRITE_FOR + ON_THE_WAY:
            continue
        since = last_held.get(each.user)
        if since is not None and any(
            window.user in ("", each.user) and window.began <= each.at and window.ended >= since
            for window in real.windows
        ):
            counted.late += 1
            continue
        yield f"without the Lease, which {holder or 'nobody'} has: {each}"
