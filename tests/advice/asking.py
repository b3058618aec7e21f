"""A cluster is played to its end, it is asked what would help a pod, and a remedy is tried on another play of it."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from framework.advice import Help, Operation, Remedy, what_would_help
from framework.objects import Pod
from schedweb.engine import commands
from schedweb.engine.played_on import PlayedOn
from schedweb.engine.player import Player
from tests.schedweb.engine.worlds import DEFAULT, Manifest, Table, play, player


def played(manifests: list[Manifest], configuration: str = DEFAULT) -> Player:
    game = player(manifests, configuration=configuration)
    play(game)
    return game


def helped(game: Player, name: str) -> Help:
    """About the only pod of this name."""
    return what_would_help(game.scheduler, pod_of(game, name), PlayedOn(game, seconds=600, seconds_each=600))


def pod_of(game: Player, name: str) -> Pod:
    (found,) = (pod for pod in game.world.cluster.list(Pod) if pod.metadata.name == name)
    return found


def tried(manifests: list[Manifest], remedy: Remedy, configuration: str = DEFAULT) -> Player:
    """What a fork shows: played again from the beginning, changed by commands as the web sends them, played on."""
    return changed(played(manifests, configuration), remedy.operations)


def changed(game: Player, operations: Iterable[Operation]) -> Player:
    """``game`` itself, played on after these."""
    done(game, operations)
    play(game)
    return game


def done(game: Player, operations: Iterable[Operation]) -> Player:
    """``game`` itself after these."""
    table = Table(game)
    for each in operations:
        sent = msgspec.json.decode(msgspec.json.encode(each), type=Operation)
        table.order(commands.command_from(commands.of_operation(sent.verb, sent.manifest)))
    return game


def places_of(game: Player) -> dict[str, str]:
    """``namespace/name`` → node, or "" while it is pending."""
    return {pod.key: pod.spec.node_name for pod in game.world.cluster.list(Pod)}


def texts(found: Help) -> list[str]:
    return [str(remedy.text) for remedy in found.remedies]


def of_kind(found: Help, kind: str) -> Remedy:
    (first, *_) = (remedy for remedy in found.remedies if remedy.kind == kind)
    return first
