"""Which contexts this server offers. Embedded it is the person's own machine, so all of theirs, unless some are named;
a team's server offers what its administrator named in PLAYGROUND_CONTEXTS, and nothing without."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from django.conf import settings

from framework.sentences import Words, sentence
from schedweb.clusters.reading.contexts import Context, is_in_a_pod, known_contexts, kubeconfig_files
from schedweb.clusters.reading.problems import ClusterProblem

Stamp = tuple[tuple[Path, int, int], ...]


@dataclass(frozen=True, slots=True)
class Offered:
    contexts: list[Context]
    problem: Words = ""
    """Why there are none."""

    def named(self, name: str) -> Context | None:
        return next((each for each in self.contexts if each.name == name), None)


def is_open() -> bool:
    """Whether all contexts are offered."""
    return settings.MODE == "embedded" and not settings.CONTEXTS


def offered() -> Offered:
    if settings.MODE == "distributed":
        # The workers have the kubeconfig; this process need not.
        contexts = [Context(name, "") for name in settings.CONTEXTS]
        none = sentence("No context is offered. The administrator lists them in PLAYGROUND_CONTEXTS.")
        return Offered(contexts, "" if contexts else none)
    try:
        known = _known(_stamp(), is_in_a_pod())
    except ClusterProblem as problem:
        return Offered([], problem.words)
    if is_open():
        return Offered(known, "" if known else sentence("The kubeconfig has no contexts."))
    servers = {each.name: each.server for each in known}
    return Offered([Context(name, servers.get(name, "")) for name in settings.CONTEXTS])


def may_be_read(name: str) -> bool:
    """Asked by whoever reads, of its own environment."""
    return is_open() or name in settings.CONTEXTS


def _stamp() -> Stamp:
    found = ((each, each.stat()) for each in kubeconfig_files())
    return tuple((path, stat.st_mtime_ns, stat.st_size) for path, stat in found)


@lru_cache(maxsize=1)
def _known(stamp: Stamp, in_a_pod: bool) -> list[Context]:
    """Read again when a file changes, or the service account comes."""
    return known_contexts()
