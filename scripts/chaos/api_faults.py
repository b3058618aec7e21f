"""Faults between a run that schedules and its real cluster, beside those of the product's own parts."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from scripts.chaos.cluster import Cluster, Host
from scripts.chaos.faults import Done, Faults
from scripts.chaos.real_cluster import RealCluster, Window, user_of
from scripts.tcp_proxy import Mode

OWN: Final = {
    "engine killed": 14,
    "worker killed": 12,
    "worker's host frozen": 6,
    "web killed": 5,
    "PostgreSQL cut off": 8,
    "PostgreSQL silent": 4,
    "PostgreSQL ends all connections": 4,
    "Redis cut off": 5,
    "Redis silent": 3,
    "Redis emptied": 4,
}
"""Of faults.py; clocks, disks and the fork server are what scripts.chaos itself breaks."""


class SchedulingFaults(Faults):
    def __init__(self, cluster: Cluster, chance: random.Random, real: RealCluster) -> None:
        super().__init__(cluster, chance)
        self.real = real
        kept: dict[str, tuple[int, Callable[[Host], Done]]] = {
            name: (often, self.kinds[name][1]) for name, often in OWN.items()
        }
        self.kinds = kept | {
            "API server killed": (12, self.kill_api_server),
            "API server hangs": (5, self.hang_api_server),
            "API server cut off": (8, lambda host: self.cut_api(host, "cut")),
            "API server silent": (6, lambda host: self.cut_api(host, "silent")),
            "API server's answers lost": (8, self.lose_answers),
            "API server ends all watches": (4, self.end_watches),
        }

    def freeze_worker(self, host: Host) -> Done:
        done = super().freeze_worker(host)
        return Done(done.text, self.real.late(user_of(host), done.mend), done.after)

    def kill_worker(self, host: Host) -> Done:
        """What it had sent may still be on its way."""
        began = datetime.now(UTC)
        done = super().kill_worker(host)
        self.real.windows.append(Window(user_of(host), began, datetime.now(UTC)))
        return done

    def kill_api_server(self, host: Host) -> Done:
        """In the midst of what it answers. What it starts with is what was stored; sometimes it has forgotten which
        changes led to it, and its roles are not loaded yet."""
        server = self.real.server
        server.stop()
        forgets = self.random.random() < 0.5

        def start() -> None:
            if forgets:
                server.forget_history()
                server.forbid_everybody(1.0)
            server.start()

        return Done("and forgot its history" if forgets else "", start, self.random.choice((0.3, 1.0, 3.0, 8.0, 14.0)))

    def hang_api_server(self, host: Host) -> Done:
        server = self.real.server
        server.pause()
        return Done("", self.real.late("", server.resume), self.random.choice((1.0, 4.0, 8.0)))

    def cut_api(self, host: Host, mode: Mode) -> Done:
        proxy = self.real.proxies[host.label]
        proxy.mode = mode

        def open_again() -> None:
            proxy.mode = "open"

        mend = self.real.late(user_of(host), open_again)
        return Done(f"for {host.label}", mend, self.random.choice((0.3, 1.0, 2.5, 7.0, 12.0)))

    def lose_answers(self, host: Host) -> Done:
        """Writes are carried out, and nobody is told."""
        lost = self.real.server.faults.drop_answer(
            times=self.random.randint(1, 6), also=lambda request: request.is_write and request.resource != "leases"
        )
        return Done("", lost.release, 4.0)

    def end_watches(self, host: Host) -> Done:
        self.real.server.forget_history()
        self.real.server.cut_watches()
        return Done("and forgot its history")
