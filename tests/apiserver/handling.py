"""One request from its arrival to its answer: who asks, faults, rights, the handler."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import ssl
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import msgspec
from aiohttp import web

from tests.apiserver import access, reading, statuses, writing
from tests.apiserver.access import Access, User
from tests.apiserver.discovery import VERSION, document
from tests.apiserver.faults import Fault, Faults
from tests.apiserver.kinds import Json, Kind
from tests.apiserver.log import Request, RequestLog
from tests.apiserver.reading import Filter, Limits, Watch
from tests.apiserver.store import Store, Watcher
from tests.apiserver.target import Target, read_target

BODY_LIMIT = 3 << 20
"""Bytes; kube-apiserver's own limit for a request."""
GZIP_FROM = 128 << 10

REVIEWS = tuple(
    Kind(group, "v1", plural, kind, namespaced=False)
    for group, plural, kind in (
        ("authorization.k8s.io", "selfsubjectaccessreviews", "SelfSubjectAccessReview"),
        ("authorization.k8s.io", "selfsubjectrulesreviews", "SelfSubjectRulesReview"),
        ("authentication.k8s.io", "selfsubjectreviews", "SelfSubjectReview"),
    )
)


@dataclass
class Handling:
    """The state that all requests of a server share; used by its loop only."""

    store: Store
    access: Access = field(default_factory=Access)
    faults: Faults = field(default_factory=Faults)
    requests: RequestLog = field(default_factory=RequestLog)
    limits: Limits = field(default_factory=Limits)
    version: Json = field(default_factory=lambda: dict(VERSION))
    clock_offset: timedelta = timedelta(0)
    """How far its clock is off: times that it writes, and the Date of its answers."""
    forbidden_until: float = 0.0
    """The loop's time until which nobody has rights: RBAC is not loaded yet after a start."""
    running: asyncio.Event = field(default_factory=asyncio.Event)
    watchers: set[Watcher] = field(default_factory=set)
    _numbers: int = 0

    async def handle(self, incoming: web.Request) -> web.StreamResponse:
        await self.running.wait()
        request = await self._log(incoming)
        try:
            response = await self._answer(incoming, request)
        except statuses.ApiError as error:
            response = _of_error(error)
        except ConnectionError:
            request.dropped = True
            raise
        if self.clock_offset and not response.prepared:
            response.headers["Date"] = format_datetime(self.now(), usegmt=True)
        self.requests.answered(request, response.status)
        return response

    def now(self) -> datetime:
        return datetime.now(UTC) + self.clock_offset

    async def _log(self, incoming: web.Request) -> Request:
        self._numbers += 1
        raw = await incoming.read()
        body: Any = raw or None
        with contextlib.suppress(msgspec.DecodeError):
            body = msgspec.json.decode(raw) if raw else None
        query = dict(incoming.query.items())
        kinds = self.store.kinds | {kind.key: kind for kind in REVIEWS}
        request = Request(
            number=self._numbers,
            at=self.now(),
            method=incoming.method,
            target=read_target(incoming.method, incoming.path, query, kinds),
            query=query,
            body=body,
            content_type=incoming.headers.get("Content-Type", ""),
            user_agent=incoming.headers.get("User-Agent", ""),
        )
        self.requests.add(request)
        return request

    async def _answer(self, incoming: web.Request, request: Request) -> web.StreamResponse:
        user = self.access.authenticate(incoming.headers.get("Authorization"), _certificate(incoming))
        request.user = user.name
        met = self.faults.met_by(request)
        for fault in met:
            await fault.wait()
            if fault.broken_off:
                return _broken(incoming, request, web.Response())
            if fault.error is not None:
                raise fault.error
            if fault.forbids:
                raise access.forbidden(user, request.target)
        self._check_rights(user, request.target)
        if request.verb == "watch" and request.target.kind is not None:
            return await self._watch(incoming, request, met)
        response = await self._handler(user, request)
        if any(fault.drops for fault in met):
            return _broken(incoming, request, response)
        if any(fault.cuts for fault in met):
            return await _cut(incoming, request, response)
        return _compressed(incoming, response)

    def _check_rights(self, user: User, target: Target) -> None:
        if asyncio.get_running_loop().time() < self.forbidden_until and access.MASTERS not in user.groups:
            raise access.forbidden(user, target)
        self.access.check(user, target)

    async def _handler(self, user: User, request: Request) -> web.Response:
        target = request.target
        if target.kind is None:
            return self._document(request)
        if target.kind in REVIEWS:
            return _json(self._review(user, request), 201)
        if request.verb == "list":
            page = await reading.list_page(self.store, target, request.query, self.limits)
            return _json(reading.encode_list(target.kind, page), 200)
        if request.verb == "get" and target.subresource in ("", "status"):
            stored = self.store.get(target.kind, target.namespace, target.name)
            return _json(reading.shown(target.kind, stored), 200)
        group = target.kind.group
        code, body = writing.write(
            self.store,
            request,
            self.now(),
            lambda verb, resource: self.access.why_not(user, verb=verb, group=group, resource=resource),
        )
        return _json(body, code)

    def _document(self, request: Request) -> web.Response:
        found = document(request.path, self.store.kinds, self.version) if request.method == "GET" else None
        if found is None:
            raise statuses.unknown_path()
        return web.Response(text=found) if isinstance(found, str) else _json(msgspec.json.encode(found), 200)

    def _review(self, user: User, request: Request) -> bytes:
        if request.verb != "create" or not isinstance(request.body, dict):
            raise statuses.not_allowed()
        if request.resource == "selfsubjectaccessreviews":
            return msgspec.json.encode(access.review_access(self.access, user, request.body))
        if request.resource == "selfsubjectrulesreviews":
            return msgspec.json.encode(access.review_rules(self.access, user, request.body))
        return msgspec.json.encode(access.review_self(user))

    async def _watch(self, incoming: web.Request, request: Request, met: list[Fault]) -> web.StreamResponse:
        """A fault that drops or cuts the answer does so once the watch has begun."""
        kind = request.target.kind
        assert kind is not None
        collection = self.store.of(kind)
        watch = Watch(
            self.store, collection, Filter(request.target, request.query, collection), request.query, self.limits
        )
        response = web.StreamResponse(
            headers={"Content-Type": "application/json", "Cache-Control": "no-cache, private"}
        )
        response.enable_chunked_encoding()
        self.watchers.add(watch.watcher)
        try:
            async for chunk in watch.chunks():
                await self.running.wait()
                if not response.prepared:
                    await response.prepare(incoming)
                    self.requests.answered(request, 200)
                if chunk:
                    await response.write(chunk)
                if any(fault.drops or fault.cuts for fault in met):
                    watch.watcher.cut = "object" if any(fault.cuts for fault in met) else "now"
            if watch.watcher.cut:
                if watch.watcher.cut == "object":
                    await response.write(_half_an_event(kind, collection.sorted()))
                request.dropped = True
                _close(incoming)
        finally:
            self.watchers.discard(watch.watcher)
        return response


