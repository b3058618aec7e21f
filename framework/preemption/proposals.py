"""Evictions that a person is asked about: proposed, not done (docs/semantics/preemption.md#proposals).

proposed → approved → evicted by the pod's next attempt, which finds anew whether it still needs that;
proposed → rejected; proposed or approved → withdrawn, as soon as it would no longer do what it says.
Nothing here is upstream's. Part of a checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from framework.interface import Candidate, Status
from framework.interface.plugin import EvictionAskingPlugin
from framework.objects import Pod
from framework.sentences import Sentence, Words, counted_sentence, sentence

How = Literal["evicted", "rejected", "withdrawn"]

PLACED: Final = sentence("the pod has a node")
PREEMPTOR_GONE: Final = sentence("the pod is gone")
NOT_NEEDED: Final = sentence("the pod's newest attempt came to something else")
OTHERS: Final = sentence("its newest attempt would evict others")
NO_LONGER: Final = sentence("evicting them would no longer make room, or would take more than was approved")
WAITS: Final = "waits for a person: would evict"
"""What stands in PostFilter's reason while somebody is asked."""
REJECTED: Final = "the eviction that would make room was rejected by"
"""What stands there afterwards, with who did and why."""
NOT_ASKED: Final = sentence("nobody has to be asked about it any more")
SWITCHED: Final = sentence("the configuration was switched")


@dataclass(slots=True, eq=False)
class Proposal:
    number: int
    """Counts the run's."""
    preemptor: Pod
    """As its attempt knew it."""
    node: str
    victims: tuple[Pod, ...]
    """Most important first; none of them terminates."""
    pdb_violations: int
    plugin: str
    """Which plugin would evict."""
    asked_by: str
    message: str
    """What the person should know, "" for nothing."""
    since: int
    approved_by: str = ""
    """Who approved it; its pod has not been tried since."""

    @property
    def uids(self) -> frozenset[str]:
        return frozenset(victim.metadata.uid for victim in self.victims)

    def allows(self, candidate: Candidate) -> bool:
        """Whether evicting this is no more than what was proposed."""
        return candidate.node == self.node and self.uids.issuperset(uids_of(candidate))


def uids_of(candidate: Candidate) -> frozenset[str]:
    return frozenset(pod.metadata.uid for pod in candidate.victims if pod.metadata.deletion_timestamp is None)


@dataclass(frozen=True, slots=True)
class Kept:
    """Pods that a person does not want to be evicted for one pod."""

    victims: frozenset[str]
    """Uids."""
    by: str
    reason: str


class ProposalObserver(Protocol):
    def proposed(self, proposal: Proposal) -> None: ...

    def proposal_ended(self, proposal: Proposal, how: How, why: Words) -> None: ...


