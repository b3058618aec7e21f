"""The read-only configurations that come with the product. Samples and links name them by their slugs.

The first four are the framework's presets. A change of a text here becomes a new version at the next start; runs keep
the version they were played with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from framework.configuration.presets import preset

_EVERY_NODE: Final = """\
# kube-scheduler's own profile, with every feasible node scored: a large cluster shows all of its scores.
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
percentageOfNodesToScore: 100
profiles:
  - schedulerName: default-scheduler
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


@dataclass(frozen=True, slots=True)
class Builtin:
    slug: str
    name: str
    description: str
    text: str


def _from_preset(id_: str, description: str) -> Builtin:
    found = preset(id_)
    if found is None:
        raise LookupError(f"the framework has no preset {id_}")
    return Builtin(id_, found.name, description, found.text)


BUILTINS: Final = (
    _from_preset("default", "kube-scheduler v1.36"),
    _from_preset("bin-pack", "MostAllocated, weight 5"),
    _from_preset("spread", "PodTopologySpread, weight 10"),
    _from_preset("no-scoring", "filters only"),
    Builtin("default-approvals", "Default + approvals", "two Permit plugins, every node scored", _APPROVALS),
    Builtin("default-every-node", "Default, every node", "kube-scheduler v1.36, every node scored", _EVERY_NODE),
)
"""In the order in which lists show them."""
