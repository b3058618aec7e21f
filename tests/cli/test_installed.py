"""``scheduling-playground``, the command of the installed package: what belongs to it, and running it from anywhere."""

from __future__ import annotations

import importlib
import os
import runpy
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from schedweb import command_line
from schedweb.environment import UI_PLACES, built_ui

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
NODE = '{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n%d"}, "status": {"allocatable": {"pods": "9"}}}'
POD = '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p%d"}, "spec": {"containers": [{"name": "c"}]}}'


def files() -> Iterator[Path]:
    for package in ("framework", "schedweb"):
        yield from (each for each in (ROOT / package).rglob("*") if each.is_file() and "__pycache__" not in each.parts)


def command(*arguments: str) -> list[str]:
    code = f"import sys; from schedweb.command_line import main; sys.exit(main({list(arguments)!r}))"
    return [sys.executable, "-c", code]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def test_the_command_is_a_function_of_the_package() -> None:
    module, _, name = PROJECT["project"]["scripts"]["scheduling-playground"].partition(":")
    assert getattr(importlib.import_module(module), name) is command_line.main


def test_every_file_of_the_packages_is_installed() -> None:
    data = PROJECT["tool"]["setuptools"]["package-data"]
    for path in files():
        if path.suffix == ".py":
            assert (path.parent / "__init__.py").exists(), path
        elif path.suffix != ".po":  # what translators edit; the .mo beside it is read
            package, _, inside = str(path.relative_to(ROOT)).partition(os.sep)
            assert any(fnmatch(inside, pattern) for pattern in data[package]), path


def test_it_runs_from_anywhere(tmp_path: Path) -> None:
    (tmp_path / "all.json").write_text(NODE % 1 + POD % 1)
    done = subprocess.run(
        command("simulate", "-f", "all.json"),
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[1].split() == ["default/p1", "n1", "-"]


def test_a_closed_pipe_is_no_success_and_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "all.json").write_text(NODE % 1 + POD % 1)
    process = subprocess.Popen(
        command("simulate", "-f", "all.json"),
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == ""
    assert process.wait() == 141
    process.stderr.close()


def test_without_a_user_interface_run_says_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command_line, "built_ui", lambda: built_ui([tmp_path]))
    assert command_line.main(["run"]) == 2
    assert "built without the user interface" in capsys.readouterr().err


class BuildPy:
    """As much of setuptools' as setup.py uses: the machine that tests may have none, or an old one."""

    build_lib = "lib"
    editable_mode = False

    def run(self) -> None:
        Path(self.build_lib, "schedweb", "ui").mkdir(parents=True, exist_ok=True)
        Path(self.build_lib, "schedweb", "ui", "left.js").touch()


@pytest.mark.parametrize("editable", [False, True])
def test_the_package_has_the_user_interface_that_was_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, editable: bool
) -> None:
    given: dict[str, Any] = {}
    modules: dict[str, dict[str, Any]] = {
        "setuptools": {"setup": lambda **arguments: given.update(arguments)},
        "setuptools.command.build_py": {"build_py": BuildPy},
    }
    for name, members in modules.items():
        module = ModuleType(name)
        vars(module).update(members)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(BuildPy, "editable_mode", editable)
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(ROOT / "setup.py"))
    build = given["cmdclass"]["build_py"]
    build().run()
    assert built_ui([tmp_path / "lib" / "schedweb" / "ui"]) is None
    for name in ("index.html", "assets/app.js"):
        (tmp_path / "frontend" / "dist" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "frontend" / "dist" / name).write_text(name)
    build().run()
    found = built_ui([tmp_path / "nowhere", tmp_path / "lib" / "schedweb" / "ui"])
    assert (found is None) == editable
    if found is not None:
        files = sorted(str(each.relative_to(found)) for each in found.rglob("*.*"))
        assert files == ["assets/app.js", "index.html"], "nothing of the build before"
    assert Path("schedweb", "ui") == UI_PLACES[1].relative_to(ROOT)


def test_its_own_command_is_among_the_others_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command_line.main(["--help"])
    printed = capsys.readouterr().out
    assert printed.startswith("usage: scheduling-playground")
    assert "{run,manage,decide,simulate,capacity,convert,doctor,bench}" in printed
