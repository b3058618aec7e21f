"""Command lines of kube-scheduler: what is configuration becomes some, the rest is named."""

from __future__ import annotations

import pytest

from framework.configuration import load
from framework.configuration.older import NotOlder, convert
from tests.configuration.older.converting import REGISTRY, converted, found, only, profile_of

STATIC_POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: kube-scheduler
  namespace: kube-system
spec:
  containers:
  - command:
    - kube-scheduler
    - --authentication-kubeconfig=/etc/kubernetes/scheduler.conf
    - --bind-address=127.0.0.1
    - --kubeconfig=/etc/kubernetes/scheduler.conf
    - --leader-elect=true
    - --algorithm-provider=ClusterAutoscalerProvider
    - --port=0
    image: k8s.gcr.io/kube-scheduler:v1.19.0
    name: kube-scheduler
"""


def test_a_static_pod_is_a_command_line_with_places() -> None:
    made = converted(STATIC_POD)
    assert made.flags
    assert made.forms == ()
    assert only(made, "--leader-elect").outcome == "carried"
    assert only(made, "--leader-elect").path == "spec.containers[0].command[4]"
    assert only(made, "--leader-elect").line == 13
    assert only(made, "--port").outcome == "dropped"
    assert only(made, "--bind-address").outcome == "dropped"
    profile = profile_of(made)
    assert profile.args["NodeResourcesFit"].scoring_strategy.type == "MostAllocated"
    assert profile.weights["TaintToleration"] == 1
    assert "kubeconfig: /etc/kubernetes/scheduler.conf" in made.text


def test_a_deployment_runs_its_scheduler_through_a_shell() -> None:
    text = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: my-scheduler}
spec:
  template:
    spec:
      containers:
      - name: side
        image: busybox
        command: [sleep, --leader-elect=nonsense]
      - name: s
        image: example.com/mine:1
        command: [sh, -c, "/usr/local/bin/kube-scheduler --leader-elect=false --kube-api-qps 100.5"]
"""
    made = converted(text)
    assert "leaderElect: false" in made.text
    assert "qps: 100.5" in made.text
    assert made.dropped == ()


def test_a_command_line_over_several_lines() -> None:
    made = converted("kube-scheduler \\\n  --scheduler-name=mine \\\n  --hard-pod-affinity-symmetric-weight 7\n")
    assert profile_of(made).scheduler_name == "mine"
    assert profile_of(made).args["InterPodAffinity"].hard_pod_affinity_weight == 7
    assert only(made, "--hard-pod-affinity-symmetric-weight").line == 3


def test_feature_gates_go_into_the_comment_as_far_as_they_can_be_set() -> None:
    made = converted(
        "--feature-gates=GangScheduling=true,GenericWorkload=true,EvenPodsSpread=true,SidecarContainers=false"
    )
    gates = load(made.text, REGISTRY).feature_gates
    assert gates.given == {"GangScheduling": True, "GenericWorkload": True}
    assert len(made.dropped) == 2
    assert "EvenPodsSpread is none of kube-scheduler 1.36" in str(made.dropped[0].sentence)
    assert "locked to true" in str(made.dropped[1].sentence)


def test_a_gate_that_the_text_names_already_is_not_named_twice() -> None:
    text = (
        "# kube-scheduler --feature-gates=GenericWorkload=true\n"
        "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n"
    )
    made = converted(text, "--feature-gates=GangScheduling=true")
    assert load(made.text, REGISTRY).feature_gates.given == {"GangScheduling": True, "GenericWorkload": True}


def test_deprecated_flags_do_not_count_beside_a_file_and_election_does() -> None:
    text = "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n"
    flags = "--config=/etc/s.yaml --kube-api-qps=5 --leader-elect-lease-duration=30s --policy-config-file=/p.json"
    made = converted(text, flags)
    assert "qps" not in made.text
    assert "leaseDuration: 30s" in made.text
    assert only(made, "--config").outcome == "carried"
    assert {each.what for each in made.dropped} == {"--kube-api-qps", "--policy-config-file"}


