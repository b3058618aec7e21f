"""Runs with extenders over real HTTP: who is called, how often, and what is told when it goes wrong."""

from __future__ import annotations

import base64
import json
import re
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from framework.trace.attempt import AttemptTrace
from framework.trace.encoding import decode_attempts
from schedweb.api.errors import ApiError
from schedweb.calling import Allowed
from schedweb.runs.forking.forks import run_fork
from schedweb.runs.models import Attempt, AttemptChunk, JournalEntry
from schedweb.runs.storing import answers
from schedweb.worker import supervisor as module
from schedweb.worker.events import Answered
from schedweb.worker.supervisor import Supervisor
from tests.apiserver.certificates import Authority
from tests.schedweb.engine.worlds import DEFAULT, node, pod
from tests.schedweb.runs.conftest import Game, prepared
from tests.schedweb.worker.webhook import Webhook, webhook

pytestmark = pytest.mark.django_db(transaction=True)
EXAMPLE = Path(__file__).parents[3] / "docs" / "extenders.md"
EXCEEDED = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
CLUSTER = [node("a"), node("b"), node("c"), *(pod(f"web-{index}") for index in range(3))]


@pytest.fixture
def hook() -> Iterator[Webhook]:
    with webhook() as made:
        yield made


def extended(*extenders: dict[str, Any]) -> str:
    """A configuration; JSON is YAML."""
    return f"{DEFAULT}extenders: {json.dumps(list(extenders))}\n"


def filtering(hook: Webhook, **more: Any) -> dict[str, Any]:
    return {"urlPrefix": hook.url, "filterVerb": "filter", "nodeCacheCapable": True, "httpTimeout": "30s", **more}


def one_node(hook: Webhook) -> None:
    hook.says("/filter", {"NodeNames": ["b"], "FailedNodes": {"a": "no license"}})


def traces(game: Game) -> list[AttemptTrace]:
    chunks = AttemptChunk.objects.filter(run=game.run).order_by("first")
    return [trace for chunk in chunks for trace in decode_attempts(bytes(chunk.traces))]


def step(game: Game) -> AttemptTrace:
    game.command("step", what="cycle")
    game.play()
    return traces(game)[-1]


def test_an_extender_chooses_and_is_called_once_for_what_is_told_many_times(operator: User, hook: Webhook) -> None:
    one_node(hook)
    hook.says("/bind", {})
    text = extended(filtering(hook, bindVerb="bind"))
    game = prepared(operator, CLUSTER, configuration=text)
    game.command("play", speed="max")
    game.play()
    assert (game.run.state, game.places()) == ("finished", dict.fromkeys(("web-0", "web-1", "web-2"), "bound"))
    assert {trace.selected for trace in traces(game)} == {"b"}
    endings = [row.ending or {} for row in Attempt.objects.filter(run=game.run)]
    binds = [each["note"] for ending in endings for each in ending["points"] if each["point"] == "Bind"]
    assert binds == [hook.url] * 3
    assert sorted(hook.pods("/filter")) == ["web-0", "web-1", "web-2"]
    calls = len(hook.calls)

    fork = Game(run_fork(parent=game.run, user=operator, position=game.run.position), operator)
    fork.play()
    assert (fork.run.digest, fork.places()) == (game.run.digest, game.places())
    assert len(hook.calls) == calls, "a fork reads the parent's journal"

    early = Game(run_fork(parent=game.run, user=operator, position=0, played=True), operator)
    early.play()
    assert early.run.digest == game.run.digest
    assert len(hook.calls) == 2 * calls, "a fork from the start has a future of its own"


