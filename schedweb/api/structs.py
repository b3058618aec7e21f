"""Serializers made of structs (schedweb/engine/shapes.py), so that the OpenAPI file says of an answer what the struct
that is encoded says. They describe answers; nothing is read or checked by them."""

from __future__ import annotations

from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, Union, cast, get_args, get_origin, get_type_hints

import msgspec
from rest_framework import serializers

Field = serializers.Field[Any, Any, Any, Any]
PLAIN: dict[Any, type[Field]] = {
    str: serializers.CharField,
    int: serializers.IntegerField,
    float: serializers.FloatField,
    bool: serializers.BooleanField,
}
DATE_TIME = {"format": "date-time"}


_KNOWN: dict[type[msgspec.Struct], type[serializers.Serializer[Any]]] = {}


# No docstring: it would be the description of every component.
class StructSerializer(serializers.Serializer[Any]):
    struct: ClassVar[type[msgspec.Struct]]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "struct" in cls.__dict__:
            _KNOWN[cls.struct] = cls

    def get_fields(self) -> dict[str, Field]:
        """The struct's, then those that the class adds."""
        hints = get_type_hints(self.struct, include_extras=True)
        fields = {
            field.encode_name: field_of(hints[field.name], required=field.required)
            for field in msgspec.structs.fields(self.struct)
        }
        return {**fields, **super().get_fields()}


def serializer_of(struct: type[msgspec.Struct]) -> type[serializers.Serializer[Any]]:
    """The one that was declared for it, else one that is named after it."""
    if struct not in _KNOWN:
        contents = {"struct": struct, "__doc__": struct.__dict__.get("__doc__")}
        type(f"{struct.__name__}Serializer", (StructSerializer,), contents)
    return _KNOWN[struct]


def field_of(type_: Any, *, required: bool = True) -> Field:
    """Raises TypeError for what no answer holds."""
    options: dict[str, Any] = {} if required else {"required": False}
    described: dict[str, Any] = {}
    alternatives = [type_]
    while len(alternatives) == 1 and (get_origin(alternatives[0]) in (Annotated, Union, UnionType)):
        whole = alternatives[0]
        if get_origin(whole) is Annotated:
            for meta in whole.__metadata__:
                if meta.description:
                    options["help_text"] = meta.description
                described.update(meta.extra_json_schema or {})
            alternatives = [whole.__origin__]
        else:
            options |= {"allow_null": True} if NoneType in get_args(whole) else {}
            alternatives = [each for each in get_args(whole) if each not in (NoneType, msgspec.UnsetType)]
    if len(alternatives) != 1:
        raise TypeError(f"{type_} is several things at once")
    [inner] = alternatives
    return plain_field(inner, options, is_time=described == DATE_TIME)


def plain_field(inner: Any, options: dict[str, Any], *, is_time: bool) -> Field:
    origin, arguments = get_origin(inner), get_args(inner)
    if is_time:
        return serializers.DateTimeField(**options)
    if inner in PLAIN:
        return PLAIN[inner](**options)
    if origin is Literal:
        return serializers.ChoiceField(arguments, **options)
    if origin is list and is_struct(arguments[0]):
        return cast(Field, serializer_of(arguments[0])(many=True, **options))
    if origin is list:
        return serializers.ListField(child=field_of(arguments[0]), **options)
    if origin is dict:
        return serializers.DictField(child=field_of(arguments[1]), **options)
    if is_struct(inner):
        return cast(Field, serializer_of(inner)(**options))
    raise TypeError(f"{inner} has no serializer")


def is_struct(type_: Any) -> bool:
    return isinstance(type_, type) and issubclass(type_, msgspec.Struct)