def test_the_policy_that_a_flag_names() -> None:
    alone = converted("kube-scheduler --policy-config-file=/etc/policy.json")
    assert "/etc/policy.json" in str(only(alone, "--policy-config-file").sentence)
    assert profile_of(alone).weights["NodeAffinity"] == 1
    policy = '{"kind": "Policy", "priorities": [{"name": "NodeAffinityPriority", "weight": 6}]}'
    made = converted(policy, "--policy-config-file=/etc/policy.json --scheduler-name=p")
    assert only(made, "--policy-config-file").outcome == "carried"
    assert (profile_of(made).scheduler_name, profile_of(made).weights["NodeAffinity"]) == ("p", 6)


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        ("--leader-elect=perhaps", "perhaps is no value for --leader-elect."),
        ("--leader-elect-retry-period=soon", "soon is no value"),
        ("--kube-api-burst=many", "many is no value"),
        ("--whatever=1", "--whatever is no flag of kube-scheduler that is known here."),
        ("--v=4", "--v is no configuration: it stays a flag of kube-scheduler."),
        ("--config=/etc/x.yaml", "What stands in /etc/x.yaml is not in this text"),
        ("--feature-gates=X", "missing bool value for X"),
        ("--leader-elect-resource-lock=endpoints", "v1 locks with leases only"),
    ],
)
def test_flags_that_cannot_be_carried_over_are_named(flags: str, says: str) -> None:
    made = converted(flags)
    assert says in str(made.findings[-1].sentence)
    assert made.findings[-1].outcome != "carried"


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("- --leader-elect=false\n- --v=2\n", ("[0]", "[1]")),
        ('["kube-scheduler", "--leader-elect=false", "--v", "2"]', ("[1]", "[2]")),
        ("command:\n- kube-scheduler\nargs:\n- --leader-elect=false\n- --v=2\n", ("args[0]", "args[1]")),
    ],
)
def test_the_arguments_of_a_container_without_the_container(text: str, places: tuple[str, str]) -> None:
    made = converted(text)
    assert "leaderElect: false" in made.text
    assert (only(made, "--leader-elect").path, only(made, "--v").path) == places
    with pytest.raises(NotOlder):
        convert("- a\n- b\n", REGISTRY)


def test_deprecated_flags_do_not_count_beside_a_file_that_is_elsewhere() -> None:
    made = converted(
        "--config=/etc/s.yaml --scheduler-name=z --kubeconfig=/k --policy-config-file=/p --leader-elect=false"
    )
    assert {"--config", "--scheduler-name", "--kubeconfig", "--policy-config-file"} == {e.what for e in made.dropped}
    assert "kubeconfig" not in made.text
    assert "What stands in /etc/s.yaml is not in this text" in str(only(made, "--config").sentence)


def test_of_a_flag_that_stands_twice_the_last_counts() -> None:
    made = converted("--kube-api-qps=5 --kube-api-qps=1e2 --kube_api_burst=7")
    assert [each.outcome for each in found(made, "--kube-api-qps")] == ["carried", "dropped"]
    assert "qps: 100" in made.text
    # kube-scheduler takes underscores for dashes.
    assert "burst: 7" in made.text
    assert "qps: -1" in converted("--kube-api-qps=-1").text


def test_words_that_belong_to_no_flag_are_named() -> None:
    made = converted("/usr/bin/kube-scheduler --leader-elect false --v 2")
    assert only(made, "false").outcome == "dropped"
    assert "leaderElect: true" in made.text
    assert found(made, "/usr/bin/kube-scheduler") == found(made, "2") == []


def test_flags_beside_a_policy_do_not_overrule_it() -> None:
    text = '{"kind": "Policy", "priorities": [{"name": "InterPodAffinityPriority", "weight": 1}]%s}'
    flags = "--policy-config-file=/p --hard-pod-affinity-symmetric-weight=7 --algorithm-provider=DefaultProvider"
    made = converted(text % ', "hardPodAffinitySymmetricWeight": 30', flags)
    assert profile_of(made).args["InterPodAffinity"].hard_pod_affinity_weight == 30
    assert only(made, "--hard-pod-affinity-symmetric-weight").outcome == "dropped"
    assert str(only(made, "--algorithm-provider").sentence) == "--algorithm-provider did not count beside a Policy."
    assert profile_of(converted(text % "", flags)).args["InterPodAffinity"].hard_pod_affinity_weight == 7


def test_a_switch_for_many_gates_is_told_as_one() -> None:
    assert "switches many feature gates" in str(
        only(converted("--feature-gates=AllBeta=true"), "--feature-gates").sentence
    )


@pytest.mark.parametrize(
    "text",
    [
        "sudo kube-scheduler --leader-elect=false",
        "KUBECONFIG=/k GOGC=50 exec /usr/bin/kube-scheduler --leader-elect=false | tee -a /var/log/s.log",
        "$ nohup kube-scheduler --leader-elect=false &",
    ],
)
def test_a_line_of_a_shell_is_read_up_to_the_next_command(text: str) -> None:
    assert [each.what for each in converted(text).findings] == ["--leader-elect"]


CLUSTER = "kind: ClusterConfiguration\nkubernetesVersion: v1.27.0\nscheduler:\n  extraArgs:\n"


