"""Every request that came, as tests ask about it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tests.apiserver.target import Target

_READS = ("get", "list", "watch")


@dataclass(eq=False)
class Request:
    """One request. ``body`` is decoded JSON, bytes where it is none, or None; ``status`` is None until it is answered.

    ``user`` is empty where nobody was recognised; ``dropped`` says that the client never saw the answer.
    """

    number: int
    at: datetime
    method: str
    target: Target
    query: Mapping[str, str]
    body: Any
    content_type: str
    user_agent: str
    user: str = ""
    status: int | None = None
    dropped: bool = False

    @property
    def path(self) -> str:
        return self.target.path

    @property
    def verb(self) -> str:
        """As RBAC names it: get, list, watch, create, update, patch, delete."""
        return self.target.verb

    @property
    def resource(self) -> str:
        """``pods``, ``pods/binding``; empty for paths that are no resource."""
        return self.target.resource

    @property
    def name(self) -> str:
        return self.target.name

    @property
    def namespace(self) -> str:
        return self.target.namespace

    @property
    def dry_run(self) -> bool:
        """A deletion that has a body is asked for by its body alone (upstream: endpoints/handlers/delete.go)."""
        if self.method == "DELETE" and isinstance(self.body, dict):
            return self.body.get("dryRun") == ["All"]
        return self.query.get("dryRun") == "All"

    @property
    def is_write(self) -> bool:
        """Anything that could change something; asking about one's own rights cannot."""
        return self.method not in ("GET", "HEAD") and not self.target.resource.startswith("selfsubject")

    def __str__(self) -> str:
        query = "&".join(f"{key}={value}" for key, value in self.query.items())
        return f"{self.method} {self.path}{'?' + query if query else ''} → {self.status} ({self.user or 'nobody'})"


Matches = Callable[[Request], bool]


def matching(
    *,
    verb: str | None = None,
    resource: str | None = None,
    namespace: str | None = None,
    name: str | None = None,
    user: str | None = None,
    path: str | None = None,
    also: Matches | None = None,
) -> Matches:
    """A test of requests; what is left out fits everything. ``path`` is how the path begins."""
    wanted = {"verb": verb, "resource": resource, "namespace": namespace, "name": name, "user": user}
    given = {key: value for key, value in wanted.items() if value is not None}

    def fits(request: Request) -> bool:
        return (
            all(getattr(request, key) == value for key, value in given.items())
            and (path is None or request.path.startswith(path))
            and (also is None or also(request))
        )

    return fits


@dataclass
class RequestLog:
    """Read from any thread."""

    _requests: list[Request] = field(default_factory=list)
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def add(self, request: Request) -> None:
        with self._changed:
            self._requests.append(request)
            self._changed.notify_all()

    def answered(self, request: Request, status: int) -> None:
        with self._changed:
            request.status = status
            self._changed.notify_all()

    def clear(self) -> None:
        with self._changed:
            self._requests.clear()

    def __iter__(self) -> Iterator[Request]:
        with self._changed:
            return iter(list(self._requests))

    def __len__(self) -> int:
        return len(self._requests)

    def select(self, **selection: Any) -> list[Request]:
        """The requests that fit ``matching(**selection)``, in the order they came."""
        fits = matching(**selection)
        return [request for request in self if fits(request)]

    def writes(self) -> list[Request]:
        return [request for request in self if request.is_write]

    def wait_for(self, count: int = 1, *, timeout: float = 30.0, **selection: Any) -> list[Request]:
        """At least so many that fit and were answered; AssertionError with what came instead."""
        fits = matching(**selection)

        def found() -> list[Request]:
            return [request for request in self._requests if request.status is not None and fits(request)]

        with self._changed:
            if not self._changed.wait_for(lambda: len(found()) >= count, timeout):
                came = "\n".join(str(request) for request in self._requests[-30:])
                raise AssertionError(f"no {count} requests with {selection} within {timeout} s; the latest:\n{came}")
            return found()
