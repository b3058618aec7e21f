"""Parameters of devices, which a run does not keep (they may hold secrets): an allocation says them to the driver, so
they are read once more from where they came, the claim and its requests' classes, right before it is written.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, Final

from msgspec.structs import replace

from framework.sentences import Sentence, sentence
from schedweb.clusters.reading.problems import ClusterProblem
from schedweb.writes.claims import CLASSES
from schedweb.writes.writes import Write

Entry = dict[str, Any]
"""``{"source", "requests", "opaque": {"driver", "parameters"}}``."""
Read = Callable[[str], dict[str, Any] | None]
"""The object under a path; None where there is none."""
FROM_CLAIM: Final = "FromClaim"


class ConfigurationChanged(ClusterProblem):
    """The claim or a class has another configuration than when the devices were chosen."""

    def __init__(self, words: Sentence) -> None:
        super().__init__(words, "broken")


def configured(write: Write, read: Read) -> Write:
    """With the parameters, where some are left out. Raises ConfigurationChanged, and as ``read`` does."""
    if write.purpose != "devices":
        return write
    devices = write.body["status"].get("allocation", {}).get("devices", {})
    entries: list[Entry] = devices.get("config", [])
    if all("parameters" in each.get("opaque", {"parameters": None}) for each in entries):
        return write
    claim = read(write.about.read)
    if claim is None or claim["metadata"]["uid"] != write.about.uid:
        return write  # which the API server refuses
    spec, read = claim["spec"]["devices"], cache(read)
    sources: dict[tuple[str, ...], list[Any]] = {}
    placed: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for at, entry in enumerate(entries):
        where, known = _source(entry, spec, read)
        placed[where].append(at)
        sources.setdefault(where, known)
    whole = [dict(each) for each in entries]
    for where, places in placed.items():
        known = sources[where]
        # One of a claim is there once per request that it names.
        copies = len(places) // len(known) if known else 0
        if copies * len(known) != len(places) or (copies > 1 and where[0] != FROM_CLAIM):
            raise ConfigurationChanged(_changed(write, where))
        for number, at in enumerate(places):
            whole[at]["opaque"] = known[number // copies]
    status = write.body["status"]
    allocation = {**status["allocation"], "devices": {**devices, "config": whole}}
    return replace(write, body={**write.body, "status": {**status, "allocation": allocation}})


def _changed(write: Write, where: tuple[str, ...]) -> Sentence:
    return sentence(
        "The configuration for the driver {driver} of claim {claim} changed while devices were chosen.",
        driver=where[-1],
        claim=f"{write.about.namespace}/{write.about.name}",
    )


def _source(entry: Entry, spec: dict[str, Any], read: Read) -> tuple[tuple[str, ...], list[Any]]:
    """(whence it came, what all entries from there are, in their order)."""
    driver, requests = entry["opaque"]["driver"], list(entry.get("requests", ()))
    if entry["source"] == FROM_CLAIM:
        found = (each for each in spec.get("config", []) if each.get("requests", []) == requests)
        return (FROM_CLAIM, *requests, driver), _of_driver(found, driver)
    name = _class_of(spec, requests[0])
    found_class = read(f"{CLASSES}/{name}") if name else None
    found = (found_class or {}).get("spec", {}).get("config", [])
    return (entry["source"], name, driver), _of_driver(found, driver)


def _of_driver(entries: Iterable[Entry], driver: str) -> list[Any]:
    return [each["opaque"] for each in entries if each.get("opaque", {}).get("driver") == driver]


def _class_of(spec: dict[str, Any], request: str) -> str:
    """``request``: as results name it, ``main`` or ``main/sub``."""
    base, _, sub = request.partition("/")
    for each in spec.get("requests", []):
        if each["name"] != base:
            continue
        if not sub:
            return str(each.get("exactly", {}).get("deviceClassName", ""))
        return next((str(one["deviceClassName"]) for one in each["firstAvailable"] if one["name"] == sub), "")
    return ""
