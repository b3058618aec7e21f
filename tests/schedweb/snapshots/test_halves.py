"""A file that two processes read, each one half, gives what one process gives; and what goes wrong is told."""

from __future__ import annotations

import json
import os
import signal
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from framework.reading.documents import Fields, FileRefused
from schedweb.engine.payload import decode_manifests
from schedweb.snapshots import halves
from schedweb.snapshots.manifests import read_items
from schedweb.snapshots.reader import Request, answer, read_file
from schedweb.snapshots.reading import Reading
from tests.schedweb.snapshots.events import make_event
from tests.schedweb.snapshots.files import EXPORT_JSON, make_node, make_pod, told, unpacked

pytestmark = pytest.mark.skipif(not halves.can_fork(), reason="one process reads here")


@pytest.fixture
def in_halves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(halves, "LARGE", 1)


def listed(path: Path, *manifests: dict[str, Any]) -> Path:
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": manifests}))
    return path


def files_of(upload: Path, folder: Path) -> tuple[Any, dict[str, bytes]]:
    folder.mkdir()
    target, index, events = (folder / name for name in ("cluster", "index", "events"))
    said = answer(Request(task="read", source=str(upload), target=str(target), index=str(index), events=str(events)))
    said.seconds = 0
    return said, {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def replica(name: str, node: str, token: str) -> dict[str, Any]:
    pod = make_pod(name, "shop", node=node, labels={"app": "web"})
    pod["spec"]["volumes"] = [{"name": f"kube-api-access-{token}", "projected": {}}]
    pod["status"] = {"phase": "Running", "startTime": f"2026-01-01T00:00:0{len(name)}Z"}
    return pod


def test_two_processes_read_what_one_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mixed = [
        make_node("n1"),
        replica("a", "n1", "aaaaa"),
        make_pod("other", "shop", cpu="2"),
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "shop"}},
        {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"},
        replica("bb", "n2", "bbbbb"),
        make_node("n2"),
        make_pod("third", "data", cpu="3"),
        make_event("shop/a", "Scheduled", "by whom"),
        make_event("shop/bb", "Killing", "nobody's"),
        replica("ccc", "n3", "ccccc"),
    ]
    taken: list[int] = []
    add_part = Reading.add_part

    def counted(reading: Reading, part: bytes) -> None:
        taken.append(len(part))
        add_part(reading, part)

    monkeypatch.setattr(Reading, "add_part", counted)
    for number, upload in enumerate((listed(tmp_path / "mixed", *mixed), unpacked(EXPORT_JSON, tmp_path))):
        monkeypatch.setattr(halves, "LARGE", 10**9)
        alone = files_of(upload, tmp_path / f"one-{number}")
        monkeypatch.setattr(halves, "LARGE", 1)
        assert files_of(upload, tmp_path / f"two-{number}") == alone
        assert (len(taken), alone[0].error) == (number + 1, "")


@pytest.mark.usefixtures("in_halves")
@pytest.mark.parametrize(
    ("second", "words"),
    [
        ([make_pod("web-1", "shop", cpu="-1")], "Pod shop/web-1: spec.containers[0].resources.requests"),
        ([make_pod("a", "shop")], "Pod shop/a is there twice."),
        ([make_node("n1")], "Node n1 is there twice."),
        ([{"kind": "KubeSchedulerConfiguration"}], "There are two KubeSchedulerConfiguration objects."),
        ([{"apiVersion": "v1", "kind": "List", "items": [5]}], "found a number"),
    ],
)
def test_what_is_wrong_in_the_second_half_is_said(tmp_path: Path, second: list[dict[str, Any]], words: str) -> None:
    first = [make_node("n1"), make_pod("a", "shop"), {"kind": "KubeSchedulerConfiguration"}]
    path = listed(tmp_path / "f", *first, make_node("n2"), make_node("n3"), *second)
    assert words in told(read_file(path))


