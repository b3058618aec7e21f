"""Settings of the tests: the product's own, with a data directory that goes away with the machine's temporary files."""

from __future__ import annotations

import os
import tempfile

os.environ["PLAYGROUND_DATA"] = tempfile.mkdtemp(prefix="playground-tests-")
# Whoever runs the tests may have clusters; no test asks them.
os.environ["KUBECONFIG"] = os.path.join(os.environ["PLAYGROUND_DATA"], "no-kubeconfig")
CLUSTERS = ("PLAYGROUND_CONTEXTS", "PLAYGROUND_MAY_SCHEDULE", "KUBERNETES_SERVICE_HOST")
NOTICES = ("PLAYGROUND_NOTICE_URLS", "PLAYGROUND_NOTICE_WEBHOOK", "PLAYGROUND_NOTICE_SECRET")
for name in ("REDIS_URL", "DATABASE_URL", "HOST", "PORT", *CLUSTERS, *NOTICES):
    os.environ.pop(name, None)

from schedweb.settings import *  # noqa: E402, F403 - after the environment is set

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# Nothing here outlives the machine, so nothing waits for its disk.
OPTIONS = DATABASES["default"]["OPTIONS"]  # noqa: F405
OPTIONS["init_command"] = OPTIONS["init_command"].replace("synchronous=FULL", "synchronous=OFF")
