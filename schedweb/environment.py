"""What the environment says: which mode, where data lives, the secret key. settings.py and checks.py read it.

Embedded mode needs nothing. REDIS_URL and DATABASE_URL together mean the distributed mode; one alone is a mistake that
checks.py refuses with a sentence.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import unquote, urlsplit

Mode = Literal["embedded", "distributed"]
ROOT = Path(__file__).resolve().parent.parent
UI_PLACES = (ROOT / "frontend" / "dist", ROOT / "schedweb" / "ui")
"""In a clone, and in an installed package (setup.py)."""


IDLE_SECONDS: Final = 8
"""A process that stands still in a transaction (frozen, or its host is gone) loses it: others wait for its locks."""
LOCK_SECONDS: Final = 15


class EnvironmentProblem(SystemExit):
    """A sentence for whoever starts the process, which ends with it: settings are read before anybody can catch it."""


@dataclass(frozen=True)
class Environment:
    data_dir: Path
    database_url: str
    redis_url: str
    host: str
    port: int
    allowed_hosts: tuple[str, ...]
    secret_key: str
    public_url: str
    """Where people reach the site, without a slash at its end; "" where it is reached as it listens."""

    @property
    def mode(self) -> Mode:
        return "distributed" if self.database_url and self.redis_url else "embedded"

    @property
    def problem(self) -> str | None:
        """Why this environment cannot be served, or None."""
        if bool(self.database_url) != bool(self.redis_url):
            given, missing = ("DATABASE_URL", "REDIS_URL") if self.database_url else ("REDIS_URL", "DATABASE_URL")
            return (
                f"{given} is set but {missing} is not. Set both for the distributed mode (PostgreSQL and Redis), "
                "or neither for the embedded mode."
            )
        if self.database_url and urlsplit(self.database_url).scheme not in ("postgres", "postgresql"):
            return f"DATABASE_URL must name a PostgreSQL database, not {urlsplit(self.database_url).scheme!r}."
        if self.redis_url and urlsplit(self.redis_url).scheme not in ("redis", "rediss", "unix"):
            return f"REDIS_URL must start with redis:// or rediss://, not {urlsplit(self.redis_url).scheme!r}."
        if self.public_url and urlsplit(self.public_url).scheme not in ("http", "https"):
            return f"PUBLIC_URL must start with http:// or https://, not {self.public_url!r}."
        return None


def managed_by() -> str:
    """How Django's commands are called."""
    return "manage.py" if (ROOT / "manage.py").exists() else "scheduling-playground manage"


def built_ui(places: Sequence[Path] = UI_PLACES) -> Path | None:
    """The folder with the built user interface."""
    return next((place for place in places if (place / "index.html").exists()), None)


def default_data_dir(variables: Mapping[str, str]) -> Path:
    base = variables.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(base).expanduser() / "scheduling-playground"


def read_environment(variables: Mapping[str, str] = os.environ) -> Environment:
    named_dir = variables.get("PLAYGROUND_DATA") or variables.get("DATA_DIR")
    data_dir = Path(named_dir or default_data_dir(variables)).expanduser().resolve()
    host = variables.get("HOST") or "127.0.0.1"
    try:
        port = int(variables.get("PORT") or 8000)
    except ValueError:
        raise EnvironmentProblem(f"PORT must be a number, not {variables['PORT']!r}.") from None
    named = [name.strip() for name in variables.get("ALLOWED_HOSTS", "").split(",") if name.strip()]
    allowed = dict.fromkeys([*named, "localhost", "127.0.0.1", "[::1]"])
    if host not in ("0.0.0.0", "::"):
        allowed[host] = None
    return Environment(
        data_dir=data_dir,
        database_url=variables.get("DATABASE_URL", ""),
        redis_url=variables.get("REDIS_URL", ""),
        host=host,
        port=port,
        allowed_hosts=tuple(allowed),
        secret_key=variables.get("SECRET_KEY") or stored_secret_key(data_dir),
        public_url=variables.get("PUBLIC_URL", "").rstrip("/"),
    )


def stored_secret_key(data_dir: Path) -> str:
    """The key of this data directory, made on first use; readable by its owner only."""
    path = data_dir / "secret.key"
    try:
        if not path.exists():
            data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
            make_secret_key(path)
        return path.read_text(encoding="ascii").strip()
    except FileExistsError:
        raise EnvironmentProblem(folder_problem(data_dir, "it is no folder")) from None
    except OSError as error:
        raise EnvironmentProblem(folder_problem(data_dir, error.strerror or str(error))) from None


def make_secret_key(path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return  # another process of this start was first
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(secrets.token_urlsafe(48))


def folder_problem(data_dir: Path, why: str) -> str:
    return f"The data folder {data_dir} cannot be used: {why}. PLAYGROUND_DATA names another one."


def database_settings(environment: Environment) -> dict[str, Any]:
    if environment.mode == "distributed":
        url = urlsplit(environment.database_url)
        return {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": unquote(url.path.lstrip("/")),
            "USER": unquote(url.username or ""),
            "PASSWORD": unquote(url.password or ""),
            "HOST": url.hostname or "",
            "PORT": url.port or "",
            "CONN_MAX_AGE": 0,
            "CONN_HEALTH_CHECKS": True,
            "OPTIONS": {
                "connect_timeout": 5,
                # A host that is gone without a word is noticed within about ten seconds.
                "keepalives_idle": 5,
                "keepalives_interval": 2,
                "keepalives_count": 3,
                "tcp_user_timeout": 10_000,
                "options": f"-c idle_in_transaction_session_timeout={IDLE_SECONDS}s -c lock_timeout={LOCK_SECONDS}s",
            },
        }
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": environment.data_dir / "playground.sqlite3",
        "OPTIONS": {
            # Writers queue at BEGIN instead of failing at their first write; readers never wait (WAL).
            "transaction_mode": "IMMEDIATE",
            "timeout": 30,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;",
        },
    }
