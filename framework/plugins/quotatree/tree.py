"""The tree of ElasticQuotas with what their pods use and ask for (docs/koordinator.md#elasticquotatree)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from framework.objects import Node, Pod
from framework.objects.catalogue import QUOTA_LENDS, QUOTA_NAME, QUOTA_PARENT, ElasticQuota
from framework.objects.metadata import ResourceList
from framework.objects.resources import Resources, node_allocatable, pod_requests, resource_value
from framework.objects.shared_weight import WeightUnreadable, shared_weight
from framework.plugins.quotatree.shares import Claim, shared_out

NO_LIMIT: Final = (1 << 63) - 1


class Quota(NamedTuple):
    name: str
    namespace: str
    parent: str
    """As its label says, whether there is such a quota or not."""
    least: Resources
    most: Resources
    """What is not named has no limit."""
    weights: Resources
    """What is not named weighs as much as its max."""
    lends: bool

    @classmethod
    def of(cls, quota: ElasticQuota) -> Quota:
        labels, about = quota.metadata.labels, quota.metadata
        return cls(
            about.name,
            about.namespace,
            labels.get(QUOTA_PARENT, ""),
            _amounts(quota.spec.min),
            _amounts(quota.spec.max),
            _weights(quota),
            labels.get(QUOTA_LENDS, "") != "false",
        )


class Counted(NamedTuple):
    label: str
    """The quota that the pod names; "" for none."""
    namespace: str
    request: Resources
    placed: bool


class Short(NamedTuple):
    """Why a pod is refused: with it the quota would use more of the resource than its share, or than its max."""

    quota: Quota
    resource: str
    used: int
    asked: int
    share: int
    over_max: bool


def _amounts(given: ResourceList | None) -> Resources:
    return {name: resource_value(name, amount) for name, amount in (given or {}).items()}


def _weights(quota: ElasticQuota) -> Resources:
    """None of an annotation that cannot be read; imports and the command line warn of it."""
    try:
        return shared_weight(quota)
    except WeightUnreadable:
        return {}


def counted_of(pod: Pod, *, placed: bool) -> Counted:
    return Counted(pod.metadata.labels.get(QUOTA_NAME, ""), pod.metadata.namespace, pod_requests(pod), placed)


@dataclass(slots=True)
class _Built:
    """What follows from the quotas that there are, and sums over pods; by the quota's name."""

    quotas: dict[str, Quota]
    by_namespace: dict[str, str]
    chains: dict[str, tuple[str, ...]]
    """The quota itself first, then its parent, up to the root."""
    children: dict[str, list[str]]
    """Under "" those without a parent."""
    used: dict[str, Resources]
    """With that of the quotas below."""
    asked: dict[str, Resources]
    """By its own pods alone."""


