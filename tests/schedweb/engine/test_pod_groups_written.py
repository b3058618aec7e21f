"""PodGroupScheduled in a run that schedules a real cluster: the patch that kube-scheduler would send, and when none is.

Bodies follow what a strategic two-way merge patch of a PodGroup's status is, whose conditions merge by type
(PodGroupStatus of scheduling.k8s.io/v1alpha2); there are no recordings of gangs.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from framework.objects.decode import decode_manifest
from framework.objects.scheduling import Condition, SchedulingPodGroup, SchedulingPodGroupStatus
from framework.plugins.registry import built_in_registry
from schedweb.engine.commands import ClusterChanges, ObservedChange
from schedweb.engine.live import Scheduling, WriteRow
from schedweb.engine.player import Happened, Player, RunOptions, effective_configuration
from schedweb.writes.pod_groups import patch_status
from tests.apiserver.pod_groups import GATES, pod_group
from tests.schedweb.engine.test_restored import ANSWERED, Desk
from tests.schedweb.engine.worlds import DEFAULT, SECOND, START, Manifest, node, pod

GROUPS = Scheduling("us", ("default-scheduler",), writes_pod_groups=True)
PATH = "/apis/scheduling.k8s.io/v1alpha2/namespaces/shop/podgroups/g"
AT = "2026-03-31T00:00:00Z"
FULL = Condition(
    type="PodGroupScheduled",
    status="False",
    reason="Unschedulable",
    message="pod group is unschedulable",
    observed_generation=4,
    last_transition_time=AT,
)
OTHER = Condition(type="DisruptionTarget", status="False", reason="R", message="M", last_transition_time=AT)
IN_JSON = {
    "type": "PodGroupScheduled",
    "status": "False",
    "reason": "Unschedulable",
    "message": "pod group is unschedulable",
    "observedGeneration": 4,
    "lastTransitionTime": AT,
}


def known(*conditions: Condition) -> SchedulingPodGroup:
    made = decode_manifest(pod_group("g", 2, "shop"))
    assert isinstance(made, SchedulingPodGroup)
    return replace(made, status=SchedulingPodGroupStatus(conditions=conditions))


def body(before: SchedulingPodGroup, after: SchedulingPodGroup) -> Any:
    write = patch_status(before, after)
    assert write is not None
    assert (write.method, write.path, write.about.read) == ("PATCH", f"{PATH}/status", PATH)
    assert write.content_type == "application/strategic-merge-patch+json"
    assert set(write.body) == {"status"}, "neither a uid nor a version"
    return write.body["status"]


def test_the_first_condition_is_written_whole_and_without_an_order() -> None:
    assert body(known(), known(FULL)) == {"conditions": [IN_JSON]}


def test_beside_another_condition_the_order_of_all_is_said() -> None:
    order = [{"type": "DisruptionTarget"}, {"type": "PodGroupScheduled"}]
    assert body(known(OTHER), known(OTHER, FULL)) == {"$setElementOrder/conditions": order, "conditions": [IN_JSON]}


def test_of_a_condition_that_changes_only_the_difference_is_written() -> None:
    done = replace(FULL, status="True", reason="Scheduled", message="", last_transition_time="2026-03-31T00:01:00Z")
    assert body(known(FULL), known(done)) == {
        "$setElementOrder/conditions": [{"type": "PodGroupScheduled"}],
        "conditions": [
            {
                "type": "PodGroupScheduled",
                "status": "True",
                "reason": "Scheduled",
                "message": "",
                "lastTransitionTime": "2026-03-31T00:01:00Z",
            }
        ],
    }
    newer = replace(FULL, observed_generation=5)
    (changed,) = body(known(FULL), known(newer))["conditions"]
    assert changed == {"type": "PodGroupScheduled", "observedGeneration": 5}


def test_what_changes_nothing_is_not_written() -> None:
    assert patch_status(known(OTHER, FULL), known(OTHER, FULL)) is None


# --- in a run -------------------------------------------------------------------------------------------------------


def member(name: str) -> Manifest:
    made = pod(name, cpu="3")
    made["spec"]["schedulingGroup"] = {"podGroupName": "g"}
    return made


class Groups(Desk):
    def begin(self) -> Player:
        registry = built_in_registry()
        for number, each in enumerate(self._manifests):
            each["metadata"] |= {"uid": f"uid-{each['metadata']['name']}", "resourceVersion": str(number + 1)}
        return Player(
            [decode_manifest(manifest) for manifest in self._manifests],
            [],
            effective_configuration(GATES + DEFAULT, registry, self._terms),
            registry,
            RunOptions(7, "seeded", "hold", "real", START, observing=True, scheduling=self._terms),
        )

    def written(self, *purposes: str, cycles: int = 3) -> list[WriteRow]:
        """After some cycles: a group that finds no room is tried for ever, as upstream."""
        for _ in range(100 * cycles):
            happened = self.game.operate()
            cycles -= happened is Happened.CYCLE
            if not cycles or happened in (Happened.WAITS, Happened.IDLE):
                break
        rows, self.live.outbox = self.live.outbox, []
        return [each for each in rows if each.write.purpose in purposes]

    def conditions(self) -> list[tuple[int, str, str, str]]:
        """Of what was written since this was asked last: (its number, status, reason, message)."""
        rows = self.written("pod_group")
        found = [(row.number, row.write.body["status"]["conditions"][0]) for row in rows]
        assert not any(row.is_awaited for row in rows)
        return [(number, it.get("status", ""), it.get("reason", ""), it.get("message", "")) for number, it in found]

    def later(self, seconds: int) -> None:
        self.table.order(ClusterChanges(max(self.game.now, ANSWERED) + seconds * SECOND, ()))

    def group(self) -> SchedulingPodGroup:
        found = self.live.get(SchedulingPodGroup, "shop", "g")
        assert found is not None
        return found

    def see_group(self, *conditions: Manifest) -> None:
        """As its watch brings it."""
        seen = pod_group("g", 2, "shop")
        seen["metadata"] |= {"uid": "uid-g", "resourceVersion": str(900 + self.game.position)}
        seen["status"] = {"conditions": list(conditions)}
        self.tell(ObservedChange("modified", seen))


def begun(terms: Scheduling = GROUPS) -> Groups:
    """Two members of three CPUs each, and a node with room for none."""
    return Groups(node("a", cpu="2"), pod_group("g", 2, "shop"), member("p1"), member("p2"), terms=terms)


def test_a_group_that_finds_no_room_is_told_once_and_stays_scheduled_when_it_was() -> None:
    desk = begun()
    ((_, *said),) = desk.conditions()
    assert said == ["False", "Unschedulable", "pod group is unschedulable"]
    assert desk.group().status.conditions == (), "it is seen when its watch comes"
    assert desk.conditions() == [], "the same is not written again at once, though it is tried again"
    desk.later(2)
    ((_, *again),) = desk.conditions()
    assert again == said
    desk.see_group({**IN_JSON, "lastTransitionTime": "2023-11-14T22:13:20Z"})
    assert desk.conditions() == []
    more = node("b", cpu="8")
    more["metadata"] |= {"uid": "uid-b", "resourceVersion": "800"}
    desk.tell(ObservedChange("added", more))
    ((_, *said),) = desk.conditions()
    assert said == ["True", "Scheduled", ""]
    desk.is_replayed()


def test_what_the_group_says_already_and_one_that_was_scheduled_are_not_written() -> None:
    for status in ("False", "True"):
        manifest = pod_group("g", 2, "shop")
        manifest["status"] = {"conditions": [{**IN_JSON, "status": status}]}
        desk = Groups(node("a", cpu="2"), manifest, member("p1"), member("p2"), terms=GROUPS)
        assert desk.conditions() == []
        assert desk.group().status.conditions[0].status == status


def test_runs_that_began_before_number_their_writes_without_it() -> None:
    older = msgspec.convert({"instance": "us", "schedulers": ["default-scheduler"]}, Scheduling)
    desk = begun(older)
    rows = desk.written("status", "event", "pod_group")
    assert "pod_group" not in {each.write.purpose for each in rows}
    numbers = [each.number for each in rows]
    assert numbers == list(range(1, len(numbers) + 1))
    desk.is_replayed()


@pytest.mark.parametrize("writes", [True, False])
def test_a_fork_sees_the_condition_of_its_own_cycles(writes: bool) -> None:
    desk = begun(GROUPS if writes else replace(GROUPS, writes_pod_groups=False))
    desk.live.go_on_simulated()
    assert desk.conditions() == []
    (found,) = desk.group().status.conditions
    assert (found.status, found.reason) == ("False", "Unschedulable")
