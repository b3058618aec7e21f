"""A few faults of scripts/chaos/scheduling.py, always the same: a cluster that a run schedules while things break."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.chaos.scheduling import arguments, play
from scripts.services import Services

pytestmark = pytest.mark.services
FAULTS = ["engine killed", "API server killed", "PostgreSQL ends all connections", "API server's answers lost"]


@pytest.fixture
def services(migrated_services: Services) -> Services:
    return migrated_services


def test_every_pod_is_bound_once_or_says_truly_why_not(services: Services, tmp_path: Path) -> None:
    chosen = arguments(["--pods", "20", "--faults", str(len(FAULTS)), "--seed", "3", "--in-turn", *FAULTS])
    report = play(services, tmp_path, chosen)
    assert report.wrong == []
    assert sorted(report.stops) == sorted(FAULTS)
    seen = report.counted
    assert seen.bound + seen.pending == 20 + len(FAULTS)
    assert min(seen.approved + seen.rejected, seen.evicted, seen.volumes) > 0, "nothing would have been proved"
