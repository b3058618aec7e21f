"""ManualApproval's extension points.

A rejection by a person must not wake the pod by itself: no event is registered (docs/semantics/queue.md#self-wake), so
a rejected pod stays in unschedulablePods until the 5-minute flush or until somebody activates it. With ``onReject:
hold`` PreEnqueue keeps it out even then, until a person activates it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from framework.interface import (
    ClusterEventWithHint,
    Code,
    CycleState,
    EnqueueExtensions,
    Handle,
    PodInfo,
    PreEnqueuePlugin,
    Status,
)
from framework.interface.plugin import PersonPermitPlugin
from framework.objects import Pod
from framework.objects.resources import resource_value
from framework.objects.selectors import compile_label_selector
from framework.plugins.manualapproval.args import ManualApprovalArgs
from framework.sentences import noted

DEFAULT_MESSAGE = "waiting for a person to approve"


class ManualApproval(PersonPermitPlugin, PreEnqueuePlugin, EnqueueExtensions):
    name: ClassVar[str] = "ManualApproval"
    args_type = ManualApprovalArgs
    description: ClassVar[str] = noted("Holds a pod at Permit until a person approves or rejects it.")

    args: ManualApprovalArgs

    def __init__(self, args: ManualApprovalArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._selector = compile_label_selector(args.pod_selector) if args.pod_selector is not None else None
        self._namespaces = frozenset(args.namespaces)
        self._minimum = {name: resource_value(name, amount) for name, amount in args.minimum_requests.items()}
        self._held: dict[str, str] = {}

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return ()

    def pre_enqueue(self, pod: Pod) -> Status | None:
        return self._refusal(pod)

    def _refusal(self, pod: Pod) -> Status | None:
        reason = self._held.get(pod.metadata.uid)
        return None if reason is None else Status.unresolvable(f"held after a rejection: {reason}")

    def permit(self, state: CycleState, pod: Pod, node_name: str) -> tuple[Status | None, float]:
        if (refusal := self._refusal(pod)) is not None:
            # A profile may enable this plugin at Permit alone.
            return refusal, 0.0
        grounds = self.grounds(PodInfo(pod))
        if grounds is None:
            return None, 0.0
        return Status(Code.WAIT, (self.args.message or DEFAULT_MESSAGE, *grounds)), float(self.args.timeout_seconds)

    def grounds(self, pod: PodInfo) -> tuple[str, ...] | None:
        """Why a person is asked about this pod (``nvidia.com/gpu ≥ 1``); None when nobody is."""
        metadata = pod.pod.metadata
        if self._namespaces and metadata.namespace not in self._namespaces:
            return None
        if self._selector is not None and not self._selector.matches(metadata.labels):
            return None
        if not self._minimum:
            return ()
        large = tuple(
            f"{name} ≥ {self.args.minimum_requests[name]}"
            for name, amount in self._minimum.items()
            if pod.requests.get(name, 0) >= amount
        )
        return large or None

    def person_rejected(self, pod: Pod, message: str) -> None:
        if self.args.on_reject == "hold":
            self._held[pod.metadata.uid] = message

    def person_activated(self, pod: Pod) -> None:
        self._held.pop(pod.metadata.uid, None)
