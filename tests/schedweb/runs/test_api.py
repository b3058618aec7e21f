"""The run API over HTTP: who may what, the shape of every answer, windows, query counts, bad input."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from drf_spectacular.generators import SchemaGenerator
from jsonschema import Draft202012Validator

from schedweb.accounts.roles import Role
from schedweb.accounts.services import account_create
from schedweb.runs.models import JournalEntry, NodeRecord, PodRecord, Run
from schedweb.runs.records.manifests import manifest_of
from tests.schedweb.engine.worlds import node, pod
from tests.schedweb.runs.conftest import Game, played_out

pytestmark = pytest.mark.django_db(transaction=True)


@cache
def schema() -> dict[str, Any]:
    made: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]  # untyped
    return made


def check_shape(path: str, body: Any, status: str = "200", *, method: str = "get") -> None:
    """The body is what the OpenAPI file says. Nullable of OpenAPI 3.0 is written as null for the validator."""
    operation = schema()["paths"][path][method]
    found = operation["responses"][status]["content"]["application/json"]["schema"]
    document = {**found, "components": as_json_schema(schema()["components"])}
    errors = list(Draft202012Validator(document).iter_errors(body))
    assert not errors, f"{path}: {errors[0].json_path}: {errors[0].message}"


def as_json_schema(part: Any) -> Any:
    if isinstance(part, list):
        return [as_json_schema(each) for each in part]
    if not isinstance(part, dict):
        return part
    converted = {key: as_json_schema(value) for key, value in part.items() if key != "nullable"}
    return {"anyOf": [converted, {"type": "null"}]} if part.get("nullable") else converted


def get(client: Client, path: str, want: int = 200) -> Any:
    answer = client.get(path)
    assert answer.status_code == want, answer.content
    return json.loads(answer.content)


NOBODYS = "00000000-0000-4000-8000-000000000000"
RUN = "/api/v1/runs/{run}"
READS = [
    ("/api/v1/runs/", "/api/v1/runs/"),
    (f"{RUN}/", "/api/v1/runs/{run}/"),
    (f"{RUN}/board/", "/api/v1/runs/{run}/board/"),
    (f"{RUN}/feed/", "/api/v1/runs/{run}/feed/"),
    (f"{RUN}/feed/?pod=shop/web-1&limit=5", "/api/v1/runs/{run}/feed/"),
    (f"{RUN}/journal/", "/api/v1/runs/{run}/journal/"),
    (f"{RUN}/pods/", "/api/v1/runs/{run}/pods/"),
    (f"{RUN}/pods/?column=bound&q=web+!web-3+-l+app%3Dweb&sort=-name", "/api/v1/runs/{run}/pods/"),
    (f"{RUN}/pods/shop/web-1/", "/api/v1/runs/{run}/pods/{namespace}/{name}/"),
    (f"{RUN}/pods/shop/large/", "/api/v1/runs/{run}/pods/{namespace}/{name}/"),
    (f"{RUN}/pods/shop/asks-2/", "/api/v1/runs/{run}/pods/{namespace}/{name}/"),
    (f"{RUN}/pods/shop/web-1/yaml/", "/api/v1/runs/{run}/pods/{namespace}/{name}/yaml/"),
    (f"{RUN}/nodes/", "/api/v1/runs/{run}/nodes/"),
    (f"{RUN}/nodes/a/", "/api/v1/runs/{run}/nodes/{name}/"),
    (f"{RUN}/nodes/a/yaml/", "/api/v1/runs/{run}/nodes/{name}/yaml/"),
    (f"{RUN}/selection/?namespace=shop&name=web-1", "/api/v1/runs/{run}/selection/"),
    (f"{RUN}/selection/?namespace=shop&name=large", "/api/v1/runs/{run}/selection/"),
    (f"{RUN}/attempts/", "/api/v1/runs/{run}/attempts/"),
    (f"{RUN}/attempts/?pod=shop/large", "/api/v1/runs/{run}/attempts/"),
    (f"{RUN}/attempts/1/", "/api/v1/runs/{run}/attempts/{number}/"),
    (f"{RUN}/attempts/9/", "/api/v1/runs/{run}/attempts/{number}/"),
    (f"{RUN}/attempts/9/extenders/", "/api/v1/runs/{run}/attempts/{number}/extenders/"),
    (f"{RUN}/attempts/9/filter/", "/api/v1/runs/{run}/attempts/{number}/filter/"),
    (f"{RUN}/attempts/9/filter/?group=0", "/api/v1/runs/{run}/attempts/{number}/filter/"),
    (f"{RUN}/attempts/9/filter/?table=1&q=cpu", "/api/v1/runs/{run}/attempts/{number}/filter/"),
    (f"{RUN}/attempts/1/scores/", "/api/v1/runs/{run}/attempts/{number}/scores/"),
    (f"{RUN}/attempts/1/scores/?hide_equal=1&sort=node", "/api/v1/runs/{run}/attempts/{number}/scores/"),
    (f"{RUN}/attempts/9/scores/", "/api/v1/runs/{run}/attempts/{number}/scores/"),
    ("/api/v1/waiting/", "/api/v1/waiting/"),
    ("/api/v1/waiting/?kind=person&q=asks", "/api/v1/waiting/"),
    ("/api/v1/waiting/count/", "/api/v1/waiting/count/"),
    ("/api/v1/decisions/", "/api/v1/decisions/"),
]


def test_every_answer_has_the_shape_that_the_openapi_file_says(played: Game, client: Client) -> None:
    for path, described in READS:
        check_shape(described, get(client, path.format(run=played.id)))


def test_what_the_answers_say(played: Game, client: Client) -> None:
    at = RUN.format(run=played.id)
    board = get(client, f"{at}/board/")
    assert board["run"]["state"] == "waiting_for_person"
    assert [card["name"] for card in board["columns"]["waiting"]["cards"]] == ["asks-2"]
    [large] = board["columns"]["unschedulable"]["cards"]
    assert large["rejectors"] == [{"plugin": "NodeResourcesFit", "count": 2, "short": "Fit"}]

    pods = get(client, f"{at}/pods/?q=web+!web-3&sort=-name&limit=2")
    assert (pods["count"], [each["name"] for each in pods["results"]]) == (5, ["web-5", "web-4"])
    assert get(client, f"{at}/pods/?q=-l+app%3Dweb")["count"] == 6
    assert get(client, f"{at}/pods/?q=-l+app!%3Dweb")["count"] == 3

    attempt = get(client, f"{at}/attempts/9/")
    states = {point["point"]: point["state"] for point in attempt["points"]}
    assert (states["PreFilter"], states["Filter"], states["Reserve"]) == ("ok", "rejects", "not_reached")
    assert attempt["message"].startswith("0/2 nodes are available: 2 Insufficient cpu.")

    [group] = get(client, f"{at}/attempts/9/filter/")["groups"]
    assert (group["plugin"], group["count"], group["text"]) == ("NodeResourcesFit", 2, "Insufficient cpu")
    cpu = group["nodes"][0]["resources"][0]
    assert (cpu["name"], cpu["allocatable"], cpu["wanted"]) == ("cpu", 4000, 16000)
    assert cpu["free"] == 4000 - cpu["requested"]
    assert cpu["short"] == 16000 - cpu["free"]

    scores = get(client, f"{at}/attempts/1/scores/")
    assert scores["scored"]
    assert [row["rank"] for row in scores["rows"]] == [1, 1]
    assert scores["tie"] == {"count": 2, "chosen_by": "seed 7", "seeded": True}
    told = {each["name"]: each["about"] for each in scores["plugins"]}
    assert told["TaintToleration"] == "Fewer PreferNoSchedule taints that it does not tolerate give more points."
    for row in scores["rows"]:
        assert row["total"] == sum(cell["points"] for cell in row["cells"])

    selected = get(client, f"{at}/selection/?namespace=shop&name=web-0")
    assert selected["verdict"] == [-1, -1]
    assert selected["rank"] == [1, 1]

    waiting = get(client, "/api/v1/waiting/")
    assert (waiting["count"], waiting["person"], waiting["gang"]) == (1, 1, 0)
    assert (waiting["rows"][0]["name"], waiting["rows"][0]["held"]) == ("asks-2", True)
    [decision] = get(client, "/api/v1/decisions/")["results"]
    assert (decision["decision"], decision["by"], decision["outcome"]) == ("approved", "mira", "bound at once")


def test_a_pod_of_an_unknown_profile_says_why_nobody_tries_it(game: Game, client: Client) -> None:
    foreign = pod("foreign")
    foreign["spec"]["schedulerName"] = "elsewhere"
    game.command("pod_add", manifest=json.dumps(foreign))
    game.play()
    page = get(client, f"{RUN.format(run=game.id)}/pods/shop/foreign/")
    assert page["answer"]["headline"] == "No profile of this configuration is called elsewhere."
    assert page["answer"]["detail"] == "Nobody tries it. The configuration has the profile default-scheduler."
    assert page["next_try"] is None


def test_usage_is_that_of_the_attempt_and_not_of_now(played: Game, client: Client) -> None:
    """The second pod saw the first one's node with 500m in use; today there is more on it."""
    at = RUN.format(run=played.id)
    played.command("pod_add", manifest=json.dumps(pod("huge", "32")))
    for index in range(3):
        played.command("pod_delete", namespace="shop", name=f"web-{index}")
    played.play()
    [group] = get(client, f"{at}/attempts/9/filter/")["groups"]
    used = sum(each["resources"][0]["requested"] for each in group["nodes"])
    assert used == 6 * 500 + 2 * 250


