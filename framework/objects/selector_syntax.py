"""Selectors as people type them, ``app=web,tier in (a,b),!legacy`` (upstream: labels.Parse, with its texts)."""

from __future__ import annotations

import re
from typing import Final

from framework.objects.field_errors import aggregate
from framework.objects.names import qualified_name_errors
from framework.objects.selectors import (
    DOES_NOT_EXIST,
    EXISTS,
    GREATER_THAN,
    IN,
    LESS_THAN,
    NOT_IN,
    LabelMatcher,
    Requirement,
    SelectorError,
    make_requirement,
    requirement_errors,
)

_TOKEN: Final = re.compile(r"[ \t\r\n]*(==|!=|[=!(),<>]|[^=!(),<> \t\r\n]+)")
_OPERATORS: Final = {
    "=": IN,
    "==": IN,
    "!=": NOT_IN,
    "in": IN,
    "notin": NOT_IN,
    ">": GREATER_THAN,
    "<": LESS_THAN,
}
_EXPECTED_OPERATORS: Final = "in, notin, =, ==, !=, gt, lt"
_SYMBOLS: Final = frozenset("=!(),<>") | {"==", "!="}
_END: Final = ""


def parse_selector(text: str) -> LabelMatcher:
    """Empty text selects everything. Raises SelectorError."""
    return LabelMatcher.from_requirements(_Parser(text).parse())


class _Parser:
    """One token of look-ahead over the words of the selector; the empty word is the end."""

    def __init__(self, text: str) -> None:
        self._words: list[str] = _TOKEN.findall(text)
        self._position = 0

    def parse(self) -> list[Requirement]:
        requirements: list[Requirement] = []
        word = self._peek()
        if word == _END:
            return requirements
        if word != "!" and word in _SYMBOLS:
            raise SelectorError(f"found '{word}', expected: !, identifier, or 'end of string'")
        while True:
            requirements.append(self._requirement())
            word = self._next()
            if word == _END:
                return requirements
            if word != ",":
                raise SelectorError(f"found '{word}', expected: ',' or 'end of string'")
            word = self._peek()
            if word == _END or (word != "!" and word in _SYMBOLS):
                raise SelectorError(f"found '{word}', expected: identifier after ','")

    def _requirement(self) -> Requirement:
        negated = self._peek() == "!"
        if negated:
            self._next()
        key = self._next()
        if key == _END or key in _SYMBOLS:
            raise _unparsable(f"found '{key}', expected: identifier")
        if errors := qualified_name_errors(key):
            raise _unparsable(f'<nil>: Invalid value: "{key}": {"; ".join(errors)}')
        if self._peek() in (_END, ","):
            return Requirement(key, DOES_NOT_EXIST if negated else EXISTS, ())
        if negated:
            raise SelectorError(f"found '{self._peek()}', expected: ',' or 'end of string'")
        word = self._next()
        operator = _OPERATORS.get(word)
        if operator is None:
            raise _unparsable(f"found '{word}', expected: {_EXPECTED_OPERATORS}")
        values = self._values() if word in ("in", "notin") else [self._exact_value()]
        if found := requirement_errors(key, operator, tuple(values), ""):
            raise _unparsable(aggregate(found))
        return make_requirement(key, operator, values)

    def _exact_value(self) -> str:
        word = self._peek()
        if word in (_END, ","):
            return ""
        self._next()
        if word in _SYMBOLS:
            raise _unparsable(f"found '{word}', expected: identifier")
        return word

    def _values(self) -> list[str]:
        """``(a,,b)``: between two commas, and beside a bracket, stands the empty value."""
        word = self._next()
        if word != "(":
            raise _unparsable(f"found '{word}' expected: '('")
        values = []
        while True:
            word = self._next()
            if word in (",", ")"):
                values.append("")
            elif word == _END or word in _SYMBOLS:
                raise _unparsable(f"found '{word}', expected: ',', ')' or identifier")
            else:
                values.append(word)
                word = self._next()
                if word not in (",", ")"):
                    raise _unparsable(f"found '{word}', expected: ',' or ')'")
            if word == ")":
                return values

    def _peek(self) -> str:
        return self._words[self._position] if self._position < len(self._words) else _END

    def _next(self) -> str:
        word = self._peek()
        self._position += 1
        return word


def _unparsable(text: str) -> SelectorError:
    return SelectorError(f"unable to parse requirement: {text}")
