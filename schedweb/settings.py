"""Django's settings. The two modes differ here and nowhere else (docs/decisions/0005)."""

from __future__ import annotations

from schedweb.environment import ROOT, UI_PLACES, built_ui, database_settings, read_environment

ENVIRONMENT = read_environment()
MODE = ENVIRONMENT.mode
VERSION = "0.1.0"
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
    "schedweb.accounts",
    "schedweb.snapshots",
    "schedweb.configurations",
    "schedweb.runs",
    "schedweb.worker",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "schedweb.api.middleware.no_zero_bytes",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
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
CELERY_WORKER_CONCURRENCY = 16
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
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"

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
        "CardKindEnum": ["pod", "group"],
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
        "RoleEnum": ["viewer", "operator", "editor", "visitor"],
        "AccountRoleEnum": ["viewer", "operator", "editor"],
        "ServerModeEnum": ["embedded", "distributed"],
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

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": "WARNING"},
    "loggers": {"schedweb": {"level": "INFO"}},
}

# Workers (schedweb/worker): how long a lease lasts, how often it is renewed, how often they look for lost ones.
ENGINE_LEASE_SECONDS = 8.0
ENGINE_RENEW_SECONDS = 2.0
ENGINE_SWEEP_SECONDS = 1.0
# How often a supervisor looks for commands and whether it may rest. In one process it is woken for every command.
ENGINE_POLL_SECONDS = 0.1 if MODE == "distributed" else 1.0
# A run that has nothing to do gives its worker back after this long; the next command takes one again.
ENGINE_PARK_SECONDS = 60.0
ENGINE_CHECKPOINT_SECONDS = 10.0
# An analysis (schedweb/worker/analyst.py) that takes longer, or more memory, is ended with a sentence.
ANALYSIS_SECONDS = 120.0
ANALYSIS_MEMORY_BYTES = 4 * 1024**3
