"""``decide`` from the command line: files of all kinds, several processes, and what it says of bad input."""

from __future__ import annotations

import gzip
import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from framework.cli.main import main

DATA = Path(__file__).parent.parent / "conformance" / "data"


def node(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name},
        "status": {"capacity": {"cpu": "2", "memory": "4Gi", "pods": "10"}},
    }


def pod(name: str, **spec: Any) -> dict[str, Any]:
    containers = [{"name": "main", "image": "app", "resources": {"requests": {"cpu": "1"}}}]
    written = {"containers": containers, **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": written}


def case(name: str = "c", **fields: Any) -> dict[str, Any]:
    return {"name": name, "config": None, "objects": [node("b"), node("a")], "pods": [pod("p")], **fields}


def decide(path: Path, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, list[dict[str, Any]], str]:
    status = main(["decide", str(path), *(options or ("--workers", "1"))])
    printed = capsys.readouterr()
    return status, [json.loads(line) for line in printed.out.splitlines()], printed.err


def write(path: Path, *cases: dict[str, Any]) -> Path:
    text = "".join(json.dumps(each) + "\n" for each in cases)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    elif path.suffix == ".xz":
        path.write_bytes(lzma.compress(text.encode()))
    else:
        path.write_text(text)
    return path


@pytest.mark.parametrize("name", ["cases.jsonl", "cases.jsonl.gz", "cases.jsonl.xz"])
def test_plain_and_compressed_files(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, results, errors = decide(write(tmp_path / name, case()), capsys)
    assert (status, errors) == (0, "")
    (attempt,) = results[0]["results"]
    assert (attempt["pod"], attempt["selected"], attempt["candidates"]) == ("default/p", "a", ["a", "b"])


def test_several_processes_give_the_same_lines_in_the_same_order(capsys: pytest.CaptureFixture[str]) -> None:
    path = DATA / "gates_and_names.cases.jsonl.gz"
    alone = decide(path, capsys)
    together = decide(path, capsys, "--workers", "2")
    assert len(alone[1]) == 60
    assert together == alone


def test_updating_what_is_not_there_wakes_nobody(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Such an object may have been preempted before the event; the API server refuses the update."""
    big = pod("p")
    big["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "3"
    roomy = node("gone")
    roomy["status"]["capacity"]["cpu"] = "8"
    events = [{"type": type_, "object": roomy} for type_ in ("update", "add")]
    status, results, errors = decide(write(tmp_path / "c.jsonl", case(pods=[big], events=events)), capsys)
    assert (status, errors) == (0, "")
    assert [event["pods"] for event in results[0]["events"]] == [{"default/p": "QueueSkip"}, {"default/p": "Queue"}]


def test_a_case_that_cannot_be_decoded_leaves_the_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = node("broken")
    broken["status"]["capacity"] = "much"
    path = write(tmp_path / "c.jsonl", case("first", objects=[broken]), case("second"))
    status, results, errors = decide(path, capsys)
    assert status == 2
    assert "first: Node broken: status.capacity" in errors
    assert results[0]["results"] == []
    assert "status.capacity" in results[0]["error"]
    assert results[1]["results"][0]["selected"] == "a"


@pytest.mark.parametrize(
    ("refused", "text"),
    [
        (pod("p", priorityClassName="nobody"), "no PriorityClass with name nobody was found"),
        (pod("p", containers="none"), "spec.containers"),
        (
            pod("p", containers=[{"name": "main", "resources": {"requests": {"cpu": "much"}}}]),
            "quantities must match the regular expression",
        ),
        (pod("taken"), 'pods "taken" already exists'),
    ],
)
def test_a_pod_that_is_refused_is_told_and_the_next_one_tried(
    refused: dict[str, Any], text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    taken = pod("taken", nodeName="a")
    path = write(tmp_path / "c.jsonl", case(objects=[node("a"), taken], pods=[refused, pod("next")]))
    _, results, _ = decide(path, capsys)
    first, second = results[0]["results"]
    assert text in first["admissionError"]
    assert not first["bound"]
    assert second["bound"]


def test_a_pod_that_validation_would_refuse_is_tried_and_the_complaint_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "c.jsonl", case(pods=[pod("p", restartPolicy="Perhaps")]))
    (attempt,) = decide(path, capsys)[1][0]["results"]
    assert attempt["bound"]
    assert any("restartPolicy" in complaint for complaint in attempt["apiErrors"])


def test_a_bad_configuration_is_an_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "parallelism": -1}
    status, results, _ = decide(write(tmp_path / "c.jsonl", case(config=config)), capsys)
    assert status == 0
    assert "parallelism" in results[0]["configError"]
    assert results[0]["results"] == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no cases"),
        (b"not json\n", "not a case"),
        (b'{"name": 3}\n', "not a case"),
        (b"\xff\xfe\n", "utf-8"),
    ],
)
def test_a_file_that_holds_no_cases(
    content: bytes, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(content)
    status, results, errors = decide(path, capsys)
    assert (status, results) == (2, [])
    assert str(path) in errors
    assert message in errors


def test_a_truncated_archive_and_a_missing_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = write(tmp_path / "c.jsonl.gz", case()).read_bytes()
    cut = tmp_path / "cut.jsonl.gz"
    cut.write_bytes(whole[:-12])
    assert decide(cut, capsys)[0] == 2
    status, _, errors = decide(tmp_path / "nowhere.jsonl", capsys)
    assert status == 2
    assert "nowhere.jsonl" in errors


GATE = "TaintTolerationComparisonOperators=true"


def tainted(name: str, value: str, effect: str = "NoSchedule") -> dict[str, Any]:
    return {**node(name), "spec": {"taints": [{"key": "sla", "value": value, "effect": effect}]}}


def tolerating(operator: str, value: str) -> dict[str, Any]:
    return pod("p", tolerations=[{"key": "sla", "operator": operator, "value": value}])


@pytest.mark.parametrize(
    ("options", "asked", "feasible", "complaint"),
    [
        ((), tolerating("Gt", "10"), ["soft"], 'operator: Unsupported value: "Gt"'),
        (("--feature-gates", GATE), tolerating("Gt", "10"), ["high", "soft"], ""),
        (("--feature-gates", GATE), tolerating("Lt", "10"), ["low", "soft"], ""),
        (("--feature-gates", GATE), tolerating("Lt", "010"), ["soft"], "must be a valid decimal integer"),
        (("--feature-gates", GATE), tolerating("Lt", "x"), ["soft"], 'strconv.ParseInt: parsing "x": invalid syntax'),
    ],
)
def test_tolerations_compare_numbers_behind_their_gate(
    options: tuple[str, ...],
    asked: dict[str, Any],
    feasible: list[str],
    complaint: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    nodes = [tainted("low", "5"), tainted("high", "15"), tainted("soft", "15", "PreferNoSchedule")]
    path = write(tmp_path / "cases.jsonl", case(objects=nodes, pods=[asked]))
    _, results, _ = decide(path, capsys, "--workers", "1", *options)
    (attempt,) = results[0]["results"]
    assert attempt["feasible"] == feasible
    assert complaint in " ".join(attempt.get("apiErrors", [])) if complaint else "apiErrors" not in attempt


def configuration(**plugins: Any) -> dict[str, Any]:
    profile = {"schedulerName": "default-scheduler", "plugins": plugins}
    api_version = "kubescheduler.config.k8s.io/v1"
    return {"apiVersion": api_version, "kind": "KubeSchedulerConfiguration", "profiles": [profile]}


def test_a_profile_without_scores_takes_the_first_node(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    enabled = [{"name": name} for name in ("PrioritySort", "NodeName", "DefaultBinder")]
    config = configuration(multiPoint={"disabled": [{"name": "*"}], "enabled": enabled})
    _, results, _ = decide(write(tmp_path / "cases.jsonl", case(config=config)), capsys)
    (attempt,) = results[0]["results"]
    assert (attempt["feasible"], attempt["candidates"], attempt["selected"]) == (["b"], ["b"], "b")
    assert attempt["scoreSkipped"] is True
    assert attempt["filter"] == {"a": None, "b": None}


def test_after_a_score_that_failed_nothing_was_skipped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = configuration(preScore={"disabled": [{"name": "TaintToleration"}]})
    _, results, _ = decide(write(tmp_path / "cases.jsonl", case(config=config)), capsys)
    (attempt,) = results[0]["results"]
    assert "failed to read" in attempt["message"]
    assert (attempt["feasible"], attempt["candidates"], attempt["selected"]) == (["a", "b"], [], "")
    assert "scoreSkipped" not in attempt


def test_pods_of_the_cluster_without_a_node_are_there_and_not_tried(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "cases.jsonl", case(objects=[node("a"), pod("other")]))
    _, results, errors = decide(path, capsys)
    assert errors == ""
    assert [attempt["pod"] for attempt in results[0]["results"]] == ["default/p"]


def test_events_of_pods_that_finish_and_of_gates_that_went(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gated, lost = pod("gated", schedulingGates=[{"name": "wait"}]), pod("lost", nodeSelector={"no": "where"})
    events = [
        {"type": "update", "object": pod("gated")},
        {"type": "add", "object": node("c")},
        {"type": "update", "object": {**lost, "status": {"phase": "Succeeded"}}},
        {"type": "add", "object": node("d")},
    ]
    path = write(tmp_path / "cases.jsonl", case(pods=[gated, lost], events=events))
    _, results, _ = decide(path, capsys)
    assert [event["pods"] for event in results[0]["events"]] == [
        {"default/gated": "Queue", "default/lost": "QueueSkip"},
        {"default/gated": "NotUnschedulable", "default/lost": "QueueSkip"},
        {"default/gated": "NotUnschedulable", "default/lost": "Deleted"},
        {"default/gated": "NotUnschedulable", "default/lost": "Deleted"},
    ]


def test_devices_that_nobody_makes_ready_run_into_their_time_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    about = {"apiVersion": "resource.k8s.io/v1"}
    request = {"name": "r", "exactly": {"deviceClassName": "gpu"}}
    objects = [
        node("a"),
        {**about, "kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": {}},
        {
            **about,
            "kind": "ResourceSlice",
            "metadata": {"name": "s"},
            "spec": {
                "driver": "d",
                "nodeName": "a",
                "pool": {"name": "a", "generation": 1, "resourceSliceCount": 1},
                "devices": [{"name": "gpu-0", "bindingConditions": ["up"], "bindingFailureConditions": ["down"]}],
            },
        },
        {
            **about,
            "kind": "ResourceClaim",
            "metadata": {"name": "c", "namespace": "default"},
            "spec": {"devices": {"requests": [request]}},
        },
    ]
    waiting = pod("p", resourceClaims=[{"name": "dev", "resourceClaimName": "c"}])
    _, results, errors = decide(
        write(tmp_path / "cases.jsonl", case(objects=objects, pods=[waiting, pod("q")])), capsys
    )
    assert errors == ""
    first, second = results[0]["results"]
    assert (first["selected"], first["bound"]) == ("a", False)
    assert first["preBind"]["reasons"] == ["device binding timeout: context deadline exceeded"]
    assert second["bound"] is True
