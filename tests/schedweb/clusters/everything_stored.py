"""Every value of every table, also of what is packed: searched for what must not be there."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

import zstandard
from django.db import connection

from schedweb.engine.packing import MAGIC
from schedweb.runs.models import Dictionary

_BASE64 = re.compile(rb"[A-Za-z0-9+/]{24,}={0,2}")


def everything_stored() -> dict[str, bytes]:
    """By table: all its values, and after them what is compressed or in base64 within them."""
    found = {}
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')
            values = [_as_bytes(value) for row in cursor.fetchall() for value in row]
            found[table] = b"\n".join(each for value in values for each in _layers(value))
    return found


def _as_bytes(value: object) -> bytes:
    return bytes(value) if isinstance(value, bytes | memoryview) else str(value).encode()


def _layers(value: bytes) -> Iterator[bytes]:
    yield value
    at = value.find(MAGIC)
    while at >= 0:
        if (inner := _decompressed(value[at:])) is not None:
            yield from _layers(inner)
        at = value.find(MAGIC, at + 1)
    for text in _BASE64.findall(value):
        try:
            inner = base64.b64decode(text)
        except binascii.Error:
            continue
        if MAGIC in inner:
            yield from _layers(inner)


def _decompressed(frame: bytes) -> bytes | None:
    try:
        number = zstandard.get_frame_parameters(frame).dict_id
        known = Dictionary.objects.filter(number=number).first() if number else None
        dictionary = None if known is None else zstandard.ZstdCompressionDict(bytes(known.data))
        return zstandard.ZstdDecompressor(dict_data=dictionary).decompressobj().decompress(frame)
    except zstandard.ZstdError:
        return None
