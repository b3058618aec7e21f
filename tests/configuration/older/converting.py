"""What the tests of conversions ask of one."""

from __future__ import annotations

from framework.configuration import EffectiveProfile, load
from framework.configuration.older import Conversion, Finding, convert
from framework.plugins.registry import built_in_registry

REGISTRY = built_in_registry()


def converted(text: str, flags: str = "") -> Conversion:
    """That of a text whose v1 text loads."""
    made = convert(text, REGISTRY, flags)
    assert made.errors == ()
    assert load(made.text, REGISTRY).errors == ()
    return made


def profile_of(made: Conversion, index: int = 0) -> EffectiveProfile:
    effective = load(made.text, REGISTRY).effective
    assert effective is not None
    return effective.profiles[index]


def found(made: Conversion, what: str) -> list[Finding]:
    return [each for each in made.findings if each.what == what]


def only(made: Conversion, what: str) -> Finding:
    [finding] = found(made, what)
    return finding
