"""JSON bodies of every endpoint: what cannot be read is refused with a sentence."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any, Final

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

from framework.objects.decode import text_complaint
from framework.reading.density import density_complaint
from schedweb.sentences import say, translated

_SUSPECT: Final = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")


class BoundedJSONParser(JSONParser):
    """As DRF's, but a body that is nested without end is the sender's mistake, not a failure of ours. So are zero
    bytes, which PostgreSQL does not store, and halves of surrogate pairs, which nobody can write again."""

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        body: bytes = stream.read()
        if crowded := density_complaint(body):
            raise ParseError(say("JSON parse error - {why}.", why=translated(crowded).removesuffix(".")))
        try:
            content = super().parse(io.BytesIO(body), media_type, parser_context)
            # Without the zeros of UTF-16.
            suspects = texts_in(content) if _SUSPECT.search(body.replace(b"\0", b"")) else ()
            complaint = next(filter(None, map(text_complaint, suspects)), "")
        except RecursionError:
            raise ParseError(say("JSON parse error - it is nested too deeply.")) from None
        if complaint:
            raise ParseError(say("JSON parse error - {why}.", why=translated(complaint)))
        return content


def texts_in(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, dict):
        yield from content
        for each in content.values():
            yield from texts_in(each)
    elif isinstance(content, list):
        for each in content:
            yield from texts_in(each)
