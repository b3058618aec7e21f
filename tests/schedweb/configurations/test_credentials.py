"""Who may not edit configurations sees none of what gives access to their extenders."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from framework.configuration import load
from framework.plugins.registry import installed_registry
from schedweb.configurations.credentials import without_credentials
from schedweb.configurations.models import ConfigurationVersion
from tests.schedweb.configurations.requests import HEAD, URL, make, make_run, post, save

pytestmark = pytest.mark.django_db
KEY = "c2VjcmV0LWtleQ=="
WRITTEN = f"""\
# was http://ann:hunter2@old.example.com/
{HEAD}extenders:
- urlPrefix: "http:\\u002f/ann:hunter2@127.0.0.1:9/"  # or http://ann:hunter2@127.0.0.1:9/
  filterVerb: filter?token=s3same
  tlsConfig: {{keyData: {KEY}, certData: {KEY}}}
- urlPrefix: &two http://ghp-token@127.0.0.1:8
  filterVerb: filter
- urlPrefix: *two
  prioritizeVerb: p
  weight: 1
"""
SHOWN = f"""\
# was http://***:***@old.example.com/
{HEAD}extenders:
- urlPrefix: "http://***:***@127.0.0.1:9/"  # or http://***:***@127.0.0.1:9/
  filterVerb: "filter?token=***"
  tlsConfig: {{keyData: "Kioq", certData: Kioq}}
- urlPrefix: "http://***@127.0.0.1:8"
  filterVerb: filter
- urlPrefix: "http://***@127.0.0.1:8"
  prioritizeVerb: p
  weight: 1
"""
SECRETS = ("hunter2", "s3same", "ghp-token", "ann", KEY)


def test_lines_stay_and_the_text_says_the_same_without_them() -> None:
    assert without_credentials(WRITTEN) == SHOWN
    loaded = load(SHOWN, installed_registry())
    assert (loaded.errors, len(loaded.effective.extenders if loaded.effective else ())) == ((), 3)
    assert without_credentials(HEAD) == HEAD


def test_a_file_of_json() -> None:
    head: dict[str, Any] = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    extenders = [{"urlPrefix": "https://ann:hunter2@a/", "filterVerb": "f"}, {"urlPrefix": "http://b", "bindVerb": "b"}]
    shown = json.loads(without_credentials(json.dumps({**head, "extenders": extenders})))
    assert shown == {**head, "extenders": [{**extenders[0], "urlPrefix": "https://***:***@a/"}, extenders[1]]}


def test_viewers_see_none_and_editors_their_own_text(viewer: Client, editor: Client) -> None:
    mine = make(editor, text=WRITTEN)
    later = WRITTEN.replace("weight: 1", "weight: 2").replace("hunter2@127", "hunter22@127")
    assert save(editor, mine, later, base=1).status_code == 201
    first, second = (
        make_run(version, version.number)
        for version in ConfigurationVersion.objects.filter(configuration=mine["id"]).order_by("number")
    )
    url = f"{URL}{mine['id']}/versions/"
    check = {"text": SHOWN, "configuration": mine["id"], "base_version": 1}
    for reader, sees in ((editor, True), (viewer, False)):
        answers = [
            *(reader.get(f"{url}{path}") for path in ("1/", "2/", "2/diff/", "1/diff/", "1/export/", "2/export/")),
            reader.get(f"{url}1/export/?format=json"),
            reader.get(f"/api/v1/runs/{first.pk}/comparison/{second.pk}/configurations/"),
            post(reader, f"{URL}check/", **check),
        ]
        for answer in answers:
            assert answer.status_code == 200
            assert any(secret in answer.content.decode() for secret in SECRETS) is sees, answer.content
    body = viewer.get(f"{url}1/").json()
    assert (body["text"], body["errors"]) == (SHOWN, [])
    assert body["effective"]["extenders"][0]["urlPrefix"] == "http://***:***@127.0.0.1:9/"
    checked = post(viewer, f"{URL}check/", **check).json()
    assert checked["comparison"]["diff"]["lines"] == []
    assert [line["text"] for line in checked["saved_meanwhile"]["diff"]["lines"] if line["kind"] == "added"] == [
        "  weight: 2"
    ]
