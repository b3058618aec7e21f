"""The shadow of a followed run: what its configuration decides for the pods that the real scheduler decides about.

Each is judged just before the change that tells the real decision is applied (framework/advice/shadow.py), so on the
state at hand. Nothing of it reaches the machine: digest, draws and queue are those of a run without a shadow, which is
why replay need not judge again what is stored.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import msgspec

from framework.advice.shadow import Judgement, RealDecision, decided, judge, real_decision
from framework.cycle.core import Answerer
from framework.objects import KubeObject, Pod
from framework.sentences import Words, sentence
from framework.trace.attempt import AttemptTrace
from schedweb.engine.asked import SHOWN, packed
from schedweb.engine.beside import NotAsked
from schedweb.engine.commands import ObservedChange
from schedweb.engine.player import Player
from schedweb.engine.pod_view import view_of
from schedweb.engine.real_rows import JudgementRow
from schedweb.engine.told import was_bound_since

NOT_JUDGED: Final = "not_judged"
PLACES: Final = 1024
"""More than changes in one command (schedweb/runs/following/changes.py): a number says position and place in it."""
LISTED: Final = sentence(
    "It was found decided in a list, so the state on which it was decided is not known: the cluster was read anew."
)
UNSEEN: Final = sentence(
    "It came and was bound while nobody watched, so neither when it was decided nor on which state is known: a list "
    "has it bound already."
)
NO_PROFILE: Final = sentence("The configuration has no profile for this schedulerName.")


def judge_change(
    player: Player, change: ObservedChange, before: KubeObject | None, after: KubeObject | None, place: int
) -> None:
    """Keeps the judgement for the next batch, where the change tells a decision and somebody asked for a shadow."""
    if player.judgements is None:
        return
    number = player.position * PLACES + place
    real = real_decision(before, after)
    if real is not None:
        assert isinstance(before, Pod)
        player.judgements.append(_row(player, before, real, number, LISTED if change.listed else ""))
    elif change.listed and isinstance(after, Pod) and _was_bound_unseen(player, before, after):
        player.judgements.append(_row(player, after, RealDecision(node=after.spec.node_name), number, UNSEEN))


def _was_bound_unseen(player: Player, before: KubeObject | None, pod: Pod) -> bool:
    """A list has it with a node, the run has not had it at all, and by its times it was bound since the run's
    beginning, which is the latest time in the cluster as it was read then."""
    if not pod.spec.node_name or (before is not None and before.metadata.uid == pod.metadata.uid):
        return False
    return was_bound_since(pod, player.options.start)


def _asking(player: Player) -> Answerer | None:
    """None: nobody asks."""
    pipe = player.pipe
    if pipe is None:
        return None
    pipe.begin(player.position)
    return partial(pipe.ask, player.scheduler)


def _unusable(attempt: AttemptTrace) -> Words:
    """Of an attempt that an extender ended by an error, which is no decision of the configuration; else ""."""
    call = attempt.extender_calls[-1] if attempt.extender_calls else None
    if call is None or not call.error or call.ignored:
        return ""
    return sentence("The extender {url} gave no answer that can be used: {why}", url=call.extender, why=call.error)


def _said(player: Player, attempt: AttemptTrace) -> list[dict[str, Any]]:
    """Each call with what it took."""
    said = [] if player.pipe is None else player.pipe.said
    return [
        {"extender": call.extender, "verb": call.verb, "sent": call.sent, "kept": call.kept, "error": call.error}
        | {"ignored": call.ignored, "microseconds": each.microseconds, "together": each.together}
        | {"status": None if each.answer.error else each.answer.status}
        for call, each in zip(attempt.extender_calls, said, strict=True)
    ]


def _bodies(player: Player) -> list[dict[str, Any]]:
    """The beginnings of what was sent and replied, as the journal of an attempt has them."""
    return [
        {
            "request": packed(each.request.body[:SHOWN]),
            "request_bytes": len(each.request.body),
            "body": packed(each.answer.body[:SHOWN]),
            "body_bytes": len(each.answer.body),
        }
        for each in ([] if player.pipe is None else player.pipe.said)
    ]


def _row(player: Player, pod: Pod, real: RealDecision, number: int, why: Words) -> JudgementRow:
    """``why``: it cannot be judged; "" where it can."""
    found: Judgement | None = None
    said: list[dict[str, Any]] = []
    if pod.spec.scheduler_name not in player.scheduler.profiles:
        why = NO_PROFILE
    elif why:
        pass
    else:
        try:
            attempt = decided(player.scheduler, pod, _asking(player))
            said = _said(player, attempt)
            why = _unusable(attempt)
            found = None if why else judge(player.scheduler, attempt, real)
        except NotAsked as error:
            why = error.words
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything; its pod says so, the others are judged
            why = f"{type(error).__name__}: {error}"
    view = player.projection.views.get(pod.metadata.uid) or view_of(pod)
    detail: dict[str, Any] = {"why": why, "real_message": real.message}
    if said and (found is None or not found.agrees):
        # What one looks into; of the many that agree the bodies would take most of what is kept.
        said = [call | bodies for call, bodies in zip(said, _bodies(player), strict=True)]
    if said:
        detail["extenders"] = said
    if found is not None:
        detail |= {
            "tied": found.tied,
            "rank": found.rank,
            "reasons": found.reasons,
            "points": [(each.plugin, each.own, each.real) for each in found.points],
            "victims": found.victims,
            "message": found.message,
            "sampled": found.sampled,
        }
    return JudgementRow(
        number=number,
        at=player.now,
        uid=pod.metadata.uid,
        namespace=pod.metadata.namespace,
        name=pod.metadata.name,
        workload=view.workload,
        profile=pod.spec.scheduler_name,
        kind=NOT_JUDGED if found is None else found.kind,
        bound=bool(real.node),
        real_node=real.node or real.nominated,
        own_node="" if found is None else found.node,
        plugin="" if found is None else found.plugin,
        margin=0 if found is None else found.margin,
        detail=msgspec.json.encode(msgspec.to_builtins(detail)).decode(),
    )
