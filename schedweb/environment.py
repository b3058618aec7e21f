"""What the environment says: which mode, where data lives, the secret key. settings.py and checks.py read it.

Embedded mode needs nothing. REDIS_URL and DATABASE_URL together mean the distributed mode; one alone is a mistake that
checks.py refuses with a sentence.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import parse_qsl, unquote, urlsplit

from framework.objects.names import qualified_name_errors
from framework.reading.addresses import without_credentials
from schedweb.database.silence import STATEMENT_SECONDS

Mode = Literal["embedded", "distributed"]
ROOT = Path(__file__).resolve().parent.parent
UI_PLACES = (ROOT / "frontend" / "dist", ROOT / "schedweb" / "ui")
"""In a clone, and in an installed package (setup.py)."""


ROLES: Final = ("viewer", "operator", "editor", "admin")
"""schedweb/accounts/roles.py has what they mean."""
LOG_FORMATS: Final = ("text", "json")
WHOLE_MANIFESTS: Final = frozenset({"kubectl.kubernetes.io/last-applied-configuration"})
"""Annotations whose value is an object as somebody applied it."""
IDLE_SECONDS: Final = 5
"""A process that stands still in a transaction (frozen, or its host is gone) loses it: others wait for its locks."""
LOCK_SECONDS: Final = 6
SILENT_SECONDS: Final = 5
"""A host that is gone without a word is noticed after so long, on either side."""
SESSION: Final = {
    "idle_in_transaction_session_timeout": f"{IDLE_SECONDS}s",
    "lock_timeout": f"{LOCK_SECONDS}s",
    "statement_timeout": f"{STATEMENT_SECONDS}s",
    "tcp_keepalives_idle": f"{SILENT_SECONDS - 3}s",
    "tcp_keepalives_interval": "1s",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": f"{SILENT_SECONDS}s",
}
"""PostgreSQL's side of every connection."""


class EnvironmentProblem(SystemExit):
    """A sentence for whoever starts the process, which ends with it: settings are read before anybody can catch it."""


@dataclass(frozen=True)
class OpenIdSettings:
    """The OpenID Connect provider that people may log in with."""

    issuer: str
    """Letter by letter as it calls itself."""
    client_id: str
    client_secret: str
    """"" for a public client."""
    name: str
    """What people call it."""
    scopes: tuple[str, ...]
    role_claim: str
    """With dots for what is within."""
    roles: tuple[tuple[str, str], ...]
    """What the claim may say, and which role that is."""
    default_role: str
    """Of whom the claim names none; "": they are refused."""
    username_claim: str

    @property
    def problem(self) -> str | None:
        parts = urlsplit(self.issuer)
        if parts.scheme != "https" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
            return f"OIDC_ISSUER must start with https://, not {self.issuer!r}."
        if not self.client_id:
            return "OIDC_ISSUER is set but OIDC_CLIENT_ID is not."
        if "openid" not in self.scopes:
            return "OIDC_SCOPES must have openid among them."
        for role in (*(role for _, role in self.roles), *filter(None, [self.default_role])):
            if role not in ROLES:
                return f"OIDC_ROLES and OIDC_DEFAULT_ROLE name the roles {', '.join(ROLES)}, not {role!r}."
        return None


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
    trusted_proxies: tuple[str, ...]
    """Addresses and networks whose X-Forwarded-For and X-Forwarded-Proto are believed."""
    log_format: str
    """"text" or "json"."""
    metrics_token: str
    """Whoever sends it may read /metrics; "" for nobody."""
    metrics_port: int
    """Where a worker tells its metrics; 0 for nowhere."""
    metrics_host: str
    keep_deleted_days: int
    """How long what people delete can be brought back."""
    keep_pruned_days: int
    """How long a run that went to make room can be brought back."""
    keep_breakdowns_days: int
    """How long after it was played last a run keeps what the plugins said; 0: for good."""
    keep_runs_days: int
    """How long after it was played last a finished run is kept; 0: for good."""
    keep_total_gb: int
    """How much all runs may use together; 0: any amount."""
    keep_per_person_gb: int
    """How much the runs of one person may use; 0: any amount."""
    contexts: tuple[str, ...]
    """Contexts of the server's kubeconfig that people may connect to; embedded, without any named: all of them."""
    openid: OpenIdSettings | None
    """None: nobody logs in that way."""
    extender_urls: tuple[str, ...] = ()
    """What runs may call: URLs of extenders, each with all that is below it (schedweb/calling.py)."""
    kept_annotations: tuple[str, ...] = ()
    """Annotations that stay of what comes in, beside those that decisions and plugins read: extenders look at them."""
    notice_urls: tuple[str, ...] = ()
    """Who is told of pods that wait for a person, as Apprise has it. They hold secrets (schedweb/notices)."""
    notice_webhook: str = ""
    """Likewise, by a signed request; "" for none."""
    notice_secret: str = ""
    """What these requests are signed with."""

    @property
    def mode(self) -> Mode:
        return "distributed" if self.database_url and self.redis_url else "embedded"

    @property
    def is_behind_tls(self) -> bool:
        return self.public_url.startswith("https://")

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
        if complaint := next(filter(None, map(proxy_problem, self.trusted_proxies)), None):
            return complaint
        if self.log_format not in LOG_FORMATS:
            return f"LOG_FORMAT must be one of {', '.join(LOG_FORMATS)}, not {self.log_format!r}."
        if complaint := next(filter(None, map(extender_url_problem, self.extender_urls)), None):
            return complaint
        if complaint := next(filter(None, map(kept_annotation_problem, self.kept_annotations)), None):
            return complaint
        if complaint := self.notice_problem:
            return complaint
        return None if self.openid is None else self.openid.problem

    @property
    def notice_problem(self) -> str | None:
        """Why nobody can be told of waiting pods as this environment says, or None."""
        if self.notice_webhook and urlsplit(self.notice_webhook).scheme not in ("http", "https"):
            return "PLAYGROUND_NOTICE_WEBHOOK must start with http:// or https://."
        if self.notice_webhook and not self.notice_secret:
            return "PLAYGROUND_NOTICE_WEBHOOK is set but PLAYGROUND_NOTICE_SECRET is not."
        if any(each.endswith((",", ";")) for each in self.notice_urls):
            return "PLAYGROUND_NOTICE_URLS: between addresses are spaces, and nothing else."
        return None


