"""Requests to one API server, over the connections that the kubernetes client authenticates.

The client does what a kubeconfig may ask for (certificates, tokens, exec plugins, OpenID Connect, proxies, TLS names)
and keeps tokens fresh; its urllib3 pool brings answers as bytes, which its models would take twenty times as long to
read (decision 0023). Nothing but GET and SelfSubjectAccessReviews can be sent from here.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

import msgspec
import urllib3
import urllib3.exceptions

from framework.sentences import sentence
from schedweb.clusters.reading.connections import Connections
from schedweb.clusters.reading.contexts import IN_CLUSTER, Context, known_contexts, kubeconfig_paths, without_password
from schedweb.clusters.reading.problems import ClusterProblem, clock_ahead, refused, unreachable

if TYPE_CHECKING:
    from kubernetes.client import ApiClient

REVIEWS: Final = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
USER_AGENT: Final = "scheduling-playground"
JSON: Final = "application/json"
READ_SECONDS: Final = 60.0
"""Of an answer that is no watch: between two of its bytes."""
REVIEW_SECONDS: Final = 10.0
"""Of an answer to what somebody may do, which looks at nothing but rules; whoever is stopped meanwhile waits for it."""
LOADED_SECONDS: Final = 2.0
"""Credentials that were refused are read again at most so often: several times before a Lease that nobody could renew
is lost."""
FRESH_SECONDS: Final = 10.0
"""How long credentials are sent before the client is asked for them again: it renews tokens minutes before they end,
and looks at the whole environment whenever it is asked."""
CONNECTIONS: Final = 40
"""A watch of every kind, and questions beside them."""
_LARGEST_REFUSAL: Final = 64 * 1024
_CHUNK: Final = 64 * 1024


class _Review(msgspec.Struct):
    class Status(msgspec.Struct):
        allowed: bool = False

    status: Status = msgspec.field(default_factory=Status)


class _Version(msgspec.Struct):
    gitVersion: str = ""
    major: str = ""
    minor: str = ""


class _Complaints(logging.Filter):
    """What the client says of an exec plugin that failed, which it only logs: it is to be told, and nowhere else."""

    def __init__(self) -> None:
        super().__init__()
        self.last = ""

    def filter(self, record: logging.LogRecord) -> bool:
        if not record.pathname.endswith("kube_config.py"):
            return True
        self.last = record.getMessage()
        return False


class Access:
    """Safe to be used by many threads. Raises ClusterProblem wherever it says nothing else."""

    def __init__(self, name: str) -> None:
        """``name``: of a context."""
        self.context = _context(name)
        self.ahead: float | None = None
        """Seconds that the server's clock is ahead; None until it said its time."""
        self.bytes_read = 0
        self._lock = threading.Lock()
        self._client, self._loaded = self._load(), time.monotonic()
        self._connections = Connections(self._client)
        self._credentials: dict[str, str] = {}
        self._fresh_until = 0.0
        """Of the credentials: headers, and seconds of the monotonic clock."""

    @property
    def server(self) -> str:
        return self.context.server

    @property
    def is_insecure(self) -> bool:
        """Whether the server's certificate is not looked at (insecure-skip-tls-verify)."""
        return self.server.startswith("https") and not self._client.configuration.verify_ssl

    def unreachable(self, error: Exception) -> ClusterProblem:
        """What urllib3's error is to people."""
        return unreachable(self.server, error, without_password(self._client.configuration.proxy or ""))

    def get(
        self, path: str, query: Mapping[str, str] | None = None, *, read_seconds: float = READ_SECONDS
    ) -> urllib3.BaseHTTPResponse:
        """Its body is still to be read, and to be closed."""
        return self._send("GET", f"{path}?{urlencode(query)}" if query else path, None, read_seconds)

    def read(self, path: str, query: Mapping[str, str] | None = None, *, read_seconds: float = READ_SECONDS) -> bytes:
        """The whole body."""
        return self._body(self.get(path, query, read_seconds=read_seconds))

    def version(self) -> tuple[str, tuple[int, int]]:
        """As it calls itself, and (major, minor)."""
        said = msgspec.json.decode(self.read("/version"), type=_Version)
        numbers = ("".join(filter(str.isdigit, each)) for each in (said.major, said.minor))
        major, minor = (int(each or 0) for each in numbers)
        return said.gitVersion, (major, minor)

    def may(self, attributes: Mapping[str, str]) -> bool:
        """``attributes``: verb, group, resource, subresource, namespace and name of a SelfSubjectAccessReview."""
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": dict(attributes)},
        }
        answer = self._body(self._send("POST", REVIEWS, msgspec.json.encode(review), REVIEW_SECONDS))
        return msgspec.json.decode(answer, type=_Review).status.allowed

    def chunks(self, response: urllib3.BaseHTTPResponse) -> Any:
        """The body as it comes, piece by piece."""
        try:
            for chunk in response.stream(_CHUNK):
                self.bytes_read += len(chunk)
                yield chunk
        except urllib3.exceptions.HTTPError as error:
            raise self.unreachable(error) from None
        finally:
            response.close()

    def _body(self, response: urllib3.BaseHTTPResponse) -> bytes:
        body = b"".join(self.chunks(response))
        response.release_conn()
        return body

    def _send(self, method: str, address: str, body: bytes | None, read_seconds: float) -> urllib3.BaseHTTPResponse:
        began = time.monotonic()
        try:
            return self._sent(method, address, body, read_seconds)
        except ClusterProblem as problem:
            # Tokens of files and certificates of plugins change on disk; what is loaded may be the one from before.
            if problem.code != "unauthorized" or not self._load_again(began):
                raise
        return self._sent(method, address, body, read_seconds)

    def _sent(self, method: str, address: str, body: bytes | None, read_seconds: float) -> urllib3.BaseHTTPResponse:
        try:
            response = self._exchanged(method, address, body, JSON, read_seconds)
            if response.status in (200, 201):
                return response
            said = self._refusal(response)
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise self.unreachable(error) from None
        raise refused(self.server, response.status, said, response.headers)

    def _refusal(self, response: urllib3.BaseHTTPResponse) -> bytes:
        try:
            return response.read(_LARGEST_REFUSAL)
        finally:
            response.close()

    def _may_send(self, method: str, address: str) -> bool:
        return method == "GET" or (method, address) == ("POST", REVIEWS)

    def _exchanged(
        self, method: str, address: str, body: bytes | None, content_type: str, read_seconds: float
    ) -> urllib3.BaseHTTPResponse:
        """Every request goes through here. Raises what urllib3 raises, and ClusterProblem without credentials."""
        if not self._may_send(method, address):
            raise ValueError(f"{method} {address} is nothing that may be sent")
        connections, headers = self._authenticated(method, address)
        if body is not None:
            headers["Content-Type"] = content_type
        response = connections.send(method, address, headers, body, read_seconds)
        self.ahead = clock_ahead(response.headers, time.time())
        return response

    def _authenticated(self, method: str, address: str) -> tuple[Connections, dict[str, str]]:
        """With a token that is fresh: a plugin may run here, or a provider be asked, so one at a time."""
        with self._lock:
            if time.monotonic() >= self._fresh_until:
                found: dict[str, str] = {}
                try:
                    self._client.update_params_for_auth(found, [], ["BearerToken"], address, method, None)
                except Exception as error:  # noqa: BLE001 - whatever a plugin or a provider leads to
                    raise self._no_credentials(str(error)) from None
                self._credentials, self._fresh_until = found, time.monotonic() + FRESH_SECONDS
            return self._connections, {"Accept": JSON, "User-Agent": USER_AGENT, **self._credentials}

    def _load_again(self, began: float) -> bool:
        """False when they were read a moment ago."""
        with self._lock:
            if self._loaded > began:
                return True
            if time.monotonic() - self._loaded < LOADED_SECONDS:
                return False
            self._client, self._loaded = self._load(), time.monotonic()
            self._connections, self._fresh_until = Connections(self._client), 0.0
            return True

    def _load(self) -> ApiClient:
        from kubernetes import client, config  # noqa: PLC0415 - contexts.py says why here

        configuration = client.Configuration()
        configuration.keep_alive = True
        configuration.connection_pool_maxsize = CONNECTIONS
        complaints = _Complaints()
        logging.getLogger().addFilter(complaints)
        try:
            if self.context.name == IN_CLUSTER:
                config.load_incluster_config(configuration)
            else:
                paths = kubeconfig_paths()
                config.load_kube_config(paths, self.context.name, configuration, persist_config=_is_writable(paths))
            made = client.ApiClient(configuration)
        except Exception as error:  # noqa: BLE001 - the client lets through what YAML, files and plugins raise
            raise self._no_credentials(str(error)) from None
        finally:
            logging.getLogger().removeFilter(complaints)
        if complaints.last:
            raise self._no_credentials(complaints.last)
        return made

    def _no_credentials(self, why: str) -> ClusterProblem:
        words = sentence(
            "The credentials of the context {context} cannot be loaded: {why}", context=self.context.name, why=why[:300]
        )
        return ClusterProblem(words, "credentials")


def _context(name: str) -> Context:
    known = known_contexts()
    found = next((each for each in known if each.name == name), None)
    if found is None:
        names = ", ".join(each.name for each in known) or "–"
        words = sentence("The kubeconfig has no context {context}. It has: {names}", context=name, names=names)
        raise ClusterProblem(words, "unknown_context")
    return found


def _is_writable(paths: str) -> bool:
    """Whoever is asked for a new token by OpenID Connect gives a new refresh token, too: kept as kubectl keeps it."""
    named = (os.path.expanduser(each) for each in paths.split(os.pathsep) if each)
    return all(os.access(each, os.W_OK) for each in named if os.path.exists(each))
