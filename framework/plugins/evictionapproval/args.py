"""Which evictions EvictionApproval asks a person about."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from framework.configuration.catalogue import PluginArgs, check_bounds
from framework.configuration.errors import FieldError, FieldPath, invalid
from framework.objects.metadata import LabelSelector
from framework.objects.selectors import SelectorError, compile_label_selector
from framework.sentences import noted


class EvictionApprovalArgs(PluginArgs, frozen=True, kw_only=True, rename="camel"):
    victim_selector: Annotated[
        LabelSelector | None,
        Meta(description=noted("Asks only where a pod with these labels would be evicted. Not given: whoever it is.")),
    ] = None
    victim_namespaces: Annotated[
        tuple[str, ...],
        Meta(description=noted("Asks only where a pod of these namespaces would be evicted. Empty: of any.")),
    ] = ()
    only_violations: Annotated[
        bool, Meta(description=noted("Asks only where a PodDisruptionBudget would be violated."))
    ] = False
    message: Annotated[str, Meta(max_length=500, description=noted("What the person who decides should know."))] = ""

    def validate(self, path: FieldPath) -> list[FieldError]:
        errors = check_bounds(self, path)
        try:
            compile_label_selector(self.victim_selector)
        except SelectorError as error:
            errors.append(invalid(path.child("victimSelector"), self.victim_selector, str(error)))
        return errors
