"""`Idempotency-Key`: a request that is sent again, because its answer was lost, is answered as before and done once.

The key belongs to a person. Its row says what was asked, and then what was answered; a request that is refused leaves
none, for nothing was done. Who asks while the first request is under way waits a little for its answer.
"""

from __future__ import annotations

import contextlib
import datetime
import functools
import hashlib
import json
import re
import time
import uuid
import zlib
from collections.abc import Callable
from typing import Any, Final

from django.db import IntegrityError, transaction
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from schedweb.accounts.models import KeptAnswer
from schedweb.accounts.permissions import signed_in_user
from schedweb.api.errors import ApiError, refuse_without_room
from schedweb.api.renderers import FastJSONRenderer
from schedweb.api.room import WATCH
from schedweb.database.clock import database_now
from schedweb.sentences import say

HEADER: Final = "Idempotency-Key"
REPLAYED: Final = "Idempotency-Replayed"
KEPT: Final = datetime.timedelta(hours=24)
MOST_KEPT: Final = 1000
"""Per person; the oldest go first."""
LEASE: Final = datetime.timedelta(seconds=30)
"""After which a request without an answer was lost with its process."""
LONG_LEASE: Final = datetime.timedelta(minutes=5)
PATIENCE_SECONDS: Final = 5.0
_LOOK_SECONDS: Final = 0.05
_KEY: Final = re.compile(r"[\x21-\x7e]{1,255}")
DESCRIPTION: Final = (
    "Up to 255 characters of your choice. The same request with the same key is done once within 24 hours, and "
    f"answered as the first time, with `{REPLAYED}: true`; another request with it is answered 422."
)
View = Callable[..., HttpResponseBase]


def idempotent(
    *,
    whole: bool = True,
    lease: datetime.timedelta = LEASE,
    check: Callable[[Request], object] | None = None,
    needs_room: Callable[[Request], bool] = lambda request: True,
) -> Callable[[View], View]:
    """Of a view's method that takes an Idempotency-Key (schedweb/api/schema.py describes it).

    ``whole``: what it does and the note of it are one transaction; else it bears being done again. ``check`` refuses a
    body before it is read. ``needs_room``: whether it is refused at once while nothing can be stored.
    """

    def decorate(method: View) -> View:
        @functools.wraps(method)
        def answer(view: Any, request: Request, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if needs_room(request):
                refuse_without_room()
            key = request.headers.get(HEADER)
            if key is None:
                done = method(view, request, *args, **kwargs)
                WATCH.note_written()
                return done
            if not _KEY.fullmatch(key):
                raise ApiError(
                    say("{header} has 1 to 255 characters of ASCII, and no space.", header=HEADER),
                    code="invalid",
                    path=HEADER,
                )
            if check is not None:
                check(request)
            row = claim(request, key, lease)
            if not row.is_under_way:
                return replayed(row)
            try:
                with transaction.atomic() if whole else contextlib.nullcontext():
                    response = method(view, request, *args, **kwargs)
                    assert isinstance(response, Response)
                    keep(row, response)
            except BaseException:
                KeptAnswer.objects.filter(pk=row.pk, lease_expires=row.lease_expires).delete()
                raise
            return response

        answer.takes_key = True  # type: ignore[attr-defined]  # a mark for the description
        return answer

    return decorate


def claim(request: Request, key: str, lease: datetime.timedelta) -> KeptAnswer:
    """The row of this key: under way when the request is to be done now, by whoever called. Raises ApiError."""
    user, asked = signed_in_user(request), hash_of(request)
    until = time.monotonic() + PATIENCE_SECONDS
    forget(user)
    while True:
        now = database_now()
        try:
            with transaction.atomic():
                return KeptAnswer.objects.create(user=user, key=key, asked=asked, lease_expires=now + lease)
        except IntegrityError:
            row = KeptAnswer.objects.filter(user=user, key=key).first()
        if row is None:
            continue  # its request was refused meanwhile
        if row.asked != asked:
            raise ApiError(
                say("This {header} came with another request before. Send this one with a new key.", header=HEADER),
                code="key_reused",
                status_code=status.HTTP_422_UNPROCESSABLE_ENTITY,
                path=HEADER,
            )
        if not row.is_under_way:
            return row
        assert row.lease_expires is not None
        if row.lease_expires < now:
            mine = KeptAnswer.objects.filter(pk=row.pk, lease_expires=row.lease_expires)
            if mine.update(lease_expires=now + lease):
                row.lease_expires = now + lease
                return row
        if time.monotonic() >= until:
            raise StillUnderWay
        time.sleep(_LOOK_SECONDS)


class StillUnderWay(ApiError):
    wait = 1
    """Seconds, for Retry-After."""

    def __init__(self) -> None:
        super().__init__(
            say("The request with this {header} is still under way. Ask again.", header=HEADER),
            code="under_way",
            status_code=status.HTTP_409_CONFLICT,
            path=HEADER,
        )


def hash_of(request: Request) -> str:
    """Of all that is asked: method, address and body, however its JSON is spaced and ordered."""
    found = hashlib.sha256(f"{request.method} {request.get_full_path()}\n".encode())
    if request.FILES:
        found.update(json.dumps(sorted(request.POST.lists())).encode())
        for name, file in sorted(request.FILES.items()):
            found.update(json.dumps([name, file.name, file.size]).encode())
            for chunk in file.chunks():
                found.update(chunk)
            file.seek(0)
    else:
        found.update(json.dumps(request.data, sort_keys=True).encode())
    return found.hexdigest()


def identity_of(request: Request) -> uuid.UUID | None:
    """Of what a request with a key asks for: what is stored under it is not stored twice, whenever its process dies."""
    key = request.headers.get(HEADER)
    if key is None:
        return None
    return uuid.uuid5(uuid.NAMESPACE_OID, f"{signed_in_user(request).pk} {key} {hash_of(request)}")


def keep(row: KeptAnswer, response: Response) -> None:
    body = zlib.compress(FastJSONRenderer().render(response.data))
    KeptAnswer.objects.filter(pk=row.pk).update(lease_expires=None, status=response.status_code, body=body)


def replayed(row: KeptAnswer) -> HttpResponse:
    body = zlib.decompress(bytes(row.body))
    return HttpResponse(body, status=row.status, content_type="application/json", headers={REPLAYED: "true"})


def forget(user: Any) -> None:
    """What is too old, and what is too much."""
    mine = KeptAnswer.objects.filter(user=user)
    mine.filter(created_at__lt=timezone.now() - KEPT).delete()
    if spare := list(mine.order_by("-created_at").values_list("pk", flat=True)[MOST_KEPT:]):
        mine.filter(pk__in=spare, lease_expires=None).delete()
