"""The read-only configurations that come with the product. Samples and links name them by their slugs.

All but one are the framework's presets. A change of a text here becomes a new version at the next start; runs keep
the version they were played with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from framework.configuration.presets import preset
from framework.sentences import noted

_EVERY_NODE: Final = """\
# kube-scheduler's own profile, with every feasible node scored: a large cluster shows all of its scores.
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
percentageOfNodesToScore: 100
profiles:
  - schedulerName: default-scheduler
"""


@dataclass(frozen=True, slots=True)
class Builtin:
    slug: str
    name: str
    description: str
    text: str


def _from_preset(id_: str, description: str, *, slug: str = "", name: str = "") -> Builtin:
    """Under the preset's own id and name, unless samples and links know it by others."""
    found = preset(id_)
    if found is None:
        raise LookupError(f"the framework has no preset {id_}")
    return Builtin(slug or id_, name or found.name, description, found.text)


BUILTINS: Final = (
    _from_preset("default", "kube-scheduler v1.36"),
    _from_preset("bin-pack", noted("MostAllocated, weight 5")),
    _from_preset("spread", noted("PodTopologySpread, weight 10")),
    _from_preset("no-scoring", noted("filters only")),
    _from_preset(
        "approvals",
        noted("two Permit plugins, every node scored"),
        slug="default-approvals",
        name="Default + approvals",
    ),
    _from_preset("evictions", noted("EvictionApproval: evictions wait for a person")),
    Builtin("default-every-node", "Default, every node", noted("kube-scheduler v1.36, every node scored"), _EVERY_NODE),
    _from_preset("shared-cluster", noted("four plugins of scheduler-plugins, every node scored")),
    _from_preset("reservations", noted("Reservation: places held for pods to come")),
)
"""In the order in which lists show them."""
