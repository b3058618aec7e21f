"""What was measured, as lines to read and as the tables of docs/benchmarks.md."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from framework.cli.bench.measure import Measured
from framework.cli.bench.workloads import BY_NAME, Workload

GOAL: Final = 10
"""Times kube-scheduler's adaptive figure."""
HEADER: Final = (
    "| workload | init / measured pods | pods/s | per CPU second | p50 µs | p99 µs | × adaptive | × every node | "
    "target | MiB | trace, bytes/pod |\n|---|---|---|---|---|---|---|---|---|---|---|"
)


def machine() -> str:
    """CPU model, cores, Python and the load when this was asked."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.partition(":")[2].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        model = names[0] if names else model
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return f"{model}, {os.cpu_count()} cores, {sys.platform}, Python {platform.python_version()}{load}"


def target(workload: Workload) -> float | None:
    if workload.target is not None:
        return workload.target
    return None if workload.adaptive is None else GOAL * workload.adaptive


def line(measured: Measured) -> str:
    workload = BY_NAME[measured.workload]
    parts = [
        f"{measured.workload}: {measured.pods_per_second:,.0f} pods/s",
        f"{measured.pods_per_cpu_second:,.0f} per CPU second",
        f"p50 {measured.p50_us:,.0f} µs, p99 {measured.p99_us:,.0f} µs",
    ]
    if workload.adaptive and workload.every_node:
        ratio, every = measured.pods_per_second / workload.adaptive, measured.pods_per_second / workload.every_node
        parts.append(f"{ratio:.1f}× kube-scheduler adaptive, {every:.0f}× every node")
    parts.append(f"{measured.bound:,} of {measured.pods:,} bound, creation {measured.create_us:,.0f} µs")
    if measured.peak_mib is not None:
        parts.append(f"{measured.peak_mib:,.0f} MiB")
    if measured.recorded:
        parts.append(f"{measured.trace_bytes / max(1, measured.pods):,.0f} bytes of trace per pod")
    return "; ".join(parts)


def row(measured: Measured) -> str:
    """Of the table under HEADER."""
    workload = BY_NAME[measured.workload]
    wanted = target(workload)
    cells = [
        f"{measured.workload}: {workload.says}",
        f"{measured.init_pods:,} / {measured.pods:,}",
        f"{measured.pods_per_second:,.0f}",
        f"{measured.pods_per_cpu_second:,.0f}",
        f"{measured.p50_us:,.0f}",
        f"{measured.p99_us:,.0f}",
        "" if workload.adaptive is None else f"{measured.pods_per_second / workload.adaptive:.1f}",
        "" if workload.every_node is None else f"{measured.pods_per_second / workload.every_node:.0f}",
        "" if wanted is None else f"{wanted:,.0f}",
        "" if measured.peak_mib is None else f"{measured.peak_mib:,.0f}",
        f"{measured.trace_bytes / max(1, measured.pods):,.0f}",
    ]
    return f"| {' | '.join(cells)} |"


def growth(measured: Sequence[Measured]) -> str:
    """One workload on ever more nodes."""
    lines = ["| nodes | µs per pod | pods/s | p99 µs | MiB | seconds to load |", "|---|---|---|---|---|---|"]
    for each in measured:
        memory = "" if each.peak_mib is None else f"{each.peak_mib:,.0f}"
        cells = [
            f"{each.nodes:,}",
            f"{1e6 / each.pods_per_second:,.0f}",
            f"{each.pods_per_second:,.0f}",
            f"{each.p99_us:,.0f}",
            memory,
            f"{each.load_seconds:.1f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
