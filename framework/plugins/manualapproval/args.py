"""Which pods ManualApproval asks a person about, for how long, and what a rejection means."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, field

from framework.configuration.catalogue import PluginArgs, check_bounds
from framework.configuration.errors import FieldError, FieldPath, invalid
from framework.objects.metadata import LabelSelector, RawQuantity
from framework.objects.quantity import QuantityError
from framework.objects.resources import resource_value
from framework.objects.selectors import SelectorError, compile_label_selector
from framework.sentences import noted


class ManualApprovalArgs(PluginArgs, frozen=True, kw_only=True, rename="camel"):
    pod_selector: Annotated[
        LabelSelector | None, Meta(description=noted("Asks only about pods with these labels. Not given: about all."))
    ] = None
    namespaces: Annotated[
        tuple[str, ...], Meta(description=noted("Asks only about pods in these namespaces. Empty: in all."))
    ] = ()
    minimum_requests: Annotated[
        dict[str, RawQuantity],
        Meta(
            description=noted("Asks only about pods that request at least one of these amounts. Empty: about any size.")
        ),
    ] = field(default_factory=dict)
    timeout_seconds: Annotated[
        int, Meta(ge=1, le=900, description=noted("How long a pod waits before it is rejected; 15 minutes at most."))
    ] = 600
    message: Annotated[str, Meta(max_length=500, description=noted("What the person who decides should know."))] = ""
    on_reject: Annotated[
        Literal["retry", "hold"],
        Meta(
            description=noted(
                "retry: a rejected pod is tried again when the queue flushes it (5 minutes). "
                "hold: it stays out until a person activates it."
            )
        ),
    ] = "retry"

    def validate(self, path: FieldPath) -> list[FieldError]:
        errors = check_bounds(self, path)
        try:
            compile_label_selector(self.pod_selector)
        except SelectorError as error:
            errors.append(invalid(path.child("podSelector"), self.pod_selector, str(error)))
        for name, amount in self.minimum_requests.items():
            where = path.child("minimumRequests").key(name)
            try:
                if resource_value(name, amount) <= 0:
                    errors.append(invalid(where, amount, "must be greater than zero"))
            except QuantityError as error:
                errors.append(invalid(where, amount, str(error)))
        return errors