LOGIN = 3
"""Session, user, role."""
QUERIES = {
    "/api/v1/runs/": 2,
    f"{RUN}/": 1,
    f"{RUN}/board/": 1,
    f"{RUN}/feed/": 2,
    f"{RUN}/journal/": 3,
    f"{RUN}/pods/": 3,
    f"{RUN}/nodes/": 4,
    f"{RUN}/attempts/": 3,
    f"{RUN}/selection/?namespace=shop&name=web-1": 6,
    f"{RUN}/attempts/9/filter/": 8,
    f"{RUN}/attempts/1/scores/": 2,
    f"{RUN}/objects/quotas/": 5,
    "/api/v1/waiting/": 3,
    "/api/v1/waiting/count/": 2,
    "/api/v1/decisions/": 2,
}


def test_lists_ask_the_database_as_often_as_it_is_pinned_here(played: Game, client: Client) -> None:
    get(client, "/api/v1/me/")  # that a session is there is written down at its first request, then once a minute
    counts = {}
    for path in QUERIES:
        with CaptureQueriesContext(connection) as captured:
            get(client, path.format(run=played.id))
        counts[path] = len(captured) - LOGIN
    assert counts == QUERIES


# --- who may what -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [path for path, _ in READS])
def test_nobody_reads_without_logging_in(path: str, db: None) -> None:
    assert Client().get(path.format(run=uuid4())).status_code in (401, 403)


