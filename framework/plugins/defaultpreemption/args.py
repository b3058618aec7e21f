"""Arguments of DefaultPreemption: how many candidate nodes it looks at (docs/semantics/preemption.md#candidates)."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from framework.configuration.catalogue import PluginArgs
from framework.configuration.errors import FieldError, FieldPath
from framework.configuration.types import Int32
from framework.preemption.limits import candidate_limit_errors
from framework.sentences import noted


class DefaultPreemptionArgs(PluginArgs, frozen=True):
    # A dry run takes off and puts back pods: on every node of a large cluster it would outlast many cycles. A hundred,
    # or a tenth if that is more, is enough to choose from.
    VALIDATED_BY: ClassVar[Literal["configuration", "constructor"]] = "configuration"

    min_candidate_nodes_percentage: Annotated[
        Int32,
        Meta(
            description=noted("Share of the nodes to dry-run at least, in percent."),
            extra_json_schema={"minimum": 0, "maximum": 100},
        ),
    ] = 10
    min_candidate_nodes_absolute: Annotated[
        Int32, Meta(description=noted("Number of nodes to dry-run at least."), extra_json_schema={"minimum": 0})
    ] = 100

    def validate(self, path: FieldPath) -> list[FieldError]:
        return candidate_limit_errors(path, self.min_candidate_nodes_percentage, self.min_candidate_nodes_absolute)
