"""Create, update, patch, delete, and the subresources that write.

Every function answers what was stored or, in a dry run, what would have been. What the real server refuses is raised
as the error it sends; tests/apiserver/test_recordings.py holds these against recorded answers.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import msgspec

from tests.apiserver import claims, events, patches, pods, reading, statuses
from tests.apiserver.kinds import CLAIMS, DEVICE_CLAIMS, EVENTS, NAMESPACES, NEW_EVENTS, PODS, VOLUMES, Json, Kind
from tests.apiserver.log import Request
from tests.apiserver.store import Store, Stored, encode
from tests.apiserver.times import stamp

NAME_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
JSON_TYPES = ("application/json",)
NOTE_BYTES = 1024
CONDITION_TIME = "lastTransitionTime"


WhyNot = Callable[[str, str], str]


def _may(verb: str, resource: str) -> str:
    return ""


def new_namespace(name: str) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name}},
        "spec": {"finalizers": ["kubernetes"]},
        "status": {"phase": "Active"},
    }


def completed(kind: Kind, body: Json, now: datetime) -> Json:
    """With what every stored object has: uid, time of creation, generation; in the form it is stored in."""
    metadata = dict(body["metadata"])
    metadata["uid"] = metadata.get("uid") or str(uuid.uuid4())
    metadata["creationTimestamp"] = metadata.get("creationTimestamp") or stamp(now)
    if kind.generation:
        metadata["generation"] = metadata.get("generation") or 1
    return _stored_form(kind, {**body, "metadata": metadata})


def _stored_form(kind: Kind, body: Json) -> Json:
    if kind is NEW_EVENTS:
        return events.to_core(body)
    if kind is EVENTS:
        return events.completed(body)
    return pods.serialised(body) if kind is PODS else body


def write(store: Store, request: Request, now: datetime, why_not: WhyNot = _may) -> tuple[int, bytes]:
    """Carry out a request that writes: its status and body. ``why_not``: why the user may not do something in all
    namespaces beside the request itself; "" when they may."""
    target, kind = request.target, request.target.kind
    assert kind is not None
    check_options(request)
    namespace, name = target.namespace, target.name
    if request.verb == "delete" and not target.subresource:
        options = _options(request)
        return 200, _deleted(store, kind, namespace, name, options, now, request.dry_run)
    if request.verb == "create":
        if not name:
            return 201, _created(store, kind, namespace, _decoded(request), now, request.dry_run)
        return 201, _subresource(store, request, now)
    if request.verb == "patch":
        return 200, _patched(store, request, now, why_not)
    if request.verb == "update":
        return _updated(store, request, now, why_not)
    raise statuses.not_allowed()


def check_options(request: Request) -> None:
    asked = request.query.get("dryRun", "All")
    if asked != "All":
        raise statuses.invalid(
            Kind("meta.k8s.io", "v1", "", "CreateOptions"),
            "",
            [("FieldValueNotSupported", "dryRun", f'Unsupported value: "{asked}": supported values: "All"')],
        )


def _decoded(request: Request) -> Json:
    """The object of a request; 415 for what is not JSON, 400 for another kind or no object."""
    given = request.content_type.partition(";")[0].strip()
    if given and given not in JSON_TYPES:
        raise statuses.unsupported_media_type(JSON_TYPES)
    if not isinstance(request.body, dict):
        raise statuses.bad_request("the body of the request is no JSON object")
    return request.body


def _check_kind(kind: Kind, body: Json) -> None:
    found = body.get("kind", kind.name), body.get("apiVersion", kind.api_version)
    if found != (kind.name, kind.api_version):
        raise statuses.bad_request(
            f"the API version in the data ({found[1]}) does not match the expected API version ({kind.api_version})"
            if found[0] == kind.name
            else f"{found[0]} in version {found[1]} cannot be handled as a {kind.name}"
        )


def _shown(store: Store, kind: Kind, body: Json, version: int) -> bytes:
    return reading.shown(kind, encode(store.of(kind).kind, body, version))


def _kept(store: Store, kind: Kind, body: Json, dry_run: bool, version: int = 0) -> bytes:
    """Store it, unless it is tried only; the answer. A creation that is tried has no version."""
    if not dry_run:
        return reading.shown(kind, store.put(kind, body))
    return _shown(store, kind, body, version)


# Create


def _created(store: Store, kind: Kind, namespace: str, body: Json, now: datetime, dry_run: bool) -> bytes:
    _check_kind(kind, body)
    metadata = dict(body.get("metadata") or {})
    if kind.namespaced:
        if metadata.get("namespace", namespace) != namespace:
            raise statuses.bad_request(
                "the namespace of the provided object does not match the namespace sent on the request"
            )
        metadata["namespace"] = namespace
        _check_namespace(store, kind, namespace, metadata.get("name", ""))
    if not metadata.get("name"):
        if not metadata.get("generateName"):
            causes = [("FieldValueRequired", "metadata.name", "Required value: name or generateName is required")]
            raise statuses.invalid(kind, "", causes)
        metadata["name"] = metadata["generateName"] + "".join(random.choices(NAME_LETTERS, k=5))
    for assigned in ("uid", "resourceVersion", "creationTimestamp", "generation", "deletionTimestamp"):
        metadata.pop(assigned, None)
    if store.find(kind, metadata.get("namespace", ""), metadata["name"]) is not None:
        raise statuses.already_exists(kind, metadata["name"])
    return _kept(
        store, kind, completed(kind, _admitted(store, kind, {**body, "metadata": metadata}, now), now), dry_run
    )


def _check_namespace(store: Store, kind: Kind, namespace: str, name: str) -> None:
    found = store.find(NAMESPACES, "", namespace)
    if found is None:
        raise statuses.not_found(NAMESPACES, namespace)
    if "deletionTimestamp" in found.decode()["metadata"]:
        message = (
            f'{kind.resource} "{name}" is forbidden: unable to create new content in namespace {namespace} because it '
            "is being terminated"
        )
        details = statuses.details_of(kind, name)
        details["causes"] = [
            {
                "reason": "NamespaceTerminating",
                "message": f"namespace {namespace} is being terminated",
                "field": "metadata.namespace",
            }
        ]
        raise statuses.ApiError(403, statuses.failure(403, "Forbidden", message, details))


def _admitted(store: Store, kind: Kind, body: Json, now: datetime) -> Json:
    if kind is PODS:
        return pods.admitted(store, body, now)
    if kind is NAMESPACES:
        made = new_namespace(body["metadata"]["name"])
        labels = {**(body["metadata"].get("labels") or {}), **made["metadata"]["labels"]}
        return {**made, "metadata": {**body["metadata"], "labels": labels}}
    if kind is NEW_EVENTS:
        _check_event(body)
    if kind.status:
        # What a client says of it is dropped.
        if kind in (CLAIMS, VOLUMES):
            return {**body, "status": {"phase": "Pending"}}
        return {**body, "status": {}} if "status" in body else body
    return body


def _check_event(body: Json) -> None:
    """What events.k8s.io asks of an event that is new."""
    causes = [
        ("FieldValueRequired", field, "Required value")
        for field in ("eventTime", "reportingController", "reportingInstance", "action", "reason", "type")
        if not body.get(field)
    ]
    if body.get("type") not in ("Normal", "Warning", None, ""):
        causes.append(("FieldValueInvalid", "type", f'Invalid value: "{body["type"]}": has invalid value'))
    if len(str(body.get("note", "")).encode()) > NOTE_BYTES:
        causes.append(("FieldValueInvalid", "note", f"Invalid value: can have at most {NOTE_BYTES} characters"))
    if causes:
        raise statuses.invalid(NEW_EVENTS, body["metadata"]["name"], causes)


def _subresource(store: Store, request: Request, now: datetime) -> bytes:
    target = request.target
    if target.kind is not PODS or target.subresource not in ("binding", "eviction"):
        raise statuses.not_allowed()
    body = _decoded(request)
    if target.subresource == "binding":
        _kept(store, PODS, pods.bound(store, target.namespace, target.name, body, now), request.dry_run)
        return msgspec.json.encode(statuses.success(201))
    pods.check_eviction(store, store.get(PODS, target.namespace, target.name))
    options = body.get("deleteOptions") or {}
    _deleted(store, PODS, target.namespace, target.name, options, now, request.dry_run)
    return msgspec.json.encode(statuses.success(201))


# Update and patch


def _updated(store: Store, request: Request, now: datetime, why_not: WhyNot) -> tuple[int, bytes]:
    target, kind = request.target, request.target.kind
    assert kind is not None
    body = _decoded(request)
    _check_kind(kind, body)
    metadata = body.get("metadata") or {}
    if metadata.get("name", target.name) != target.name:
        raise statuses.bad_request(
            f"the name of the object ({metadata['name']}) does not match the name on the URL ({target.name})"
        )
    old = store.find(kind, target.namespace, target.name)
    if old is None:
        if not kind.upserted or target.subresource or metadata.get("resourceVersion"):
            raise statuses.not_found(kind, target.name)
        return 201, _created(store, kind, target.namespace, body, now, request.dry_run)
    if metadata.get("uid") and metadata["uid"] != old.uid:
        raise statuses.wrong_uid(kind, target.namespace, target.name, metadata["uid"], old.uid)
    return 200, _replaced(store, request, old, _stored_form(kind, body), why_not)


def _patched(store: Store, request: Request, now: datetime, why_not: WhyNot) -> bytes:
    target, kind = request.target, request.target.kind
    assert kind is not None
    given = request.content_type.partition(";")[0].strip()
    if given not in patches.TYPES:
        raise statuses.unsupported_media_type(patches.TYPES)
    if not isinstance(request.body, dict):
        raise statuses.bad_request("the body of the request is no JSON object")
    old = store.get(kind, target.namespace, target.name)
    current = msgspec.json.decode(reading.shown(kind, old))
    if given == patches.STRATEGIC:
        body = patches.strategic(kind.name, current, request.body)
    else:
        body = patches.merge(current, request.body)
    if body["metadata"].get("uid") != old.uid:
        what = f'Invalid value: "{body["metadata"].get("uid")}": field is immutable'
        raise statuses.invalid(kind, target.name, [("FieldValueInvalid", "metadata.uid", what)])
    return _replaced(store, request, old, _stored_form(kind, body), why_not)


_ASSIGNED = ("name", "namespace", "uid", "creationTimestamp", "generation", "deletionTimestamp", "selfLink")


def _replaced(store: Store, request: Request, old: Stored, body: Json, why_not: WhyNot) -> bytes:
    """The part that this path may write, on the rest as it was; 409 where the version is another one."""
    kind, subresource = request.target.kind, request.target.subresource
    assert kind is not None
    if subresource not in ("", "status") or (subresource and not kind.status):
        raise statuses.not_allowed()
    wanted = body["metadata"].get("resourceVersion")
    if wanted and wanted != str(old.version):
        raise statuses.conflict(kind, old.name, statuses.MODIFIED)
    before = old.decode()
    kept = {key: before["metadata"][key] for key in _ASSIGNED if key in before["metadata"]}
    metadata = {**body["metadata"], **kept}
    if subresource:
        metadata = before["metadata"] if kind is not PODS else _status_metadata(before["metadata"], metadata)
        body = {**before, "metadata": metadata, "status": body.get("status", {})}
    else:
        body = {**body, "metadata": metadata}
        if kind.status:
            body["status"] = before.get("status", {})
        _check_spec(kind, before, body)
        if kind.generation and body.get("spec") != before.get("spec"):
            metadata["generation"] = before["metadata"].get("generation", 0) + 1
    if kind is DEVICE_CLAIMS:
        body = claims.without_stale_devices(before, body)
        claims.check(
            before,
            body,
            is_status=bool(subresource),
            why_not=lambda: why_not(request.verb, f"{kind.resource.partition('.')[0]}/binding"),
        )
    return _finished(store, kind, body, old, request.dry_run)


def _status_metadata(before: Json, after: Json) -> Json:
    """A pod's status may bring labels and annotations along, nothing else of the metadata."""
    return {**before, **{key: after[key] for key in ("labels", "annotations") if key in after}}


