"""Which browser is driven, and that its absence is said loudly and fails nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import chromium


def executable(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any browser: nothing on PATH, no applications, an empty Playwright cache."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "playwright"))
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setattr(chromium, "APPLICATIONS", ())
    return tmp_path


def test_an_installed_browser_is_found(bare: Path) -> None:
    want = executable(bare / "bin" / "chromium-browser", "echo Chromium 140.0")
    assert chromium.find_chromium() == want


def test_a_headless_shell_goes_before_a_whole_browser(bare: Path) -> None:
    executable(bare / "bin" / "chromium", "echo Chromium 140.0")
    want = executable(bare / "bin" / "chromium-headless-shell", "echo Chromium 140.0")
    assert chromium.find_chromium() == want


def test_a_stub_that_does_not_start_is_passed_over(bare: Path) -> None:
    executable(bare / "bin" / "chromium", "exit 1")
    want = executable(bare / "bin" / "google-chrome", "echo Google Chrome 140.0")
    assert chromium.find_chromium() == want


def test_playwright_s_newest_download_is_found(bare: Path) -> None:
    executable(bare / "playwright" / "chromium-1100" / "chrome-linux" / "chrome", "echo old")
    want = executable(bare / "playwright" / "chromium-1200" / "chrome-linux" / "chrome", "echo new")
    assert chromium.find_chromium() == want
    shell = executable(bare / "playwright" / "chromium_headless_shell-1200" / "chrome-linux" / "headless_shell", "echo")
    assert chromium.find_chromium() == shell


def test_the_named_browser_goes_first(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    executable(bare / "bin" / "chromium", "echo Chromium 140.0")
    want = executable(bare / "mine", "echo Chromium 141.0")
    monkeypatch.setenv("CHROMIUM", str(want))
    assert chromium.find_chromium() == want


def test_none_to_be_had_is_said_loudly_and_fails_nothing(
    bare: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(chromium, "install_chromium", lambda: None)
    assert chromium.main(["--install"]) == 0
    assert "BROWSER TESTS WILL BE SKIPPED: no Chromium on this machine" in capsys.readouterr().err


def test_one_that_could_be_installed_is_named(
    bare: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(chromium, "install_chromium", lambda: Path("/usr/bin/chromium"))
    assert chromium.main(["--install"]) == 0
    assert capsys.readouterr().out == "chromium: /usr/bin/chromium\n"
