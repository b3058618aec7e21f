"""The stamps: a step is redone when what it is made from changed, and only then."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from scripts import bootstrap


class Recorder:
    """Stands in for running commands; keeps what would have been run."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.lines: list[str] = []

    def __call__(self, *command: str | Path, cwd: Path | None = None) -> None:
        line = " ".join(str(part) for part in command)
        self.lines.append(line)
        if line.endswith("run build"):
            (self.root / "frontend" / "dist").mkdir(exist_ok=True)
            (self.root / "frontend" / "dist" / "index.html").write_text("built", encoding="utf-8")
        if " ci " in f"{line} ":
            (self.root / "frontend" / "node_modules").mkdir(exist_ok=True)

    def steps(self) -> list[str]:
        names = {"run build": "build", " ci ": "npm ci", "requirements.lock": "runtime", "requirements-dev.lock": "dev"}
        done = [name for line in self.lines for part, name in names.items() if part in f"{line} "]
        self.lines.clear()
        return done


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recorder:
    frontend = tmp_path / "frontend"
    (frontend / "src").mkdir(parents=True)
    for name in ("package.json", "package-lock.json", ".npmrc", "index.html", "vite.config.ts", "src/main.tsx"):
        (frontend / name).write_text(name, encoding="utf-8")
    for name in ("requirements.lock", "requirements-dev.lock"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    (tmp_path / ".venv").mkdir()
    for constant, path in {
        "ROOT": tmp_path,
        "VENV": tmp_path / ".venv",
        "FRONTEND": frontend,
        "RUNTIME_LOCK": tmp_path / "requirements.lock",
        "DEV_LOCK": tmp_path / "requirements-dev.lock",
    }.items():
        monkeypatch.setattr(bootstrap, constant, path)
    recorder = Recorder(tmp_path)
    monkeypatch.setattr(bootstrap, "execute", recorder)
    monkeypatch.setattr(bootstrap, "ensure_venv", lambda: None)
    monkeypatch.setattr(bootstrap, "ensure_node", lambda: None)
    return recorder


def set_up(tree: Recorder, *, dev: bool = False) -> list[str]:
    bootstrap.ensure_packages(dev=dev)
    bootstrap.ensure_ui()
    return tree.steps()


def test_the_first_run_does_everything_and_the_second_nothing(tree: Recorder) -> None:
    assert set_up(tree) == ["runtime", "npm ci", "build"]
    assert set_up(tree) == []


def test_development_packages_are_added_once_and_cover_the_runtime(tree: Recorder) -> None:
    set_up(tree)
    assert set_up(tree, dev=True) == ["dev"]
    assert set_up(tree, dev=True) == []
    assert set_up(tree) == []


@pytest.mark.parametrize(
    ("changed", "want"),
    [
        ("requirements.lock", ["runtime"]),
        ("frontend/src/main.tsx", ["build"]),
        ("frontend/vite.config.ts", ["build"]),
        ("frontend/package-lock.json", ["npm ci", "build"]),
        ("frontend/src/added.ts", ["build"]),
        ("frontend/src/added.test.ts", []),
        ("requirements-dev.lock", []),
    ],
)
def test_a_change_redoes_what_depends_on_it(tree: Recorder, changed: str, want: list[str]) -> None:
    set_up(tree)
    (tree.root / changed).write_text("changed", encoding="utf-8")
    assert set_up(tree) == want


def test_a_failed_build_is_tried_again(tree: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*command: str | Path, cwd: Path | None = None) -> None:
        tree(*command)
        if command[-1] == "build":
            raise bootstrap.SetupError("This failed: npm run build")

    monkeypatch.setattr(bootstrap, "execute", failing)
    with pytest.raises(bootstrap.SetupError):
        set_up(tree)
    tree.steps()
    monkeypatch.setattr(bootstrap, "execute", tree)
    assert set_up(tree) == ["build"]


def test_a_command_that_fails_is_named() -> None:
    with pytest.raises(bootstrap.SetupError, match=r"This failed: .* -c raise SystemExit"):
        bootstrap.execute(sys.executable, "-c", "raise SystemExit(3)")


def test_the_set_up_needs_the_standard_library_only() -> None:
    """It runs before anything is installed: -I and -S leave nothing but the standard library to import."""
    code = f"import sys; sys.path.insert(0, {str(bootstrap.ROOT)!r}); import scripts.bootstrap"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
