"""What a shadow judged, in the transaction of its batch: the newest are kept, and how many made room is counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec
from django.db.models import F

from schedweb.engine.real_rows import JudgementRow
from schedweb.runs.models import Followed, ShadowJudgement
from schedweb.runs.storing.upserts import upsert

MOST: Final = 50_000
"""Of a run. Hours of a busy cluster (ten bindings a second are 80 minutes), and about 30 MB."""
SOME: Final = 1_000
"""So many more may be there until room is made, so that it is not made with every batch."""


def store_judgements(run_key: Any, rows: Sequence[JudgementRow]) -> None:
    if not rows:
        return
    columns = ("run", *JudgementRow.__struct_fields__)
    upsert(ShadowJudgement, columns, ("run", "number"), [(run_key, *msgspec.structs.astuple(row)) for row in rows])
    of_run = Followed.objects.filter(run=run_key)
    of_run.update(judgements_stored=F("judgements_stored") + len(rows))
    known = of_run.values_list("judgements_stored", "judgements_dropped").first()
    if known is None or known[0] - known[1] <= MOST + SOME:
        return
    kept = ShadowJudgement.objects.filter(run=run_key).order_by("-number")
    oldest = kept.values_list("number", flat=True)[MOST - 1]
    gone, _ = ShadowJudgement.objects.filter(run=run_key, number__lt=oldest).delete()
    of_run.update(judgements_dropped=F("judgements_dropped") + gone)
