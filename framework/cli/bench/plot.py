"""The growth plot: microseconds per pod over nodes, both axes logarithmic, as an SVG without any library."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

WIDTH: Final = 720
HEIGHT: Final = 420
LEFT, RIGHT, TOP, BOTTOM = 70, 190, 40, 50
COLORS: Final = ("#1c7ed6", "#e8590c", "#2f9e44", "#9c36b5", "#495057")

Series = Mapping[str, Sequence[tuple[int, float]]]
"""Name → (nodes, microseconds per pod)."""


def growth_plot(series: Series) -> str:
    """An SVG document. Every series needs at least one point; figures must be positive."""
    nodes = sorted({n for points in series.values() for n, _ in points})
    costs = [cost for points in series.values() for _, cost in points]
    low, high = math.floor(math.log10(min(costs))), math.ceil(math.log10(max(costs)))
    high = max(high, low + 1)
    first, last = math.log10(nodes[0]), math.log10(max(nodes[-1], nodes[0] + 1))

    def x(n: int) -> float:
        return LEFT + (math.log10(n) - first) / (last - first) * (WIDTH - LEFT - RIGHT)

    def y(cost: float) -> float:
        return HEIGHT - BOTTOM - (math.log10(cost) - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{LEFT}" y="22" font-size="15">Microseconds per pod, every node scored and recorded</text>',
    ]
    for n in nodes:
        parts.append(_line(x(n), TOP, x(n), HEIGHT - BOTTOM, "#e9ecef"))
        parts.append(_text(x(n), HEIGHT - BOTTOM + 18, f"{n:,}", "middle"))
    for power in range(low, high + 1):
        parts.append(_line(LEFT, y(10**power), WIDTH - RIGHT, y(10**power), "#e9ecef"))
        parts.append(_text(LEFT - 8, y(10**power) + 4, f"{10**power:,}", "end"))
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, "nodes", "middle"))
    for number, (name, points) in enumerate(series.items()):
        color = COLORS[number % len(COLORS)]
        path = " ".join(f"{x(n):.1f},{y(cost):.1f}" for n, cost in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        parts += [f'<circle cx="{x(n):.1f}" cy="{y(cost):.1f}" r="3" fill="{color}"/>' for n, cost in points]
        height = TOP + 14 + 20 * number
        parts.append(_line(WIDTH - RIGHT + 14, height, WIDTH - RIGHT + 34, height, color))
        parts.append(_text(WIDTH - RIGHT + 40, height + 4, name, "start"))
    return "\n".join([*parts, "</svg>", ""])


def _line(x1: float, y1: float, x2: float, y2: float, color: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}" stroke-width="2"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>'
