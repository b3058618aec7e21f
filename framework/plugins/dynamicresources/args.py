"""DynamicResourcesArgs."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from framework.configuration.catalogue import PluginArgs
from framework.configuration.durations import format_duration, parse_duration
from framework.configuration.errors import FieldError, FieldPath, invalid
from framework.configuration.types import Duration
from framework.objects.timestamps import SECOND
from framework.sentences import noted


class DynamicResourcesArgs(PluginArgs, frozen=True):
    VALIDATED_BY: ClassVar[Literal["configuration", "constructor"]] = "configuration"

    filter_timeout: Annotated[
        Duration, Meta(description=noted("Limit of Filter per node; 0s is none. Simulated Filters take no time."))
    ] = "10s"
    binding_timeout: Annotated[
        Duration, Meta(description=noted("How long binding may wait for devices, at least 1s."))
    ] = "10m0s"

    def validate(self, path: FieldPath) -> list[FieldError]:
        errors = []
        if (filtering := parse_duration(self.filter_timeout)) < 0:
            errors.append(invalid(path.child("filterTimeout"), format_duration(filtering), "must be zero or positive"))
        if (binding := parse_duration(self.binding_timeout)) < SECOND:
            errors.append(invalid(path.child("bindingTimeout"), format_duration(binding), "must be at least 1 second"))
        return errors
