"""Matchers that come out of another process's checkpoint equal the ones made here, as dictionary keys too."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys

import pytest

from framework.objects.selectors import NodeSelectorMatcher, matcher_from_labels

WRITE = """
import pickle, sys
from framework.objects.selectors import NodeSelectorMatcher, matcher_from_labels
labels = matcher_from_labels({"app": "web"})
made = (labels, NodeSelectorMatcher(labels))
hash(made)
sys.stdout.buffer.write(pickle.dumps(made))
"""


@pytest.mark.parametrize("seed", ["1", "2"])
def test_matchers_are_found_under_their_equals_after_a_take_over(seed: str) -> None:
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    written = subprocess.run([sys.executable, "-c", WRITE], env=environment, check=True, capture_output=True).stdout
    labels = matcher_from_labels({"app": "web"})
    here = {labels: "labels", NodeSelectorMatcher(labels): "nodes"}
    assert [here[each] for each in pickle.loads(written)] == ["labels", "nodes"]
