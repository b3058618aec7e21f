"""Extenders as older files write them: keys in any case, durations in nanoseconds."""

from __future__ import annotations

from typing import Any, Final

from msgspec.structs import fields

from framework.configuration.durations import format_duration
from framework.configuration.older.findings import Findings, Path
from framework.configuration.types import Extender, ExtenderManagedResource, ExtenderTLSConfig
from framework.reading.addresses import without_credentials
from framework.sentences import sentence

_FIELDS: Final = {each.encode_name.lower(): each.encode_name for each in fields(Extender)}
_TLS: Final = {each.encode_name.lower(): each.encode_name for each in fields(ExtenderTLSConfig)}
_RESOURCE: Final = {each.encode_name.lower(): each.encode_name for each in fields(ExtenderManagedResource)}


def converted_extenders(written: Any, at: Path, findings: Findings) -> list[dict[str, Any]]:
    if not isinstance(written, list):
        return []
    return [_extender(each, (*at, i), findings) for i, each in enumerate(written) if isinstance(each, dict)]


def _extender(written: dict[str, Any], at: Path, findings: Findings) -> dict[str, Any]:
    extender = _renamed(written, _FIELDS, at, findings)
    timeout = extender.get("httpTimeout")
    if isinstance(timeout, int) and not isinstance(timeout, bool):
        extender["httpTimeout"] = format_duration(timeout)
        words = sentence("{old} nanoseconds are written {new}.", old=str(timeout), new=extender["httpTimeout"])
        findings.changed("httpTimeout", (*at, _written(written, "httpTimeout")), words)
    tls = extender.get("tlsConfig")
    if isinstance(tls, dict):
        extender["tlsConfig"] = _renamed(tls, _TLS, (*at, _written(written, "tlsConfig")), findings)
    resources = extender.get("managedResources")
    if isinstance(resources, list):
        place: Path = (*at, _written(written, "managedResources"))
        extender["managedResources"] = [
            _renamed(each, _RESOURCE, (*place, i), findings) if isinstance(each, dict) else each
            for i, each in enumerate(resources)
        ]
    name = without_credentials(str(extender.get("urlPrefix", "")))
    findings.carried(name or "extender", at, sentence("The extender {url} is an extender of v1.", url=name))
    return extender


def _written(written: dict[str, Any], name: str) -> str:
    return next((key for key in written if key.lower() == name.lower()), name)


def _renamed(written: dict[str, Any], known: dict[str, str], at: Path, findings: Findings) -> dict[str, Any]:
    """Without what v1 has no field for, null included; the others as v1 spells them."""
    kept: dict[str, Any] = {}
    for key, value in written.items():
        name = known.get(str(key).lower())
        if name is None:
            findings.dropped(key, (*at, key), sentence("An extender of v1 has no field {field}.", field=key))
        elif value is not None:
            if name != key:
                findings.changed(key, (*at, key), sentence("{old} is spelt {new} in v1.", old=key, new=name))
            kept[name] = value
    return kept
