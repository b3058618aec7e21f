"""Arguments of InterPodAffinity (docs/semantics/plugins.md#interpodaffinity)."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from framework.configuration.catalogue import PluginArgs
from framework.configuration.errors import FieldError, FieldPath, invalid
from framework.configuration.types import Int32
from framework.sentences import noted


class InterPodAffinityArgs(PluginArgs, frozen=True):
    VALIDATED_BY: ClassVar[Literal["configuration", "constructor"]] = "configuration"

    hard_pod_affinity_weight: Annotated[
        Int32,
        Meta(
            description=noted(
                "What a required affinity term of an existing pod adds to the score of its node's domain."
            ),
            extra_json_schema={"minimum": 0, "maximum": 100},
        ),
    ] = 1
    ignore_preferred_terms_of_existing_pods: Annotated[
        bool, Meta(description=noted("Leave out what existing pods prefer when the incoming pod prefers nothing."))
    ] = False

    def validate(self, path: FieldPath) -> list[FieldError]:
        weight = self.hard_pod_affinity_weight
        if 0 <= weight <= 100:
            return []
        return [invalid(path.child("hardPodAffinityWeight"), weight, "not in valid range [0, 100]")]
