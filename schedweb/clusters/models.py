"""A connection to a real cluster: that it is wanted, who reads it, and what that process said last."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models


class Connection(models.Model):
    """By the name of its context. Of the cluster it has address and version; credentials stay in the kubeconfig.

    free → held (claim) → held (with every state that is stored) → free (release, or by running out). A holder is told
    apart by its name and its epoch; whoever lost either stores nothing more.
    """

    context = models.CharField(max_length=253, unique=True)
    server = models.CharField(max_length=300, blank=True)
    version = models.CharField(max_length=60, blank=True)
    wanted = models.BooleanField(default=False)
    connected_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    connected_at = models.DateTimeField(null=True, default=None)
    epoch = models.PositiveIntegerField(default=0)
    lease_owner = models.CharField(max_length=100, blank=True)
    lease_expires = models.DateTimeField(null=True, default=None)
    #: How often somebody asked for a try now; the process that reads follows it.
    asks = models.PositiveIntegerField(default=0)
    #: JSON of ``ClusterState`` (schedweb/clusters/reading/following.py), "" before the first.
    state = models.TextField(blank=True)
    state_at = models.DateTimeField(null=True, default=None)

    class Meta:
        ordering: ClassVar[list[str]] = ["context"]

    def __str__(self) -> str:
        return self.context