@pytest.mark.usefixtures("in_halves")
@pytest.mark.parametrize(
    ("once", "twice", "field"),
    [
        ('"first"', '"first", "uid": "u", "uid": "u"', "items[1].metadata.uid"),
        ('"last"', '"last", "uid": "u", "uid": "u"', "items[8].metadata.uid"),
        ('"metadata": {}', '"apiVersion": "v9"', "apiVersion"),
        ('"metadata": {}', '"items": []', "items"),
        ('"metadata": {}', '"metadata": {}, "metadata": {}', "metadata"),
    ],
)
def test_a_key_that_stands_twice_is_told_with_its_place_in_the_whole_file(
    tmp_path: Path, once: str, twice: str, field: str
) -> None:
    names = ["a", "first", *"bcdefg", "last"]
    items = ",\n".join(json.dumps(make_pod(name, "x")) for name in names)
    text = f'{{"apiVersion": "v1", "kind": "List", "items": [{items}],\n"metadata": {{}}}}'
    path = tmp_path / "f"
    path.write_text(text)
    cut = halves.cut_of(path)
    assert cut is not None
    assert cut.first()
    assert cut.second()
    path.write_text(text.replace(once, twice))
    cut = halves.cut_of(path)
    assert cut is not None
    assert cut.first() is None or cut.second() is None
    with pytest.raises(FileRefused, match="is already set in map") as refused:
        read_file(path)
    assert f'duplicate field "{field}"' in str(refused.value.words)
    [line] = [number for number, each in enumerate(path.read_text().splitlines(), 1) if twice in each]
    assert refused.value.line == line


@pytest.mark.usefixtures("in_halves")
def test_mistakes_are_said_in_the_order_of_the_file(tmp_path: Path) -> None:
    cluster = read_file(listed(tmp_path / "f", make_pod("early", "x", cpu="-1"), make_pod("late", "x", cpu="-1")))
    assert [problem.name for problem in cluster.problems] == ["early", "late"]


@pytest.mark.usefixtures("in_halves")
def test_a_second_process_that_runs_out_of_memory_or_is_killed_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = listed(tmp_path / "f", *(make_node(f"n{number}") for number in range(4)))
    mine = os.getpid()

    def too_much(_: Reading) -> bytes:
        raise MemoryError

    monkeypatch.setattr(Reading, "part", too_much)
    said = answer(Request(task="read", source=str(path), target=str(tmp_path / "c"), index=str(tmp_path / "i")))
    assert str(said.error) == "The file unfolds to more than memory holds."

    def killed(_: Reading) -> bytes:
        assert os.getpid() != mine
        os.kill(os.getpid(), signal.SIGKILL)
        return b""

    monkeypatch.setattr(Reading, "part", killed)
    with pytest.raises(halves.SecondEnded, match="-9"):
        read_file(path)


@pytest.mark.usefixtures("in_halves")
def test_the_order_of_the_file_is_kept(tmp_path: Path) -> None:
    names = [f"p{number}" for number in range(9)]
    cluster = read_file(listed(tmp_path / "f", *(make_pod(name, "x") for name in names)))
    assert [each["metadata"]["name"] for each in decode_manifests(cluster.payload())] == [*names, "x"]


# --- the cut ----------------------------------------------------------------------------------------------------------

