"""Configurations as the API takes and shows them. What is shown mirrors the Structs of this app; a test compares."""

from __future__ import annotations

from typing import Any, Final, get_args

import msgspec
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from framework.configuration.edits import Edit
from framework.configuration.older import OUTCOMES
from framework.configuration.presets import PRESETS
from schedweb.api.errors import ErrorSerializer
from schedweb.configurations.examination import MAX_CHARACTERS

FORMATS: Final = ["yaml", "json"]
CELL_STATES: Final = ["default", "added", "disabled"]
CELL_ORIGINS: Final = ["default", "weight changed", "moved", "added", "disabled by name", "disabled by *"]
ROW_ORIGINS: Final = ["default", "added"]
STAGES: Final = ["syntax", "decoding", "validation", "construction"]
GATE_STAGES: Final = ["alpha", "beta", "GA"]
LINE_KINDS: Final = ["equal", "removed", "added", "folded"]


# What is taken --------------------------------------------------------------------------------------------------------


def _edit_schema() -> dict[str, Any]:
    """The framework's edits as OpenAPI: one object per kind, told apart by ``type``."""
    kinds, definitions = msgspec.json.schema_components(get_args(Edit), ref_template="{name}")
    shown = [definitions[reference["$ref"]] for reference in kinds]
    for definition in shown:
        for name, value in definition["properties"].items():
            # With a default the field would count as always given, in types made from this.
            value.pop("default", None)
            choices = [choice for choice in value.get("anyOf", []) if choice != {"type": "null"}]
            if len(choices) == 1:
                # OpenAPI 3.0 has no type for null.
                definition["properties"][name] = {**choices[0], "nullable": True}
    return {"oneOf": shown}


@extend_schema_field(_edit_schema())
class EditField(serializers.JSONField):
    pass


@extend_schema_field({"oneOf": [{"type": "string"}, {"type": "integer"}]})
class PathPartField(serializers.JSONField):
    """A key or an index."""


class ConfigurationCreateSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=200)
    description = serializers.CharField(max_length=300, required=False, allow_blank=True, default="")
    text = serializers.CharField(
        required=False,
        allow_blank=True,
        default="",
        trim_whitespace=False,
        help_text=f"A KubeSchedulerConfiguration, YAML or JSON, of at most {MAX_CHARACTERS} characters",
    )
    preset = serializers.CharField(
        required=False,
        allow_blank=True,
        default="",
        help_text=f"Instead of a text: {', '.join(each.id for each in PRESETS)}",
    )
    comment = serializers.CharField(max_length=300, required=False, allow_blank=True, default="")


class ConfigurationChangeSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=200, required=False)
    description = serializers.CharField(max_length=300, required=False, allow_blank=True)
    keep = serializers.BooleanField(
        required=False, help_text="List one that was made for an exact run; so does any other change"
    )


class VersionCreateSerializer(serializers.Serializer[Any]):
    text = serializers.CharField(trim_whitespace=False)
    base_version = serializers.IntegerField(min_value=1, help_text="Number of the version that the draft began with")
    comment = serializers.CharField(max_length=300, required=False, allow_blank=True, default="")


class ConvertSerializer(serializers.Serializer[Any]):
    text = serializers.CharField(
        trim_whitespace=False,
        help_text="A Policy, an older KubeSchedulerConfiguration, an object that holds one, or a command line",
    )
    flags = serializers.CharField(
        required=False, allow_blank=True, default="", help_text="A command line of kube-scheduler beside the text"
    )


class CheckSerializer(serializers.Serializer[Any]):
    text = serializers.CharField(trim_whitespace=False, allow_blank=True)
    format = serializers.ChoiceField(
        choices=FORMATS, required=False, allow_null=True, default=None, help_text="Write the text in this format"
    )
    edits = serializers.ListField(child=EditField(), required=False, default=list)
    configuration = serializers.UUIDField(
        required=False, allow_null=True, default=None, help_text="Compare with what is saved of this configuration"
    )
    base_version = serializers.IntegerField(min_value=1, required=False, allow_null=True, default=None)


# What is shown --------------------------------------------------------------------------------------------------------


class VersionPlaceSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    number = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    author = serializers.CharField(allow_blank=True, help_text="Empty for what came with the product")
    comment = serializers.CharField(allow_blank=True)


class VersionSerializer(VersionPlaceSerializer):
    runs = serializers.IntegerField()


class ConfigurationSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    name = serializers.CharField()
    description = serializers.CharField(allow_blank=True)
    builtin = serializers.BooleanField()
    slug = serializers.CharField(allow_blank=True, help_text="Of a built-in one: what samples name it by")
    what_if = serializers.BooleanField(
        help_text="Made for an exact run: lists leave it out until somebody renames it, changes it or keeps it"
    )
    latest = VersionPlaceSerializer()
    versions_count = serializers.IntegerField()


class ConfigurationProblemSerializer(serializers.Serializer[Any]):
    stage = serializers.ChoiceField(choices=STAGES)
    path = serializers.CharField(allow_blank=True)
    message = serializers.CharField(help_text="What to show beside the field")
    text = serializers.CharField(help_text="kube-scheduler's whole sentence")
    line = serializers.IntegerField(allow_null=True)
    column = serializers.IntegerField(allow_null=True)
    hint = serializers.CharField(allow_blank=True)
    profile = serializers.IntegerField(allow_null=True)
    plugin = serializers.CharField(allow_null=True)
    point = serializers.CharField(allow_null=True)
    field = serializers.ListField(child=PathPartField(), help_text="Place inside the plugin's arguments")


class UnknownFieldSerializer(serializers.Serializer[Any]):
    path = serializers.CharField()
    line = serializers.IntegerField(allow_null=True)
    column = serializers.IntegerField(allow_null=True)
    hint = serializers.CharField(allow_blank=True)


class PluginCellSerializer(serializers.Serializer[Any]):
    state = serializers.ChoiceField(choices=CELL_STATES)
    origin = serializers.ChoiceField(choices=CELL_ORIGINS)
    position = serializers.IntegerField(allow_null=True, help_text="In the order of the point, from 0")
    weight = serializers.IntegerField(allow_null=True)
    default_weight = serializers.IntegerField(allow_null=True)
    moved = serializers.BooleanField()
    disabled_in = serializers.CharField(allow_null=True)


class PointPluginSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    state = serializers.ChoiceField(choices=CELL_STATES)
    origin = serializers.ChoiceField(choices=CELL_ORIGINS)
    weight = serializers.IntegerField(allow_null=True)


class PluginRowSerializer(serializers.Serializer[Any]):
    plugin = serializers.CharField()
    origin = serializers.ChoiceField(choices=ROW_ORIGINS)
    known = serializers.BooleanField()
    off = serializers.BooleanField()
    changed = serializers.BooleanField()
    args_changed = serializers.BooleanField()
    has_args = serializers.BooleanField()
    cells = serializers.DictField(child=PluginCellSerializer())


class EffectiveProfileSerializer(serializers.Serializer[Any]):
    scheduler_name = serializers.CharField(allow_blank=True)
    percentage_of_nodes_to_score = serializers.IntegerField()
    plugins_count = serializers.IntegerField()
    points = serializers.DictField(child=PointPluginSerializer(many=True))
    rows = PluginRowSerializer(many=True)
    args = serializers.DictField(child=serializers.DictField())


class GlobalSettingsSerializer(serializers.Serializer[Any]):
    parallelism = serializers.IntegerField()
    percentage_of_nodes_to_score = serializers.IntegerField()
    pod_initial_backoff_seconds = serializers.IntegerField()
    pod_max_backoff_seconds = serializers.IntegerField()
    extenders = serializers.IntegerField()


class EffectiveSerializer(serializers.Serializer[Any]):
    globals = GlobalSettingsSerializer()
    feature_gates = serializers.DictField(child=serializers.BooleanField())
    profiles = EffectiveProfileSerializer(many=True)
    extenders = serializers.ListField(child=serializers.DictField(), help_text="as a file has them, with defaults")


class FormArgsSerializer(serializers.Serializer[Any]):
    kind = serializers.CharField()
    written = serializers.DictField(allow_null=True)
    value = serializers.DictField()
    defaults = serializers.DictField()


class FormProfileSerializer(serializers.Serializer[Any]):
    scheduler_name = serializers.CharField(allow_null=True)
    percentage_of_nodes_to_score = serializers.IntegerField(allow_null=True)
    args = serializers.DictField(child=FormArgsSerializer())


class FormNumberSerializer(serializers.Serializer[Any]):
    written = serializers.JSONField(allow_null=True)
    value = serializers.IntegerField()
    default = serializers.IntegerField()


class ConfigurationFormSerializer(serializers.Serializer[Any]):
    globals = serializers.DictField(child=FormNumberSerializer())
    profiles = FormProfileSerializer(many=True)
    schemas = serializers.DictField(child=serializers.DictField())


class FeatureGateSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    stage = serializers.ChoiceField(choices=GATE_STAGES)
    default = serializers.BooleanField()
    enabled = serializers.BooleanField()
    written = serializers.BooleanField(help_text="Whether the text names it")
    description = serializers.CharField(allow_blank=True)
    depends_on = serializers.ListField(child=serializers.CharField())


class ExaminationSerializer(serializers.Serializer[Any]):
    format = serializers.ChoiceField(choices=FORMATS)
    errors = ConfigurationProblemSerializer(many=True)  # type: ignore[assignment]  # the base class calls something else so
    warnings = ConfigurationProblemSerializer(many=True)
    config_error = serializers.CharField(allow_blank=True)
    unknown_fields = UnknownFieldSerializer(many=True)
    effective = EffectiveSerializer(allow_null=True)
    form = ConfigurationFormSerializer(allow_null=True)
    feature_gates = FeatureGateSerializer(many=True)
    runnable = serializers.BooleanField()
    why = serializers.CharField(allow_blank=True, help_text="Why no run can be played with it")
    older = serializers.BooleanField(help_text="An older file or a command line, which can be converted to v1")


class VersionDetailSerializer(VersionSerializer, ExaminationSerializer):
    configuration = ConfigurationSerializer()
    text = serializers.CharField()


class DiffLineSerializer(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(choices=LINE_KINDS)
    text = serializers.CharField(allow_blank=True, trim_whitespace=False)
    old = serializers.IntegerField(allow_null=True)
    new = serializers.IntegerField(allow_null=True)
    count = serializers.IntegerField()


class DiffSerializer(serializers.Serializer[Any]):
    added = serializers.IntegerField()
    removed = serializers.IntegerField()
    lines = DiffLineSerializer(many=True)
    cut = serializers.BooleanField()


class FindingSerializer(serializers.Serializer[Any]):
    outcome = serializers.ChoiceField(choices=OUTCOMES)
    what = serializers.CharField(help_text="A field, a plugin, a predicate, a priority or a flag")
    path = serializers.CharField(allow_blank=True, help_text="In the old text; empty for what its version did unasked")
    line = serializers.IntegerField(allow_null=True)
    sentence = serializers.CharField()


class ConversionSerializer(serializers.Serializer[Any]):
    text = serializers.CharField(help_text="A KubeSchedulerConfiguration v1, YAML")
    old = serializers.CharField(help_text="The old text; of an object that holds a file, that file")
    forms = serializers.ListField(child=serializers.CharField(), help_text="Policy or a version; none of flags alone")
    findings = FindingSerializer(many=True)
    errors = ConfigurationProblemSerializer(many=True)  # type: ignore[assignment]  # the base class calls something else so
    diff = DiffSerializer()


class EffectiveChangeSerializer(serializers.Serializer[Any]):
    profile = serializers.CharField(allow_null=True)
    plugin = serializers.CharField(allow_null=True)
    what = serializers.ListField(child=serializers.CharField())


class ComparisonSerializer(serializers.Serializer[Any]):
    changes = EffectiveChangeSerializer(many=True)
    diff = DiffSerializer()


class MeanwhileSerializer(ComparisonSerializer):
    number = serializers.IntegerField()
    who = serializers.CharField(allow_blank=True)
    when = serializers.DateTimeField()
    comment = serializers.CharField(allow_blank=True)
    overlaps = serializers.BooleanField()
    merged = serializers.CharField(allow_null=True)


class CheckResultSerializer(ExaminationSerializer):
    text = serializers.CharField(allow_blank=True)
    comparison = ComparisonSerializer(allow_null=True)
    saved_meanwhile = MeanwhileSerializer(allow_null=True)


class SavedMeanwhileSerializer(MeanwhileSerializer, ErrorSerializer):
    pass


class ConfigurationErrorsSerializer(ErrorSerializer):
    errors = ConfigurationProblemSerializer(many=True)  # type: ignore[assignment]  # the base class calls something else so


class PluginSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    description = serializers.CharField(allow_blank=True)
    points = serializers.ListField(child=serializers.CharField())
    args_kind = serializers.CharField(allow_null=True)
    args_schema = serializers.DictField(allow_null=True)
    defaults = serializers.DictField(allow_null=True)
    default_weight = serializers.IntegerField(allow_null=True)
    in_default_profile = serializers.BooleanField()
    asks_a_person = serializers.BooleanField()
    distribution = serializers.CharField(allow_null=True, help_text="The package it comes from; null for our own")


class PresetSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    title = serializers.CharField()
    description = serializers.CharField()
    text = serializers.CharField()