def extender_url_problem(url: str) -> str | None:
    """Why an entry of EXTENDER_URLS allows nothing, or None."""
    try:
        parts = urlsplit(url)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        fits = False
    if fits and not (parts.query or parts.fragment or parts.username):
        return None
    return f"EXTENDER_URLS holds URLs such as https://extender.example.com:8443/api, not {without_credentials(url)!r}."


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
    port = number_in(variables, "PORT", 8000)
    public_url = variables.get("PUBLIC_URL", "").rstrip("/")
    allowed = dict.fromkeys([*listed(variables.get("ALLOWED_HOSTS", "")), "localhost", "127.0.0.1", "[::1]"])
    if public_host := urlsplit(public_url).hostname:
        allowed[f"[{public_host}]" if ":" in public_host else public_host] = None
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
        public_url=public_url,
        trusted_proxies=listed(variables.get("TRUSTED_PROXIES") or "127.0.0.1,::1"),
        log_format=variables.get("LOG_FORMAT") or "text",
        metrics_token=variables.get("METRICS_TOKEN", ""),
        metrics_port=number_in(variables, "METRICS_PORT", 0),
        metrics_host=variables.get("METRICS_HOST") or "127.0.0.1",
        keep_deleted_days=number_in(variables, "KEEP_DELETED_DAYS", 30),
        keep_pruned_days=number_in(variables, "KEEP_PRUNED_DAYS", 7),
        keep_breakdowns_days=number_in(variables, "KEEP_BREAKDOWNS_DAYS", 90),
        keep_runs_days=number_in(variables, "KEEP_RUNS_DAYS", 365),
        keep_total_gb=number_in(variables, "KEEP_TOTAL_GB", 20),
        keep_per_person_gb=number_in(variables, "KEEP_PER_PERSON_GB", 5),
        contexts=listed(variables.get("PLAYGROUND_CONTEXTS", "")),
        openid=openid_settings(variables),
        extender_urls=listed(variables.get("EXTENDER_URLS", "")),
        kept_annotations=kept_annotations(variables),
        # By spaces: commas are within addresses.
        notice_urls=tuple(variables.get("PLAYGROUND_NOTICE_URLS", "").split()),
        notice_webhook=variables.get("PLAYGROUND_NOTICE_WEBHOOK", ""),
        notice_secret=variables.get("PLAYGROUND_NOTICE_SECRET", ""),
    )


