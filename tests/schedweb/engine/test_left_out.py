"""Objects of a real cluster that the engine's own code cannot take: left out before anything is changed."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from framework.interface import node_info
from framework.objects import Node, Pod
from framework.objects.decode import decode_manifest
from framework.objects.resources import node_allocatable, placed_figures
from schedweb.engine import observed
from schedweb.engine.frames import Seen
from schedweb.engine.sums import Sums
from tests.schedweb.engine.test_own_world import World
from tests.schedweb.engine.test_restored import ANSWERED, Desk, bound_desk
from tests.schedweb.engine.worlds import Manifest, node, places, pod

POISON = "1313m"


@pytest.fixture(autouse=True)
def _raises(monkeypatch: pytest.MonkeyPatch) -> None:
    """What counts a pod's requests, and a node's room, has a mistake for one amount."""
    of_pods, of_nodes = placed_figures, node_allocatable

    def figures(found: Pod) -> Any:
        if any(str((each.resources.requests or {}).get("cpu")) == POISON for each in found.spec.containers):
            raise ZeroDivisionError("13 was never tried")
        return of_pods(found)

    def allocatable(found: Node) -> Any:
        if str((found.status.allocatable or {}).get("cpu")) == POISON:
            raise ZeroDivisionError("13 was never tried")
        return of_nodes(found)

    monkeypatch.setattr(node_info, "placed_figures", figures)
    monkeypatch.setattr(node_info, "node_allocatable", allocatable)


def seen(what: Any, made: Manifest, version: str) -> Seen:
    made["metadata"] |= {"uid": f"uid-{made['metadata']['name']}", "resourceVersion": version}
    return Seen(what, msgspec.json.encode(made))


def lines(desk: Desk) -> list[str]:
    return [text for each in desk.game.projection.feed.take(desk.game.now) if "left out" in (text := str(each.item))]


def is_whole(desk: Desk) -> None:
    """Cluster, cache and projection are of one mind."""
    Sums(desk.game)._compare_projection(*Sums(desk.game)._of_cluster())
    Sums(desk.game)._compare_cache(*Sums(desk.game)._of_cluster())


def test_the_run_goes_on_without_an_object_that_it_cannot_take_and_says_so_once() -> None:
    desk = Desk(node("a"))
    found = desk.told(
        seen("added", pod("before"), "10"), seen("added", pod("bad", POISON), "11"), seen("added", pod("after"), "12")
    )
    assert [each["manifest"]["metadata"]["name"] for each in found] == ["before", "after"]
    assert {row.write.about.name for row in desk.written("bind")} == {"before", "after"}
    (line,) = lines(desk)
    assert "Pod shop/bad" in line
    assert "ZeroDivisionError" in line
    assert "13 was never tried" in line
    is_whole(desk)
    desk.told(seen("modified", pod("bad", POISON), "11"))
    assert lines(desk) == [], "it was said"
    desk.told(seen("modified", pod("bad", POISON), "13"))
    assert len(lines(desk)) == 1
    assert desk.told(seen("deleted", pod("bad", POISON), "14")) == []
    desk.is_replayed()


def test_a_better_version_of_it_is_taken() -> None:
    desk = Desk(node("a"))
    assert desk.told(seen("added", pod("bad", POISON), "11")) == []
    assert len(desk.told(seen("modified", pod("bad"), "12"))) == 1
    assert "bad" in places(desk.game)


def test_what_was_known_of_it_stays_until_it_goes() -> None:
    desk = Desk(node("a"))
    assert desk.told(seen("modified", node("a", POISON), "20")) == []
    assert "Node a" in lines(desk)[0]
    kind = msgspec.json.encode({"apiVersion": "v1", "kind": "Node"})
    whole = Seen("whole", kind)
    assert desk.told(Seen("list", kind, ANSWERED), seen("listed", node("a", POISON), "20"), whole) == []
    assert desk.live.get(Node, "", "a") is not None, "a list has it, so it is not gone"
    (gone,) = desk.told(seen("deleted", node("a", POISON), "21"))
    assert gone["verb"] == "deleted"
    assert desk.live.get(Node, "", "a") is None
    is_whole(desk)
    desk.is_replayed()


def test_a_shadow_on_its_own_leaves_it_out_as_well() -> None:
    world = World(node("a"))
    found = world.told(("added", pod("before")), ("added", pod("bad", POISON)), ("added", pod("after")))
    assert [each.manifest["metadata"]["name"] for each in found] == ["before", "after"]
    assert world.told(("deleted", pod("bad", POISON))) == []
    assert set(places(world.game)) == {"before", "after"}


def test_one_that_cannot_even_be_decoded_is_known_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(node("a"), node("b"))
    decode = decode_manifest

    def raises(manifest: Manifest) -> Any:
        if manifest["metadata"]["name"] == "a":
            raise RecursionError("too deep")
        return decode(manifest)

    monkeypatch.setattr(observed, "decode_manifest", raises)
    kind = msgspec.json.encode({"apiVersion": "v1", "kind": "Node"})
    listed = [Seen("list", kind, ANSWERED), seen("listed", node("a"), "20"), Seen("whole", kind)]
    (gone,) = desk.told(*listed)
    assert (gone["verb"], gone["manifest"]["metadata"]["name"]) == ("deleted", "b")
    assert desk.live.get(Node, "", "a") is not None
    (line,) = lines(desk)
    assert "Node a" in line
    assert "RecursionError" in line


def test_a_list_that_takes_a_binding_back_is_heard_of_others_all_the_same() -> None:
    desk, new = bound_desk()
    new["spec"]["containers"][0]["resources"]["requests"]["cpu"] = POISON
    assert desk.lists(ANSWERED + 1, new) == []
    assert places(desk.game) == {"new": "bound"}
    is_whole(desk)
