"""Packed texts in the database (schedweb/engine/packing.py): the dictionaries, and a JSON field of such texts."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, ClassVar, Final

import msgspec
import zstandard
from django.db import models
from django.utils import timezone

from schedweb.engine.packing import MAGIC, dictionary_number

HELD: Final = 16
"""Dictionaries that a thread keeps ready."""
LARGEST: Final = 1 << 30


class Dictionary(models.Model):
    """What rows of runs have in common; the runs of a snapshot share one."""

    #: By which packed texts name it.
    number = models.PositiveBigIntegerField(primary_key=True)
    data = models.BinaryField()
    #: When a run began to use it last: one that nobody uses stays for a while.
    used_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name_plural: ClassVar[str] = "dictionaries"

    def __str__(self) -> str:
        return f"dictionary {self.number}"


class _Readers(threading.local):
    """A decompressor is for one thread."""

    def __init__(self) -> None:
        self.plain = zstandard.ZstdDecompressor()
        self.known: dict[int, zstandard.ZstdDecompressor] = {}

    def of(self, number: int) -> zstandard.ZstdDecompressor:
        if number == 0:
            return self.plain
        reader = self.known.pop(number, None)
        if reader is None:
            data = bytes(Dictionary.objects.values_list("data", flat=True).get(pk=number))
            reader = zstandard.ZstdDecompressor(dict_data=zstandard.ZstdCompressionDict(data))
        self.known[number] = reader
        if len(self.known) > HELD:
            del self.known[next(iter(self.known))]
        return reader


_READERS: Final = _Readers()


def text_of(stored: bytes | memoryview | str) -> bytes:
    """The text that was packed, by whatever version. Raises Dictionary.DoesNotExist."""
    if isinstance(stored, str):
        return stored.encode()  # SQLite's, of an earlier version
    packed = bytes(stored)
    if packed[:4] != MAGIC:
        return packed
    return _READERS.of(dictionary_number(packed)).decompress(packed, max_output_size=LARGEST)


if TYPE_CHECKING:
    Base = models.JSONField
else:
    Base = models.BinaryField


class PackedField(Base):
    """JSON; what the engine packed is stored as it is (schedweb/runs/storing/upserts.py)."""

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        return None if value is None else msgspec.json.decode(text_of(value))

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        text = value if value is None or isinstance(value, bytes | memoryview) else msgspec.json.encode(value)
        return super().get_db_prep_value(text, connection, prepared)
