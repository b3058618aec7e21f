"""Whether the credentials may still do what a run that schedules a cluster needs.

Asked when a worker begins (also of a run that goes on in place of another, which no person asked for), now and then,
and soon after something was refused; while a right is missing more often, so that the run goes on when it is back.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from schedweb.clusters.reading.problems import ClusterProblem
from schedweb.clusters.reading.rights import Rule, asked_of
from schedweb.clusters.writing.access import WritingAccess
from schedweb.runs.following.scheduling import Lacking

log = logging.getLogger(__name__)
EVERY_SECONDS: Final = 60.0
SOON_SECONDS: Final = 5.0
"""While something is missing."""
LEAST_SECONDS: Final = 1.0
"""Between two times, however much is refused."""
_WHO: Final = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
_ASKED: Final = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}


class RightsAsked:
    """Asks in a thread of its own. ``changed`` is called from there."""

    def __init__(
        self, access: WritingAccess, rules: Sequence[Rule], known: Sequence[Lacking], changed: Callable[[], None]
    ) -> None:
        """``known``: what an earlier holder of the run found missing."""
        self.lacks = tuple(known)
        self.who = ""
        """The user as the API server calls it, where it said so."""
        self.is_asked = False
        """Once, whatever came of it."""
        self._access, self._rules, self._changed = access, rules, changed
        self._soon, self._over = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._ask_on, name="rights", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Whatever is still answered is not heard; nobody waits for it."""
        self._over.set()
        self._soon.set()

    def refused(self) -> None:
        """Something was not allowed."""
        self._soon.set()

    @property
    def may_bind(self) -> bool:
        """Some pods, at least. Not known before it was asked once."""
        lacking = {each.rule for each in self.lacks}
        return self.is_asked and any(each.resource == "pods/binding" and each not in lacking for each in self._rules)

    def lacks_lease(self) -> bool:
        return any(each.rule.resource == "leases" for each in self.lacks)

    def _ask_on(self) -> None:
        while not self._over.is_set():
            self._soon.clear()
            try:
                self._ask()
            except ClusterProblem as problem:
                log.info("what the credentials may do was not answered: %s", problem)
            if not self.is_asked and not self._over.is_set():
                self.is_asked = True
                self._changed()
            self._over.wait(LEAST_SECONDS)
            self._soon.wait(SOON_SECONDS if self.lacks else EVERY_SECONDS)

    def _ask(self) -> None:
        now = time.time()
        since = {each.rule: each.since for each in self.lacks}
        answers = [each for each in asked_of(self._access, self._rules) if each.missing]
        found = tuple(Lacking(each.rule, each.missing, since.get(each.rule, now)) for each in answers)
        if found and not self.who:
            self.who = self._asked_who()
        if found != self.lacks and not self._over.is_set():
            self.lacks = found
            self._changed()

    def _asked_who(self) -> str:
        """ "" of API servers before 1.28."""
        answer = self._access.exchange("POST", _WHO, {}, msgspec.json.encode(_ASKED), "application/json")
        try:
            body: Any = msgspec.json.decode(answer.body)
            return str(body["status"]["userInfo"]["username"])
        except (msgspec.DecodeError, KeyError, TypeError):
            return ""
