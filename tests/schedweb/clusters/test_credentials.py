"""Everything a kubeconfig may log in with, and the service account of a pod, each against a server that looks at it."""

from __future__ import annotations

import base64
import json
import select
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
import yaml
from kubernetes.config import incluster_config

from schedweb.clusters.reading import access as module
from schedweb.clusters.reading import contexts
from schedweb.clusters.reading.access import Access
from schedweb.clusters.reading.contexts import IN_CLUSTER, known_contexts
from schedweb.clusters.reading.problems import ClusterProblem
from tests.apiserver import ApiServer
from tests.apiserver.access import READER
from tests.apiserver.certificates import Authority
from tests.schedweb.clusters.conftest import CONTEXT
from tests.schedweb.clusters.test_access import written

PODS = "/api/v1/pods"


# --- client certificates ----------------------------------------------------------------------------------------------


def test_a_client_certificate_says_who_asks(cluster: ApiServer, tmp_path: Path) -> None:
    cluster.grant("alice", READER)
    cluster.write_kubeconfig(tmp_path / "config", user="alice", group="platform", context=CONTEXT)
    assert b'"PodList"' in Access(CONTEXT).read(PODS)


def test_a_client_certificate_without_rights_is_named(cluster: ApiServer, tmp_path: Path) -> None:
    cluster.write_kubeconfig(tmp_path / "config", user="mallory", context=CONTEXT)
    with pytest.raises(ClusterProblem, match='User "mallory" cannot list') as caught:
        Access(CONTEXT).read(PODS)
    assert caught.value.code == "forbidden"


def test_a_client_certificate_of_somebody_else_s_authority_is_not_taken(cluster: ApiServer, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    certificate, key = Authority(tmp_path / "other").client("alice")
    cluster.grant("alice", READER)
    written(tmp_path / "config", user=lambda _: {"client-certificate": str(certificate), "client-key": str(key)})
    with pytest.raises(ClusterProblem) as caught:
        Access(CONTEXT).read(PODS)
    assert caught.value.code in ("unreachable", "unauthorized", "forbidden")


# --- the service account of a pod -------------------------------------------------------------------------------------


@pytest.fixture
def account(cluster: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Its token's file, as the kubelet mounts and renews it; there is no kubeconfig."""
    folder = tmp_path / "serviceaccount"
    folder.mkdir()
    (folder / "ca.crt").write_bytes(cluster.ca_file.read_bytes())
    token = folder / "token"
    token.write_text(cluster.user("system:serviceaccount:tools:playground", READER))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", cluster.host)
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", str(cluster.port))
    monkeypatch.setattr(contexts, "_TOKEN", token)
    monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(token))
    monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(folder / "ca.crt"))
    return token


def test_in_a_pod_its_service_account_is_the_context(cluster: ApiServer, account: Path) -> None:
    assert [(each.name, each.server) for each in known_contexts()] == [(IN_CLUSTER, cluster.url)]
    assert b'"PodList"' in Access(IN_CLUSTER).read(PODS)


