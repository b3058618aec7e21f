"""EvictionApproval: enabled at PostFilter, it has whatever evicts there propose it to a person instead.

Rules: docs/semantics/preemption.md#proposals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from framework.interface import Candidate, ClusterEventWithHint, EnqueueExtensions, Handle
from framework.interface.plugin import EvictionAskingPlugin
from framework.objects import Pod
from framework.objects.selectors import compile_label_selector
from framework.plugins.evictionapproval.args import EvictionApprovalArgs
from framework.sentences import noted


class EvictionApproval(EvictionAskingPlugin, EnqueueExtensions):
    name: ClassVar[str] = "EvictionApproval"
    args_type = EvictionApprovalArgs
    description: ClassVar[str] = noted("Asks a person before pods are evicted to make room for others.")
    repeatable: ClassVar[bool] = True

    args: EvictionApprovalArgs

    def __init__(self, args: EvictionApprovalArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._selector = compile_label_selector(args.victim_selector) if args.victim_selector is not None else None
        self._namespaces = frozenset(args.victim_namespaces)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        # It rejects nobody: who cannot be placed waits for what the filters wait for.
        return ()

    def asks_about(self, preemptor: Pod, candidate: Candidate) -> str | None:
        if self.args.only_violations and not candidate.pdb_violations:
            return None
        return self.args.message if any(self._is_asked_about(victim) for victim in candidate.victims) else None

    def _is_asked_about(self, victim: Pod) -> bool:
        metadata = victim.metadata
        if self._namespaces and metadata.namespace not in self._namespaces:
            return False
        return self._selector is None or self._selector.matches(metadata.labels)
