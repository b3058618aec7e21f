"""Dictionaries of packed rows: one for all runs of a snapshot, made by the first engine that has enough rows.

made (before its batch) → shared with later runs of the snapshot → nobody's (its last run went) → gone, a day later.
"""

from __future__ import annotations

import datetime
from typing import Any, Final

from django.utils import timezone

from schedweb.engine.frames import PackedWith
from schedweb.runs.models import Dictionary, Run
from schedweb.runs.storing.lease import Lease, mine

UNUSED: Final = datetime.timedelta(days=1)


def packing_of(run: Run, lease: Lease | None) -> dict[str, Any]:
    """Fields of Begin: the dictionary of the run, or else of the newest one of the same snapshot that has one, which it
    shares from now on if this is asked by who holds it; and which numbers are taken."""
    taken = list(Dictionary.objects.values_list("number", flat=True))
    with_one = Run.every.filter(snapshot=run.snapshot_id, dictionary__isnull=False)
    number = Run.every.filter(pk=run.pk).values_list("dictionary", flat=True).first()
    number = number or with_one.order_by("-number").values_list("dictionary", flat=True).first()
    if number is None or not Dictionary.objects.filter(pk=number).update(used_at=timezone.now()):
        return {"dictionaries_taken": taken}
    if lease is not None:
        Run.objects.filter(mine(lease), dictionary=None).update(dictionary=number)
    data = bytes(Dictionary.objects.values_list("data", flat=True).get(pk=number))
    return {"dictionary": PackedWith(number, data)}


def keep_dictionary(number: int, data: bytes) -> None:
    """Before the transaction that stores the first rows that name it: runs share it, and whoever stood still in that
    transaction would keep all of them waiting. Two engines may have made the same one."""
    Dictionary.objects.bulk_create([Dictionary(number=number, data=data)], ignore_conflicts=True)
    if bytes(Dictionary.objects.values_list("data", flat=True).get(pk=number)) != data:
        raise ValueError(f"another dictionary has the number {number}")
    Dictionary.objects.filter(pk=number).update(used_at=timezone.now())


def forget_unused() -> int:
    """How many went that no run has used for a day."""
    unused = Dictionary.objects.filter(runs=None, used_at__lt=timezone.now() - UNUSED)
    return unused.delete()[0]
