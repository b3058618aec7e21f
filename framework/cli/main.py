"""Arguments of ``python -m framework``, and how its errors are shown."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from framework.cli import capacity, convert, decide, doctor, simulate
from framework.cli.bench import command as bench
from framework.cli.bench.measure import Options
from framework.cli.clusters import ClusterRequest
from framework.cli.errors import InputError
from framework.configuration.feature_gates import DEFAULT_GATES, FeatureGates, FeatureGatesError, parse_feature_gates

BAD_INPUT = 2
CLOSED_PIPE = 141
"""As a shell tells of a process that SIGPIPE ended."""


def parser(program: str = "python -m framework", others: Mapping[str, str] | None = None) -> argparse.ArgumentParser:
    """``others``: commands of whoever calls, and what they do; their arguments are theirs."""
    top = argparse.ArgumentParser(prog=program, description="Scheduling decisions without a cluster.")
    commands = top.add_subparsers(dest="command", required=True)
    for name, does in (others or {}).items():
        commands.add_parser(name, help=does, add_help=False)

    cases = commands.add_parser("decide", help="decide about cases, one JSON object per line; results to stdout")
    cases.add_argument("cases", nargs="+", metavar="CASES", help="JSON Lines, plain, .gz or .xz; - is standard input")
    cases.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes (default: one per CPU)")

    _add_feature_gates(cases)

    cluster = commands.add_parser("simulate", help="place the pending pods of a cluster and say where they go")
    _cluster_arguments(cluster)
    cluster.add_argument(
        "--explain", action="append", default=[], metavar="[NAMESPACE/]POD", help="tell all about this pod's attempts"
    )
    cluster.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    cluster.add_argument(
        "--only-new", action="store_true", help="pods that were pending in the exported cluster do not count"
    )

    cluster.add_argument(
        "--show",
        choices=simulate.SHOWN,
        default="pods",
        help="where the pods went (default), the Events as kubectl prints them, cache and queue as on SIGUSR2, or what "
        "/metrics or /metrics/resources says",
    )
    cluster.add_argument(
        "--log",
        type=_positive,
        metavar="LEVEL",
        help="write kube-scheduler's log of -v=LEVEL to standard error",
    )

    room = commands.add_parser("capacity", help="how many more of a pod fit, or how many nodes the pending pods need")
    _cluster_arguments(room)
    about = room.add_mutually_exclusive_group(required=True)
    about.add_argument("--pod", metavar="[NAMESPACE/]POD|FILE", help="how many more like this one fit")
    about.add_argument("--node", metavar="NODE|FILE", help="how many nodes like this one until all pending pods fit")
    room.add_argument("--limit", type=_positive, metavar="N", help="stop counting here (default: 1000 pods, 200 nodes)")
    room.add_argument("--json", action="store_true", help="one JSON object instead of a text")
    older = commands.add_parser("convert", help="write a Policy, an older configuration or a command line as v1")
    older.add_argument(
        "file", nargs="?", metavar="FILE", help="also a ConfigMap or a manifest that holds it; - is standard input"
    )
    older.add_argument("--flags", default="", metavar="FLAGS", help="a command line of kube-scheduler, in one word")
    older.add_argument("--json", action="store_true", help="one JSON object instead of a text")
    well = commands.add_parser("doctor", help="which plugins of other packages were found, and why one was not taken")
    well.add_argument("packages", nargs="*", metavar="PACKAGE", help="an installed package that offers plugins")
    _add_bench(commands.add_parser("bench", help="measure pods per second on kube-scheduler's workloads and ours"))
    return top


def _cluster_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "-f",
        "--filename",
        action="append",
        required=True,
        metavar="FILE",
        help="YAML or JSON; may be repeated",
    )
    command.add_argument("--config", type=Path, metavar="FILE", help="a KubeSchedulerConfiguration (default: defaults)")
    _add_feature_gates(command)
    command.add_argument(
        "--leave-out-problems",
        action="store_true",
        help="read the rest of a file of which some objects cannot be taken",
    )
    command.add_argument(
        "--load",
        action="append",
        default=[],
        metavar="[CPU=|Memory=]FILE|random:SEED",
        help="load of nodes: a LoadMetrics, load-watcher's answer, results of Prometheus, or made up; may be repeated",
    )
    command.add_argument("--seed", type=int, default=0, help="chooses among equally good nodes (default: 0)")


def _add_feature_gates(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--feature-gates",
        metavar="A=true,B=false",
        help="kube-scheduler's flag; instead of what the configuration's comment says",
    )


def _simulate_request(cluster: ClusterRequest, chosen: argparse.Namespace) -> simulate.Request:
    if chosen.json and chosen.show not in ("pods", "events"):
        raise InputError("--json", f"--show {chosen.show} is a text")
    return simulate.Request(cluster, chosen.explain, chosen.json, chosen.only_new, chosen.show, chosen.log or 0)


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no number above 0")
    return int(text)


def _add_bench(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--workload",
        action="append",
        default=[],
        metavar="NAME",
        help="may be repeated (default: all; plugins: one row per plugin beside the default profile)",
    )
    parser.add_argument("--nodes", type=int, metavar="N", help="instead of the workload's own number")
    parser.add_argument("--init-pods", type=int, metavar="N", help="placed before measuring")
    parser.add_argument("--pods", type=int, metavar="N", help="measured")
    parser.add_argument(
        "--percentage", type=int, default=100, help="percentageOfNodesToScore (default: 100; 0: adaptive)"
    )
    parser.add_argument("--no-trace", action="store_true", help="record nothing")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", dest="form", action="store_const", const="json", help="one object per line")
    form.add_argument("--markdown", dest="form", action="store_const", const="markdown", help="a table")
    parser.add_argument("--profile", action="store_true", help="where the time goes, instead of how much it is")
    parser.add_argument("--growth", action="store_true", help="and a few workloads on 500 to 50,000 nodes")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="with --growth: the plot, as SVG")
    parser.add_argument("--inside", action="store_true", help="in this process; memory is then that of all workloads")


def _bench_request(chosen: argparse.Namespace) -> bench.Request:
    return bench.Request(
        workloads=chosen.workload,
        nodes=chosen.nodes,
        init_pods=chosen.init_pods,
        pods=chosen.pods,
        options=Options(chosen.percentage, not chosen.no_trace),
        form=chosen.form or "lines",
        profile=chosen.profile,
        growth=chosen.growth,
        plot=chosen.plot,
        inside=chosen.inside,
    )


def _feature_gates(flag: str | None) -> FeatureGates | None:
    try:
        return None if flag is None else parse_feature_gates(flag)
    except FeatureGatesError as error:
        raise InputError("--feature-gates", str(error)) from None


def main(arguments: Sequence[str], top: argparse.ArgumentParser | None = None) -> int:
    """0: done; 1: a pod stayed pending, nothing more fits, not all was converted; 2: bad input; 141: nobody read on."""
    chosen = (top or parser()).parse_args(arguments)
    try:
        status = _run(chosen)
        sys.stdout.flush()  # here, where a closed pipe can still be told
        return status
    except InputError as error:
        print(error, file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:  # the reader had enough (`… | head`)
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - so that the interpreter's last flush finds no broken pipe
        return CLOSED_PIPE


def _run(chosen: argparse.Namespace) -> int:
    if chosen.command == "decide":
        flag = _feature_gates(chosen.feature_gates) or DEFAULT_GATES
        return decide.run(chosen.cases, chosen.workers, sys.stdout, sys.stderr, flag)
    if chosen.command == "doctor":
        return doctor.run(chosen.packages, sys.stdout)
    if chosen.command == "convert":
        return convert.run(convert.Request(chosen.file, chosen.flags, chosen.json), sys.stdout, sys.stderr)
    if chosen.command == "bench":
        return bench.run(_bench_request(chosen), sys.stdout, sys.stderr)
    cluster = ClusterRequest(
        chosen.filename,
        chosen.config,
        chosen.seed,
        _feature_gates(chosen.feature_gates),
        chosen.leave_out_problems,
        chosen.load,
    )
    if chosen.command == "capacity":
        asked = capacity.Request(cluster, chosen.pod, chosen.node, chosen.limit, chosen.json)
        return capacity.run(asked, sys.stdout)
    return simulate.run(_simulate_request(cluster, chosen), sys.stdout)
