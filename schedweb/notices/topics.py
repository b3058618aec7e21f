"""What people are told of: pods that wait on Permit for a person, evictions that one is asked about, and shadows that
agree too little with the real scheduler."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Protocol
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from schedweb.notices.messages import Message, of_evictions, of_pods, of_shadow
from schedweb.notices.models import Notice
from schedweb.runs.models import EvictionProposal, Followed, PodRecord, Run
from schedweb.runs.shadowing.alerts import below_rows
from schedweb.runs.waiting.evictions import proposal_rows

_OVER: Final = (Run.State.FINISHED, Run.State.STOPPED, Run.State.PARKED)


class Topic(Protocol):
    noun: str
    """In the log."""

    def untold(self, target: str, limit: int) -> list[Notice]:
        """Of what stands and this target was not told of; not stored."""

    def holds(self, notice: Notice) -> bool:
        """Whether it tells of this."""

    def standing(self, run: UUID, notices: Sequence[Notice]) -> list[Notice]:
        """Those of ``notices`` that still hold, as about which a person can still decide, in the order in which they
        are told."""

    def message(self, run: Run, notices: Sequence[Notice]) -> Message: ...


class WaitingOnPermit:
    noun = "pods"

    def rows(self) -> QuerySet[PodRecord]:
        rows = PodRecord.objects.filter(column=PodRecord.Column.WAITING, asks_person=True, run__deleted_at=None)
        return rows.exclude(run__state__in=_OVER)

    def untold(self, target: str, limit: int) -> list[Notice]:
        told = Notice.objects.filter(
            run=OuterRef("run"), pod_uid=OuterRef("uid"), attempt=OuterRef("attempts"), proposal=0, target=target
        )
        rows = self.rows().exclude(Exists(told)).order_by("pk").values_list("run", "uid", "attempts")
        now = timezone.now()
        return [Notice(run_id=run, pod_uid=uid, attempt=at, target=target, at=now) for run, uid, at in rows[:limit]]

    def holds(self, notice: Notice) -> bool:
        return notice.proposal == 0 and notice.alert == 0

    def standing(self, run: UUID, notices: Sequence[Notice]) -> list[Notice]:
        wanted = {(each.pod_uid, each.attempt): each for each in notices}
        found = self._of(run, notices).values_list("uid", "attempts")
        return [wanted[pod] for pod in found if pod in wanted]

    def message(self, run: Run, notices: Sequence[Notice]) -> Message:
        return of_pods(run, self._of(run.pk, notices).defer("manifest", "detail"))

    def _of(self, run: UUID, notices: Iterable[Notice]) -> QuerySet[PodRecord]:
        return self.rows().filter(run=run, uid__in=[each.pod_uid for each in notices]).order_by("place", "pk")


class ProposedEviction:
    noun = "evictions"

    def rows(self) -> QuerySet[EvictionProposal]:
        return proposal_rows().exclude(run__state__in=_OVER)

    def untold(self, target: str, limit: int) -> list[Notice]:
        told = Notice.objects.filter(run=OuterRef("run"), proposal=OuterRef("number"), target=target)
        rows = self.rows().exclude(Exists(told)).order_by("pk").values_list("run", "pod_uid", "number")
        now = timezone.now()
        return [
            Notice(run_id=run, pod_uid=uid, attempt=0, proposal=number, target=target, at=now)
            for run, uid, number in rows[:limit]
        ]

    def holds(self, notice: Notice) -> bool:
        return notice.proposal > 0

    def standing(self, run: UUID, notices: Sequence[Notice]) -> list[Notice]:
        wanted = {each.proposal: each for each in notices}
        return [wanted[number] for number in self._of(run, notices).values_list("number", flat=True)]

    def message(self, run: Run, notices: Sequence[Notice]) -> Message:
        return of_evictions(run, self._of(run.pk, notices))

    def _of(self, run: UUID, notices: Iterable[Notice]) -> QuerySet[EvictionProposal]:
        return self.rows().filter(run=run, number__in=[each.proposal for each in notices]).order_by("number")


class ShadowBelow:
    noun = "alerts"

    def untold(self, target: str, limit: int) -> list[Notice]:
        told = Notice.objects.filter(run=OuterRef("run"), alert=OuterRef("alerts"), target=target)
        rows = below_rows().exclude(Exists(told)).order_by("pk").values_list("run", "alerts")
        now = timezone.now()
        return [
            Notice(run_id=run, pod_uid="", attempt=0, alert=alert, target=target, at=now) for run, alert in rows[:limit]
        ]

    def holds(self, notice: Notice) -> bool:
        return notice.alert > 0

    def standing(self, run: UUID, notices: Sequence[Notice]) -> list[Notice]:
        """The newest time only, while it lasts."""
        newest = below_rows().filter(run=run).values_list("alerts", flat=True).first()
        return [each for each in notices if each.alert == newest]

    def message(self, run: Run, notices: Sequence[Notice]) -> Message:
        return of_shadow(run, Followed.objects.get(run=run))


TOPICS: Final[tuple[Topic, ...]] = (WaitingOnPermit(), ProposedEviction(), ShadowBelow())
