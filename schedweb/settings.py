"""Django's settings. The two modes differ here and nowhere else (docs/decisions/0005)."""

from __future__ import annotations

import os
from pathlib import Path

from csp import constants as csp

from schedweb.environment import ROOT, UI_PLACES, built_ui, database_settings, read_environment
from schedweb.observing.logs import logging_settings

ENVIRONMENT = read_environment()
MODE = ENVIRONMENT.mode
VERSION = "0.2.0"
DATA_DIR = ENVIRONMENT.data_dir
UPLOAD_DIR = DATA_DIR / "uploads"
FRONTEND_DIST = built_ui() or UI_PLACES[0]

SECRET_KEY = ENVIRONMENT.secret_key
DEBUG = False
ALLOWED_HOSTS = list(ENVIRONMENT.allowed_hosts)
ROOT_URLCONF = "schedweb.urls"
ASGI_APPLICATION = "schedweb.asgi.application"

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "channels",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "schedweb.database",
    "schedweb.accounts",
    "schedweb.snapshots",
    "schedweb.clusters",
    "schedweb.configurations",
    "schedweb.runs",
    "schedweb.keeping",
    "schedweb.notices",
    "schedweb.worker",
    "schedweb.operation",
]

MIDDLEWARE = [
    "schedweb.observing.requests.observed",
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "django_permissions_policy.PermissionsPolicyMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "schedweb.api.middleware.no_zero_bytes",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "schedweb.accounts.seen.noticed",
    "schedweb.accounts.audit.asking.remembered",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [Path(__file__).parent / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
            ],
        },
    },
]

DATABASES = {"default": database_settings(ENVIRONMENT)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

if MODE == "distributed":
    # Redis is asked to answer within five seconds even when there is nothing to say (channels_redis waits that long in
    # one command). redis-py gives up a read after five seconds of its own: every socket that was silent that long died.
    # Four times as long is more than any answer takes, and ends what waits for a Redis that is frozen.
    REDIS_CONNECTION = {"socket_timeout": 20.0, "socket_connect_timeout": 5.0}
    CELERY_BROKER_URL = ENVIRONMENT.redis_url
    CELERY_BROKER_TRANSPORT_OPTIONS = {**REDIS_CONNECTION, "socket_keepalive": True}
    CHANNEL_LAYERS = {
        "default": {
            "BACKEND": "channels_redis.core.RedisChannelLayer",
            # Over its capacity Redis drops silently; `seq` tells the browser, which then fetches the board.
            "CONFIG": {
                "hosts": [{"address": ENVIRONMENT.redis_url, **REDIS_CONNECTION}],
                "capacity": 500,
                "expiry": 30,
            },
        }
    }
else:
    CELERY_BROKER_URL = "memory://localhost//"
    # Seconds between two looks at the broker; Celery's own is 1.0, which every run and every import would wait for.
    CELERY_BROKER_TRANSPORT_OPTIONS = {"polling_interval": 0.05}
    CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer", "CONFIG": {"capacity": 500}}}

# A task that plays a run waits on its engine's pipe, so threads suffice and one worker can hold many runs. Messages are
# acknowledged early: a run whose worker died is found by its lease, not by Redis' redelivery.
CELERY_WORKER_POOL = "threads"
# How much of each kind a worker does at once, and one person may have under way (schedweb/worker/shares.py, decision
# 0019). Runs are engines that mostly wait for each other's pace; a question and an import take a processor each.
WORKER_PLACES = {"runs": 16, "imports": 2, "questions": max(2, (os.cpu_count() or 1) // 2)}
PER_PERSON = {"runs": 12, "imports": 4, "questions": 8}
# A run of somebody who has more of them gives way to one that waits, after it was played for so many seconds.
RUN_TURN_SECONDS = 10.0
# A message of the broker is a look at what waits: there is always a thread for one more.
CELERY_WORKER_CONCURRENCY = sum(WORKER_PLACES.values()) + 4
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "/login"
SESSION_COOKIE_AGE = 60 * 60 * 24 * 30
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_HTTPONLY = True
# Other products on localhost must not share our cookies: ports do not separate them.
SESSION_COOKIE_NAME = "playground_session"
CSRF_COOKIE_NAME = "playground_csrf"
# People who come by https are never to come without it. A proxy on the way says so (TRUSTED_PROXIES).
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = ENVIRONMENT.is_behind_tls
SECURE_HSTS_SECONDS = 60 * 60 * 24 * 365 if ENVIRONMENT.is_behind_tls else 0
SILENCED_SYSTEM_CHECKS = [
    "security.W005",  # HSTS of other names below this one is not ours to promise,
    "security.W021",  # nor is a place in the list that browsers come with.
    "security.W008",  # Whoever terminates TLS redirects to it; probes inside come without.
]
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
# Scripts and style sheets come from files of ours; the style sheets that libraries write have the nonce of the
# answer (schedweb/pages.py). Styles of single elements are set by scripts, which nothing forbids.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [csp.NONE],
        "script-src": [csp.SELF],
        "style-src": [csp.SELF, csp.NONCE],
        "img-src": [csp.SELF, "data:"],
        "font-src": [csp.SELF],
        "connect-src": [csp.SELF],
        "base-uri": [csp.NONE],
        "form-action": [csp.SELF],
        "frame-ancestors": [csp.NONE],
    }
}
# Nothing of these is used.
PERMISSIONS_POLICY: dict[str, list[str]] = {
    feature: []
    for feature in (
        *("accelerometer", "bluetooth", "camera", "display-capture", "encrypted-media", "geolocation", "gyroscope"),
        *(
            "hid",
            "idle-detection",
            "local-fonts",
            "magnetometer",
            "microphone",
            "midi",
            "payment",
            "picture-in-picture",
        ),
        *("publickey-credentials-get", "screen-wake-lock", "serial", "usb"),
        *("web-share", "window-management", "xr-spatial-tracking"),
    )
}

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "schedweb.accounts.authentication.SessionAuthentication",
        "schedweb.accounts.authentication.BearerAuthentication",
        "schedweb.runs.sharing.visiting.VisitorAuthentication",
    ],
    "DEFAULT_THROTTLE_CLASSES": ["schedweb.runs.sharing.visiting.VisitorThrottle"],
    "DEFAULT_PERMISSION_CLASSES": ["schedweb.accounts.permissions.IsViewer"],
    "DEFAULT_RENDERER_CLASSES": ["schedweb.api.renderers.FastJSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["schedweb.api.parsers.BoundedJSONParser"],
    "DEFAULT_SCHEMA_CLASS": "schedweb.api.schema.Schema",
    "EXCEPTION_HANDLER": "schedweb.api.errors.exception_handler",
    "DEFAULT_PAGINATION_CLASS": None,
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}

