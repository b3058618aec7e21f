"""The load of nodes as a run has it: what plugins of the Trimaran family read, and the history behind it."""

from __future__ import annotations

from typing import Any, Final

from rest_framework import serializers

from framework.objects.catalogue import LoadMetrics, NodeLoad
from framework.objects.decode import decode_manifest
from framework.objects.measured import CPU_LOAD, DEVIATION, MEMORY_LOAD, usage_of
from framework.objects.timestamps import SECOND
from schedweb.engine.times import iso
from schedweb.runs.objects.claims import Objects

TYPES: Final = (CPU_LOAD, MEMORY_LOAD)


class LoadFigureSerializer(serializers.Serializer[Any]):
    """Percent of what the node has."""

    type = serializers.CharField(help_text="CPU or Memory")
    average = serializers.FloatField()
    deviation = serializers.FloatField(allow_null=True, help_text="null: nobody told it, and plugins take 0")
    step = serializers.IntegerField(help_text="Seconds between two values of the history")
    history = serializers.ListField(child=serializers.FloatField(), help_text="Oldest first; empty: only the figure")


class NodeLoadSerializer(serializers.Serializer[Any]):
    source = serializers.CharField(allow_blank=True)  # type: ignore[assignment]
    until = serializers.CharField(allow_null=True, help_text="When it was measured")
    figures = LoadFigureSerializer(many=True)


def load_of(objects: Objects) -> LoadMetrics | None:
    manifest = objects.get(LoadMetrics.kind, "", LoadMetrics.NAME)
    if manifest is None:
        return None
    found = decode_manifest({"apiVersion": LoadMetrics.api_version, **manifest})
    return found if isinstance(found, LoadMetrics) else None


def node_load_body(metrics: LoadMetrics | None, node: str) -> dict[str, Any] | None:
    """None of a node of which nothing was measured."""
    if metrics is None or node not in metrics.data.node_metrics_map:
        return None
    figures = figures_of(metrics.data.node_metrics_map[node])
    if not figures:
        return None
    return {"source": metrics.source, "until": until(metrics), "figures": figures}


def until(metrics: LoadMetrics) -> str | None:
    return iso(metrics.window.end * SECOND) if metrics.window.end > 0 else None


def figures_of(load: NodeLoad) -> list[dict[str, Any]]:
    history = {each.type: each for each in load.history}
    told = {(each.type, each.operator) for each in load.metrics}
    figures = []
    for type_ in TYPES:
        usage = usage_of(load.metrics, type_)
        if usage is not None:
            known = history.get(type_)
            figures.append(
                {
                    "type": type_,
                    "average": usage.average,
                    "deviation": usage.deviation if (type_, DEVIATION) in told else None,
                    "step": known.step if known else 0,
                    "history": list(known.values) if known else [],
                }
            )
    return figures
