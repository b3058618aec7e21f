"""Runs of the matrix are played in the test, and the server has a kubeconfig with one context."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.schedweb.runs.conftest import _short_waits as _short_waits


@pytest.fixture(autouse=True)
def _kubeconfig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is asked: no worker reads."""
    clusters = [{"name": "prod", "cluster": {"server": "https://127.0.0.1:1"}}]
    contexts = [{"name": "prod", "context": {"cluster": "prod"}}]
    path = tmp_path / "kubeconfig"
    path.write_text(json.dumps({"clusters": clusters, "contexts": contexts, "users": []}))
    monkeypatch.setenv("KUBECONFIG", str(path))
