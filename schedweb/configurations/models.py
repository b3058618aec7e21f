"""Configuration: a named KubeSchedulerConfiguration file with its versions. A run names the version it uses.

A version never changes; saving makes the next one. Built-in configurations are read-only and follow the product.
"""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models.functions import Lower

from schedweb.soft_delete import Deletable

NOT_DELETED = models.Q(deleted_at=None)


class Configuration(Deletable):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=200)
    description = models.CharField(max_length=300, blank=True)
    builtin = models.BooleanField(default=False)
    #: Of a built-in one, or one that came with an import: what samples, snapshots and links name it by.
    slug = models.CharField(max_length=50, blank=True)
    #: Made for an exact run: no list offers it until somebody keeps it, and it goes with the last run that uses it.
    what_if = models.BooleanField(default=False)

    class Meta:
        ordering: ClassVar[list[str]] = ["name"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # Names and slugs of what is deleted can be used again.
            models.UniqueConstraint(Lower("name"), condition=NOT_DELETED, name="one_configuration_per_name"),
            models.UniqueConstraint(
                fields=["slug"], condition=~models.Q(slug="") & NOT_DELETED, name="one_configuration_per_slug"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class ConfigurationVersion(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    configuration = models.ForeignKey(Configuration, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    #: As it was written, byte for byte: YAML or JSON.
    text = models.TextField()
    comment = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    #: Outlives the account; empty for what came with the product.
    created_by_name = models.CharField(max_length=150, blank=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["-number"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["configuration", "number"], name="one_version_per_number")
        ]

    def __str__(self) -> str:
        return f"{self.configuration} v{self.number}"
