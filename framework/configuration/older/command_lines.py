"""Flags of kube-scheduler, wherever they stand: a line of a shell, ``docker run``, a container, kubeadm's file."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from framework.configuration.errors import FieldPath
from framework.configuration.older.findings import NotOlder, Path
from framework.configuration.source import Node
from framework.sentences import sentence

BINARY: Final = "kube-scheduler"
KUBEADM: Final = "kubeadm.k8s.io"
EXTRA_ARGS: Final = "scheduler.extraArgs"
"""Where a ClusterConfiguration of kubeadm has the flags."""
_HYPERKUBE: Final = "hyperkube"
"""One binary that was all components until Kubernetes 1.18; which one is its first argument."""
_ITS_NAMES: Final = (BINARY, "scheduler")
_COMMAND: Final = re.compile(
    r"^(?:\$\s+)?(?:(?:sudo|exec|nohup|[A-Za-z_]\w*=\S*)\s+)*"
    r"(?:(?:\S*/)?(?:kube-scheduler|hyperkube\s+(?:kube-)?scheduler|(?:docker|podman|nerdctl)\s+(?:container\s+)?run)"
    r"(?:\s|$))|^--?[a-z]"
)
_ENGINES: Final = frozenset({"docker", "podman", "nerdctl"})
_SWITCHES: Final = frozenset(
    {
        "--detach",
        "--disable-content-trust",
        "--init",
        "--interactive",
        "--no-healthcheck",
        "--no-hosts",
        "--oom-kill-disable",
        "--privileged",
        "--publish-all",
        "--quiet",
        "--read-only",
        "--replace",
        "--rm",
        "--sig-proxy",
        "--tls-verify",
        "--tty",
    }
)
"""Options of ``run`` that have no value behind them."""
_SHORT_SWITCHES: Final = re.compile(r"-[ditPq]+")
_NEXT_COMMAND: Final = ("|", "||", "&&", "&", ";")
"""Words of a shell behind which another program's arguments stand."""
_BOOLEAN: Final = frozenset(
    {
        "alsologtostderr",
        "contention-profiling",
        "leader-elect",
        "logtostderr",
        "one-output",
        "permit-address-sharing",
        "permit-port-sharing",
        "profiling",
        "skip-headers",
        "skip-log-headers",
        "use-legacy-policy-config",
        "authentication-skip-lookup",
        "authentication-tolerate-lookup-failure",
    }
)

Word = tuple[str, str, int | None]
"""(the word, its place by fields, its line)"""


@dataclass(frozen=True, slots=True)
class Flag:
    """``--name=value``; without a value it is "true". A word that belongs to no flag is a name without dashes."""

    name: str
    value: str
    path: str
    line: int | None


def text_of(root: Node, name: str) -> str:
    """A field's text; "" for what is none."""
    node = root.get(name) if root.kind == "mapping" else None
    return node.value if node is not None and node.kind == "scalar" and isinstance(node.value, str) else ""


def is_command(text: str) -> bool:
    first = next((line.strip() for line in text.splitlines() if line.strip() and line.strip()[0] != "#"), "")
    return first != "---" and bool(_COMMAND.match(first))


def flags_of_text(text: str) -> Iterator[Flag]:
    """Of a command line, over several lines or one.

    Raises NotOlder for quotes that do not end, and where ``docker run`` runs something else.
    """
    words: list[Word] = []
    for number, line in enumerate(text.splitlines(), start=1):
        bare = line.strip().removesuffix("\\")
        if bare.startswith("#"):
            continue
        try:
            words += [(word, "", number) for word in shlex.split(bare)]
        except ValueError:
            raise NotOlder(sentence("a quote of this command line does not end"), number, 1) from None
    end = next((i for i, (word, _, _) in enumerate(words) if word in _NEXT_COMMAND), len(words))
    words = words[:end]
    engine = next((i for i, (word, _, _) in enumerate(words) if word in _ENGINES), None)
    if engine is not None and not any(_is_its_name(word) for word, _, _ in words[:engine]):
        yield from _flags(_run_by_an_engine(words[engine + 1 :]))
        return
    yield from _flags(words[_behind_program(words) or 0 :])


def _run_by_an_engine(words: list[Word]) -> list[Word]:
    """What the container's kube-scheduler is given: words behind the image, or behind the program among them."""
    line = words[0][2] if words else 1
    at = next((i for i, (word, _, _) in enumerate(words) if word == "run"), -1) + 1
    runs_it = False
    while at < len(words) and words[at][0].startswith("-"):
        name, equals, value = words[at][0].partition("=")
        takes_one = not equals and name not in _SWITCHES and not _SHORT_SWITCHES.fullmatch(name)
        if name == "--entrypoint":
            given = value if equals else words[at + 1][0] if at + 1 < len(words) else ""
            runs_it = _is_its_name(given)
        at += 2 if takes_one else 1
    image = words[at][0] if at < len(words) else ""
    behind = [(part, path, number) for word, path, number in words[at + 1 :] for part in _split(word)]
    program = _behind_program(behind)
    if program is not None:
        return behind[program:]
    if behind and behind[0][0] in _ITS_NAMES:  # of an image whose entrypoint is hyperkube
        return behind[1:]
    if not runs_it and not is_its_image(image):
        raise NotOlder(sentence("this command runs a container of {image}, no kube-scheduler", image=image), line, 1)
    return behind


