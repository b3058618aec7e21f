"""The fork server without anything imported for its copies: tests that kill it need not wait for that."""

from __future__ import annotations

import sys

from schedweb.processes.fork_server import main
from schedweb.processes.plain import KINDS

if __name__ == "__main__":
    KINDS.clear()
    sys.exit(main(int(sys.argv[1])))
