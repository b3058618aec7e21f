"""The Celery application. Its broker is in the process (embedded mode) or Redis; settings.py decides."""

from __future__ import annotations

import os

from celery import Celery

from schedweb.processes.collecting import begin_loading

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "schedweb.settings")
# A worker's process begins here (`celery -A schedweb worker`) and ends loading when it is ready (worker/tasks.py).
begin_loading()
app = Celery("schedweb")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
