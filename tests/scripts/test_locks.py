"""The locks say what pyproject.toml asks for, hold hashes for every package, and name no index."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from scripts import bootstrap

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ("requirements.lock", "requirements-dev.lock", "requirements-node.lock", "requirements-sbom.lock")


def locked(name: str) -> dict[str, str]:
    """Version by package; a universal lock may hold several lines of one package, told apart by their markers."""
    found: dict[str, str] = {}
    for line in (ROOT / name).read_text(encoding="utf-8").splitlines():
        match = re.match(r"([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==(\S+)", line)
        if match is not None:
            found[canonicalize_name(match[1])] = match[2]
    return found


def requirements(*keys: str) -> list[Requirement]:
    node: Any = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for key in keys:
        node = node[key]
    # A group may include another, which has a line of its own below.
    return [Requirement(text) for text in node if isinstance(text, str)]


@pytest.mark.parametrize(
    ("lock", "keys"),
    [
        ("requirements.lock", ("project", "dependencies")),
        ("requirements-dev.lock", ("project", "dependencies")),
        ("requirements-dev.lock", ("dependency-groups", "dev")),
        ("requirements-dev.lock", ("dependency-groups", "sbom")),
        ("requirements-node.lock", ("dependency-groups", "node")),
        ("requirements-sbom.lock", ("dependency-groups", "sbom")),
    ],
)
def test_every_requirement_is_locked_at_a_version_it_accepts(lock: str, keys: tuple[str, ...]) -> None:
    versions = locked(lock)
    unmet = [
        str(wanted)
        for wanted in requirements(*keys)
        if not wanted.specifier.contains(versions.get(canonicalize_name(wanted.name), "0"))
    ]
    assert unmet == []


def test_the_set_up_takes_the_pythons_that_the_product_names() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (major, least), (_, most) = bootstrap.MINIMUM, bootstrap.MAXIMUM
    takes = SpecifierSet(project["requires-python"])
    taken = [minor for minor in range(40) if takes.contains(f"{major}.{minor}.1")]
    assert taken == list(range(least, most + 1))


def test_the_development_lock_holds_the_runtime_lock_version_for_version() -> None:
    runtime, everything = locked("requirements.lock"), locked("requirements-dev.lock")
    assert runtime
    assert {name: everything.get(name) for name in runtime} == runtime


@pytest.mark.parametrize("lock", LOCKS)
def test_every_locked_package_has_hashes(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")
    blocks = re.split(r"\n(?=\S)", text)
    packages = [block for block in blocks if re.match(r"[A-Za-z0-9._-]+(\[[^\]]*\])?==", block)]
    assert packages
    assert [block.splitlines()[0] for block in packages if "--hash=sha256:" not in block] == []


@pytest.mark.parametrize("lock", LOCKS)
def test_no_lock_names_an_index(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")
    assert re.search(r"://|--index|--find-links|--extra", text) is None


def test_the_npm_lock_holds_integrity_hashes_and_no_addresses() -> None:
    packages = json.loads((ROOT / "frontend/package-lock.json").read_text(encoding="utf-8"))["packages"]
    installed = {name: entry for name, entry in packages.items() if name and not entry.get("link")}
    assert installed
    assert [name for name, entry in installed.items() if "resolved" in entry] == []
    assert [name for name, entry in installed.items() if "integrity" not in entry and not entry.get("inBundle")] == []