@dataclass(slots=True)
class QuotaTree:
    default: str = ""
    check_parents: bool = True
    count_pending: bool = True
    _quotas: dict[tuple[str, str], Quota] = field(default_factory=dict)
    _pods: dict[str, Counted] = field(default_factory=dict)
    _nodes: dict[str, Resources] = field(default_factory=dict)
    _built: _Built | None = None
    _shares: dict[str, Resources] | None = None

    # --- what there is ----------------------------------------------------------------------------------------------

    def set_quota(self, namespace: str, name: str, quota: ElasticQuota | None) -> None:
        if quota is None:
            self._quotas.pop((namespace, name), None)
        else:
            self._quotas[namespace, name] = Quota.of(quota)
        self._built = self._shares = None

    def set_node(self, name: str, node: Node | None) -> None:
        offered = {} if node is None else node_allocatable(node)
        if offered != self._nodes.get(name, {}):
            self._nodes[name] = offered
            self._shares = None

    def set_pod(self, uid: str, counted: Counted | None) -> None:
        before = self._pods.get(uid)
        if before == counted:
            return
        if counted is None:
            del self._pods[uid]
        else:
            self._pods[uid] = counted
        if self._built is not None:
            for pod, sign in ((before, -1), (counted, 1)):
                if pod is not None:
                    self._add(self._built, pod, sign)
        if not self.count_pending or before is None or counted is None or before[:3] != counted[:3]:
            self._shares = None

    def counts(self, uid: str) -> bool:
        return uid in self._pods

    # --- what follows -----------------------------------------------------------------------------------------------

    def quota(self, name: str) -> Quota:
        return self.built.quotas[name]

    def _by_name(self) -> dict[str, Quota]:
        """Of several of one name the first by namespace."""
        found: dict[str, Quota] = {}
        for key in sorted(self._quotas):
            found.setdefault(key[1], self._quotas[key])
        return found

    @property
    def built(self) -> _Built:
        if self._built is None:
            self._built = self._build()
        return self._built

    def _build(self) -> _Built:
        quotas = self._by_name()
        chains = {name: tuple(_chain(name, quotas)) for name in quotas}
        children: dict[str, list[str]] = {}
        for name, chain in chains.items():
            children.setdefault(chain[1] if len(chain) > 1 else "", []).append(name)
        by_namespace: dict[str, str] = {}
        for name, quota in quotas.items():
            if name not in children:  # pods of a namespace belong to a leaf
                by_namespace[quota.namespace] = min(name, by_namespace.get(quota.namespace, name))
        built = _Built(quotas, by_namespace, chains, children, {}, {})
        for pod in self._pods.values():
            self._add(built, pod, 1)
        return built

    def _add(self, built: _Built, pod: Counted, sign: int) -> None:
        name = self._quota_of(built, pod)
        if not name:
            return
        if pod.placed:
            for each in built.chains[name]:
                _add(built.used.setdefault(each, {}), pod.request, sign)
        if pod.placed or self.count_pending:
            _add(built.asked.setdefault(name, {}), pod.request, sign)

    def _quota_of(self, built: _Built, pod: Counted) -> str:
        for name in (pod.label, built.by_namespace.get(pod.namespace, ""), self.default):
            if name in built.chains:
                return name
        return ""

    def chain(self, pod: Counted) -> tuple[str, ...]:
        """Of the pod's quota; empty of a pod that has none."""
        return self.built.chains.get(self._quota_of(self.built, pod), ())

    def used(self, name: str, resource: str) -> int:
        return self.built.used.get(name, {}).get(resource, 0)

    @property
    def shares(self) -> Mapping[str, Resources]:
        """What every quota may use at the moment, of the resources that some quota bounds."""
        if self._shares is None:
            self._shares = self._share_out({})
        return self._shares

    def _share_out(self, more: Mapping[str, Resources]) -> dict[str, Resources]:
        """``more``: what is asked for beside what is counted. Quotas in a circle are under no root and get no share."""
        built, quotas = self.built, self.built.quotas
        named = sorted({name for quota in quotas.values() for bound in (quota.least, quota.most) for name in bound})
        shares: dict[str, Resources] = {name: {} for name in quotas}
        for resource in named:
            asked: dict[str, int] = {}

            def ask(name: str, resource: str = resource, asked: dict[str, int] = asked) -> int:
                own = built.asked.get(name, {}).get(resource, 0) + more.get(name, {}).get(resource, 0)
                total = own + sum(ask(child) for child in built.children.get(name, ()))
                asked[name] = min(total, quotas[name].most.get(resource, NO_LIMIT))
                # What is not lent is asked of the parent, whether it is used or not.
                return asked[name] if quotas[name].lends else max(asked[name], quotas[name].least.get(resource, 0))

            for root in built.children.get("", ()):
                ask(root)
            amount = sum(offered.get(resource, 0) for offered in self._nodes.values())
            level = [("", amount)]
            while level:
                parent, amount = level.pop()
                names = built.children.get(parent, [])
                claims = [self._claim(quotas[name], resource, asked[name], amount) for name in names]
                for name, share in zip(names, shared_out(amount, claims), strict=True):
                    shares[name][resource] = share
                    level.append((name, share))
        return shares

    @staticmethod
    def _claim(quota: Quota, resource: str, asked: int, amount: int) -> Claim:
        most = quota.most.get(resource, NO_LIMIT)
        weight = quota.weights.get(resource, min(most, max(amount, 1)))
        return Claim(asked, min(quota.least.get(resource, 0), most), weight, quota.lends)

    def short(self, uid: str, pod: Counted) -> Short | None:
        """The quota on the way up that has no room for the pod, which is counted by ``uid`` or not at all: the first
        whose max is too low, else the uppermost whose share is, as those below have theirs from it."""
        chain = self.chain(pod)
        if not chain:
            return None
        known = self._pods.get(uid)
        if known is not None and (known.placed or self.count_pending):
            shares = self.shares
        else:
            shares = self._share_out({chain[0]: pod.request})
        placed = known is not None and known.placed
        checked = chain if self.check_parents else chain[:1]
        for over_max, names in ((True, checked), (False, checked[::-1])):
            for name in names:
                quota = self.quota(name)
                bounds = quota.most if over_max else shares[name]
                for resource, asked in pod.request.items():
                    used = self.used(name, resource) - (asked if placed else 0)
                    if asked and used + asked > bounds.get(resource, NO_LIMIT):
                        return Short(quota, resource, used, asked, bounds[resource], over_max)
        return None


def _chain(name: str, quotas: Mapping[str, Quota]) -> Iterator[str]:
    """A parent that does not exist is none, and neither is one that would close a circle."""
    passed: set[str] = set()
    while name in quotas and name not in passed:
        yield name
        passed.add(name)
        name = quotas[name].parent


def _add(total: Resources, request: Mapping[str, int], sign: int) -> None:
    for name, amount in request.items():
        total[name] = total.get(name, 0) + sign * amount


def tree_of(quotas: Iterable[ElasticQuota], nodes: Iterable[Node], pods: Iterable[Pod], tree: QuotaTree) -> QuotaTree:
    """``tree``, which is empty, with all of these in it; pods that still wait behind a gate ask for nothing."""
    for quota in quotas:
        tree.set_quota(quota.metadata.namespace, quota.metadata.name, quota)
    for node in nodes:
        tree.set_node(node.metadata.name, node)
    for pod in pods:
        tree.set_pod(pod.metadata.uid, counted_if_it_asks(pod))
    return tree


def counted_if_it_asks(pod: Pod) -> Counted | None:
    """None of a pod that waits behind a gate."""
    placed = bool(pod.spec.node_name)
    return None if pod.spec.scheduling_gates and not placed else counted_of(pod, placed=placed)
