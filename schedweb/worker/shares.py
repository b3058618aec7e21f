"""A worker's capacity by kind of work: runs, imports and questions have places of their own, so that none of them keeps
another waiting (decision 0019).

What waits stands in the database. A task of the broker only says "look": whoever has a free place of that kind takes
what is next in turn, and goes on until nothing waits. A message that is lost, or that a worker without a free place
got, costs a second: every worker's sweep looks, too.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from schedweb.observing.metrics import PLACES, PLACES_TAKEN
from schedweb.runs.storing.lease import close_own_connection


class Share:
    """`places`: how many are worked on at once. `work_on_next` works on what is next in turn, to its end; False when
    nothing waits, or nothing is to be begun any more."""

    def __init__(self, kind: str, places: int, work_on_next: Callable[[], bool]) -> None:
        self.kind = kind
        self.places = places
        self._work_on_next = work_on_next
        self._lock = threading.Lock()
        self._left = threading.Condition(self._lock)
        self._taken = 0
        self._looks = 0
        """How often somebody asked to look: who was asked while the last one was looking looks once more."""
        PLACES.labels(kind).set(places)

    @property
    def is_full(self) -> bool:
        return self._taken >= self.places

    def look(self) -> None:
        """Works in this thread as long as something waits. Returns at once when all places are taken: those who have
        them look again before they leave."""
        with self._lock:
            self._looks += 1
            if self.is_full:
                return
            self._taken += 1
            PLACES_TAKEN.labels(self.kind).set(self._taken)
        looked = 0
        try:
            while looked != self._looks:
                looked = self._looks
                while self._work_on_next():
                    pass
                with self._lock:
                    if looked == self._looks:
                        self._leave()
                        return
        except BaseException:
            with self._lock:
                self._leave()
            raise

    def _leave(self) -> None:
        self._taken -= 1
        PLACES_TAKEN.labels(self.kind).set(self._taken)
        self._left.notify_all()

    def wait_until_empty(self, seconds: float) -> None:
        """Nobody has a place any more, or so many seconds are over."""
        with self._left:
            self._left.wait_for(lambda: not self._taken, max(0.0, seconds))

    @property
    def free(self) -> int:
        """How many places."""
        return self.places - self._taken

    def look_beside(self, count: int = 1) -> None:
        """In threads of their own, one for each that waits, as far as there are places: whoever takes one is busy with
        it to its end, and looks for no other."""
        for _ in range(min(count, self.free)):
            threading.Thread(target=self._look_and_close, name=f"look-{self.kind}", daemon=True).start()

    def _look_and_close(self) -> None:
        try:
            self.look()
        finally:
            close_own_connection()
