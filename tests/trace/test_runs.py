"""The same seed and the same events give the same trace, byte for byte, in any process and across checkpoints."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter

import pytest

from framework.trace.digest import START, digest
from framework.trace.encoding import decode_attempts, encode_attempts
from tests.trace.scenario import Traces, play


@pytest.fixture(scope="module")
def run() -> Traces:
    return play(1)


def test_the_run_has_something_of_everything(run: Traces) -> None:
    results = Counter(run.results)
    assert results["bound"] > 50
    assert results["failed"] > 0
    assert results["waiting"] > 0
    assert any(trace.scores is not None and len(trace.scores.candidates) > 1 for trace in run.attempts)
    assert any(trace.filter is not None and (trace.filter.verdict < 0).any() for trace in run.attempts)


def test_the_same_seed_gives_the_same_bytes(run: Traces) -> None:
    again = play(1)
    assert encode_attempts(again.attempts) == encode_attempts(run.attempts)
    assert again.digest == run.digest


def test_another_seed_gives_another_run(run: Traces) -> None:
    assert play(2).digest != run.digest


def test_checkpoints_change_nothing(run: Traces) -> None:
    assert play(1, saved_every=10).digest == run.digest


@pytest.mark.parametrize("hash_seed", ["1", "4242"])
def test_the_order_of_sets_in_this_process_plays_no_part(run: Traces, hash_seed: str) -> None:
    environment = os.environ | {"PYTHONHASHSEED": hash_seed}
    command = [sys.executable, "-m", "tests.trace.scenario", "1"]
    printed = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert printed.strip() == run.digest


def test_a_stored_run_has_the_same_digest(run: Traces) -> None:
    settled = START
    for trace in run.attempts:
        settled = digest(trace, settled)
    stored = START
    for trace in decode_attempts(encode_attempts(run.attempts)):
        stored = digest(trace, stored)
    assert stored == settled
