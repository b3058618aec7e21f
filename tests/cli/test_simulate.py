"""``simulate``: a table of where pods go, the exit status, and errors that name file, object and field."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from framework.cli.main import main
from framework.configuration.presets import preset

SHOP = Path(__file__).parent.parent / "data" / "cluster-shop" / "kubectl-export.json.gz"

NODES = """
apiVersion: v1
kind: Node
metadata: {name: small}
status: {allocatable: {cpu: "1", memory: 4Gi, pods: "10"}}
---
apiVersion: v1
kind: Node
metadata: {name: large}
status: {allocatable: {cpu: "8", memory: 32Gi, pods: "10"}}
"""


def pod(name: str, cpu: str, extra: str = "") -> str:
    return f"""
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec:
  {extra}
  containers: [{{name: main, image: app, resources: {{requests: {{cpu: "{cpu}"}}}}}}]
---"""


class Shell:
    def __init__(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.tmp_path = tmp_path
        self.capsys = capsys

    def file(self, name: str, text: str) -> str:
        path = self.tmp_path / name
        path.write_text(text)
        return str(path)

    def run(self, *arguments: str) -> tuple[int, list[str], str]:
        status = main(["simulate", *arguments])
        printed = self.capsys.readouterr()
        return status, printed.out.splitlines(), printed.err


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path, capsys)


PACKING = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    multiPoint:
      disabled: [{name: NodeResourcesFit}, {name: NodeResourcesBalancedAllocation}]
      enabled: [{name: TargetLoadPacking}]
  pluginConfig:
  - name: TargetLoadPacking
    args: {apiVersion: kubescheduler.config.k8s.io/v1, kind: TargetLoadPackingArgs, watcherAddress: "http://w:2020"}
"""


def test_load_from_results_of_prometheus(shell: Shell) -> None:
    """Both nodes have the same room; the one that is near the target takes the pod."""
    alike = NODES.replace('"1"', '"8"').replace("{allocatable", "{capacity")
    cluster = shell.file("cluster.yaml", alike + "---" + pod("p", "1"))
    config = shell.file("config.yaml", PACKING)
    for busy, idle in (("small", "large"), ("large", "small")):
        result = [
            {"metric": {"node": busy}, "value": [1_795_168_800, "15"]},
            {"metric": {"node": idle}, "value": [1_795_168_800, "2"]},
        ]
        answer = {"status": "success", "data": {"resultType": "vector", "result": result}}
        file = shell.file("load.json", json.dumps(answer))
        status, lines, _ = shell.run("-f", cluster, "--config", config, "--load", f"CPU={file}")
        assert (status, lines[1].split()[1]) == (0, busy)


def test_load_that_is_made_up_and_load_that_cannot_be_read(shell: Shell) -> None:
    cluster = shell.file("cluster.yaml", NODES + "---" + pod("p", "1"))
    status, _, told = shell.run("-f", cluster, "--load", "random:7")
    assert (status, told) == (0, "")
    file = shell.file("load.json", '{"status": "error", "errorType": "timeout", "error": "query timed out"}')
    status, _, told = shell.run("-f", cluster, "--load", file)
    assert (status, told) == (2, f"{file}: Prometheus answered with an error: timeout: query timed out\n")


def test_placed_pods_with_node_and_score(shell: Shell) -> None:
    nodes, pods = shell.file("nodes.yaml", NODES), shell.file("pods.yaml", pod("web", "500m") + pod("big", "2"))
    status, lines, _ = shell.run("-f", nodes, "-f", pods)
    assert status == 0
    assert lines[0].split() == ["POD", "NODE", "SCORE", "MESSAGE"]
    rows = {line.split()[0]: line.split()[1:] for line in lines[1:]}
    assert rows["default/big"] == ["large", "-"]  # one node was left: nothing to score
    assert rows["default/web"][0] == "large"
    assert int(rows["default/web"][1]) > 0


