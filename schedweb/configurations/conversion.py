"""An older file of kube-scheduler as a v1 text, with a sentence for each change, beside the old text."""

from __future__ import annotations

import msgspec

from framework.configuration.older import Finding, convert
from schedweb.configurations.catalogue import registry
from schedweb.configurations.examination import Problem, examine, refuse_too_large
from schedweb.configurations.lines import Diff, diff_lines


class Converted(msgspec.Struct, frozen=True):
    text: str
    old: str
    """What the new text is compared with: what was given, or what an object held."""
    forms: list[str]
    """``Policy``, ``v1beta2``, …; none for a command line alone."""
    findings: list[Finding]
    errors: list[Problem]
    """Why the v1 text would be refused: what the older version would have refused, too."""
    diff: Diff


def convert_text(text: str, flags: str = "") -> Converted:
    """Raises TooLarge, and SourceError for what cannot be read or is something else."""
    refuse_too_large(text)
    refuse_too_large(flags)
    made = convert(text, registry(), flags)
    return Converted(
        text=made.text,
        old=made.old,
        forms=list(made.forms),
        findings=list(made.findings),
        errors=examine(made.text).errors,
        diff=diff_lines(made.old, made.text),
    )
