"""Claims of devices in a run that schedules a real cluster: what PreBind writes of them and waits for, and what is
given back when a pod is not bound, which nobody waits for.

A reservation that is taken back is seen as taken back at once, for the pod may be tried again before the answer comes;
what is written for it then is sent afterwards, as all writes of one object follow each other. All else is seen when it
was answered. A claim that conflicts was read once more, and is known from then on as it was found.
"""

from __future__ import annotations

from typing import Final, Literal, Protocol, TypeVar

import msgspec
from msgspec.structs import replace

from framework.objects import KubeObject, Pod, ResourceClaim
from framework.objects.devices import ResourceClaimConsumerReference
from framework.plugins.dynamicresources.claims import ClaimProblem, claim_name
from framework.scheduler.cluster import not_found
from schedweb.writes import claims
from schedweb.writes.claims import RESOURCE
from schedweb.writes.writes import Outcome, Write

MOST_TRIES: Final = 5
"""As upstream (``retry.DefaultRetry``)."""
GONE: Final = frozenset(("gone", "replaced"))
Key = tuple[str, ...]
C = TypeVar("C", bound=ResourceClaim)


class Cluster(Protocol):
    """What the run's cluster lends."""

    def find(self, obj: KubeObject) -> KubeObject | None: ...

    def awaited(self, key: Key, write: Write) -> Outcome:
        """Of a write of the binding cycle that is asked. Raises Unanswered where it is not known yet."""
        ...

    def give_back(self, write: Write, uid: str) -> None:
        """Written in its turn; the outcome comes to ``Claims.answered``."""
        ...

    def see_written(self, obj: KubeObject, version: str) -> None:
        """The object as it is since a write was answered."""
        ...

    def keep(self, old: KubeObject | None, new: KubeObject) -> None: ...

    def forget(self, obj: KubeObject) -> None: ...

    @property
    def is_dry_run(self) -> bool: ...


class _Release(msgspec.Struct):
    what: Literal["unreserve", "deallocate", "unprotect_claim", "delete_claim"]
    claim: ResourceClaim
    """As it is to be."""
    left: tuple[ResourceClaimConsumerReference, ...] = ()
    deletes: bool = False
    """It is deleted when its finalizer is gone."""
    tries: int = 1


