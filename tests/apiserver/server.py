"""The stand-in API server as tests use it: a thread with a loop, HTTPS on a port of its own, state that stays.

    with ApiServer() as server:
        server.add(node("n1"), pod("p1"))
        token = server.user("reader", READER)
        server.write_kubeconfig(path, token=token)
        ...
        assert not server.requests.writes()

All methods may be called from any thread; what they change is there when they return.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import secrets
import shutil
import tempfile
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import yaml
from aiohttp import web

from tests.apiserver import access, statuses, writing
from tests.apiserver.access import EVERYTHING, MASTERS, Grant, Rule, User
from tests.apiserver.certificates import Authority
from tests.apiserver.faults import Faults
from tests.apiserver.handling import BODY_LIMIT, Handling
from tests.apiserver.kinds import NAMESPACES, Json, Kind
from tests.apiserver.log import RequestLog
from tests.apiserver.players import Player, Stage
from tests.apiserver.reading import Limits
from tests.apiserver.store import HISTORY, Backup, Store, Stored, Watcher

Answer = TypeVar("Answer")

INITIAL_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")


class ApiServer:
    """``tls=False`` serves plain HTTP, for measurements; ``port`` 0 takes a free one, which restarts keep."""

    def __init__(self, *, tls: bool = True, port: int = 0, history: int = HISTORY) -> None:
        self.host = "127.0.0.1"
        self.port = port
        self._tls = tls
        self._folder = Path(tempfile.mkdtemp(prefix="apiserver-"))
        self.authority = Authority(self._folder) if tls else None
        self._handling = Handling(Store(history=history))
        self._kinds = {(kind.api_version, kind.name): kind for kind in self._handling.store.kinds.values()}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="apiserver", daemon=True)
        self._failures: list[Exception] = []
        self._runner: web.AppRunner | None = None
        self._site: web.TCPSite | None = None
        self.admin_token = self.user("kubernetes-admin", EVERYTHING, groups=(MASTERS,))

    # Its life

    def __enter__(self) -> ApiServer:
        self._thread.start()
        for name in INITIAL_NAMESPACES:
            self._call(partial(self._namespace, name))
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.faults.clear()
        self._wait(self._stop())
        if self._runner is not None:
            self._wait(self._runner.cleanup())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        shutil.rmtree(self._folder, ignore_errors=True)
        if self._failures and kind is None:
            raise self._failures[0]

    def start(self) -> None:
        """Listen, on the port it had before."""
        self._wait(self._start())

    def stop(self) -> None:
        """Every connection breaks and new ones are refused; what is stored stays, as in etcd."""
        self._wait(self._stop())

    def restart(self, *, forget: bool = True, forbidden_for: float = 0.0) -> None:
        """``forget``: the watch cache begins anew, older versions are 410; then ``forbidden_for`` seconds of 403."""
        self.stop()
        if forget:
            self.forget_history()
        if forbidden_for:
            self.forbid_everybody(forbidden_for)
        self.start()

    def pause(self) -> None:
        """It accepts and answers nothing, and watches fall silent: a process that hangs."""
        self._call(self._handling.running.clear)

    def resume(self) -> None:
        self._call(self._handling.running.set)

    async def _start(self) -> None:
        if self._runner is None:
            application = web.Application(client_max_size=BODY_LIMIT)
            application.router.add_route("*", "/{path:.*}", self._handling.handle)
            # A watch that comes while the others are broken off would be waited for, for a minute.
            self._runner = web.AppRunner(application, access_log=None, handler_cancellation=True, shutdown_timeout=0.5)
            await self._runner.setup()
        context = self.authority.server_context(self.host, "localhost") if self.authority else None
        self._site = web.TCPSite(
            self._runner, self.host, self.port, ssl_context=context, reuse_address=True, backlog=512
        )
        await self._site.start()
        _, self.port = self._runner.addresses[0][:2]
        self._handling.running.set()

    async def _stop(self) -> None:
        if self._site is not None:
            await self._site.stop()
            self._site = None
        if self._runner is not None and self._runner.server is not None:
            for connection in list(self._runner.server.connections):
                if connection.transport is not None:
                    connection.transport.abort()

    # Objects

    def register(self, kind: Kind) -> None:
        """Serve one more resource, a custom one for instance."""
        self._kinds[kind.api_version, kind.name] = kind
        self._call(lambda: self._handling.store.register(kind))

    def kind_of(self, body: Json) -> Kind:
        key = (str(body.get("apiVersion", "v1")), str(body["kind"]))
        if key not in self._kinds:
            raise LookupError(f"no resource {key[1]} of {key[0]} is served: register() it")
        return self._kinds[key]

    def add(self, *objects: Json) -> list[Json]:
        """Put objects there, or in the place of older ones, as they are: status, nodeName and uid included.

        Namespaces that are missing are made. The answer is what is stored.
        """
        return self._call(lambda: [self._put(body).decode() for body in objects])

    def load(self, objects: Iterable[Json]) -> None:
        """As ``add``, for many: nothing is handed back."""

        def put() -> None:
            for body in objects:
                self._put(body)

        self._call(put)

    def get(self, kind: str, name: str, namespace: str = "") -> Json:
        """LookupError where it is not there; ``kind`` is a plural or a Kind's name."""
        found = self.find(kind, name, namespace)
        if found is None:
            raise LookupError(f"no {kind} {namespace}/{name}")
        return found

    def find(self, kind: str, name: str, namespace: str = "") -> Json | None:
        stored = self._call(lambda: self._handling.store.find(*self._address(kind, name, namespace)))
        return stored.decode() if stored is not None else None

    def all(self, kind: str) -> list[Json]:
        """Every object of a kind, in the order of a list."""
        return [stored.decode() for stored in self._call(lambda: self._collection(kind).sorted())]

    def change(self, kind: str, name: str, namespace: str = "", *, by: Callable[[Json], object]) -> Json:
        """Let ``by`` change the object in place and store it: what a controller, kubelet or person would have done."""

        return self._call(lambda: self._changed(kind, name, namespace, by)).decode()

    def change_many(
        self, kind: str, names: Iterable[str], namespace: str = "", *, by: Callable[[Json], object]
    ) -> None:
        """As ``change``, in one turn of the server's loop: watches get them together."""

        def change() -> None:
            for name in names:
                self._changed(kind, name, namespace, by)

        self._call(change)

    def remove(self, kind: str, name: str, namespace: str = "") -> None:
        """Gone at once, whatever finalizers or grace periods say."""
        self._call(lambda: self._handling.store.remove(*self._address(kind, name, namespace)))

    def delete(self, kind: str, name: str, namespace: str = "", **options: Any) -> None:
        """As a client's DELETE: finalizers and grace periods hold it; ``options`` as in DeleteOptions."""
        self._call(
            lambda: writing.delete(self._handling.store, *self._address(kind, name, namespace), options, self._now)
        )

    @property
    def version(self) -> int:
        """The latest resourceVersion."""
        return self._handling.store.version

    def _changed(self, kind: str, name: str, namespace: str, by: Callable[[Json], object]) -> Stored:
        address = self._address(kind, name, namespace)
        body = self._handling.store.get(*address).decode()
        by(body)
        return self._handling.store.put(address[0], body)

    @property
    def _now(self) -> datetime:
        return self._handling.now()

    def _put(self, body: Json) -> Stored:
        kind = self.kind_of(body)
        if kind.namespaced:
            self._namespace(body["metadata"].setdefault("namespace", "default"))
        return self._handling.store.put(kind, writing.completed(kind, body, self._now))

    def _namespace(self, name: str) -> None:
        if self._handling.store.find(NAMESPACES, "", name) is None:
            made = writing.new_namespace(name)
            self._handling.store.put(NAMESPACES, writing.completed(NAMESPACES, made, self._now))

    def _address(self, kind: str, name: str, namespace: str) -> tuple[Kind, str, str]:
        found = self._collection(kind).kind
        return found, (namespace or "default") if found.namespaced else "", name

    def _collection(self, kind: str) -> Any:
        for collection in self._handling.store.collections.values():
            if kind in (collection.kind.plural, collection.kind.name, collection.kind.resource):
                return collection
        raise LookupError(f"no resource {kind} is served")

    # People and their rights

    def user(self, name: str, rules: Iterable[Rule] = (), *, namespace: str = "", groups: Iterable[str] = ()) -> str:
        """A bearer token for a user with these rules; the same user may be given more, in other namespaces."""
        token = secrets.token_urlsafe(16)
        self._handling.access.tokens[token] = User(name, (*groups, access.AUTHENTICATED))
        self.grant(name, rules, namespace=namespace)
        return token

    def grant(self, subject: str, rules: Iterable[Rule], *, namespace: str = "", role: str = "") -> Grant:
        """More rights for a user or group, everywhere or in one namespace."""
        grant = Grant(subject, tuple(rules), namespace, role or subject)
        if grant.rules:
            self._handling.access.grants.append(grant)
        return grant

    def revoke(self, subject: str) -> None:
        """All rights of a user or group; tokens stay good."""
        grants = self._handling.access.grants
        grants[:] = [grant for grant in grants if grant.subject != subject]

    def expire(self, token: str) -> None:
        """401 from now on."""
        self._handling.access.tokens.pop(token, None)

    def forbid_everybody(self, seconds: float) -> None:
        """403 for good credentials, as while kube-apiserver loads its roles after a start."""

        def forbid() -> None:
            self._handling.forbidden_until = self._loop.time() + seconds

        self._call(forbid)

    # Others who act on the cluster

    def play(self, player: Player) -> None:
        """Let a kubelet or controller of players.py react to every change from now on."""
        stage = Stage(self._handling.store, self._handling.now, self._loop, self._failures)
        self._call(lambda: self._handling.store.listeners.append(partial(player.react, stage)))

    def settle(self) -> None:
        """Until the players have done what they do at once."""
        for _ in range(5):
            self._call(lambda: None)

    # How to reach it

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://{self.host}:{self.port}"

    @property
    def ca_file(self) -> Path:
        if self.authority is None:
            raise LookupError("it serves plain HTTP")
        return self.authority.file

    def kubeconfig(self, *, token: str = "", user: str = "", group: str = "", context: str = "stand-in") -> Json:
        """A kubeconfig with one context: a token (the admin's by default), or a client certificate for ``user``."""
        cluster: Json = {"server": self.url}
        if self.authority is not None:
            cluster["certificate-authority-data"] = _base64(self.ca_file)
        if user and self.authority is not None:
            certificate, key = self.authority.client(user, group)
            person: Json = {"client-certificate-data": _base64(certificate), "client-key-data": _base64(key)}
        else:
            person = {"token": token or self.admin_token}
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": context,
            "contexts": [{"name": context, "context": {"cluster": context, "user": context}}],
            "clusters": [{"name": context, "cluster": cluster}],
            "users": [{"name": context, "user": person}],
        }

    def write_kubeconfig(self, path: Path, **options: str) -> Path:
        path.write_text(yaml.safe_dump(self.kubeconfig(**options)), encoding="utf-8")
        path.chmod(0o600)
        return path

    # What goes wrong, and what was asked

    @property
    def requests(self) -> RequestLog:
        return self._handling.requests

    @property
    def faults(self) -> Faults:
        return self._handling.faults

    @property
    def limits(self) -> Limits:
        """Seconds of waiting and between bookmarks, features; set what a test needs."""
        return self._handling.limits

    def forget_history(self) -> None:
        """From now on every version before the current one is too old: 410."""
        self._call(self._handling.store.forget)

    def backup(self) -> Backup:
        return self._call(self._handling.store.backup)

    def restore(self, backup: Backup) -> None:
        """As etcd restored from a backup: stopped, objects and versions of then, started."""
        self.stop()
        self._call(lambda: self._handling.store.restore(backup))
        self.start()

    def set_clock(self, offset: timedelta) -> None:
        """Its clock is so far ahead of the real one: times that it writes, and the Date of its answers."""
        self._handling.clock_offset = offset

    def open_watches(self) -> int:
        return len(self._handling.watchers)

    def send_bookmarks(self) -> None:
        """To every watch that allows them, now."""
        self._each_watcher(lambda watcher: setattr(watcher, "bookmark", True))

    def end_watches(self) -> None:
        """Every watch ends as when its time is over."""
        self._each_watcher(lambda watcher: setattr(watcher, "ended", True))

    def cut_watches(self, *, within_object: bool = False) -> None:
        """Every watch breaks off, on request in the middle of an object."""
        self._each_watcher(lambda watcher: setattr(watcher, "cut", "object" if within_object else "now"))

    def _each_watcher(self, act: Callable[[Watcher], object]) -> None:
        def each() -> None:
            for watcher in self._handling.watchers:
                act(watcher)
                watcher.wake.set()

        self._call(each)

    @contextlib.contextmanager
    def stopped(self) -> Iterator[None]:
        """Gone within the block."""
        self.stop()
        try:
            yield
        finally:
            self.start()

    # Its loop

    def _call(self, act: Callable[[], Answer]) -> Answer:
        async def acted() -> Answer:
            return act()

        return self._wait(acted())

    def _wait(self, work: Coroutine[Any, Any, Answer]) -> Answer:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=120)


def _base64(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()


__all__ = ["ApiServer", "statuses"]