def openid_settings(variables: Mapping[str, str]) -> OpenIdSettings | None:
    issuer = variables.get("OIDC_ISSUER", "")
    if not issuer:
        return None
    # By semicolons: groups of a directory have names with commas and equals signs in them.
    pairs = [part.rpartition("=") for part in variables.get("OIDC_ROLES", "").split(";") if part.strip()]
    return OpenIdSettings(
        issuer=issuer,
        client_id=variables.get("OIDC_CLIENT_ID", ""),
        client_secret=variables.get("OIDC_CLIENT_SECRET", ""),
        name=variables.get("OIDC_NAME") or "OpenID Connect",
        scopes=tuple((variables.get("OIDC_SCOPES") or "openid profile email").split()),
        role_claim=variables.get("OIDC_ROLE_CLAIM") or "roles",
        roles=tuple((value.strip(), role.strip()) for value, _, role in pairs) or tuple((role, role) for role in ROLES),
        default_role=variables.get("OIDC_DEFAULT_ROLE", ""),
        username_claim=variables.get("OIDC_USERNAME_CLAIM") or "preferred_username",
    )


def listed(text: str) -> tuple[str, ...]:
    """What stands between commas."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def kept_annotations(variables: Mapping[str, str]) -> tuple[str, ...]:
    """As they are written; ``kept_annotation_problem`` says whether one may be kept."""
    return listed(variables.get("KEPT_ANNOTATIONS", ""))


def kept_annotation_problem(name: str) -> str:
    """Why an annotation of this name is not kept, or ""."""
    if name in WHOLE_MANIFESTS:
        return f"KEPT_ANNOTATIONS must not name {name}: it holds whole manifests, with their secrets."
    if errors := qualified_name_errors(name):
        return f"KEPT_ANNOTATIONS names {name!r}, which is no annotation's key: {'; '.join(errors)}."
    return ""


def proxy_problem(proxy: str) -> str:
    """Why it names no proxy, or ""."""
    try:
        ip_network(proxy, strict=False)
    except ValueError:
        return f"TRUSTED_PROXIES holds addresses and networks such as 10.0.0.0/8, not {proxy!r}."
    return ""


def number_in(variables: Mapping[str, str], name: str, default: int) -> int:
    try:
        return int(variables.get(name) or default)
    except ValueError:
        raise EnvironmentProblem(f"{name} must be a number, not {variables[name]!r}.") from None


def stored_secret_key(data_dir: Path) -> str:
    """The key of this data directory, made on first use; readable by its owner only."""
    path = data_dir / "secret.key"
    try:
        if path.exists() and (known := path.read_text(encoding="ascii").strip()):
            return known
        data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        return made_secret_key(path)
    except FileExistsError:
        raise EnvironmentProblem(folder_problem(data_dir, "it is no folder")) from None
    except OSError as error:
        raise EnvironmentProblem(folder_problem(data_dir, error.strerror or str(error))) from None


def made_secret_key(path: Path) -> str:
    """By whichever process of a start is first; the others wait and read it. A disk that is full takes the file and not
    what is in it, so an empty one is a key that has yet to be made."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "r+", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if known := file.read().strip():
            return known
        made = secrets.token_urlsafe(48)
        file.write(made)
        file.flush()
        return made


def folder_problem(data_dir: Path, why: str) -> str:
    return f"The data folder {data_dir} cannot be used: {why}. PLAYGROUND_DATA names another one."


def database_settings(environment: Environment) -> dict[str, Any]:
    if environment.mode == "distributed":
        url = urlsplit(environment.database_url)
        given = dict(parse_qsl(url.query, keep_blank_values=True))
        of_session = [*(f"-c {name}={value}" for name, value in SESSION.items()), given.pop("options", "")]
        return {
            "ENGINE": "schedweb.database",
            "NAME": unquote(url.path.lstrip("/")),
            "USER": unquote(url.username or ""),
            "PASSWORD": unquote(url.password or ""),
            "HOST": url.hostname or "",
            "PORT": url.port or "",
            "CONN_MAX_AGE": 0,
            "CONN_HEALTH_CHECKS": True,
            "OPTIONS": {
                "connect_timeout": 3,
                "keepalives_idle": SILENT_SECONDS - 3,
                "keepalives_interval": 1,
                "keepalives_count": 3,
                "tcp_user_timeout": SILENT_SECONDS * 1000,
                # As libpq reads a connection URI: sslmode, sslrootcert, application_name and all the others.
                **given,
                "options": " ".join(of_session).rstrip(),
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
