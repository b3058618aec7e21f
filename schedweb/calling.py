"""Who may be called from here: the extenders that whoever runs the server allows (EXTENDER_URLS), and nobody else.

A configuration comes from any editor, so it must not make the server call inside its own network. An entry allows its
scheme, host and port, and all paths below its own. In embedded mode, where the server is the person's own machine,
loopback addresses are allowed as well.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final, get_args
from urllib.parse import SplitResult, unquote, urlsplit

from django.conf import settings

from framework.configuration import EffectiveConfiguration
from framework.configuration.types import Extender
from framework.extenders import Verb, configured_verb, url_of
from framework.reading.addresses import without_credentials
from framework.sentences import Sentence, Words, sentence

PORTS: Final = {"http": 80, "https": 443}
LOCALHOST: Final = "localhost"


@dataclass(frozen=True, slots=True)
class Allowed:
    urls: tuple[str, ...]
    loopback: bool
    """Whether addresses of this very machine are allowed."""

    def refusal(self, url: str) -> Sentence | None:
        """Why this URL is not called, or None."""
        shown = without_credentials(url)
        try:
            parts = urlsplit(url)
            wanted = _place(parts)
        except ValueError:
            return sentence("{url} is no URL.", url=shown)
        if parts.scheme not in PORTS or not parts.hostname:
            return sentence("{url} is no URL of http or https.", url=shown)
        # Servers decode paths before they follow them.
        if ".." in unquote(parts.path).replace("\\", "/").split("/"):
            return sentence("{url} goes up in its path.", url=shown)
        if any(_is_below(parts, wanted, urlsplit(each)) for each in self.urls):
            return None
        if self.loopback and is_loopback_name(parts.hostname):
            return None
        return sentence(
            "This server may not call {url}. Whoever runs it allows extenders with EXTENDER_URLS.", url=shown
        )

    def may_reach(self, url: str, address: str) -> bool:
        """Of an allowed URL whose name was looked up: a name for loopback must not lead elsewhere."""
        parts = urlsplit(url)
        if any(_is_below(parts, _place(parts), urlsplit(each)) for each in self.urls):
            return True
        return ip_address(address.partition("%")[0]).is_loopback


def _place(parts: SplitResult) -> tuple[str, str, int]:
    return parts.scheme, parts.hostname or "", parts.port or PORTS.get(parts.scheme, 0)


def _is_below(parts: SplitResult, place: tuple[str, str, int], allowed: SplitResult) -> bool:
    base = allowed.path.rstrip("/")
    return place == _place(allowed) and (parts.path == base or parts.path.startswith(base + "/") or not base)


def is_loopback_name(host: str) -> bool:
    if host == LOCALHOST or host.endswith("." + LOCALHOST):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def allowed() -> Allowed:
    environment = settings.ENVIRONMENT
    return Allowed(environment.extender_urls, environment.mode == "embedded")


def refused_extender(configuration: EffectiveConfiguration | None) -> Words:
    """Why a run cannot be played with these extenders; "" when it can."""
    for extender in () if configuration is None else configuration.extenders:
        if (why := refusal_of(extender, allowed())) is not None:
            return why
    return ""


def refusal_of(extender: Extender, policy: Allowed) -> Sentence | None:
    tls = extender.tls_config
    if tls is not None and (tls.cert_file or tls.key_file or tls.ca_file):
        return sentence(
            "Extender {url} names files of the server for its certificates; give certData, keyData and caData instead.",
            url=without_credentials(extender.url_prefix),
        )
    return next(filter(None, (policy.refusal(url) for url in urls_of(extender))), None)


def urls_of(extender: Extender) -> Iterable[str]:
    return [url_of(extender, verb) for verb in get_args(Verb) if configured_verb(extender, verb)]
