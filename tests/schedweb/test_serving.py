"""The web process, where it cannot say where it listens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.management.base import CommandError

from schedweb.web_server import serve


@pytest.mark.django_db(transaction=True)
def test_a_folder_that_takes_no_note_is_a_sentence(tmp_path: Path, settings: Any) -> None:
    settings.DATA_DIR = tmp_path
    (tmp_path / "serving.json").mkdir()
    with pytest.raises(CommandError, match=f"The data folder {tmp_path} cannot be used: Is a directory."):
        serve("127.0.0.1", 0, lambda: None)
