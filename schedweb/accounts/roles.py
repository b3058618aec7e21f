"""The four roles: a viewer reads, an operator runs and decides, an editor changes configurations and snapshots, an
admin manages accounts and reads the audit log.

A role is a group of that name. Each includes the ones before it; a superuser is an admin.
"""

from __future__ import annotations

import enum
from typing import Any
from uuid import UUID


class Role(enum.IntEnum):
    VIEWER = 1
    OPERATOR = 2
    EDITOR = 3
    ADMIN = 4

    @property
    def group(self) -> str:
        return self.name.lower()


BY_TOKEN = "token"
"""In `request.auth` of whoever came with a bearer token."""
TOKEN_ROLE = "_playground_token_role"
"""On a user that a token stands for: the most that the token may do."""
TOKEN_RUN = "_playground_token_run"
"""On a user that a token of one run stands for: that run's id."""
TOKEN_NAME = "_playground_token_name"
"""On a user that a token stands for: what the token is called."""
BY_GROUP = {role.group: role for role in Role}


def role_of(user: Any) -> Role | None:
    """None for nobody and for accounts without a role. Who came with a token that may do less has that role."""
    if not user or not user.is_authenticated or not user.is_active:
        return None
    own = own_role_of(user)
    most: Role | None = getattr(user, TOKEN_ROLE, None)
    return own if own is None or most is None else min(own, most)


def only_run_of(user: Any) -> UUID | None:
    """Of who came with a token of one run: that run."""
    found: UUID | None = getattr(user, TOKEN_RUN, None)
    return found


def token_name_of(user: Any) -> str | None:
    """None for who came without a token."""
    found: str | None = getattr(user, TOKEN_NAME, None)
    return found


def own_role_of(user: Any) -> Role | None:
    if user.is_superuser:
        return Role.ADMIN
    known: Role | None = getattr(user, "_playground_role", None)
    if known is None:
        roles = [BY_GROUP[group.name] for group in user.groups.all() if group.name in BY_GROUP]
        known = max(roles, default=None)
        user._playground_role = known
    return known
