"""Verification of reuse: what was kept is held against what plugins say when they are asked anew, for every node.

The only guard against a plugin whose plans or promises leave something out (``Plugin.fragment``, ``Plan.inputs``,
``Plugin.skip_is_final``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framework.columns import Snapshot
from framework.interface.columns import ALL_ROWS, Plan
from framework.interface.cycle_state import CycleState
from framework.interface.node_info import PodInfo
from framework.interface.plugin import PreBindPlugin, ReservePlugin
from framework.interface.status import SKIP, SUCCESS, Status
from framework.objects import Pod
from framework.profiles.binding import Binding
from framework.profiles.filter_run import AsTheyAre, FilterRun
from framework.profiles.filtering import Filtering
from framework.profiles.node_plans import TooManyStatuses
from framework.profiles.outcomes import answer
from framework.profiles.pod_class import FeasibleNodes, PodClass, PreFilterAnswer
from framework.profiles.profile import Profile
from framework.profiles.scores import ScorePart
from framework.profiles.scoring import Scored, Scoring
from framework.profiles.services import Services
from framework.trace.attempt import AttemptTrace


class ReuseDiffers(AssertionError):
    """A plugin depends on something that it does not declare. The text names plugin, pod and node."""


class VerifiedProfile(Profile):
    """A profile that holds what it reuses against what plugins say anew, in every n-th cycle.

    It does so at the points at which something was reused, before anything follows from it; what is asked from outside
    of a cycle (dry runs) is not looked at. Raises ReuseDiffers.
    """

    def prepare(self) -> None:
        super().prepare()
        shared = Verifier(self, self._services), self.enabled, self._services, self.classes, self.columns
        self.filtering = _VerifiedFiltering(*shared)
        self.scoring = _VerifiedScoring(*shared)
        self.binding = _VerifiedBinding(shared[0], self.binding)
        self.handle.make_filter_run = self.filtering.make_run


class Verifier:
    """Which cycles are looked at, and what is known of the one under way."""

    def __init__(self, profile: Profile, services: Services) -> None:
        self.profile = profile
        self._services = services
        self._verification: Verification | None = None

    def is_due(self, trace: AttemptTrace) -> bool:
        return trace.cycle % self._services.verify_reuse == 0

    def begin(self, pod: PodInfo, pod_class: PodClass, trace: AttemptTrace) -> None:
        due = self.is_due(trace)
        snapshot = self._services.snapshot
        self._verification = Verification(self.profile, snapshot, pod, pod_class, trace) if due else None

    def verification_of(self, pod_class: PodClass | None) -> Verification | None:
        found = self._verification
        if (
            found is None
            or found.pod_class is not pod_class
            or not found.pod_class.is_valid(self._services.objects.others_revision)
        ):
            return None
        return found


class _VerifiedFiltering(Filtering):
    def __init__(self, verifier: Verifier, *parts: Any) -> None:
        super().__init__(*parts)
        self._verifier = verifier

    def run_pre_filter(
        self, state: CycleState, pod: PodInfo, trace: AttemptTrace, pod_class: PodClass | None = None
    ) -> PreFilterAnswer:
        if pod_class is not None:
            self._verifier.begin(pod, pod_class, trace)
        return super().run_pre_filter(state, pod, trace, pod_class)

    def make_run(self, state: CycleState, pod: PodInfo, pod_class: PodClass | None = None) -> FilterRun:
        run = super().make_run(state, pod, pod_class)
        verification = self._verifier.verification_of(pod_class)
        if verification is not None:
            verification.filter(run)
        return run

    def known_answers(self, pod_class: PodClass) -> AsTheyAre | None:
        """None in a cycle that is looked at: ``make_run`` then compares."""
        return None if self._verifier.verification_of(pod_class) is not None else super().known_answers(pod_class)


class _VerifiedScoring(Scoring):
    def __init__(self, verifier: Verifier, *parts: Any) -> None:
        super().__init__(*parts)
        self._verifier = verifier

    def run_by(
        self, parts: Sequence[ScorePart], state: CycleState, pod: PodInfo, found: FeasibleNodes
    ) -> Scored | Status:
        scored = super().run_by(parts, state, pod, found)
        verification = self._verifier.verification_of(found.pod_class)
        if verification is not None:
            verification.score(state, found, parts)
        return scored


class _VerifiedBinding(Binding):
    def __init__(self, verifier: Verifier, binding: Binding) -> None:
        self.__dict__.update(binding.__dict__)
        self._verifier = verifier

    def reserve(self, state: CycleState, pod: Pod, node_name: str, trace: AttemptTrace) -> Status:
        status = super().reserve(state, pod, node_name, trace)
        if self._verifier.is_due(trace):
            self._verify_final_skips(state, pod, node_name)
        return status

    def _verify_final_skips(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """Asks the plugins that the pod was not brought to whether they have nothing to do."""
        for plugin in sorted(self.idle(state)):
            each = self._verifier.profile.plugins[plugin]
            answers: list[Any] = []
            if isinstance(each, ReservePlugin):
                answers.append(("Reserve", answer(each.reserve(state, pod, node_name)), SUCCESS))
                answers.append(("decisions", each.decisions(state, pod, node_name), ()))
            if isinstance(each, PreBindPlugin):
                answers.append(("PreBindPreFlight", answer(each.pre_bind_pre_flight(state, pod, node_name)[0]), SKIP))
            for what, now, promised in answers:
                if now != promised:
                    raise ReuseDiffers(f"{plugin}: {what} for {pod.key}, which PreFilter skipped for good, is {now}")


class Verification:
    """Of one attempt. Filter's comes first; nothing has changed since the attempt began."""

    def __init__(
        self, profile: Profile, snapshot: Snapshot, pod: PodInfo, pod_class: PodClass, trace: AttemptTrace
    ) -> None:
        self._profile = profile
        self._snapshot = snapshot
        self._pod = pod
        self.pod_class = pod_class
        self._trace = trace
        self._state = CycleState()
        """What plugins write that are asked anew."""

    def filter(self, run: FilterRun) -> None:
        if not self.pod_class.reuses_filter:
            entries = run.entries
        else:
            scratch = self._scratch()
            self._profile.filtering.run_pre_filter(self._state, self._pod, scratch)
            self._compare_outcomes("PreFilter", self._trace.pre_filter, scratch.pre_filter)
            entries = self._profile.filtering.entries(self._state, self._pod, kept=self.pod_class.kept)
            if [entry.plugin for entry in entries] != [entry.plugin for entry in run.entries]:
                raise ReuseDiffers(f"Filter plugins of {self._pod.key}: {[entry.plugin for entry in entries]}")
        for fresh, kept in zip(entries, run.entries, strict=True):
            if fresh.plan is not None and kept.plan is not None:
                self._compare(
                    fresh.plugin, "Filter", kept.all_codes(), self._all(fresh.plugin, fresh.plan), self._snapshot.order
                )

    def score(self, state: CycleState, nodes: FeasibleNodes, parts: Sequence[ScorePart]) -> None:
        """``parts``: what the attempt's scores were made from."""
        fresh = parts
        if not (self.pod_class.reuses_filter and self.pod_class.reuses_score):
            self._state = state.clone()
        if self.pod_class.reuses_score:
            scratch = self._scratch()
            status = self._profile.scoring.ask_pre_score(self._state, self._pod, nodes.rows, scratch)
            self._compare_outcomes("PreScore", self._trace.pre_score, scratch.pre_score)
            if not status.is_success:
                return
            fresh = self._profile.scoring.parts(self._state, self._pod, kept=self.pod_class.kept)
        rows = nodes.rows
        kept_scores = self.pod_class.scores
        for new, kept in zip(fresh, parts, strict=True):
            if new.plan is None or kept.plan is None or kept.column is None:
                continue
            name = new.point.plugin
            raw = self._all(name, new.plan).astype(np.int64, copy=False)
            self._compare(name, "Score", kept.raw(), raw, rows)
            if kept_scores is None or nodes.verdicts is None or not kept.follows:
                continue
            kept_normalized = kept_scores.normalized_by_row(name)
            if kept_normalized is not None and new.point.normalizer is not None:
                answers, _ = new.point.normalizer.normalize_score(self._state, self._pod.pod, raw[rows].copy(), rows)
                by_row = np.zeros(len(raw), dtype=np.int64)
                by_row[rows] = answers
                self._compare(name, "NormalizeScore", kept_normalized, by_row, rows)

    def _scratch(self) -> AttemptTrace:
        trace = self._trace
        return AttemptTrace(trace.pod, trace.uid, trace.profile, trace.attempt, trace.cycle, trace.at)

    def _all(self, plugin: str, plan: Plan) -> NDArray[Any]:
        try:
            return plan.answers(ALL_ROWS)
        except TooManyStatuses:
            raise ReuseDiffers(f"{plugin}: Filter of {self._pod.key} says something else every time") from None

    def _compare_outcomes(self, point: str, kept: Sequence[Any], fresh: Sequence[Any]) -> None:
        for before, now in zip(kept, fresh, strict=True):
            if before != now:
                raise ReuseDiffers(
                    f"{now.plugin}: {point} for {self._pod.key} was reused as {before.status} and is {now.status}"
                )

    def _compare(
        self, plugin: str, point: str, kept: NDArray[Any], fresh: NDArray[Any], rows: NDArray[np.intp]
    ) -> None:
        wrong = np.flatnonzero(kept[rows] != fresh[rows])
        if len(wrong):
            row = int(rows[int(wrong[0])])
            raise ReuseDiffers(
                f"{plugin}: {point} of {self._pod.key} on node {self._snapshot.name_of_row(row)} "
                f"was reused as {kept[row]} and is {fresh[row]}"
            )