def test_a_pending_pod_says_why_and_the_status_is_1(shell: Shell) -> None:
    status, lines, _ = shell.run("-f", shell.file("all.yaml", NODES + "---" + pod("huge", "100")))
    assert status == 1
    text = " ".join(" ".join(lines[1:]).split())
    assert text.startswith("default/huge - - 0/2 nodes are available: 2 Insufficient cpu.")


def test_gated_pods_and_unknown_schedulers(shell: Shell) -> None:
    gated = pod("gated", "1", "schedulingGates: [{name: example.com/quota}]")
    status, lines, _ = shell.run(
        "-f", shell.file("all.yaml", NODES + "---" + gated + pod("other", "1", "schedulerName: nobody"))
    )
    assert status == 1
    text = "\n".join(lines)
    assert "waiting for scheduling gates: [example.com/quota]" in text
    assert "no profile for schedulerName nobody" in text


def test_the_configuration_is_used(shell: Shell) -> None:
    config = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
    pluginConfig:
      - name: NodeResourcesFit
        args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}
"""
    manifests = shell.file("all.yaml", NODES + "---" + pod("web", "500m"))
    spread = shell.run("-f", manifests)[1][1].split()[1]
    packed = shell.run("-f", manifests, "--config", shell.file("config.yaml", config))[1][1].split()[1]
    assert (spread, packed) == ("large", "small")


def test_the_same_seed_gives_the_same_table(shell: Shell) -> None:
    alike = "---".join(NODES.split("---")[1].replace("large", f"node-{i}") for i in range(8))
    manifests = shell.file("all.yaml", alike + "---" + "".join(pod(f"p-{i}", "100m") for i in range(6)))
    tables = {seed: shell.run("-f", manifests, "--seed", seed)[1] for seed in ("1", "2", "3")}
    assert shell.run("-f", manifests, "--seed", "1")[1] == tables["1"]
    assert len({tuple(table) for table in tables.values()}) > 1


def test_preempted_pods_are_named(shell: Shell) -> None:
    manifests = f"""{NODES.split("---")[0]}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {{name: urgent}}
value: 1000
---{pod("victim", "1", "nodeName: small")}{pod("urgent", "1", "priorityClassName: urgent")}"""
    status, lines, _ = shell.run("-f", shell.file("all.yaml", manifests))
    assert status == 0
    assert lines[1].split()[:2] == ["default/urgent", "small"]
    assert lines[-1] == "preempted: default/victim from small"


LOCAL = """\
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: local},
 provisioner: kubernetes.io/no-provisioner, volumeBindingMode: WaitForFirstConsumer}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data},
 spec: {storageClassName: local, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}
---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: disk},
 spec: {storageClassName: local, accessModes: [ReadWriteOnce], capacity: {storage: 2Gi}, nodeAffinity: {required:
 {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [nowhere]}]}]}}}}
