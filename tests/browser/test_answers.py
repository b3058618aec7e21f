"""What would help a pending pod and the fork that shows it; how many more fit."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import expect

from scripts.site import Site
from tests.browser.visits import Visit

TRAINER = "ml/trainer-9d9cf4ccc-8zklc"


def test_what_would_help_is_tried_on_a_fork(cluster_shop_run: str, desk: Visit, site: Site) -> None:
    before = site.get(f"/api/v1/runs/{cluster_shop_run}/")
    page = desk.go(f"/runs/{cluster_shop_run}/pods/{TRAINER}")
    helps = page.get_by_role("region", name="What would help")
    remedy = helps.get_by_role("listitem").filter(has_text="Lower the request of nvidia.com/gpu from 8 to 6")
    expect(remedy).to_contain_text("It goes to ip-10-0-3-11.")
    expect(remedy).to_contain_text("Of 2 pending pods of deployment/trainer, 1 has a node then.")
    expect(remedy).to_contain_text("Nobody loses a place.")
    moved = helps.get_by_role("listitem").filter(has_text="Move ml/serve-6859b459fc-5dpf4 to ip-10-0-3-14")
    expect(moved.get_by_role("list", name="What becomes of other pods").get_by_role("listitem")).to_have_text(
        [
            "ml/serve-6859b459fc-5dpf4 leaves ip-10-0-3-11 and goes to ip-10-0-3-14.",
            "ml/serve-6859b459fc-p7clb leaves ip-10-0-3-11 and goes to ip-10-0-3-12.",
        ]
    )
    remedy.get_by_role("button", name=re.compile("^The patch: Lower")).click()
    commands = remedy.get_by_role("region", name="In a real cluster")
    expect(commands).to_contain_text("kubectl patch deployment/trainer -n ml --type=strategic")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    remedy.get_by_role("button", name="Copy: In a real cluster").click()
    expect(page.get_by_text("Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == commands.text_content()
    expect(remedy.get_by_role("region", name="The change")).to_contain_text('+            nvidia.com/gpu: "6"')
    remedy.get_by_role("button", name=re.compile("^Try on a fork")).click()
    page.wait_for_url(re.compile(r"/runs/(?!" + cluster_shop_run + ")"))
    fork = page.url.split("/runs/")[1].split("?")[0]
    assert "trainer-9d9cf4ccc-8zklc" in page.url
    site.run_until(fork, "the pod found its node", lambda seen: placed_on(site, fork) == "ip-10-0-3-11")
    after = site.get(f"/api/v1/runs/{cluster_shop_run}/")
    assert (after["digest"], after["position"]) == (before["digest"], before["position"])


def placed_on(site: Site, run: str) -> str | None:
    node: str | None = site.get(f"/api/v1/runs/{run}/pods/{TRAINER}/").get("node")
    return node


def test_a_first_sentence_and_its_remedy(cluster_shop_run: str, desk: Visit) -> None:
    page = desk.go(f"/runs/{cluster_shop_run}/pods/staging/windows-agent-8b98d9797-c5tpn")
    answer = page.get_by_role("region", name="Why is this pod pending")
    expect(answer.get_by_role("heading")).to_have_text("No node has kubernetes.io/os=windows.")
    expect(page.get_by_role("region", name="What would help")).to_contain_text(
        "Add a node like ip-10-0-4-10 (3.92 cpu, 15.1 Gi memory), with kubernetes.io/os=windows"
    )


def test_how_many_more_fit_and_how_many_nodes_it_takes(cluster_shop_run: str, desk: Visit) -> None:
    page = desk.go(f"/runs/{cluster_shop_run}/pods/staging/ci-runner-7b8b755487-2b4rn")
    page.get_by_role("link", name="How many more fit?").click()
    pods = page.get_by_role("region", name="How many more pods like this one fit?")
    expect(pods).to_contain_text("No more like staging/ci-runner-7b8b755487-2b4rn fits.")
    expect(pods).to_contain_text("The next: 0/36 nodes are available")
    expect(pods.get_by_role("row").filter(has_text="24 nodes")).to_contain_text("NodeResourcesFit")
    pods.get_by_label("Pod, namespace/name").fill("shop/nobody")
    pods.get_by_role("button", name="Count").click()
    expect(pods).to_contain_text('pods "nobody" not found in namespace "shop"')
    nodes = page.get_by_role("region", name="How many nodes until everybody fits?")
    nodes.get_by_label(re.compile("^Shape")).select_option(label="m7i.2xlarge: 7.92 cpu, 31 Gi (19 nodes)")
    expect(nodes).to_contain_text(re.compile(r"more nodes like ip-10-0-1-\d+ give 41 pending pods a place"))
    expect(nodes.get_by_role("row").filter(has_text="staging/legacy-report")).to_have_count(2)
    with page.expect_download() as saved:
        nodes.get_by_role("button", name="CSV").click()
    assert saved.value.suggested_filename == "capacity-nodes.csv"
    content = saved.value.path().read_text()
    assert content.startswith("shape,nodes,helped,with_one_less,pod_that_stays_pending,message")
    assert "staging/windows-agent" in content


def test_capacity_is_in_the_menu_of_a_run(cluster_shop_run: str, desk: Visit) -> None:
    page = desk.go(f"/runs/{cluster_shop_run}")
    page.get_by_role("button", name=re.compile("^More")).click()
    page.get_by_role("menuitem", name="Capacity…").click()
    expect(page.get_by_role("heading", name="Capacity", exact=True)).to_be_visible()


def test_what_operators_read_of_a_run(cluster_shop_run: str, desk: Visit) -> None:
    page = desk.page
    desk.go(f"/runs/{cluster_shop_run}")
    page.get_by_role("button", name=re.compile("^More")).click()
    page.get_by_role("menuitem", name="Events, metrics, dump…").click()
    events = page.get_by_role("region", name="Events", exact=True)
    expect(events.get_by_role("row").nth(1)).to_be_visible()
    page.get_by_role("radio", name="FailedScheduling").check(force=True)
    expect(events.get_by_role("cell", name="Scheduled", exact=True)).to_have_count(0)
    expect(events.get_by_role("cell", name=re.compile("nodes are available")).first).to_be_visible()
    with page.expect_download() as table:
        page.get_by_role("link", name="Table").click()
    assert table.value.suggested_filename.endswith("-events.txt")
    page.get_by_role("button", name="Write the dump").click()
    expect(page.get_by_text("The cache has what the cluster has.")).to_be_visible(timeout=60_000)
    expect(page.get_by_role("region", name="Cache and queue").get_by_text("Dump of cached NodeInfo")).to_be_visible()
    with page.expect_download() as dump:
        page.get_by_role("button", name="Download").click()
    assert "Dump of scheduling queue" in Path(dump.value.path()).read_text(encoding="utf-8")
