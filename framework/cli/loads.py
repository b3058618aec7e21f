"""``--load``: the load of nodes beside the objects of a cluster."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from framework.cli.errors import InputError
from framework.cli.manifests import read_bytes
from framework.objects import KubeObject, Node, Pod
from framework.objects.catalogue import LoadMetrics
from framework.objects.timestamps import SECOND
from framework.reading.documents import FileRefused
from framework.reading.load_series import LoadRefused, made_load
from framework.reading.loads import RESOURCES, ReadLoad, added, notes_about, read_load

_OF: Final = re.compile(r"(?P<resource>cpu|memory)=(?P<path>.+)", re.IGNORECASE)
_MADE: Final = re.compile(r"random:(?P<seed>\d+)")


def with_load(
    kept: Sequence[tuple[str, KubeObject]], given: Sequence[str], until: int, tell: Callable[[str], None]
) -> list[tuple[str, KubeObject]]:
    """In place of the load that the files hold. ``until``: nanoseconds, the end of a load that is made up.

    Raises InputError.
    """
    nodes = [obj for _, obj in kept if isinstance(obj, Node)]
    read: ReadLoad | None = None
    for each in given:
        if made := _MADE.fullmatch(each):
            pods = (obj for _, obj in kept if isinstance(obj, Pod))
            read = ReadLoad(made_load(nodes, pods, int(made["seed"]), until // SECOND))
            continue
        of = _OF.fullmatch(each)
        path, resource = (of["path"], RESOURCES[of["resource"].lower()]) if of else (each, "")
        try:
            read = added(read.metrics if read else None, read_load(read_bytes(path), nodes, resource))
        except (FileRefused, LoadRefused) as error:
            raise InputError(path, str(error)) from None
        for note in read.notes:
            tell(f"{path}: {note}")
    assert read is not None
    for note in notes_about(ReadLoad(read.metrics, read.unknown), nodes):
        tell(str(note))
    return [*(each for each in kept if not isinstance(each[1], LoadMetrics)), ("", read.metrics)]
