"""SchedulingCore: what the cycles work on. The scheduler owns it; there is one per run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from framework.cache import Cache
from framework.columns import Snapshot
from framework.cycle.pre_binding import PreBinding
from framework.cycle.repetition import Repeats
from framework.extenders import Answer, Extender, Request
from framework.interface.handle import ApiWriter, ObjectStore
from framework.interface.plugin import ObjectListener
from framework.interface.status import Status
from framework.objects import Pod, PodCondition
from framework.preemption.proposals import ProposalObserver, Proposals
from framework.profiles import Clock, ProfileMap, Services, Ties, WaitingPods
from framework.profiles.batch import HintTold, KeptTold
from framework.queue import Nomination, QueueObserver, SchedulingQueue
from framework.trace.attempt import AttemptTrace


class CycleObserver(QueueObserver, ProposalObserver, Protocol):
    def attempt(self, trace: AttemptTrace) -> None:
        """The pod began to wait on Permit, was bound, or failed (``trace.result``; before it is requeued)."""
        ...

    def wait_ended(self, trace: AttemptTrace, signal: Status) -> None:
        """A waiting pod was allowed, rejected, preempted or timed out; its binding cycle goes on."""
        ...

    def activated(self, keys: Sequence[str]) -> None:
        """These pods (``namespace/name``) are moved to activeQ, as a plugin asked in the cycle that ends."""
        ...

    def batched(self, told: HintTold | KeptTold) -> None:
        """What batching said in this cycle: of a node that comes next, and of what it keeps for the next pod."""
        ...

    def logged(self, message: str) -> None:
        """What upstream only writes to its log."""
        ...


class Api(ApiWriter, Protocol):
    """The API server, for what the framework itself writes."""

    @property
    def revision(self) -> int:
        """Counts the changes to its objects, but for those to a pending pod's status that name no node."""
        ...

    @property
    def answers_later(self) -> bool:
        """Whether writes of binding cycles raise Unanswered at first."""
        ...

    def act_for(self, uid: str) -> None:
        """What is written from here on is written by the binding cycle of this pod."""
        ...

    def settle(self, uid: str) -> None:
        """That pod's binding cycle has heard every answer."""
        ...

    def now_rfc3339(self) -> str: ...

    def patch_pod_status(self, known: Pod, condition: PodCondition | None, nomination: Nomination | None) -> str | None:
        """Sends what differs from ``known``; nothing when nothing does. Returns the API server's error."""
        ...


@dataclass(slots=True)
class Asked:
    """What a scheduling cycle has asked extenders; it stands still until all are answered."""

    requests: tuple[Request, ...]
    answers: tuple[Answer, ...] | None = None


class Binder(Protocol):
    """A binding cycle that stands: it has asked an extender to bind the pod, or a write of it has no answer yet."""

    request: Request | None
    answer: Answer | None
    trace: AttemptTrace


Answerer = Callable[[Sequence[Request]], Sequence[Answer]]
Listeners = Mapping[type, Sequence[ObjectListener]]


@dataclass(slots=True)
class SchedulingCore:
    services: Services
    cache: Cache
    queue: SchedulingQueue
    profiles: ProfileMap
    api: Api
    observer: CycleObserver
    next_start_node_index: int = 0
    """Where the next search for feasible nodes begins in the node list."""
    repeats: Repeats = field(default_factory=Repeats)
    pre_binding: PreBinding = field(default_factory=PreBinding)
    placement: NDArray[np.intp] | None = None
    """Positions in the node list, sorted: the only nodes for pods while their group is tried out in a placement."""
    listeners: Listeners = field(default_factory=dict)
    """Kind → plugins that follow its objects by themselves."""
    takes_first_fit: bool = True
    """Of profiles without Score plugins."""
    asked: Asked | None = None
    binders: list[Binder] = field(default_factory=list)
    """Binding cycles that wait for extenders, in the order in which they asked."""
    answerer: Answerer | None = None
    """Answers at once; None: somebody outside does (``Scheduler.asks``, ``Scheduler.answer``)."""
    standing: dict[str, Binder] = field(default_factory=dict)
    """Uid → binding cycle that stands at a write which has no answer yet."""
    gang_scheduling: bool = False
    """The gate: a new pod may complete a gang that waits for it."""
    proposals: Proposals = field(init=False)
    clock: Clock = field(init=False)
    snapshot: Snapshot = field(init=False)
    objects: ObjectStore = field(init=False)
    waiting_pods: WaitingPods = field(init=False)
    ties: Ties = field(init=False)

    def __post_init__(self) -> None:
        services = self.services
        self.clock, self.snapshot, self.objects = services.clock, services.snapshot, services.objects
        self.waiting_pods, self.ties = services.waiting_pods, services.ties
        self.proposals = services.proposals = Proposals(self.observer)

    def __setstate__(self, state: tuple[None, dict[str, Any]]) -> None:
        """A checkpoint from before there were extenders has asked none."""
        self.asked, self.binders, self.answerer, self.standing = None, [], None, {}
        for name, value in state[1].items():
            setattr(self, name, value)
        if "proposals" not in state[1]:
            self.proposals = self.services.proposals = Proposals(self.observer)

    @property
    def extenders(self) -> Sequence[Extender]:
        """In the order in which they are asked."""
        return self.services.extenders

    @property
    def now(self) -> int:
        return self.clock.now
