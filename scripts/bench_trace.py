"""Plays the trace of a real cluster to its end on the virtual clock, as a run's engine does, and says what that costs.

The traces are CSV files as schedweb.snapshots.trace reads them (nodes, pods with their times). Everything the engine
makes is made (digest, chunks, rows, columns), nothing is stored. CPU time, because machines are shared.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from pathlib import Path

from framework.configuration.presets import preset
from framework.plugins.registry import built_in_registry
from schedweb.engine import frames
from schedweb.engine.batch import Gatherer
from schedweb.engine.payload import TimelineEntry, decode_payload, encode_payload
from schedweb.engine.player import Happened, Player, RunOptions, effective_configuration
from schedweb.snapshots.trace import read_trace

START = 1_767_225_600_000_000_000
ENDS = (Happened.FINISHED, Happened.WAITS, Happened.IDLE)
FRAME_SECONDS = 0.1
LOOK_EVERY = 8


class Batches:
    """Takes batches out of the player ten times a second, and throws them away."""

    def __init__(self, player: Player) -> None:
        self.player = player
        self.gatherer = Gatherer(player)
        self.count = self.bytes = 0

    def take(self) -> None:
        gatherer, projection = self.gatherer, self.player.projection
        feed = projection.feed.take(self.player.now)
        chunk, attempts = gatherer.attempts()
        parts = (feed, attempts, gatherer.columns(whole=False), gatherer.pods(), gatherer.nodes(), gatherer.cycle())
        frames._ENCODER.encode((chunk, *parts))
        self.count += 1
        self.bytes += 0 if chunk is None else len(chunk.traces) + len(chunk.usage) + len(chunk.usage_base or b"")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("nodes", type=Path)
    parser.add_argument("pods", type=Path)
    parser.add_argument("--departures", action="store_true", help="pods leave when the trace says so")
    parser.add_argument("--repeats", choices=("used", "verified", "off"), default="used")
    options = parser.parse_args()

    trace = read_trace(options.nodes, options.pods, departures=options.departures)
    timeline = [TimelineEntry(at=e.at, delete=e.delete, manifest=e.manifest) for e in trace.timeline]
    payload = decode_payload(encode_payload(trace.nodes, timeline))
    registry = built_in_registry()
    defaults = preset("default")
    assert defaults is not None
    configuration = effective_configuration(defaults.text, registry)
    run = RunOptions(7, "seeded", "hold", "virtual", START)
    player = Player(payload.objects, payload.timeline, configuration, registry, run)
    player.scheduler.core.repeats.rule = options.repeats
    gc.collect()
    gc.freeze()

    batches = Batches(player)
    began = last = time.process_time()
    done = 0
    while player.operate() not in ENDS:
        done += 1
        if done % LOOK_EVERY == 0 and time.process_time() - last >= FRAME_SECONDS:
            batches.take()
            last = time.process_time()
    batches.take()
    spent = time.process_time() - began
    print(
        f"{spent:.1f} s of CPU, {player.recorded:,} attempts ({spent / player.recorded * 1e6:.0f} µs each), "
        f"{player.scheduler.core.repeats.count:,} of them repeated, {batches.count} batches, "
        f"{batches.bytes / 1e6:.1f} MB of chunks, digest {player.digest}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
