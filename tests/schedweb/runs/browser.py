"""A browser at the socket, without a server. (channels' own needs daphne, which the product does not use.)"""

from __future__ import annotations

import json
from typing import Any

from asgiref.testing import ApplicationCommunicator

PATIENCE = 5.0


class Browser(ApplicationCommunicator):
    def __init__(self, application: Any, *, headers: list[tuple[bytes, bytes]] | None = None) -> None:
        scope: dict[str, Any] = {"type": "websocket", "path": "/ws/", "headers": headers or [], "subprotocols": []}
        super().__init__(application, scope)

    async def connect(self) -> bool:
        await self.send_input({"type": "websocket.connect"})
        answer = await self.receive_output(PATIENCE)
        return bool(answer["type"] == "websocket.accept")

    async def say_text(self, text: str) -> None:
        await self.send_input({"type": "websocket.receive", "text": text})

    async def say_bytes(self, content: bytes) -> None:
        await self.send_input({"type": "websocket.receive", "bytes": content})

    async def say(self, message: Any) -> None:
        await self.say_text(json.dumps(message))

    async def told(self) -> Any:
        answer = await self.receive_output(PATIENCE)
        assert answer["type"] == "websocket.send", answer
        return json.loads(answer["text"])

    async def hung_up(self) -> int:
        """The code with which the server closed the connection."""
        answer = await self.receive_output(PATIENCE)
        assert answer["type"] == "websocket.close", answer
        return int(answer["code"])

    async def hears_nothing(self, seconds: float = 0.1) -> bool:
        return bool(await self.receive_nothing(seconds))

    async def close(self) -> None:
        await self.send_input({"type": "websocket.disconnect", "code": 1000})
        await self.wait(PATIENCE)
