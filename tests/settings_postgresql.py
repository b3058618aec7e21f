"""Settings for tests that are played on a real PostgreSQL (tests/deploy/test_on_postgresql.py starts them). All else is
as in tests/settings.py: workers, broker and channel layer in the process.
"""

from __future__ import annotations

from dataclasses import replace

from schedweb.environment import database_settings
from scripts.services import DATABASE_URL, REDIS_URL
from tests.settings import *  # noqa: F403
from tests.settings import ENVIRONMENT

DATABASES = {"default": database_settings(replace(ENVIRONMENT, database_url=DATABASE_URL, redis_url=REDIS_URL))}