SPECTACULAR_SETTINGS = {
    "TITLE": "Scheduling Playground",
    "DESCRIPTION": "Snapshots, configurations and runs of the Kubernetes scheduling framework.",
    "VERSION": VERSION,
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["schedweb.accounts.permissions.IsViewer"],
    "COMPONENT_SPLIT_REQUEST": True,
    "COMPONENT_NO_READ_ONLY_REQUIRED": True,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "PATH_CONVERTER_OVERRIDES": {
        "run": {"type": "string", "description": "a run's id; with @position the run as it was there"},
    },
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "ENUM_NAME_OVERRIDES": {
        "ClusterStateEnum": "schedweb.clusters.selectors.STATES",
        "ClusterKindStateEnum": "schedweb.clusters.serializers.KIND_STATES",
        "ClusterModeEnum": "schedweb.clusters.selectors.MODES",
        "CardKindEnum": ["pod", "group"],
        "CycleAskingVerbEnum": ["filter", "prioritize", "preempt", "bind"],
        "OperationVerbEnum": ["add", "replace", "delete", "remove"],
        "FeedKindEnum": "schedweb.runs.records.fields.FEED_KINDS",
        "AnswerKindEnum": "schedweb.runs.pods.serializers.ANSWERS",
        "QueueEnum": "schedweb.runs.records.fields.POD_COLUMNS",
        "AnalysisStatusEnum": "schedweb.runs.asking.serializers.STATUSES",
        "StatusEnum": ["pending", "applied", "refused"],
        "MarkKindEnum": "schedweb.runs.playing.serializers.MARKS",
        "ClockModeEnum": ["virtual", "real"],
        "RealKindEnum": "schedweb.runs.real_cluster.selectors.KINDS",
        "RealCauseEnum": "schedweb.runs.real_cluster.serializers.REAL_CAUSES",
        "RealOutcomeEnum": "schedweb.runs.real_cluster.serializers.REAL_OUTCOMES",
        "RoleEnum": ["viewer", "operator", "editor", "admin", "visitor"],
        "AccountRoleEnum": ["viewer", "operator", "editor", "admin"],
        "AuditActionEnum": "schedweb.accounts.audit.serializers.ACTIONS",
        "AuditResultEnum": ["done", "refused"],
        "ServerModeEnum": ["embedded", "distributed"],
        "RunStateEnum": ["created", "playing", "paused", "waiting_for_person", "finished", "stopped", "parked"],
        "StoredKindEnum": "schedweb.keeping.storage.ALL_KINDS",
        "DeletedKindEnum": "schedweb.keeping.serializers.KINDS",
        "DifferenceKindEnum": "schedweb.runs.comparing.selectors.KINDS",
        "CellStateEnum": "schedweb.configurations.serializers.CELL_STATES",
        "CellOriginEnum": "schedweb.configurations.serializers.CELL_ORIGINS",
        "RowOriginEnum": "schedweb.configurations.serializers.ROW_ORIGINS",
        "DiffLineKindEnum": "schedweb.configurations.serializers.LINE_KINDS",
        "TextFormatEnum": "schedweb.configurations.serializers.FORMATS",
    },
}

