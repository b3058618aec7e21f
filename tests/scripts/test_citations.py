"""Every citation leads somewhere: to a heading of a page in docs, or to a listed function of kube-scheduler.

docs/semantics/README.md says how rules are cited. Links between pages are held to the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
UPSTREAM_LIST = "docs/semantics/upstream.md"
FOLDERS = ("framework", "schedweb", "frontend/src", "frontend/tests", "tests", "scripts", "docs", "deploy")
TEXTS = (".py", ".ts", ".tsx", ".md", ".toml", ".css", ".html", ".yml", ".yaml", ".sh", "Makefile", ".importlinter")

# A page of ours, by its path from the root: docs/semantics/queue.md#backoff
PAGE = re.compile(r"(?<![\w/.-])((?:docs|tests/conformance|deploy)/[\w./-]+\.md)(?:#([\w-]+))?")
# A link from page to page: [text](queue.md#backoff)
LINK = re.compile(r"\]\((?!https?:|mailto:)([^()\s#]*)(?:#([\w-]+))?\)")
# pkg/scheduler/schedule_one.go `schedulePod`, `assume`
UPSTREAM = re.compile(
    r"(?<![\w/-])((?:scheduler-plugins/)?(?:pkg|staging/src)/[\w./-]+\.go)(?!:\d)`{0,2}((?:,?\s+(?:#\s+)?`{1,2}\w+`{1,2})*)"
)
# What nobody outside can look up: a specification and a design that are not in the repository.
OLD_FORMS = (
    re.compile(
        r"[(;\s][Ss]pec: (?:framework|queue|cache|config|preemption|plugins-intree|scheduler-plugins|extender)\b"
    ),
    re.compile(r"(?:design|framework|queue|cache|config|preemption|core|ux|live|plugins-intree|\.md) §"),
    re.compile(r"\badditions? \d"),
    re.compile(r"(?<![\w/-])(?:core|ux|design|plugins-intree|extender-and-misc)\.md\b"),
)


def slug(heading: str) -> str:
    """The anchor that GitHub makes of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@cache
def anchors(page: Path) -> frozenset[str]:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return frozenset(slug(heading) for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE))


@cache
def listed() -> frozenset[tuple[str, str]]:
    """(file, function) of docs/semantics/upstream.md."""
    rows = re.findall(r"^\| `(\S+\.go)` \| (.+) \|$", (ROOT / UPSTREAM_LIST).read_text(encoding="utf-8"), re.MULTILINE)
    return frozenset((file, function) for file, functions in rows for function in re.findall(r"`(\w+)`", functions))


def cited_upstream(text: str) -> Iterator[tuple[str, str]]:
    """(file, function); the function is empty where none is named."""
    for file, functions in UPSTREAM.findall(text):
        yield from ((file, name) for name in re.findall(r"`(\w+)`", functions) or [""])


def unresolved(text: str, at: Path) -> list[str]:
    """What is wrong with the citations of a text that stands in the file ``at``."""
    wrong = []
    targets = [(ROOT / page, anchor, page) for page, anchor in PAGE.findall(text)]
    if at.suffix == ".md":
        plain = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
        targets += [((at.parent / link) if link else at, anchor, link) for link, anchor in LINK.findall(plain)]
    for page, anchor, said in targets:
        if not page.exists():
            wrong.append(f"{said}: no such file")
        elif anchor and anchor not in anchors(page):
            wrong.append(f"{said}#{anchor}: no such heading")
    for file, function in cited_upstream(text):
        if not function:
            wrong.append(f"{file}: no function named")
        elif (file, function) not in listed():
            wrong.append(f"{file} `{function}`: not in {UPSTREAM_LIST}")
    wrong += [
        f"{found[0].strip()}: cites what is not in the repository"
        for form in OLD_FORMS
        for found in form.finditer(text)
    ]
    return wrong


@cache
def texts() -> tuple[tuple[Path, str], ...]:
    """Every text of the repository that may cite, but for this file and the list of what may be cited."""
    paths = [path for path in ROOT.iterdir() if path.is_file()]
    paths += [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file()]
    left_out = (Path(__file__), ROOT / UPSTREAM_LIST)
    return tuple(
        (path, path.read_text(encoding="utf-8"))
        for path in sorted(paths)
        if path.name.endswith(TEXTS) and path not in left_out
    )


def test_every_citation_leads_somewhere() -> None:
    wrong = [f"{path.relative_to(ROOT)}: {each}" for path, text in texts() for each in unresolved(text, path)]
    assert not wrong, "\n".join(wrong)


def test_what_is_listed_of_upstream_is_cited() -> None:
    cited = {each for _, text in texts() for each in cited_upstream(text)}
    assert listed() - cited == set()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("docs/semantics/queue.md#backof", "no such heading"),
        ("docs/semantics/ques.md#backoff", "no such file"),
        ("[backoff](queue.md#backof)", "no such heading"),
        ("pkg/scheduler/schedule_one.go says so", "no function named"),
        ("pkg/scheduler/schedule_one.go `scheduleTwo`", "not in docs/semantics/upstream.md"),
        ("Backoff (spec: queue §3).", "not in the repository"),
        ("Spec: config §1, §2.", "not in the repository"),
        ("as the design §11.9 has it", "not in the repository"),
        ("an old entry (framework.md additions 7)", "not in the repository"),
        ("see core.md", "not in the repository"),
    ],
)
def test_a_citation_that_leads_nowhere_is_told(text: str, problem: str) -> None:
    assert any(problem in each for each in unresolved(text, ROOT / "docs/semantics/README.md"))


@pytest.mark.parametrize(
    "text",
    [
        "docs/semantics/queue.md#backoff",
        "[backoff](queue.md#backoff) and [here](#how-to-cite)",
        "pkg/scheduler/schedule_one.go ``schedulePod``, ``assumeAndReserve``",
        "spec: PodSpec = PodSpec()",
    ],
)
def test_a_citation_that_leads_somewhere_is_fine(text: str) -> None:
    assert unresolved(text, ROOT / "docs/semantics/README.md") == []
