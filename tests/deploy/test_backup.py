"""`manage.py backup` while a run plays and people send commands; `manage.py restore`, and the run goes on."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest

from scripts.processes import ROOT, Playground, Process, bare_environment, free_port
from scripts.release_fixture import RELEASES
from scripts.services import Services
from scripts.site import Site, eventually
from tests.deploy.main_flow import node, pod
from tests.deploy.test_upgrades import unpacked
from tests.first_start import FirstStart

MANAGE: Final = (sys.executable, "manage.py")
ONE_BY_ONE: Final = """
import json, sys
from contextlib import redirect_stderr
from io import StringIO
from django.core.management import execute_from_command_line
ended = []
for words in json.load(sys.stdin):
    code, said = 0, StringIO()
    with redirect_stderr(said):
        try:
            execute_from_command_line(["manage.py", *words])
        except SystemExit as end:
            code = end.code
    ended.append((code, said.getvalue()))
print(json.dumps(ended))
"""
"""Commands as `manage.py` has them, in one process: each would begin with the same imports."""
PODS: Final = 60
"""At ten cycles a second a run of them plays for longer than a backup takes."""
CLUSTER: Final = {
    "apiVersion": "v1",
    "kind": "List",
    "items": [*(node(f"node-{number}", "8") for number in range(6)), *(pod(f"web-{n}", "100m") for n in range(PODS))],
}
ADDED_FIRST: Final = 5


def manage(environment: dict[str, str], *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*MANAGE, *command], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


def managed(environment: dict[str, str], *command: str) -> str:
    ended = manage(environment, *command)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def one_by_one(environment: dict[str, str], commands: list[list[str]]) -> list[tuple[int, str]]:
    """Of each: its exit status and what it complained of."""
    ended = subprocess.run(
        [sys.executable, "-c", ONE_BY_ONE],
        cwd=ROOT,
        env={**environment, "DJANGO_SETTINGS_MODULE": "schedweb.settings"},
        input=json.dumps(commands),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return [(code, said) for code, said in json.loads(ended.stdout.splitlines()[-1])]


def playing_run(site: Site) -> str:
    snapshot = site.import_snapshot(json.dumps(CLUSTER), "backed up")
    version = next(
        entry for entry in site.get("/api/v1/configurations/?limit=50")["results"] if entry["name"] == "Default"
    )
    body = {"snapshot": snapshot["id"], "configuration_version": version["latest"]["id"], "seed": 7, "paused": True}
    run: str = site.post("/api/v1/runs/", body)["id"]
    site.command(run, {"type": "play", "speed": "10"})
    site.run_until(run, "it plays", lambda seen: seen["attempts"] > 3)
    return run


def backed_up_while_people_work(site: Site, run: str, environment: dict[str, str], target: Path) -> list[str]:
    """The journal's entries that were accepted before the backup was asked for; more are accepted while it is made."""

    def add(name: str) -> str:
        accepted: str = site.command(run, {"type": "pod_add", "manifest": json.dumps(pod(name, "100m"))})["id"]
        return accepted

    before = [add(f"before-{number}") for number in range(ADDED_FIRST)]
    making = subprocess.Popen([*MANAGE, "backup", str(target)], cwd=ROOT, env=environment)
    during = 0
    while making.poll() is None:
        add(f"during-{during}")
        during += 1
        time.sleep(0.1)
    assert (making.returncode, during > 0) == (0, True)
    assert site.get(f"/api/v1/runs/{run}/")["state"] == "playing", "the backup was made of a run that played"
    return before


def everything(site: Site, path: str) -> list[Any]:
    found: list[Any] = []
    while True:
        window = site.get(f"{path}?limit=200&offset={len(found)}")
        found += window["results"]
        if len(found) >= window["count"] or not window["results"]:
            return found


