"""All that a browser needs to rank one attempt anew: every feasible node's normalised score of every plugin."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from framework.configuration import EffectiveProfile
from framework.trace.attempt import AttemptTrace, PluginScores
from schedweb.runs.attempts.selectors import StoredAttempt
from schedweb.runs.records.profiles import FILTER, profile_at


def matrix_body(stored: StoredAttempt) -> dict[str, Any]:
    trace, row = stored.trace, stored.row
    profile = profile_at(row.run, row.run.position if row.position is None else row.position, row.profile)
    return {
        "profile": row.profile,
        "ties": row.run.ties,
        "seed": row.run.seed,
        "plugins": plugins_body(trace, profile),
        "filters": list(profile.point(FILTER).names),
        **nodes_body(trace),
    }


def plugins_body(trace: AttemptTrace, profile: EffectiveProfile) -> list[dict[str, Any]]:
    """Those that scored, then those of the profile that had nothing to say about this pod."""
    scored = [] if trace.scores is None else trace.scores.plugins
    listed = [{"name": each.plugin, "weight": each.weight, "normalized": as_bytes(each)} for each in scored]
    known = {each.plugin for each in scored}
    others = {name: weight for name, weight in profile.weights.items() if name not in known}
    return listed + [{"name": name, "weight": weight, "normalized": None} for name, weight in others.items()]


def as_bytes(scores: PluginScores) -> str:
    """Normalised scores are 0 to 100: the engine takes no others."""
    return base64.b64encode(scores.normalized.astype(np.uint8).tobytes()).decode()


def nodes_body(trace: AttemptTrace) -> dict[str, Any]:
    """Feasible nodes in the order in which they were found; places are places among them."""
    if trace.scores is None or trace.filter is None:
        return {"nodes": [], "chosen": None, "tied": []}
    positions = trace.scores.positions.tolist()
    places = {position: place for place, position in enumerate(positions)}
    nodes = [trace.filter.nodes[position] for position in positions]
    return {
        "nodes": nodes,
        "chosen": nodes.index(trace.selected) if trace.selected in nodes else None,
        "tied": [places[position] for position in trace.scores.candidates.tolist()],
    }
