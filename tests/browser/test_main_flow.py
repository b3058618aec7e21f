"""From the printed link to a decision explained: import in the browser, run, watch the board, open pods."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

from playwright.sync_api import expect

from scripts.processes import ROOT, Playground
from scripts.site import Site
from tests.browser.conftest import Opener
from tests.browser.visits import Visit

EXPORT = ROOT / "tests/data/cluster-shop/kubectl-export.json.gz"
TRAINER = "trainer-9d9cf4ccc-8zklc"


def import_in_the_browser(desk: Visit, folder: Path) -> None:
    """Chooses the export, leaves a namespace out, takes it in again, and presses Import and run."""
    export = folder / "kubectl-export.json"
    export.write_bytes(gzip.decompress(EXPORT.read_bytes()))
    page = desk.page
    panel = page.get_by_role("region", name="Import a cluster")
    panel.locator("input[type=file]").set_input_files(export)
    expect(panel.get_by_text("46 pending, 1 gated")).to_be_visible()
    summary = panel.get_by_role("status")
    expect(summary).to_contain_text("All of it: 36 nodes, 231 pods.")
    staging = panel.get_by_role("button", name=re.compile("^staging"))
    staging.click()
    expect(summary).to_contain_text("With staging left out: 36 nodes, 164 pods.")
    staging.click()
    expect(summary).to_contain_text("All of it: 36 nodes, 231 pods.")
    panel.get_by_role("button", name="Import and run").click()


def test_from_the_link_to_every_pending_pod_explained(
    playground: Playground, open_page: Opener, tmp_path: Path
) -> None:
    desk = open_page(playground.origin)
    page = desk.page
    page.goto(playground.another_link())
    expect(page.get_by_role("heading", name="Clusters")).to_be_visible()
    assert "token" not in page.url
    for sample in ("Three-zone shop", "GPU cluster", "Shared cluster", "Held places", "One thousand nodes"):
        expect(page.get_by_role("button", name=f"Run {sample}")).to_be_visible()

    import_in_the_browser(desk, tmp_path)
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("36 nodes, 231 pods")
    start = dialog.get_by_role("button", name="Start the run")
    expect(start).to_be_focused()
    # Prefilled is a configuration of one's own where there is one, and other tests of this server make some.
    dialog.get_by_label("Configuration").select_option(label="Default (built-in)")
    start.press("Enter")
    expect(desk.column("Active", 46)).to_be_visible()
    expect(desk.column("Bound", 184)).to_be_visible()
    expect(page.get_by_text("Worker lost")).to_have_count(0)

    page.get_by_role("button", name="Cycle", exact=True).click()
    expect(desk.column("Active", 45)).to_be_visible()
    expect(desk.column("Unschedulable", 1)).to_be_visible()
    page.evaluate("window.loadedOnce = true")
    desk.play("10/s")
    seen = set()
    while (left := desk.count_in("Active")) > 0:
        seen.add(left)
        page.wait_for_timeout(150)
    assert len(seen) > 3, f"the board moves while it is looked at, but Active only showed {sorted(seen)}"
    assert page.evaluate("window.loadedOnce") is True

    unschedulable = desk.column("Unschedulable", 46)
    expect(unschedulable).to_be_visible()
    expect(desk.column("Bound", 184)).to_be_visible()
    expect(desk.column("Gated", 1)).to_contain_text("data.example.com/quota")
    for card in ("legacy-report ×2", "trainer ×2", "ci-runner ×41"):
        expect(unschedulable.get_by_role("link", name=card)).to_be_visible()
    refused = unschedulable.get_by_role(
        "img", name=re.compile("^NodeAffinity rejects 24 nodes, TaintToleration rejects")
    )
    expect(refused).to_be_visible()
    expect(page.get_by_text("Finished", exact=True).first).to_be_visible()

    unschedulable.get_by_role("link", name="46 pods in Unschedulable, as a list").click()
    expect(page.get_by_role("heading", name="Unschedulable")).to_be_visible()
    expect(page.locator("table")).to_have_attribute("aria-rowcount", "47")
    page.get_by_label("Filter pods").fill("trainer")
    expect(page.locator("table")).to_have_attribute("aria-rowcount", "3")
    page.get_by_role("link", name=TRAINER).click()
    expect(page.get_by_role("heading", level=1, name=TRAINER)).to_be_visible()


def test_why_a_pod_is_pending_is_said_in_words_and_per_node(cluster_shop_run: str, desk: Visit) -> None:
    page = desk.go(f"/runs/{cluster_shop_run}/pods/ml/{TRAINER}")
    answer = page.get_by_role("region", name="Why is this pod pending")
    expect(answer.get_by_role("heading")).to_have_text("No node has 8 free GPUs; the nearest, ip-10-0-3-11, has 6.")
    answer.get_by_role("button", name="Message as kube-scheduler writes it").click()
    expect(answer).to_contain_text("0/36 nodes are available: ")

    strip = page.get_by_role("tablist", name="Extension points")
    expect(strip.get_by_role("tab")).to_have_count(11)
    chosen = strip.get_by_role("tab", selected=True)
    expect(chosen).to_contain_text("Filter")
    expect(chosen).to_contain_text("0 of 36 nodes")
    chosen.press("ArrowRight")
    expect(page.get_by_role("tabpanel", name=re.compile("^PostFilter"))).to_contain_text("DefaultPreemption")
    strip.get_by_role("tab", name=re.compile("^Filter")).click()

    panel = page.get_by_role("tabpanel", name=re.compile("^Filter"))
    groups = panel.get_by_role("heading", level=4)
    expect(groups.first).to_be_visible()
    sizes = [int(size) for text in groups.all_inner_texts() for size in re.findall(r"^\d+", text)]
    assert sum(sizes) == 36, f"every node is in one group, but they have {sizes}"
    expect(panel.get_by_role("img", name="GPU: 2 requested of 8 allocatable, 6 free, 8 needed")).to_be_visible()
    panel.get_by_label("Filter the nodes").fill("ip-10-0-3-11")
    expect(groups).to_have_count(1)
    panel.get_by_label("Filter the nodes").fill("")
    panel.get_by_role("radio", name="Table").check()
    expect(panel.get_by_role("link", name="ip-10-0-3-11")).to_be_visible()


def test_the_gated_pod_says_which_gate_holds_it(cluster_shop_run: str, desk: Visit) -> None:
    page = desk.go(f"/runs/{cluster_shop_run}/pods/data/nightly-export")
    expect(page.get_by_role("region", name="Why is this pod gated")).to_contain_text("data.example.com/quota")
    expect(page.get_by_role("region", name="Attempt")).to_contain_text("Not tried: it is held before the queue.")


def test_a_placed_pod_shows_how_its_node_won(shop_run: str, site: Site, desk: Visit) -> None:
    """Postgres-2 waits on Permit, so its node is chosen and scored."""
    page = desk.go(f"/runs/{shop_run}/pods/data/postgres-2?point=Score")
    panel = page.get_by_role("tabpanel", name=re.compile("^Score"))
    expect(panel.get_by_role("img", name=re.compile("NodeResourcesFit")).first).to_be_visible()
    attempt = site.get(f"/api/v1/runs/{shop_run}/pods/data/postgres-2/")["attempt_list"][0]["number"]
    scores = site.get(f"/api/v1/runs/{shop_run}/attempts/{attempt}/scores/?limit=50&offset=0")
    best = scores["chosen"]
    assert best["total"] == sum(cell["points"] for cell in best["cells"])
    expect(panel.get_by_role("complementary", name="Step by step")).to_contain_text(f"{best['total']:,}")
    expect(panel.locator("tr", has_text="chosen")).to_contain_text(best["node"])
    panel.get_by_role("radio", name="Table").check()
    expect(panel.locator("tr", has_text=best["node"]).first).to_contain_text(f"{best['total']:,}")
    expect(panel.get_by_role("columnheader", name="raw").first).to_be_visible()
