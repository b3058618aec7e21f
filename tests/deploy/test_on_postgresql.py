"""What goes, what comes back and what is one transaction, on a real PostgreSQL: the very tests that the embedded mode's
SQLite passes, in a process with other settings.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Final

import pytest

from scripts.processes import ROOT
from scripts.services import missing_services

pytestmark = pytest.mark.services
TESTS: Final = (
    "clusters/test_schedule.py::test_a_worker_that_dies_between_a_write_and_its_outcome_binds_once",
    "clusters/test_schedule.py::test_pods_are_bound_with_approvals_and_replay_is_the_same",
    "keeping/test_deleted.py::test_a_deleted_run_comes_back_as_it_was",
    "keeping/test_deleted.py::test_a_removal_that_was_interrupted_is_gone_on_with",
    "keeping/test_retention.py::test_old_runs_go_to_recently_deleted_and_come_back",
    "keeping/test_retention.py::test_the_command_says_what_would_go_and_does_it",
    "runs/test_audited.py::test_the_same_decision_twice_is_one_entry",
    "runs/test_audited.py::test_who_is_killed_leaves_both_the_decision_and_its_entry_or_neither[1]",
    "worker/test_listening.py::test_a_command_stored_by_another_process_wakes_the_supervisor",
    "worker/test_listening.py::test_who_is_told_nothing_keeps_the_connection",
    "worker/test_listening.py::test_who_lost_the_connection_listens_again",
)


def test_they_hold_on_postgresql_too() -> None:
    if missing := missing_services():
        pytest.skip(missing)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    options = ["--ds", "tests.settings_postgresql", "-q", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *options, *(f"tests/schedweb/{each}" for each in TESTS)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-6000:]
    assert f"{len(TESTS)} passed" in done.stdout
