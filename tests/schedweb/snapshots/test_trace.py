"""Traces as CSV files: shares of GPUs, times, and errors that name file and line."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from schedweb.accounts.models import AuditEntry
from schedweb.engine.payload import decode_payload
from schedweb.snapshots import trace
from schedweb.snapshots.models import Snapshot
from schedweb.snapshots.trace import GPU_SHARES, TraceError, read_trace

NODES = "sn,cpu_milli,memory_mib,gpu,model\nn0,32000,262144,0,\nn1,96000,393216,8,V100M32\n"
HEADER = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time"
PODS = (
    f"{HEADER}\na,12000,16384,1,460,,LS,Running,10,50,10\n"
    "b,6000,12288,2,1000,,BE,Running,50,60,50\nc,1,1,0,0,,LS,,0,,\n"
)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    nodes, pods = tmp_path / "nodes.csv", tmp_path / "pods.csv"
    nodes.write_text(NODES)
    pods.write_text(PODS)
    return nodes, pods


def test_gpus_become_shares_in_thousandths(files: tuple[Path, Path]) -> None:
    read = read_trace(*files, departures=False)
    assert [n["status"]["allocatable"].get(GPU_SHARES) for n in read.nodes] == [None, "8000"]
    requests = {
        e.manifest["metadata"]["name"]: e.manifest["spec"]["containers"][0]["resources"]["requests"].get(GPU_SHARES)
        for e in read.timeline
    }
    assert requests == {"c": None, "a": "460", "b": "2000"}


def test_what_leaves_at_an_instant_goes_before_what_comes(files: tuple[Path, Path]) -> None:
    read = read_trace(*files, departures=True)
    played = [(e.at // 10**9, "-" if e.delete else "+", e.manifest["metadata"]["name"]) for e in read.timeline]
    assert played == [(0, "+", "c"), (10, "+", "a"), (50, "-", "a"), (50, "+", "b"), (60, "-", "b")]


def test_a_pod_that_comes_and_goes_at_once_comes_first(files: tuple[Path, Path]) -> None:
    files[1].write_text(f"{HEADER}\na,1,1,0,0,,,,5,5,5\n")
    assert [e.delete for e in read_trace(*files, departures=True).timeline] == [False, True]


@pytest.mark.parametrize(
    ("pods", "words"),
    [
        ("name,cpu_milli\na,1\n", "pods.csv has no column memory_mib"),
        (f"{HEADER}\na,many,1,0,0,,,,5,5,5\n", "pods.csv, line 2: cpu_milli must be a number, not 'many'"),
        (f"{HEADER}\na,-1,1,0,0,,,,5,5,5\n", "pods.csv, line 2: cpu_milli is negative"),
        (f"{HEADER}\na,1,1,0,0,,,,5,4,5\n", "line 2: deletion_time 4 is before creation_time 5"),
        (f"{HEADER}\na,1,1\n", "line 2: not as many fields"),
    ],
)
def test_errors_name_file_and_line(files: tuple[Path, Path], pods: str, words: str) -> None:
    files[1].write_text(pods)
    with pytest.raises(TraceError) as refused:
        read_trace(*files, departures=True)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("bound", "most", "pods", "words"),
    [
        ("MOST_ROWS", 2, f"{HEADER}\n" + "a,1,1,0,0,,,,5,5,5\n" * 3, "pods.csv has more than 2 rows"),
        ("MOST_BYTES", 1024**2, f"{HEADER}\n" + "a,1,1,0,0,,,,5,5,5\n" * 100_000, "pods.csv is larger than 1 MiB"),
        ("MOST_COLUMNS", 100, f"{HEADER}{',a' * 100}\n", "pods.csv has 111 columns; 100 are the most"),
        ("LONGEST_LINE", 65536, f"{HEADER}\n{'a' * 70_000}\n", "pods.csv, line 2 has more than 65,536 characters"),
    ],
)
def test_a_trace_has_bounds(
    files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, bound: str, most: int, pods: str, words: str
) -> None:
    files[0].write_text("sn,cpu_milli,memory_mib,gpu,model\nn1,4000,8192,2,T4\n")
    monkeypatch.setattr(trace, bound, most)
    files[1].write_text(pods)
    with pytest.raises(TraceError) as refused:
        read_trace(*files, departures=True)
    assert words in str(refused.value)


@pytest.mark.django_db
def test_the_command_makes_a_snapshot(files: tuple[Path, Path]) -> None:
    call_command("import_trace", *map(str, files))
    snapshot = Snapshot.objects.get()
    assert (snapshot.source, snapshot.counts["arrivals"], snapshot.counts["departures"]) == ("trace", 3, 2)
    assert len(decode_payload(bytes(snapshot.payload)).timeline) == 5
    entry = AuditEntry.objects.get(action="snapshot.import")
    assert (entry.target_id, entry.details["file"], entry.via) == (str(snapshot.pk), files[1].name, "server")


@pytest.mark.django_db
def test_the_command_says_what_is_missing(files: tuple[Path, Path]) -> None:
    with pytest.raises(CommandError, match=r"absent\.csv"):
        call_command("import_trace", str(files[0]), "absent.csv")
    assert not Snapshot.objects.exists()
