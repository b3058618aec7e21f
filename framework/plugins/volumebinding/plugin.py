"""VolumeBinding's extension points (docs/semantics/volumes.md#volumebinding)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import ClassVar, Final, Literal

import numpy as np
from numpy.typing import NDArray

from framework.interface import (
    SKIP,
    SUCCESS,
    ClaimDecision,
    ClusterEventWithHint,
    ColumnFilterPlugin,
    CycleState,
    EnqueueExtensions,
    Handle,
    NodeInfo,
    Plan,
    PodInfo,
    PreBindPlugin,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    ReservePlugin,
    ScorePlugin,
    SignPlugin,
    StateKeyNotFound,
    Status,
    StillBinding,
    View,
    VolumeDecision,
    signing,
)
from framework.objects import PersistentVolumeClaim, Pod
from framework.objects.claims import claim_volumes, class_of_claim
from framework.objects.timestamps import SECOND
from framework.plugins.volumebinding.args import VolumeBindingArgs
from framework.plugins.volumebinding.assume_cache import AssumeCaches, OutOfSync
from framework.plugins.volumebinding.binding import Binder, BindingError, ReservedVolumes
from framework.plugins.volumebinding.hints import events_to_register
from framework.plugins.volumebinding.pod_claims import PodClaims, PodVolumes, claims_problem, pod_claims
from framework.plugins.volumebinding.scorer import scaled_shape, score_classes, use_by_class
from framework.plugins.volumebinding.search import VolumeSearch
from framework.sentences import noted

CLAIMS: Final = "VolumeBinding"
"""The pod's claims, from PreFilter on …"""
SEARCH: Final = "VolumeBinding/search"
"""… what Filter found for every node …"""
RESERVED: Final = "VolumeBinding/reserved"
"""… and what is left of it from Reserve on."""
UNBOUND_IMMEDIATE: Final = Status.unresolvable("pod has unbound immediate PersistentVolumeClaims")


