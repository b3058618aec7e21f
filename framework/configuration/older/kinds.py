"""What of an older text has the wrong kind, so that no version of kube-scheduler would have read it.

Go's decoders refused such a file as a whole; so does a conversion, with the place. Null stands for nothing everywhere.
"""

from __future__ import annotations

from typing import Any, Final

from framework.configuration.errors import FieldPath, PathPart
from framework.configuration.older.findings import NotOlder
from framework.configuration.older.recognition import Piece
from framework.configuration.source import Node
from framework.sentences import Words, sentence

_LABELS: Final[dict[str, Any]] = {"labels": ["text"]}
_PREDICATE: Final[dict[str, Any]] = {
    "argument": {"serviceAffinity": _LABELS, "labelsPresence": {**_LABELS, "presence": "boolean"}},
}
_RATIO: Final[dict[str, Any]] = {"shape": [{}], "resources": [{}]}
_PRIORITY: Final[dict[str, Any]] = {
    "argument": {"serviceAntiAffinity": {}, "labelPreference": {}, "requestedToCapacityRatioArguments": _RATIO},
}
_POLICY: Final[dict[str, Any]] = {
    "predicates": [_PREDICATE],
    "priorities": [_PRIORITY],
    "extenders": [{}],
    "alwaysCheckAllPredicates": "boolean",
}
_LISTS: Final[dict[str, Any]] = {"enabled": [{}], "disabled": [{}]}
_ARGUMENTS: Final[dict[str, Any]] = {
    "presentLabels": ["text"],
    "absentLabels": ["text"],
    "resources": [{}],
    "shape": [{}],
    "addedAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [{}]}]}
    },
}
"""Those that a conversion looks into; the others are the loader's."""

_PROFILE: Final[dict[str, Any]] = {
    "plugins": {"*": _LISTS},
    "pluginConfig": [{"args": _ARGUMENTS}],
}
_CONFIGURATION: Final[dict[str, Any]] = {
    **_PROFILE,
    "algorithmSource": {"policy": {"file": {}, "configMap": {}}, "provider": "text"},
    "profiles": [_PROFILE],
    "extenders": [{}],
    "leaderElection": {},
}
_WANTED: Final[dict[str, Words]] = {
    "mapping": sentence("a mapping"),
    "sequence": sentence("a list"),
    "text": sentence("a text"),
    "boolean": sentence("true or false"),
    "number": sentence("a number"),
}


def refuse_wrong_kinds(piece: Piece) -> None:
    """Raises NotOlder with the line for the first list, mapping or text that is something else. v1 is the loader's."""
    if piece.form != "v1":
        _check(piece, piece.root, _POLICY if piece.form == "Policy" else _CONFIGURATION, piece.within)


def _check(piece: Piece, node: Node, wanted: Any, at: tuple[PathPart, ...]) -> None:
    """``wanted``: fields of a mapping ("*": of all of them), [items of a list], or the name of a scalar."""
    kind = wanted if isinstance(wanted, str) else "mapping" if isinstance(wanted, dict) else "sequence"
    given = _kind_of(node)
    if given is None:
        return
    if given != kind:
        words = sentence(
            "{place} must be {wanted}, not {given}",
            place=str(FieldPath(at)),
            wanted=_WANTED[kind],
            given=_WANTED[given],
        )
        line = None if node.line is None or piece.shift is None else node.line + piece.shift
        raise NotOlder(words, line, None if line is None else node.column)
    if isinstance(wanted, dict):
        for name, _, value in node.pairs():
            if (inner := wanted.get(name, wanted.get("*"))) is not None:
                _check(piece, value, inner, (*at, name))
    elif isinstance(wanted, list):
        for i, item in enumerate(node.items):
            _check(piece, item, wanted[0], (*at, i))


def _kind_of(node: Node) -> str | None:
    """None for null."""
    if node.kind != "scalar":
        return node.kind
    if node.value is None:
        return None
    return "boolean" if isinstance(node.value, bool) else "text" if isinstance(node.value, str) else "number"
