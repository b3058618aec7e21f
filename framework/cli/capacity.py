"""``capacity``: how many more of a pod fit, or how many nodes of a shape until every pending pod has one."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TextIO, TypeVar

import msgspec

from framework.advice import Capacity, NodesNeeded, how_many_fit, nodes_until_all_fit
from framework.cli.clusters import ClusterRequest, admitted_from, read_cluster
from framework.cli.errors import InputError
from framework.cli.manifests import read_objects
from framework.objects import KubernetesObject, Node, Pod
from framework.scheduler import Observer, Scheduler

NONE_OR_SOME_LEFT: Final = 1
WIDTH: Final = 120

O = TypeVar("O", bound=KubernetesObject)  # noqa: E741


@dataclass(frozen=True, slots=True)
class Request:
    """``pod`` and ``node``: a manifest file, or the name of one in the cluster. Exactly one of them is given."""

    cluster: ClusterRequest
    pod: str | None = None
    node: str | None = None
    limit: int | None = None
    json: bool = False


def run(asked: Request, output: TextIO) -> int:
    """0; 1 when no more pod fits, or a pod stays pending however many nodes are added."""
    scheduler = read_cluster(asked.cluster, Observer()).scheduler
    limits = {} if asked.limit is None else {"limit": asked.limit}
    if asked.pod is not None:
        try:
            capacity = how_many_fit(scheduler, _pod(asked.pod, scheduler), **limits)
        except ValueError as error:
            raise InputError(asked.pod, str(error)) from error
        _show(output, asked.json, capacity, _pods_in_words(capacity))
        return 0 if capacity.fits else NONE_OR_SOME_LEFT
    assert asked.node is not None
    needed = nodes_until_all_fit(scheduler, _node(asked.node, scheduler), **limits)
    _show(output, asked.json, needed, _nodes_in_words(needed))
    return NONE_OR_SOME_LEFT if needed.never else 0


def _show(output: TextIO, as_json: bool, answer: msgspec.Struct, words: Iterable[str]) -> None:
    output.write(msgspec.json.encode(answer).decode() + "\n" if as_json else "".join(f"{line}\n" for line in words))


def _pod(given: str, scheduler: Scheduler) -> Pod:
    namespace, _, name = given.rpartition("/")
    found = scheduler.cluster.get(Pod, namespace or "default", name)
    return found or _from_file(given, Pod, scheduler, "pod")


def _node(given: str, scheduler: Scheduler) -> Node:
    return scheduler.cluster.get(Node, "", given) or _from_file(given, Node, scheduler, "node")


def _from_file(given: str, kind: type[O], scheduler: Scheduler, what: str) -> O:
    if not Path(given).exists():
        raise InputError(given, f"neither a {what} of the cluster nor a file")
    objects = [obj for obj in read_objects(given) if isinstance(obj, kind)]
    if len(objects) != 1:
        raise InputError(given, f"holds {len(objects)} {what}s, and one is asked about")
    admitted = admitted_from(given, objects[0], scheduler.cluster)
    assert isinstance(admitted, kind)
    return admitted


def _pods_in_words(capacity: Capacity) -> list[str]:
    more = f"at least {capacity.fits:,}" if capacity.at_limit else f"{capacity.fits:,}"
    lines = [f"{more} more like {capacity.pod} {'fits' if more == '1' else 'fit'}."]
    if capacity.message:
        lines += textwrap.wrap(f"The next: {capacity.message}", WIDTH, break_on_hyphens=False)
    rows = [("NODE", "FITS", "THEN")]
    rows += [(each.node, f"{each.fits:,}", _stop(each.plugin, each.reasons)) for each in capacity.nodes if each.fits]
    if len(rows) > 1:
        lines += ["", *_table(rows)]
    empty = Counter(_stop(each.plugin, each.reasons) for each in capacity.nodes if not each.fits)
    if empty:
        lines += ["", "None on:"]
        lines += [
            f"  {number:,} {'node' if number == 1 else 'nodes'}: {stop or 'enough was found before'}"
            for stop, number in empty.most_common()
        ]
    return lines


def _stop(plugin: str, reasons: Sequence[str]) -> str:
    text = ", ".join(reasons)
    return f"{text} ({plugin})" if plugin else text


def _table(rows: Sequence[tuple[str, str, str]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(2)]
    return [f"{node:<{widths[0]}}  {fits:>{widths[1]}}  {stop}".rstrip() for node, fits, stop in rows]


def _nodes_in_words(needed: NodesNeeded) -> list[str]:
    lines = []
    if needed.nodes:
        nodes = f"{needed.nodes:,} more {'node' if needed.nodes == 1 else 'nodes'} like {needed.shape}"
        pods = f"{needed.helped:,} pending {'pod' if needed.helped == 1 else 'pods'}"
        lines.append(f"{nodes} for {pods}; with {needed.nodes - 1:,}, {needed.with_one_less:,} would be left.")
    elif not needed.never:
        lines.append("Every pending pod has room already.")
    if needed.never:
        count = f"{len(needed.never):,} {'pod stays' if len(needed.never) == 1 else 'pods stay'}"
        lines.append(f"{count} pending even with {needed.limit:,} of them:")
        alike: dict[str, list[str]] = {}
        for stuck in needed.never:
            alike.setdefault(stuck.message, []).append(stuck.pod)
        for message, names in alike.items():
            more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
            text = f"  {names[0]}{more}: {message}"
            lines += textwrap.wrap(text, WIDTH, subsequent_indent="    ", break_on_hyphens=False)
    return lines
