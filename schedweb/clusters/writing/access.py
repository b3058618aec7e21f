"""Requests that change a cluster, over the same authenticated connections that read it.

Answers come as they are: what they mean is looked at in ``answers``. Here is only told apart whether a request was
answered, never left (NotSent), or may or may not have been carried out (AnswerLost).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlencode

import msgspec
import urllib3.exceptions

from framework.sentences import Words
from schedweb.clusters.reading.access import Access
from schedweb.clusters.reading.problems import ClusterProblem, Code
from schedweb.clusters.writing.permission import Permission

WRITE_SECONDS: Final = 30.0
"""Between two bytes of an answer; the API server itself gives a request up after 60 s."""
_METHODS: Final = frozenset(("POST", "PATCH", "PUT", "DELETE"))
_NEVER_LEFT: Final = (
    urllib3.exceptions.NewConnectionError,
    urllib3.exceptions.ConnectTimeoutError,
    urllib3.exceptions.NameResolutionError,
    urllib3.exceptions.ProxyError,
)
UNAUTHORIZED: Final = 401


class NotSent(ClusterProblem):
    """There was no connection, so nothing happened."""


class AnswerLost(ClusterProblem):
    """The connection broke, or was silent: the request may have been carried out."""


class Answer(msgspec.Struct, frozen=True):
    status: int
    body: bytes
    headers: dict[str, str]
    """By names in lower case."""


class WritingAccess(Access):
    """Safe to be used by many threads."""

    def __init__(self, permission: Permission) -> None:
        super().__init__(permission.context)

    def _may_send(self, method: str, address: str) -> bool:
        return super()._may_send(method, address) or method in _METHODS

    def exchange(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        body: bytes,
        content_type: str,
        read_seconds: float = WRITE_SECONDS,
    ) -> Answer:
        """Once; again only where the credentials had to be read again. Raises NotSent and AnswerLost."""
        address = f"{path}?{urlencode(query)}" if query else path
        began = time.monotonic()
        answer = self._answered(method, address, body, content_type, read_seconds)
        if answer.status == UNAUTHORIZED and self._load_again(began):
            return self._answered(method, address, body, content_type, read_seconds)
        return answer

    def _answered(self, method: str, address: str, body: bytes, content_type: str, read_seconds: float) -> Answer:
        try:
            response = self._exchanged(method, address, body, content_type, read_seconds)
            whole = response.read()
            response.release_conn()
        except _NEVER_LEFT as error:
            raise NotSent(*self._why(error)) from None
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise AnswerLost(*self._why(error)) from None
        except ClusterProblem as problem:
            # Credentials that cannot be loaded.
            raise NotSent(problem.words, problem.code) from None
        headers = {name.lower(): value for name, value in response.headers.items()}
        return Answer(response.status, whole, headers)

    def _why(self, error: Exception) -> tuple[Words, Code]:
        problem = self.unreachable(error)
        return problem.words, problem.code
