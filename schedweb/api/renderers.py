"""JSON through msgspec: the board and node tables are large and asked for often."""

from __future__ import annotations

import datetime
import decimal
import uuid
from collections.abc import Mapping
from typing import Any

import msgspec
from django.utils.functional import Promise
from rest_framework.renderers import JSONRenderer


def encode_other(value: Any) -> Any:
    if isinstance(value, Promise | uuid.UUID | decimal.Decimal):
        return str(value)
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "__iter__"):
        return list(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


ENCODER = msgspec.json.Encoder(enc_hook=encode_other)


class FastJSONRenderer(JSONRenderer):
    def render(self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None) -> bytes:
        if data is None:
            return b""
        # DRF's ReturnDict and ErrorDetail are subclasses, which msgspec's encoder refuses or passes to the hook.
        return ENCODER.encode(data)
