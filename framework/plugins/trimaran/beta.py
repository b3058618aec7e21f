"""The beta distribution, fitted to the mean and the deviation of a load (docs/semantics/catalogue.md#beta)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

STEPS: Final = 10_000
SMALLEST: Final = 5e-324
TINY: Final = 1e-300
PRECISION: Final = 1e-16


@dataclass(frozen=True, slots=True)
class Beta:
    alpha: float
    beta: float

    def below(self, limit: float) -> float:
        """The probability of at most ``limit``; 0 where it cannot be worked out."""
        probability = regularized_incomplete_beta(self.alpha, self.beta, limit)
        return probability if 0 <= probability <= 1 else 0.0


def probability_below(mu: float, sigma: float, threshold: float) -> tuple[float, Beta | None]:
    """That a load with this mean and deviation is at most the threshold, and the distribution if one was fitted."""
    if mu == 0 or (sigma == 0 and mu <= threshold):
        return 1.0, None
    if sigma == 0 and mu > threshold:
        return 0.0, None
    fitted = _fitted(mu, (sigma * sigma) + (mu * mu))
    return (0.0, None) if fitted is None else (fitted.below(threshold), fitted)


def _fitted(first: float, second: float) -> Beta | None:
    """The distribution with these moments."""
    variance = second - first * first
    if first < 0 or first > 1 or variance < 0 or variance >= first * (1 - first):
        return None
    total = math.inf if variance == 0 else (first * (1 - first) / variance) - 1
    total = max(total, SMALLEST)
    return Beta(first * total, (1 - first) * total)


def regularized_incomplete_beta(a: float, b: float, x: float) -> float:
    """I_x(a, b); NaN where it is not defined."""
    if not (a > 0 and b > 0 and 0 <= x <= 1):
        return math.nan
    if x in (0, 1):
        return float(x)
    # The continued fraction converges fast on the side of the mean where the tail is.
    if x > (a + 1) / (a + b + 2):
        return 1.0 - _lower(b, a, 1.0 - x)
    return _lower(a, b, x)


def _lower(a: float, b: float, x: float) -> float:
    """By Lentz's method for the continued fraction of the incomplete beta function (DLMF 8.17.22)."""
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    d = 1.0 / _apart(1.0 - (a + b) * x / (a + 1.0))
    c, fraction = 1.0, d
    for m in range(1, STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1.0 / _apart(1.0 + even * d)
        c = _apart(1.0 + even / c)
        fraction *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1.0 / _apart(1.0 + odd * d)
        c = _apart(1.0 + odd / c)
        step = d * c
        fraction *= step
        if abs(step - 1.0) < PRECISION:
            break
    return math.exp(front) * fraction / a


def _apart(number: float) -> float:
    """Away from zero."""
    return TINY if abs(number) < TINY else number
