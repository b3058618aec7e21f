"""What would help a pending pod and the fork that shows it; how many more fit."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from scripts.site import Site
from tests.browser.visits import Visit

TRAINER = "ml/trainer-9d9cf4ccc-8zklc"


def test_what_would_help_is_tried_on_a_fork(cluster_shop_run: str, desk: Visit, site: Site) -> None:
    before = site.get(f"/api/v1/runs/{cluster_shop_run}/")
    page = desk.go(f"/runs/{cluster_shop_run}/pods/{TRAINER}")
    helps = page.get_by_role("region", name="What would help")
    remedy = helps.get_by_role("listitem").filter(has_text="Lower the request of nvidia.com/gpu from 8 to 6")
    expect(remedy).to_contain_text("It goes to ip-10-0-3-11. Nobody loses a place.")
    expect(helps.get_by_role("listitem").filter(has_text="Raise its priority")).to_contain_text("Evicts ml/trainer")
    remedy.get_by_role("button", name=re.compile("^Try on a fork")).click()
    page.wait_for_url(re.compile(r"/runs/(?!" + cluster_shop_run + ")"))
    fork = page.url.split("/runs/")[1].split("?")[0]
    assert "trainer-9d9cf4ccc-8zklc" in page.url
    desk.play()
    site.run_until(fork, "the pod found its node", lambda seen: placed_on(site, fork) == "ip-10-0-3-11")
    after = site.get(f"/api/v1/runs/{cluster_shop_run}/")
    assert (after["digest"], after["position"]) == (before["digest"], before["position"])


def placed_on(site: Site, run: str) -> str | None:
    node: str | None = site.get(f"/api/v1/runs/{run}/pods/{TRAINER}/").get("node")
    return node


@pytest.mark.parametrize("pod", ["staging/windows-agent-8b98d9797-c5tpn"])
def test_a_first_sentence_and_its_remedy(cluster_shop_run: str, desk: Visit, pod: str) -> None:
    page = desk.go(f"/runs/{cluster_shop_run}/pods/{pod}")
    answer = page.get_by_role("region", name="Why is this pod pending")
    expect(answer.get_by_role("heading")).to_have_text("No node that it could use has kubernetes.io/os=windows.")
    expect(page.get_by_role("region", name="What would help")).to_contain_text(
        "Drop the node selector kubernetes.io/os=windows"
    )