def _check_spec(kind: Kind, before: Json, after: Json) -> None:
    if kind is not PODS:
        return
    if before.get("spec", {}).get("nodeName", "") != after.get("spec", {}).get("nodeName", ""):
        what = "Forbidden: pod updates may not change fields other than `spec.containers[*].image`, …"
        raise statuses.invalid(kind, before["metadata"]["name"], [("FieldValueForbidden", "spec", what)])


def _finished(store: Store, kind: Kind, body: Json, old: Stored, dry_run: bool) -> bytes:
    """An object that was only kept by its last finalizer goes."""
    metadata = body["metadata"]
    over = metadata.get("deletionTimestamp") and not metadata.get("finalizers")
    if over and not metadata.get("deletionGracePeriodSeconds"):
        answer = _shown(store, kind, body, old.version)
        if not dry_run:
            store.remove(kind, old.namespace, old.name)
        return answer
    return _kept(store, kind, body, dry_run, old.version)


# Delete


def _options(request: Request) -> Json:
    """Of the body, where there is one; the query is not looked at then."""
    if isinstance(request.body, dict):
        return dict(request.body)
    seconds = request.query.get("gracePeriodSeconds", "")
    return {"gracePeriodSeconds": int(seconds)} if seconds.isdigit() else {}


def delete(store: Store, kind: Kind, namespace: str, name: str, options: Json, now: datetime) -> None:
    _deleted(store, kind, namespace, name, options, now, dry_run=False)


