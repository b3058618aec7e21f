"""Older files are converted for everybody who may read; nothing is stored."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from schedweb.configurations.models import ConfigurationVersion
from tests.schedweb.configurations.requests import URL, post

pytestmark = pytest.mark.django_db
CONVERT = f"{URL}convert/"
POLICY = "kind: Policy\npriorities:\n- name: ImageLocalityPriority\n  weight: 3\n- name: EqualPriority\n  weight: 1\n"


def test_a_policy_becomes_a_text_with_sentences_and_lines_that_differ(viewer: Client) -> None:
    before = ConfigurationVersion.objects.count()
    answer = post(viewer, CONVERT, text=POLICY)
    assert answer.status_code == 200, answer.content
    body: dict[str, Any] = answer.json()
    assert body["text"].startswith("apiVersion: kubescheduler.config.k8s.io/v1\n")
    assert (body["forms"], body["old"], body["errors"]) == (["Policy"], POLICY, [])
    assert {
        "outcome": "carried",
        "what": "ImageLocalityPriority",
        "path": "priorities[0]",
        "line": 3,
        "sentence": "ImageLocalityPriority is the score of ImageLocality, with its weight 3.",
    } in body["findings"]
    assert body["diff"]["removed"] == 6
    assert ConfigurationVersion.objects.count() == before
    # What it gives can be taken as it is.
    assert post(viewer, f"{URL}check/", text=body["text"]).json()["errors"] == []


def test_the_check_says_that_a_text_can_be_converted(viewer: Client) -> None:
    assert post(viewer, f"{URL}check/", text=POLICY).json()["older"] is True
    assert post(viewer, f"{URL}check/", text="--leader-elect=false").json()["older"] is True
    assert post(viewer, f"{URL}check/", text="kind: Pod").json()["older"] is False


def test_flags_beside_a_text(viewer: Client) -> None:
    body = post(viewer, CONVERT, text=POLICY, flags="--scheduler-name=mine").json()
    assert "schedulerName: mine" in body["text"]


def test_sentences_are_in_the_readers_language(viewer: Client) -> None:
    answer = viewer.post(CONVERT, {"text": POLICY}, content_type="application/json", headers={"accept-language": "uk"})
    found = {each["what"]: each["sentence"] for each in answer.json()["findings"]}
    assert found["EqualPriority"].startswith("EqualPriority давав кожному вузлу однакові бали")


@pytest.mark.parametrize(
    ("text", "status", "code", "line"),
    [
        ("kind: Pod\n", 422, "unreadable", 1),
        ("kind: Policy\npredicates: [\n", 422, "unreadable", 3),
        ("kind: Policy\n# " + "x" * 262_144, 413, "too_large", None),
    ],
)
def test_what_cannot_be_converted_is_refused_with_a_place(
    viewer: Client, text: str, status: int, code: str, line: int | None
) -> None:
    answer = post(viewer, CONVERT, text=text)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error.get("line")) == (status, code, line)


def test_a_part_of_the_wrong_kind_is_refused_with_its_line(viewer: Client) -> None:
    answer = post(
        viewer, CONVERT, text="kind: Policy\npredicates:\n- name: Own\n  argument: {labelsPresence: {labels: 5}}\n"
    )
    assert answer.status_code == 422, answer.content
    body = answer.json()
    assert "predicates[0].argument.labelsPresence.labels must be a list, not a number" in str(body)
    assert "'line': 4" in str(body)