def test_a_viewer_reads_and_an_operator_commands(game: Game, viewer: User) -> None:
    browser = Client()
    browser.force_login(viewer)
    path = f"/api/v1/runs/{game.id}/commands/"
    assert browser.get(f"/api/v1/runs/{game.id}/").status_code == 200
    refused = browser.post(path, {"type": "play"}, content_type="application/json")
    assert (refused.status_code, refused.json()["error"]["message"]) == (403, "This needs the role operator.")
    assert browser.post("/api/v1/runs/", {}, content_type="application/json").status_code == 403
    assert browser.delete(f"/api/v1/runs/{game.id}/").status_code == 403
    assert not JournalEntry.objects.exists()


def test_a_command_from_another_site_is_refused(game: Game) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(account_create(username="csrf", role=Role.OPERATOR, password=None))
    answer = strict.post(f"/api/v1/runs/{game.id}/commands/", {"type": "play"}, content_type="application/json")
    assert answer.status_code == 403
    assert not JournalEntry.objects.exists()


def with_secrets(manifest: dict[str, Any]) -> dict[str, Any]:
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": json.dumps({"env": "hunter2"})}
    manifest["metadata"] = {**manifest["metadata"], "annotations": annotations}
    for container in manifest.get("spec", {}).get("containers", []):
        container["env"] = [{"name": "PASSWORD", "value": "hunter2"}]
        container["args"] = ["--password=hunter2"]
    return manifest


@pytest.mark.parametrize(
    "command",
    [
        {"type": "pod_add", "manifest": json.dumps(with_secrets(pod("new", "1")))},
        {"type": "node_add", "manifest": json.dumps(with_secrets(node("new")))},
        {"type": "change", "verb": "add", "manifest": with_secrets(pod("new", "1"))},
    ],
    ids=lambda command: str(command["type"]),
)
def test_what_is_added_to_a_run_is_redacted_like_an_import(game: Game, client: Client, command: dict[str, Any]) -> None:
    answer = client.post(f"/api/v1/runs/{game.id}/commands/", command, content_type="application/json")
    assert answer.status_code == 202, answer.content
    stored = json.dumps(JournalEntry.objects.get(pk=answer.json()["id"]).command)
    assert ("hunter2" in stored, "new" in stored) == (False, True)
    game.play()
    kept = [row.manifest for model in (PodRecord, NodeRecord) for row in model.objects.filter(run=game.id, name="new")]
    [shown] = [json.dumps(manifest_of(each)) for each in kept]
    assert ("hunter2" in shown, "new" in shown) == (False, True)


