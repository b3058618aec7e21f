"""Whatever is logged, in either form, holds no token of a share or login link."""

from __future__ import annotations

import io
import logging
import logging.config
from collections.abc import Iterator

import pytest
from django.conf import settings as django_settings
from django.test import Client, RequestFactory

from schedweb.observing.logs import logging_settings

TOKEN = "Zm9vYmFyYmF6cXV4"


@pytest.fixture(params=["text", "json"])
def written(request: pytest.FixtureRequest) -> Iterator[io.StringIO]:
    """What the product's own handler writes of loggers below `tokens` and of Django's."""
    settings = logging_settings(request.param)
    stream = io.StringIO()
    settings["handlers"]["console"]["stream"] = stream
    logging.config.dictConfig(settings)
    try:
        yield stream
    finally:
        logging.config.dictConfig(django_settings.LOGGING)


@pytest.mark.parametrize(
    "address",
    [
        f"/share/{TOKEN}",
        f"/share/{TOKEN}/more",
        f"/login?token={TOKEN}",
        f"/login?next=/&token={TOKEN}",
        f"/login/openid/back?code={TOKEN}&state={TOKEN}",
    ],
)
def test_no_token_is_written(written: io.StringIO, address: str) -> None:
    request = RequestFactory().get(address)
    log = logging.getLogger("django.request")
    log.warning("Gone: %s", address, extra={"status_code": 410, "request": request})
    log.error(f'"GET {address} HTTP/1.1" failed')
    assert written.getvalue().count(address[:6]) >= 2
    assert TOKEN not in written.getvalue()


@pytest.mark.django_db
@pytest.mark.parametrize("method", ["get", "post", "put", "delete", "head"])
def test_django_names_what_it_refuses_without_its_token(written: io.StringIO, method: str) -> None:
    answer = getattr(Client(enforce_csrf_checks=True), method)(f"/share/{TOKEN}")
    assert answer.status_code in (403, 404, 405)
    assert "/share/-" in written.getvalue()
    assert TOKEN not in written.getvalue()
