"""GET, LIST and WATCH: paging, versions, selectors, streaming lists, bookmarks, 410.

The rules are those of kube-apiserver 1.36's watch cache (docs "API concepts" and ``storage/cacher``): what is asked
for by resourceVersion and resourceVersionMatch, and how each combination fails.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import bisect
import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import msgspec

from tests.apiserver import events, selectors, statuses
from tests.apiserver.kinds import NEW_EVENTS, Kind
from tests.apiserver.store import Change, Collection, Store, Stored, Watcher
from tests.apiserver.target import Target, is_true

INITIAL_END = "k8s.io/initial-events-end"
CHUNK = 1 << 16

Query = Mapping[str, str]


@dataclass
class Limits:
    """What a test may set: seconds a version of the future is waited for, seconds between bookmarks, features."""

    fresh_within: float = 3.0
    bookmark_every: float = 60.0
    streaming_lists: bool = True
    storage_progress: bool = True
    """Whether the storage can say how far it is, as streaming lists need: etcd before 3.4.25 and 3.5.8 cannot."""


def shown(kind: Kind, stored: Stored) -> bytes:
    """The object in the form of the version that was asked for."""
    if kind is NEW_EVENTS:
        return msgspec.json.encode(_reordered(kind, events.to_new(stored.decode())))
    return stored.raw


def _reordered(kind: Kind, body: dict[str, Any]) -> dict[str, Any]:
    return {"kind": kind.name, "apiVersion": kind.api_version} | body


class Filter:
    """Namespace, label selector and field selector of a list or watch."""

    def __init__(self, target: Target, query: Query, collection: Collection) -> None:
        self.kind = target.kind or collection.kind
        self.namespace = target.namespace
        self.selective = bool(query.get("labelSelector") or query.get("fieldSelector"))
        self._labels = selectors.labels_match(query.get("labelSelector", ""))
        self._terms = [
            (self._getter(field, query), equal, value)
            for field, equal, value in selectors.field_terms(query.get("fieldSelector", ""))
        ]

    def _getter(self, field: str, query: Query) -> Callable[[Stored], str]:
        if field == "metadata.name":
            return lambda stored: stored.name
        if field == "metadata.namespace" and self.kind.namespaced:
            return lambda stored: stored.namespace
        if field not in self.kind.fields:
            what = f"{self.kind.group}/{self.kind.version}, Resource={self.kind.plural}"
            raise statuses.bad_request(
                f'Unable to find "{what}" that match label selector "{query.get("labelSelector", "")}", '
                f'field selector "{query["fieldSelector"]}": field label not supported: {field}'
            )
        index = self.kind.fields.index(field)
        return lambda stored: stored.fields[index]

    def passes(self, stored: Stored | None) -> bool:
        if stored is None or (self.namespace and stored.namespace != self.namespace):
            return False
        if not self.selective:
            return True
        return self._labels(stored.labels) and all((get(stored) == value) is equal for get, equal, value in self._terms)


def read_version(query: Query) -> int | None:
    """The resourceVersion asked for; None where it is empty."""
    written = query.get("resourceVersion", "")
    if not written:
        return None
    if not written.isascii() or not written.isdigit():
        raise statuses.bad_request(f'resourceVersion: Invalid value: "{written}": strconv.ParseUint: parsing error')
    return int(written)


async def fresh(store: Store, wanted: int, limits: Limits) -> None:
    """Wait until that version is there; 504 where it does not come (versions that went back)."""
    deadline = asyncio.get_running_loop().time() + limits.fresh_within
    while store.version < wanted:
        if asyncio.get_running_loop().time() >= deadline:
            raise statuses.too_large_version(wanted, store.version)
        await asyncio.sleep(0.02)


# Lists


def continue_token(version: int, after: Stored) -> str:
    start = f"{after.namespace}/{after.name}\0" if after.namespace else f"{after.name}\0"
    written = json.dumps({"v": "meta.k8s.io/v1", "rv": version, "start": start}, separators=(",", ":"))
    return base64.urlsafe_b64encode(written.encode()).decode().rstrip("=")


def read_token(token: str) -> tuple[int, tuple[str, str]]:
    """The version and the last key of the page before; a version of -1 means "whatever is now"."""
    try:
        found = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
        namespace, _, name = found["start"].rstrip("\0").rpartition("/")
        return int(found["rv"]), (namespace, name)
    except (ValueError, KeyError, TypeError, binascii.Error) as error:
        raise statuses.bad_request(f"continue key is not valid: {error}") from error


@dataclass(frozen=True)
class Page:
    version: int
    items: list[Stored]
    following: str = ""
    remaining: int | None = None


def _check_list(query: Query) -> None:
    match = query.get("resourceVersionMatch", "")
    version = query.get("resourceVersion", "")
    if match and not version:
        raise statuses.invalid_options(
            "resourceVersionMatch", "resourceVersionMatch is forbidden unless resourceVersion is provided"
        )
    if match and query.get("continue"):
        raise statuses.invalid_options("resourceVersionMatch", "resourceVersionMatch is forbidden with continue")
    if match == "Exact" and version == "0":
        raise statuses.invalid_options(
            "resourceVersionMatch", 'resourceVersionMatch "Exact" is forbidden for resourceVersion "0"'
        )
    if query.get("sendInitialEvents"):
        raise statuses.invalid_options("sendInitialEvents", "sendInitialEvents is forbidden for list")


async def list_page(store: Store, target: Target, query: Query, limits: Limits) -> Page:
    _check_list(query)
    assert target.kind is not None
    collection = store.of(target.kind)
    wanted = Filter(target, query, collection)
    written = query.get("limit", "0")
    limit = int(written) if written.isdigit() else 0
    if token := query.get("continue"):
        return _continued(store, collection, wanted, token, limit)
    version = read_version(query)
    if version == 0:
        limit = 0  # answered from the cache, which does not page
    if version:
        await fresh(store, version, limits)
        match = query.get("resourceVersionMatch", "")
        if match == "Exact" or (not match and limit):
            return _cut(wanted, collection.state_at(version), version, limit)
    return _cut(wanted, collection.sorted(), store.version, limit)


def _continued(store: Store, collection: Collection, wanted: Filter, token: str, limit: int) -> Page:
    version, after = read_token(token)
    if version < 0:
        version, state = store.version, collection.sorted()
    else:
        try:
            state = collection.state_at(version)
        except statuses.ApiError as error:
            inconsistent = {"continue": _at_any_version(after)}
            raise statuses.expired(statuses.EXPIRED_CONTINUE, inconsistent) from error
    begin = bisect.bisect_right(state, after, key=lambda stored: (stored.namespace, stored.name))
    return _cut(wanted, state[begin:], version, limit)


def _at_any_version(after: tuple[str, str]) -> str:
    last = Stored(after[0], after[1], "", 0, b"", {}, ())
    return continue_token(-1, last)


def _cut(wanted: Filter, state: Iterable[Stored], version: int, limit: int) -> Page:
    matching = (stored for stored in state if wanted.passes(stored))
    if not limit:
        return Page(version, list(matching))
    items = list(islice(matching, limit))
    if next(matching, None) is not None:
        remaining = None if wanted.selective else 1 + sum(1 for _ in matching)
        return Page(version, items, continue_token(version, items[-1]), remaining)
    return Page(version, items)


def encode_list(kind: Kind, page: Page) -> bytes:
    """Items of a list do not repeat kind and apiVersion."""
    metadata: dict[str, Any] = {"resourceVersion": str(page.version)}
    if page.following:
        metadata["continue"] = page.following
    if page.remaining is not None:
        metadata["remainingItemCount"] = page.remaining
    head = b'{"kind":"%sList","apiVersion":"%s","metadata":%s,"items":[' % (
        kind.name.encode(),
        kind.api_version.encode(),
        msgspec.json.encode(metadata),
    )
    start = len(kind.prefix)
    items = b",".join([b"{" + shown(kind, stored)[start:] for stored in page.items])
    return head + items + b"]}"


# Watches


@dataclass(frozen=True)
class Start:
    """Where a watch begins: the state that is sent first (None: nothing), the position of the changes that follow."""

    initial: list[Stored] | None
    position: int
    version: int
    marks_end: bool


def _check_watch(query: Query, limits: Limits) -> bool:
    """Whether a streaming list is asked for; 422 for what does not go together."""
    match = query.get("resourceVersionMatch", "")
    if "sendInitialEvents" not in query:
        if match:
            raise statuses.invalid_options(
                "resourceVersionMatch",
                "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
            )
        return False
    if not limits.streaming_lists:
        raise statuses.invalid_options(
            "sendInitialEvents",
            "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled",
        )
    if match != "NotOlderThan":
        raise statuses.invalid_options(
            "resourceVersionMatch", "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
        )
    if not limits.storage_progress:
        raise statuses.no_progress()
    return is_true(query["sendInitialEvents"])


async def start_watch(store: Store, collection: Collection, query: Query, limits: Limits) -> Start:
    """Raises 422 before anything is sent; a version that is too old or too new is an event of the stream."""
    streaming = _check_watch(query, limits)
    version = read_version(query)
    if streaming:
        await fresh(store, version or 0, limits)
    now = store.version
    end = collection.dropped + len(collection.changes)
    if streaming:
        return Start(list(collection.sorted()), end, now, is_true(query.get("allowWatchBookmarks")))
    if "sendInitialEvents" in query and version is None:
        return Start(None, end, now, False)
    if version in (None, 0):
        return Start(list(collection.sorted()), end, now, False)
    assert version is not None
    if version < collection.complete_after:
        raise statuses.expired(f"too old resource version: {version} ({collection.complete_after})")
    return Start(None, collection.position_after(version), version, False)


def _line(kind: str, raw: bytes) -> bytes:
    return b'{"type":"%s","object":%s}\n' % (kind.encode(), raw)


def bookmark(kind: Kind, version: int, *, ends_initial: bool = False) -> bytes:
    metadata: dict[str, Any] = {"resourceVersion": str(version)}
    if ends_initial:
        metadata["annotations"] = {INITIAL_END: "true"}
    body = {"kind": kind.name, "apiVersion": kind.api_version, "metadata": metadata}
    return _line("BOOKMARK", msgspec.json.encode(body))


def event_of(wanted: Filter, change: Change) -> bytes | None:
    """A change as this watch sees it: what leaves its selector is DELETED, with the state it had before."""
    now, before = wanted.passes(change.new), wanted.passes(change.old)
    kind = wanted.kind
    if now:
        assert change.new is not None
        return _line("MODIFIED" if before else "ADDED", shown(kind, change.new))
    if not before:
        return None
    assert change.old is not None
    last = change.last or _reversioned(change.old, change.version)
    return _line("DELETED", shown(kind, last))


def _reversioned(stored: Stored, version: int) -> Stored:
    body = stored.decode()
    body["metadata"]["resourceVersion"] = str(version)
    return Stored(
        stored.namespace, stored.name, stored.uid, version, msgspec.json.encode(body), stored.labels, stored.fields
    )


class Watch:
    """One open watch: chunks of lines until its time is over, it is ended, or it is too slow to be told everything."""

    def __init__(self, store: Store, collection: Collection, wanted: Filter, query: Query, limits: Limits) -> None:
        self.store, self.collection, self.wanted, self.limits = store, collection, wanted, limits
        self.query = query
        self.bookmarks = is_true(query.get("allowWatchBookmarks"))
        self.watcher = Watcher()
        written = query.get("timeoutSeconds", "")
        self.seconds = float(written) if written.isdigit() and int(written) else 1800.0

    async def chunks(self) -> AsyncIterator[bytes]:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self.seconds
        try:
            start = await start_watch(self.store, self.collection, self.query, self.limits)
        except statuses.ApiError as error:
            if error.code == 422:
                raise
            yield msgspec.json.encode(statuses.as_event(error)) + b"\n"
            return
        self.collection.watchers.add(self.watcher)
        try:
            for chunk in self._initial(start):
                yield chunk
            async for chunk in self._following(start.position, deadline):
                yield chunk
        finally:
            self.collection.watchers.discard(self.watcher)

    def _initial(self, start: Start) -> Iterable[bytes]:
        """At least one chunk, so that the answer's head is sent at once."""
        pending = bytearray()
        for stored in start.initial or ():
            if self.wanted.passes(stored):
                pending += _line("ADDED", shown(self.wanted.kind, stored))
                if len(pending) > CHUNK:
                    yield bytes(pending)
                    pending.clear()
        if start.marks_end:
            pending += bookmark(self.wanted.kind, start.version, ends_initial=True)
        yield bytes(pending)

    async def _following(self, position: int, deadline: float) -> AsyncIterator[bytes]:
        loop = asyncio.get_running_loop()
        watcher = self.watcher
        next_bookmark = loop.time() + self.limits.bookmark_every
        while not watcher.ended and not watcher.cut:
            changes = self.collection.since(position)
            if changes is None:
                return  # too slow: upstream closes such a watch
            position += len(changes)
            chunk = b"".join(line for change in changes if (line := event_of(self.wanted, change)))
            over = loop.time() >= deadline
            if self.bookmarks and (watcher.bookmark or over or loop.time() >= next_bookmark):
                chunk += bookmark(self.wanted.kind, self.store.version)
                watcher.bookmark = False
                next_bookmark = loop.time() + self.limits.bookmark_every
            if chunk:
                yield chunk
            if over:
                return
            if position == self.collection.dropped + len(self.collection.changes):
                await self._sleep(min(deadline, next_bookmark) - loop.time())
            watcher.wake.clear()

    async def _sleep(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(max(seconds, 0)):
                await self.watcher.wake.wait()
        except TimeoutError:
            return
