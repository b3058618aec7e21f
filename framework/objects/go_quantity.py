"""Quantities as Go's ``%v`` prints them: their structure, with the decimal exponent they are kept with.

Rules: docs/semantics/catalogue.md#printed-quantities.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from framework.objects.metadata import RawQuantity
from framework.objects.quantity import NANOS, Format, parse_quantity

_PARTS: Final = re.compile(r"[+-]?0*(\d*)(?:\.(\d*))?(.*)", re.ASCII)
_EXPONENTS: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_NANO_EXPONENT: Final = -9


@dataclass(slots=True)
class GoQuantity:
    """``nanos`` billionths, kept as a multiple of ten to the power of ``scale``."""

    nanos: int
    scale: int
    format: Format

    @classmethod
    def parse(cls, raw: RawQuantity) -> GoQuantity:
        text = raw if isinstance(raw, str) else repr(raw)
        quantity = parse_quantity(raw)
        found = _PARTS.fullmatch(text)
        assert found is not None, f"{text} was parsed"
        suffix = found[3]
        if quantity.format is Format.BINARY_SI:
            return cls(quantity.nanos, 0, quantity.format)
        exponent = _EXPONENTS.get(suffix)
        if exponent is None:
            exponent = int(suffix[1:])
        return cls(quantity.nanos, max(exponent - len(found[2] or ""), _NANO_EXPONENT), quantity.format)

    @classmethod
    def of(cls, value: int, *, milli: bool = False, format_: Format = Format.DECIMAL_SI) -> GoQuantity:
        return cls(value * (NANOS // 1000 if milli else NANOS), -3 if milli else 0, format_)

    def subtract(self, other: GoQuantity) -> None:
        """Upstream ``Quantity.Sub``: the finer exponent of both is kept, but that of zero does not count."""
        if self.nanos == 0:
            self.format, self.scale = other.format, other.scale
        elif other.nanos:
            self.scale = min(self.scale, other.scale)
        self.nanos -= other.nanos

    def __str__(self) -> str:
        value = self.nanos // 10 ** (self.scale - _NANO_EXPONENT)
        return f"{{{{{value} {self.scale}}} {{<nil>}}  {self.format.value}}}"
