"""The benchmark's rows with one more plugin: there is one for each, with objects that it can use."""

from __future__ import annotations

import pytest

from framework.cli.bench.beside import BESIDE
from framework.cli.bench.measure import Options, measure
from framework.cli.bench.workloads import BY_NAME
from framework.plugins.registry import OPTIONAL, built_in_registry

NODES, PODS = 12, 15


def test_each_plugin_of_the_catalogue_has_a_row() -> None:
    known = built_in_registry().with_plugins(OPTIONAL)
    catalogue = {entry.name for entry in known.entries() if entry.origin == "scheduler-plugins"}
    assert set(BESIDE) == {*catalogue, "LoadAwareScheduling", "ElasticQuotaTree", "Reservation"}


@pytest.mark.parametrize("plugin", BESIDE)
def test_all_pods_of_a_row_find_a_node(plugin: str) -> None:
    measured = measure(BY_NAME[f"With{plugin}"].resized(NODES, NODES, PODS), Options())
    assert (measured.bound, measured.attempts) == (PODS, PODS)
