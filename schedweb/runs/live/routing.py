"""Where the socket lives."""

from __future__ import annotations

from django.urls import path

from schedweb.runs.live.consumers import BrowserConsumer

websocket_urlpatterns = [path("ws/", BrowserConsumer.as_asgi())]
