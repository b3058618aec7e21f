"""What people take for manifests, told by its look: one sentence that names what it is and what to do instead."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from framework.sentences import Sentence, noted, sentence

NOT_RENDERED: Final = sentence(
    "This is a Helm template that was not rendered. Take what {command} writes.", command="helm template …"
)
_TEMPLATE: Final = re.compile(
    rb"\{\{-?\s*(?:[.$(]|/\*|(?:include|template|define|block|if|else|end|range|with|tpl|toYaml|printf|default|"
    rb"quote|fail|required|lookup|list|dict|and|or|not|eq|ne)\b)"
)
_EVENTS_TABLE: Final = re.compile(r"(?:NAMESPACE +)?LAST SEEN +(?:FIRST SEEN +|COUNT +)?TYPE +REASON +OBJECT")
_TABLE: Final = re.compile(r"(?:NAMESPACE +)?NAME(?: +[A-Z][-A-Z()/ ]+)*")
_RESOURCE_NAMES: Final = re.compile(r"(?:[a-z][-a-z.0-9]*/[a-z0-9][-a-z.0-9]*\s*\n?)+")
_DESCRIBED: Final = re.compile(r"Name: +\S+ *\n(?:[A-Z][A-Za-z -]*:(?: .*)?\n)")
_NOTHING: Final = re.compile(r"No resources found\b")
_FAILED: Final = re.compile(r"(?:error: |Error from server|Unable to connect to the server|The connection to )")
_APPLIED: Final = re.compile(r"[a-z][-a-z.0-9]*/\S+ (?:created|configured|unchanged|deleted|patched|scaled)\b.*")
_LOGGED: Final = re.compile(
    r"^(?:[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ \S+:\d+\]|Warning: |Flag --\S+ has been deprecated).*", re.MULTILINE
)
_TYPED: Final = re.compile(
    r"^(?:[$%>+] ?(?:sudo +)?(?:kubectl|oc|helm|kustomize|k|cat) .*"  # no #, which begins a comment
    r"|(?:PS )?[A-Za-z]:\\[^\n\"{}<>]*>.*"
    r"|[➜❯»λ] .*"
    r"|[\w.-]+@[\w.-]+[^\n\"{}]*[$#%](?: .*|$))",
    re.MULTILINE,
)
_FENCED: Final = re.compile(r"^(?:```|~~~).*", re.MULTILINE)
_BESIDE: Final = (
    (_LOGGED, noted("Line {line} is a message that kubectl printed, not an object. Remove it: {text}")),
    (_TYPED, noted("Line {line} is a command line of a shell, not an object. Remove it: {text}")),
    (_FENCED, noted("Line {line} is a mark of Markdown, not an object. Remove it: {text}")),
)
_NEAR_AN_END: Final = 1024 * 1024
_LONGEST: Final = 120
_PACKED: Final[tuple[tuple[bytes, str], ...]] = (
    (b"\x1f\x8b", "gzip"),
    (b"PK\x03\x04", "zip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\0", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
)
_TAR: Final = (257, b"ustar")
_PAGE: Final = re.compile(r"<(?:!doctype html|html|head)\b", re.IGNORECASE)
_EXPORT: Final = "kubectl get … -o json"
_POLICY_FIELDS: Final = ("predicates", "priorities", "extenders")
_OLD_CONFIGURATION: Final = re.compile(r"kubescheduler\.config\.k8s\.io/(?!v1$)v\d\w*|componentconfig/v1alpha1")


def something_else(beginning: bytes) -> Sentence | None:
    """Of a text that is no JSON, by how it begins. None: it may be YAML."""
    for mark, name in _PACKED:
        if beginning.startswith(mark):
            return sentence("This is a {form} archive. Unpack it and take the file inside.", form=name)
    if beginning[_TAR[0] :].startswith(_TAR[1]):
        return sentence("This is a {form} archive. Unpack it and take the file inside.", form="tar")
    if beginning[1:2] == b"\0" or beginning[:1] == b"\0":
        return sentence("This is no UTF-8 text: it has a zero byte at its beginning. Save it as UTF-8.")
    text = beginning.decode(errors="replace").replace("\r\n", "\n").lstrip()
    first = text.partition("\n")[0].rstrip()
    if _EVENTS_TABLE.match(first):
        return sentence(
            "This is the table that kubectl get events prints. Take the events themselves: {command}",
            command="kubectl get events -A -o json",
        )
    if _TABLE.fullmatch(first):
        return sentence(
            "This is a table that kubectl get prints. Take the objects themselves: {command}",
            command=_EXPORT,
        )
    if _DESCRIBED.match(text):
        return sentence("This is what kubectl describe prints. Take the objects themselves: {command}", command=_EXPORT)
    if _NOTHING.match(first):
        return sentence("kubectl found nothing to export; its answer is all that is in this file.")
    if _FAILED.match(first):
        return sentence("kubectl failed, and this is what it said: {text}", text=first[:200])
    if _APPLIED.fullmatch(first):
        return sentence("This is what kubectl apply prints. Take the objects themselves: {command}", command=_EXPORT)
    if _PAGE.match(text):
        return sentence("This is a web page, as a proxy or a login answers it, and no export of a cluster.")
    if any(pattern.match(first) for pattern, _ in _BESIDE):
        return line_beside(beginning)
    if _RESOURCE_NAMES.fullmatch(text):
        return sentence("These are only names of objects. Take the objects themselves: {command}", command=_EXPORT)
    return None


def line_beside(data: bytes) -> Sentence | None:
    """Of a text that cannot be read: a line in it that a program wrote beside it, or a person."""
    parts = [(0, data[:_NEAR_AN_END])]
    if len(data) > _NEAR_AN_END:
        parts.append((data.count(b"\n", 0, len(data) - _NEAR_AN_END), data[-_NEAR_AN_END:]))
    for before, part in parts:
        text = part.decode(errors="replace").replace("\r\n", "\n")
        for pattern, words in _BESIDE:
            if found := pattern.search(text):
                line = before + text.count("\n", 0, found.start()) + 1
                return sentence(words, line=line, text=found[0].strip()[:_LONGEST])
    return None


def bad_characters(data: bytes) -> Sentence | None:
    """Of JSON that cannot be read."""
    if any(quote.encode() in data[:_NEAR_AN_END] for quote in "“”„"):
        return sentence("This JSON has typographic quotes, as text processors write them. It needs plain ones.")
    return None


def is_template(data: bytes) -> bool:
    """Asked when a text cannot be read: what looks so may also stand in the values of a sound object."""
    return _TEMPLATE.search(data) is not None


def strange_object(manifest: Mapping[str, Any]) -> Sentence | None:
    """Of what has the form of an object and is none of a cluster's. None: it may be one."""
    kind, version = manifest.get("kind"), str(manifest.get("apiVersion") or "")
    if kind == "Config" and ("clusters" in manifest or "users" in manifest):
        return sentence("This is a kubeconfig: how to reach clusters, with credentials. It is not read.")
    if kind == "Policy" and (version in ("", "v1") or any(field in manifest for field in _POLICY_FIELDS)):
        return sentence(
            "This is a scheduler Policy, which kube-scheduler stopped reading in 1.23. "
            "Write it as a KubeSchedulerConfiguration of kubescheduler.config.k8s.io/v1."
        )
    if kind == "KubeSchedulerConfiguration" and _OLD_CONFIGURATION.fullmatch(version):
        return sentence(
            "This is a KubeSchedulerConfiguration of {version}, which kube-scheduler does not read any more. "
            "Write it as kubescheduler.config.k8s.io/v1.",
            version=version,
        )
    if kind == "Status" and "status" in manifest:
        return sentence(
            "This is an error that the API server answered: {text}", text=str(manifest.get("message", ""))[:200]
        )
    if kind == "Table":
        return sentence(
            "This is a table that kubectl get prints. Take the objects themselves: {command}", command=_EXPORT
        )
    if version.startswith("kind.x-k8s.io/"):
        return sentence(
            "This says how {program} makes a cluster. Take the objects of the cluster: {command}",
            program="kind",
            command=_EXPORT,
        )
    if kind == "Kustomization" or (not kind and "resources" in manifest and "apiVersion" not in manifest):
        return sentence("This is a Kustomization. Take what {command} writes.", command="kubectl kustomize …")
    if not kind and {"name", "version", "apiVersion"} <= manifest.keys():
        return sentence("This is a Helm chart's description. Take what {command} writes.", command="helm template …")
    return None


def holds_a_template(manifest: Mapping[str, Any], depth: int = 0) -> bool:
    """Asked of an object that is refused: whether a text in it was to be filled in."""
    if depth > 12:
        return False
    for value in manifest.values():
        each = value if isinstance(value, list) else [value]
        for one in each:
            if isinstance(one, str) and is_template(one.encode(errors="replace")):
                return True
            if isinstance(one, Mapping) and holds_a_template(one, depth + 1):
                return True
    return False


def indented_strangely(manifest: Mapping[str, Any], depth: int = 0) -> bool:
    """Asked of an object that is refused: whether no-break spaces became part of its keys."""
    if any(str(key).startswith("\u00a0") for key in manifest):
        return True
    inner = [value for value in manifest.values() if isinstance(value, Mapping)]
    return depth < 3 and any(indented_strangely(each, depth + 1) for each in inner)


#: Of the answer to what ``indented_strangely`` says yes to.
NO_BREAK_SPACES: Final = sentence(
    "This YAML is indented with no-break spaces, as web pages copy them. Replace them by plain ones."
)
