"""What tests of the Django project have in common."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.utils import translation


@pytest.fixture(autouse=True)
def _english_again() -> Iterator[None]:
    """A request leaves its language with the thread; the next request of a thread sets its own."""
    yield
    translation.deactivate()
