"""NodeMetadataArgs (docs/semantics/catalogue.md#nodemetadata)."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, Self

from msgspec import Meta
from msgspec.structs import replace

from framework.configuration.catalogue import PluginArgs
from framework.configuration.errors import FieldError, FieldPath, invalid
from framework.sentences import noted

LABEL: Final = "Label"
ANNOTATION: Final = "Annotation"
NUMBER: Final = "Number"
TIMESTAMP: Final = "Timestamp"
HIGHEST: Final = "Highest"
LOWEST: Final = "Lowest"
NEWEST: Final = "Newest"
OLDEST: Final = "Oldest"
RFC3339: Final = "2006-01-02T15:04:05Z07:00"


class NodeMetadataArgs(PluginArgs, frozen=True):
    REFUSED_WITH: ClassVar[str] = "invalid NodeMetadataArgs: "

    metadata_key: Annotated[str, Meta(description=noted("The label or annotation whose value counts."))] = ""
    metadata_source: Annotated[
        str,
        Meta(
            description=noted("Where the value stands: Label or Annotation."),
            extra_json_schema={"enum": [LABEL, ANNOTATION]},
        ),
    ] = ""
    metadata_type: Annotated[
        str,
        Meta(
            description=noted("What the value is: Number or Timestamp."),
            extra_json_schema={"enum": [NUMBER, TIMESTAMP]},
        ),
    ] = ""
    scoring_strategy: Annotated[
        str,
        Meta(
            description=noted("Highest and Lowest prefer such numbers, Newest and Oldest such times."),
            extra_json_schema={"enum": [HIGHEST, LOWEST, NEWEST, OLDEST]},
        ),
    ] = ""
    timestamp_format: Annotated[
        str, Meta(description=noted("How the time is written, as a layout of Go; RFC 3339 unless given."))
    ] = ""

    def defaulted(self) -> Self:
        if self.metadata_type == TIMESTAMP and not self.timestamp_format:
            return replace(self, timestamp_format=RFC3339)
        return self

    def validate(self, path: FieldPath) -> list[FieldError]:
        errors = []

        def refuse(field: str, value: str, detail: str) -> None:
            errors.append(invalid(path.child(field), value, detail))

        kind, strategy = self.metadata_type, self.scoring_strategy
        if not self.metadata_key:
            refuse("metadataKey", self.metadata_key, "metadataKey cannot be empty")
        if self.metadata_source not in (LABEL, ANNOTATION):
            refuse(
                "metadataSource", self.metadata_source, 'metadataSource must be either "Label" or "Annotation"'
            )  # fmt: skip
        if kind not in (NUMBER, TIMESTAMP):
            refuse("metadataType", kind, 'metadataType must be either "Number" or "Timestamp"')
        if strategy not in (HIGHEST, LOWEST, NEWEST, OLDEST):
            refuse(
                "scoringStrategy", strategy, 'scoringStrategy must be one of "Highest", "Lowest", "Newest", or "Oldest"'
            )
        if kind == NUMBER and strategy in (NEWEST, OLDEST):
            only = 'scoringStrategy "Newest" and "Oldest" are only valid for metadataType "Timestamp"'
            refuse("scoringStrategy", strategy, only)
        if kind == TIMESTAMP and strategy in (HIGHEST, LOWEST):
            only = 'scoringStrategy "Highest" and "Lowest" are only valid for metadataType "Number"'
            refuse("scoringStrategy", strategy, only)
        return errors
