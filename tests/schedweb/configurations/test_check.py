"""The check of a draft: edits from the form, errors with their places, what the form shows, the comparison."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from schedweb.configurations.models import ConfigurationVersion
from tests.schedweb.configurations.requests import HEAD, TEXT, URL, make, post, save

pytestmark = pytest.mark.django_db
CHECK = f"{URL}check/"


def check(client: Client, text: str = TEXT, **more: Any) -> dict[str, Any]:
    answer = post(client, CHECK, text=text, **more)
    assert answer.status_code == 200, answer.content
    body: dict[str, Any] = answer.json()
    return body


def rows_of(body: dict[str, Any], profile: int = 0) -> dict[str, dict[str, Any]]:
    return {row["plugin"]: row for row in body["effective"]["profiles"][profile]["rows"]}


def test_edits_change_their_lines_only(viewer: Client) -> None:
    body = check(
        viewer,
        edits=[
            {"type": "setWeight", "profile": 0, "point": "Score", "name": "NodeResourcesFit", "weight": 9},
            {"type": "disablePlugin", "profile": 0, "point": "score", "name": "ImageLocality"},
            {"type": "setField", "path": ["percentageOfNodesToScore"], "value": 100},
        ],
    )
    assert "            weight: 9   # packing\n" in body["text"]
    assert body["text"].startswith("# Ours.\n")
    assert (body["errors"], body["runnable"]) == ([], True)
    rows = rows_of(body)
    assert rows["NodeResourcesFit"]["cells"]["Score"]["weight"] == 9
    assert rows["ImageLocality"]["off"] is True
    assert rows["ImageLocality"]["cells"]["Score"]["origin"] == "disabled by name"
    assert body["form"]["globals"]["percentage_of_nodes_to_score"] == {"written": 100, "value": 100, "default": 0}
    assert (body["comparison"], body["saved_meanwhile"]) == (None, None)


GATES = "# kube-scheduler --feature-gates="


def gates_of(body: dict[str, Any]) -> dict[str, tuple[bool, bool, bool]]:
    return {gate["name"]: (gate["default"], gate["enabled"], gate["written"]) for gate in body["feature_gates"]}


def test_a_feature_gate_is_switched_in_the_comment(viewer: Client) -> None:
    name = "SchedulerPopFromBackoffQ"
    assert gates_of(check(viewer))[name] == (True, True, False)
    off = check(viewer, edits=[{"type": "setFeatureGate", "name": name, "enabled": False}])
    assert off["text"] == f"{GATES}{name}=false\n{TEXT}"
    assert (off["errors"], off["effective"]["feature_gates"]) == ([], {name: False})
    assert gates_of(off)[name] == (True, False, True)
    back = check(viewer, off["text"], edits=[{"type": "setFeatureGate", "name": name, "enabled": None}])
    assert back["text"] == TEXT


def test_a_gate_that_cannot_be_set_is_an_error_and_the_form_stays(viewer: Client) -> None:
    body = check(viewer, f"{GATES}DRANodeAllocatableResources=true\n{TEXT}")
    [error] = body["errors"]
    assert (error["path"], error["line"], error["stage"]) == ("--feature-gates", 1, "validation")
    assert error["message"].startswith("cannot set feature gate DRANodeAllocatableResources to true here")
    assert (body["config_error"], body["runnable"]) == (error["text"], False)
    # It is shown, so that it can be switched back.
    assert gates_of(body)["DRANodeAllocatableResources"] == (False, True, True)
    assert rows_of(body)["NodeResourcesFit"]["cells"]["Score"]["weight"] == 5


def test_gates_have_no_place_in_json(viewer: Client) -> None:
    text = f"{GATES}SchedulerPopFromBackoffQ=false\n{TEXT}"
    answer = post(viewer, CHECK, text=text, format="json")
    assert answer.status_code == 400
    assert answer.json()["error"]["message"].endswith("and JSON has no comments.")


def test_nothing_is_stored(viewer: Client) -> None:
    check(viewer)
    assert not ConfigurationVersion.objects.exists()


def test_the_form_has_schemas_and_arguments(viewer: Client) -> None:
    form = check(viewer)["form"]
    fit = form["profiles"][0]["args"]["NodeResourcesFit"]
    assert fit["kind"] == "NodeResourcesFitArgs"
    assert fit["written"] == {"scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 1}]}}
    assert fit["value"]["scoringStrategy"]["type"] == "MostAllocated"
    assert fit["defaults"]["scoringStrategy"]["type"] == "LeastAllocated"
    assert form["profiles"][0]["args"]["PodTopologySpread"]["written"] is None
    assert "scoringStrategy" in form["schemas"]["NodeResourcesFit"]["properties"]
    assert form["profiles"][0]["scheduler_name"] == "default-scheduler"


def test_while_there_are_errors_the_grid_and_the_form_stay(viewer: Client) -> None:
    body = check(viewer, TEXT.replace("cpu, weight: 1", "cpu, weight: 120"))
    assert [error["plugin"] for error in body["errors"]] == ["NodeResourcesFit"]
    assert body["config_error"].startswith("initializing profiles: creating profile for scheduler name")
    assert body["runnable"] is False
    assert body["why"].startswith("It has an error: profiles[0].pluginConfig[0].args.scoringStrategy.resources[0]")
    assert rows_of(body)["NodeResourcesFit"]["cells"]["Score"]["weight"] == 5
    value = body["form"]["profiles"][0]["args"]["NodeResourcesFit"]["value"]
    assert value["scoringStrategy"]["resources"] == [{"name": "cpu", "weight": 120}]


def test_an_argument_of_a_wrong_type_stays_in_the_form(viewer: Client) -> None:
    body = check(viewer, TEXT.replace("cpu, weight: 1", "cpu, weight: much"))
    assert body["errors"][0]["stage"] == "decoding"
    assert body["errors"][0]["field"] == ["scoringStrategy", "resources", 0, "weight"]
    value = body["form"]["profiles"][0]["args"]["NodeResourcesFit"]["value"]
    assert value["scoringStrategy"]["resources"] == [{"name": "cpu", "weight": "much"}]


def test_without_a_queue_sort_plugin_it_can_be_put_back(viewer: Client) -> None:
    text = f'{HEAD}profiles:\n- plugins:\n    queueSort:\n      disabled: [{{name: "*"}}]\n'
    broken = check(viewer, text)
    assert (broken["errors"][0]["profile"], broken["errors"][0]["point"]) == (0, "QueueSort")
    assert rows_of(broken)["PrioritySort"]["cells"]["QueueSort"]["state"] == "disabled"
    edit = {"type": "resetPlugin", "profile": 0, "point": "QueueSort", "name": "*"}
    mended = check(viewer, text, edits=[edit])
    assert mended["errors"] == []
    assert rows_of(mended)["PrioritySort"]["cells"]["QueueSort"]["state"] == "default"


def test_an_unknown_plugin_is_named_and_shown(viewer: Client) -> None:
    text = TEXT.replace("- name: NodeResourcesFit\n            weight: 5", "- name: Blinking\n            weight: 5")
    body = check(viewer, text)
    error = body["errors"][0]
    assert (error["plugin"], error["point"]) == ("Blinking", "Score")
    assert error["message"] == 'ScorePlugin "Blinking" does not exist'
    row = rows_of(body)["Blinking"]
    assert (row["known"], row["off"], row["origin"]) == (False, False, "added")


def test_unknown_fields_are_listed_and_survive_edits(viewer: Client) -> None:
    text = TEXT.replace("parallelism: 16", "parallelism: 16\nparalelism: 4   # kept")
    body = check(viewer, text, edits=[{"type": "setField", "path": ["parallelism"], "value": 8}])
    assert body["unknown_fields"] == [
        {"path": "paralelism", "line": 5, "column": 1, "hint": "Did you mean parallelism?"}
    ]
    assert "paralelism: 4   # kept\n" in body["text"]
    assert body["effective"]["globals"]["parallelism"] == 8


@pytest.mark.parametrize(
    ("text", "said", "line"),
    [
        ("profiles: [", "yaml: ", 1),
        ('{"kind": }', "json parse error", 1),
        (f"{HEAD}a: &a [*a]\n", "contains itself", 3),
        ("- a\n- b\n", "json parse error", 1),
        ("", "Object 'Kind' is missing", 1),
        (f"{HEAD}---\n{HEAD}", "more than one YAML document", 3),
    ],
)
def test_a_text_that_cannot_be_read_has_no_form(viewer: Client, text: str, said: str, line: int) -> None:
    body = check(viewer, text)
    assert (body["effective"], body["form"], body["text"]) == (None, None, text)
    assert said in body["config_error"]
    assert body["errors"][0]["line"] == line


def test_a_yaml_bomb_is_refused(viewer: Client) -> None:
    bomb = HEAD + "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    bomb += "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 9))
    assert "once aliases are expanded; refused" in check(viewer, bomb)["errors"][0]["message"]


def test_edits_of_an_unreadable_text_are_refused_with_its_line(viewer: Client) -> None:
    answer = post(viewer, CHECK, text=f"{HEAD}profiles: [\n", edits=[{"type": "removeProfile", "profile": 0}])
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["line"]) == (422, "unreadable", 4)
    assert error["message"].startswith("The text cannot be read: yaml: ")


@pytest.mark.parametrize(
    ("edits", "said", "path"),
    [
        ([{"type": "explode"}], "Invalid value 'explode'.", "edits[0].type"),
        ([{"type": "removeProfile", "profile": "x"}], "Expected `int`, got `str`.", "edits[0].profile"),
        (["setField"], "Expected `object`, got `str`.", "edits[0]"),
        ([{"type": "removeProfile", "profile": 3}], "There is no profiles[3].", "edits"),
        (
            [{"type": "enablePlugin", "profile": 0, "point": "Filter", "name": "ImageLocality"}],
            "ImageLocality does not extend filter.",
            "edits",
        ),
        ([{"type": "removeProfile", "profile": 0}] * 201, "201 edits at once; 200 are the most.", "edits"),
    ],
)
def test_edits_that_make_no_sense(viewer: Client, edits: list[Any], said: str, path: str) -> None:
    answer = viewer.post(CHECK, json.dumps({"text": TEXT, "edits": edits}), content_type="application/json")
    assert answer.status_code in (400, 413), answer.content
    assert said in answer.json()["error"]["message"]
    assert answer.json()["error"]["path"] == path


def test_deep_values(viewer: Client) -> None:
    deep = "[" * 400 + "]" * 400
    body = f'{{"text": {json.dumps(TEXT)}, "edits": [{{"type": "setField", "path": ["x"], "value": {deep}}}]}}'
    answer = viewer.post(CHECK, body, content_type="application/json")
    assert answer.status_code == 400
    deeper = viewer.post(CHECK, '{"text": ' + "[" * 100_000, content_type="application/json")
    assert deeper.status_code == 400
    assert "nested too deeply" in deeper.json()["error"]["message"]


def test_too_much_work_is_refused(viewer: Client) -> None:
    edits = [{"type": "setField", "path": ["parallelism"], "value": n} for n in range(1, 101)]
    answer = post(viewer, CHECK, text=f"{HEAD}{'# comment' * 5000}\n", edits=edits)
    assert (answer.status_code, answer.json()["error"]["path"]) == (413, "edits")


def test_the_other_format(viewer: Client) -> None:
    body = check(viewer, format="json")
    assert (body["format"], json.loads(body["text"])["parallelism"], body["errors"]) == ("json", 16, [])
    edit = {"type": "setWeight", "profile": 0, "point": "score", "name": "NodeResourcesFit", "weight": 2}
    back = check(viewer, body["text"], edits=[edit], format="yaml")
    assert back["format"] == "yaml"
    assert rows_of(back)["NodeResourcesFit"]["cells"]["Score"]["weight"] == 2


def test_a_draft_is_compared_with_what_it_began_with(viewer: Client, editor: Client, mira: Client) -> None:
    mine = make(editor)
    save(mira, mine, TEXT + "# mira was here\n", 1, "a note")
    draft = TEXT.replace("weight: 5", "weight: 7").replace("type: MostAllocated", "type: LeastAllocated")
    body = check(viewer, draft, configuration=mine["id"], base_version=1)
    assert body["comparison"]["changes"] == [
        {
            "profile": "default-scheduler",
            "plugin": "NodeResourcesFit",
            "what": ["weight 5 → 7", "scoringStrategy.type MostAllocated → LeastAllocated"],
        }
    ]
    assert (body["comparison"]["diff"]["added"], body["comparison"]["diff"]["removed"]) == (2, 2)
    meanwhile = body["saved_meanwhile"]
    assert (meanwhile["who"], meanwhile["number"], meanwhile["changes"]) == ("mira", 2, [])
    assert meanwhile["merged"] == draft + "# mira was here\n"
    newest = check(viewer, draft, configuration=mine["id"])
    assert newest["saved_meanwhile"] is None
    assert newest["comparison"]["diff"]["removed"] == 3


def test_unused_arguments_are_a_warning(viewer: Client) -> None:
    text = f"{HEAD}profiles:\n- pluginConfig:\n  - name: ManualApproval\n    args: {{timeoutSeconds: 60}}\n"
    body = check(viewer, text)
    assert body["errors"] == []
    assert [(each["plugin"], each["line"]) for each in body["warnings"]] == [("ManualApproval", 5)]
