"""Reaching an API server: which contexts there are, and a sentence for whatever can go wrong on the way."""

from __future__ import annotations

import logging
import socket
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from schedweb.clusters.reading.access import Access
from schedweb.clusters.reading.contexts import known_contexts
from schedweb.clusters.reading.problems import ClusterProblem
from tests.apiserver import ApiServer
from tests.apiserver.access import READER
from tests.schedweb.clusters.conftest import CONTEXT


def problem_of(context: str = CONTEXT, path: str = "/version") -> ClusterProblem:
    with pytest.raises(ClusterProblem) as caught:
        Access(context).read(path)
    return caught.value


def written(path: Path, **parts: Any) -> None:
    """The kubeconfig, with its cluster, user or context changed."""
    config = yaml.safe_load(path.read_text())
    for name, change in parts.items():
        entry = config[f"{name}s"][0]
        entry[name] = change(entry[name])
    path.write_text(yaml.safe_dump(config))


def test_it_is_reached_with_a_token_and_its_certificate_is_looked_at(cluster: ApiServer) -> None:
    access = Access(CONTEXT)
    version, numbers = access.version()
    assert version.startswith("v1.36")
    assert numbers == (1, 36)
    assert not access.is_insecure
    assert known_contexts()[0] == access.context


def test_several_files_are_merged_and_their_order_is_kept(
    cluster: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = cluster.write_kubeconfig(tmp_path / "second", token="t", context="other/with-a-slash")
    missing = tmp_path / "missing"
    monkeypatch.setenv("KUBECONFIG", f"{missing}:{tmp_path / 'config'}:{second}")
    assert [each.name for each in known_contexts()] == [CONTEXT, "other/with-a-slash"]


def test_a_password_in_an_address_is_not_shown(cluster: ApiServer, tmp_path: Path) -> None:
    written(tmp_path / "config", cluster=lambda _: {"server": "https://bob:pass-word@10.0.0.1:6443/"})
    assert [each.server for each in known_contexts()] == ["https://10.0.0.1:6443"]


def test_no_kubeconfig_and_a_bad_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "config"
    monkeypatch.setenv("KUBECONFIG", str(path))
    assert problem_of().code == "no_kubeconfig"
    for text in ("token: [s3cr3t", "- token: s3cr3t", "contexts: 7\nclusters: s3cr3t"):
        path.write_text(text)
        problem = problem_of()
        assert problem.code == "bad_kubeconfig", text
        assert "s3cr3t" not in str(problem), "what the file holds may be a key"


def test_a_context_that_is_not_there(cluster: ApiServer) -> None:
    problem = problem_of("staging")
    assert (problem.code, str(problem)) == ("unknown_context", "The kubeconfig has no context staging. It has: prod")


def test_a_server_that_is_not_there(cluster: ApiServer) -> None:
    with cluster.stopped():
        problem = problem_of()
    assert problem.code == "unreachable"
    assert str(problem) == f"The API server at {cluster.url} cannot be reached: Connection refused"


def test_a_name_that_does_not_exist(cluster: ApiServer, tmp_path: Path) -> None:
    written(tmp_path / "config", cluster=lambda old: {**old, "server": "https://no-such-host.invalid:6443"})
    problem = problem_of()
    assert problem.code == "unreachable"
    assert "object at 0x" not in str(problem)


def test_a_certificate_that_nobody_vouches_for(cluster: ApiServer, tmp_path: Path) -> None:
    written(tmp_path / "config", cluster=lambda old: {"server": old["server"]})
    problem = problem_of()
    assert problem.code == "tls"
    assert "self-signed certificate" in str(problem) or "unable to get local issuer" in str(problem)


def test_a_certificate_that_is_not_looked_at_is_said(cluster: ApiServer, tmp_path: Path) -> None:
    written(tmp_path / "config", cluster=lambda old: {"server": old["server"], "insecure-skip-tls-verify": True})
    access = Access(CONTEXT)
    assert access.version()[0]
    assert access.is_insecure


def test_a_token_that_expired(cluster: ApiServer, tmp_path: Path) -> None:
    access = Access(CONTEXT)
    token = yaml.safe_load((tmp_path / "config").read_text())["users"][0]["user"]["token"]
    cluster.expire(token)
    with pytest.raises(ClusterProblem) as caught:
        access.read("/api/v1/pods")
    assert caught.value.code == "unauthorized"
    assert token not in str(caught.value)


def test_a_token_that_was_renewed_on_disk_is_read_again(
    cluster: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("schedweb.clusters.reading.access.LOADED_SECONDS", 0.0)
    old, new = tmp_path / "token", cluster.user("reader", READER)
    old.write_text(cluster.user("reader", READER))
    written(tmp_path / "config", user=lambda _: {"tokenFile": str(old)})
    access = Access(CONTEXT)
    access.read("/api/v1/pods")
    cluster.expire(old.read_text())
    old.write_text(new)
    assert b'"PodList"' in access.read("/api/v1/pods")


def test_a_right_that_is_missing(cluster: ApiServer) -> None:
    problem = problem_of(path="/api/v1/secrets")
    assert problem.code == "forbidden"
    assert 'User "reader" cannot list resource "secrets"' in str(problem)


def test_a_server_that_wants_to_be_left_alone(cluster: ApiServer) -> None:
    with cluster.faults.answer(429, retry_after=7):
        problem = problem_of()
    assert (problem.code, problem.wait) == ("busy", 7.0)


def plugin(path: Path, script: str) -> dict[str, Any]:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": str(path), "interactiveMode": "Never"}}


def test_a_plugin_gives_the_token(cluster: ApiServer, tmp_path: Path) -> None:
    token = cluster.user("reader", READER)
    answer = '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"%s"}}'
    written(tmp_path / "config", user=lambda _: plugin(tmp_path / "plugin", f"echo '{answer % token}'"))
    assert Access(CONTEXT).version()[0]


def test_a_plugin_that_fails_is_told_and_not_logged(
    cluster: ApiServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    written(tmp_path / "config", user=lambda _: plugin(tmp_path / "plugin", "echo 'log in first' >&2; exit 3"))
    with caplog.at_level(logging.DEBUG):
        problem = problem_of()
    assert problem.code == "credentials"
    assert "log in first" in str(problem)
    assert "log in first" not in caplog.text


class Listening:
    """A server without TLS that keeps what one read of a request brought."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        client, _ = self._listener.accept()
        while heard := client.recv(65536):
            self.heard.append(heard)
            body = b'{"status": {"allowed": true}}'
            client.sendall(b"HTTP/1.1 201 Created\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    def close(self) -> None:
        self._listener.close()


@pytest.fixture
def listening() -> Iterator[Listening]:
    made = Listening()
    yield made
    made.close()


def test_a_cluster_behind_a_path(cluster: ApiServer, tmp_path: Path, listening: Listening) -> None:
    written(tmp_path / "config", cluster=lambda _: {"server": f"{listening.url}/k8s/clusters/c-1"})
    Access(CONTEXT).read("/version", {"pretty": "true"})
    assert listening.heard[0].split(b"\r\n")[0] == b"GET /k8s/clusters/c-1/version?pretty=true HTTP/1.1"


def test_a_request_leaves_in_one_piece(cluster: ApiServer, tmp_path: Path, listening: Listening) -> None:
    """Also the second one of a connection."""
    written(tmp_path / "config", cluster=lambda _: {"server": listening.url})
    access = Access(CONTEXT)
    for verb in ("list", "watch"):
        assert access.may({"verb": verb})
    assert [each.partition(b"\r\n\r\n")[2] for each in listening.heard] == [
        b'{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","spec":{"resourceAttributes":{"verb":'
        b'"%s"}}}' % verb
        for verb in (b"list", b"watch")
    ]


def test_the_client_is_asked_for_credentials_now_and_then(cluster: ApiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    access = Access(CONTEXT)
    asked: list[object] = []
    monkeypatch.setattr(access._client.configuration, "refresh_api_key_hook", asked.append)
    for _ in range(3):
        access.read("/api/v1/pods")
    assert len(asked) == 1
    monkeypatch.setattr("schedweb.clusters.reading.access.FRESH_SECONDS", 0.0)
    access._fresh_until = 0.0
    for _ in range(3):
        access.read("/api/v1/pods")
    assert len(asked) == 4


def test_nothing_that_writes_can_be_sent(cluster: ApiServer) -> None:
    access = Access(CONTEXT)
    for method, path in (("DELETE", "/api/v1/namespaces/shop/pods/web-1"), ("POST", "/api/v1/namespaces/shop/pods")):
        with pytest.raises(ValueError, match="nothing that may be sent"):
            access._send(method, path, b"{}", 1.0)
