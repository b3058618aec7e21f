"""Connecting to a cluster and following it: a pending pod comes, its sentence is read, and it is bound by the real
scheduler. Its shadow: a planted difference is seen with the plugin that made it, and on its own what it leads to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from scripts.processes import Playground
from scripts.site import Site
from tests.apiserver import ApiServer
from tests.apiserver.access import READER
from tests.apiserver.manifests import node, pod
from tests.browser.conftest import Opener
from tests.browser.fits import unfit_in
from tests.browser.visits import Visit
from tests.first_start import FirstStart
from tests.schedweb.engine.test_judged import PACKED

PATIENCE = 60_000
MESSAGE = "0/3 nodes are available: 3 Insufficient cpu."

LOCAL = """milliseconds => {
    const at = new Date(Date.now() + milliseconds - new Date().getTimezoneOffset() * 60000);
    return at.toISOString().slice(0, 19);
}"""
"""So many milliseconds from now, as a field of date and time has it."""


def pending(name: str) -> dict[str, Any]:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": MESSAGE}
    containers = [{"name": "main", "image": "train:1", "resources": {"requests": {"cpu": "900"}}}]
    return pod(name, "ml", spec={"containers": containers}, status={"phase": "Pending", "conditions": [condition]})


@pytest.fixture
def followed(
    api_server: ApiServer,
    tmp_path: Path,
    chromium: Path,
    built_ui: None,
    open_page: Opener,
    first_start: FirstStart,
) -> Iterator[Visit]:
    """A desk of an installation of its own, whose one context is a cluster that answers."""
    api_server.add(*(node(f"n{number}") for number in range(3)))
    api_server.add(*(pod(f"web-{number}", "shop", on=f"n{number % 3}") for number in range(9)))
    token = api_server.user("reader", READER)
    path = api_server.write_kubeconfig(tmp_path / "config", token=token, context="prod")
    data = tmp_path / "data"
    data.mkdir()
    playground = Playground(first_start.into(data), KUBECONFIG=str(path))
    try:
        site = Site(playground.origin)
        site.open_link(playground.link)
        site.post("/api/v1/configurations/", {"name": "bin packing", "text": PACKED})
        seen = open_page(site.origin, site.cookies())
        yield seen
        seen.page.close()  # before its server goes
    finally:
        playground.process.stop()


def test_a_real_pod_is_seen_from_pending_to_bound(followed: Visit, api_server: ApiServer) -> None:
    page = followed.go("/clusters/prod")
    page.get_by_role("button", name="Connect").click()
    follow = page.get_by_role("button", name="Follow…")
    expect(follow).to_be_enabled(timeout=PATIENCE)
    follow.click()
    asked = page.get_by_role("dialog", name="Follow this cluster")
    asked.get_by_label("Keep at most").fill("80")
    asked.get_by_role("button", name="Follow").click()
    expect(page).to_have_url(re.compile("/runs/"), timeout=PATIENCE)
    strip = page.get_by_role("status").filter(has_text="Follows prod")
    expect(strip).to_contain_text("live", timeout=PATIENCE)
    expect(page.get_by_role("button", name="Play")).to_have_count(0)
    page.get_by_role("button", name="of 80.0 MB kept").click()
    kept = page.get_by_role("dialog", name="What is kept of this run")
    kept.get_by_label("Keep at most").fill("90")
    kept.get_by_role("button", name="Keep so much").click()
    expect(page.get_by_role("button", name="of 90.0 MB kept")).to_be_visible()

    id_ = page.url.partition("/runs/")[2].partition("?")[0]
    step = page.request.get(f"{followed.origin}/api/v1/runs/{id_}/").json()["position"]
    api_server.add(pending("train-0"))
    column = page.get_by_role("region", name=re.compile("^Unschedulable"))
    card = column.get_by_role("link", name=re.compile("train-0")).first
    expect(card).to_be_visible(timeout=PATIENCE)
    run = page.url
    page.goto(f"{run.partition('?')[0]}/pods/ml/train-0")
    said = "default-scheduler found no node for it in the real cluster."
    expect(page.get_by_role("heading", name=said)).to_be_visible()
    tried = page.get_by_role("region", name=re.compile("^With Default"))
    ours = "No node is that large: it asks for 900 cpu"
    expect(tried).to_contain_text(ours, timeout=PATIENCE)

    api_server.change("pods", "train-0", "ml", by=lambda it: it["spec"].update(nodeName="n1"))
    expect(page.get_by_role("heading", name="Bound to n1.")).to_be_visible(timeout=PATIENCE)
    page.goto(run)
    page.get_by_role("button", name="Stop following").click()
    expect(strip).to_contain_text("followed no more", timeout=PATIENCE)

    # What if ours had decided since then? A time before it began has no step; that of a step has one.
    page.goto(f"{followed.origin}/runs/{id_}@{step}")
    page.get_by_role("button", name="Fork", exact=True).click()
    asked = page.get_by_role("dialog", name=f"Fork at step {step:,}")
    followed.expect_complaint("422")
    since = asked.get_by_label("Since")
    expect(since).to_have_value(re.compile("T"))
    since.fill("2001-01-01T09:00:00")
    expect(asked.get_by_role("alert")).to_contain_text("it has no step at 2001-01-01")
    expect(asked.get_by_role("button", name="Fork")).to_be_disabled()
    since.fill(page.evaluate(LOCAL, 0))
    expect(asked.get_by_role("status")).to_contain_text(re.compile("^Takes step "), timeout=PATIENCE)
    since.fill("")
    expect(asked.get_by_label("Take what came to prod afterwards")).to_be_checked()
    asked.get_by_role("button", name="Fork").click()
    expect(page.get_by_text(re.compile(r"\d+ of \d+ still to come"))).to_be_visible(timeout=PATIENCE)
    page.get_by_role("button", name="Play").first.click()
    expect(page.get_by_text("all that came there has come")).to_be_visible(timeout=PATIENCE)
    expect(column.get_by_role("link", name=re.compile("train-0")).first).to_be_visible(timeout=PATIENCE)


def sized(name: str, cpu: str) -> dict[str, Any]:
    containers = [{"name": "main", "image": "train:1", "resources": {"requests": {"cpu": cpu}}}]
    return pod(name, "ml", spec={"containers": containers})


def bound_to(name: str) -> Callable[[dict[str, Any]], None]:
    return lambda it: it["spec"].update(nodeName=name)


def test_a_planted_difference_is_seen_with_its_plugin(followed: Visit, api_server: ApiServer) -> None:
    api_server.add(sized("full", "2"))
    api_server.change("pods", "full", "ml", by=lambda it: it["spec"].update(nodeName="n1"))
    page = followed.go("/clusters/prod")
    page.get_by_role("button", name="Connect").click()
    form = page.get_by_role("region", name="Shadow a configuration")
    begin = form.get_by_role("button", name="Try it on this cluster")
    expect(begin).to_be_enabled(timeout=PATIENCE)
    form.get_by_role("combobox", name="Configuration").select_option(label="bin packing")
    expect(form.get_by_role("combobox", name="For")).to_have_value("1440")
    begin.click()
    expect(page).to_have_url(re.compile("/runs/[^/]+/shadow"), timeout=PATIENCE)
    expect(page.get_by_role("heading", name="Shadow of prod")).to_be_visible(timeout=PATIENCE)
    id_ = page.url.partition("/runs/")[2].partition("/")[0]
    about = f"{followed.origin}/api/v1/runs/{id_}/follow/"
    first = datetime.fromisoformat(page.request.get(about).json()["until"])
    assert timedelta(hours=23) < first - datetime.now(UTC) <= timedelta(hours=24)
    expect(page.get_by_text("has bound no pod since")).to_be_visible(timeout=PATIENCE)
    shadow = page.url

    # The run has the pod as pending, then the real scheduler spreads where the configuration packs.
    api_server.add(sized("train-0", "1"))
    page.goto(shadow.replace("/shadow", ""))
    expect(page.get_by_role("link", name=re.compile("train-0")).first).to_be_visible(timeout=PATIENCE)
    page.get_by_role("link", name="Shadow").click()
    expect(page.get_by_text("has bound no pod since")).to_be_visible(timeout=PATIENCE)
    api_server.change("pods", "train-0", "ml", by=lambda it: it["spec"].update(nodeName="n2"))
    row = page.get_by_role("row", name=re.compile("train-0"))
    expect(row).to_be_visible(timeout=PATIENCE)
    for words in ("n2", "n1", "NodeResourcesFit +"):
        expect(row).to_contain_text(words)
    assert unfit_in(page, ("390 px", "768 px", "1440 px")) == []
    page.keyboard.press("Escape")
    expect(page).not_to_have_url(re.compile("/shadow"), timeout=PATIENCE)
    page.go_back()
    expect(row).to_be_visible(timeout=PATIENCE)
    agreement = page.get_by_role("region", name="Agreement")
    expect(agreement.get_by_role("alert")).to_contain_text("below 90 %")
    page.get_by_role("combobox", name="Alert below").select_option("never")
    expect(agreement.get_by_role("alert")).to_have_count(0, timeout=PATIENCE)
    page.get_by_role("combobox", name="Plugin").select_option("NodeResourcesFit")
    page.get_by_role("combobox", name="Namespace").select_option("ml")
    expect(row).to_be_visible()
    page.get_by_role("link", name=re.compile("^Stays pending")).click()
    expect(page.get_by_text("No decision of this kind.")).to_be_visible(timeout=PATIENCE)

    # It goes on a day longer, then until a moment that is soon: it stops by itself.
    page.get_by_role("button", name=re.compile("^until ")).click()
    end = page.get_by_role("dialog", name="When this run ends")
    end.get_by_role("button", name="A day longer").click()
    expect(end).to_have_count(0)
    assert datetime.fromisoformat(page.request.get(about).json()["until"]) - first == timedelta(days=1)
    page.get_by_role("button", name=re.compile("^until ")).click()
    end.get_by_label("Ends at").fill(page.evaluate(LOCAL, 5000))
    end.get_by_role("button", name="Set the end").click()
    expect(end).to_have_count(0)
    page.goto(shadow.replace("/shadow", ""))
    strip = page.get_by_role("status").filter(has_text="Follows prod")
    expect(strip).to_contain_text("followed no more, since", timeout=PATIENCE)
    expect(page.get_by_text("It was to go on until")).to_be_visible()

    sent = {(each.method, each.resource) for each in api_server.requests if each.method != "GET"}
    assert sent <= {("POST", "selfsubjectaccessreviews")}


def test_a_shadow_on_its_own_shows_what_differences_add_up_to(followed: Visit, api_server: ApiServer) -> None:
    """Ours packs, so a large pod fits here. There every node is half full, and it stays pending."""
    page = followed.go("/clusters/prod")
    page.get_by_role("button", name="Connect").click()
    form = page.get_by_role("region", name="Shadow a configuration")
    begin = form.get_by_role("button", name="Try it on this cluster")
    expect(begin).to_be_enabled(timeout=PATIENCE)
    expect(form.get_by_role("radio", name=re.compile("^Step by step"))).to_be_checked()
    form.get_by_role("radio", name=re.compile("^On its own The same arrivals")).check()
    form.get_by_role("combobox", name="Configuration").select_option(label="bin packing")
    begin.click()
    expect(page).to_have_url(re.compile("/runs/[^/]+/shadow"), timeout=PATIENCE)
    expect(page.get_by_role("heading", name="No pod has come since the shadow began.")).to_be_visible(timeout=PATIENCE)

    for number in range(3):
        api_server.add(sized(f"half-{number}", "1800m"))
        api_server.change("pods", f"half-{number}", "ml", by=bound_to(f"n{number}"))
    came_to = page.get_by_role("region", name="What they came to")
    expect(page.get_by_role("heading", name=re.compile("^3 pods came: . on another node"))).to_be_visible(
        timeout=PATIENCE
    )
    train = pending("train-0")
    train["spec"]["containers"] = sized("train-0", "3")["spec"]["containers"]
    api_server.add(train)
    row = page.get_by_role("row", name=re.compile("train-0"))
    expect(row).to_contain_text("The real scheduler refused all of its 3 nodes.", timeout=PATIENCE)
    expect(row).to_contain_text(re.compile("pending.*n[012]"))
    expect(came_to.get_by_role("row", name=re.compile("^Pods not placed 1 0"))).to_be_visible()
    expect(came_to.get_by_role("row", name=re.compile("^Pods placed 12 13"))).to_be_visible()
    page.get_by_role("link", name=re.compile("^Pending there only 1")).click()
    expect(page.get_by_role("row", name=re.compile("half-"))).to_have_count(0, timeout=PATIENCE)
    expect(row).to_be_visible()
    page.get_by_role("combobox", name="Namespace").select_option("ml")
    page.get_by_role("link", name=re.compile("^All that differ")).click()
    expect(page.get_by_role("row", name=re.compile("half-")).first).to_be_visible(timeout=PATIENCE)
    assert unfit_in(page, ("390 px", "768 px", "1440 px")) == []

    row.get_by_role("link", name=re.compile("^n[012]")).click()
    expect(page.get_by_role("heading", name=re.compile("^Bound to n"))).to_be_visible(timeout=PATIENCE)
    page.go_back()
    page.goto(page.url.partition("/shadow")[0])
    strip = page.get_by_role("status").filter(has_text="Beside prod, on its own")
    expect(strip).to_contain_text("live", timeout=PATIENCE)
    page.get_by_role("button", name="Stop following").click()
    expect(strip).to_contain_text("followed no more", timeout=PATIENCE)
    sent = {(each.method, each.resource) for each in api_server.requests if each.method != "GET"}
    assert sent <= {("POST", "selfsubjectaccessreviews")}