BETWEEN = '}, {"apiVersion": "v1", "kind": "Pod", "metadata": {'
NESTED = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "inner"}}
DOCUMENTS = (
    '{"apiVersion": "v1", "items": [%s], "kind": "List", "metadata": {"resourceVersion": ""}}',
    '{"kind": "List", "items": [%s]}\n',
    '{"kind": "List", "metadata": {"x": "]"}, "items": [%s], "apiVersion": "v1"}',
    '{"kind": "List", "items": [%s], "metadata": {"x": ["]"]}}',
    '{"kind": "List", "items": [%s], "metadata": {"x": "]"}}',
    '{"kind": "List", "items": [%s], "items": [%s]}',
    '{"kind": "List", "items": [%s], "other": [%s]}',
    '{"kind": "List", "other": [%s], "items": [%s]}',
    '{"kind": "List", "metadata": {"items": [%s]}, "items": [%s]}',
    '{"kind": "List", "items": [%s], "kind": "PodList"}',
    '{"kind": "PodList", "items": [%s]}',
    '{"kind": "List", "items": [[%s], %s]}',
    '{"kind": "List", "items": [%s]} []',
    '{"kind": "List", "items": [%s], "kind": null}',
    '[{"kind": "List", "items": [%s]}]',
)


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    """Lists as kubectl writes them, and what only looks like one."""
    metadata = st.fixed_dictionaries(
        {"name": st.sampled_from(["a", "é", BETWEEN, BETWEEN[:1], '"]}'])},
        optional={"annotations": st.just({"x": json.dumps({"items": [NESTED, NESTED]})})},
    )
    item = st.fixed_dictionaries(
        {"apiVersion": st.just("v1"), "kind": st.sampled_from(["Pod", "List", "Event"]), "metadata": metadata},
        optional={"items": st.just([NESTED, NESTED, NESTED]), "spec": st.just({"deep": [[NESTED, NESTED]]})},
    )
    form = draw(st.sampled_from(DOCUMENTS))
    style: dict[str, Any] = draw(st.sampled_from([{}, {"separators": (",", ":")}, {"indent": 4}]))
    style = {**style, "ensure_ascii": draw(st.booleans())}
    lists = [
        json.dumps(draw(st.lists(item, min_size=1, max_size=6)), **style).strip()[1:-1] for _ in range(form.count("%s"))
    ]
    text = ("\ufeff" if draw(st.integers(0, 9)) == 0 else "") + form % tuple(lists)
    encoded = text.encode()
    at = draw(st.integers(0, len(encoded)))
    broken = draw(st.integers(0, 9))
    if broken == 0:
        return encoded[:at]
    return encoded[:at] + b"\xff" + encoded[at:] if broken == 1 else encoded


# A loaded machine draws slowly now and then.
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(texts())
def test_a_cut_that_both_halves_bear_out_is_one(text: bytes) -> None:
    check_cut(text)


@pytest.mark.parametrize("form", DOCUMENTS)
@pytest.mark.parametrize("sizes", [(1, 9), (9, 1), (5, 5)])
def test_lists_beside_the_items_are_not_taken_for_them(form: str, sizes: tuple[int, int]) -> None:
    pods = [make_pod(f"p{number}", "x") for number in range(9)]
    lists = [json.dumps(pods[:size])[1:-1] for size in sizes[: form.count("%s")]]
    check_cut((form % tuple(lists)).encode())


def check_cut(text: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(halves, "LARGE", 1)
        path = Path(folder) / "f"
        path.write_bytes(text)
        cut = halves.cut_of(path) if text else None
        if cut is None:
            return
        first, second = cut.first(), cut.second()
        if first is None or second is None:
            return
        whole = read_items(path)
        assert whole is not None
        assert [plain(each) for each in (*first, *second)] == [plain(each) for each in whole]


def plain(item: Fields) -> dict[str, bytes]:
    return {name: bytes(text) for name, text in item.items()}


@pytest.mark.usefixtures("in_halves")
@pytest.mark.parametrize("style", [{}, {"separators": (",", ":")}, {"indent": 4}, {"indent": 4, "sort_keys": True}])
def test_what_kubectl_and_others_write_is_cut_in_its_middle(tmp_path: Path, style: dict[str, Any]) -> None:
    pods = [make_pod(f"p{number}", "x") for number in range(9)]
    path = tmp_path / "f"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": pods}, **style))
    cut = halves.cut_of(path)
    assert cut is not None
    first, second = cut.first(), cut.second()
    assert first is not None
    assert second is not None
    assert (len(first), len(second)) in ((4, 5), (5, 4))


def test_who_has_no_memory_for_its_half_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(halves, "LARGE", 1)

    def too_much(_: halves.Cut) -> None:
        raise MemoryError

    monkeypatch.setattr(halves.Cut, "second", too_much)
    with pytest.raises(MemoryError):
        read_file(listed(tmp_path / "f", *(make_node(f"n{number}") for number in range(4))))