class Proposals:
    def __init__(self, observer: ProposalObserver) -> None:
        self.observer = observer
        self.open: dict[str, Proposal] = {}
        """Uid of the pod that needs room → its proposal."""
        self._count = 0
        self._kept: dict[str, list[Kept]] = {}
        """Uid of the pod that needs room → what was rejected."""
        self._evicting: dict[str, str] = {}
        """Uid of a victim whose eviction was approved → uid of the pod it makes room for, until it terminates."""
        self._confirmed: set[str] = set()
        """Pods whose attempt under way came to the proposal that stands."""
        self.is_used = False
        """Whether anything was ever proposed; no call, as every attempt looks at it."""

    # --- what attempts ask --------------------------------------------------------------------------------------------

    def admissible(self, plugin: str, preemptor: Pod, candidates: Sequence[Candidate]) -> list[int] | Status:
        """Which of the candidates may be proposed: none that was rejected, and if possible none whose victims are
        proposed for another pod. Of a proposal that was approved: the candidate that it allows. None where another
        plugin has proposed something in this attempt: it goes on only because nobody is evicted yet."""
        uid = preemptor.metadata.uid
        own = self.open.get(uid)
        if own is not None and own.plugin != plugin and uid in self._confirmed:
            return Status.unschedulable()
        if own is not None and own.plugin == plugin and own.approved_by:
            for place, candidate in enumerate(candidates):
                if own.allows(candidate):
                    return [place]
            self.withdraw(own, NO_LONGER)
        kept = self._kept.get(uid, ())
        last: Kept | None = None
        left: list[int] = []
        for place, candidate in enumerate(candidates):
            refused = next((each for each in kept if each.victims <= uids_of(candidate)), None)
            if refused is None:
                left.append(place)
            else:
                last = refused
        if not left:
            assert last is not None
            return Status.unschedulable(f"{REJECTED} {last.by}: {last.reason}")
        taken = {victim for other, each in self.open.items() if other != uid for victim in each.uids}
        taken |= {victim for victim, other in self._evicting.items() if other != uid}
        return [place for place in left if taken.isdisjoint(uids_of(candidates[place]))] or left

    def standing(self, preemptor: Pod, equal: Sequence[Candidate]) -> str | None:
        """The node of what is proposed already, if it is as good as any."""
        own = self.open.get(preemptor.metadata.uid)
        if own is None:
            return None
        return next((each.node for each in equal if each.node == own.node and uids_of(each) == own.uids), None)

    def propose(
        self, plugin: str, asking: Sequence[EvictionAskingPlugin], preemptor: Pod, chosen: Candidate, now: int
    ) -> Status | None:
        """None where the victims may be evicted at once."""
        uid, victims = preemptor.metadata.uid, uids_of(chosen)
        own = self.open.get(uid)
        if own is not None and own.approved_by and own.allows(chosen):
            self._evicting.update(dict.fromkeys(victims, uid))
            self._end(own, "evicted", "")
            return None
        if all(self._evicting.get(victim) == uid for victim in victims):
            return None  # They are on their way, or all of them terminate.
        for each in asking:
            message = each.asks_about(preemptor, chosen)
            if message is not None:
                break
        else:
            if own is not None:
                self.withdraw(own, NOT_ASKED)
            return None
        leaving = tuple(pod for pod in chosen.victims if pod.metadata.deletion_timestamp is None)
        if own is None or own.node != chosen.node or own.uids != victims:
            if own is not None:
                self.withdraw(own, OTHERS)
            self._count += 1
            self.is_used = True
            own = Proposal(
                self._count, preemptor, chosen.node, leaving, chosen.pdb_violations, plugin, each.name, message, now
            )
            self.open[uid] = own
            self.observer.proposed(own)
        elif own.pdb_violations != chosen.pdb_violations:
            own.pdb_violations = chosen.pdb_violations
            self.observer.proposed(own)
        self._confirmed.add(uid)
        pods = "1 pod" if len(leaving) == 1 else f"{len(leaving)} pods"
        return Status.unschedulable(f"{WAITS} {pods} on node {chosen.node}")

    def attempt_ended(self, uid: str, *, is_placed: bool) -> bool:
        """What this attempt did not come to is proposed no longer. Whether the pod is to be tried at once."""
        confirmed = uid in self._confirmed
        self._confirmed.discard(uid)
        own = self.open.get(uid)
        if own is None:
            return False
        if is_placed:
            self.withdraw(own, PLACED)
        elif not confirmed:
            self.withdraw(own, NOT_NEEDED)
        else:
            # Somebody approved it between the attempt's points.
            return bool(own.approved_by)
        return False

    # --- what the cluster tells ---------------------------------------------------------------------------------------

    def pod_changed(self, old: Pod | None, new: Pod | None) -> list[Pod]:
        """Pods that have to be tried again, as what was proposed for them no longer holds. None: not there."""
        pod = new or old
        assert pod is not None
        uid = pod.metadata.uid
        is_gone = new is None or new.metadata.deletion_timestamp is not None
        if is_gone or pod.spec.node_name:
            self._kept.pop(uid, None)
            if (own := self.open.get(uid)) is not None:
                self.withdraw(own, PREEMPTOR_GONE if is_gone else PLACED)
        if not is_gone:
            return []
        self._evicting.pop(uid, None)
        again = []
        for each in [each for each in self.open.values() if uid in each.uids]:
            self.withdraw(each, sentence("{victim} goes by itself", victim=pod.key))
            again.append(each.preemptor)
        return again

    def eviction_failed(self, victim: Pod) -> None:
        """A person is asked about it again."""
        self._evicting.pop(victim.metadata.uid, None)

    def clear(self) -> list[Pod]:
        """Of another configuration nothing holds: the pods to be tried again."""
        self._kept.clear()
        again = [each.preemptor for each in self.open.values()]
        for each in list(self.open.values()):
            self.withdraw(each, SWITCHED)
        return again

    # --- what people say ----------------------------------------------------------------------------------------------

    def reject(self, proposal: Proposal, by: str, reason: str) -> None:
        kept = Kept(proposal.uids, by, reason)
        self._kept.setdefault(proposal.preemptor.metadata.uid, []).append(kept)
        self._end(proposal, "rejected", reason)

    def ask_again(self, uid: str) -> None:
        """What was rejected for this pod may be proposed again."""
        self._kept.pop(uid, None)

    def withdraw(self, proposal: Proposal, why: Words) -> None:
        self._end(proposal, "withdrawn", why)

    def _end(self, proposal: Proposal, how: How, why: Words) -> None:
        uid = proposal.preemptor.metadata.uid
        self._confirmed.discard(uid)
        del self.open[uid]
        self.observer.proposal_ended(proposal, how, why)


class AskingFirst:
    """What plugins that evict see of it (``Handle.evictions``), in a profile that asks a person."""

    def __init__(self, proposals: Proposals, asking: Sequence[EvictionAskingPlugin], now: Callable[[], int]) -> None:
        self._proposals = proposals
        self._asking = asking
        self._now = now

    def approved_on(self, plugin: str, preemptor: Pod) -> str:
        own = self._proposals.open.get(preemptor.metadata.uid)
        return own.node if own is not None and own.plugin == plugin and own.approved_by else ""

    def allows(self, preemptor: Pod, candidates: Sequence[Candidate]) -> bool:
        own = self._proposals.open[preemptor.metadata.uid]
        if any(own.allows(each) for each in candidates):
            return True
        self._proposals.withdraw(own, NO_LONGER)
        return False

    def admissible(self, plugin: str, preemptor: Pod, candidates: Sequence[Candidate]) -> list[int] | Status:
        return self._proposals.admissible(plugin, preemptor, candidates)

    def standing(self, preemptor: Pod, equal: Sequence[Candidate]) -> str | None:
        return self._proposals.standing(preemptor, equal)

    def propose(self, plugin: str, preemptor: Pod, chosen: Candidate) -> Status | None:
        return self._proposals.propose(plugin, self._asking, preemptor, chosen, self._now())


def would_evict(count: int, node: str) -> Sentence:
    """In words, for people: what waits for one of them."""
    return counted_sentence("would evict {count} pod on {node}", "would evict {count} pods on {node}", count, node=node)