# --- bad input --------------------------------------------------------------------------------------------------------

NAMES = [{"namespace": "shop", "name": "asks-1"}]
BAD_COMMANDS: list[tuple[str, Any, str]] = [
    ("not an object", ["play"], "A command is an object with a type"),
    ("no type", {}, "type"),
    ("an unknown type", {"type": "explode"}, "explode"),
    ("an unknown field", {"type": "pause", "gently": True}, "gently"),
    ("a speed of nonsense", {"type": "play", "speed": 11}, "speed"),
    ("a negative seed", {"type": "set_seed", "seed": -1}, "seed"),
    ("a step of nonsense", {"type": "step", "what": "leap"}, "what"),
    ("no manifest", {"type": "pod_add"}, "manifest"),
    ("truncated JSON", {"type": "pod_add", "manifest": '{"apiVersion": "v1", "kind": "Pod"'}, "This is not JSON"),
    ("broken YAML", {"type": "pod_add", "manifest": "a: [1\nb: }"}, "This is not YAML: line 2"),
    ("a YAML tag", {"type": "pod_add", "manifest": "!!python/object/apply:os.system ['true']"}, "This is not YAML"),
    ("cyclic aliases", {"type": "pod_add", "manifest": "a: &a [*a]"}, "an alias that contains itself"),
    (
        "a YAML bomb",
        {"type": "pod_add", "manifest": "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
            f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(9)
        )},
        "cannot be read",
    ),
    ("two documents", {"type": "pod_add", "manifest": "{kind: Pod}\n---\n{kind: Pod}"}, "One object is expected"),
    ("another kind", {"type": "pod_add", "manifest": json.dumps(node("x"))}, "A Pod is expected, not a Node"),
    ("an unknown kind", {"type": "pod_add", "manifest": "{apiVersion: v1, kind: Spaceship}"}, "not a Spaceship"),
    ("a wrong type", {"type": "pod_add", "manifest": '{"apiVersion":"v1","kind":"Pod","spec":7}'}, "spec"),
    ("no name", {"type": "node_add", "manifest": "{apiVersion: v1, kind: Node}"}, "metadata.name is missing"),
    ("an empty name", {"type": "node_delete", "name": ""}, "name"),
    ("no version", {"type": "set_configuration", "version": "latest"}, "version"),
    ("an unknown version", {"type": "set_configuration", "version": NOBODYS}, "no such configuration version"),
    ("nobody decided", {"type": "decide", "decision": "approve", "pods": []}, "pods"),
    ("too many decided", {"type": "decide", "decision": "approve", "pods": NAMES * 501}, "pods"),
    ("no reason", {"type": "decide", "decision": "reject", "pods": NAMES}, "Reject needs a reason"),
    ("no plugin", {"type": "decide", "decision": "override", "pods": NAMES, "reason": "x"}, "names the plugin"),
    ("a client_id of nonsense", {"type": "play", "client_id": "me"}, "client_id"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "said"), [each[1:] for each in BAD_COMMANDS], ids=[each[0] for each in BAD_COMMANDS])
def test_a_bad_command_is_answered_with_a_sentence_and_not_stored(
    game: Game, client: Client, body: Any, said: str
) -> None:
    answer = client.post(f"/api/v1/runs/{game.id}/commands/", json.dumps(body), content_type="application/json")
    assert 400 <= answer.status_code < 500, answer.content
    assert said in answer.json()["error"]["message"]
    assert not JournalEntry.objects.exists()


