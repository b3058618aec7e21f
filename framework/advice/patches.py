"""What a person does to make a change in a real cluster: kubectl's commands, and the change as a diff of YAML."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from difflib import unified_diff
from shlex import quote
from typing import Any, Final

import msgspec

from framework.advice.workloads import Workload
from framework.configuration.writing import write_block, write_entry, write_scalar
from framework.objects import KubeObject, Pod, Taint
from framework.objects.decode import to_manifest

CONTAINERS: Final = ("initContainers", "containers")
BY_ADMISSION: Final = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
"""Tolerations that admission gives every pod; no template has them."""
OF_THE_CLASS: Final = ("priority", "preemptionPolicy")
"""Fields of a pod that follow from its PriorityClass."""
LINES: Final = 1000
PODS_NAMED: Final = 20


class Patch(msgspec.Struct, frozen=True):
    commands: tuple[str, ...] = ()
    """Of a shell, in this order; none where it is not kubectl that does it."""
    diff: str = ""
    """Lines of YAML, each with ``+``, ``-`` or a space before it."""


def pod_patch(workload: Workload, before: Pod, after: Pod, *, in_place: bool) -> Patch:
    """For the template of the workload, or the pod where it has none. ``in_place``: an API server takes it as an update
    of the pods themselves, which no template need say."""
    old, new = _specification(before), _specification(after)
    changed = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    if any(name not in OF_THE_CLASS for name in changed):
        changed = [name for name in changed if name not in OF_THE_CLASS]
    old, new = ({name: spec[name] for name in changed if name in spec} for spec in (old, new))
    containers = [name for name in CONTAINERS if name in changed]
    kind = "strategic" if containers else "merge"
    patch = _merged(old, new)
    for name in containers:
        patch[name] = _of_containers(old[name], new[name])
        old[name], new[name] = _of_containers(new[name], old[name]), patch[name]
    templated = workload.has_template and not in_place
    if not templated and "priorityClassName" in patch:
        # What admission made of the old class must not stand in a pod that is made again.
        patch |= dict.fromkeys(OF_THE_CLASS)
    content: Any = {"spec": patch}
    nested = [{"spec": each} for each in (old, new)]
    if templated:
        content = {"spec": {"template": content}}
        nested = [{"spec": {"template": each}} for each in nested]
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    commands = _commands(workload, kind, quote(text), in_place=in_place)
    return Patch(commands, _lines(*nested))


def _commands(workload: Workload, kind: str, patch: str, *, in_place: bool) -> tuple[str, ...]:
    where = f"-n {quote(workload.namespace)}"
    names = [quote(pod.metadata.name) for pod in workload.alike[:PODS_NAMED]]
    if in_place:
        return tuple(f"kubectl patch pod {name} {where} --type={kind} -p {patch}" for name in names)
    if workload.has_template:
        commands = [f"kubectl patch {quote(workload.reference)} {where} --type={kind} -p {patch}"]
        if workload.kind not in ("Deployment", "DaemonSet"):
            # These change their template alone; a StatefulSet also waits for the pod that cannot start.
            commands.append(f"kubectl delete pod {' '.join(names)} {where}")
        return tuple(commands)
    if workload.kind:
        return ()
    return tuple(
        f"kubectl get pod {name} {where} -o json"
        f" | kubectl patch --local -f - --type={kind} -p {patch} -o json"
        " | kubectl replace --force -f -"
        for name in names
    )


def object_diff(before: KubeObject | None, after: KubeObject) -> str:
    """Of what a person writes of an object: its labels and annotations, its specification and all that is no status.

    ``before`` None: it is new.
    """
    old = {} if before is None else _written(before)
    return _lines(old, _written(after))


def applied(*objects: KubeObject) -> tuple[str, ...]:
    """``kubectl apply`` of these objects, whose manifests stand in the command."""
    text = "\n---\n".join("\n".join(write_block(_written(each), 0, 0)) for each in objects)
    return (f"kubectl apply -f - <<'EOF'\n{text}\nEOF",)


def taint_words(taint: Taint) -> str:
    """``key=value:effect``."""
    return f"{taint.key}{f'={taint.value}' if taint.value else ''}:{taint.effect}"


def _written(obj: KubeObject) -> dict[str, Any]:
    manifest = to_manifest(obj)
    metadata = {
        key: manifest["metadata"][key]
        for key in ("namespace", "name", "labels", "annotations")
        if manifest["metadata"].get(key)
    }
    rest = {key: value for key, value in manifest.items() if key not in ("metadata", "status")}
    return {"apiVersion": rest.pop("apiVersion"), "kind": rest.pop("kind"), "metadata": metadata, **rest}


def _specification(pod: Pod) -> dict[str, Any]:
    spec: dict[str, Any] = dict(to_manifest(pod)["spec"])
    tolerations = [each for each in spec.get("tolerations", ()) if each.get("key") not in BY_ADMISSION]
    if tolerations:
        spec["tolerations"] = tolerations
    else:
        spec.pop("tolerations", None)
    return spec


def _merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON merge patch (RFC 7386): mappings are merged, all else is replaced, null takes away."""
    patch: dict[str, Any] = {}
    for key in {**old, **new}:
        if key not in new:
            patch[key] = None
        elif isinstance(old.get(key), Mapping) and isinstance(new[key], Mapping):
            if inner := _merged(old[key], new[key]):
                patch[key] = inner
        elif old.get(key) != new[key]:
            patch[key] = new[key]
    return patch


def _of_containers(old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Names and resources of those that differ; a strategic merge leaves the rest of a container alone."""
    before = {each.get("name"): each for each in old}
    found = []
    for each in new:
        was = before.get(each.get("name"), {}).get("resources", {})
        now = each.get("resources", {})
        amounts = {
            part: {name: amount for name, amount in now.get(part, {}).items() if was.get(part, {}).get(name) != amount}
            for part in ("requests", "limits")
        }
        if any(amounts.values()):
            found.append({"name": each.get("name"), "resources": {part: a for part, a in amounts.items() if a}})
    return found


def _lines(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    return "\n".join(_differences(old, new, 0))


def _differences(old: Mapping[str, Any], new: Mapping[str, Any], indent: int) -> Iterator[str]:
    """Of mappings only what differs is said, and where it is; lists are shown whole."""
    for key in {**old, **new}:
        before, after = old.get(key), new.get(key)
        if before == after:
            continue
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            yield f" {' ' * indent}{write_scalar(key)}:"
            yield from _differences(before, after, indent + 2)
            continue
        was = write_entry(key, before, indent, 0) if key in old else []
        now = write_entry(key, after, indent, 0) if key in new else []
        yield from list(unified_diff(was, now, n=LINES, lineterm=""))[3:]
