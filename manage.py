#!/usr/bin/env python
"""Django's command line: `manage.py playground` starts everything on one machine."""

from __future__ import annotations

import os
import sys

from django.core.management import execute_from_command_line

from schedweb.processes.collecting import begin_loading


def main() -> None:
    begin_loading()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "schedweb.settings")
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