def test_what_is_added_is_read_as_an_import_reads_it(game: Game, client: Client) -> None:
    """YAML 1.1, a byte order mark, lines as Windows ends them; unknown fields are told, and ignored."""
    lines = [
        "apiVersion: v1",
        "kind: Pod",
        "metadata: {name: pasted, annotations: {made: 2026-11-23}}",
        "spec:",
        "  priority: 010",
        "  hostNetwork: yes",
        "  nodeSelectr: {pool: gpu}",
        "  containers: [{name: main, image: app}]",
    ]
    body = {"type": "pod_add", "client_id": str(uuid4()), "manifest": "\ufeff" + "\r\n".join(lines)}
    receipts = [
        client.post(f"/api/v1/runs/{game.id}/commands/", body, content_type="application/json") for _ in range(2)
    ]
    assert [receipt.status_code for receipt in receipts] == [202, 202]
    assert receipts[0].json() == receipts[1].json()
    warning = receipts[0].json()["warnings"]
    assert len(warning) == 1
    assert "nodeSelectr" in warning[0]
    assert "nodeSelector" in warning[0]
    assert "Pod pasted" in warning[0]
    again = client.post(
        f"/api/v1/runs/{game.id}/commands/", {**body, "manifest": "a: ["}, content_type="application/json"
    )
    assert (again.status_code, again.json()) == (202, {**receipts[0].json(), "warnings": []})
    spec = JournalEntry.objects.get().command["manifest"]["spec"]
    assert (spec["priority"], spec["hostNetwork"], "nodeSelectr" in spec) == (8, True, False)
    plain = client.post(f"/api/v1/runs/{game.id}/commands/", {"type": "pause"}, content_type="application/json")
    assert plain.json()["warnings"] == []


def test_what_looks_like_a_key_in_what_is_added_is_pointed_out_and_not_in_full(game: Game, client: Client) -> None:
    key = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
    random = "q7Rk2LmX9vB4tZ8wYc3N"
    labels = {"app": "web", "deploy": key, "db-password": "correct-horse"}
    added = {
        "pod_add": pod(f"web-{random}", "100m", **labels),
        "node_add": {**node("c"), "metadata": {"name": "c", "labels": {"deploy": key}}},
    }
    told: dict[str, list[str]] = {}
    for type_, manifest in added.items():
        body = {"type": type_, "manifest": json.dumps(manifest)}
        receipt = client.post(f"/api/v1/runs/{game.id}/commands/", body, content_type="application/json")
        assert receipt.status_code == 202, receipt.content
        told[type_] = receipt.json()["warnings"]
    # As an import says it.
    end = "Labels and names are kept: if it is one, change it in the file."
    assert told == {
        "pod_add": [
            f"Pod shop/web-…: Label deploy looks like a key (ghp_…). {end}",
            f"Pod shop/web-…: Label db-password looks like a key (corr…). {end}",
            f"Pod shop/web-…: A name looks like a key (web-…). {end}",
        ],
        "node_add": [f"Node c: Label deploy looks like a key (ghp_…). {end}"],
    }
    assert {each["labels"]["deploy"] for each in metadata_added()} == {key}, "it is said, not changed"


def metadata_added() -> list[dict[str, Any]]:
    return [entry.command["manifest"]["metadata"] for entry in JournalEntry.objects.all()]


@pytest.mark.parametrize(
    ("content", "type_", "status"),
    [
        (b'{"type": "pl', "application/json", 400),
        (b"\xff\xfe", "application/json", 400),
        (b"type=play", "application/x-www-form-urlencoded", 415),
    ],
)
def test_bodies_that_are_not_json(game: Game, client: Client, content: bytes, type_: str, status: int) -> None:
    answer = client.post(f"/api/v1/runs/{game.id}/commands/", content, content_type=type_)
    assert (answer.status_code, "message" in answer.json()["error"]) == (status, True)


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        (f"/api/v1/runs/{NOBODYS}/", 404, "There is no such run"),
        ("/api/v1/runs/?limit=0", 400, "limit must not be below 1"),
        ("/api/v1/runs/?offset=-1", 400, "offset must not be below 0"),
        ("/api/v1/runs/?limit=many", 400, "limit must be a whole number"),
        ("/api/v1/runs/?snapshot=mine", 400, "is not a snapshot's id"),
        (f"{RUN}/pods/?column=limbo", 400, "no column 'limbo'"),
        (f"{RUN}/pods/?sort=weight", 400, "sort must be one of"),
        (f"{RUN}/pods/?q=-l+%3Dx", 400, "A label term needs a key"),
        (f"{RUN}/pods/shop/nobody/", 404, "no pod shop/nobody"),
        (f"{RUN}/nodes/nowhere/", 404, "no node nowhere"),
        (f"{RUN}/selection/", 400, "say which pod"),
        (f"{RUN}/attempts/999/", 404, "Attempt 999 is not stored"),
        (f"{RUN}/attempts/999/filter/", 404, "Attempt 999 is not stored"),
        ("/api/v1/waiting/?run=mine", 400, "is not a run's id"),
        ("/api/v1/waiting/?kind=ghost", 400, "kind must be person or gang"),
        ("/api/v1/nothing/", 404, "There is nothing at /api/v1/nothing/"),
    ],
)
def test_bad_questions_are_answered_with_a_sentence(
    played: Game, client: Client, path: str, status: int, said: str
) -> None:
    answer = client.get(path.format(run=played.id))
    assert answer.status_code == status
    assert said in answer.json()["error"]["message"]


