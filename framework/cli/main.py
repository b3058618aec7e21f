"""Arguments of ``python -m framework``, and how its errors are shown."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from framework.cli import decide, simulate
from framework.cli.errors import InputError

BAD_INPUT = 2


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="python -m framework", description="Scheduling decisions without a cluster.")
    commands = top.add_subparsers(dest="command", required=True)

    cases = commands.add_parser("decide", help="decide about cases, one JSON object per line; results to stdout")
    cases.add_argument("cases", nargs="+", metavar="CASES", help="JSON Lines, plain, .gz or .xz; - is standard input")
    cases.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes (default: one per CPU)")

    cluster = commands.add_parser("simulate", help="place the pending pods of a cluster and say where they go")
    cluster.add_argument(
        "-f",
        "--filename",
        action="append",
        required=True,
        metavar="FILE",
        help="YAML or JSON; may be repeated",
    )
    cluster.add_argument("--config", type=Path, metavar="FILE", help="a KubeSchedulerConfiguration (default: defaults)")
    cluster.add_argument("--seed", type=int, default=0, help="chooses among equally good nodes (default: 0)")
    cluster.add_argument(
        "--explain", action="append", default=[], metavar="[NAMESPACE/]POD", help="tell all about this pod's attempts"
    )
    return top


def main(arguments: Sequence[str]) -> int:
    """0: done; 1: a pod stayed pending; 2: bad input."""
    chosen = parser().parse_args(arguments)
    try:
        if chosen.command == "decide":
            return decide.run(chosen.cases, chosen.workers, sys.stdout, sys.stderr)
        asked = simulate.Request(chosen.filename, chosen.config, chosen.seed, chosen.explain)
        return simulate.run(asked, sys.stdout, sys.stderr)
    except InputError as error:
        print(error, file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:  # the reader had enough (`… | head`)
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - so that the interpreter's last flush finds no broken pipe
        return 0
