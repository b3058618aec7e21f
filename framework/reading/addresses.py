"""URLs without the credentials in them: what may be shown, logged and stored of an extender's address.

Hidden are user and password, the values of the query and the fragment. Go's client hides the password alone, as ``***``
(net/http ``stripPassword``); here all of the userinfo goes, as many services take a token for a user's name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

HIDDEN: Final = "***"
_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s\"']+")
_PIECES: Final = re.compile(r"[^&;]+")


def without_credentials(url: str) -> str:
    """``http://user:password@host/path?token=1`` as ``http://***:***@host/path?token=***``; others as they are.

    Of one whose host cannot be told from what else is in it, only the scheme stays.
    """
    head, mark, rest = url.partition("//")
    if not mark:
        head, rest = "", url
    end = next((place for place, character in enumerate(rest) if character in "/?#"), len(rest))
    authority, path = rest[:end], rest[end:]
    userinfo, at, host = authority.rpartition("@")
    if "@" in path and not _is_host(host):
        return f"{head}{mark}{HIDDEN}"
    return f"{head}{mark}{_hidden_userinfo(userinfo + at)}{host}{without_values(path)}"


def without_values(path: str) -> str:
    """A path, or the end of one, without what its query and its fragment say."""
    path, hash_, fragment = path.partition("#")
    path, mark, query = path.partition("?")
    return path + mark + _PIECES.sub(_without_value, query) + hash_ + (HIDDEN if fragment else "")


def text_without_credentials(text: str) -> str:
    """Any text, with the credentials of the URLs in it hidden."""
    return _URL.sub(lambda found: without_credentials(found[0]), text)


def _hidden_userinfo(userinfo: str) -> str:
    """``userinfo``: with its ``@``, or empty."""
    if not userinfo:
        return ""
    return f"{HIDDEN}:{HIDDEN}@" if ":" in userinfo else f"{HIDDEN}@"


def _without_value(pair: re.Match[str]) -> str:
    name, sign, _ = pair[0].partition("=")
    return f"{name}={HIDDEN}" if sign else HIDDEN


def _is_host(host: str) -> bool:
    """Whether what stands before the path may be a host, with a port or without."""
    port = host.rpartition("]")[2].partition(":")[2]
    return not port or port.isdecimal()


OF_EXTENDERS: Final[Mapping[str, Callable[[str], str]]] = MappingProxyType(
    {"urlPrefix": without_credentials}
    | dict.fromkeys(("filterVerb", "prioritizeVerb", "preemptVerb", "bindVerb"), without_values)
)
"""The fields of a configuration's extenders that make up URLs."""
