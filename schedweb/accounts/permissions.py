"""DRF permissions, one per role. `IsOperator` and `IsEditor` let viewers read."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from django.contrib.auth.models import User
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

if TYPE_CHECKING:
    # rest_framework.views reads the settings that name this module.
    from rest_framework.views import APIView

from schedweb.accounts.roles import Role, role_of


class RoleToWrite(BasePermission):
    writes: ClassVar[Role]

    def has_permission(self, request: Request, view: APIView) -> bool:
        role = role_of(request.user)
        needed = Role.VIEWER if request.method in SAFE_METHODS else self.writes
        self.message = f"This needs the role {needed.group}."
        return role is not None and role >= needed


class IsViewer(RoleToWrite):
    writes = Role.VIEWER


class IsOperator(RoleToWrite):
    writes = Role.OPERATOR


class IsEditor(RoleToWrite):
    writes = Role.EDITOR


def signed_in_user(request: Request) -> User:
    """Who asks, in a view that these permissions guard."""
    assert isinstance(request.user, User), "the permission lets nobody else in"
    return request.user
