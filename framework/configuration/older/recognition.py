"""What a text is: a Policy, an older KubeSchedulerConfiguration, a command line, or an object that holds one of them.

Whoever looks for the configuration of an old cluster finds it in a ConfigMap, and the flags in the manifest of the pod.
Both may be given together, as documents of one YAML text.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

from framework.configuration.errors import FieldPath
from framework.configuration.older.findings import Path
from framework.configuration.source import MAX_CHARACTERS, Node, SourceError, read_source
from framework.configuration.types import API_GROUP, API_VERSION, KIND
from framework.sentences import sentence

Form = Literal["Policy", "v1alpha1", "v1alpha2", "v1beta1", "v1beta2", "v1beta3", "v1"]
OLDER_VERSIONS: Final = ("v1alpha1", "v1alpha2", "v1beta1", "v1beta2", "v1beta3")
BINARY: Final = "kube-scheduler"
_POLICY_FIELDS: Final = ("predicates", "priorities", "extenders", "hardPodAffinitySymmetricWeight")
_EARLIEST: Final = "componentconfig/v1alpha1"
"""Kubernetes 1.8 to 1.11 called v1alpha1 so."""
_SEPARATOR: Final = re.compile(r"^---(?=[ \t]|\r?$)[^\n]*$", re.MULTILINE)
_COMMAND: Final = re.compile(
    r"^(?:\$\s+)?(?:(?:sudo|exec|nohup|[A-Za-z_]\w*=\S*)\s+)*(?:\S*/)?kube-scheduler(?:\s|$)|^--?[a-z]"
)
_NEXT_COMMAND: Final = ("|", "||", "&&", "&", ";")
"""Words of a shell behind which another program's arguments stand."""
_DEEPEST: Final = 3
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


class NotOlder(SourceError):
    """The text is nothing that can be converted; ``words`` says what it is, or what was expected."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A configuration as text."""

    form: Form
    text: str
    shift: int | None
    """Lines of the given text before it; None when its lines are not lines of that text."""
    within: Path
    """Of an object that holds it, e.g. ("data", "policy.cfg")."""
    root: Node


@dataclass(frozen=True, slots=True)
class Flag:
    """``--name=value``; without a value it is "true". A word that belongs to no flag is a name without dashes."""

    name: str
    value: str
    path: str
    line: int | None


@dataclass(frozen=True, slots=True)
class Recognised:
    pieces: tuple[Piece, ...]
    flags: tuple[Flag, ...]


def form_of(root: Node) -> Form | None:
    """Of a document's root; None for what is no configuration of a scheduler."""
    if root.kind != "mapping":
        return None
    api_version, kind = _text(root, "apiVersion"), _text(root, "kind")
    group, _, version = api_version.rpartition("/")
    if kind == "Policy" or (not kind and not api_version):
        ours = api_version in ("", "v1") or group in (API_GROUP, "componentconfig")
        return "Policy" if ours and (kind or any(root.get(name) is not None for name in _POLICY_FIELDS)) else None
    if kind != KIND:
        return None
    if api_version == API_VERSION:
        return "v1"
    if api_version == _EARLIEST:
        return "v1alpha1"
    for older in OLDER_VERSIONS:
        if group == API_GROUP and version == older:
            return older
    return None


def is_older(text: str) -> bool:
    """Whether ``convert`` has something to do for this text: cheap enough to ask of every text that is refused."""
    try:
        found = recognise(text)
    except SourceError:
        return False
    return bool(found.flags) or any(piece.form != "v1" or piece.within for piece in found.pieces)


def recognise(text: str) -> Recognised:
    """Raises SourceError for what cannot be read and NotOlder for what is something else."""
    if len(text) > MAX_CHARACTERS:
        read_source(text)  # says so
    if not text.strip():
        raise NotOlder(sentence("the text is empty"))
    if _is_command(text):
        return Recognised((), tuple(flags_of_text(text)))
    pieces: list[Piece] = []
    flags: list[Flag] = []
    roots: list[Node] = []
    for part, before in _documents(text):
        try:
            root = read_source(part).root
        except SourceError as error:
            line = None if error.line is None else error.line + before
            raise SourceError(error.words, line, error.column) from None
        roots.append(root)
        for piece in _pieces(root, part, before, (), 0):
            pieces.append(piece)
        flags += _flags_of_manifest(root, before)
        flags += _flags_of_list(root, before)
    if not pieces and not flags:
        raise _strange(roots)
    return Recognised(tuple(pieces), tuple(flags))


def _strange(roots: list[Node]) -> NotOlder:
    first = roots[0] if roots else Node("scalar")
    kind = _text(first, "kind") if first.kind == "mapping" else ""
    if kind == "ConfigMap":
        words = sentence("this ConfigMap holds no Policy and no KubeSchedulerConfiguration")
    elif kind:
        shown = f"{kind} ({_text(first, 'apiVersion')})"
        words = sentence("{kind} is no configuration of kube-scheduler", kind=shown)
    else:
        words = sentence(
            "this is no Policy, no KubeSchedulerConfiguration, no object that holds one, and no command line of "
            "kube-scheduler"
        )
    return NotOlder(words, first.line, first.column)


def _documents(text: str) -> Iterator[tuple[str, int]]:
    """(one document, the lines before it)."""
    at = 0
    for mark in [*_SEPARATOR.finditer(text), None]:
        end = len(text) if mark is None else mark.start()
        part = text[at:end]
        if any(line.strip() and not line.lstrip().startswith("#") for line in part.splitlines()):
            yield part, text.count("\n", 0, at)
        if mark is not None:
            at = min(mark.end() + 1, len(text))


