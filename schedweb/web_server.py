"""The web process: uvicorn with the product's settings, whoever starts it (`manage.py playground`, `manage.py web`)."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from typing import Any

import uvicorn
from django.conf import settings
from django.core.management.base import CommandError

from schedweb.accounts.audit.settings_noted import settings_noted
from schedweb.environment import folder_problem
from schedweb.serving import noted
from schedweb.stopping import STOPPING

UNDER_WAY_SECONDS = 1.0
"""What connects a moment before the server is told to end has this long to send its request."""


class Server(uvicorn.Server):
    """Says the link once the port is open, and notes its address for other commands until it is closed."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self.ready = ready
        self.note = contextlib.ExitStack()

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        if self.started:
            self.note.enter_context(noted(self.config.host, self.config.port))
            self.ready()

    async def shutdown(self, sockets: Any = None) -> None:
        """uvicorn closes sockets with 1012 (service restart): browsers come back, to whoever listens then."""
        STOPPING.set()
        self.note.close()
        await asyncio.sleep(0)  # whoever has connected by now is taken
        for server in self.servers:
            server.close()
        # uvicorn would close connections whose request is still on its way, which a proxy does not send elsewhere then.
        until = time.monotonic() + UNDER_WAY_SECONDS
        while self.expects_requests() and time.monotonic() < until:
            await asyncio.sleep(0.01)
        await super().shutdown(sockets)

    def expects_requests(self) -> bool:
        """Whether somebody has connected who has not sent a request yet."""
        return any(getattr(each, "cycle", self) is None for each in list(self.server_state.connections))


def serve(host: str, port: int, ready: Callable[[], None]) -> None:
    """Until a signal ends it. Raises CommandError where it cannot listen, or not note that it does."""
    settings_noted()
    config = uvicorn.Config(
        "schedweb.asgi:application",
        host=host,
        port=port,
        log_level="warning",
        # Addresses may hold tokens; schedweb/observing/requests.py writes a line per request without them.
        access_log=False,
        proxy_headers=True,
        forwarded_allow_ips=list(settings.ENVIRONMENT.trusted_proxies),
        lifespan="off",
        ws="websockets-sansio",
        ws_max_size=64 * 1024,
        # Every browser's stream would be compressed by itself, most often for one on the same machine.
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=5,
    )
    try:
        Server(config, ready).run()
    except SystemExit as error:
        # uvicorn has said why (the port is taken, for instance).
        raise CommandError(f"The server could not be started on {host}:{port}.") from error
    except OSError as error:
        # Its note of where it listens: the disk became full since it began.
        raise CommandError(folder_problem(settings.DATA_DIR, error.strerror or str(error))) from None
