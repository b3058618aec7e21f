"""The analyst: has a question about a run answered by a process of its own, within limits, and stores the answer."""

from __future__ import annotations

import logging
import subprocess
import threading
import time
from typing import Final
from uuid import UUID

from django.conf import settings

from framework.sentences import sentence
from schedweb.engine import frames
from schedweb.engine.analysis import Answer, Ask, FromProcess, NoAnswer, Recorded, read_answer
from schedweb.engine.questions import OTHER_WEIGHTS
from schedweb.processes.forks import FORKS
from schedweb.processes.plain import ANALYSIS
from schedweb.runs.live.telling import tell_analysis
from schedweb.runs.models import Analysis, AttemptChunk
from schedweb.runs.records.analyses import attempts_before, claim, finish, hand_back, is_cancelled, offer
from schedweb.runs.storing.lease import close_own_connection
from schedweb.runs.storing.stored import NotKept, begin_of
from schedweb.stopping import STOPPING

DIED: Final = sentence("The process of this analysis died; it may have needed more memory than there is.")
NOT_BEGUN: Final = sentence("The analysis could not be begun.")
log = logging.getLogger(__name__)
LOOK_SECONDS: Final = 0.25
"""How often a cancellation is looked for."""


class LeftToOthers:
    """This process ends before there is an answer."""


class AnalysisProcess:
    """Sends the question and waits for the answer in a thread, so that it can be ended at any time."""

    def __init__(self, ask: Ask) -> None:
        self.child = FORKS.started(ANALYSIS, complaints=subprocess.DEVNULL)
        self.answer: FromProcess | None = None
        self._thread = threading.Thread(target=self._talk, args=(ask,), name=f"analysis-{self.child.pid}", daemon=True)
        self._thread.start()

    def _talk(self, ask: Ask) -> None:
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        try:
            frames.write(self.child.stdin, ask)
            self.answer = read_answer(self.child.stdout)
        except frames.Gone as error:
            log.debug("the process of an analysis is gone: %s", error)

    def wait(self, seconds: float) -> bool:
        """Whether it has answered, or died."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def close(self) -> None:
        self.child.kill()
        self.child.wait()
        self._thread.join()
        for pipe in (self.child.stdin, self.child.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError as error:
                    log.debug("%s", error)


def recorded(analysis: Analysis) -> Recorded:
    run = analysis.run
    last = attempts_before(run, analysis.position)
    chunks = AttemptChunk.objects.filter(run=run, first__lte=last).order_by("first").values_list("first", "traces")
    return Recorded(run.ties, last, [(first, bytes(traces)) for first, traces in chunks])  # type: ignore[arg-type]


def answer_of(analysis: Analysis) -> FromProcess | LeftToOthers | None:
    """None when it was cancelled."""
    question = {**analysis.arguments, "question": analysis.name}
    begin = recorded(analysis) if analysis.name == OTHER_WEIGHTS else begin_of(analysis.run, analysis.position)
    ask = Ask(begin, question, settings.ANALYSIS_MEMORY_BYTES)
    deadline = time.monotonic() + settings.ANALYSIS_SECONDS
    process = AnalysisProcess(ask)
    try:
        while not process.wait(max(0.0, min(LOOK_SECONDS, deadline - time.monotonic()))):
            if time.monotonic() >= deadline:
                return NoAnswer(
                    sentence("It took longer than {seconds} s and was ended.", seconds=round(settings.ANALYSIS_SECONDS))
                )
            if is_cancelled(analysis):
                return None
            if STOPPING.is_set():
                return LeftToOthers()
    finally:
        process.close()
    return process.answer or NoAnswer(DIED)


def analyse(identity: UUID) -> bool:
    """False when somebody else works on it, or nobody has to, or this process ends."""
    if STOPPING.is_set():
        # This process may still be listening: others are to hear it first.
        time.sleep(LOOK_SECONDS)
        offer(identity)
        return False
    try:
        analysis = claim(identity)
        if analysis is None:
            return False
        tell_analysis(analysis, Analysis.Status.RUNNING)
        began = time.monotonic()
        try:
            spoken = answer_of(analysis)
        except NotKept as error:
            spoken = NoAnswer(error.words)
        except Exception:
            log.exception("%s ended by surprise", analysis)
            spoken = NoAnswer(NOT_BEGUN)
        seconds = time.monotonic() - began
        match spoken:
            case LeftToOthers():
                hand_back(analysis)
                tell_analysis(analysis, Analysis.Status.PENDING)
            case Answer(content, blob):
                finish(analysis, content, blob=blob, seconds=seconds)
                tell_analysis(analysis, Analysis.Status.DONE)
            case NoAnswer(text, trace):
                if trace:
                    log.error("%s: %s", analysis, trace)
                finish(analysis, error=text, seconds=seconds)
                tell_analysis(analysis, Analysis.Status.FAILED)
            case None:
                tell_analysis(analysis, Analysis.Status.CANCELLED)
        return True
    finally:
        close_own_connection()