def test_an_engine_that_dies_after_the_answer_calls_nothing_twice(
    operator: User, hook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_node(hook)
    game = prepared(operator, CLUSTER, configuration=extended(filtering(hook)))
    store, killed = answers.store_answers, list[int]()
    seen: list[Supervisor] = []
    ask = Supervisor.ask

    def remembering(self: Supervisor, asked: Any) -> None:
        seen.append(self)
        ask(self, asked)

    def killing(run: Any, command: Any) -> None:
        store(run, command)
        if len(killed) < 2:
            child = seen[-1].child
            assert child is not None
            killed.append(child.pid)
            child.child.kill()

    monkeypatch.setattr(Supervisor, "ask", remembering)
    monkeypatch.setattr(module, "store_answers", killing)
    game.command("play", speed="max")
    game.play()
    assert len(killed) == 2
    assert (game.run.state, sorted(hook.pods("/filter"))) == ("finished", ["web-0", "web-1", "web-2"])


def test_a_run_that_is_taken_over_before_the_engine_heard_the_answer_reads_it(
    operator: User, hook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker stops right after it stored the answer; the next one offers it."""
    one_node(hook)
    game = prepared(operator, CLUSTER, configuration=extended(filtering(hook)))
    stopped = list[bool]()
    handle = Supervisor.handle

    def stopping(self: Supervisor, source: int, event: Any) -> bool:
        goes_on = handle(self, source, event)
        if isinstance(event, Answered) and not stopped:
            stopped.append(True)
            assert self.child is not None
            self.child.child.kill()
            self.shut_down()
        return goes_on

    monkeypatch.setattr(Supervisor, "handle", stopping)
    game.command("play", speed="max")
    game.play()
    assert (stopped, len(hook.calls)) == ([True], 1)
    if game.run.state != "finished":
        game.play()
    assert (game.run.state, sorted(hook.pods("/filter"))) == ("finished", ["web-0", "web-1", "web-2"])


def _status(code: int) -> Any:
    return lambda body: (code, b"sorry")


WRONG: dict[str, tuple[Any, str]] = {
    "500": (_status(500), "failed filter with extender at URL {url}/filter, code 500"),
    "a redirect": (_status(302), "failed filter with extender at URL {url}/filter, code 302"),
    "no JSON": (lambda body: (200, b"<html>"), "invalid character '<' looking for beginning of value"),
    "an unknown node": (
        lambda body: (200, b'{"NodeNames": ["z"]}'),
        'extender "{url}" claims a filtered node "z" which is not found in the input node list',
    ),
    "it closes": (None, 'Post "{url}/filter": EOF'),
    "its own error": (lambda body: (200, b'{"Error": "quota"}'), "quota"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_goes_wrong_is_told_and_the_run_goes_on(operator: User, hook: Webhook, what: str) -> None:
    reply, said = WRONG[what]
    if reply is not None:
        hook.replies["/filter"] = reply
    game = prepared(operator, CLUSTER, configuration=extended(filtering(hook)))
    trace = step(game)
    message = said.format(url=hook.url)
    assert (trace.result, trace.reason, trace.message) == ("failed", "SchedulerError", message)
    assert [(call.verb, call.error, call.ignored) for call in trace.extender_calls] == [("filter", message, False)]
    assert "/elsewhere" not in [path for path, _ in hook.calls]


@pytest.mark.parametrize(
    ("victims", "said"),
    [
        pytest.param(None, "extender: {url} answers null for node a: ", id="no victims at all"),
        pytest.param({"Pods": [None]}, "extender: {url} names null as a victim on node a: ", id="null as a victim"),
    ],
)
def test_a_null_that_makes_kube_scheduler_panic_names_its_extender_and_the_run_goes_on(
    operator: User, hook: Webhook, victims: Any, said: str
) -> None:
    hook.says("/preempt", {"NodeNameToMetaVictims": {"a": victims}})
    urgent, late = pod("urgent", cpu="4"), pod("late", cpu="100m")
    urgent["spec"].update(priority=10)
    small = [node("a"), pod("before", cpu="3", node_name="a"), urgent, late]
    preempting = {"urlPrefix": hook.url, "preemptVerb": "preempt", "nodeCacheCapable": True, "httpTimeout": "30s"}
    game = prepared(operator, small, configuration=extended(preempting))
    game.command("play", speed="max")
    game.play()
    first = next(trace for trace in traces(game) if trace.pod == "shop/urgent")
    assert said.format(url=hook.url) in str(first.post_filter) + first.message
    assert game.places()["late"] == "bound"
    assert game.places()["before"] == "bound"


def test_one_that_is_slow_is_waited_for_as_long_as_it_may_take(operator: User, hook: Webhook) -> None:
    hook.late("/filter")
    game = prepared(operator, CLUSTER, configuration=extended(filtering(hook, httpTimeout="200ms")))
    assert step(game).message == f'Post "{hook.url}/filter": {EXCEEDED}'


@contextmanager
def dripping(first: bytes, then: bytes) -> Iterator[str]:
    """The address of one that answers a request at once, a piece at a time, and is not done before 200 pieces."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection, suppress(OSError):
                connection.recv(65536)
                connection.sendall(first)
                for _ in range(200):
                    connection.sendall(then)
                    time.sleep(0.05)

        thread = threading.Thread(target=answer)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        thread.join(60)


OF_BODY = "context deadline exceeded (Client.Timeout or context cancellation while reading body)"
DRIPS = {
    "headers": (b"HTTP/1.1 200 OK\r\n", b"X-More: y\r\n", 'Post "{url}/filter": ' + EXCEEDED),
    "a body of known length": (b"HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n", b" ", OF_BODY),
    "a body to the end of the connection": (b"HTTP/1.0 200 OK\r\n\r\n", b" ", OF_BODY),
    "a body in chunks": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n", OF_BODY),
}


@pytest.mark.parametrize("what", DRIPS)
def test_one_that_answers_a_little_now_and_then_is_waited_for_no_longer(operator: User, what: str) -> None:
    first, then, said = DRIPS[what]
    with dripping(first, then) as url:
        extender = {"urlPrefix": url, "filterVerb": "filter", "nodeCacheCapable": True, "httpTimeout": "500ms"}
        game = prepared(operator, CLUSTER, configuration=extended(extender))
        assert step(game).message == said.format(url=url)


def test_one_that_begins_no_tls_is_waited_for_no_longer(operator: User) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"https://127.0.0.1:{silent.getsockname()[1]}"
        extender = {"urlPrefix": url, "filterVerb": "filter", "nodeCacheCapable": True, "httpTimeout": "500ms"}
        game = prepared(operator, CLUSTER, configuration=extended(extender))
        assert step(game).message == f'Post "{url}/filter": {EXCEEDED}'


def test_one_that_is_down_is_passed_over_where_it_may_be(operator: User, hook: Webhook) -> None:
    one_node(hook)
    down = {"urlPrefix": "http://127.0.0.1:1", "filterVerb": "filter", "ignorable": True}
    game = prepared(operator, CLUSTER, configuration=extended(down, filtering(hook)))
    trace = step(game)
    assert trace.selected == "b"
    first, second = trace.extender_calls
    assert (first.extender, first.sent, first.kept, second.ignored) == (hook.url, 3, 1, True)
    assert second.error == 'Post "http://127.0.0.1:1/filter": dial tcp 127.0.0.1:1: connect: connection refused'


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


def trusting(authority: Authority) -> dict[str, Any]:
    return {"caData": base64.b64encode(authority.file.read_bytes()).decode()}


def test_an_https_extender_is_believed_with_its_own_authority(operator: User, authority: Authority) -> None:
    with webhook(authority.server_context("127.0.0.1")) as hook:
        one_node(hook)
        told = filtering(hook, enableHTTPS=True, tlsConfig=trusting(authority))
        trace = step(prepared(operator, CLUSTER, configuration=extended(told)))
    assert (trace.selected, hook.pods("/filter")) == ("b", [trace.pod.partition("/")[2]])


@pytest.mark.parametrize("is_shown", [True, False])
def test_one_that_asks_who_calls_is_shown_the_client_s_certificate(
    operator: User, authority: Authority, is_shown: bool
) -> None:
    context = authority.server_context("127.0.0.1")
    context.verify_mode = ssl.CERT_REQUIRED
    tls = trusting(authority)
    if is_shown:
        certificate, key = (base64.b64encode(each.read_bytes()).decode() for each in authority.client("scheduler"))
        tls |= {"certData": certificate, "keyData": key}
    with webhook(context) as hook:
        one_node(hook)
        trace = step(
            prepared(operator, CLUSTER, configuration=extended(filtering(hook, enableHTTPS=True, tlsConfig=tls)))
        )
        assert len(hook.calls) == is_shown
    assert (trace.selected, trace.result) == (("b", "bound") if is_shown else ("", "failed"))
    if not is_shown:
        # It may be gone before what it said is read.
        said = ("remote error: tls: certificate required", "EOF")
        assert trace.message in [f'Post "{hook.url}/filter": {each}' for each in said]


def test_one_that_speaks_no_tls_is_told(operator: User, hook: Webhook) -> None:
    plain = filtering(hook, enableHTTPS=True, urlPrefix=hook.url.replace("http://", "https://"))
    trace = step(prepared(operator, CLUSTER, configuration=extended(plain)))
    assert trace.message.endswith('/filter": http: server gave HTTP response to HTTPS client')


def test_a_certificate_of_another_authority_is_refused_in_a_sentence(
    operator: User, authority: Authority, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    with webhook(authority.server_context("127.0.0.1")) as hook:
        one_node(hook)
        told = filtering(hook, enableHTTPS=True, tlsConfig=trusting(Authority(tmp_path / "other")))
        trace = step(prepared(operator, CLUSTER, configuration=extended(told)))
    unknown = "tls: failed to verify certificate: x509: certificate signed by unknown authority"
    assert (trace.result, trace.message) == ("failed", f'Post "{hook.url}/filter": {unknown}')
    assert hook.calls == []


def test_a_certificate_for_another_name_is_refused(operator: User, authority: Authority) -> None:
    with webhook(authority.server_context("elsewhere.example.com")) as hook:
        one_node(hook)
        told = filtering(hook, enableHTTPS=True, tlsConfig=trusting(authority))
        trace = step(prepared(operator, CLUSTER, configuration=extended(told)))
    assert "tls: failed to verify certificate: x509: " in trace.message
    assert "127.0.0.1" in trace.message
    assert hook.calls == []


def test_all_nodes_dropped_and_commands_in_between(operator: User, hook: Webhook) -> None:
    hook.says("/filter", {"NodeNames": [], "FailedNodes": {"a": "no license", "b": "no license"}})
    game = prepared(operator, CLUSTER, configuration=extended(filtering(hook)))
    trace = step(game)
    assert trace.message.startswith("0/3 nodes are available: 2 no license.")
    assert trace.unschedulable_plugins == ("Extender",)
    one_node(hook)
    game.command("node_cordon", name="c")
    game.command("play", speed="max")
    game.play()
    assert set(game.places().values()) == {"bound"}


def test_answers_come_from_nobody_else_and_are_not_shown_as_commands(operator: User, hook: Webhook) -> None:
    one_node(hook)
    game = prepared(operator, CLUSTER, configuration=extended(filtering(hook)))
    with pytest.raises(ApiError, match="Answers of extenders come from whoever asked them"):
        game.command("extender_answers", asked=1, pod="shop/web-0", answers=[])
    step(game)
    (entry,) = JournalEntry.objects.filter(run=game.run, type="extender_answers")
    (answer,) = entry.command["answers"]
    assert (entry.status, entry.command["pod"], answer["verb"]) == ("applied", "shop/web-0", "filter")
    assert answer["microseconds"] > 0


@pytest.mark.parametrize(
    ("extender", "why"),
    [
        (
            {"urlPrefix": "http://169.254.169.254/latest", "filterVerb": "filter"},
            r"This server may not call http://169\.254\.169\.254/latest/filter",
        ),
        (
            {"urlPrefix": "http://127.0.0.1:1", "filterVerb": "f", "tlsConfig": {"certFile": "/etc/passwd"}},
            "names files of the server",
        ),
    ],
)
def test_a_run_may_call_nobody_but_whom_the_server_allows(operator: User, extender: dict[str, Any], why: str) -> None:
    with pytest.raises(ApiError, match=why):
        prepared(operator, CLUSTER, configuration=extended(extender))


@pytest.mark.parametrize(
    ("url", "fits"),
    [
        ("https://ext.example.com:8443/api/filter", True),
        ("https://ext.example.com:8443/api", True),
        ("https://ext.example.com:8443/apix", False),
        ("https://ext.example.com:8443/api/../admin", False),
        ("https://ext.example.com:8443/api/%2e%2e/admin", False),
        ("https://ext.example.com:8443/api/..%5cadmin", False),
        ("https://ext.example.com/api/filter", False),
        ("http://ext.example.com:8443/api/filter", False),
        ("https://ext.example.com.evil.test:8443/api", False),
        ("https://user@ext.example.com:8443/api/filter", True),
        ("http://127.0.0.1:9000/filter", False),
        ("file:///etc/passwd", False),
        ("http://[::1", False),
    ],
)
def test_what_an_entry_allows(url: str, fits: bool) -> None:
    assert (Allowed(("https://ext.example.com:8443/api",), loopback=False).refusal(url) is None) is fits


@pytest.mark.parametrize(
    ("url", "fits"),
    [
        ("http://127.0.0.1:9000/filter", True),
        ("http://localhost:9000/filter", True),
        ("http://[::1]:9000/filter", True),
        ("http://10.0.0.1/filter", False),
        ("http://127.0.0.1.evil.test/filter", False),
        ("http://0.0.0.0:9000/", False),
    ],
)
def test_loopback_is_this_machine_alone(url: str, fits: bool) -> None:
    assert (Allowed((), loopback=True).refusal(url) is None) is fits


def test_the_example_of_the_docs_works(operator: User) -> None:
    program, configuration = re.findall(r"```(?:python|yaml)\n(.*?)```", EXAMPLE.read_text(), re.DOTALL)
    # A port of its own, which it tells.
    program = program.replace("9876", "0").replace("ThreadingHTTPServer((", "server = ThreadingHTTPServer((")
    program = program.replace(
        ".serve_forever()", "\nprint(server.server_address[1], flush=True)\nserver.serve_forever()"
    )
    command = [sys.executable, "-c", program]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert child.stdout is not None
        text = configuration.replace("9876", child.stdout.readline().strip())
        nodes = [node(f"node-{number}") for number in range(5)]
        trace = step(prepared(operator, [*nodes, pod("web")], configuration=text))
        assert (trace.selected, sorted(dict(trace.extender_statuses))) == ("node-4", ["node-1", "node-3"])
    finally:
        child.kill()
        child.communicate()
