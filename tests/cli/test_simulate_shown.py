"""``simulate --show`` and ``--log``: what operators of kube-scheduler read, printed for a cluster that is made up."""

from __future__ import annotations

import json
import re

import pytest

from tests.cli.test_simulate import NODES, Shell, pod, shell

__all__ = ["shell"]


@pytest.fixture
def cluster(shell: Shell) -> str:
    """One pod that fits on the large node, and one that fits nowhere."""
    return shell.file("cluster.yaml", NODES + "---" + pod("web", "2") + pod("huge", "9"))


def test_the_dump_has_cache_and_queue_as_they_are_at_the_end(shell: Shell, cluster: str) -> None:
    status, lines, _ = shell.run("-f", cluster, "--show", "dump")
    text = "\n".join(lines)
    assert status == 1
    assert [line.split("] ")[1].split('"')[1] for line in lines if line.startswith("I")] == [
        "Cache comparer started",
        "Cache comparer finished",
        "Dump of cached NodeInfo",
        "Dump of scheduling queue",
    ]
    large = text[text.index("Node name: large") :]
    assert "Requested Resources: &{MilliCPU:2000 " in large
    assert "name: web, namespace: default" in large
    assert 'summary="activeQ:0; backoffQ:0; unschedulablePods:1"' in text
    assert "name: huge, namespace: default" in text[text.index("Dump of scheduling queue") :]


def test_events_are_a_table_as_kubectl_prints_it(shell: Shell, cluster: str) -> None:
    status, lines, _ = shell.run("-f", cluster, "--show", "events")
    head, *rows = [re.split(r" {3,}", line) for line in lines]
    assert (status, head) == (1, ["NAMESPACE", "LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"])
    told = {row[4]: (row[2], row[3], row[5]) for row in rows}
    assert told["pod/web"] == ("Normal", "Scheduled", "Successfully assigned default/web to large")
    assert told["pod/huge"][:2] == ("Warning", "FailedScheduling")
    assert told["pod/huge"][2].startswith("0/2 nodes are available: 2 Insufficient cpu.")


def test_events_as_json_are_a_list_that_kubectl_reads(shell: Shell, cluster: str) -> None:
    _, lines, _ = shell.run("-f", cluster, "--show", "events", "--json")
    listed = json.loads("\n".join(lines))
    assert (listed["apiVersion"], listed["kind"]) == ("v1", "List")
    assert {(each["kind"], each["reason"], each["involvedObject"]["name"]) for each in listed["items"]} == {
        ("Event", "Scheduled", "web"),
        ("Event", "FailedScheduling", "huge"),
    }


def test_resources_are_those_of_all_pods_with_their_nodes(shell: Shell, cluster: str) -> None:
    _, lines, _ = shell.run("-f", cluster, "--show", "resources")
    assert "# TYPE kube_pod_resource_request gauge" in lines
    found = dict(re.findall(r'node="(\w*)",pod="(?:web|huge)".*resource="cpu".*unit="cores"\} (\d+)', "\n".join(lines)))
    assert found == {"large": "2", "": "9"}


def test_the_log_goes_to_standard_error_and_the_table_stays_as_it_is(shell: Shell, cluster: str) -> None:
    _, plain, quiet = shell.run("-f", cluster)
    status, lines, log = shell.run("-f", cluster, "--log", "4")
    assert (status, lines) == (1, plain)
    assert "Attempting to schedule pod" not in quiet
    written = log.splitlines()
    assert all(re.match(r"[IEW]\d{4} [\d:.]{15} +1 \w+\.go:\d+\] ", line) for line in written)
    bound = '"Successfully bound pod to node" pod="default/web" node="large" evaluatedNodes=2 feasibleNodes=1'
    assert sum(bound in line for line in written) == 1
    assert sum('"Unable to schedule pod; no fit; waiting" pod="default/huge"' in line for line in written) == 1


def test_a_higher_level_says_more(shell: Shell, cluster: str) -> None:
    def messages(level: str) -> set[str]:
        return set(re.findall(r'\] "([^"]+)"', shell.run("-f", cluster, "--log", level)[2]))

    few, more = messages("2"), messages("10")
    assert few < messages("4") < more
    assert "Checking events for in-flight pod" in more - messages("4")


@pytest.mark.parametrize("level", ["0", "-1", "four"])
def test_a_level_that_is_none_is_refused(shell: Shell, cluster: str, level: str) -> None:
    with pytest.raises(SystemExit) as ended:
        shell.run("-f", cluster, "--log", level)
    assert ended.value.code == 2
    assert "argument --log" in shell.capsys.readouterr().err
