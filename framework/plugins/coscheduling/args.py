"""CoschedulingArgs (docs/semantics/pod-groups.md#coscheduling)."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from framework.configuration.catalogue import PluginArgs
from framework.configuration.errors import FieldError, FieldPath, invalid
from framework.sentences import noted


class CoschedulingArgs(PluginArgs, frozen=True, kw_only=True, rename="camel"):
    permit_waiting_time_seconds: Annotated[
        int, Meta(description=noted("How long a member waits for the rest when its PodGroup names no time."))
    ] = 60
    pod_group_backoff_seconds: Annotated[
        int, Meta(description=noted("How long a PodGroup is not tried again after it failed; 0: not at all."))
    ] = 0
    pod_group_reject_percentage: Annotated[
        int,
        Meta(
            description=noted("A PodGroup that lacks at most this share of its members is not rejected by one failure.")
        ),
    ] = 10

    def validate(self, path: FieldPath) -> list[FieldError]:
        errors = [
            invalid(path.child(name), value, "must be greater than 0")
            for name, value in (
                ("permitWaitingTimeSeconds", self.permit_waiting_time_seconds),
                ("podGroupBackoffSeconds", self.pod_group_backoff_seconds),
            )
            if value < 0
        ]
        if not 0 <= self.pod_group_reject_percentage <= 100:
            errors.append(
                invalid(
                    path.child("podGroupRejectPercentage"),
                    self.pod_group_reject_percentage,
                    "must be between 0 and 100",
                )
            )
        return errors
