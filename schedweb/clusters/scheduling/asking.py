"""Whether the credentials may still do what the command that schedules needs: asked now and then, sooner while
something is missing, so that nothing is decided without the right to bind, and it goes on when that is back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Final

from framework.sentences import Words, sentence
from schedweb.clusters.reading.access import Access
from schedweb.clusters.reading.problems import ClusterProblem
from schedweb.clusters.reading.rights import Answered, Rule, asked_of

EVERY_SECONDS: Final = 60.0
SOON_SECONDS: Final = 5.0
"""While something is missing."""


class AskedAgain:
    """Asks in a thread of its own. ``complain`` is called from there, once for each new answer."""

    def __init__(self, access: Access, rules: Sequence[Rule], complain: Callable[[Words], None]) -> None:
        """They were granted a moment ago."""
        self.lacks: tuple[Answered, ...] = ()
        self._access, self._rules, self._complain = access, rules, complain
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._ask_on, name="rights", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._over.set()

    def may_bind(self) -> bool:
        """Some pods, at least."""
        lacking = {each.rule for each in self.lacks}
        return any(each.resource == "pods/binding" and each not in lacking for each in self._rules)

    def _ask_on(self) -> None:
        while not self._over.wait(SOON_SECONDS if self.lacks else EVERY_SECONDS):
            try:
                found = tuple(each for each in asked_of(self._access, self._rules) if each.missing)
            except ClusterProblem:
                continue  # what cannot be asked is not known to be missing; whoever watches says what is wrong
            if found != self.lacks and not self._over.is_set():
                self.lacks = found
                self._complain(self._words())

    def _words(self) -> Words:
        if not self.lacks:
            return sentence("The credentials may do all that scheduling needs again.")
        named = "; ".join(f"{'/'.join(each.missing)} {each.rule.resource}" for each in self.lacks)
        if self.may_bind():
            return sentence("The credentials lack {rules}. What needs it fails, the rest goes on.", rules=named)
        return sentence("The credentials lack {rules}. Nothing is decided until they may.", rules=named)
