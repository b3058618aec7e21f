"""The metrics that a process counts by itself. What the database knows is read when somebody asks
(schedweb/operation/collector.py). Names follow https://prometheus.io/docs/practices/naming/."""

from __future__ import annotations

from typing import Final

from prometheus_client import Counter, Gauge, Histogram

SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
BYTES: Final = tuple(float(1024 * 4**power) for power in range(1, 11))
"""4 KiB to 1 GiB."""

REQUESTS: Final = Counter("playground_http_requests", "HTTP requests that were answered", ["method", "route", "status"])
REQUEST_SECONDS: Final = Histogram(
    "playground_http_request_duration_seconds", "Time from a request to its answer", ["method", "route"],
    buckets=SECONDS,
)  # fmt: skip
SOCKETS: Final = Gauge("playground_sockets", "Browsers that are connected to this process")
SOCKETS_CLOSED: Final = Counter(
    "playground_sockets_closed",
    "Sockets that the server closed, by WebSocket close code",
    ["code"],
)
COMMANDS: Final = Counter("playground_commands_accepted", "Commands that were stored in a journal", ["type"])
COMMAND_SECONDS: Final = Histogram(
    "playground_command_duration_seconds",
    "Time from a command's storing in the journal to the storing of what became of it",
    ["type", "status"],
    buckets=SECONDS,
)
BATCHES: Final = Counter("playground_batches", "Batches of engines that were stored and told")
BATCH_LAG_SECONDS: Final = Histogram(
    "playground_batch_lag_seconds",
    "Time from a batch's arrival from its engine until it is stored and told",
    buckets=SECONDS,
)
PLACES: Final = Gauge("playground_places", "How much of a kind this worker does at once", ["kind"])
PLACES_TAKEN: Final = Gauge("playground_places_taken", "How much of a kind this worker is doing", ["kind"])
RUNS_HELD: Final = Gauge("playground_runs_held", "Runs whose lease this worker holds")
TAKEOVERS: Final = Counter("playground_lease_takeovers", "Runs taken over from a worker that was not heard of any more")
ENGINE_DEATHS: Final = Counter("playground_engine_deaths", "Engine processes that ended without being asked to")
NOTICES: Final = Counter(
    "playground_notices", "Notices of waiting pods, by kind of address and outcome", ["kind", "outcome"]
)
WRITES_REFUSED: Final = Counter(
    "playground_writes_refused", "Writes that the database or the data folder refused: full, or read-only", ["kind"]
)
IMPORT_BYTES: Final = Histogram("playground_import_bytes", "Size of uploaded files", buckets=BYTES)
