"""The usage of nodes as an old attempt saw it, from whole tables and what changed in between."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from schedweb.engine import usage_log
from schedweb.engine.usage_log import Amounts, UsageLog, padded, usage_at

AMOUNTS = st.tuples(st.integers(0, 9), st.integers(0, 9))
CHANGES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.none() | AMOUNTS), max_size=60)


@given(changes=CHANGES, chunk=st.integers(1, 7), every=st.integers(1, 20))
def test_every_attempt_is_given_the_table_it_saw(
    changes: list[tuple[int, int, Amounts | None]], chunk: int, every: int
) -> None:
    """`changes`: (attempts made before it, row, new amounts)."""
    original, usage_log.BASE_EVERY = usage_log.BASE_EVERY, every  # type: ignore[misc]
    try:
        log = UsageLog()
        log.put(1, 0, (1, 1))
        log.start(1)
        truth: dict[int, Amounts] = {0: (1, 1)}
        seen: dict[int, dict[int, Amounts]] = {}
        stored: list[tuple[int, bytes | None, bytes]] = []
        attempt, first = 1, 1
        for made, row, amounts in [*changes, (chunk, 0, None)]:
            for _ in range(made):
                seen[attempt] = dict(truth)
                attempt += 1
                if attempt - first >= chunk:
                    stored.append((first, *log.take(attempt)))
                    first = attempt
            log.put(attempt, row, amounts)
            if amounts is None:
                truth.pop(row, None)
            else:
                truth[row] = amounts
        for number, want in seen.items():
            if number >= first:
                continue  # its chunk is not written yet
            bases = [at for at, base, _ in stored if base is not None and at <= number]
            base_at = bases[-1]
            base = next(base for at, base, _ in stored if at == base_at)
            assert base is not None
            changes_since = [blob for at, _, blob in stored if base_at <= at <= number]
            assert usage_at(base, changes_since, number) == want
    finally:
        usage_log.BASE_EVERY = original  # type: ignore[misc]


def test_resources_that_came_later_count_as_nothing_before() -> None:
    assert padded((1, 2), 4) == [1, 2, 0, 0]
    assert padded((), 2) == [0, 0]