class Claims(msgspec.Struct):
    binding: dict[Key, tuple[ResourceClaim, claims.Change]] = {}
    """What a binding cycle writes of a claim, as it was when it began: it is asked again until all is answered."""
    under_way: dict[str, list[_Release]] = {}
    """uid of a claim → what is written to give it back."""

    def update(self, cluster: Cluster, wanted: ResourceClaim, *, acting: str) -> str | None:
        """``acting``: the pod whose binding cycle is asked; "" where claims are given back."""
        known = cluster.find(wanted)
        if not isinstance(known, ResourceClaim) or known.metadata.uid != wanted.metadata.uid:
            # One that was made in a dry run is nowhere.
            return None if cluster.is_dry_run else not_found(RESOURCE, wanted.metadata.name)
        if not acting:
            self._release(cluster, known, wanted, claims.change_of(known, wanted))
            return None
        key: Key = (acting, wanted.key, wanted.metadata.resource_version)
        wanted, change = self.binding.get(key) or (wanted, claims.change_of(known, wanted))
        if change.joins is None:
            return None
        self.binding[key] = wanted, change
        outcome, error = claims.reserve(wanted, change, lambda write: cluster.awaited((write.purpose, *key[1:]), write))
        del self.binding[key]
        if outcome.is_done and not outcome.dry_run:
            cluster.see_written(wanted, outcome.resource_version)
        return error

    def create(self, cluster: Cluster, claim: C) -> C | str:
        outcome = cluster.awaited(("create_claim",), claims.create_claim(claim))
        if outcome.error is not None:
            return outcome.error
        made = claims.named(claim, outcome)
        if not outcome.dry_run and cluster.find(made) is None:
            cluster.keep(None, made)
            cluster.see_written(made, outcome.resource_version)
        return made

    # --- given back -------------------------------------------------------------------------------------------------

    def _release(self, cluster: Cluster, known: ResourceClaim, wanted: ResourceClaim, change: claims.Change) -> None:
        write = claims.release(wanted, change)
        if write is None or self._is_leaving(wanted.metadata.uid):
            return
        if write.purpose == "unreserve":
            left = tuple(each for each in known.status.reserved_for if each.uid in change.leaves)
            self._write(cluster, write, _Release("unreserve", wanted, left))
            if not cluster.is_dry_run:
                cluster.keep(known, wanted)
        elif write.purpose == "deallocate":
            self._write(cluster, write, _Release("deallocate", wanted))
        else:
            # As it is known now: the attempt that made it may know an older one.
            wanted = _without_finalizer(known)
            self._write(cluster, claims.unprotect_claim(wanted), _Release("unprotect_claim", wanted))

    def delete(self, cluster: Cluster, claim: ResourceClaim) -> None:
        """After its finalizer, where it has one."""
        uid = claim.metadata.uid
        for each in self.under_way.get(uid, ()):
            if each.what == "unprotect_claim":
                each.deletes = True
            if each.what in ("unprotect_claim", "delete_claim"):
                return
        if cluster.find(claim) is not None:
            self._write(cluster, claims.delete_claim(claim), _Release("delete_claim", claim))

    def _is_leaving(self, uid: str) -> bool:
        return any(each.what in ("unprotect_claim", "delete_claim") for each in self.under_way.get(uid, ()))

    def _write(self, cluster: Cluster, write: Write, release: _Release) -> None:
        uid = release.claim.metadata.uid
        self.under_way.setdefault(uid, []).append(release)
        cluster.give_back(write, uid)

    def answered(self, cluster: Cluster, uid: str, outcome: Outcome, *, is_found: bool = False) -> ResourceClaim | None:
        """Of the first that is under way for this claim. The claim, where those who want it are to be tried again, for
        no change of it will tell them. ``is_found``: it was read after the answer, and is known as it was found; not so
        in journals of before there was a second try, which number their writes without one."""
        waiting = self.under_way.get(uid)
        if not waiting:
            return None
        release = waiting.pop(0)
        if not waiting:
            del self.under_way[uid]
        live = cluster.find(release.claim)
        known = live if isinstance(live, ResourceClaim) and live.metadata.uid == uid else None
        if outcome.dry_run:
            return None
        if release.what == "unreserve":
            if known is None or outcome.result in GONE:
                return None
            is_again = outcome.result == "conflict" and is_found and self._unreserve_again(cluster, known, release)
            if not is_again:
                _unreserved(cluster, known, release, outcome)
            return None
        if release.what == "deallocate":
            if outcome.is_done and known is not None and _is_as(known, release.claim):
                cluster.see_written(release.claim, outcome.resource_version)
            return None if outcome.is_done else release.claim
        if outcome.is_done or outcome.result in GONE:
            return self._on_its_way(cluster, known, release, outcome)
        if outcome.result == "conflict" and known is not None and release.tries < MOST_TRIES:
            again = replace(release, claim=_without_finalizer(known), tries=release.tries + 1)
            self._write(cluster, claims.unprotect_claim(again.claim), again)
            return None
        return release.claim

    def _unreserve_again(self, cluster: Cluster, known: ResourceClaim, release: _Release) -> bool:
        """False: not any more, or somebody of them takes it anew. What that one writes is on its way already, and would
        be undone by what is written after it."""
        left = frozenset(each.uid for each in release.left)
        joining = (change.joins for claim, change in self.binding.values() if claim.metadata.uid == known.metadata.uid)
        if release.tries >= MOST_TRIES or any(each is not None and each.uid in left for each in joining):
            return False
        kept = tuple(each for each in known.status.reserved_for if each.uid not in left)
        wanted = replace(known, status=replace(known.status, reserved_for=kept))
        again = replace(release, claim=wanted, tries=release.tries + 1)
        self._write(cluster, claims.unreserve(wanted, [each.uid for each in release.left]), again)
        if wanted != known:
            cluster.keep(known, wanted)
        return True

    def _on_its_way(
        self, cluster: Cluster, known: ResourceClaim | None, release: _Release, outcome: Outcome
    ) -> ResourceClaim | None:
        """It has no finalizer any more, or is deleted."""
        if release.what == "unprotect_claim" and outcome.is_done:
            if known is not None and _is_as(known, release.claim):
                cluster.see_written(release.claim, outcome.resource_version)
            if release.deletes:
                self._write(cluster, claims.delete_claim(release.claim), _Release("delete_claim", release.claim))
            return None
        if known is not None:
            cluster.forget(known)
        return release.claim

    def carry_out(self, cluster: Cluster) -> list[ResourceClaim]:
        """What is on its way happens here, where it happens no more there. Claims that are to be deleted."""
        deleted = []
        under_way, self.under_way, self.binding = self.under_way, {}, {}
        for release in (each for releases in under_way.values() for each in releases):
            known = cluster.find(release.claim)
            if not isinstance(known, ResourceClaim) or known.metadata.uid != release.claim.metadata.uid:
                continue
            if release.what == "deallocate":
                cluster.keep(known, release.claim)
            elif release.what == "delete_claim" or release.deletes:
                deleted.append(known)
        return deleted


def _unreserved(cluster: Cluster, known: ResourceClaim, release: _Release, outcome: Outcome) -> None:
    if outcome.is_done:
        if _is_as(known, release.claim):
            cluster.see_written(known, outcome.resource_version)
        return
    # It is reserved for them as before.
    had = {each.uid for each in known.status.reserved_for}
    back = tuple(each for each in release.left if each.uid not in had)
    if back and _is_as(known, release.claim):
        reserved = (*known.status.reserved_for, *back)
        cluster.keep(known, replace(known, status=replace(known.status, reserved_for=reserved)))


def _is_as(known: ResourceClaim, wanted: ResourceClaim) -> bool:
    """Nothing was heard of it meanwhile."""
    return known.metadata.resource_version == wanted.metadata.resource_version


def _without_finalizer(claim: ResourceClaim) -> ResourceClaim:
    kept = tuple(each for each in claim.metadata.finalizers if each != claims.PROTECTION)
    return replace(claim, metadata=replace(claim.metadata, finalizers=kept))


def wants(pod: Pod, claim: ResourceClaim) -> bool:
    """Whether it is one of the pod's claims, or was made for it."""
    metadata = claim.metadata
    if pod.metadata.namespace != metadata.namespace:
        return False
    if any(owner.controller and owner.uid == pod.metadata.uid for owner in metadata.owner_references):
        return True
    for each in pod.spec.resource_claims:
        try:
            name, _ = claim_name(pod, each)
        except ClaimProblem:
            continue
        if name == metadata.name:
            return True
    return False
