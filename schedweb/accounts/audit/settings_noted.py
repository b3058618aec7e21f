"""What the site is set to, in the audit log, when a web process starts with something else than the last one."""

from __future__ import annotations

import logging
from typing import Any

from django.conf import settings
from django.db import DatabaseError

from schedweb.accounts.audit.asking import SERVER, Author
from schedweb.accounts.audit.recording import record
from schedweb.accounts.models import AuditEntry
from schedweb.environment import OpenIdSettings

log = logging.getLogger(__name__)


def settings_here() -> dict[str, Any]:
    """Those that decide who gets in. Of secrets only whether there is one."""
    environment = settings.ENVIRONMENT
    return {
        "version": settings.VERSION,
        "mode": settings.MODE,
        "public_url": environment.public_url,
        "allowed_hosts": sorted(environment.allowed_hosts),
        "trusted_proxies": sorted(environment.trusted_proxies),
        "metrics_token": bool(environment.metrics_token),
        "openid": None if environment.openid is None else openid_here(environment.openid),
    }


def openid_here(openid: OpenIdSettings) -> dict[str, Any]:
    return {
        "issuer": openid.issuer,
        "client_id": openid.client_id,
        "role_claim": openid.role_claim,
        "roles": [f"{value}={role}" for value, role in openid.roles],
        "default_role": openid.default_role,
        "username_claim": openid.username_claim,
    }


def settings_noted() -> None:
    """The site also starts without its database; then nothing is noted."""
    try:
        last = AuditEntry.objects.filter(action="settings").order_by("-pk").first()
        now = settings_here()
        if last is None or last.details.get("settings") != now:
            record("settings", author=Author(via=SERVER), settings=now)
    except DatabaseError as error:
        log.warning("the settings could not be written into the audit log: %s", error)