def _deleted(store: Store, kind: Kind, namespace: str, name: str, options: Json, now: datetime, dry_run: bool) -> bytes:
    stored = store.get(kind, namespace, name)
    _check_preconditions(kind, stored, options.get("preconditions") or {})
    body = stored.decode()
    metadata = body["metadata"]
    asked = options.get("gracePeriodSeconds")
    seconds = pods.grace_period(body, asked) if kind is PODS else 0
    terminating = "deletionTimestamp" in metadata
    if (
        terminating
        and seconds >= metadata.get("deletionGracePeriodSeconds", 0)
        and (seconds or metadata.get("finalizers"))
    ):
        return _deletion_answer(store, kind, stored, reading.shown(kind, stored))
    if not seconds and not metadata.get("finalizers"):
        shown = reading.shown(kind, stored)
        if not dry_run:
            shown = reading.shown(kind, store.remove(kind, namespace, name))
        return _deletion_answer(store, kind, stored, shown)
    marked: Json = {**metadata, "deletionTimestamp": stamp(now + timedelta(seconds=seconds))}
    marked["deletionGracePeriodSeconds"] = seconds
    if kind.generation and not terminating:
        marked["generation"] = metadata.get("generation", 0) + 1
    shown = _kept(store, kind, {**body, "metadata": marked}, dry_run, stored.version)
    return shown


def _deletion_answer(store: Store, kind: Kind, stored: Stored, shown: bytes) -> bytes:
    """The object for the kinds whose registry returns it, else a Status that names it."""
    if kind.returned:
        return shown
    details: dict[str, Any] = {**statuses.details_of(kind, stored.name), "uid": stored.uid}
    return msgspec.json.encode(statuses.success(200, details))


def _check_preconditions(kind: Kind, stored: Stored, wanted: Json) -> None:
    uid, version = wanted.get("uid"), wanted.get("resourceVersion")
    if uid and uid != stored.uid:
        raise statuses.delete_precondition(kind, stored.name, "UID", uid, stored.uid)
    if version and version != str(stored.version):
        raise statuses.delete_precondition(kind, stored.name, "ResourceVersion", version, str(stored.version))