def _pieces(root: Node, text: str, shift: int | None, within: Path, depth: int) -> Iterator[Piece]:
    form = form_of(root)
    if form is not None:
        yield Piece(form, text, shift, within, root)
        return
    if depth >= _DEEPEST or root.kind != "mapping" or _text(root, "kind") != "ConfigMap":
        return
    data = root.get("data")
    for name, _, value in data.pairs() if data is not None and data.kind == "mapping" else ():
        if value.kind != "scalar" or not isinstance(value.value, str):
            continue
        try:
            inner = read_source(value.value).root
        except SourceError:
            continue  # other keys of a ConfigMap may hold anything
        literal = value.line is not None and shift is not None and text[value.start : value.start + 1] == "|"
        inside = (value.line or 0) + (shift or 0) if literal else None
        yield from _pieces(inner, value.value, inside, (*within, "data", name), depth + 1)


def _text(root: Node, name: str) -> str:
    node = root.get(name) if root.kind == "mapping" else None
    return node.value if node is not None and node.kind == "scalar" and isinstance(node.value, str) else ""


# Flags ----------------------------------------------------------------------------------------------------------------


def _is_command(text: str) -> bool:
    first = next((line.strip() for line in text.splitlines() if line.strip() and line.strip()[0] != "#"), "")
    return first != "---" and bool(_COMMAND.match(first))


def flags_of_text(text: str) -> Iterator[Flag]:
    """Of a command line, over several lines or one; raises NotOlder for quotes that do not end."""
    words: list[tuple[str, int]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        bare = line.strip().removesuffix("\\")
        if bare.startswith("#"):
            continue
        try:
            words += [(word, number) for word in shlex.split(bare)]
        except ValueError:
            raise NotOlder(sentence("a quote of this command line does not end"), number, 1) from None
    program = next((i for i, (word, _) in enumerate(words) if re.search(r"(^|/)kube-scheduler$", word)), -1)
    words = words[program + 1 :]
    end = next((i for i, (word, _) in enumerate(words) if word in _NEXT_COMMAND), len(words))
    yield from _flags([(word, "", number) for word, number in words[:end]])


def _flags(words: list[tuple[str, str, int | None]]) -> Iterator[Flag]:
    i = 0
    while i < len(words):
        word, path, line = words[i]
        i += 1
        if not word.startswith("-") or word in ("-", "--"):
            yield Flag(word, "", path, line)
            continue
        name, equals, value = word.lstrip("-").partition("=")
        name = name.replace("_", "-")  # as kube-scheduler reads them
        if not equals and i < len(words) and not words[i][0].startswith("-") and _takes_value(name):
            value = words[i][0]
            i += 1
        elif not equals:
            value = "true"
        yield Flag(f"--{name}", value, path, line)


def _takes_value(name: str) -> bool:
    """A flag of Go that is boolean takes its value with ``=`` only."""
    return name not in _BOOLEAN


def _flags_of_manifest(root: Node, shift: int) -> Iterator[Flag]:
    """Of every container that runs kube-scheduler: a pod's, or those of a workload's template."""
    for path, containers in _containers(root, ()):
        for i, container in enumerate(containers.items):
            words: list[tuple[str, str, int | None]] = []
            for field in ("command", "args"):
                listed = container.get(field) if container.kind == "mapping" else None
                for j, item in enumerate(listed.items if listed is not None else ()):
                    if item.kind != "scalar":
                        continue
                    where = str(FieldPath((*path, i, field, j)))
                    line = None if item.line is None else item.line + shift
                    words += [(word, where, line) for word in _split(item.value)]
            program = next((n for n, (word, _, _) in enumerate(words) if word.rpartition("/")[2] == BINARY), None)
            if program is not None:
                yield from _flags(words[program + 1 :])
            elif _is_image(container):
                yield from _flags(words)


def _flags_of_list(root: Node, shift: int) -> Iterator[Flag]:
    """Of the arguments of a container that were copied without it: the bare list, or below command and args."""
    lists: list[tuple[Path, Node]] = [((), root)]
    if root.kind == "mapping":
        found = [(name, root.get(name)) for name in ("command", "args")]
        lists = [((name,), node) for name, node in found if node is not None]
        if _text(root, "kind"):
            return
    words: list[tuple[str, str, int | None]] = []
    for path, listed in lists:
        for i, item in enumerate(listed.items):
            if item.kind == "scalar":
                line = None if item.line is None else item.line + shift
                words += [(word, str(FieldPath((*path, i))), line) for word in _split(item.value)]
    program = next((n for n, (word, _, _) in enumerate(words) if word.rpartition("/")[2] == BINARY), None)
    if program is not None or (words and words[0][0].startswith("--")):
        yield from _flags(words[0 if program is None else program + 1 :])


def _split(value: Any) -> list[str]:
    """A shell's command in one text (``sh -c "kube-scheduler --v=2"``) is several words."""
    text = "" if value is None else str(value)
    if BINARY not in text or " " not in text.strip():
        return [text]
    try:
        return shlex.split(text.replace("\\\n", " ").replace("\n", " "))
    except ValueError:
        return text.split()


def _is_image(container: Node) -> bool:
    image = _text(container, "image")
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