"""


def test_a_claim_that_waits_for_its_pod_is_bound_with_it(shell: Shell) -> None:
    """The volume, written without a status, is available; matchFields of its affinity are not looked at."""
    volume = "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]"
    db = pod("db", "1", volume)
    status, lines, errors = shell.run("-f", shell.file("all.yaml", "---\n".join((NODES, LOCAL, db))))
    assert (status, errors) == (0, "")
    assert lines[1].split()[0] == "default/db"
    status, lines, _ = shell.run("-f", shell.file("all.yaml", NODES + "---" + db))
    assert status == 1
    assert 'persistentvolumeclaim "data" not found' in " ".join(" ".join(lines).split())


def test_a_real_export(shell: Shell) -> None:
    status, lines, _ = shell.run("-f", shell.file("export.json", gzip.decompress(SHOP.read_bytes()).decode()))
    assert status == 1
    pending = [line for line in lines[1:] if not line.startswith(" ")]
    gated = [line for line in pending if "waiting for scheduling gates" in line]
    assert len(gated) == 1
    assert len(pending) - len(gated) == 46


def test_an_explanation_on_request(shell: Shell) -> None:
    manifests = shell.file("all.yaml", NODES + "---" + pod("web", "2") + pod("placed", "1", "nodeName: small"))
    _, lines, _ = shell.run("-f", manifests, "--explain", "web", "--explain", "placed")
    told = lines[lines.index("default/web, attempt 1: placed on large") :]
    assert told == [
        "default/web, attempt 1: placed on large",
        "  1 node: Insufficient cpu (NodeResourcesFit): small",
        "  large is the only node left: nothing is scored",
        "",
        "default/placed: no attempt was made",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "The file is empty"),
        ("---\n", "holds no Kubernetes object"),
        ("a: [1, 2", "not YAML"),
        ("just text", "Expected a Kubernetes object, found a text"),
        ('{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"', "not JSON"),
        (pod("p", "much"), "Pod default/p: spec.containers[0].resources.requests"),
        ("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: []}", "spec.containers: Required value"),
        ("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: 3}", "Pod default/p: spec.containers"),
        (pod("p", "-1"), "must be greater than or equal to 0"),
        (pod("p", "1") + pod("p", "1"), "Pod default/p is there twice"),
        ("a: &a [*a]", "alias"),
        ("metadata: {name: p}", "it has no kind"),
    ],
)
def test_bad_manifests_name_file_object_and_field(shell: Shell, text: str, message: str) -> None:
    path = shell.file("bad.yaml", text)
    status, lines, errors = shell.run("-f", path)
    assert (status, lines) == (2, [])
    assert errors.startswith(path)
    assert message in errors


def test_a_bad_configuration_names_line_and_field(shell: Shell) -> None:
    config = shell.file(
        "config.yaml", "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nparalelism: 3\n"
    )
    status, _, errors = shell.run("-f", shell.file("nodes.yaml", NODES), "--config", config)
    assert status == 2
    assert errors.startswith(f"{config}: 3:")
    assert "paralelism" in errors


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n", "v1beta3 was removed"),
        ("apiVersion: v1\nkind: Policy\n", "Policy files ended with Kubernetes 1.22"),
    ],
)
def test_a_configuration_of_another_form_is_named(shell: Shell, text: str, hint: str) -> None:
    status, _, told = shell.run("-f", shell.file("nodes.yaml", NODES), "--config", shell.file("config.yaml", text))
    assert (status, hint in told) == (2, True)


def test_a_file_that_is_not_there(shell: Shell) -> None:
    status, _, errors = shell.run("-f", "nowhere.yaml")
    assert (status, errors) == (2, "nowhere.yaml: No such file or directory\n")


DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: app, resources: {requests: {cpu: "3"}}}]}
---"""


def test_pods_of_workloads_are_placed_and_counted(shell: Shell) -> None:
    status, lines, told = shell.run("-f", shell.file("all.yaml", DEPLOYMENT + NODES))
    assert status == 1
    assert [line.split()[1] for line in lines[1:] if line.startswith("default/web-")] == ["large", "large", "-"]
    assert told == "3 pods were made from 1 Deployment, as their controllers would make them.\n"


def test_what_is_not_understood_is_said_beside_the_answer(shell: Shell) -> None:
    path = shell.file("all.yaml", NODES + "---" + pod("small", "100m", "nodeSelectr: {disk: ssd}"))
    status, lines, told = shell.run("-f", path, "--json")
    warning = 'Pod default/small: unknown field "spec.nodeSelectr", which is ignored. Did you mean nodeSelector?'
    assert (status, told, json.loads("".join(lines))["warnings"]) == (0, f"warning: {warning}\n", [warning])
    assert "no node in these files" in shell.run("-f", shell.file("pod.yaml", pod("small", "100m")))[2]
    assert shell.run("-f", shell.file("nodes.yaml", NODES))[2] == "No pod of these files waits for a node.\n"
    assert "this is a folder" in shell.run("-f", str(Path(path).parent))[2]


