"""A shadow watched from the command line: each difference as a line when it comes, and the figures at the end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from framework.advice.shadow import ALIKE
from schedweb.api.errors import not_found
from schedweb.configurations.models import ConfigurationVersion
from schedweb.engine.judged import NOT_JUDGED
from schedweb.runs.models import Run, ShadowJudgement
from schedweb.runs.playing.commands import command_insert
from schedweb.runs.shadowing.selectors import Asked, judgement_body, percent, summary_body
from schedweb.sentences import say


def newest_version(name: str) -> UUID:
    """Of the stored configuration with this name or slug. Raises ApiError."""
    kept = ConfigurationVersion.objects.filter(configuration__deleted_at=None).order_by("-number")
    for by in ("slug", "name"):
        found = kept.filter(**{f"configuration__{by}": name}).values_list("pk", flat=True).first()
        if found is not None:
            return found
    raise not_found(say("There is no configuration named {name}.", name=name))


class Watched:
    def __init__(self, run: Run) -> None:
        self.run = run
        self._last = -1
        """The newest that was said."""

    def goes_on(self) -> bool:
        return Run.objects.filter(pk=self.run.pk).exclude(state=Run.State.STOPPED).exists()

    def news(self) -> Iterator[str]:
        """Decisions about which ours decides otherwise, oldest first."""
        rows = ShadowJudgement.objects.filter(run=self.run, number__gt=self._last).order_by("number")
        for row in rows.iterator():
            self._last = row.number
            if row.kind not in (*ALIKE, NOT_JUDGED):
                yield line_of(judgement_body(row))

    def stop(self) -> None:
        """Follows no more; what was judged stays."""
        if self.goes_on():
            command_insert(run=self.run, user=self.run.started_by, content={"type": "stop"})

    def summary(self) -> dict[str, Any]:
        return summary_body(self.run, Asked())

    def words(self) -> str:
        """The figures, a line each."""
        found = self.summary()
        share = percent(found)
        lines = [
            f"agreement {'-' if share is None else f'{share:.1f} %'}: {found['decisions']:,} bindings, "
            f"{found['same']:,} on the same node, {found['tie']:,} on one of several best nodes, "
            f"{found['different']:,} different",
            *(f"  {each['count']:,} by {each['plugin'] or 'no plugin'}" for each in found["plugins"]),
            f"would stay pending {found['stays_pending']:,}, would preempt {found['preempts']:,}, "
            f"pending there and placed here {found['placed_here_pods']:,}",
        ]
        if found["not_judged"]:
            lines.append(f"not judged {found['not_judged']:,}: no profile for their scheduler, or on an unknown state")
        if found["left_out"]:
            lines.append(f"left out {found['left_out']:,} older ones")
        return "\n".join(lines)


def line_of(row: dict[str, Any]) -> str:
    """When, which pod, where there and here, and the plugin that made the difference."""
    there = row["real_node"] or "pending"
    here = row["own_node"] or "pending"
    if row["kind"] == "preempts":
        here = f"{here}, evicting {' '.join(row['victims'])}"
    made = row["plugin"] or "no plugin"
    if row["margin"]:
        made += f" {row['margin']:+,}"
    line = f"{row['at']} {row['namespace']}/{row['name']}: {there} there, {here} here ({made})"
    why = "; ".join(row["reasons"]) or row["message"]
    return f"{line}: {why}" if why else line
