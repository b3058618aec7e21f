"""``decide``: what the scheduler decides for a cluster and a list of pods, tried one after the other."""

from __future__ import annotations

import multiprocessing
import traceback
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Final, TextIO

import msgspec

from framework.cli.case_run import CaseRun
from framework.cli.cases import Case, parse_case, prepare, read_lines
from framework.cli.errors import InputError
from framework.cli.extender_script import with_extenders
from framework.cli.report import Report
from framework.cli.requeue import Requeue
from framework.cli.tries import Tries
from framework.configuration import FeatureGates, load_value
from framework.configuration.feature_gates import DEFAULT_GATES
from framework.plugins.registry import Registry, built_in_registry
from framework.profiles import ProfileError

FAILED: Final = 2


def decide(case: Case, registry: Registry, feature_gates: FeatureGates = DEFAULT_GATES) -> Report:
    """The result of one case. Raises InputError for objects that cannot be decoded."""
    config = with_extenders(case.config, case.extenders) if case.extenders else case.config
    loaded = load_value(config, registry, feature_gates)
    if loaded.effective is None:
        return {"name": case.name, "configError": loaded.config_error, "results": []}
    objects = prepare(case)
    try:
        run = CaseRun(objects, loaded.effective, registry, case.start, case.extenders)
    except ProfileError as error:
        return {"name": case.name, "configError": str(error), "results": []}
    report: Report = {"name": case.name}
    if loaded.warnings:
        report["warnings"] = [warning.text for warning in loaded.warnings]
    tries = Tries(case, objects, run)
    report["results"] = tries.run()
    report |= tries.of_case()
    if case.events is not None:
        first_index = len(case.objects) + len(case.pods)
        tried = {pod.key for pod in objects.pods}
        report["events"] = Requeue(run.scheduler, case.name, first_index, tried).run(case.events)
    return report


_registry: Registry | None = None
Result = tuple[bytes, str]
"""The line of output, and what went wrong: "" when nothing did."""


def decide_line(numbered: tuple[str, str], feature_gates: FeatureGates = DEFAULT_GATES) -> Result:
    """(where the line stands, the line) → its result. The registry is made once per process."""
    global _registry
    if _registry is None:
        _registry = built_in_registry()
    source, line = numbered
    case = parse_case(line, source)
    try:
        return msgspec.json.encode(decide(case, _registry, feature_gates)), ""
    except InputError as error:
        wrong = str(error)
    except Exception as error:  # noqa: BLE001 - the other cases are still to be decided
        wrong = f"{case.name}: {''.join(traceback.format_exception(error))}"
    return msgspec.json.encode({"name": case.name, "error": wrong, "results": []}), wrong


def decide_lines(lines: Iterable[tuple[str, str]], workers: int, feature_gates: FeatureGates) -> Iterator[Result]:
    """In the order of the lines, on that many processes."""
    decided = partial(decide_line, feature_gates=feature_gates)
    if workers <= 1:
        yield from map(decided, lines)
        return
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        yield from pool.imap(decided, lines, chunksize=4)


def numbered_lines(path: str) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(read_lines(path), start=1):
        if line.strip():
            yield f"{path}:{number}", line


def run(
    paths: list[str], workers: int, output: TextIO, notes: TextIO, feature_gates: FeatureGates = DEFAULT_GATES
) -> int:
    """0, or 2 when a case could not be decided; the others are."""
    decided = failed = 0
    for line, wrong in decide_lines((line for path in paths for line in numbered_lines(path)), workers, feature_gates):
        output.write(line.decode() + "\n")
        decided += 1
        if wrong:
            failed += 1
            notes.write(wrong.rstrip() + "\n")
    if not decided:
        raise InputError(", ".join(paths), "no cases")
    return FAILED if failed else 0
