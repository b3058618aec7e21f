"""JSON bodies of every endpoint: what cannot be read is refused with a sentence."""

from __future__ import annotations

from typing import Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

from schedweb.sentences import say


class BoundedJSONParser(JSONParser):
    """As DRF's, but a body that is nested without end is the sender's mistake, not a failure of ours."""

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        try:
            return super().parse(stream, media_type, parser_context)
        except RecursionError:
            raise ParseError(say("JSON parse error - it is nested too deeply.")) from None