def test_json_says_all_that_the_table_says(shell: Shell) -> None:
    gated = pod("gated", "1", "schedulingGates: [{name: example.com/quota}]")
    manifests = shell.file("all.yaml", DEPLOYMENT + NODES + "---" + gated + pod("small", "100m"))
    status, lines, _ = shell.run("-f", manifests, "--json", "--explain", "small")
    answer = json.loads("\n".join(lines))
    assert (status, answer["status"], answer["placed"], answer["pending"]) == (1, 1, 3, 2)
    assert answer["made"] == {"pods": 3, "from": {"Deployment": 1}}
    rows = {each["pod"]: each for each in answer["pods"]}
    small, waiting = rows["default/small"], rows["default/gated"]
    assert (small["outcome"], small["node"], small["message"], small["new"]) == ("placed", "large", "", True)
    assert isinstance(small["score"], int)
    assert (waiting["outcome"], waiting["node"], waiting["score"]) == ("gated", None, None)
    assert answer["explained"]["default/small"][0] == "default/small, attempt 1: placed on large"
    assert (answer["preempted"], answer["left_out"]) == ([], [])


def test_only_new_pods_count_when_that_is_asked_for(shell: Shell) -> None:
    before = pod("before", "100").replace("name: before", "name: before, uid: u-1")
    manifests = shell.file("all.yaml", NODES + "---" + before + pod("new", "1"))
    assert shell.run("-f", manifests)[0] == 1
    status, lines, _ = shell.run("-f", manifests, "--only-new")
    assert status == 0
    assert [line.split()[0] for line in lines[1:-1]] == ["default/new"]
    assert lines[-1] == "pending before: 1, 0 of them placed now"
    answer = json.loads(shell.run("-f", manifests, "--only-new", "--json")[1][0])
    assert (answer["status"], answer["placed"], answer["pending"]) == (0, 1, 0)
    assert {each["pod"]: each["new"] for each in answer["pods"]} == {"default/before": False, "default/new": True}


@pytest.mark.parametrize(
    ("asked", "meant"),
    [("default/wep", "; did you mean default/web?"), ("shop/web", "; did you mean default/web?"), ("zzz", "")],
)
def test_an_unknown_name_to_explain_is_refused(shell: Shell, asked: str, meant: str) -> None:
    status, lines, told = shell.run("-f", shell.file("all.yaml", NODES + "---" + pod("web", "1")), "--explain", asked)
    name = asked if "/" in asked else f"default/{asked}"
    assert (status, lines, told) == (2, [], f"--explain: there is no pod {name}{meant}\n")


def test_bad_objects_are_left_out_when_that_is_asked_for(shell: Shell) -> None:
    manifests = shell.file("all.yaml", NODES + "---" + pod("bad", "-1") + pod("good", "1") + pod("bad-too", "much"))
    status, lines, told = shell.run("-f", manifests)
    assert (status, lines, len(told.splitlines())) == (2, [], 2)
    status, lines, told = shell.run("-f", manifests, "--leave-out-problems", "--json")
    answer = json.loads(lines[0])
    assert (status, [each["pod"] for each in answer["pods"]]) == (0, ["default/good"])
    assert [each["name"] for each in answer["left_out"]] == ["bad", "bad-too"]
    assert "left out: Pod default/bad: spec.containers[0].resources.requests" in told


def test_the_configuration_of_a_file_is_used(shell: Shell) -> None:
    config = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: other}]
