"""The command at a stand-in that serves pod groups: PodGroupScheduled is patched as kube-scheduler does."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from schedweb.clusters.reading.access import Access
from schedweb.clusters.reading.kinds import kinds_of
from schedweb.clusters.reading.rights import ask, asked_of, missing_yaml, roles_yaml, rules_to_schedule
from schedweb.clusters.writing.answers import outcome_seen
from schedweb.writes.writes import About, Outcome, Write
from tests.apiserver import ApiServer
from tests.apiserver.kinds import Json
from tests.apiserver.manifests import node
from tests.apiserver.pod_groups import GATES, POD_GROUPS, READS_POD_GROUPS, member, pod_group
from tests.apiserver.recordings import SCHEDULER
from tests.schedweb.clusters.conftest import until
from tests.schedweb.clusters.scheduling.conftest import CONTEXT, OURS, Played, node_of

STATUS: Any = {"resource": "podgroups/status", "verb": "patch"}
TEXT = f"""{GATES}apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: {OURS}
"""


def missing(server: ApiServer) -> list[Json]:
    """The rules of the role that is offered."""
    access = Access(CONTEXT)
    text = missing_yaml(ask(access, kinds_of(access)), "schedule", CONTEXT)
    rules: list[Json] = next(yaml.safe_load_all(text))["rules"] if text else []
    return rules


@pytest.fixture
def grouping(server: ApiServer) -> ApiServer:
    """It serves pod groups; its user may do what the check says."""
    server.register(POD_GROUPS)
    server.grant(SCHEDULER, READS_POD_GROUPS)
    server.grant(SCHEDULER, missing(server))
    return server


def begun(server: ApiServer, played: Played, *, cpu: str, **limits: Any) -> None:
    """Three members of three CPUs each, on a node that has so many."""
    members = [member("g", f"p{i}", cpu="3", scheduler=OURS) for i in (1, 2, 3)]
    server.add(node("n1", cpu=cpu), pod_group("g", 3), *members)
    played.start(configuration=TEXT, **limits)


def conditions(server: ApiServer) -> list[Json]:
    status = server.get("PodGroup", "g", "default").get("status", {})
    found: list[Json] = status.get("conditions", [])
    return found


def test_a_gang_that_is_bound_has_one_condition_by_one_patch(grouping: ApiServer, played: Played) -> None:
    begun(grouping, played, cpu="10")
    until(lambda: conditions(grouping))
    until(lambda: all(node_of(grouping, f"p{i}") for i in (1, 2, 3)))
    (sent,) = grouping.requests.select(**STATUS)
    (found,) = conditions(grouping)
    assert found.pop("lastTransitionTime")
    said = {
        "type": "PodGroupScheduled",
        "status": "True",
        "reason": "Scheduled",
        "message": "",
        "observedGeneration": 4,
    }
    assert found == said
    assert sent.body["status"]["conditions"][0].keys() == {*said, "lastTransitionTime"}
    assert set(sent.body) == {"status"}
    assert sent.content_type == "application/strategic-merge-patch+json"


def test_a_gang_without_room_is_told_why_and_stays_scheduled_when_it_was(grouping: ApiServer, played: Played) -> None:
    begun(grouping, played, cpu="1")
    until(lambda: conditions(grouping))
    (found,) = conditions(grouping)
    since = found.pop("lastTransitionTime")
    assert found == {
        "type": "PodGroupScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "pod group is unschedulable",
        "observedGeneration": 4,
    }
    quiet = len(grouping.requests.select(**STATUS))
    grouping.add(node("n2", cpu="10"))
    until(lambda: conditions(grouping)[0]["status"] == "True")
    (found,) = conditions(grouping)
    assert (found["reason"], found["message"]) == ("Scheduled", "")
    assert found["lastTransitionTime"] >= since
    last = grouping.requests.select(**STATUS)[quiet].body["status"]
    assert last["$setElementOrder/conditions"] == [{"type": "PodGroupScheduled"}]
    assert "observedGeneration" not in last["conditions"][0], "it is as it was"

    # A further member that finds no room says nothing of the group.
    written = len(grouping.requests.select(**STATUS))
    grouping.add(member("g", "p4", cpu="30", scheduler=OURS))
    until(lambda: grouping.get("Pod", "p4", "default").get("status", {}).get("conditions"))
    assert conditions(grouping) == [found]
    assert len(grouping.requests.select(**STATUS)) == written


def test_a_dry_run_patches_with_dry_run(grouping: ApiServer, played: Played) -> None:
    begun(grouping, played, cpu="1", dry_run=True)
    until(lambda: grouping.requests.select(**STATUS))
    assert all(each.dry_run for each in grouping.requests.select(**STATUS))
    assert conditions(grouping) == []


def test_without_the_right_the_group_is_bound_all_the_same(grouping: ApiServer, played: Played) -> None:
    rules = [each for each in _granted(grouping) if "podgroups/status" not in each["resources"]]
    grouping.revoke(SCHEDULER)
    grouping.grant(SCHEDULER, rules)
    begun(grouping, played, cpu="10")
    until(lambda: all(node_of(grouping, f"p{i}") for i in (1, 2, 3)))
    until(lambda: any(isinstance(each, Outcome) and each.result == "forbidden" for each in played.steps))
    assert conditions(grouping) == []


def test_what_is_said_after_a_lost_answer_is_said_once(grouping: ApiServer, played: Played) -> None:
    lost = grouping.faults.drop_answer(times=1, **STATUS)
    begun(grouping, played, cpu="10")
    until(lambda: lost.hits)
    until(lambda: all(node_of(grouping, f"p{i}") for i in (1, 2, 3)))
    until(lambda: any(isinstance(each, Outcome) and each.looked for each in played.steps))
    assert len(grouping.requests.select(**STATUS)) == 1


def test_a_group_that_is_scheduled_meanwhile_is_not_told_that_it_is_not() -> None:
    """Of a write that another worker may have sent, or that was kept while the API server was away."""

    def of(status: str) -> Write:
        body = {"status": {"conditions": [{"type": "PodGroupScheduled", "status": status, "reason": "R"}]}}
        return Write("pod_group", "PATCH", "/x/status", body, About("default", "g", "u", "/x"), "default")

    found = {
        "metadata": {"name": "g", "uid": "u", "resourceVersion": "7"},
        "status": {"conditions": [{"type": "PodGroupScheduled", "status": "True", "reason": "Scheduled"}]},
    }
    seen = outcome_seen(of("False"), found)
    assert seen is not None
    assert seen.result == "conflict"
    assert outcome_seen(of("True"), found) is None, "another reason is written"
    assert outcome_seen(of("False"), {"metadata": found["metadata"]}) is None


# --- rights -----------------------------------------------------------------------------------------------------------


def _granted(server: ApiServer) -> list[Json]:
    grants = server._handling.access.grants
    return [dict(rule) for grant in grants if grant.subject == SCHEDULER for rule in grant.rules]


RULE = {"apiGroups": ["scheduling.k8s.io"], "resources": ["podgroups/status"], "verbs": ["patch"]}


def test_the_right_is_asked_for_and_offered_where_the_cluster_has_pod_groups(server: ApiServer) -> None:
    access = Access(CONTEXT)
    asked = rules_to_schedule([OURS], ["default"], dry_run=False)
    (rule,) = [each for each in asked if each.resource == "podgroups/status"]
    assert (rule.group, rule.verbs, rule.namespace) == ("scheduling.k8s.io", ("patch",), "default")
    lease = [each for each in asked if each.resource == "leases"]
    assert missing(server) == []
    assert [each.missing for each in asked_of(access, [rule, *lease])] == [(), ()], "nobody needs it here"
    server.register(POD_GROUPS)
    assert missing(server) == [RULE]
    assert [each.missing for each in asked_of(access, [rule, *lease])] == [("patch",), ()]
    server.grant(SCHEDULER, [RULE])
    assert missing(server) == []
    assert asked_of(access, [rule])[0].missing == ()


def test_the_roles_for_installing_have_it() -> None:
    assert RULE in next(yaml.safe_load_all(roles_yaml("schedule")))["rules"]
