"""DRF permissions, one per role. `IsOperator` and `IsEditor` let viewers read; visitors read what is shared."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final
from uuid import UUID

from django.contrib.auth.models import User
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from schedweb.sentences import noted, say

if TYPE_CHECKING:
    # rest_framework.views reads the settings that name this module.
    from rest_framework.views import APIView

from schedweb.accounts.roles import BY_TOKEN, Role, only_run_of, role_of
from schedweb.accounts.visitor import Visitor, visitor_in

NOT_BY_TOKEN: Final = noted("Accounts, sessions and tokens are managed by who is logged in, not with a token.")


class RoleToWrite(BasePermission):
    reads: ClassVar[Role] = Role.VIEWER
    writes: ClassVar[Role]

    def has_permission(self, request: Request, view: APIView) -> bool:
        if (visitor := visitor_in(request.user)) is not None:
            return self.lets_in(visitor, request, view)
        if (only := only_run_of(request.user)) is not None and not self.reaches(only, request, view):
            self.message = say("This token is for one run, and this is not a part of it.")
            return False
        role = role_of(request.user)
        needed = self.reads if request.method in SAFE_METHODS else self.writes
        self.message = say("This needs the role {group}.", group=needed.group)
        return role is not None and role >= needed

    def reaches(self, only: UUID, request: Request, view: APIView) -> bool:
        """Whether a token of the run ``only`` may go there: to what share links show of it, at any moment, and to views
        that say ``of_run = ("run",)``, which keep to the run also where they change it."""
        named: tuple[str, ...] = getattr(view, "of_run", ())
        if not named and request.method in SAFE_METHODS:
            named = getattr(view, "shared", ())
        return bool(named) and all(view.kwargs[name] == only or is_moment(view.kwargs[name], only) for name in named)

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


class IsAdmin(RoleToWrite):
    """Reading, too."""

    reads = writes = Role.ADMIN


class SignedInHere(IsViewer):
    """Everybody with a role, for themselves, but no token: what leaked could make itself others."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        if request.auth == BY_TOKEN:
            self.message = say(NOT_BY_TOKEN)
            return False
        return visitor_in(request.user) is None and role_of(request.user) is not None


class IsAdminHere(IsAdmin):
    """With a token accounts are listed at most."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        if request.auth == BY_TOKEN and request.method not in SAFE_METHODS:
            self.message = say(NOT_BY_TOKEN)
            return False
        return super().has_permission(request, view)


class IsAnybodyKnown(IsViewer):
    """Whoever has a role, and visitors with a link that is open."""

    def reaches(self, only: UUID, request: Request, view: APIView) -> bool:
        return True

    def lets_in(self, visitor: Visitor, request: Request, view: APIView) -> bool:
        self.message = next(
            (each.ended for each in visitor.shared.values()), say("This share link is no longer there.")
        )
        return bool(visitor.open)


def is_moment(value: object, run: UUID) -> bool:
    """Whether an address names that run as it was at a position (schedweb/runs/records/converters.py)."""
    return getattr(value, "run", None) == run


def signed_in_user(request: Request) -> User:
    """Who asks, in a view that these permissions guard."""
    assert isinstance(request.user, User), "the permission lets nobody else in"
    return request.user
