"""Many browsers that open one run at the same time and hear it through whatever happens to Redis."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Final

import redis

from scripts.bench_sockets import SILENT_SECONDS, Reader, opened
from scripts.site import Site
from tests.deploy.main_flow import CLUSTER

#: More than the connections that one process may have to Redis.
BROWSERS: Final = 200
HEARD_WITHIN: Final = 60


def run_for_a_crowd(site: Site) -> str:
    snapshot = site.import_snapshot(json.dumps(CLUSTER), "crowd")
    version = next(
        entry for entry in site.get("/api/v1/configurations/?limit=50")["results"] if entry["name"] == "Default"
    )
    body = {"snapshot": snapshot["id"], "configuration_version": version["latest"]["id"], "seed": 7, "paused": True}
    run: str = site.post("/api/v1/runs/", body)["id"]
    return run


def play_to_its_end(site: Site, run: str) -> int:
    """The last seq."""
    site.command(run, {"type": "play", "speed": "max"})
    last: int = site.run_until(run, "the run is finished", lambda seen: seen["state"] == "finished")["seq"]
    return last


async def heard_by_all(readers: list[Reader], last: int) -> None:
    async with asyncio.timeout(HEARD_WITHIN):
        while any(reader.seq < last and reader.closed is None for reader in readers):
            await asyncio.sleep(0.1)


async def with_a_crowd(site: Site, run: str, meanwhile: Callable[[list[Reader]], Awaitable[None]]) -> list[Reader]:
    readers = await opened(site, run, BROWSERS)
    try:
        await meanwhile(readers)
    finally:
        for reader in readers:
            reader.leave()
    return readers


def listen_through_a_silence(site: Site) -> None:
    """Longer than any reader of Redis may wait. Nothing closes, and everybody hears every message after it."""
    run = run_for_a_crowd(site)

    async def be_silent_then_play(readers: list[Reader]) -> None:
        await asyncio.sleep(SILENT_SECONDS)
        await heard_by_all(readers, await asyncio.to_thread(play_to_its_end, site, run))

    readers = asyncio.run(with_a_crowd(site, run, be_silent_then_play))
    assert {reader.closed for reader in readers} == {None}
    assert sum(reader.gaps for reader in readers) == 0


def listen_while_redis_is_emptied(site: Site, redis_url: str) -> None:
    """As by a restart: connections are cut and nothing is known any more. Who listens is told how far the run is."""
    run = run_for_a_crowd(site)

    async def empty_redis_then_play(readers: list[Reader]) -> None:
        await asyncio.to_thread(empty, redis_url)
        await heard_by_all(readers, await asyncio.to_thread(play_to_its_end, site, run))

    readers = asyncio.run(with_a_crowd(site, run, empty_redis_then_play))
    assert {reader.closed for reader in readers} == {None}


def empty(redis_url: str) -> None:
    with redis.Redis.from_url(redis_url) as database:
        number = database.get_connection_kwargs()["db"]
        database.flushdb()
        for client in database.client_list():
            if client["db"] == str(number) and client["cmd"] != "client|list":
                database.client_kill_filter(_id=client["id"])
