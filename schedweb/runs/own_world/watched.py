"""A shadow on its own from the command line: what differs when it has lasted, and the figures of both at the end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from schedweb.runs.models import Run
from schedweb.runs.own_world.selectors import DIFFERENT, Asked, explained, laid, summary_body
from schedweb.runs.shadowing.watched import Watched

_Place = tuple[str, str, str]
"""(kind, node there, node here)."""


class OwnWorldWatched(Watched):
    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._seen: dict[str, _Place] = {}
        """By uid, at the last look."""
        self._said: dict[str, _Place] = {}

    def news(self) -> Iterator[str]:
        """Pods that differ, where they did so at the look before: one that is being decided differs for a moment."""
        before, said = self._seen, self._said
        rows = [each for each in laid(self.run) if each.kind in DIFFERENT]
        now = {each.there.uid: (each.kind, each.there.node, each.here.node if each.here else "") for each in rows}
        lasting = {uid: place for uid, place in now.items() if before.get(uid) == place}
        new = [each for each in rows if (uid := each.there.uid) in lasting and said.get(uid) != lasting[uid]]
        self._seen, self._said = now, lasting
        for row in explained(self.run, new):
            yield line_of(row)

    def summary(self) -> dict[str, Any]:
        self.run.refresh_from_db()
        return summary_body(self.run, Asked())

    def words(self) -> str:
        """The figures of both, a line each."""
        found = self.summary()
        there, here, counts = found["a"], found["b"], found["counts"]
        lines = [
            f"{found['decided']:,} pods came since {found['since']}; {found['differ']:,} differ: "
            f"{counts['elsewhere']:,} on another node, {counts['pending_here']:,} pending here only, "
            f"{counts['pending_there']:,} pending there only, {counts['evicted_here']:,} evicted here only, "
            f"{counts['evicted_there']:,} evicted there only",
            *(
                f"{name} {there[key]:,} there, {here[key]:,} here"
                for name, key in (("placed", "placed"), ("pending", "unscheduled"), ("nodes in use", "nodes_in_use"))
            ),
            f"preempted {there['attempts']['victims']:,} there, {here['attempts']['victims']:,} here",
        ]
        ours = {each["name"]: each for each in here["resources"]}
        for each in there["resources"]:
            if each["share"] is not None and each["name"] != "pods" and each["name"] in ours:
                lines.append(f"{each['name']} {each['share']:.1%} there, {ours[each['name']]['share']:.1%} here")
        return "\n".join(lines)


def line_of(row: dict[str, Any]) -> str:
    """Which pod, where there and here, and why."""
    here = row["here"]
    there_words = row["there"]["node"] or ("evicted" if row["kind"] == "evicted_there" else "pending")
    here_words = (here and here["node"]) or ("evicted" if row["kind"] == "evicted_here" else "pending")
    line = f"{row['pod']['namespace']}/{row['pod']['name']}: {there_words} there, {here_words} here"
    if row["evicted_for"]:
        return f"{line}, for {row['evicted_for']}"
    made = [each["plugin"] or each["why"] for each in row["causes"]]
    reasons = [reason for each in row["causes"] for reason in each["reasons"]]
    line += f" ({', '.join(made)})" if made else ""
    return f"{line}: {'; '.join(reasons)}" if reasons else line
