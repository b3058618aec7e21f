"""``python -m framework``."""

from __future__ import annotations

import sys

from framework.cli.main import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
