"""The ASGI application: HTTP goes to Django, /ws/ to the one socket of a browser."""

from __future__ import annotations

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "schedweb.settings")

from django.core.asgi import get_asgi_application

django_application = get_asgi_application()

from channels.routing import ProtocolTypeRouter, URLRouter
from channels.sessions import SessionMiddlewareStack

import schedweb.urls  # noqa: F401 - all views
from schedweb.body_limit import BodyLimit
from schedweb.checks import refuse_bad_environment
from schedweb.processes.collecting import end_loading
from schedweb.processes.structs import learn_structs
from schedweb.runs.live.routing import websocket_urlpatterns
from schedweb.socket_origin import SameOriginOnly

refuse_bad_environment()

application = ProtocolTypeRouter(
    {
        "http": BodyLimit(django_application),
        "websocket": SameOriginOnly(SessionMiddlewareStack(URLRouter(websocket_urlpatterns))),
    }
)

learn_structs()
end_loading()
