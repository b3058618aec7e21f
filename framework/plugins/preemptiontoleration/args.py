"""Arguments of PreemptionToleration: those of DefaultPreemption (docs/semantics/catalogue.md#preemptiontoleration)."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from framework.configuration.catalogue import PluginArgs
from framework.configuration.errors import FieldError, FieldPath
from framework.configuration.types import Int32
from framework.preemption.limits import candidate_limit_errors
from framework.sentences import noted


class PreemptionTolerationArgs(PluginArgs, frozen=True):
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
        """Upstream validates below a field without a name, which its texts show as brackets."""
        errors = candidate_limit_errors(path, self.min_candidate_nodes_percentage, self.min_candidate_nodes_absolute)
        return [replace_text(error) for error in errors]


def replace_text(error: FieldError) -> FieldError:
    return FieldError(error.kind, error.path, error.value, error.detail, text=f"[].{error}")