def test_no_list_is_longer_than_a_window(game: Game, client: Client) -> None:
    assert get(client, "/api/v1/runs/?limit=100000")["limit"] == 200


CREATE: list[tuple[Callable[[Game], dict[str, Any]], int, str]] = [
    (lambda game: {}, 400, "snapshot"),
    (lambda game: {"snapshot": "x", "configuration_version": "y"}, 400, "snapshot"),
    (lambda game: {**run_of(game), "snapshot": str(uuid4())}, 404, "no such snapshot"),
    (lambda game: {**run_of(game), "seed": -3}, 400, "seed"),
    (lambda game: {**run_of(game), "clock": "sundial"}, 400, "clock"),
    (lambda game: {**run_of(game), "speed": "warp"}, 400, "speed"),
]


def run_of(game: Game) -> dict[str, Any]:
    run = game.run
    return {"snapshot": str(run.snapshot_id), "configuration_version": str(run.configuration_version_id)}


@pytest.mark.parametrize(("body", "status", "said"), CREATE)
def test_a_run_that_cannot_be_made(
    game: Game, client: Client, body: Callable[[Game], dict[str, Any]], status: int, said: str
) -> None:
    answer = client.post("/api/v1/runs/", body(game), content_type="application/json")
    assert answer.status_code == status, answer.content
    assert said in answer.json()["error"]["message"]
    assert Run.objects.count() == 1


def test_a_configuration_with_errors_or_extenders_not_to_be_called_is_not_played(game: Game, client: Client) -> None:
    version = game.run.configuration_version
    for text, said in (
        (version.text.replace("ManualApproval", "NoSuchPlugin"), "NoSuchPlugin"),
        (f"{version.text}extenders: [{{urlPrefix: 'http://10.0.0.1/', filterVerb: filter}}]\n", "may not call"),
    ):
        version.text = text
        version.save()
        answer = client.post("/api/v1/runs/", run_of(game), content_type="application/json")
        assert (answer.status_code, said in answer.json()["error"]["message"]) == (422, True), answer.content


def test_a_run_is_made_and_deleted(game: Game, client: Client) -> None:
    answer = client.post("/api/v1/runs/", {**run_of(game), "paused": False}, content_type="application/json")
    assert answer.status_code == 201, answer.content
    body = answer.json()
    assert (body["number"], body["state"], body["seed"], body["clock"]["speed"]) == ("r-0002", "created", 0, 10)
    assert list(JournalEntry.objects.filter(run=body["id"]).values_list("type", flat=True)) == ["play"]
    assert client.delete(f"/api/v1/runs/{body['id']}/").status_code == 204
    assert not Run.objects.filter(pk=body["id"]).exists()


def test_pods_that_have_ended_are_shown_and_are_in_no_queue(operator: User, client: Client) -> None:
    """Every export of a cluster with Jobs has some."""
    ended = {**pod("ended", node_name="a"), "status": {"phase": "Succeeded"}}
    never = {**pod("never"), "status": {"phase": "Failed"}}
    game = played_out(operator, [node("a"), ended, never, pod("web")])
    assert game.places() == {"ended": "completed", "never": "completed", "web": "bound"}
    for name in ("ended", "never"):
        body = get(client, f"/api/v1/runs/{game.id}/pods/shop/{name}/")
        check_shape("/api/v1/runs/{run}/pods/{namespace}/{name}/", body)
        assert (body["column"], body["answer"]["kind"]) == ("completed", "completed")
        assert body["answer"]["headline"] == "Completed."
        assert (body["journey"]["lanes"], body["next_try"]) == ([], None)
    listed = get(client, f"/api/v1/runs/{game.id}/pods/?column=completed")
    check_shape("/api/v1/runs/{run}/pods/", listed)
    assert [card["name"] for card in listed["results"]] == ["ended", "never"]
    comparison = get(client, f"/api/v1/runs/{game.id}/comparison/{game.id}/")
    check_shape("/api/v1/runs/{run}/comparison/{other}/", comparison)
    assert [(side["pods"], side["unscheduled"]) for side in (comparison["a"], comparison["b"])] == [(1, 0), (1, 0)]
