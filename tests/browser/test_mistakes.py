"""Mistakes in a configuration: said while typed, at their line or field, in words; nothing is saved or lost.

And in a manifest: said when it is sent.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import FilePayload, expect

from scripts.site import Site
from tests.browser import stages
from tests.browser.visits import Visit

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
PROFILE = HEAD + "profiles:\n- schedulerName: one\n"
SCORE = PROFILE + "  plugins:\n    score:\n      disabled: [{name: ImageLocality}]\n      enabled:\n"
ARGS = PROFILE + "  pluginConfig:\n  - name: NodeResourcesFit\n    args:\n"

# Text, line, what stands at the end of it.
ERRORS = {
    "unknown plugin": (SCORE + "      - name: NodeResourceFit\n", 9, "does not exist. Did you mean NodeResourcesFit?"),
    "plugin at another point": (
        PROFILE + "  plugins:\n    bind:\n      enabled: [{name: NodeName}]\n",
        7,
        "It extends filter.",
    ),
    "unknown field": (HEAD + "percentageOfNodeToScore: 5\n", 3, "Did you mean percentageOfNodesToScore?"),
    "wrong type": (HEAD + "parallelism: many\n", 3, "must be a whole number"),
    "weight beyond 32 bits": (
        SCORE + "      - name: ImageLocality\n        weight: 99999999999\n",
        10,
        "must be a whole number (32 bits)",
    ),
    "one name, two profiles": (PROFILE + "- schedulerName: one\n", 5, "An earlier profile has this name"),
    "two that sort the queue": (
        PROFILE + "  plugins:\n    queueSort:\n      enabled: [{name: Coscheduling}]\n",
        7,
        "but got 2",
    ),
    "share of nodes": (HEAD + "percentageOfNodesToScore: 101\n", 3, "not in valid range [0-100]"),
    "arguments": (ARGS + "      scoringStrategy: {type: Leastallocated}\n", 8, 'supported values: "LeastAllocated"'),
    "weight of a resource": (
        ARGS + "      scoringStrategy: {resources: [{name: cpu, weight: 120}]}\n",
        8,
        "resource weight of cpu not in valid range",
    ),
    "feature gate": (
        "# kube-scheduler --feature-gates=PopFromQueue=true\n" + HEAD,
        1,
        "unrecognized feature gate: PopFromQueue",
    ),
    "no YAML": (HEAD + "profiles:\n  - schedulerName: a\n   plugins: {}\n", 5, "yaml: line 5"),
}
WARNINGS = {
    "weight 0": (SCORE + "      - name: ImageLocality\n        weight: 0\n", 10, "a weight of 0 is as good as none"),
    # With one before it, so that the sum of weights is not below 0.
    "negative weight": (
        SCORE + "      - name: NodeResourcesFit\n        weight: 3\n      - name: ImageLocality\n        weight: -1\n",
        12,
        "likes best come last",
    ),
    "nothing of that name": (
        PROFILE + "  plugins:\n    score:\n      disabled: [{name: ImageLocalty}]\n",
        7,
        "Did you mean ImageLocality?",
    ),
}


def made(site: Site, name: str) -> Any:
    return site.post("/api/v1/configurations/", {"name": name, "preset": "default"})["id"]


def newest(site: Site, configuration: str) -> Any:
    return site.get(f"/api/v1/configurations/{configuration}/")["latest"]["number"]


def write(desk: Visit, text: str) -> None:
    # Chromium gives text that replaces other text a style of its own before the editor sees it; the policy forbids it.
    desk.expect_complaint("^Applying inline style violates")
    page = desk.page
    page.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)


@pytest.fixture(scope="session")
def typed_into(site: Site) -> str:
    return str(made(site, "full of mistakes"))


def test_a_mistake_is_said_on_its_line_and_keeps_save_off(
    typed_into: str, site: Site, desk: Visit, subtests: pytest.Subtests
) -> None:
    page = desk.go(f"/configurations/{typed_into}?view=yaml")
    for mistake, (text, line, said) in ERRORS.items():
        with subtests.test(mistake):
            write(desk, text)
            expect(page.locator(".cm-line").nth(line - 1)).to_contain_text(said)
            expect(page.get_by_role("button", name=re.compile(r"^\d+ errors?$"))).to_be_visible()
            expect(page.get_by_role("button", name="Save…")).to_be_disabled()
            page.keyboard.press("Control+s")
            expect(page.get_by_role("dialog")).to_have_count(0)
            page.reload()
            expect(page.locator(".cm-line").nth(line - 1)).to_contain_text(said)
            assert newest(site, typed_into) == 1


def test_what_kube_scheduler_takes_without_a_word_is_said_but_can_be_saved(
    typed_into: str, desk: Visit, subtests: pytest.Subtests
) -> None:
    for mistake, (text, line, said) in WARNINGS.items():
        with subtests.test(mistake):
            page = desk.go(f"/configurations/{typed_into}?view=yaml")
            write(desk, text)
            expect(page.locator(".cm-line").nth(line - 1)).to_contain_text(said)
            expect(page.get_by_role("button", name="Save…")).to_be_enabled()
            page.get_by_role("radio", name="Form").click()
            warned = page.get_by_role("region", name="one").get_by_role("button", name=re.compile(re.escape(said)))
            expect(warned).to_contain_text(f"line {line}")


def test_a_text_that_cannot_be_read_keeps_the_form_shut_and_says_where(typed_into: str, desk: Visit) -> None:
    page = desk.go(f"/configurations/{typed_into}?view=yaml")
    write(desk, ERRORS["no YAML"][0])
    expect(page.get_by_role("radio", name="Form")).to_be_disabled()
    expect(page.get_by_role("status").filter(has_text="line 5")).to_be_visible()
    write(desk, HEAD)
    expect(page.get_by_role("radio", name="Form")).to_be_enabled()


def test_a_weight_that_is_none_is_refused_beside_its_field(site: Site, desk: Visit) -> None:
    page = desk.go(f"/configurations/{made(site, 'weights')}?plugin=NodeAffinity")
    weight = page.get_by_label("Weight at Score")
    for typed, said in (
        ("0", "A weight of 0 is as good as none; switch the plugin off at Score instead. It stays at 2."),
        ("much", "A weight is a whole number. It stays at 2."),
        ("2.5", "A weight is a whole number. It stays at 2."),
        ("9999999999", "The largest weight is 2,147,483,647. It stays at 2."),
    ):
        weight.fill(typed)
        expect(weight).to_have_value(typed)
        expect(weight).to_have_attribute("aria-invalid", "true")
        expect(page.get_by_text(said)).to_be_visible()
        expect(page.get_by_role("button", name="Save…")).to_be_disabled()
    weight.fill("101")
    expect(page.get_by_text("Draft, 1 change")).to_be_visible()
    expect(weight).to_have_attribute("aria-invalid", "false")
    weight.fill("-3")
    expect(page.get_by_text("nodes that NodeAffinity likes best come last")).to_be_visible()
    expect(page.get_by_role("gridcell", name=re.compile("weight −3"))).to_be_visible()


def test_fields_of_a_profile_and_of_all_profiles_say_what_is_wrong_with_them(site: Site, desk: Visit) -> None:
    configuration = made(site, "fields")
    page = desk.go(f"/configurations/{configuration}")
    share = page.get_by_label("percentageOfNodesToScore", exact=True)
    share.press_sequentially("101")
    expect(page.locator("#nodes-to-score-help")).to_have_text("not in valid range [0-100]")
    expect(page.get_by_role("button", name="Save…")).to_be_disabled()
    share.fill("50")
    expect(page.get_by_role("button", name="Save…")).to_be_enabled()

    page.get_by_role("button", name=re.compile("^parallelism: ")).click()
    page.get_by_label("parallelism", exact=True).fill("0")
    page.keyboard.press("Enter")
    expect(page.get_by_text("should be an integer value greater than zero").first).to_be_visible()
    page.get_by_role("button", name=re.compile("^parallelism: ")).click()
    page.get_by_label("parallelism", exact=True).fill("8")
    page.keyboard.press("Enter")
    expect(page.get_by_text("should be an integer value greater than zero")).to_have_count(0)

    page.get_by_role("button", name="Add a profile").click()
    page.keyboard.insert_text("second")
    page.keyboard.press("Enter")
    name = page.get_by_label("schedulerName", exact=True)
    expect(name).to_have_value("second")
    name.fill("default-scheduler")
    expect(page.get_by_text("Another profile is called default-scheduler")).to_be_visible()
    name.fill("")
    expect(page.get_by_text("A profile needs a name")).to_be_visible()
    assert newest(site, configuration) == 1


def test_an_argument_is_refused_under_its_field(site: Site, desk: Visit) -> None:
    page = desk.go(f"/configurations/{made(site, 'arguments')}?plugin=NodeResourcesFit")
    panel = page.get_by_role("region", name="NodeResourcesFit")
    panel.get_by_label("scoringStrategy.resources 1, weight").fill("120")
    expect(panel.get_by_text("resource weight of cpu not in valid range (0, 100]")).to_be_visible()
    expect(page.get_by_role("button", name="Save…")).to_be_disabled()
    expect(page.get_by_role("button", name=re.compile(r"^\d+ errors?$"))).to_be_visible()


def test_a_preset_is_a_draft_that_can_be_undone_and_shows_where_plugins_come_from(site: Site, desk: Visit) -> None:
    configuration = made(site, "presets")
    page = desk.go(f"/configurations/{configuration}")
    page.get_by_role("button", name="No scoring").click()
    expect(page.get_by_text(re.compile(r"^Draft, \d+ changes"))).to_be_visible()
    grid = page.get_by_role("grid")
    expect(grid.get_by_title(re.compile("^ImageLocality at Score: .*disabled by"))).to_be_visible()
    page.get_by_role("button", name="Gangs and approvals").click()
    expect(grid.get_by_title(re.compile("^ManualApproval at Permit: added by this profile"))).to_be_visible()
    expect(grid.get_by_title(re.compile("^PrioritySort at QueueSort: .*disabled"))).to_be_visible()
    expect(grid.get_by_title(re.compile("^NodeName at Filter: on by default"))).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(grid.get_by_title(re.compile("^ImageLocality at Score: .*disabled by"))).to_be_visible()
    assert newest(site, configuration) == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"PK\x03\x04\x00\x00", "wrong.yaml is no text file."),
        (b" \n", "wrong.yaml is empty."),
        (b"#" * 262_145, "wrong.yaml is larger than a configuration can be (256 KiB)."),
    ],
)
def test_a_file_that_cannot_be_a_configuration_leaves_everything_as_it_was(
    content: bytes, said: str, typed_into: str, desk: Visit
) -> None:
    wrong: FilePayload = {"name": "wrong.yaml", "mimeType": "application/yaml", "buffer": content}
    for path in ("/configurations", f"/configurations/{typed_into}"):
        page = desk.go(path)
        expect(page.get_by_role("button", name=re.compile("^Import"))).to_be_visible()
        page.locator("input[type=file]").set_input_files(wrong)
        expect(page.get_by_text(said)).to_be_visible()
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        expect(page.get_by_text(re.compile("^Draft,"))).to_have_count(0)
        expect(page.get_by_role("button", name="Use a preset instead")).to_have_count(0)


def test_another_file_becomes_a_draft_that_says_what_is_wrong_with_it(typed_into: str, desk: Visit) -> None:
    page = desk.go(f"/configurations/{typed_into}")
    expect(page.get_by_role("grid")).to_be_visible()
    pods: FilePayload = {
        "name": "pods.json",
        "mimeType": "application/json",
        "buffer": b'{"apiVersion": "v1", "kind": "List", "items": []}',
    }
    page.locator("input[type=file]").set_input_files(pods)
    expect(page.locator(".cm-line").first).to_contain_text("kind")
    expect(page.get_by_role("button", name=re.compile(r"^\d+ errors?$"))).to_be_visible()
    expect(page.get_by_role("button", name="Save…")).to_be_disabled()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text(re.compile("^Draft,"))).to_have_count(0)


def test_a_draft_that_the_server_refuses_can_be_discarded(typed_into: str, desk: Visit) -> None:
    page = desk.go(f"/configurations/{typed_into}")
    expect(page.get_by_role("grid")).to_be_visible()
    page.evaluate(
        "([id, text]) => localStorage.setItem('playground-draft-' + id, JSON.stringify({text, base: 1}))",
        [typed_into, "#" * 262_145],
    )
    page.reload()
    expect(page.get_by_role("alert")).to_contain_text("262,145 characters; 262,144 are the most")
    page.get_by_role("button", name="Discard the draft").click()
    expect(page.get_by_role("grid")).to_be_visible()
    # What the browser says of the refusal.
    desk.expect_complaint("413")


def test_a_misspelt_field_of_a_pod_that_is_added_is_told(desk: Visit, site: Site) -> None:
    run = stages.start(site, stages.sample(site, "Three-zone shop"), stages.configuration(site, "Default"))
    page = desk.go(f"/runs/{run}")
    page.get_by_role("button", name=re.compile("^More: pods")).click()
    page.get_by_role("menuitem", name="Add a pod").click()
    typed = page.get_by_role("dialog").get_by_role("textbox")
    typed.fill(
        "{kind: Pod, apiVersion: v1, metadata: {name: pasted}, "
        "spec: {nodeSelectr: {pool: gpu}, containers: [{name: a, image: b}]}}"
    )
    page.get_by_role("button", name="Add the pod").click()
    expect(typed).to_have_count(0)
    expect(page.get_by_text('Pod pasted: unknown field "spec.nodeSelectr"')).to_be_visible()
    expect(page.get_by_text("pasted", exact=True).first).to_be_visible()