def _is_its_name(word: str) -> bool:
    return word.rpartition("/")[2] == BINARY


def _behind_program(words: Sequence[Word]) -> int | None:
    """Where the arguments of kube-scheduler begin; None where it is not called by its name."""
    for i, (word, _, _) in enumerate(words):
        if _is_its_name(word):
            return i + 1
        if word.rpartition("/")[2] == _HYPERKUBE and i + 1 < len(words) and words[i + 1][0] in _ITS_NAMES:
            return i + 2
    return None


def _flags(words: Sequence[Word]) -> Iterator[Flag]:
    i = 0
    while i < len(words):
        word, path, line = words[i]
        i += 1
        if not word.startswith("-") or word in ("-", "--"):
            yield Flag(word, "", path, line)
            continue
        name, equals, value = word.lstrip("-").partition("=")
        name = name.replace("_", "-")  # as kube-scheduler reads them
        if not equals and i < len(words) and not words[i][0].startswith("-") and name not in _BOOLEAN:
            # A flag of Go that is boolean takes its value with ``=`` only.
            value = words[i][0]
            i += 1
        elif not equals:
            value = "true"
        yield Flag(f"--{name}", value, path, line)


def flags_of_manifest(root: Node, shift: int) -> Iterator[Flag]:
    """Of every container that runs kube-scheduler: a pod's, or those of a workload's template."""
    for path, containers in _containers(root, ()):
        for i, container in enumerate(containers.items):
            words: list[Word] = []
            for field in ("command", "args"):
                listed = container.get(field) if container.kind == "mapping" else None
                words += _listed(listed, (*path, i, field), shift) if listed is not None else []
            program = _behind_program(words)
            if program is not None:
                yield from _flags(words[program:])
            elif is_its_image(text_of(container, "image")):
                yield from _flags(words)


def flags_of_list(root: Node, shift: int) -> Iterator[Flag]:
    """Of the arguments of a container that were copied without it: the bare list, or below command and args."""
    lists: list[tuple[Path, Node]] = [((), root)]
    if root.kind == "mapping":
        found = [(name, root.get(name)) for name in ("command", "args")]
        lists = [((name,), node) for name, node in found if node is not None]
        if text_of(root, "kind"):
            return
    words = [word for path, listed in lists for word in _listed(listed, path, shift)]
    program = _behind_program(words)
    if program is not None or (words and words[0][0].startswith("--")):
        yield from _flags(words[program or 0 :])


def is_of_kubeadm(root: Node) -> bool:
    return root.kind == "mapping" and text_of(root, "apiVersion").partition("/")[0] == KUBEADM


def flags_of_kubeadm(root: Node, shift: int | None, within: Path) -> Iterator[Flag]:
    """Of the scheduler's ``extraArgs``: a mapping, from v1beta4 on a list of names and values.

    Until v1alpha3 they were ``schedulerExtraArgs``. kubeadm runs the static pod with them. What stands twice comes
    twice.
    """
    if not is_of_kubeadm(root):
        return
    scheduler = root.get("scheduler")
    nested = scheduler.get("extraArgs") if scheduler is not None and scheduler.kind == "mapping" else None
    for path, args in (
        ((*within, "schedulerExtraArgs"), root.get("schedulerExtraArgs")),
        ((*within, "scheduler", "extraArgs"), nested),
    ):
        if args is None:
            continue
        for key, value in args.entries:
            yield _of_kubeadm(str(key.value), value, (*path, str(key.value)), key.line, shift)
        for i, item in enumerate(args.items):
            named = text_of(item, "name")
            given = item.get("value") if named else None
            if given is not None:
                yield _of_kubeadm(named, given, (*path, i), item.line, shift)


def _of_kubeadm(name: str, value: Node, path: Path, line: int | None, shift: int | None) -> Flag:
    given = value.value
    text = str(given).lower() if isinstance(given, bool) else "" if given is None else str(given)
    at = None if line is None or shift is None else line + shift
    return Flag(f"--{name.lstrip('-').replace('_', '-')}", text, str(FieldPath(path)), at)


def _listed(listed: Node, path: Path, shift: int) -> list[Word]:
    words: list[Word] = []
    for i, item in enumerate(listed.items):
        if item.kind == "scalar":
            line = None if item.line is None else item.line + shift
            words += [(word, str(FieldPath((*path, i))), line) for word in _split(item.value)]
    return words


def _split(value: Any) -> list[str]:
    """A shell's command in one text (``sh -c "kube-scheduler --v=2"``) is several words."""
    text = "" if value is None else str(value)
    if BINARY not in text or " " not in text.strip():
        return [text]
    try:
        return shlex.split(text.replace("\\\n", " ").replace("\n", " "))
    except ValueError:
        return text.split()


def is_its_image(image: str) -> bool:
    return re.search(r"(^|/)kube-scheduler(-[a-z0-9]+)?([:@]|$)", image) is not None


def _containers(root: Node, path: Path) -> Iterator[tuple[Path, Node]]:
    if root.kind != "mapping":
        return
    spec = root.get("spec")
    if spec is not None and spec.kind == "mapping":
        found = spec.get("containers")
        if found is not None and found.kind == "sequence":
            yield (*path, "spec", "containers"), found
        template = spec.get("template")
        if template is not None:
            yield from _containers(template, (*path, "spec", "template"))
