"""How many nodes are tried out at least (docs/semantics/preemption.md#candidates)."""

from __future__ import annotations

from framework.configuration.errors import FieldError, FieldPath, invalid


def candidate_limit_errors(path: FieldPath, percentage: int, absolute: int) -> list[FieldError]:
    percentage_path = path.child("minCandidateNodesPercentage")
    absolute_path = path.child("minCandidateNodesAbsolute")
    errors = []
    if not 0 <= percentage <= 100:
        errors.append(invalid(percentage_path, percentage, "not in valid range [0, 100]"))
    if absolute < 0:
        errors.append(invalid(absolute_path, absolute, "not in valid range [0, inf)"))
    if percentage == 0 and absolute == 0:
        zero = "cannot be zero at the same time as {}"
        errors.append(invalid(percentage_path, 0, zero.format("minCandidateNodesAbsolute")))
        errors.append(invalid(absolute_path, 0, zero.format("minCandidateNodesPercentage")))
    return errors


def candidates_wanted(nodes: int, percentage: int, absolute: int) -> int:
    """Of so many potential nodes."""
    return min(max(nodes * percentage // 100, absolute), nodes)
