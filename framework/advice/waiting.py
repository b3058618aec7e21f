"""Groups that are not tried for a while when they have failed (Coscheduling's podGroupBackoffSeconds).

PreFilter refuses their members, whatever happens meanwhile, and nothing but the flush of leftovers brings them back
afterwards (docs/semantics/pod-groups.md#coscheduling). So what helps them is seen when time has passed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from framework.advice.candidates import Case, Family, PossibleRemedy
from framework.advice.operations import WAIT, Operation
from framework.plugins.coscheduling.plugin import Coscheduling
from framework.plugins.coscheduling.pod_groups import LABEL
from framework.sentences import sentence

WAIT_SECONDS: Final = 360
"""Five minutes, the flush's thirty seconds, and what members back off before they are unschedulable again."""
MOST_SECONDS: Final = 86_400
"""A command lets no more pass."""


def may_back_off(case: Case) -> bool:
    """Whether its group is not tried for a while when it has failed."""
    return LABEL in case.live.metadata.labels and _backoff(case) > 0


def _backoff(case: Case) -> int:
    """Seconds."""
    plugin = case.trial.scheduler.profiles[case.pod.spec.scheduler_name].plugins.get(Coscheduling.name)
    return plugin.args.pod_group_backoff_seconds if isinstance(plugin, Coscheduling) else 0


def waited(case: Case) -> Iterator[Family]:
    if may_back_off(case):
        text = sentence("Wait: pods that are unschedulable for more than five minutes are tried again")
        yield iter([PossibleRemedy("again", text, (_wait(case),))])


def after_a_wait(case: Case, remedy: PossibleRemedy) -> PossibleRemedy:
    if remedy.kind == "again":
        return remedy
    text = sentence("{change}, and wait until its group is tried again", change=remedy.text)
    return replace(remedy, text=text, operations=(*remedy.operations, _wait(case)))


def _wait(case: Case) -> Operation:
    return Operation(WAIT, {"seconds": min(WAIT_SECONDS + _backoff(case), MOST_SECONDS)})