"""
    manifests = shell.file("all.yaml", NODES + "---" + pod("web", "1", "schedulerName: other") + config)
    status, _, told = shell.run("-f", manifests)
    assert (status, "its KubeSchedulerConfiguration is used" in told) == (0, True)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_files_as_windows_writes_them(shell: Shell, encoding: str) -> None:
    path = shell.tmp_path / "windows.yaml"
    path.write_bytes((NODES + "---" + pod("web", "1")).replace("\n", "\r\n").encode(encoding))
    assert shell.run("-f", str(path))[0] == 0


def test_metrics_count_what_was_simulated(shell: Shell) -> None:
    cluster = shell.file("cluster.yaml", NODES + "---" + pod("fits", "2") + pod("huge", "7500m") + pod("other", "500m"))
    status, lines, _ = shell.run("-f", cluster, "--show", "metrics")
    assert status == 1
    assert 'scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"} 2' in lines
    assert 'scheduler_pending_pods{queue="unschedulable"} 1' in lines
    assert 'scheduler_queue_incoming_pods_total{event="UnschedulablePodAdd",queue="active"} 3' in lines
    assert 'scheduler_event_handling_duration_seconds_count{event="NodeAdd"} 2' in lines
    assert 'scheduler_unschedulable_pods{plugin="NodeResourcesFit",profile="default-scheduler"} 1' in lines


RESERVED = """
apiVersion: scheduling.koordinator.sh/v1alpha1
kind: Reservation
metadata: {name: training}
spec:
  owners: [{labelSelector: {matchLabels: {app: train}}}]
  template:
    spec:
      priority: 10
      containers: [{name: main, image: app, resources: {requests: {cpu: "6"}}}]
---"""


def test_a_reservation_is_placed_and_kept_from_strangers(shell: Shell) -> None:
    chosen = preset("reservations")
    assert chosen is not None
    config = shell.file("config.yaml", chosen.text)
    train = pod("train", "5").replace("{name: train}", "{name: train, labels: {app: train}}")
    cluster = shell.file("cluster.yaml", NODES + "---" + RESERVED + pod("stranger", "4"))
    status, lines, _ = shell.run("-f", cluster, "--config", config)
    assert status == 1
    assert any(line.startswith("default/reservation-training") and "large" in line for line in lines), lines
    assert any(line.startswith("default/stranger ") and " - " in line for line in lines)
    assert "held by Reservation training" in "\n".join(lines)
    assert "preempted" not in "\n".join(lines)
    owners = shell.file("owners.yaml", NODES + "---" + RESERVED + train)
    status, lines, _ = shell.run("-f", owners, "--config", config)
    assert status == 0
    assert any(line.startswith("default/train ") and "large" in line for line in lines)


def test_a_reservation_that_cannot_be_placed_as_a_pod_is_told(shell: Shell) -> None:
    chosen = preset("reservations")
    assert chosen is not None
    config = shell.file("config.yaml", chosen.text)
    unknown = RESERVED.replace("priority: 10", "priorityClassName: unknown")
    cluster = shell.file("cluster.yaml", NODES + "---" + unknown + pod("stranger", "4"))
    status, _, told = shell.run("-f", cluster, "--config", config)
    assert status == 0
    assert "Reservation training failed: its pod default/reservation-training was refused" in told


def test_a_gang_that_is_one_short_is_given_up(shell: Shell) -> None:
    """Whoever holds a node calls the others back at once: without a bound for ever, in one instant of the clock."""
    labels = "metadata: {name: %s, labels: {scheduling.x-k8s.io/pod-group: ring}}"
    members = "".join(pod(name, "4").replace(f"metadata: {{name: {name}}}", labels % name) for name in "abc")
    group = "\napiVersion: scheduling.x-k8s.io/v1alpha1\nkind: PodGroup\nmetadata: {name: ring}\nspec: {minMember: 3}\n"
    configuration = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    multiPoint: {enabled: [{name: Coscheduling}]}
    queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: "*"}]}
"""
    arguments = (
        "-f",
        shell.file("shop.yaml", f"{members}{group}---{NODES}"),
        "--config",
        shell.file("c.yaml", configuration),
    )
    status, _, told = shell.run(*arguments)
    assert status == 1
    assert "lost it each time before it was bound" in told
