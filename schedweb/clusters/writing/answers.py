"""What the API server's answers mean, and what an object that is looked at tells of a write whose answer was lost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from framework.objects.scheduling import POD_GROUP_SCHEDULED
from framework.sentences import sentence
from schedweb.clusters.reading.problems import retry_after, status_of
from schedweb.clusters.writing.access import Answer
from schedweb.writes.claims import EXTENDED, TAKEN_FROM
from schedweb.writes.writes import Outcome, Result, Write

DONE: Final = (200, 201, 202)
CONFLICT: Final = 409
INVALID: Final = 422
BUSY: Final = (429, 503)
BINDING_RIGHT: Final = 'resource="resourceclaims/binding"'
"""API servers ask for this right when they look at the claim, and call the whole of it invalid."""
_RESULTS: Final[Mapping[int, Result]] = {401: "forbidden", 403: "forbidden", 404: "gone", 429: "busy"}
_CONFLICTS: Final[Mapping[str, Result]] = {
    "evict": "replaced",
    "delete_claim": "replaced",
    "event": "exists",
    "leader": "exists",
    "create_claim": "exists",
}
_DELETIONS: Final = frozenset(("evict", "delete_claim"))
_MERGED_BY: Final = {"conditions": "type", "reservedFor": "uid"}
_NOT_COMPARED: Final = frozenset(("lastTransitionTime", "lastProbeTime", "resourceVersion", "allocationTimestamp"))


class _Metadata(msgspec.Struct):
    name: str = ""
    uid: str = ""
    resourceVersion: str = ""


class _Object(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


def wait_asked(answer: Answer) -> float | None:
    """Seconds after which the same request may come again; None where the answer does not ask for patience."""
    return retry_after({"Retry-After": answer.headers.get("retry-after", "")}) if answer.status in BUSY else None


def is_uncertain(answer: Answer) -> bool:
    """Whether the request may have been carried out all the same: the server, or a proxy, failed meanwhile."""
    return answer.status >= 500


def outcome_of(write: Write, answer: Answer) -> Outcome:
    """Of an answer that is certain. A binding's 409 means more once the pod was looked at."""
    if answer.status in DONE:
        return _done(write, answer)
    said = status_of(answer.body).message or f"HTTP {answer.status}"
    default: Result = "forbidden" if answer.status == INVALID and BINDING_RIGHT in said else "refused"
    if answer.status == CONFLICT:
        default = _CONFLICTS.get(write.purpose, "conflict")
    return Outcome(_RESULTS.get(answer.status, default), answer.status, said)


def _done(write: Write, answer: Answer) -> Outcome:
    try:
        made = msgspec.json.decode(answer.body, type=_Object).metadata
    except msgspec.DecodeError:
        made = _Metadata()
    node = write.body["target"]["name"] if write.purpose == "bind" else ""
    return Outcome("done", answer.status, "", node, made.name, made.uid, made.resourceVersion)


def outcome_seen(write: Write, found: dict[str, Any] | None) -> Outcome | None:
    """What the object says of the write; None where it was not carried out, and may be sent again.

    ``found``: as it is read under ``write.about.read``; None where it is not there.
    """
    if write.purpose == "create_claim":
        return _claim_made(write, found or {})
    if found is None:
        return _absent(write)
    metadata = found["metadata"]
    if write.about.uid and metadata["uid"] != write.about.uid:
        result: Result = "done" if write.purpose in _DELETIONS else "replaced"
        return Outcome(result, message="another object has this name now")
    if write.purpose == "bind":
        return _pod_seen(write, found)
    if write.purpose == "status" and (node := found["spec"].get("nodeName", "")):
        # Why it is pending, or which node it is promised, is not true any more.
        return Outcome("conflict", message=sentence("pod {pod} is bound to {node} already", pod=_key(write), node=node))
    if write.purpose == "pod_group" and _is_scheduled(found) and not _is_scheduled(write.body):
        # A later cycle of the group said so, and it never goes back from that.
        return Outcome("conflict", message=sentence("pod group {group} is scheduled already", group=_key(write)))
    is_so = "deletionTimestamp" in metadata if write.purpose in _DELETIONS else holds(found, write.body)
    return _seen(metadata) if is_so else None


def _key(write: Write) -> str:
    return f"{write.about.namespace}/{write.about.name}"


def _is_scheduled(group: dict[str, Any]) -> bool:
    conditions = (group.get("status") or {}).get("conditions") or ()
    return any(each.get("type") == POD_GROUP_SCHEDULED and each.get("status") == "True" for each in conditions)


def _absent(write: Write) -> Outcome:
    if write.purpose in _DELETIONS:
        return Outcome("done")
    return Outcome("gone", message=f'"{write.about.name}" not found')


def _seen(metadata: dict[str, Any], node: str = "") -> Outcome:
    return Outcome("done", 0, "", node, metadata["name"], metadata["uid"], metadata["resourceVersion"])


def _pod_seen(write: Write, pod: dict[str, Any]) -> Outcome | None:
    wanted, node = write.body["target"]["name"], pod["spec"].get("nodeName", "")
    if node:
        return _seen(pod["metadata"], node) if node == wanted else Outcome("bound_elsewhere", node_name=node)
    if pod["metadata"].get("deletionTimestamp"):
        return Outcome("terminating")
    if pod["spec"].get("schedulingGates"):
        return Outcome("gated")
    return None


def _claim_made(write: Write, found: dict[str, Any]) -> Outcome | None:
    owner = write.body["metadata"]["ownerReferences"][0]["uid"]
    for each in found.get("items", ()):
        metadata = each["metadata"]
        owners = {one["uid"] for one in metadata.get("ownerReferences", ())}
        if owner in owners and EXTENDED in metadata.get("annotations", {}):
            return _seen(metadata)
    return None


def holds(found: Any, patch: Any, key: str = "") -> bool:
    """Whether an object is as a strategic merge patch would leave it. Times and versions are not compared."""
    if isinstance(patch, dict):
        found = {} if found is None else found
        if not isinstance(found, dict):
            return False
        for name, values in patch.items():
            if name.startswith(TAKEN_FROM) and set(found.get(name.removeprefix(TAKEN_FROM)) or ()) & set(values):
                return False
        told = {name: value for name, value in patch.items() if name not in _NOT_COMPARED and not name.startswith("$")}
        return all(holds(found.get(name), value, name) for name, value in told.items())
    if isinstance(patch, list):
        return all(_is_among(found or [], each, _MERGED_BY.get(key)) for each in patch)
    # What a patch takes away is null in it.
    return bool(found == patch)


def _is_among(found: list[Any], wanted: Any, merge_key: str | None) -> bool:
    if merge_key is None:
        return any(holds(each, wanted) for each in found)
    if isinstance(wanted, dict) and wanted.get("$patch") == "delete":
        return all(each.get(merge_key) != wanted[merge_key] for each in found)
    return any(each.get(merge_key) == wanted[merge_key] and holds(each, wanted) for each in found)
