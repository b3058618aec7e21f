"""SySched's score, and the system calls of pods that run (docs/semantics/catalogue.md#sysched)."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Annotated, ClassVar, Final, NamedTuple

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from framework.configuration.catalogue import PluginArgs
from framework.interface import (
    BoundsNormalizer,
    ColumnScorePlugin,
    CycleState,
    Handle,
    NodeValues,
    ObjectListener,
    Plan,
    PodInfo,
    View,
)
from framework.interface.scores import default_normalize
from framework.objects import KubernetesObject, Pod
from framework.objects.catalogue import SECCOMP_ANNOTATION, SeccompProfile
from framework.objects.pod import PodSecurityContext, SecurityContext
from framework.sentences import noted

COUNTED_ACTIONS: Final = ("SCMP_ACT_ALLOW", "SCMP_ACT_LOG")
MOST: Final = (1 << 63) - 1
Calls = frozenset[str]
NO_CALLS: Final[Calls] = frozenset()


class SySchedArgs(PluginArgs, frozen=True):
    default_profile_namespace: Annotated[
        str, Meta(description=noted("Namespace of the SeccompProfile of pods that name none."))
    ] = "default"
    default_profile_name: Annotated[
        str, Meta(description=noted("Name of the SeccompProfile of pods that name none."))
    ] = "all-syscalls"


class Host(NamedTuple):
    """A node's pods that are known to run, and the calls that any of them might make."""

    pods: tuple[Pod, ...]
    calls: Calls


class SySched(ColumnScorePlugin, BoundsNormalizer, ObjectListener):
    name: ClassVar[str] = "SySched"
    origin = "scheduler-plugins"
    args_type: ClassVar[type[SySchedArgs]] = SySchedArgs
    description: ClassVar[str] = noted("Prefers nodes where few system calls are allowed that the pod does not need.")
    listens_to = (Pod,)
    follows_kubelets = True

    args: SySchedArgs

    def __init__(self, args: SySchedArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._hosts: NodeValues[Host] = NodeValues()

    # --- who runs where ---------------------------------------------------------------------------------------------

    def object_changed(self, old: KubernetesObject | None, new: KubernetesObject | None) -> None:
        """A pod counts once the kubelet has taken it; pods of one name on a node are taken for one."""
        if not isinstance(old, Pod):
            if isinstance(new, Pod) and new.status.phase == "Running":
                self._add(new)
        elif new is None:
            self._remove(old)
        elif old.status.phase == "Pending" and old.status.host_ip:
            # Upstream looks at the pod as it was.
            self._add(old)

    def _add(self, pod: Pod) -> None:
        node = pod.spec.node_name
        host = self._hosts.get(node)
        calls = self._calls(pod)
        if host is None:
            self._hosts.set(node, Host((pod,), calls))
        elif all(known.metadata.name != pod.metadata.name for known in host.pods):
            self._hosts.set(node, Host((*host.pods, pod), host.calls | calls))

    def _remove(self, pod: Pod) -> None:
        node = pod.spec.node_name
        host = self._hosts.get(node)
        if host is None:
            return
        for i, known in enumerate(host.pods):
            if known.metadata.name == pod.metadata.name:
                left = list(host.pods)
                left[i] = left[-1]
                left.pop()
                self._hosts.set(node, Host(tuple(left), NO_CALLS.union(*map(self._calls, left))))
                return

    # --- system calls -----------------------------------------------------------------------------------------------

    def _calls(self, pod: Pod) -> Calls:
        """Of the profiles that the pod names, else of the default one."""
        calls = NO_CALLS.union(*(self._of_path(path) for path in _profile_paths(pod)))
        return calls or self._of_profile(self.args.default_profile_namespace, self.args.default_profile_name)

    def _of_path(self, path: str) -> Calls:
        """``localhost/operator/<namespace>/<name>.json``, or the end of it."""
        parts = path.split("/")
        if len(parts) < 2:
            return NO_CALLS
        return self._of_profile(parts[-2], _without_extension(parts[-1]))

    def _of_profile(self, namespace: str, name: str) -> Calls:
        profile = self.handle.objects.get(SeccompProfile, namespace, name) if namespace and name else None
        if profile is None:
            return NO_CALLS
        return frozenset(
            name for each in profile.spec.syscalls if each.action in COUNTED_ACTIONS for name in each.names
        )

    # --- score ------------------------------------------------------------------------------------------------------

    def fragment(self, pod: PodInfo) -> Hashable:
        return tuple(_profile_paths(pod.pod))

    def score_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan:
        calls = self._calls(pod.pod)
        profiles = tuple(each.metadata.resource_version for each in self.handle.objects.list(SeccompProfile))

        def kernel(hosts: Sequence[Host | None]) -> NDArray[np.int64]:
            scores = np.zeros(len(hosts), dtype=np.int64)
            if not calls:
                # A pod of which nothing is known is unwelcome everywhere alike.
                scores[:] = MOST
                return scores
            for row, host in enumerate(hosts):
                if host is not None:
                    together = host.calls | calls
                    others = sum(len(together - self._calls(other)) for other in host.pods)
                    scores[row] = len(host.calls - calls) + others
            return scores

        return Plan(kernel, (view.node_values(self._hosts),), (calls, profiles))

    def normalize_between(self, scores: NDArray[np.int64], lowest: int, highest: int) -> NDArray[np.int64]:
        with np.errstate(over="ignore"):
            return default_normalize(scores, highest, reverse=True)


def _profile_paths(pod: Pod) -> Iterator[str]:
    contexts: list[SecurityContext | PodSecurityContext | None] = [pod.spec.security_context]
    contexts += [container.security_context for container in pod.spec.containers]
    for context in contexts:
        profile = None if context is None else context.seccomp_profile
        if profile is not None and profile.type == "Localhost" and profile.localhost_profile is not None:
            yield profile.localhost_profile
    # Of several annotations upstream takes one at random.
    annotation = next((value for key, value in pod.metadata.annotations.items() if SECCOMP_ANNOTATION in key), None)
    if annotation is not None:
        yield annotation


def _without_extension(file: str) -> str:
    """As Go's path.Ext: from the last dot on, also where that is the first character."""
    dot = file.rfind(".")
    return file if dot < 0 else file[:dot]
