"""What every Kubernetes object carries: metadata, owner references, label selectors; and how our Structs are shaped.

Structs are immutable and follow Kubernetes' Go types: a field is ``None`` by default only where "absent" and "empty"
lead to different decisions (or where the Go field is a pointer); otherwise absent, ``null`` and empty are one value.
"""

from __future__ import annotations

from typing import ClassVar

import msgspec
from msgspec import field

# Quantities stay as written; JSON and YAML also allow bare numbers. framework.objects.quantity parses them.
RawQuantity = str | int | float
ResourceList = dict[str, RawQuantity]


class Manifest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel", gc=False):
    """Base of all Structs. ``gc=False`` is safe: they are immutable trees, so no cycle can go through them."""


class OwnerReference(Manifest, frozen=True, kw_only=True):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class ObjectMeta(Manifest, frozen=True, kw_only=True):
    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None
    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    owner_references: tuple[OwnerReference, ...] = ()
    finalizers: tuple[str, ...] = ()


class LabelSelectorRequirement(Manifest, frozen=True, kw_only=True):
    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class LabelSelector(Manifest, frozen=True, kw_only=True):
    """``None`` in the holding field selects nothing, an empty LabelSelector selects everything."""

    match_labels: dict[str, str] = field(default_factory=dict)
    match_expressions: tuple[LabelSelectorRequirement, ...] = ()


class KubernetesObject(Manifest, frozen=True, kw_only=True):
    """An object of a kind we type. ``plural`` and ``namespaced`` are the API's."""

    api_version: ClassVar[str] = ""
    kind: ClassVar[str] = ""
    plural: ClassVar[str] = ""
    namespaced: ClassVar[bool] = True

    metadata: ObjectMeta = ObjectMeta()

    @property
    def name(self) -> str:
        return self.metadata.name

    @property
    def namespace(self) -> str:
        return self.metadata.namespace

    @property
    def uid(self) -> str:
        return self.metadata.uid

    @property
    def key(self) -> str:
        """``namespace/name``, or the name alone for kinds that live in no namespace."""
        return f"{self.metadata.namespace}/{self.metadata.name}" if self.namespaced else self.metadata.name


class Unstructured(msgspec.Struct, frozen=True, kw_only=True):
    """An object of a kind that no decision reads: its metadata typed, the rest as it came."""

    api_version: str
    kind: str
    metadata: ObjectMeta
    raw: dict[str, object]

    @property
    def name(self) -> str:
        return self.metadata.name

    @property
    def namespace(self) -> str:
        return self.metadata.namespace

    @property
    def uid(self) -> str:
        return self.metadata.uid

    @property
    def key(self) -> str:
        return f"{self.metadata.namespace}/{self.metadata.name}" if self.metadata.namespace else self.metadata.name


KubeObject = KubernetesObject | Unstructured
