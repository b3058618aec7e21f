"""Configurations to start from, as the YAML a person would write. A test loads every one of them.

Comments of the YAML are texts for readers: scripts/catalogs.py collects them, and who hands a preset out says them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from framework.said import noted


@dataclass(frozen=True, slots=True)
class Preset:
    id: str
    name: str
    description: str
    text: str


_DEFAULT: Final = """\
# What kube-scheduler 1.36 runs without a configuration file.
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
"""

_BIN_PACK: Final = """\
# Fill nodes before opening new ones: fewer nodes in use, room for large pods elsewhere.
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
    plugins:
      # Weights in multiPoint keep the default order of plugins.
      multiPoint:
        enabled:
          - name: NodeResourcesFit
            weight: 5
      score:
        disabled:
          # Balancing cpu against memory would pull pods back to empty nodes.
          - name: NodeResourcesBalancedAllocation
    pluginConfig:
      - name: NodeResourcesFit
        args:
          scoringStrategy:
            type: MostAllocated
            resources:
              - name: cpu
                weight: 1
              - name: memory
                weight: 1
"""

_SPREAD: Final = """\
# Prefer empty nodes and even zones: failures hurt less, nodes stay less loaded.
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
    plugins:
      multiPoint:
        enabled:
          - name: PodTopologySpread
            weight: 10
          - name: NodeResourcesFit
            weight: 3
    pluginConfig:
      - name: NodeResourcesFit
        args:
          scoringStrategy:
            type: LeastAllocated
            resources:
              - name: cpu
                weight: 1
              - name: memory
                weight: 1
      - name: PodTopologySpread
        args:
          # For pods without constraints of their own.
          defaultingType: List
          defaultConstraints:
            - maxSkew: 1
              topologyKey: topology.kubernetes.io/zone
              whenUnsatisfiable: ScheduleAnyway
            - maxSkew: 1
              topologyKey: kubernetes.io/hostname
              whenUnsatisfiable: ScheduleAnyway
"""

_NO_SCORING: Final = """\
# The first feasible node wins: filters decide, nothing is ranked.
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
    plugins:
      preScore:
        disabled:
          - name: "*"
      score:
        disabled:
          - name: "*"
"""

_APPROVALS: Final = """\
# kube-scheduler's own profile, with two plugins that wait on Permit: gangs start together, large pods ask a person.
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
percentageOfNodesToScore: 100
profiles:
  - schedulerName: default-scheduler
    plugins:
      multiPoint:
        enabled:
          - name: Coscheduling
          - name: ManualApproval
      # Coscheduling keeps the pods of a gang together in the queue; there is one queue sort plugin.
      queueSort:
        enabled:
          - name: Coscheduling
        disabled:
          - name: "*"
    pluginConfig:
      - name: Coscheduling
        args:
          permitWaitingTimeSeconds: 60
          # Without it, a gang that does not fit is tried again and again without a pause.
          podGroupBackoffSeconds: 30
          # One of six may be late without the others giving up.
          podGroupRejectPercentage: 20
      - name: ManualApproval
        args:
          # A pod that requests at least one of these waits for a person.
          minimumRequests:
            memory: 16Gi
            nvidia.com/gpu: "2"
          timeoutSeconds: 600
          message: Large pods are approved by the platform team.
"""

PRESETS: Final = (
    Preset("default", noted("Default"), noted("kube-scheduler's own profile."), _DEFAULT),
    Preset("bin-pack", noted("Bin-pack"), noted("Fills nodes before it opens new ones."), _BIN_PACK),
    Preset("spread", noted("Spread"), noted("Prefers empty nodes and even zones."), _SPREAD),
    Preset("no-scoring", noted("No scoring"), noted("Takes the first node that passes the filters."), _NO_SCORING),
    Preset(
        "approvals",
        noted("Gangs and approvals"),
        noted("Every node scored; Coscheduling and ManualApproval on Permit."),
        _APPROVALS,
    ),
)


def preset(id_: str) -> Preset | None:
    for each in PRESETS:
        if each.id == id_:
            return each
    return None
