"""What tests ask the server with: plain HTTP, nothing of the product."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import requests

from tests.apiserver.server import ApiServer

TIMEOUT = 30.0


@dataclass(frozen=True)
class Answer:
    """``body``: JSON where it is some, else text."""

    status: int
    body: Any
    headers: Mapping[str, str]


class Events:
    """An open watch; iterating gives its whole events until it ends, and raises where it breaks off."""

    def __init__(self, response: requests.Response) -> None:
        self.response = response
        self.status = response.status_code
        self._pieces = response.iter_content(None)
        self.rest = b""

    def __iter__(self) -> Iterator[Any]:
        while True:
            line, found, rest = self.rest.partition(b"\n")
            if found:
                self.rest = rest
                yield json.loads(line)
            elif (piece := next(self._pieces, None)) is not None:
                self.rest += piece
            else:
                return

    def take(self, count: int) -> list[Any]:
        found = []
        for event in self:
            found.append(event)
            if len(found) == count:
                return found
        raise AssertionError(f"the watch ended after {len(found)} of {count} events: {found}")

    def until_bookmark(self) -> list[Any]:
        """Everything up to the first bookmark, which is the last one of the answer."""
        found = []
        for event in self:
            found.append(event)
            if event["type"] == "BOOKMARK":
                return found
        raise AssertionError(f"the watch ended without a bookmark: {found}")

    def __enter__(self) -> Events:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.response.close()


class Client:
    """One person's requests; an empty token asks as nobody."""

    def __init__(self, server: ApiServer, token: str | None = None) -> None:
        self.server = server
        self.session = requests.Session()
        self.session.trust_env = False
        self.session.verify = str(server.ca_file) if server.authority else False
        token = server.admin_token if token is None else token
        if token:
            self.session.headers["Authorization"] = f"Bearer {token}"

    def send(
        self, method: str, path: str, body: Any = None, *, content_type: str = "application/json", **query: Any
    ) -> Answer:
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        headers = {} if data is None else {"Content-Type": content_type}
        response = self.session.request(
            method, self.server.url + path, data=data, headers=headers, params=query, timeout=TIMEOUT
        )
        try:
            decoded: Any = response.json()
        except ValueError:
            decoded = response.text
        return Answer(response.status_code, decoded, response.headers)

    def get(self, path: str, **query: Any) -> Answer:
        return self.send("GET", path, **query)

    def watch(self, path: str, **query: Any) -> Events:
        params = {"watch": "true", **query}
        return Events(self.session.get(self.server.url + path, params=params, stream=True, timeout=TIMEOUT))

    def streaming_list(self, path: str, **query: Any) -> Events:
        """As kube-scheduler's informers begin."""
        whole = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}
        return self.watch(path, **{**whole, **query})
