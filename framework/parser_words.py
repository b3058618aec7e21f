"""What parsers of YAML and JSON say is wrong, as sentences: their own texts are English.

Of the usual mistakes; a text that is not known here stays as the parser wrote it. The texts are those of
ruamel.yaml, of libyaml (PyYAML), of Python's json and of msgspec. Kubernetes' parsers in Go have texts of their own.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from framework.sentences import Words, noted, sentence

_UNKNOWN: Final = noted("the parser says “{text}”")
_NOT_CLOSED: Final = noted("the text in quotes is not closed")
_NOT_UTF_8: Final = noted("the text is not UTF-8")
_ESCAPE: Final = noted("what follows the backslash is no escape sequence")
_SEPARATOR: Final = noted("a comma or “{closing}” is missing")
_COLON: Final = noted("a colon is missing behind the key")
_VALUE: Final = noted("a value is missing here")

_YAML: Final = (
    (
        r"mapping values are not allowed .*",
        noted("a key cannot be here; check the indentation, or quote the text"),
    ),
    (
        r"(?:block )?sequence entries are not allowed .*",
        noted("a list item cannot be here; check the indentation"),
    ),
    (r"mapping keys are not allowed .*", noted("a key with “?” cannot be here; check the indentation")),
    (r".*could not find expected ':'", _COLON),
    (r".*found character '\\t' that cannot start any token", noted("tabs do not indent; use spaces")),
    (r".*found a tab character .*", noted("tabs do not indent; use spaces")),
    (r".*found character '(?P<letter>.)' that .*", noted("“{letter}” cannot begin a value; quote the text")),
    (r".*found character that cannot .*", noted("a value cannot begin so; quote the text, and use no tabs to indent")),
    (r"while .*quoted scalar found unexpected (?:end of stream|document (?:separator|indicator))", _NOT_CLOSED),
    (r".*found (?:unknown escape character|invalid Unicode character escape code).*", _ESCAPE),
    (r".*(?:escape sequence of \d+|expected) hexdecimal number.*", _ESCAPE),
    (r"while parsing a block mapping .*", noted("a key is missing here; check the indentation")),
    (r"while parsing a block collection .*", noted("a list item is missing here; check the indentation")),
    (r".*expected ',' or '(?P<closing>[\]}])'.*", _SEPARATOR),
    (r"while .*expected (?:the )?node content.*", _VALUE),
    (r".*expected '?<document start>.*", noted("the document has ended; the next one begins with “---”")),
    (r".*found undefined alias '(?P<name>.*)'", noted("there is no anchor of the name “{name}”")),
    (r".*found undefined alias", noted("there is no anchor of that name")),
    (r"while scanning an alias .*", noted("a name is missing behind “*”; quote a text that begins with it")),
    (r"while scanning an anchor .*", noted("a name is missing behind “&”; quote a text that begins with it")),
    (r".*(?:special|control) characters are not allowed(?s:.*)", noted("there is a control character")),
    (r'.*key "(?P<key>.*)" already set in map', noted('key "{key}" already set in map')),
    (r'.*found duplicate key "(?P<key>.*)" with value (?s:.*)', noted('key "{key}" already set in map')),
    (r".*could not determine a constructor for the tag '(?P<tag>.*)'", noted("the tag {tag} is unknown")),
    (r".*found a value that is no tag:yaml\.org,2002:(?P<type>.*)", noted("the value is no {type}, as its tag says")),
    (r".*found unhashable key", noted("a key must be a text or a number")),
    (r"while scanning a block scalar .*", noted("nothing may follow “|” or “>” on the same line")),
    (
        r".*what is merged and nested is many times the text",
        noted("it holds so many small or merged objects that they would take many times its size in memory"),
    ),
    (r".*expected a mapping.* for merging.*", noted("only a mapping can be merged")),
    (r"(?s:.*)(?:UTF-8 octet|continuation byte|start byte|unexpected end of data)(?s:.*)", _NOT_UTF_8),
)

_JSON: Final = (
    (r"(?:Extra data.*|trailing characters)", noted("something follows the end")),
    (r"Expecting (?:a )?value", _VALUE),
    (
        r"(?:Expecting a key|Expecting property name|object keys must be).*",
        noted("a key in double quotes is missing"),
    ),
    (r"(?:Expecting ':'.*|expected ':')", _COLON),
    (r"(?:Illegal )?trailing comma.*", noted("a comma follows the last value")),
    (r"(?:Expecting|expected) ',' or '(?P<closing>.)'", _SEPARATOR),
    (r"Expecting ',' delimiter", noted("a comma is missing")),
    (r"Unterminated string.*", _NOT_CLOSED),
    (r"(?:Input data was truncated|unexpected end of (?:data|input).*)", noted("it ends in the middle")),
    (r"Invalid control character.*", noted("there is a control character")),
    (r"(?:Invalid \\.*|invalid escape.*|.*unicode escape|.*surrogate.*)", _ESCAPE),
    (r"(?:[iI]nvalid number|[nN]umber out of range.*)", noted("a number is malformed or too large")),
    (r"invalid character", noted("there is a character where it cannot be")),
    (r".*codec can't decode.*", _NOT_UTF_8),
)


def _compiled(table: tuple[tuple[str, str], ...]) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(pattern), text) for pattern, text in table)


_KNOWN_YAML: Final = _compiled(_YAML)
_KNOWN_JSON: Final = _compiled(_JSON)
_PLACED: Final = re.compile(r"(?P<text>.*): line (?P<line>\d+) column (?P<column>\d+) \(char \d+\)")
_AT_BYTE: Final = re.compile(r"JSON is malformed: (?P<text>.*) \(byte (?P<byte>\d+)\)")


class Complaint(NamedTuple):
    """``line`` and ``column`` count from one; None where the parser names no place."""

    words: Words
    line: int | None
    column: int | None


def yaml_complaint(error: Exception) -> Complaint:
    """Of what a YAML parser raised. ruamel.yaml and PyYAML have one MarkedYAMLError each, with the same fields."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    line, column = (None, None) if mark is None else (mark.line + 1, mark.column + 1)
    problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
    return Complaint(yaml_words(problem, getattr(error, "context", None)), line, column)


def yaml_words(problem: str | None, context: str | None = None) -> Words:
    return _words(" ".join(part for part in (context, problem) if part), _KNOWN_YAML)


def json_words(text: str) -> Words:
    """Of ``str(error)``, with the place when the text has one, or of its ``msg``."""
    if placed := _PLACED.fullmatch(text):
        return sentence(
            "line {line}, column {column}: {why}",
            line=int(placed["line"]),
            column=int(placed["column"]),
            why=_words(placed["text"], _KNOWN_JSON),
        )
    if placed := _AT_BYTE.fullmatch(text):
        return sentence("byte {byte:,}: {why}", byte=int(placed["byte"]), why=_words(placed["text"], _KNOWN_JSON))
    return _words(text, _KNOWN_JSON)


def _words(text: str, known: tuple[tuple[re.Pattern[str], str], ...]) -> Words:
    for pattern, template in known:
        if found := pattern.fullmatch(text):
            return sentence(template, **found.groupdict())
    return sentence(_UNKNOWN, text=text)
