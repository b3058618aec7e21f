"""Files that people open in a spreadsheet."""

from __future__ import annotations

import csv
from io import StringIO

import pytest

from schedweb.api.exports import as_csv


@pytest.mark.parametrize("name", ["=1+1", "+cmd", "-x", "@sum", "\t=1", "\r=1", "-2+3", "+1e9x"])
def test_what_looks_like_a_formula_stays_a_text(name: str) -> None:
    assert written(name) == f"'{name}"


@pytest.mark.parametrize("cell", ["-3", "+0", "+12.5", "web-1", "a=b", "", -3, 2.5, "NodeResourcesFit=-4"])
def test_numbers_and_other_texts_are_let_be(cell: object) -> None:
    assert written(cell) == str(cell)


def written(cell: object) -> str:
    text = as_csv(["cell"], [[cell, "end"]]).decode()
    return next(csv.reader(StringIO(text.partition("\r\n")[2], newline="")))[0]
