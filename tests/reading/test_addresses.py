"""What is shown of an extender's URL."""

from __future__ import annotations

import pytest

from framework.reading.addresses import text_without_credentials, without_credentials, without_values


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://user:word@host:1/a", "http://***:***@host:1/a"),
        ("https://token@host", "https://***@host"),
        ("https://:word@[::1]:8443/a", "https://***:***@[::1]:8443/a"),
        ("http://us@er:wo@rd@host/", "http://***:***@host/"),
        ("http://host/a?token=word", "http://host/a?token=***"),
        ("http://host?word", "http://host?***"),
        ("http://host/a?k=a=b&word;x=&y=1#word", "http://host/a?k=***&***;x=***&y=***#***"),
        ("user:word@host/a", "***:***@host/a"),
        ("http://user:wo/rd@host/a", "http://***"),
        ("http://user:wo?rd@host/a", "http://***"),
        ("http://user:wo#rd@host/a", "http://***"),
    ],
)
def test_credentials_are_hidden(url: str, shown: str) -> None:
    assert without_credentials(url) == shown
    assert without_credentials(shown) == shown
    assert "word" not in shown


@pytest.mark.parametrize(
    "url",
    ["", "http://host", "http://host:1/", "http://[::1]:1/a/", "http://host/a@b/c:d", "http://host:0/@", "a", "/a//b"],
)
def test_others_stay_as_they_are(url: str) -> None:
    assert without_credentials(url) == without_values(url) == text_without_credentials(url) == url


def test_verbs_and_texts() -> None:
    assert without_values("filter?token=word") == "filter?token=***"
    text = "# was http://user:word@host/a?token=word 'https://word@host' and mail to a@b.example\n"
    shown = "# was http://***:***@host/a?token=*** 'https://***@host' and mail to a@b.example\n"
    assert text_without_credentials(text) == shown
