"""Who may do what at the stand-in, what goes wrong on demand, and what it remembers of requests."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path

import pytest
import requests

from tests.apiserver import ApiServer
from tests.apiserver.access import READER
from tests.apiserver.client import Client
from tests.apiserver.manifests import pod

PODS = "/api/v1/pods"
REVIEW = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
RULES = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"


def asks(verb: str, resource: str, **more: str) -> dict[str, object]:
    return {"spec": {"resourceAttributes": {"verb": verb, "resource": resource, **more}}}


def test_nobody_may_see_the_version_and_nothing_else(api_server: ApiServer) -> None:
    nobody = Client(api_server, token="")
    assert nobody.get("/version").body["gitVersion"] == "v1.36.2"
    assert nobody.get("/readyz").body == "ok"
    refused = nobody.get(PODS)
    assert (refused.status, refused.body["reason"]) == (403, "Forbidden")
    assert refused.body["message"] == (
        'pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" at the cluster scope'
    )


def test_a_token_that_is_not_known_or_has_expired(api_server: ApiServer) -> None:
    token = api_server.user("reader", READER)
    client = Client(api_server, token)
    assert client.get(PODS).status == 200
    api_server.expire(token)
    refused = client.get(PODS)
    assert (refused.status, refused.body["message"]) == (401, "Unauthorized")


def test_rules_by_namespace_name_and_subresource(api_server: ApiServer) -> None:
    lease = {
        "verbs": ["get", "update"],
        "apiGroups": ["coordination.k8s.io"],
        "resources": ["leases"],
        "resourceNames": ["ours"],
    }
    token = api_server.user("scheduler", [{"verbs": ["list"], "apiGroups": [""], "resources": ["pods"]}], namespace="a")
    api_server.grant("scheduler", [lease])
    client = Client(api_server, token)
    assert client.get("/api/v1/namespaces/a/pods").status == 200
    assert client.get("/api/v1/namespaces/b/pods").status == 403
    assert client.get(PODS).status == 403
    leases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
    assert client.get(f"{leases}/ours").status == 404
    refused = client.get(f"{leases}/theirs")
    assert refused.body["message"] == (
        'leases.coordination.k8s.io "theirs" is forbidden: User "scheduler" cannot get resource "leases" in API group '
        '"coordination.k8s.io" in the namespace "kube-system"'
    )
    assert refused.body["details"] == {"name": "theirs", "group": "coordination.k8s.io", "kind": "leases"}
    binding = client.send("POST", "/api/v1/namespaces/a/pods/p1/binding", {})
    assert 'cannot create resource "pods/binding" in API group ""' in binding.body["message"]


def test_reviews(api_server: ApiServer) -> None:
    token = api_server.user("reader", READER)
    client = Client(api_server, token)
    yes = client.send("POST", REVIEW, asks("watch", "pods"))
    assert (yes.status, yes.body["status"]["allowed"]) == (201, True)
    assert 'of ClusterRole "reader" to User "reader"' in yes.body["status"]["reason"]
    for refused in (asks("delete", "pods"), asks("create", "pods", subresource="binding"), asks("list", "secrets")):
        assert client.send("POST", REVIEW, refused).body["status"] == {"allowed": False}
    rules = client.send("POST", RULES, {"spec": {"namespace": "default"}}).body["status"]
    assert {"verbs": ["get", "list", "watch"], "apiGroups": ["policy"], "resources": ["poddisruptionbudgets"]} in rules[
        "resourceRules"
    ]
    api_server.revoke("reader")
    assert client.send("POST", REVIEW, asks("watch", "pods")).body["status"] == {"allowed": False}
    assert not api_server.requests.writes(), "a review is no write"


def test_a_client_certificate_names_user_and_group(api_server: ApiServer) -> None:
    assert api_server.authority is not None
    api_server.grant("developers", READER)
    client = Client(api_server, token="")
    certificate, key = api_server.authority.client("jane", "developers")
    client.session.cert = (str(certificate), str(key))
    assert client.get(PODS).status == 200
    user = client.send("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {}).body["status"]["userInfo"]
    assert user == {"username": "jane", "groups": ["developers", "system:authenticated"]}


def test_a_kubeconfig_is_for_its_owner(api_server: ApiServer, tmp_path: Path) -> None:
    written = api_server.write_kubeconfig(tmp_path / "config", token="secret-of-jane")
    assert written.stat().st_mode & 0o777 == 0o600
    assert "secret-of-jane" in written.read_text()


def test_answers_that_are_made_up(api_server: ApiServer) -> None:
    client = Client(api_server)
    with api_server.faults.answer(429, retry_after=3, verb="list", resource="pods", times=1):
        busy = client.get(PODS)
        assert (busy.status, busy.headers["Retry-After"]) == (429, "3")
        assert busy.body == "Too many requests, please try again later.\n"
        assert client.get(PODS).status == 200
    with api_server.faults.answer(503, retry_after=1, user="kubernetes-admin") as fault:
        assert client.get("/api/v1/nodes").body["reason"] == "ServiceUnavailable"
        assert fault.hits == 1
    with api_server.faults.forbid(resource="pods"):
        assert client.get(PODS).status == 403
    assert client.get(PODS).status == 200


def test_an_answer_that_is_held_and_one_that_is_lost(api_server: ApiServer) -> None:
    api_server.add(pod("p1"))
    client = Client(api_server)
    address = "/api/v1/namespaces/default/pods/p1"
    with api_server.faults.hold(verb="delete") as held:
        asking = threading.Thread(target=client.send, args=("DELETE", address))
        asking.start()
        held.wait_hit()
        assert api_server.find("pods", "p1") is not None
        held.release()
        asking.join()
    assert api_server.find("pods", "p1") is None
    api_server.add(pod("p1"))
    with api_server.faults.drop_answer(verb="delete"), pytest.raises(requests.exceptions.ConnectionError):
        client.send("DELETE", address)
    assert api_server.find("pods", "p1") is None, "it was carried out all the same"
    assert [request.dropped for request in api_server.requests.select(verb="delete")] == [False, True]


def test_a_list_that_breaks_off(api_server: ApiServer) -> None:
    api_server.add(pod("p1"))
    client = Client(api_server)
    with api_server.faults.cut_answer(verb="list"), pytest.raises(requests.exceptions.RequestException):
        client.get(PODS)


def test_a_watch_that_breaks_off_as_it_begins(api_server: ApiServer) -> None:
    api_server.add(pod("p1"))
    client = Client(api_server)
    with api_server.faults.cut_answer(verb="watch", times=1), client.streaming_list(PODS) as events:
        assert [event["type"] for event in events.take(2)] == ["ADDED", "BOOKMARK"]
        with pytest.raises(requests.exceptions.RequestException):
            list(events)
        assert events.rest.startswith(b'{"type":"MODIFIED"')


def test_gone_and_back_on_the_same_port(api_server: ApiServer) -> None:
    api_server.add(pod("p1"))
    seen = api_server.version
    client = Client(api_server)
    with client.watch(PODS, resourceVersion=seen) as events:
        api_server.requests.wait_for(verb="watch")
        with api_server.stopped():
            with pytest.raises(requests.exceptions.RequestException):
                list(events)
            with pytest.raises(requests.exceptions.ConnectionError):
                client.get(PODS)
    assert len(client.get(PODS).body["items"]) == 1


def test_good_credentials_are_refused_after_a_start(api_server: ApiServer) -> None:
    client = Client(api_server, api_server.user("reader", READER))
    api_server.restart(forbidden_for=3600)
    assert client.get(PODS).body["reason"] == "Forbidden"
    api_server.forbid_everybody(0)
    assert client.get(PODS).status == 200


def test_a_server_that_hangs(api_server: ApiServer) -> None:
    client = Client(api_server)
    api_server.pause()
    with pytest.raises(requests.exceptions.Timeout):
        client.session.get(api_server.url + PODS, timeout=0.3)
    api_server.resume()
    assert client.get(PODS).status == 200


def test_a_clock_that_is_off(api_server: ApiServer) -> None:
    api_server.set_clock(timedelta(hours=-3))
    client = Client(api_server)
    now = datetime.now(UTC)
    shown = parsedate_to_datetime(client.get(PODS).headers["Date"])
    assert timedelta(hours=2) < now - shown < timedelta(hours=4)
    body = {"metadata": {"name": "p1"}, "spec": {"containers": []}}
    made = client.send("POST", "/api/v1/namespaces/default/pods", body).body["metadata"]["creationTimestamp"]
    assert timedelta(hours=2) < now - datetime.fromisoformat(made) < timedelta(hours=4)


def test_requests_are_remembered(api_server: ApiServer) -> None:
    client = Client(api_server)
    client.session.headers["User-Agent"] = "scheduling-playground/1"
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p1"}, "spec": {"containers": []}}
    assert client.send("POST", "/api/v1/namespaces/default/pods", body, dryRun="All").status == 201
    client.get(PODS, limit=5)
    [created] = api_server.requests.writes()
    assert (created.verb, created.resource, created.namespace, created.body) == ("create", "pods", "default", body)
    assert (created.user, created.user_agent, created.status) == ("kubernetes-admin", "scheduling-playground/1", 201)
    assert created.dry_run
    assert api_server.find("pods", "p1") is None
    [listed] = api_server.requests.select(verb="list")
    assert (listed.path, listed.query) == (PODS, {"limit": "5"})
    assert not listed.dry_run
    with pytest.raises(AssertionError, match="GET /api/v1/pods"):
        api_server.requests.wait_for(verb="delete", timeout=0.01)
