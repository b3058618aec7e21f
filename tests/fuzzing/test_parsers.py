"""Whatever is sent, a parser takes it or refuses it with a sentence.

`FUZZ_EXAMPLES=100000 pytest tests/fuzzing` looks for as long as one likes, at other examples each time.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzzing.inputs import inputs
from tests.fuzzing.parsers import PARSERS, parse

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "0"))
"""0: as many as the tests of every day have time for, always the same ones."""
BOUNDED = settings(
    max_examples=EXAMPLES or 150,
    derandomize=not EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.mark.timeout(0 if EXAMPLES else 300)
@pytest.mark.parametrize("name", PARSERS)
def test_it_is_taken_or_refused_with_a_sentence(name: str) -> None:
    @BOUNDED
    @given(st.data())
    def look(data: st.DataObject) -> None:
        words = parse(name, data.draw(inputs(PARSERS[name].seeds)))
        assert words is None or words.strip(), "refused without a word"

    look()


@pytest.mark.parametrize("name", PARSERS)
def test_what_a_parser_likes_it_takes(name: str) -> None:
    """Else the search would begin with what is refused at once."""
    assert None in [parse(name, seed) for seed in PARSERS[name].seeds]
