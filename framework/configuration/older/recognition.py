"""What a text is: a Policy, an older KubeSchedulerConfiguration, a command line, or an object that holds one of them.

Whoever looks for the configuration of an old cluster finds it in a ConfigMap, and the flags in the manifest of the pod,
or in what kubeadm made that manifest of. Both may be given together, as documents of one YAML text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from framework.configuration.older.command_lines import (
    EXTRA_ARGS,
    Flag,
    flags_of_kubeadm,
    flags_of_list,
    flags_of_manifest,
    flags_of_text,
    is_command,
    is_of_kubeadm,
    text_of,
)
from framework.configuration.older.findings import NotOlder, Path
from framework.configuration.source import MAX_CHARACTERS, Node, SourceError, read_source
from framework.configuration.types import API_GROUP, API_VERSION, KIND
from framework.sentences import sentence

Form = Literal["Policy", "v1alpha1", "v1alpha2", "v1beta1", "v1beta2", "v1beta3", "v1"]
OLDER_VERSIONS: Final = ("v1alpha1", "v1alpha2", "v1beta1", "v1beta2", "v1beta3")
_POLICY_FIELDS: Final = ("predicates", "priorities", "extenders", "hardPodAffinitySymmetricWeight")
_EARLIEST: Final = "componentconfig/v1alpha1"
"""Kubernetes 1.8 to 1.11 called v1alpha1 so."""
_SEPARATOR: Final = re.compile(r"^---(?=[ \t]|\r?$)[^\n]*$", re.MULTILINE)
_DEEPEST: Final = 3


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
class Recognised:
    pieces: tuple[Piece, ...]
    flags: tuple[Flag, ...]


def form_of(root: Node) -> Form | None:
    """Of a document's root; None for what is no configuration of a scheduler."""
    if root.kind != "mapping":
        return None
    api_version, kind = text_of(root, "apiVersion"), text_of(root, "kind")
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
    if is_command(text):
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
        flags += flags_of_manifest(root, before)
        flags += flags_of_list(root, before)
        flags += _of_kubeadm(root, part, before)
    if not pieces and not flags:
        raise _strange(roots)
    return Recognised(tuple(pieces), tuple(flags))


def _strange(roots: list[Node]) -> NotOlder:
    first = roots[0] if roots else Node("scalar")
    kind = text_of(first, "kind") if first.kind == "mapping" else ""
    if kind == "ConfigMap":
        words = sentence("this ConfigMap holds no Policy and no KubeSchedulerConfiguration")
    elif (of_kubeadm := next((each for each in roots if is_of_kubeadm(each)), None)) is not None:
        shown = text_of(of_kubeadm, "kind")
        words = sentence("{kind} gives kube-scheduler no flags: it has no {field}", kind=shown, field=EXTRA_ARGS)
    elif kind:
        shown = f"{kind} ({text_of(first, 'apiVersion')})"
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
    if depth >= _DEEPEST or root.kind != "mapping" or text_of(root, "kind") != "ConfigMap":
        return
    for inner, inner_text, inside, at in _held(root, text, shift, within):
        yield from _pieces(inner, inner_text, inside, at, depth + 1)


def _held(root: Node, text: str, shift: int | None, within: Path) -> Iterator[tuple[Node, str, int | None, Path]]:
    """What a ConfigMap holds, key by key: root, text, lines before it, place."""
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
        yield inner, value.value, inside, (*within, "data", name)


def _of_kubeadm(root: Node, text: str, shift: int) -> Iterator[Flag]:
    """Of a configuration of kubeadm, or of the ConfigMap kubeadm-config, in which a cluster keeps its own."""
    yield from flags_of_kubeadm(root, shift, ())
    if root.kind == "mapping" and text_of(root, "kind") == "ConfigMap":
        for inner, _, inside, at in _held(root, text, shift, ()):
            yield from flags_of_kubeadm(inner, inside, at)
