"""Why a text is no JSON, in the words of Go's scanner (encoding/json).

Only texts that another parser refused come here, so it may be slow and stops at the first byte that is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

DEEPEST: Final = 10_000
"""Levels that Go nests."""
_SPACE: Final = b" \t\r\n"
_DIGITS: Final = b"0123456789"
_HEX: Final = b"0123456789abcdefABCDEF"
_ESCAPES: Final = b'bfnrt\\/"'
_ENDED: Final = "end"
"""The first value ended: what follows is nobody's business."""

_State = Callable[[int], "str | None"]


class _Scanner:
    """A byte at a time; ``step`` returns None to go on, ``_ENDED``, or the complaint."""

    def __init__(self) -> None:
        self.step: _State = self._begin_value
        self._open: list[str] = []
        """``key``, ``value`` or ``element``: what of the object or list is being read."""

    # --- values -----------------------------------------------------------------------------------------------------

    def _begin_value(self, c: int) -> str | None:
        if c in _SPACE:
            return None
        if c == ord("{"):
            return self._nested("key", self._begin_key_or_end)
        if c == ord("["):
            return self._nested("element", self._begin_value_or_end)
        if c == ord('"'):
            self.step = self._in_string
        elif c == ord("-"):
            self.step = self._minus
        elif c == ord("0"):
            self.step = self._zero
        elif c in b"123456789":
            self.step = self._digits
        elif c in b"tfn":
            word = {ord("t"): "true", ord("f"): "false", ord("n"): "null"}[c]
            self._word(word, 1)
        else:
            return _wrong(c, "looking for beginning of value")
        return None

    def _nested(self, what: str, step: _State) -> str | None:
        self._open.append(what)
        self.step = step
        return "exceeded max depth" if len(self._open) > DEEPEST else None

    def _begin_value_or_end(self, c: int) -> str | None:
        if c in _SPACE:
            return None
        return self._end_value(c) if c == ord("]") else self._begin_value(c)

    def _begin_key_or_end(self, c: int) -> str | None:
        if c in _SPACE:
            return None
        if c == ord("}"):
            self._open[-1] = "value"
            return self._end_value(c)
        return self._begin_key(c)

    def _begin_key(self, c: int) -> str | None:
        if c in _SPACE:
            return None
        if c == ord('"'):
            self.step = self._in_string
            return None
        return _wrong(c, "looking for beginning of object key string")

    def _end_value(self, c: int) -> str | None:
        if not self._open:
            return _ENDED
        if c in _SPACE:
            self.step = self._end_value
            return None
        inside = self._open[-1]
        if inside == "key":
            if c != ord(":"):
                return _wrong(c, "after object key")
            self._open[-1] = "value"
            self.step = self._begin_value
            return None
        close, context = ("}", "after object key:value pair") if inside == "value" else ("]", "after array element")
        if c == ord(","):
            if inside == "value":
                self._open[-1] = "key"
                self.step = self._begin_key
            else:
                self.step = self._begin_value
            return None
        if c != ord(close):
            return _wrong(c, context)
        self._open.pop()
        self.step = self._end_value
        return None if self._open else _ENDED

    # --- strings ----------------------------------------------------------------------------------------------------

    def _in_string(self, c: int) -> str | None:
        if c == ord('"'):
            self.step = self._end_value
        elif c == ord("\\"):
            self.step = self._escape
        elif c < 0x20:
            return _wrong(c, "in string literal")
        return None

    def _escape(self, c: int) -> str | None:
        if c in _ESCAPES:
            self.step = self._in_string
        elif c == ord("u"):
            self._hexadecimal(4)
        else:
            return _wrong(c, "in string escape code")
        return None

    def _hexadecimal(self, left: int) -> None:
        def step(c: int) -> str | None:
            if c not in _HEX:
                return _wrong(c, "in \\u hexadecimal character escape")
            if left > 1:
                self._hexadecimal(left - 1)
            else:
                self.step = self._in_string
            return None

        self.step = step

    # --- numbers and words ------------------------------------------------------------------------------------------

    def _minus(self, c: int) -> str | None:
        if c == ord("0"):
            self.step = self._zero
        elif c in _DIGITS:
            self.step = self._digits
        else:
            return _wrong(c, "in numeric literal")
        return None

    def _digits(self, c: int) -> str | None:
        return None if c in _DIGITS else self._zero(c)

    def _zero(self, c: int) -> str | None:
        if c == ord("."):
            self.step = self._point
        elif c in b"eE":
            self.step = self._exponent
        else:
            return self._end_value(c)
        return None

    def _point(self, c: int) -> str | None:
        if c not in _DIGITS:
            return _wrong(c, "after decimal point in numeric literal")
        self.step = self._fraction
        return None

    def _fraction(self, c: int) -> str | None:
        if c in _DIGITS:
            return None
        if c in b"eE":
            self.step = self._exponent
            return None
        return self._end_value(c)

    def _exponent(self, c: int) -> str | None:
        if c in b"+-":
            self.step = self._exponent_begins
            return None
        return self._exponent_begins(c)

    def _exponent_begins(self, c: int) -> str | None:
        if c not in _DIGITS:
            return _wrong(c, "in exponent of numeric literal")
        self.step = self._exponent_digits
        return None

    def _exponent_digits(self, c: int) -> str | None:
        return None if c in _DIGITS else self._end_value(c)

    def _word(self, word: str, at: int) -> None:
        def step(c: int) -> str | None:
            if c != ord(word[at]):
                return _wrong(c, f"in literal {word} (expecting {_quoted(ord(word[at]))})")
            if at + 1 < len(word):
                self._word(word, at + 1)
            else:
                self.step = self._end_value
            return None

        self.step = step


def complaint(text: bytes) -> str:
    """What is wrong with the first value of ``text``; "" when nothing is."""
    scanner = _Scanner()
    for c in text:
        said = scanner.step(c)
        if said == _ENDED:
            return ""
        if said is not None:
            return said
    if scanner.step(ord(" ")) == _ENDED:
        return ""
    return "unexpected EOF" if text.strip(_SPACE) else "EOF"


def _wrong(c: int, context: str) -> str:
    return f"invalid character {_quoted(c)} {context}"


_NAMED: Final = {7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r", 39: "\\'", 92: "\\\\"}


def _quoted(c: int) -> str:
    if c in _NAMED:
        return f"'{_NAMED[c]}'"
    if c < 0x20 or c == 0x7F:
        return f"'\\x{c:02x}'"
    if 0x80 <= c <= 0xA0 or c == 0xAD:
        return f"'\\u{c:04x}'"
    return f"'{chr(c)}'"