def the_run_went_on(site: Site, run: str, accepted: list[str]) -> None:
    ended = site.run_until(run, "the restored run is finished", lambda seen: seen["state"] == "finished")
    for entry in accepted:
        assert site.get(f"/api/v1/runs/{run}/journal/{entry}/")["status"] == "applied"
    names = [each["name"] for each in everything(site, f"/api/v1/runs/{run}/pods/")]
    assert len(names) == len(set(names))
    assert {f"web-{number}" for number in range(PODS)} | {f"before-{number}" for number in range(ADDED_FIRST)} <= set(
        names
    )
    assert ended["counts"]["bound"] == len(names)
    listed = [each["number"] for each in everything(site, f"/api/v1/runs/{run}/attempts/")]
    assert sorted(listed) == list(range(1, ended["attempts"] + 1)), "every attempt once, and none of another history"

    def looked_back() -> bool | None:
        # The journal is played again, and what comes out compared with the stored digest.
        answer = site.ask("GET", f"/api/v1/runs/{run}@{ended['position']}/board/")
        assert answer.status in (200, 202), answer
        return True if answer.status == 200 else None

    eventually("the run's end is made again by replay", looked_back)


def test_embedded_a_run_goes_on_where_the_backup_was_made(tmp_path: Path, first_start: FirstStart) -> None:
    first, second, target = tmp_path / "first", tmp_path / "second", tmp_path / "saved.backup"
    first.mkdir()
    second.mkdir()
    playground = Playground(first_start.into(first))
    try:
        site = Site(playground.origin)
        site.open_link(playground.link)
        run = playing_run(site)
        accepted = backed_up_while_people_work(site, run, playground.environment, target)
        refused = manage(playground.environment, "restore", str(target), "--replace")
        assert (refused.returncode, "is running; stop it first" in refused.stderr) == (1, True), refused
    finally:
        playground.process.signal(signal.SIGKILL)
        playground.process.stop()
    assert target.stat().st_mode & 0o077 == 0, "only its owner may read it"

    elsewhere = bare_environment() | {"PLAYGROUND_DATA": str(second)}
    assert "3 snapshots" not in managed(elsewhere, "restore", str(target))
    it_is_refused_where_it_does_not_fit(tmp_path, elsewhere, target)
    playground = Playground(second)
    try:
        site = Site(playground.origin)
        site.open_link(playground.link)
        the_run_went_on(site, run, accepted)
    finally:
        playground.process.stop()


