"""Logins that fail make the next one wait: docs/decisions/0015.

Three counters, each with a delay that doubles: of an account at one address, of an address, of an account. An attempt
is counted before its password is looked at, so that many at once are as slow as one after another. Nobody waits longer
than ``ACCOUNT.most`` for what others do to an account: for each address that delay begins with its own attempt.
"""

from __future__ import annotations

import datetime
import hashlib
import math
import unicodedata
from dataclasses import dataclass
from typing import Final

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from schedweb.accounts.address import neighbourhood
from schedweb.accounts.models import LoginFailures

FORGOTTEN: Final = datetime.timedelta(hours=1)
"""After so long without an attempt a counter begins anew."""


@dataclass(frozen=True)
class Rule:
    free: int
    """Failures that cost nothing."""
    most: int
    """Seconds that one has to wait at most."""

    def delay(self, failures: int) -> datetime.timedelta:
        """1, 2, 4, … seconds."""
        over = failures - self.free
        return datetime.timedelta(seconds=0 if over <= 0 else min(2 ** min(over - 1, 20), self.most))


HERE: Final = Rule(free=3, most=900)
"""Of one account at one address."""
ADDRESS: Final = Rule(free=20, most=900)
"""Of an address, whatever accounts are tried there."""
ACCOUNT: Final = Rule(free=20, most=60)
"""Of an account, wherever it is tried."""


@dataclass(frozen=True)
class Attempt:
    """One that may be made; ``here``, ``address`` and ``account`` are the keys of its counters."""

    here: str
    address: str
    account: str

    @property
    def keys(self) -> tuple[str, str, str]:
        return self.here, self.address, self.account

    def succeeded(self) -> None:
        """Takes back what `begin` counted. Other failures stay: who has an account of their own could else wipe those
        of an address away."""
        # Not deleted: somebody else may be about to count in this row.
        LoginFailures.objects.filter(key=self.here).update(failures=0)
        others = LoginFailures.objects.filter(key__in=(self.address, self.account), failures__gt=0)
        others.update(failures=F("failures") - 1)

    def wait(self) -> int:
        """Seconds until the next one, now that this one failed."""
        return wait_of(self, LoginFailures.objects.in_bulk(self.keys, field_name="key"), timezone.now())


class TooMany(Exception):
    def __init__(self, wait: int) -> None:
        super().__init__(wait)
        self.wait = wait
        """Whole seconds, at least one."""


def begin(*, username: str, address: str) -> Attempt:
    """Counts an attempt as failed. Raises TooMany, and counts nothing, where one has to wait first."""
    attempt = attempt_of(username, address)
    # Kept also when it is refused: this address has begun to wait.
    wait = counted(attempt)
    if wait:
        raise TooMany(wait)
    return attempt


@transaction.atomic
def counted(attempt: Attempt) -> int:
    """0, or the seconds for which it may not be made yet."""
    now = timezone.now()
    forget(now)
    LoginFailures.objects.bulk_create(
        (LoginFailures(key=key, last_at=now) for key in attempt.keys), ignore_conflicts=True
    )
    # In one order, so that two attempts cannot wait for each other.
    locked = LoginFailures.objects.select_for_update().order_by("key").filter(key__in=attempt.keys)
    rows = {row.key: row for row in locked}
    wait = wait_of(attempt, rows, now)
    if not wait:
        for row in rows.values():
            row.failures, row.last_at = row.failures + 1, now
            row.save(update_fields=["failures", "last_at"])
    return wait


def forget(now: datetime.datetime) -> None:
    """Without waiting for rows that somebody else counts at this moment."""
    old = LoginFailures.objects.select_for_update(skip_locked=True).filter(last_at__lt=now - FORGOTTEN)
    LoginFailures.objects.filter(pk__in=list(old.values_list("pk", flat=True)[:1000])).delete()


def wait_of(attempt: Attempt, rows: dict[str, LoginFailures], now: datetime.datetime) -> int:
    """Seconds from now. The account's delay counts from when this address last tried it, so that what is done
    elsewhere cannot put it off again and again."""
    here, address, account = (rows[key] for key in attempt.keys)
    allowed = max(
        here.last_at + max(HERE.delay(here.failures), ACCOUNT.delay(account.failures)),
        address.last_at + ADDRESS.delay(address.failures),
    )
    return max(0, math.ceil((allowed - now).total_seconds()))


def attempt_of(username: str, address: str) -> Attempt:
    """Names that differ only in how they are written are one, whether there is such an account or not."""
    name, near = unicodedata.normalize("NFKC", username).casefold(), neighbourhood(address)
    return Attempt(here=key_of("here", name, near), address=key_of("address", near), account=key_of("account", name))


def key_of(*parts: str) -> str:
    """Of one length, whatever somebody typed; what was typed may be a password, so it is not kept."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