def test_a_service_account_s_token_is_renewed_under_a_process_that_goes_on(
    cluster: ApiServer, account: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOADED_SECONDS", 0.0)
    access = Access(IN_CLUSTER)
    access.read(PODS)
    cluster.expire(account.read_text())
    account.write_text(cluster.user("system:serviceaccount:tools:playground", READER))
    assert b'"PodList"' in access.read(PODS)


def test_a_service_account_beside_a_kubeconfig_is_one_more_context(
    cluster: ApiServer, account: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
    assert [each.name for each in known_contexts()] == [CONTEXT, IN_CLUSTER]
    assert b'"PodList"' in Access(IN_CLUSTER).read(PODS)


# --- proxies ----------------------------------------------------------------------------------------------------------


class Proxy:
    """Forwards what it is asked to CONNECT to, and remembers to what."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.refuses = b""
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            head += client.recv(4096)
        method, address, _ = head.split(b"\r\n")[0].decode().split()
        assert method == "CONNECT"
        self.asked.append(address)
        if self.refuses:
            client.sendall(b"HTTP/1.1 " + self.refuses + b"\r\n\r\n")
            client.close()
            return
        host, _, port = address.rpartition(":")
        with client, socket.create_connection((host, int(port))) as server:
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            other = {client: server, server: client}
            while True:
                for each in select.select([client, server], [], [])[0]:
                    data = each.recv(65536)
                    if not data:
                        return
                    other[each].sendall(data)

    def close(self) -> None:
        self._listener.close()


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    made = Proxy()
    yield made
    made.close()


def test_the_proxy_of_a_kubeconfig_is_used(cluster: ApiServer, tmp_path: Path, proxy: Proxy) -> None:
    written(tmp_path / "config", cluster=lambda it: {**it, "proxy-url": proxy.url})
    assert b'"PodList"' in Access(CONTEXT).read(PODS)
    assert proxy.asked == [f"{cluster.host}:{cluster.port}"]


@pytest.mark.parametrize("is_excepted", [False, True])
def test_the_proxy_of_the_environment_is_used_but_for_who_is_excepted(
    cluster: ApiServer, proxy: Proxy, monkeypatch: pytest.MonkeyPatch, is_excepted: bool
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", proxy.url)
    monkeypatch.setenv("NO_PROXY", cluster.host if is_excepted else "example.com")
    assert b'"PodList"' in Access(CONTEXT).read(PODS)
    assert bool(proxy.asked) != is_excepted


def test_a_proxy_that_is_not_there_is_told(cluster: ApiServer, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
    written(tmp_path / "config", cluster=lambda it: {**it, "proxy-url": f"http://bob:pass-word@{address}"})
    assert refusal() == (
        f"The proxy http://{address}, through which the API server at {cluster.url} is reached, failed: "
        "Connection refused"
    )


def test_a_proxy_that_refuses_is_told(cluster: ApiServer, tmp_path: Path, proxy: Proxy) -> None:
    proxy.refuses = b"407 Proxy Authentication Required"
    written(tmp_path / "config", cluster=lambda it: {**it, "proxy-url": proxy.url})
    assert refusal() == (
        f"The proxy {proxy.url}, through which the API server at {cluster.url} is reached, failed: "
        "Tunnel connection failed: 407 Proxy Authentication Required"
    )


def refusal() -> str:
    with pytest.raises(ClusterProblem) as caught:
        Access(CONTEXT).read(PODS)
    assert caught.value.code == "unreachable"
    return str(caught.value)


# --- OpenID Connect ---------------------------------------------------------------------------------------------------


def id_token(seconds: int) -> str:
    """Expires in so many seconds; who signed it is the API server's to look at."""
    said = ({"alg": "none"}, {"sub": "alice", "exp": int(time.time()) + seconds})
    parts = [base64.urlsafe_b64encode(json.dumps(each).encode()).decode().rstrip("=") for each in said]
    return ".".join([*parts, "signature"])


class Issuer:
    """Gives a new token of the cluster's user for a refresh token, once for each."""

    def __init__(self, cluster: ApiServer, folder: Path) -> None:
        folder.mkdir()
        self.authority = Authority(folder)
        self.refreshed: list[str] = []
        issuer = self

        class Answers(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                assert self.path == "/.well-known/openid-configuration"
                self._answer({"issuer": issuer.url, "token_endpoint": f"{issuer.url}/token"})

            def do_POST(self) -> None:
                asked = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
                assert asked["grant_type"] == ["refresh_token"]
                issuer.refreshed.append(asked["refresh_token"][0])
                known = id_token(3600)
                cluster._handling.access.tokens[known] = cluster._handling.access.tokens[issuer.user]
                number = len(issuer.refreshed)
                answer = {"access_token": "a", "token_type": "Bearer", "refresh_token": f"refresh-{number}"}
                self._answer({**answer, "id_token": known})

            def _answer(self, body: dict[str, Any]) -> None:
                content = json.dumps(body).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *args: Any) -> None:
                pass

        self.user = cluster.user("alice", READER)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        context = self.authority.server_context("localhost")
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.url = f"https://localhost:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def person(self, token: str) -> dict[str, Any]:
        """Of a kubeconfig."""
        config = {
            "idp-issuer-url": self.url,
            "idp-certificate-authority-data": base64.b64encode(self.authority.file.read_bytes()).decode(),
            "client-id": "kubectl",
            "client-secret": "of the client",
            "id-token": token,
            "refresh-token": "refresh-0",
        }
        return {"auth-provider": {"name": "oidc", "config": config}}

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def issuer(cluster: ApiServer, tmp_path: Path) -> Iterator[Issuer]:
    made = Issuer(cluster, tmp_path / "issuer")
    yield made
    made.close()


def test_a_token_of_an_issuer_that_expired_is_asked_for_anew_and_kept(
    cluster: ApiServer, tmp_path: Path, issuer: Issuer
) -> None:
    written(tmp_path / "config", user=lambda _: issuer.person(id_token(-60)))
    assert b'"PodList"' in Access(CONTEXT).read(PODS)
    kept = yaml.safe_load((tmp_path / "config").read_text())["users"][0]["user"]["auth-provider"]["config"]
    assert (issuer.refreshed, kept["refresh-token"]) == (["refresh-0"], "refresh-1")
    Access(CONTEXT).read(PODS)
    assert issuer.refreshed == ["refresh-0"]


def test_a_token_of_an_issuer_that_expires_under_a_process_that_goes_on(
    cluster: ApiServer, tmp_path: Path, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOADED_SECONDS", 0.0)
    token = id_token(3600)
    cluster._handling.access.tokens[token] = cluster._handling.access.tokens[issuer.user]
    written(tmp_path / "config", user=lambda _: issuer.person(token))
    access = Access(CONTEXT)
    access.read(PODS)
    cluster.expire(token)
    written(tmp_path / "config", user=lambda _: issuer.person(id_token(-60)))  # what time does to it
    assert b'"PodList"' in access.read(PODS)
    assert issuer.refreshed == ["refresh-0"]


def test_an_issuer_that_is_not_there_is_told(cluster: ApiServer, tmp_path: Path, issuer: Issuer) -> None:
    written(tmp_path / "config", user=lambda _: issuer.person(id_token(-60)))
    issuer.close()
    with pytest.raises(ClusterProblem) as caught:
        Access(CONTEXT).read(PODS)
    assert caught.value.code == "credentials"
    assert "of the client" not in str(caught.value)
