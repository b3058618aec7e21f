"""Engines made ready for runs whose holder is not heard of, so that whoever takes one over does not wait for replay.

Nothing of them is stored and none of them plays: an engine waits for Go. When the lease has run out and this worker got
the run, its supervisor takes the engine over if the run is still stored as it was when the engine began.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from typing import Final
from uuid import UUID

from django.db import DatabaseError, InterfaceError
from msgspec.structs import replace

from schedweb.engine import frames
from schedweb.runs.models import Run
from schedweb.runs.storing.dictionaries import packing_of
from schedweb.runs.storing.lease import OWNER, Lease, close_own_connection
from schedweb.runs.storing.stored import NotKept, begin_of
from schedweb.worker.process import Died, EngineProcess, Heard

log = logging.getLogger(__name__)


class Standby:
    """An engine that nobody listens to yet; what it says is kept."""

    def __init__(self, begin: frames.Begin) -> None:
        self.begin = begin
        self._lock = threading.Lock()
        self._said: list[Heard] = []
        self._hear: Callable[[Heard], None] | None = None
        self.engine = EngineProcess(begin, self._take)

    def _take(self, event: Heard) -> None:
        with self._lock:
            if self._hear is None:
                self._said.append(event)
            else:
                self._hear(event)

    def listened_to(self, begin: frames.Begin, hear: Callable[[Heard], None]) -> bool:
        """False when it began otherwise than ``begin``, or ended: then it is of no use."""
        with self._lock:
            if begin != self.begin or any(isinstance(event, Died | frames.Failure) for event in self._said):
                return False
            self._hear = hear
            for event in self._said:
                hear(event)
            self._said.clear()
            return True

    def end(self) -> None:
        """At once: there is nothing to be told."""
        self.engine.child.kill()
        self.engine.close()


class Standbys:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ready: dict[UUID, Standby] = {}
        self._being_made: set[UUID] = set()

    def look(self, unheard: Iterable[UUID], places: int) -> None:
        """``unheard``: runs whose holder is not heard of; engines of others end. ``places``: of this worker, free."""
        wanted = list(unheard)
        with self._lock:
            others = self._ready.keys() - wanted
        # A run that this worker got a moment ago has a supervisor that is about to come for its engine.
        others -= set(Run.objects.filter(pk__in=others, lease_owner=OWNER).values_list("pk", flat=True))
        with self._lock:
            left = [self._ready.pop(run) for run in others if run in self._ready]
            known = self._ready.keys() | self._being_made
            new = [run for run in wanted if run not in known][: max(0, places - len(known))]
            self._being_made.update(new)
        for run in new:
            threading.Thread(target=self._make, args=(run,), name=f"standby-{run}", daemon=True).start()
        for standby in left:
            standby.end()

    def _make(self, run: UUID) -> None:
        try:
            stored = Run.objects.select_related("snapshot", "first_configuration_version").get(pk=run)
            standby = Standby(begin_for(stored))
            with self._lock:
                self._ready[run] = standby
        except (DatabaseError, InterfaceError, OSError, Run.DoesNotExist, NotKept) as error:
            # Whoever gets the run starts one, and says what is wrong.
            log.info("no engine is made ready for run %s: %s", run, error)
        finally:
            with self._lock:
                self._being_made.discard(run)
            close_own_connection()

    def take(self, run: UUID, begin: frames.Begin, hear: Callable[[Heard], None]) -> EngineProcess | None:
        """The engine that is ready to go on from ``begin``, from now on heard by ``hear``; None when there is none."""
        with self._lock:
            standby = self._ready.pop(run, None)
        if standby is None:
            return None
        if standby.listened_to(begin, hear):
            return standby.engine
        standby.end()
        return None

    def end(self) -> None:
        with self._lock:
            left = list(self._ready.values())
            self._ready.clear()
        for standby in left:
            standby.end()


def begin_for(run: Run, lease: Lease | None = None) -> frames.Begin:
    """What an engine begins with, its dictionary with it, which the run has from now on where a lease is given. Raises
    NotKept."""
    return replace(begin_of(run), waits=True, **packing_of(run, lease))


STANDBYS: Final = Standbys()
