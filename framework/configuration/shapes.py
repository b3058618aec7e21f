"""Broken-linear scoring functions as configurations write them (upstream validateFunctionShape)."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from framework.configuration.errors import FieldError, FieldPath, invalid, required
from framework.configuration.types import ConfigurationStruct, Int32
from framework.sentences import noted


class UtilizationShapePoint(ConfigurationStruct, frozen=True):
    utilization: Annotated[
        Int32,
        Meta(
            description=noted("Share of the node in use, in percent."), extra_json_schema={"minimum": 0, "maximum": 100}
        ),
    ] = 0
    score: Annotated[
        Int32,
        Meta(description=noted("Score at this utilization, 0 to 10."), extra_json_schema={"minimum": 0, "maximum": 10}),
    ] = 0


def shape_errors(shape: tuple[UtilizationShapePoint, ...], path: FieldPath) -> list[FieldError]:
    if not shape:
        return [required(path, "at least one point must be specified")]
    errors: list[FieldError] = []
    for i in range(1, len(shape)):
        if shape[i - 1].utilization >= shape[i].utilization:
            at = path.index(i).child("utilization")
            errors.append(invalid(at, shape[i].utilization, "values must be sorted in increasing order"))
            break  # upstream names the first only
    for i, point in enumerate(shape):
        if not 0 <= point.utilization <= 100:
            errors.append(invalid(path.index(i).child("utilization"), point.utilization, "not in valid range [0, 100]"))
        if not 0 <= point.score <= 10:
            errors.append(invalid(path.index(i).child("score"), point.score, "not in valid range [0, 10]"))
    return errors
