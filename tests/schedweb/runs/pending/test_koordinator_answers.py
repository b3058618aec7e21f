"""First sentences about pods that the plugins after koordinator keep out, of runs that were really played."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User

from framework.configuration.presets import preset
from schedweb.runs.models import PodRecord
from schedweb.runs.pods.page import pod_body
from schedweb.runs.records.runs import run_get
from tests.advice.test_koordinator_remedies import load
from tests.schedweb.engine.worlds import Manifest, node, pod
from tests.schedweb.runs.conftest import played_out


def answer(operator: User, id_: str, objects: list[Manifest], name: str) -> tuple[str, str]:
    chosen = preset(id_)
    assert chosen is not None
    game = played_out(operator, objects, configuration=chosen.text)
    record = PodRecord.objects.get(run=game.run, name=name, node="")
    body: dict[str, Any] = pod_body(run_get(game.run.pk), record.namespace, record.name)
    return body["answer"]["headline"], body["answer"]["detail"]


def test_which_node_is_least_busy_and_how_busy_it_may_be(operator: User) -> None:
    headline, detail = answer(operator, "load-aware", [node("a"), node("b"), load(a=70, b=60), pod("x", cpu="1")], "x")
    assert headline == "Every node that it may use is too busy, by its measured load."
    assert detail.startswith(
        "Nearest is b: 60 % of its cpu is in use and would be 81 % with this pod, of 65 % allowed. "
        "The pod is tried again when the load changes"
    )
    assert "leaves" not in detail
