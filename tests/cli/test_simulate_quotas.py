"""``simulate``: what is told of ElasticQuotas that cannot be used as they are written."""

from __future__ import annotations

from tests.cli.test_simulate import NODES, Shell, pod, shell

__all__ = ["shell"]

QUOTAS = """
apiVersion: scheduling.x-k8s.io/v1alpha1
kind: ElasticQuota
metadata:
  name: q{number}
  namespace: team
  annotations: {{quota.scheduling.koordinator.sh/shared-weight: '{weight}'}}
---"""


def quotas(*weights: str) -> str:
    return (
        NODES + "---" + "".join(QUOTAS.format(number=i, weight=each) for i, each in enumerate(weights)) + pod("a", "1")
    )


def test_weights_of_quotas_that_cannot_be_read_are_told(shell: Shell) -> None:
    path = shell.file("quotas.yaml", quotas("{cpu: 40}", "[]", '{"cpu": "many"}', '{"cpu": -1}', '{"cpu": 40}'))
    status, _, told = shell.run("-f", path)
    annotation = "the annotation quota.scheduling.koordinator.sh/shared-weight"
    example = '{"cpu": 40}'
    passed_over = "It is passed over: max is its weight."
    assert status == 0
    assert [line for line in told.splitlines() if "ElasticQuota" in line] == [
        f"warning: ElasticQuota team/q0: {annotation} is no JSON. {passed_over}",
        f"warning: ElasticQuota team/q1: {annotation} must be amounts by resource, such as {example}. {passed_over}",
        f'warning: ElasticQuota team/q2: {annotation} gives cpu the weight "many", which is no amount. {passed_over}',
        f"warning: ElasticQuota team/q3: {annotation} gives cpu a negative weight, which is as good as 0.",
    ]


def test_of_many_such_quotas_the_first_are_told(shell: Shell) -> None:
    _, _, told = shell.run("-f", shell.file("quotas.yaml", quotas(*["[" * 100_000], *["x"] * 11)))
    lines = [line for line in told.splitlines() if "ElasticQuota" in line]
    assert len(lines) == 11
    assert lines[-1] == "warning: 2 more ElasticQuotas have such annotations."


def test_a_default_quota_that_is_not_there_is_told(shell: Shell) -> None:
    config = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {multiPoint: {enabled: [{name: ElasticQuotaTree}]}}
  pluginConfig:
  - name: ElasticQuotaTree
    args: {defaultQuota: %s}
"""
    path = shell.file("quotas.yaml", quotas('{"cpu": 1}'))
    _, _, told = shell.run("-f", path, "--config", shell.file("config.yaml", config % "q1"))
    sentence = "ElasticQuotaTree's defaultQuota q1 is no ElasticQuota of the cluster: pods that belong to no other one"
    assert f"warning: profiles[0]: {sentence} are not limited." in told.splitlines()
    assert "defaultQuota" not in shell.run("-f", path, "--config", shell.file("config.yaml", config % "q0"))[2]
