"""A few faults of scripts/chaos, always the same ones: what it proves of a thousand, in every test run."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.chaos.__main__ import arguments, play
from scripts.services import Services

pytestmark = pytest.mark.services
FAULTS = ["worker killed", "engine killed", "PostgreSQL cut off", "Redis emptied"]


@pytest.fixture
def services(migrated_services: Services) -> Services:
    return migrated_services


def test_nothing_is_lost_while_things_break_and_people_work(services: Services, tmp_path: Path) -> None:
    chosen = arguments(["--faults", str(len(FAULTS)), "--seed", "14", "--in-turn", *FAULTS])
    report = play(services, tmp_path, chosen)
    assert report.wrong == []
    assert sorted(report.stops) == sorted(FAULTS)
    assert report.accepted > 20
    assert report.replayed >= 3