LANGUAGE_CODE = "en"
#: Sentences of the API follow Accept-Language; docs/languages.md.
LANGUAGES = [("en", "English"), ("uk", "Українська"), ("zh-hans", "简体中文")]
LOCALE_PATHS = [ROOT / "schedweb" / "locale"]
USE_I18N = True
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = "/static/"
WHITENOISE_USE_FINDERS = True
WHITENOISE_ROOT = FRONTEND_DIST if FRONTEND_DIST.is_dir() else None
# Vite puts a hash of the content into every asset's name.
WHITENOISE_IMMUTABLE_FILE_TEST = r"^/assets/.+-[0-9A-Za-z_-]{8,}\.\w+$"

DATA_UPLOAD_MAX_MEMORY_SIZE = 64 * 1024 * 1024
# Uploads go to disk as they arrive: they may be larger than memory should hold.
FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.TemporaryFileUploadHandler"]

LOGGING = logging_settings(ENVIRONMENT.log_format)

# Workers (schedweb/worker): how long a lease lasts, how often it is renewed, how often they look for lost ones.
# A connection may be away for five seconds without costing a lease, and whatever died has its runs taken over within
# ten seconds of its last renewal. What it may have locked is free by then (schedweb/environment.py: IDLE_SECONDS).
ENGINE_LEASE_SECONDS = 6.5
ENGINE_RENEW_SECONDS = 0.5
ENGINE_SWEEP_SECONDS = 1.0
# How often a supervisor looks for commands and whether it may rest. In one process it is woken for every command.
ENGINE_POLL_SECONDS = 0.1 if MODE == "distributed" else 1.0
# A run that has nothing to do gives its worker back after this long; the next command takes one again.
ENGINE_PARK_SECONDS = 60.0
ENGINE_CHECKPOINT_SECONDS = 10.0
# An analysis (schedweb/worker/analyst.py) that takes longer, or more memory, is ended with a sentence.
ANALYSIS_SECONDS = 120.0
ANALYSIS_MEMORY_BYTES = 4 * 1024**3

# Which clusters people may connect to (schedweb/clusters/offered.py).
CONTEXTS = ENVIRONMENT.contexts
# Clusters that one worker reads at once (schedweb/worker/following.py), each in a process of its own.
WORKER_CLUSTERS = 4
# How much is kept of a run that follows a cluster, in MB of 10^6 bytes, where whoever began it said nothing else; then
# its oldest part goes (schedweb/runs/following/thinning.py).
FOLLOW_MEGABYTES = 500

# How long what people delete can be brought back (schedweb/soft_delete.py).
KEEP_DELETED_DAYS = ENVIRONMENT.keep_deleted_days
# What goes by itself (schedweb/keeping/retention.py, decision 0022); 0: nothing for this reason. GB of 10^9 bytes.
KEEP_PRUNED_DAYS = ENVIRONMENT.keep_pruned_days
KEEP_BREAKDOWNS_DAYS = ENVIRONMENT.keep_breakdowns_days
KEEP_RUNS_DAYS = ENVIRONMENT.keep_runs_days
KEEP_TOTAL_BYTES = ENVIRONMENT.keep_total_gb * 10**9
KEEP_PER_PERSON_BYTES = ENVIRONMENT.keep_per_person_gb * 10**9
# A worker removes what is overdue (schedweb/keeping/housekeeping.py) soon after its start, then so often.
HOUSEKEEPING_FIRST_SECONDS = 60.0
HOUSEKEEPING_SECONDS = 3600.0
