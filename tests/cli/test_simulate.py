"""``simulate``: a table of where pods go, the exit status, and errors that name file, object and field."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from framework.cli.main import main

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
    manifests = shell.file("all.yaml", NODES + "---" + pod("web", "2") + pod("other", "1"))
    _, lines, _ = shell.run("-f", manifests, "--explain", "web", "--explain", "default/nobody")
    told = lines[lines.index("default/web, attempt 1: placed on large") :]
    assert told == [
        "default/web, attempt 1: placed on large",
        "  1 node: Insufficient cpu (NodeResourcesFit): small",
        "  large is the only node left: nothing is scored",
        "",
        "default/nobody: no attempt was made",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no Kubernetes object"),
        ("a: [1, 2", "not YAML"),
        ("just text", "expected an object"),
        ('{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"', "not JSON"),
        (pod("p", "much"), 'Pod "p" is invalid: spec.containers[0].resources.requests'),
        ("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: []}", "spec.containers: Required value"),
        ("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: 3}", "Pod p: spec.containers"),
        (pod("p", "-1"), "must be greater than or equal to 0"),
        (pod("p", "1") + pod("p", "1"), "Pod default/p is there twice"),
        ("a: &a [*a]", "alias"),
        ("metadata: {name: p}", "'Kind' is missing"),
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


def test_a_file_that_is_not_there(shell: Shell) -> None:
    status, _, errors = shell.run("-f", "nowhere.yaml")
    assert (status, errors) == (2, "nowhere.yaml: No such file or directory\n")
