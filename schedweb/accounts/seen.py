"""What is remembered of sessions that accounts began: how and where, and when they were last seen, to the minute."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any, Final, Literal

from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import IntegrityError, InterfaceError, OperationalError, transaction
from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone
from django.utils.decorators import sync_only_middleware

from schedweb.accounts.address import address_of
from schedweb.accounts.models import SessionInfo

How = Literal["password", "link", "openid"]
View = Callable[[HttpRequest], HttpResponseBase]
A_MINUTE: Final = 60.0
MOST_REMEMBERED: Final = 10_000


class Lately:
    """Which sessions this process wrote down within the last minute, so that reading does not mean writing."""

    def __init__(self) -> None:
        self._noted: OrderedDict[str, float] = OrderedDict()
        self._lock = threading.Lock()

    def due(self, keys: Iterable[str]) -> list[str]:
        """Those that are to be written down now; they count as written."""
        now = time.monotonic()
        with self._lock:
            found = [key for key in keys if now - self._noted.get(key, -A_MINUTE) >= A_MINUTE]
            for key in found:
                self._noted[key] = now
                self._noted.move_to_end(key)
            while len(self._noted) > MOST_REMEMBERED:
                self._noted.popitem(last=False)
        return found


LATELY: Final = Lately()


def session_begun(request: HttpRequest, user: User, how: How | Literal[""]) -> None:
    """After a login, within its request."""
    if request.session.session_key is None:
        request.session.create()
    now = timezone.now()
    SessionInfo.objects.update_or_create(
        session=Session.objects.get(session_key=request.session.session_key),
        defaults={
            "user": user,
            "how": how,
            "started_at": now,
            "last_seen_at": now,
            "address": address_of(request),
            "agent": request.headers.get("User-Agent", "")[:200].replace("\0", ""),
        },
    )


@sync_only_middleware
def noticed(get_response: View) -> View:
    """A request of a session is a sign of it, once a minute."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        # Without a database the answer has said so; that somebody was seen is not worth losing it.
        with contextlib.suppress(OperationalError, InterfaceError):
            note(request)
        return response

    return answer


def note(request: HttpRequest) -> None:
    # Only where something asked for the session anyway: pages and files do without.
    if not request.session.accessed or request.session.get(SESSION_KEY) is None:
        return
    key, user = request.session.session_key, request.user
    if (
        key is not None
        and isinstance(user, User)
        and LATELY.due([key])
        and not sessions_seen([key], address=address_of(request))
    ):
        # Begun in another way than by a login page. It may have been ended while this was answered.
        with contextlib.suppress(IntegrityError, Session.DoesNotExist), transaction.atomic():
            session_begun(request, user, "")


def sessions_seen(keys: Iterable[str], **more: Any) -> int:
    """How many of them are known."""
    return SessionInfo.objects.filter(session_id__in=list(keys)).update(last_seen_at=timezone.now(), **more)
