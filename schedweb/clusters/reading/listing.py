"""All objects of a kind, as they come: by a streaming list where the server has them, else in pages.

A streaming list is a watch that begins with what is there (``sendInitialEvents``): neither side ever holds all of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import msgspec

from framework.sentences import sentence
from schedweb.clusters.reading.access import Access
from schedweb.clusters.reading.kinds import Resource
from schedweb.clusters.reading.problems import ClusterProblem, refused

Fields = dict[str, msgspec.Raw]
PAGE: Final = 500
STREAMS: Final = (1, 27)
"""Kubernetes before this takes a streaming list for a watch without an end of its beginning."""
NOT_STREAMED: Final = ("not_streamed", "broken")
"""What a streaming list is answered with where there are none: 400 or 422 by old servers, 500 by new ones before an old
etcd. A list in pages is tried then, as client-go does after any error."""
_END: Final = "k8s.io/initial-events-end"


class Line(msgspec.Struct):
    """Of a watch."""

    type: str
    object: msgspec.Raw


class Metadata(msgspec.Struct):
    name: str = ""
    namespace: str = ""
    resourceVersion: str = ""
    creationTimestamp: str | None = None
    annotations: dict[str, str] | None = None


class Identified(msgspec.Struct):
    metadata: Metadata = msgspec.field(default_factory=Metadata)


class Page(NamedTuple):
    items: list[Fields]
    version: str
    """Of the list: from it a watch goes on."""


class _ListMetadata(msgspec.Struct):
    resourceVersion: str = ""
    following: str = msgspec.field(default="", name="continue")


class _Page(msgspec.Struct):
    metadata: _ListMetadata = msgspec.field(default_factory=_ListMetadata)
    items: list[Fields] | None = None


class _Error(msgspec.Struct):
    code: int = 500


LINES: Final = msgspec.json.Decoder(Line)
IDENTIFIED: Final = msgspec.json.Decoder(Identified)
FIELDS: Final = msgspec.json.Decoder(Fields)
_PAGES: Final = msgspec.json.Decoder(_Page)


def watch_query(resource_version: str | None, seconds: int, *, selector: str = "") -> dict[str, str]:
    """``resource_version`` None: what is there comes first (a streaming list)."""
    query = {"watch": "true", "allowWatchBookmarks": "true", "timeoutSeconds": str(seconds)}
    if resource_version is None:
        query |= {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
    else:
        query["resourceVersion"] = resource_version
    return {**query, "fieldSelector": selector} if selector else query


def lines_of(access: Access, response: Any) -> Iterator[bytes]:
    """Of a watch, without their ends. One that is cut off in its middle is left out: it will come again."""
    rest = b""
    for chunk in access.chunks(response):
        *whole, rest = (rest + chunk).split(b"\n")
        yield from filter(None, whole)


def is_end_of_list(line: Line) -> bool:
    """The bookmark behind what was there when a streaming list began."""
    if line.type != "BOOKMARK":
        return False
    return (IDENTIFIED.decode(line.object).metadata.annotations or {}).get(_END) == "true"


def error_in(access: Access, line: Line) -> ClusterProblem:
    """Of a line of the type ERROR, which comes with status 200."""
    return refused(access.server, msgspec.json.decode(line.object, type=_Error).code, bytes(line.object), {})


def pages(access: Access, resource: Resource, selector: str = "") -> Iterator[Page]:
    """Items come without the kind that the list has; it is given to them.

    Raises ClusterProblem; ``too_old`` when the list took longer than the server keeps versions.
    """
    query = {"limit": str(PAGE), **({"fieldSelector": selector} if selector else {})}
    named: Fields = {
        "apiVersion": msgspec.Raw(msgspec.json.encode(resource.version)),
        "kind": msgspec.Raw(msgspec.json.encode(resource.kind)),
    }
    following = ""
    while True:
        page = _PAGES.decode(access.read(resource.path, {**query, **({"continue": following} if following else {})}))
        yield Page([{**named, **item} for item in page.items or ()], page.metadata.resourceVersion)
        following = page.metadata.following
        if not following:
            return


def version_of(access: Access, resource: Resource) -> str:
    """What the server has reached, which is asked of its storage. Raises ClusterProblem."""
    return _PAGES.decode(access.read(resource.path, {"limit": "1"})).metadata.resourceVersion


def streamed(access: Access, resource: Resource, seconds: int) -> Iterator[list[Fields]]:
    """One by one, until all were sent. Raises ClusterProblem, also when the stream ends before."""
    response = access.get(resource.path, watch_query(None, seconds))
    for text in lines_of(access, response):
        line = LINES.decode(text)
        if line.type == "ERROR":
            raise error_in(access, line)
        if is_end_of_list(line):
            response.close()
            return
        if line.type == "ADDED":
            yield [FIELDS.decode(line.object)]
    raise _cut_short(access, resource)


def _cut_short(access: Access, resource: Resource) -> ClusterProblem:
    words = sentence(
        "The list of {kind} from {server} ended before it was whole.", kind=resource.plural, server=access.server
    )
    return ClusterProblem(words, "unreachable")
