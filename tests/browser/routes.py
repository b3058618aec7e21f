"""What the router knows, so that no page is forgotten where every page is promised something."""

from __future__ import annotations

import re
from collections.abc import Iterable

from scripts.processes import ROOT

ROUTER = ROOT / "frontend/src/app/router.tsx"


def unvisited(addresses: Iterable[str]) -> list[str]:
    """Routes to which none of these addresses leads."""
    routes = re.findall(r'^\s+path: "([^"]+)"', ROUTER.read_text(encoding="utf-8"), re.MULTILINE)
    assert "/" in routes
    paths = [address.partition("?")[0] for address in addresses]
    patterns = {route: re.compile(re.sub(r"\$\w+", "[^/]+", route)) for route in routes}
    return [route for route, pattern in patterns.items() if not any(map(pattern.fullmatch, paths))]
