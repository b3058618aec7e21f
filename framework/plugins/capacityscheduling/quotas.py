"""ElasticQuotas with what is used of them (docs/semantics/catalogue.md#quotas)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Final, Self

from framework.objects import Pod
from framework.objects.catalogue import ElasticQuota
from framework.objects.metadata import ResourceList
from framework.objects.resources import CPU, EPHEMERAL_STORAGE, MEMORY, PODS, Resources
from framework.objects.simple_requests import amounts, simple_requests

NO_LIMIT: Final = (1 << 63) - 1
ALWAYS_BOUND: Final = (CPU, MEMORY, EPHEMERAL_STORAGE, PODS)
"""What a bound leaves out of these counts as 0; other resources have no upper bound then, and 0 for a lower one."""


def request_of(pod: Pod) -> Resources:
    return simple_requests(pod)


def total(*parts: Mapping[str, int]) -> Resources:
    result: Resources = {}
    for part in parts:
        for name, amount in part.items():
            result[name] = result.get(name, 0) + amount
    return result


def exceeds(request: Resources, used: Resources, bound: Resources, unbound: int) -> bool:
    """Whether both together are more than the bound. Of other resources only those that are requested are looked at."""
    return any(request.get(name, 0) + used.get(name, 0) > bound.get(name, 0) for name in ALWAYS_BOUND) or any(
        amount + used.get(name, 0) > bound.get(name, unbound)
        for name, amount in request.items()
        if name not in ALWAYS_BOUND
    )


def _bound(given: ResourceList | None, where_nothing_is_given: int) -> Resources:
    if given is None:
        return dict.fromkeys((CPU, MEMORY, EPHEMERAL_STORAGE), where_nothing_is_given)
    return amounts(given)


@dataclass(slots=True)
class Quota:
    """Of one namespace. ``moved`` are pods that came (True) or went since ``counted``, which others share."""

    namespace: str
    least: Resources
    most: Resources
    used: Resources = field(default_factory=dict)
    counted: set[str] = field(default_factory=set)
    """By uid."""
    moved: dict[str, bool] | None = None
    """None: this is the quota itself, which writes to ``counted``."""

    @classmethod
    def of(cls, quota: ElasticQuota) -> Quota:
        return cls(quota.metadata.namespace, _bound(quota.spec.min, 0), _bound(quota.spec.max, NO_LIMIT))

    def counts(self, uid: str) -> bool:
        return uid in self.counted if self.moved is None else self.moved.get(uid, uid in self.counted)

    def add(self, pod: Pod) -> None:
        self._move(pod, came=True)

    def remove(self, pod: Pod) -> None:
        self._move(pod, came=False)

    def _move(self, pod: Pod, *, came: bool) -> None:
        uid = pod.metadata.uid
        if self.counts(uid) == came:
            return
        if self.moved is not None:
            self.moved[uid] = came
        elif came:
            self.counted.add(uid)
        else:
            self.counted.discard(uid)
        sign = 1 if came else -1
        for name, amount in request_of(pod).items():
            self.used[name] = self.used.get(name, 0) + sign * amount

    def what_if(self) -> Quota:
        """A copy for one cycle, before the end of which the quota itself does not change."""
        moved = {} if self.moved is None else dict(self.moved)
        return Quota(self.namespace, self.least, self.most, dict(self.used), self.counted, moved)

    def over_least(self) -> bool:
        return exceeds(self.used, {}, self.least, 0)

    def over_least_with(self, request: Resources) -> bool:
        return exceeds(request, self.used, self.least, 0)

    def over_most_with(self, request: Resources) -> bool:
        return exceeds(request, self.used, self.most, NO_LIMIT)


@dataclass(slots=True)
class Quotas:
    """By namespace, as one attempt sees them; dry runs have clones of their own."""

    transient: ClassVar[bool] = True
    by_namespace: dict[str, Quota]
    request: Resources
    """Of the pod."""
    request_in_quota: Resources = field(default_factory=dict)
    """With nominated pods of the same namespace that are at least as important."""
    request_in_all: Resources = field(default_factory=dict)
    """With those, and nominated pods of other namespaces that are within what they are guaranteed."""

    def clone(self) -> Self:
        quotas = {namespace: quota.what_if() for namespace, quota in self.by_namespace.items()}
        return type(self)(quotas, self.request, self.request_in_quota, self.request_in_all)

    def all_over_least_with(self, request: Resources) -> bool:
        """Whether all that is used, and this, is more than all namespaces together are guaranteed."""
        quotas = self.by_namespace.values()
        used = total(*(quota.used for quota in quotas), request)
        return exceeds(used, {}, total(*(quota.least for quota in quotas)), 0)