def it_is_refused_where_it_does_not_fit(folder: Path, environment: dict[str, str], target: Path) -> None:
    """`environment`: of a database that is not empty, and stays what it is."""

    written = target.read_bytes()
    expected = [(["restore", str(target)], "The database is not empty. With --replace,")]
    for name, content, why in (
        ("cut", written[: len(written) // 2], "or not all of it"),
        ("other", b"nothing of ours" * 1000, "is no backup of a playground"),
        ("damaged", written.replace(written[-60_000:-59_900], b"\0" * 100), "is damaged"),
        ("newer", changed(written, b'"runs.0001_initial"', b'"runs.0999_initial"'), "which is newer than this one"),
        ("elsewhere", changed(written, b'"mode":"embedded"', b'"mode":"distributed"'), "made in the distributed mode"),
        ("format", changed(written, b'"format":1', b'"format":2'), "in format 2; this version reads format 1"),
    ):
        odd = folder / name
        odd.write_bytes(content)
        expected.append((["restore", str(odd), "--replace"], why))
    expected.append((["restore", str(folder / "absent")], "cannot be read"))
    expected.append((["backup", str(target)], "is there already"))
    ended = one_by_one(environment, [words for words, _ in expected])
    for (words, why), (code, said) in zip(expected, ended, strict=True):
        assert (code, why in said) == (1, True), (words, said)
        assert "Traceback" not in said


def changed(archive: bytes, old: bytes, new: bytes) -> bytes:
    """With another manifest: longer by what the padding of its block has room for."""
    assert archive.count(old) == 1
    made = archive.replace(old, new, 1)
    if more := len(new) - len(old):
        header = bytearray(archive[:512])
        size = int(header[124:135], 8)
        end = 512 + size
        assert size % 512 + more < 512
        made = archive[:512] + archive[512:end].replace(old, new, 1) + archive[end + more :]
        header[124:135] = b"%011o" % (size + more)
        header[148:156] = b" " * 8
        header[148:156] = b"%06o\0 " % sum(header)
        made = bytes(header) + made[512:]
    return made


@pytest.fixture
def services(migrated_services: Services) -> Services:
    return migrated_services


@pytest.fixture
def start(services: Services, tmp_path: Path) -> Iterator[Callable[..., Process]]:
    started: list[Process] = []

    def begin(name: str, environment: dict[str, str], *command: str) -> Process:
        started.append(Process(name, [*command], environment, tmp_path / f"{name}.log"))
        return started[-1]

    yield begin
    for process in started:
        process.signal(signal.SIGCONT)
        process.stop()


@pytest.mark.services
def test_distributed_a_worker_of_the_replaced_database_writes_nothing_into_the_restored_one(
    services: Services, tmp_path: Path, start: Callable[..., Any]
) -> None:
    """It was frozen with the lease that the backup holds, too, and comes back to another history of its run."""
    port, target = free_port(), tmp_path / "saved.backup"
    environment = bare_environment() | {
        "PLAYGROUND_DATA": str(tmp_path),
        "PORT": str(port),
        "DATABASE_URL": services.database_url,
        "REDIS_URL": services.redis_url,
    }
    start("web", environment, *MANAGE, "web")
    worker = start("worker", environment, sys.executable, "-m", "celery", "-A", "schedweb", "worker", "-l", "INFO")
    site = Site(f"http://127.0.0.1:{port}")
    eventually("the site answers", lambda: True if answers(site) else None)
    site.open_link(site.origin + services.login)
    run = playing_run(site)
    accepted = backed_up_while_people_work(site, run, environment, target)
    saved = site.get(f"/api/v1/runs/{run}/")["attempts"]
    site.run_until(run, "it plays on", lambda seen: seen["attempts"] > saved + 5)

    worker.signal(signal.SIGSTOP)
    epoch = epoch_of(services, run)
    ended = manage(environment, "restore", str(target))
    assert (ended.returncode, "The database is not empty" in ended.stderr) == (1, True), ended
    managed(environment, "restore", str(target), "--replace")
    assert epoch_of(services, run) > epoch
    worker.signal(signal.SIGCONT)
    eventually(
        "the worker knows that the lease is lost",
        lambda: True if "lease is lost" in worker.output() or "has another holder" in worker.output() else None,
    )
    the_run_went_on(site, run, accepted)


def answers(site: Site) -> bool:
    try:
        return site.ask("GET", "/livez").status == 200
    except OSError:
        return False


def epoch_of(services: Services, run: str) -> int:
    with psycopg.connect(services.database_url) as database:
        found = database.execute("SELECT epoch FROM runs_run WHERE id = %s", [run]).fetchone()
    assert found is not None
    epoch: int = found[0]
    return epoch


@pytest.mark.parametrize("fixture", [RELEASES / "engine-2.sqlite3.zst"], ids=["engine-2"])
def test_a_backup_of_an_older_database_is_brought_up_to_date(fixture: Path, tmp_path: Path) -> None:
    old, new, target = tmp_path / "old", tmp_path / "new", tmp_path / "saved.backup"
    old.mkdir()
    unpacked(fixture, old)
    managed(bare_environment() | {"PLAYGROUND_DATA": str(old)}, "backup", str(target))
    environment = bare_environment() | {"PLAYGROUND_DATA": str(new)}
    assert "3 runs" in managed(environment, "restore", str(target))
    managed(environment, "migrate", "--check")