class VolumeBinding(
    PreFilterPlugin,
    ColumnFilterPlugin,
    PreScorePlugin,
    ScorePlugin,
    ReservePlugin,
    PreBindPlugin,
    EnqueueExtensions,
    SignPlugin,
):
    name: ClassVar[str] = "VolumeBinding"
    args_type: ClassVar[type[VolumeBindingArgs]] = VolumeBindingArgs
    description: ClassVar[str] = noted("Finds nodes where the pod's volumes are, or can be bound or provisioned.")
    repeatable: ClassVar[bool] = True
    skip_is_final: ClassVar[bool] = True

    args: VolumeBindingArgs

    def __init__(self, args: VolumeBindingArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._caches = AssumeCaches(handle)
        self._binder = Binder(handle, self._caches)
        self._shape = None
        if handle.feature_gates.enabled("StorageCapacityScoring"):
            self._shape = scaled_shape([(point.utilization, point.score) for point in args.shape or ()])

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return events_to_register()

    # --- where it fits ----------------------------------------------------------------------------------------------

    def sign_pod(self, pod: PodInfo) -> signing.Fragments | None:
        return signing.volumes(pod.pod)

    def fragment(self, pod: PodInfo) -> Hashable | None:
        """Pods with claims are judged one by one."""
        return None if any(claim_volumes(pod.pod)) else ()

    def pre_filter(self, state: CycleState, pod: PodInfo, view: View) -> tuple[PreFilterResult | None, Status | None]:
        if not any(claim_volumes(pod.pod)):
            state.write(CLAIMS, PodClaims())
            return None, SKIP
        problem = claims_problem(self.handle.objects, pod.pod)
        if problem is not None:
            return None, Status.unresolvable(problem)
        claims = pod_claims(self.handle.objects, self._caches.claims, pod.pod)
        if claims.immediate:
            return None, UNBOUND_IMMEDIATE
        state.write(CLAIMS, claims)
        return None, None

    def filter_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan:
        claims = state.read(CLAIMS, PodClaims)
        search = VolumeSearch(self.handle.objects, self._caches, claims, view)
        state.write(SEARCH, search)
        return Plan(lambda: search.codes, (), (), search.reason)

    def pre_score(self, state: CycleState, pod: PodInfo, view: View, feasible: NDArray[np.intp]) -> Status | None:
        if self._shape is None:
            return SKIP
        state.read(CLAIMS, PodClaims)
        return None

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> tuple[int, Status | None]:
        if self._shape is None:
            return 0, None
        state.read(CLAIMS, PodClaims)
        volumes = self._found(state, node.name)
        return (0 if volumes is None else score_classes(self._shape, use_by_class(volumes))), None

    # --- binding ----------------------------------------------------------------------------------------------------

    def _found(self, state: CycleState, node_name: str) -> PodVolumes | None:
        """None when Filter did not run, or the node did not pass it."""
        try:
            search = state.read(SEARCH, VolumeSearch)
        except StateKeyNotFound:
            return None
        if self.handle.snapshot.get(node_name) is None:
            # Only an extender knows it (docs/semantics/extenders.md#node-objects).
            return None
        return search.volumes(self.handle.snapshot.row(node_name))

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        state.read(CLAIMS, PodClaims)
        volumes = self._found(state, node_name)
        if volumes is None:
            state.write(RESERVED, ReservedVolumes(None, all_bound=True))
            return None
        try:
            state.write(RESERVED, self._binder.assume(pod, node_name, volumes))
        except OutOfSync as error:
            return Status.as_error(str(error))
        return None

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        try:
            volumes = state.read(RESERVED, ReservedVolumes).volumes
        except StateKeyNotFound:
            volumes = self._found(state, node_name)
        if volumes is not None:
            self._binder.revert(volumes)

    def decisions(self, state: CycleState, pod: Pod, node_name: str) -> tuple[ClaimDecision, ...]:
        claims = state.read(CLAIMS, PodClaims)
        reserved = state.read(RESERVED, ReservedVolumes).volumes or PodVolumes()
        bound = {claim.metadata.name: claim for claim in claims.bound}
        matches = {match.claim.metadata.name: match for match in reserved.matches}
        made: list[ClaimDecision] = []
        for volume, name in claim_volumes(pod):
            claim: PersistentVolumeClaim
            if name in bound:
                claim = bound[name]
                made.append(_decision(claim, volume.name, "bound", claim.spec.volume_name))
            elif name in matches:
                claim = matches[name].claim
                made.append(_decision(claim, volume.name, "match", matches[name].volume.metadata.name))
            else:
                for provision in reserved.provisions:
                    if provision.claim.metadata.name == name:
                        made.append(_decision(provision.claim, volume.name, "provision", ""))
                        break
        return tuple(made)

    def pre_bind_pre_flight(self, state: CycleState, pod: Pod, node_name: str) -> tuple[Status | None, bool]:
        state.read(CLAIMS, PodClaims)
        reserved = self._reserved(state)
        if reserved.all_bound:
            return SKIP, True
        if reserved.volumes is None:
            return Status.as_error(f'no pod volume found for node "{node_name}"'), True
        return None, True

    def _reserved(self, state: CycleState) -> ReservedVolumes:
        try:
            return state.read(RESERVED, ReservedVolumes)
        except StateKeyNotFound:  # Reserve is disabled for this plugin: nothing was assumed
            return ReservedVolumes(None, all_bound=False)

    def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | StillBinding | None:
        reserved = self._reserved(state)
        if reserved.all_bound:
            return None
        if reserved.volumes is None:
            return Status.as_error(f'no pod volume found for node "{node_name}"')
        try:
            self._binder.write(reserved.volumes)
        except BindingError as error:
            return Status.as_error(str(error))
        timeout = self.args.bind_timeout_seconds * SECOND
        # Upstream looks for the first time after a second; here the controllers have done at once what they can do.
        return self.pre_bind_again(state, pod, node_name, timed_out=timeout <= 0) or StillBinding(timeout)

    def pre_bind_again(self, state: CycleState, pod: Pod, node_name: str, *, timed_out: bool) -> Status | None:
        volumes = self._reserved(state).volumes
        assert volumes is not None
        if timed_out:
            return Status.as_error("binding volumes: context deadline exceeded")
        try:
            return SUCCESS if self._binder.is_done(pod, volumes) else None
        except BindingError as error:
            return Status.as_error(f"binding volumes: {error}")


def _decision(
    claim: PersistentVolumeClaim, volume: str, action: Literal["bound", "match", "provision"], persistent_volume: str
) -> VolumeDecision:
    return VolumeDecision(claim.key, volume, action, persistent_volume, class_of_claim(claim))
