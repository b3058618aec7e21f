"""The right to be the scheduler of a real cluster: beside the roles, which all have less to do with it than it has.

Members of a group have it, superusers, and in embedded mode the owner, whose machine it is. It is given on the server
(`manage.py cluster allow`), by nobody over the web.
"""

from __future__ import annotations

from typing import Final

from django.conf import settings
from django.contrib.auth.models import Group, User
from rest_framework import status

from schedweb.accounts.audit.recording import record
from schedweb.accounts.roles import Role, role_of
from schedweb.accounts.services import OWNER
from schedweb.api.errors import ApiError
from schedweb.sentences import say

GROUP: Final = "cluster-scheduler"


def may_schedule(user: User) -> bool:
    role = role_of(user)
    if role is None or role < Role.OPERATOR:
        return False
    is_at_home = settings.MODE == "embedded" and user.get_username() == OWNER
    return is_at_home or user.is_superuser or user.groups.filter(name=GROUP).exists()


def refuse_who_may_not_schedule(user: User) -> None:
    """Raises ApiError (403)."""
    if not may_schedule(user):
        raise ApiError(
            say(
                "{user} may not schedule real clusters. Whoever runs this server gives that right: {command}",
                user=user.get_username(),
                command=f"manage.py cluster allow {user.get_username()}",
            ),
            code="forbidden",
            status_code=status.HTTP_403_FORBIDDEN,
        )


def scheduling_allow(user: User, *, may: bool) -> None:
    group, _ = Group.objects.get_or_create(name=GROUP)
    (user.groups.add if may else user.groups.remove)(group)
    record("cluster.may_schedule", target=user.get_username(), may=may)
