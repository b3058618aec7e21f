"""The three roles: a viewer reads, an operator runs and decides, an editor changes configurations and snapshots.

A role is a group of that name. Each includes the ones before it; a superuser is an editor.
"""

from __future__ import annotations

import enum
from typing import Any


class Role(enum.IntEnum):
    VIEWER = 1
    OPERATOR = 2
    EDITOR = 3

    @property
    def group(self) -> str:
        return self.name.lower()


TOKEN_ROLE = "_playground_token_role"
"""On a user that a token stands for: the most that the token may do."""
BY_GROUP = {role.group: role for role in Role}


def role_of(user: Any) -> Role | None:
    """None for nobody and for accounts without a role. Who came with a token that may do less has that role."""
    if not user or not user.is_authenticated or not user.is_active:
        return None
    own = own_role_of(user)
    most: Role | None = getattr(user, TOKEN_ROLE, None)
    return own if own is None or most is None else min(own, most)


def own_role_of(user: Any) -> Role | None:
    if user.is_superuser:
        return Role.EDITOR
    known: Role | None = getattr(user, "_playground_role", None)
    if known is None:
        roles = [BY_GROUP[group.name] for group in user.groups.all() if group.name in BY_GROUP]
        known = max(roles, default=None)
        user._playground_role = known
    return known
