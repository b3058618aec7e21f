"""Where a request comes from. Behind proxies `REMOTE_ADDR` is that of the last one, unless the server trusts it."""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Network, ip_address

from django.http import HttpRequest


def address_of(request: HttpRequest) -> str:
    """As it is shown to people; "" where there is none (a Unix socket)."""
    return str(request.META.get("REMOTE_ADDR", ""))[:45]


def neighbourhood(address: str) -> str:
    """What one caller can change at will counts as one: of IPv6 the network of 64 bits."""
    try:
        known = ip_address(address)
    except ValueError:
        return address
    if isinstance(known, IPv6Address) and known.ipv4_mapped is None:
        return str(IPv6Network((known, 64), strict=False))
    return str(getattr(known, "ipv4_mapped", None) or known)
