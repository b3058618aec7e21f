"""What an import says of a file, in the reader's language: why it is refused, and what to know of it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from framework.reading import documents
from framework.sentences import Sentence
from framework.workloads import KINDS
from schedweb.accounts import services as accounts
from schedweb.accounts.roles import Role
from schedweb.snapshots import queue, services
from schedweb.snapshots.models import Import
from schedweb.snapshots.reader import Answer, Request, answer
from schedweb.snapshots.samples.loading import samples_load
from tests.schedweb.saying import LETTERS, assert_said_in_all_languages, sentences
from tests.schedweb.snapshots.events import make_event
from tests.schedweb.snapshots.files import make_node, make_pod, read_next


def listed(*items: Any) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})


CONFIGURATION = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
EVENT = make_event("x/a", "Scheduled", "i")
BOMB = "\n".join(
    ['a0: &a0 ["lol", "lol", "lol", "lol", "lol", "lol", "lol", "lol", "lol"]']
    + [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
)


def told_of(folder: Path, content: str | bytes, task: Any = "read") -> Answer:
    source = folder / "upload"
    source.write_bytes(content if isinstance(content, bytes) else content.encode())
    target, index, events = (str(folder / name) for name in ("target", "index", "events"))
    return answer(Request(task=task, source=str(source), target=target, index=index, events=events))


def assert_refused_in_all_languages(found: Answer) -> None:
    assert isinstance(found.error, Sentence), found
    assert_said_in_all_languages(list(sentences(found.error)))


@pytest.mark.parametrize(
    "content",
    [
        *(
            "",
            "---\n",
            "{",
            "{]}",
            '{"a": 1} x',
            "[" * 100_000,
            b"\x00\x01",
            "a: [1, 2",
            "a: *",
            "a: b: c",
            '{"a": 1,}',
            '{"a": 1}{"b" 2}',
            "a: &a\n  b: *a\n",
            BOMB,
        ),
        *("text", "[1, 2.5]", "[true]", "[null]", "[[1]]", '{"nodes": [], "schedulerConfig": 5}'),
        *(listed(5), listed("a", "b"), listed({"kind": "PodList", "items": [5]})),
        listed(CONFIGURATION, CONFIGURATION),
        listed(CONFIGURATION),
        listed(EVENT),
        listed({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}),
        *(
            listed({**EVENT, **wrong})
            for wrong in (
                {"involvedObject": None},
                {"eventTime": "yesterday"},
                {"eventTime": None},
                {"count": "3"},
                {"message": 5},
            )
        ),
    ],
)
def test_why_a_file_is_refused(tmp_path: Path, content: str | bytes) -> None:
    assert_refused_in_all_languages(told_of(tmp_path, content))


KLOG = "W1123 10:00:00.123456   12345 warnings.go:70] v1 ComponentStatus is deprecated in v1.19+\n"
WORKLOAD: dict[str, Any] = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}}
SELECTING: dict[str, Any] = {"selector": {"matchLabels": {"app": "web"}}}
TEMPLATE: dict[str, Any] = {
    "metadata": {"labels": {"app": "web"}},
    "spec": {"containers": [{"name": "c", "image": "i"}]},
}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("metadata:\n  name: {{ .Values.name }}\n", "Helm template"),
        ('{{- include "common" . }}\nkind: Pod\n', "Helm template"),
        (
            listed({**make_pod("a", "x"), "metadata": {"name": "{{ .Release.Name }}", "namespace": "x"}}),
            "Helm template",
        ),
        ("NAME   READY   STATUS    RESTARTS   AGE\nweb    1/1     Running   0          3d\n", "kubectl get prints"),
        ("NAMESPACE  NAME  READY  UP-TO-DATE\nx  web  1/1  1\n", "kubectl get prints"),
        (
            "NAME     STATUS   ROLES    AGE   VERSION\r\nnode-1   Ready    <none>   3d    v1.36.0\r\n",
            "kubectl get prints",
        ),
        (
            "LAST SEEN   TYPE      REASON      OBJECT    MESSAGE\n3s  Normal  Scheduled  pod/web  x\n",
            "kubectl get events",
        ),
        ("Name:             web\nNamespace:        shop\nPriority:         0\n", "kubectl describe"),
        ("pod/web-1\npod/web-2\n", "only names"),
        ("No resources found in default namespace.\n", "kubectl found nothing"),
        ("Unable to connect to the server: dial tcp: lookup x\n", "kubectl failed"),
        ("apiVersion: v1\nkind: Config\nclusters: []\nusers: []\n", "kubeconfig"),
        ('{"kind": "Policy", "apiVersion": "v1", "predicates": []}', "scheduler Policy"),
        (
            "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n",
            "KubeSchedulerConfiguration of kubescheduler.config.k8s.io/v1beta3",
        ),
        ('{"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "no"}', "the API server answered: no"),
        ('{"kind": "Table", "apiVersion": "meta.k8s.io/v1", "rows": []}', "kubectl get prints"),
        ("resources:\n- a.yaml\n", "Kustomization"),
        ("apiVersion: v2\nname: web\nversion: 1.0.0\n", "Helm chart"),
        (b"\xff\xfe{\x00\x00", "neither UTF-8 nor UTF-16"),
        (KLOG + listed(make_node("n")), "Line 1 is a message that kubectl printed"),
        (listed(make_node("n")) + f"\n{KLOG}", "Line 2 is a message that kubectl printed"),
        (f"apiVersion: v1\n{KLOG}kind: Node\n", "Line 2 is a message that kubectl printed"),
        ("Warning: v1 Endpoints is deprecated in v1.33+\napiVersion: v1\nkind: Node\n", "Line 1 is a message"),
        ("$ kubectl get nodes -o json\n{}", "Line 1 is a command line of a shell"),
        ("me@host:~$ kubectl get nodes -o yaml\napiVersion: v1\n", "Line 1 is a command line of a shell"),
        ("PS C:\\Users\\me> kubectl get nodes -o json\r\n{}", "Line 1 is a command line of a shell"),
        (listed(make_node("n")) + "\nme@host:~$ \n", "Line 2 is a command line of a shell"),
        ("```yaml\napiVersion: v1\nkind: Node\n```\n", "Line 1 is a mark of Markdown"),
        (listed(make_node("n")).replace('"', "\u201c"), "typographic quotes"),
        ("apiVersion: v1\nkind: Node\nmetadata:\n\u00a0\u00a0name: n\n", "no-break spaces"),
        (gzip.compress(listed(make_node("n")).encode()), "gzip archive"),
        (listed(make_node("n")).encode("utf-16-le"), "no UTF-8 text"),
        ("<!DOCTYPE html>\n<html></html>", "a web page"),
        ("deployment.apps/web created\nservice/web configured\n", "kubectl apply prints"),
        ("kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\n", "how kind makes a cluster"),
        ("C:\\Users\\me\\export.json", "found a text: C:\\Users"),
    ],
)
def test_what_is_no_manifest_is_told_by_its_name(tmp_path: Path, content: str | bytes, words: str) -> None:
    found = told_of(tmp_path, content)
    assert words in str(found.error)
    assert_refused_in_all_languages(found)


def test_what_became_of_workloads_and_what_is_wrong_with_some_is_said_in_all_languages(tmp_path: Path) -> None:
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}}
    cron = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "c", "uid": "u"}}
    of_job = {"completions": 3, "template": {"spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}}
    items = [
        make_node("n"),
        make_node("n"),
        {**WORKLOAD, "spec": {**SELECTING, "template": TEMPLATE}},
        {**WORKLOAD, "metadata": {"name": "db"}, "kind": "StatefulSet", "spec": {**SELECTING, "template": TEMPLATE}},
        {**WORKLOAD, "kind": "ReplicaSet", "spec": {**SELECTING, "template": TEMPLATE}},
        {**WORKLOAD, "kind": "DaemonSet", "spec": {**SELECTING, "template": TEMPLATE}},
        {**job, "spec": of_job},
        {**cron, "spec": {"jobTemplate": {"spec": of_job}}},
        {**cron, "metadata": {"name": "new"}, "spec": {"jobTemplate": {"spec": of_job}}},
        {
            **WORKLOAD,
            "metadata": {"name": "urgent"},
            "spec": {
                **SELECTING,
                "template": {**TEMPLATE, "spec": {**TEMPLATE["spec"], "priorityClassName": "nowhere"}},
            },
        },
    ]
    found = told_of(tmp_path, listed(*items))
    assert [str(each) for each in found.notes] == [
        "6 pods were made from 1 Deployment, 1 StatefulSet, 1 DaemonSet, 1 ReplicaSet, 1 Job and 1 CronJob, "
        "as their controllers would make them.",
        "4 further pods of Jobs come only when others have finished; they are not made.",
        "1 CronJob makes no pod until its time comes; what runs of it now is in the export.",
    ]
    assert [each.name for each in found.problems] == ["n", "urgent"]
    told = sentences([*found.notes, *(each.words for each in found.problems)])
    # "1 Deployment" has no word of a language.
    assert_said_in_all_languages([each for each in told if each.text[0].removeprefix("{count} ") not in KINDS])


def test_that_a_file_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "JSON_LIMIT", 2)
    monkeypatch.setattr(documents, "YAML_LIMIT", 2)
    for content in (listed(EVENT), "kind: Pod"):
        assert_refused_in_all_languages(told_of(tmp_path, content))


def test_that_a_file_has_no_events_of_schedulers(tmp_path: Path) -> None:
    others = [make_event("x/a", "Pulled", f"i{n}", reportingComponent="kubelet") for n in range(5)]
    for events in (others, others[:1], []):
        assert_refused_in_all_languages(told_of(tmp_path, listed(make_node("n"), *events), "events"))


@pytest.mark.parametrize("pods", [1, 2, 5])
def test_what_to_know_of_a_file(tmp_path: Path, pods: int) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
    lost = [make_pod(f"p{number}", "x", node="elsewhere") for number in range(pods)]
    lost[0]["metadata"]["labels"] = {"token": "correct-horse", "sk-ABCDEFGHIJKLMNOPQRST0123": ""}
    read = told_of(tmp_path, listed(make_node("n"), secret, *lost))
    found = [*read.warnings, *read.notes, *told_of(tmp_path, listed(*lost)).warnings]
    assert len(found) == 7
    assert_said_in_all_languages(list(sentences(found)))


@pytest.mark.django_db
def test_every_reader_of_an_import_has_it_in_their_language(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "announce", read_next)
    client.force_login(accounts.account_create(username="eda", role=Role.EDITOR, password=None))

    def read(content: str, language: str) -> Any:
        sent = client.post("/api/v1/imports/", {"file": SimpleUploadedFile("f.json", content.encode())})
        where = f"/api/v1/imports/{sent.json()['id']}/"
        return client.get(where, headers={"Accept-Language": language}).json()

    for language, letters in LETTERS.items():
        assert letters.search(read("[5]", language)["error"])
        [warning] = read(listed(make_pod("a", "x")), language)["warnings"]
        assert letters.search(warning)
    refused = Import.objects.filter(state="failed").first()
    assert refused is not None
    assert isinstance(refused.error, Sentence)
    where = f"/api/v1/imports/{refused.pk}/commit/"
    commit = client.post(where, {}, content_type="application/json", headers={"Accept-Language": "uk"})
    assert commit.status_code == 409
    assert commit.json()["error"]["message"] == (
        "f.json неможливо імпортувати: Очікується обʼєкт Kubernetes, а знайдено число."
    )


@pytest.mark.django_db
def test_an_import_that_an_earlier_version_read_is_shown_as_it_is(client: Client) -> None:
    user = accounts.account_create(username="eda", role=Role.EDITOR, password=None)
    client.force_login(user)
    row = Import.objects.create(
        created_by=user, filename="f", size_bytes=1, state="failed", error="No.", warnings=["1 pods run"]
    )
    shown = client.get(f"/api/v1/imports/{row.pk}/", headers={"Accept-Language": "uk"}).json()
    assert (shown["error"], shown["warnings"]) == ("No.", ["1 pods run"])


@pytest.mark.django_db
@pytest.mark.parametrize("language", LETTERS)
def test_samples_and_their_descriptions(client: Client, language: str) -> None:
    samples_load()
    client.force_login(accounts.account_create(username="eda", role=Role.EDITOR, password=None))
    found = client.get("/api/v1/snapshots/", headers={"Accept-Language": language}).json()["results"]
    assert len(found) == 5
    assert not [each["description"] for each in found if not LETTERS[language].search(each["description"])]


@pytest.mark.django_db
@pytest.mark.parametrize("language", LETTERS)
def test_what_is_wrong_with_the_configuration_of_a_cluster(client: Client, language: str) -> None:
    user = accounts.account_create(username="eda", role=Role.EDITOR, password=None)
    client.force_login(user)
    text = listed(make_node("a"), {**CONFIGURATION, "profiles": [{"percentageOfNodesToScore": "all"}]})
    row = services.import_create(user=user, filename="x.json", upload=text.encode())
    services.import_read(import_id=row.pk)
    found = client.get(f"/api/v1/imports/{row.pk}/", headers={"Accept-Language": language}).json()
    [error] = found["configuration_errors"]
    assert "percentageOfNodesToScore" in error
    assert LETTERS[language].search(error)
