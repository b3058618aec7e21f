"""A column of what was said: a sentence as JSON, so that every reader has it in their language, or plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec
from django.db import models

from framework.sentences import Content, Sentence

_SAID: Final = msgspec.json.Decoder(Sentence)
_OPENS: Final = '{"say":'

if TYPE_CHECKING:
    TextField = models.TextField[Any, Any]
else:
    TextField = models.TextField


def stored(content: Content) -> str:
    """As the column holds it."""
    return content if isinstance(content, str) else msgspec.json.encode(content).decode()


class SentenceField(TextField):
    def from_db_value(self, value: str | None, expression: Any, connection: Any) -> Content:
        if value is None or not value.startswith(_OPENS):
            return value
        try:
            return _SAID.decode(value)
        except msgspec.DecodeError:
            return value

    def get_prep_value(self, value: Content) -> Any:
        return None if value is None else stored(value)
