"""Bad configuration stops start-up with a sentence (`manage.py check`, and every process before it serves)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register


@register()
def check_environment(app_configs: Sequence[Any] | None = None, **kwargs: Any) -> list[CheckMessage]:
    problem = settings.ENVIRONMENT.problem
    return [] if problem is None else [Error(problem, id="schedweb.E001")]


def refuse_bad_environment() -> None:
    """For servers that do not run Django's checks by themselves."""
    if settings.ENVIRONMENT.problem is not None:
        print(settings.ENVIRONMENT.problem, file=sys.stderr)
        raise SystemExit(2)