@pytest.mark.parametrize(
    ("text", "place", "line"),
    [
        (
            f'apiVersion: kubeadm.k8s.io/v1beta3\n{CLUSTER}    v: "2"\n    leader-elect: "false"\n',
            "scheduler.extraArgs.leader-elect",
            7,
        ),
        (
            f'apiVersion: kubeadm.k8s.io/v1beta4\n{CLUSTER}  - {{name: v, value: "2"}}\n'
            '  - name: leader-elect\n    value: "false"\n',
            "scheduler.extraArgs[1]",
            7,
        ),
        (
            "apiVersion: kubeadm.k8s.io/v1alpha2\nkind: MasterConfiguration\nschedulerExtraArgs:\n  v: 2\n"
            "  leader-elect: false\n",
            "schedulerExtraArgs.leader-elect",
            5,
        ),
        (
            "kind: InitConfiguration\napiVersion: kubeadm.k8s.io/v1beta3\n---\n"
            f'apiVersion: kubeadm.k8s.io/v1beta3\n{CLUSTER}    v: "2"\n    leader-elect: "false"\n',
            "scheduler.extraArgs.leader-elect",
            10,
        ),
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kubeadm-config}\ndata:\n  ClusterConfiguration: |\n"
            "    apiVersion: kubeadm.k8s.io/v1beta3\n    kind: ClusterConfiguration\n    scheduler:\n"
            '      extraArgs:\n        v: "2"\n        leader-elect: "false"\n',
            "data.ClusterConfiguration.scheduler.extraArgs.leader-elect",
            11,
        ),
    ],
)
def test_what_kubeadm_gives_the_scheduler_is_flags(text: str, place: str, line: int) -> None:
    made = converted(text)
    assert {each.what for each in made.findings} == {"--v", "--leader-elect"}
    assert "leaderElect: false" in made.text
    flag = only(made, "--leader-elect")
    assert (flag.outcome, flag.path, flag.line) == ("carried", place, line)


def test_a_kubeadm_configuration_without_flags_of_the_scheduler_says_so() -> None:
    for text in (
        "apiVersion: kubeadm.k8s.io/v1beta3\nkind: ClusterConfiguration\napiServer: {extraArgs: {v: '2'}}\n",
        "apiVersion: kubeadm.k8s.io/v1beta3\nkind: ClusterConfiguration\nscheduler: {extraArgs: }\n",
    ):
        with pytest.raises(NotOlder) as refused:
            convert(text, REGISTRY)
        assert "scheduler.extraArgs" in str(refused.value.words)


def test_kubeadms_flags_stand_beside_the_file_that_they_name() -> None:
    made = converted(
        "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\nparallelism: 3\n---\n"
        f"apiVersion: kubeadm.k8s.io/v1beta3\n{CLUSTER}    config: /etc/s.yaml\n    kube-api-qps: '5'\n"
    )
    assert "parallelism: 3" in made.text
    assert "qps" not in made.text
    assert only(made, "--config").outcome == "carried"


@pytest.mark.parametrize(
    "text",
    [
        "docker run -d --name kube-scheduler -v /etc/k:/etc/k:ro --net=host k8s.gcr.io/kube-scheduler:v1.18.0 "
        "kube-scheduler --leader-elect=false",
        "sudo docker container run -it --rm registry.k8s.io/kube-scheduler:v1.20.0 --leader-elect=false",
        "docker run -d \\\n  --restart unless-stopped \\\n  --privileged \\\n"
        "  registry.k8s.io/kube-scheduler:v1.20.0 \\\n  --leader-elect=false",
        "podman run --rm --entrypoint /usr/local/bin/kube-scheduler own/image --leader-elect=false | tee log",
        "docker run --net host gcr.io/google_containers/hyperkube:v1.8.0 /hyperkube scheduler --leader-elect=false",
        "docker run --net host gcr.io/google_containers/hyperkube:v1.8.0 scheduler --leader-elect=false",
        'docker run own/image sh -c "exec kube-scheduler --leader-elect=false"',
        "/hyperkube kube-scheduler --leader-elect=false",
        "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - image: own\n    command: [/hyperkube, scheduler]\n"
        "    args: [--leader-elect=false]\n",
    ],
)
def test_a_container_is_read_from_behind_its_image_or_program(text: str) -> None:
    made = converted(text)
    assert [each.what for each in made.findings] == ["--leader-elect"]
    assert "leaderElect: false" in made.text


def test_a_container_that_runs_something_else_is_refused_by_its_image() -> None:
    for text in ("docker run -p 80:80 nginx:1 --leader-elect=false", "docker run -d --name kube-scheduler nginx:1"):
        with pytest.raises(NotOlder) as refused:
            convert(text, REGISTRY)
        assert str(refused.value.words) == "this command runs a container of nginx:1, no kube-scheduler"
    with pytest.raises(NotOlder):
        convert("docker run", REGISTRY)
