"""What was changed on a fork, in as few lines as say it: whose it is, and in words.

A pod that is taken away and comes again under its name is one that was changed, as its owner changes it; what is done
alike to several pods of a workload is one line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import msgspec

from framework.advice import few, identity_of, shape_of, what_changed, what_it_is
from framework.objects import CSINode, KubeObject, Node, ObjectMeta, Pod, ResourceSlice
from framework.objects.decode import decode_manifest
from framework.objects.defaults import with_defaults
from framework.objects.errors import ObjectError
from framework.objects.kinds import api_group
from framework.reading.kept_seals import with_kept_seals
from framework.sentences import Content, Sentence, forms, noted, sentence
from schedweb.configurations.models import ConfigurationVersion
from schedweb.engine.pod_view import view_of
from schedweb.runs.models import NodeRecord, ObjectRecord, PodRecord, Run
from schedweb.runs.records.manifests import manifest_of

BY_TYPE: Final = {
    "pod_activate": noted("activated"),
    "wait": noted("let time pass"),
    "node_cordon": noted("cordoned"),
    "node_uncordon": noted("uncordoned"),
    "node_drain": noted("drained"),
    "device_condition": noted("set a condition of a device"),
    "set_seed": noted("changed the seed"),
    "decide": noted("decided about waiting pods"),
    "decide_eviction": noted("decided about evictions"),
}
OBJECTS: Final = {
    "add": noted("added {kind} {names}"),
    "delete": noted("deleted {kind} {names}"),
    "remove": noted("removed {kind} {names}"),
}
PODS: Final = {
    "add": forms("added pod {names}", "added pods {names}"),
    "delete": forms("deleted pod {names}", "deleted pods {names}"),
    "remove": forms("removed pod {names}", "removed pods {names}"),
}
ALIKE: Final = forms("{what} ({count} pod)", "{what} ({count} pods)")
Line = tuple[str, Content]
"""(whose it is, what was changed)."""
Known = KubeObject | None


@dataclass(slots=True)
class _Change:
    verb: str
    """add, delete, remove or replace."""
    asked: KubeObject
    known: Known
    """As the parent has it."""


def fork_changes(parent: Run, commands: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """``{"workload", "text"}`` each, as ``Run.fork_changes`` keeps them.

    A change is told from how the parent has the object now; of one that it no longer has only the kind is told.
    """
    read: list[_Change | Line] = []
    places: dict[tuple[str, str, str], int] = {}
    for command in commands:
        change = _read(parent, command)
        if isinstance(change, _Change):
            key = (change.asked.kind, change.asked.metadata.namespace, change.asked.metadata.name)
            place = places.setdefault(key, len(read))
            if place < len(read):
                before = read[place]
                assert isinstance(before, _Change)
                if change.verb == "add" and before.verb in ("delete", "remove") and before.known is not None:
                    change = _Change("replace", change.asked, before.known)
                read[place] = change
                continue
        read.append(change)
    return [{"workload": workload, "text": msgspec.to_builtins(text)} for workload, text in _lines(parent, read)]


def _read(parent: Run, command: dict[str, Any]) -> _Change | Line:
    type_ = command["type"]
    if type_ == "set_configuration":
        version = ConfigurationVersion.objects.select_related("configuration").filter(pk=command["version"]).first()
        return "", sentence("configuration {name}", name=str(version))
    asked: KubeObject
    if type_ in ("change", "pod_add", "node_add"):
        try:
            asked = with_defaults(decode_manifest(command["manifest"]))
        except ObjectError:
            # The engine refuses it with its reason; the journal has both.
            return "", sentence("changed")
    elif type_ in ("pod_delete", "node_delete"):
        metadata = ObjectMeta(namespace=command.get("namespace", ""), name=command["name"])
        asked = Pod(metadata=metadata) if type_ == "pod_delete" else Node(metadata=metadata)
    else:
        return str(command.get("name") or ""), Sentence(BY_TYPE[type_])
    verb = command["verb"] if type_ == "change" else type_.partition("_")[2]
    known = None if verb == "add" else known_object(parent, asked)
    return _Change(verb, asked if known is None else with_kept_seals(known, asked), known)


def _lines(parent: Run, read: list[_Change | Line]) -> Iterator[Line]:
    """In the order of the commands; what belongs together stands where its first part does."""
    known_node = partial(_known_node, parent)
    new_nodes = {
        each.asked.metadata.name
        for each in read
        if isinstance(each, _Change) and each.verb == "add" and isinstance(each.asked, Node)
    }
    groups: dict[object, list[_Change]] = {}
    lines: dict[object, Line | None] = {}
    for number, each in enumerate(read):
        if not isinstance(each, _Change):
            lines[number] = each
            continue
        if _comes_with(each.asked, new_nodes):
            continue
        key, line = _place(number, each, known_node)
        lines.setdefault(key, line)
        groups.setdefault(key, []).append(each)
    for key, line in lines.items():
        yield line if line is not None and len(groups.get(key, ())) < 2 else _together(groups[key], line)


def _comes_with(obj: KubeObject, nodes: set[str]) -> bool:
    """What a node brings along is not worth a line beside it."""
    return (isinstance(obj, CSINode) and obj.metadata.name in nodes) or (
        isinstance(obj, ResourceSlice) and obj.spec.node_name in nodes
    )


def _place(number: int, change: _Change, known_node: Any) -> tuple[object, Line | None]:
    """(what it is told together with, its own line)."""
    asked, known, verb = change.asked, change.known, change.verb
    if verb == "replace":
        what = what_changed(known, asked) if known is not None else [sentence("changed {kind}", kind=asked.kind)]
        whose = _whose(asked)
        key = (whose, str(what)) if isinstance(asked, Pod) else number
        return key, (whose, what)
    if isinstance(asked, Node) and verb == "add":
        return number, ("", what_it_is(asked, known_node(shape_of(asked.metadata.name))))
    return (asked.kind, _workload(change), verb), None


def _together(changes: list[_Change], line: Line | None) -> Line:
    first = changes[0]
    if line is not None:
        whose, what = line
        return whose, Sentence(ALIKE, {"count": len(changes), "what": what})
    names = few([_short(each.known or each.asked) for each in changes])
    if isinstance(first.asked, Pod):
        return _workload(first), Sentence(PODS[first.verb], {"count": len(changes), "names": names})
    return "", Sentence(OBJECTS[first.verb], {"kind": first.asked.kind, "names": names})


def _whose(obj: KubeObject) -> str:
    """Its workload; the name of a pod without a controller, and of anything else."""
    return _workload_of(obj) or obj.metadata.name


def _short(obj: KubeObject) -> str:
    """What tells a pod from others of its workload; the name of anything else."""
    return view_of(obj).tail if isinstance(obj, Pod) and _workload_of(obj) else obj.metadata.name


def _workload(change: _Change) -> str:
    return _workload_of(change.known or change.asked)


def _workload_of(obj: KubeObject) -> str:
    """``Deployment web``; "" of a pod without a controller, and of anything else."""
    _, kind, name = identity_of(obj) if isinstance(obj, Pod) else ("", "", "")
    return f"{kind} {name}" if kind else ""


def _known_node(parent: Run, name: str) -> Node | None:
    found = known_object(parent, Node(metadata=ObjectMeta(name=name))) if name else None
    return found if isinstance(found, Node) else None


def known_object(run: Run, asked: KubeObject) -> KubeObject | None:
    """As the run last stored it."""
    metadata = asked.metadata
    row: PodRecord | NodeRecord | ObjectRecord | None
    if asked.kind == "Pod":
        row = (
            PodRecord.objects.filter(run=run, namespace=metadata.namespace, name=metadata.name)
            .exclude(manifest=None)
            .order_by("-pk")
            .first()
        )
    elif asked.kind == "Node":
        row = NodeRecord.objects.filter(run=run, name=metadata.name).order_by("-row").first()
    else:
        about = {"kind": asked.kind, "group": api_group(asked.api_version)}
        row = ObjectRecord.objects.filter(run=run, **about, namespace=metadata.namespace, name=metadata.name).first()
    if row is None or row.manifest is None:
        return None
    return decode_manifest(manifest_of(row.manifest))
