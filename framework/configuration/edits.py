"""What a form can do to a configuration, as messages: each is a Struct with a literal ``type``.

``framework.configuration.document`` applies them. ``profile`` is the index in ``profiles``; a document without profiles
has the implicit default profile 0. ``point`` is a key of ``profiles[].plugins``, ``multiPoint`` included.
"""

from __future__ import annotations

from typing import Any

import msgspec


class _Edit(msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag_field="type", forbid_unknown_fields=True):
    pass


class SetField(_Edit, frozen=True, tag="setField"):
    """``path``: keys and indices from the root, e.g. ``["profiles", 0, "percentageOfNodesToScore"]``."""

    path: tuple[str | int, ...]
    value: Any


class RemoveField(_Edit, frozen=True, tag="removeField"):
    path: tuple[str | int, ...]


class EnablePlugin(_Edit, frozen=True, tag="enablePlugin"):
    profile: int
    point: str
    name: str
    weight: int | None = None


class DisablePlugin(_Edit, frozen=True, tag="disablePlugin"):
    profile: int
    point: str
    name: str


class ResetPlugin(_Edit, frozen=True, tag="resetPlugin"):
    """Back to what the default profile and MultiPoint say at this point."""

    profile: int
    point: str
    name: str


class SetWeight(_Edit, frozen=True, tag="setWeight"):
    """Keeps the order: written at the point where it is listed there, else in MultiPoint."""

    profile: int
    point: str
    name: str
    weight: int


class MovePlugin(_Edit, frozen=True, tag="movePlugin"):
    """To index ``to`` of the effective order at a point."""

    profile: int
    point: str
    name: str
    to: int


class SetArgs(_Edit, frozen=True, tag="setArgs"):
    """``path`` inside the plugin's args; the empty path replaces all of them."""

    profile: int
    plugin: str
    value: Any
    path: tuple[str | int, ...] = ()


class RemoveArgs(_Edit, frozen=True, tag="removeArgs"):
    """The empty path removes the plugin's entry from ``pluginConfig``."""

    profile: int
    plugin: str
    path: tuple[str | int, ...] = ()


class SetFeatureGate(_Edit, frozen=True, tag="setFeatureGate"):
    """In the text's comment for kube-scheduler's flag; None takes the gate out of it."""

    name: str
    enabled: bool | None


class AddProfile(_Edit, frozen=True, tag="addProfile"):
    scheduler_name: str
    copy_of: int | None = None


class RemoveProfile(_Edit, frozen=True, tag="removeProfile"):
    profile: int


Edit = (
    SetField
    | RemoveField
    | EnablePlugin
    | DisablePlugin
    | ResetPlugin
    | SetWeight
    | MovePlugin
    | SetArgs
    | RemoveArgs
    | SetFeatureGate
    | AddProfile
    | RemoveProfile
)
