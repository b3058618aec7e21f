"""`doctor`: packages as pip leaves them behind, good and bad, and what is said of each; then of the whole product."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.processes import ROOT, bare_environment

GOOD = """
from framework.interface import ScorePlugin

class {name}(ScorePlugin):
    name = "{name}"

    def score(self, state, pod, node):
        return 0, None
"""
SHORT = """
from framework.interface import FilterPlugin

class Short(FilterPlugin):
    name = "Short"

    def filter(self, state, pod):
        return None
"""
GROUP = "scheduling_playground.plugins"


def install(folder: Path, module: str, source: str, entry: str, group: str = GROUP) -> None:
    (folder / f"{module}.py").write_text(source, encoding="utf-8")
    about = folder / f"{module}-1.2.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.2\n", encoding="utf-8")
    (about / "entry_points.txt").write_text(f"[{group}]\n{entry}\n" if entry else "", encoding="utf-8")


def doctor(command: list[str], folder: Path, **more: str) -> tuple[int, str]:
    environment = {**bare_environment(), "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}", **more}
    ended = subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert "Traceback" not in ended.stdout + ended.stderr, ended.stderr
    return ended.returncode, ended.stdout


FRAMEWORK = ["-m", "framework", "doctor"]
BAD: dict[str, tuple[str, str, str]] = {
    "breaks": ("import nothing_like_it", "Breaks = breaks:Breaks", "ModuleNotFoundError: No module named"),
    "typo": ("class X(: pass", "Typo = typo:Typo", "SyntaxError"),
    "leaves": ("raise SystemExit(3)", "Leaves = leaves:Leaves", "SystemExit: 3"),
    "absent": ("", "Absent = absent:Absent", "AttributeError"),
    "thing": ("thing = 7", "Thing = thing:thing", "entry point Thing (thing:thing) is not a Plugin class"),
    "clash": (
        GOOD.format(name="NodeName"),
        "NodeName = clash:NodeName",
        "there is a plugin NodeName of the playground",
    ),
    "short": (
        SHORT,
        "Short = short:Short",
        "filter takes (self, state, pod) and is called with (self, state, pod, node)",
    ),
    "half": (SHORT.replace("filter(", "other("), "Short = half:Short", "does not implement filter"),
}


def test_each_is_told_by_itself(tmp_path: Path) -> None:
    install(tmp_path, "lights", GOOD.format(name="Lights"), "Lights = lights:Lights")
    for module, (source, entry, _) in BAD.items():
        install(tmp_path, module, source, entry)
    status, printed = doctor(FRAMEWORK, tmp_path)
    assert status == 1
    lines = printed.splitlines()
    assert f"ok     plugin Lights (lights 1.2, {tmp_path / 'lights.py'}): Score" in lines
    for module, (_, _, said) in BAD.items():
        [line] = [each for each in lines if f"{module} 1.2" in each]
        assert line.startswith("WRONG  plugin ")
        assert said in line, line


def test_a_package_that_offers_nothing(tmp_path: Path) -> None:
    install(tmp_path, "lights", GOOD.format(name="Lights"), "Lights = lights:Lights", "scheduling-playground.plugins")
    install(tmp_path, "silent", GOOD.format(name="Silent"), "")
    status, printed = doctor([*FRAMEWORK, "silent", "nobodys"], tmp_path)
    assert status == 1
    assert "WRONG  lights 1.2: the group scheduling-playground.plugins is not scheduling_playground.plugins" in printed
    assert "WRONG  silent 1.2: installed, but it offers no plugin" in printed
    assert "WRONG  nobodys: not installed for" in printed


def test_all_is_well_without_any(tmp_path: Path) -> None:
    status, printed = doctor(FRAMEWORK, tmp_path)
    assert (status, printed) == (0, f"ok     no plugin of another package (entry points of the group {GROUP})\n")


def test_the_products_doctor_starts_although_a_package_is_broken(tmp_path: Path) -> None:
    packages = tmp_path / "packages"
    packages.mkdir()
    install(packages, "typo", "class X(: pass", "Typo = typo:Typo")
    here = {"PLAYGROUND_DATA": str(tmp_path / "data")}
    status, printed = doctor(["manage.py", "doctor"], packages, **here)
    assert status == 1
    for said in ("embedded mode", "not there yet", "no server of this data folder", 'WRONG  plugin Typo = "typo:Typo"'):
        assert said in printed
    status, printed = doctor(["manage.py", "migrate", "--skip-checks", "accounts", "0001"], tmp_path, **here)
    assert status == 0
    status, printed = doctor(["manage.py", "doctor"], tmp_path, **here)
    assert status == 1
    assert "migrations are to be applied" in printed
    assert "WRONG  plugin" not in printed


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"REDIS_URL": "redis://127.0.0.1:1/0"}, "WRONG  REDIS_URL is set but DATABASE_URL is not."),
        ({"REDIS_URL": "redis://127.0.0.1:1/0"}, "WRONG  Redis: "),
        ({"PLAYGROUND_DATA": "/proc/nowhere"}, "WRONG  data folder /proc/nowhere"),
    ],
)
def test_what_is_wrong_beside_plugins(tmp_path: Path, more: dict[str, str], said: str) -> None:
    status, printed = doctor(
        ["manage.py", "doctor"], tmp_path, **{"PLAYGROUND_DATA": str(tmp_path), "SECRET_KEY": "x"} | more
    )
    assert (status, said in printed) == (1, True), printed
