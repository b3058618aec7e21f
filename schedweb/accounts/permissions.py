"""DRF permissions, one per role. `IsOperator` and `IsEditor` let viewers read; visitors read what is shared."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar
from uuid import UUID

from django.contrib.auth.models import User
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from schedweb.sentences import say

if TYPE_CHECKING:
    # rest_framework.views reads the settings that name this module.
    from rest_framework.views import APIView

from schedweb.accounts.roles import Role, role_of
from schedweb.accounts.visitor import Visitor, visitor_in


class RoleToWrite(BasePermission):
    writes: ClassVar[Role]

    def has_permission(self, request: Request, view: APIView) -> bool:
        if (visitor := visitor_in(request.user)) is not None:
            return self.lets_in(visitor, request, view)
        role = role_of(request.user)
        needed = Role.VIEWER if request.method in SAFE_METHODS else self.writes
        self.message = say("This needs the role {group}.", group=needed.group)
        return role is not None and role >= needed

    def lets_in(self, visitor: Visitor, request: Request, view: APIView) -> bool:
        """Only where the view names the runs of its address that may be shared."""
        shared: tuple[str, ...] = getattr(view, "shared", ())
        if request.method not in SAFE_METHODS or not shared:
            self.message = say("A share link shows one run, to read only.")
            return False
        runs = [view.kwargs[name] for name in shared]
        if not all(isinstance(run, UUID) for run in runs):
            self.message = say("A share link shows a run as it is now, not as it was.")
            return False
        self.message = visitor.may_read(runs)
        return not self.message


class IsViewer(RoleToWrite):
    writes = Role.VIEWER


class IsOperator(RoleToWrite):
    writes = Role.OPERATOR


class IsEditor(RoleToWrite):
    writes = Role.EDITOR


class IsAnybodyKnown(IsViewer):
    """Whoever has a role, and visitors with a link that is open."""

    def lets_in(self, visitor: Visitor, request: Request, view: APIView) -> bool:
        self.message = next(
            (each.ended for each in visitor.shared.values()), say("This share link is no longer there.")
        )
        return bool(visitor.open)


def signed_in_user(request: Request) -> User:
    """Who asks, in a view that these permissions guard."""
    assert isinstance(request.user, User), "the permission lets nobody else in"
    return request.user