def _half_an_event(kind: Kind, objects: list[Any]) -> bytes:
    raw = objects[0].raw if objects else msgspec.json.encode({"kind": kind.name, "apiVersion": kind.api_version})
    return b'{"type":"MODIFIED","object":' + raw[: len(raw) // 2]


def _json(body: bytes, code: int) -> web.Response:
    return web.Response(body=body, status=code, content_type="application/json")


def _of_error(error: statuses.ApiError) -> web.Response:
    if isinstance(error.body, str):
        return web.Response(text=error.body, status=error.code, headers=error.headers)
    response = _json(msgspec.json.encode(error.body), error.code)
    response.headers.update(error.headers)
    return response


def _certificate(incoming: web.Request) -> Any:
    transport = incoming.transport
    connection: ssl.SSLObject | None = transport.get_extra_info("ssl_object") if transport else None
    return connection.getpeercert() if connection is not None else None


def _compressed(incoming: web.Request, response: web.Response) -> web.Response:
    """As upstream: answers from 128 KiB on, where the client takes gzip."""
    body = response.body
    wanted = "gzip" in incoming.headers.get("Accept-Encoding", "")
    if wanted and isinstance(body, bytes) and len(body) >= GZIP_FROM:
        response.body = gzip.compress(body, compresslevel=1)
        response.headers["Content-Encoding"] = "gzip"
    return response


def _close(incoming: web.Request) -> None:
    """What was written goes out, then the connection ends; aiohttp writes nothing on a transport that closes."""
    if incoming.transport is not None:
        incoming.transport.close()


def _broken(incoming: web.Request, request: Request, response: web.Response) -> web.Response:
    request.dropped = True
    _close(incoming)
    return response


async def _cut(incoming: web.Request, request: Request, response: web.Response) -> web.StreamResponse:
    request.dropped = True
    body = response.body if isinstance(response.body, bytes) else b""
    part = web.StreamResponse(status=response.status, headers={"Content-Type": "application/json"})
    part.content_length = len(body)
    await part.prepare(incoming)
    await part.write(body[: len(body) // 2])
    _close(incoming)
    return part
