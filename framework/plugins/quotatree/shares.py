"""How an amount is shared out among the quotas of one level (docs/koordinator.md#shares)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Claim(NamedTuple):
    """Of one quota and one resource; all in the resource's unit."""

    asked: int
    """What its pods ask for, at most its max."""
    least: int
    weight: int
    lends: bool
    """Whether others may use what it is guaranteed and does not ask for."""


def shared_out(amount: int, claims: Sequence[Claim]) -> list[int]:
    """Everyone first gets what is guaranteed and asked for, even where that is more than there is. The rest goes by
    weight to those that ask for more, nobody gets more than is asked for, and fractions of a unit go to nobody."""
    shares = [min(each.asked, each.least) if each.lends else each.least for each in claims]
    left = max(0, amount - sum(shares))
    wanting = [i for i, each in enumerate(claims) if each.asked > shares[i] and each.weight > 0]
    # Those that are satisfied with the least per weight come first: what they leave is there for the others.
    wanting.sort(key=lambda i: (claims[i].asked - shares[i]) / claims[i].weight)
    weights = sum(claims[i].weight for i in wanting)
    for i in wanting:
        more = min(claims[i].asked - shares[i], left * claims[i].weight // weights)
        shares[i] += more
        left -= more
        weights -= claims[i].weight
    return shares
