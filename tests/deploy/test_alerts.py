"""Every alert of deploy/monitoring/alerts.yaml is raised by what it is about, and none when all is well: played by
Prometheus' own evaluation of rules (promtool) on time series of an hour."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from scripts.debian import PROMTOOL
from scripts.processes import ROOT

RULES: Final = ROOT / "deploy" / "monitoring" / "alerts.yaml"
FOUND: Final = PROMTOOL.find()
WEB, WORKER = 'instance="web:8000",job="playground-web"', 'instance="worker:9464",job="playground-worker"'
VOLUME: Final = 'namespace="scheduling-playground",persistentvolumeclaim="postgres-postgres-0"'
ON_WEB: Final = {"instance": "web:8000", "job": "playground-web"}
ON_WORKER: Final = {"instance": "worker:9464", "job": "playground-worker"}
GONE: Final = ""
WELL: Final = {
    f"up{{{WEB}}}": "1+0x60",
    f"up{{{WORKER}}}": "1+0x60",
    f"playground_runs_without_worker{{{WEB}}}": "0+0x60",
    f"playground_engine_deaths_total{{{WORKER}}}": "0+0x60",
    f"playground_commands_pending{{{WEB}}}": "2+0x60",
    f"playground_batches_total{{{WORKER}}}": "0+60x60",
    f'playground_command_duration_seconds_bucket{{{WORKER},le="0.3"}}': "0+60x60",
    f'playground_command_duration_seconds_bucket{{{WORKER},le="10"}}': "0+60x60",
    f'playground_command_duration_seconds_bucket{{{WORKER},le="+Inf"}}': "0+60x60",
    f'playground_batch_lag_seconds_bucket{{{WORKER},le="0.3"}}': "0+60x60",
    f'playground_batch_lag_seconds_bucket{{{WORKER},le="10"}}': "0+60x60",
    f'playground_batch_lag_seconds_bucket{{{WORKER},le="+Inf"}}': "0+60x60",
    f'playground_waiting{{{WEB},kind="runs"}}': "1+0x60",
    f'playground_http_requests_total{{{WEB},status="200"}}': "0+600x60",
    f'playground_http_requests_total{{{WEB},status="503"}}': "0+0x60",
    f'playground_notices_total{{{WORKER},kind="slack",outcome="sent"}}': "0+1x60",
    f'playground_notices_total{{{WORKER},kind="slack",outcome="failed"}}': "0+0x60",
    f'playground_sockets_closed_total{{{WEB},code="1013"}}': "0+0x60",
    f'playground_storage_trouble{{{WEB},kind="folder_full"}}': "0+0x60",
    f'playground_writes_refused_total{{{WORKER},kind="database_full"}}': "0+0x60",
    f"playground_data_free_bytes{{{WEB}}}": "30000000000+0x60",
    f"playground_data_size_bytes{{{WEB}}}": "1000000000000+0x60",
    f"kubelet_volume_stats_available_bytes{{{VOLUME}}}": "50+0x60",
    f"kubelet_volume_stats_capacity_bytes{{{VOLUME}}}": "100+0x60",
    f"playground_database_size_bytes{{{WEB}}}": "30000000000+0x60",
    f"playground_kept_limit_bytes{{{WEB}}}": "20000000000+0x60",
    f'playground_ready{{{WEB},check="database"}}': "1+0x60",
    f'playground_ready{{{WEB},check="storage"}}': "1+0x60",
    f'playground_ready{{{WEB},check="workers"}}': "1+0x60",
}


@dataclass(frozen=True)
class Case:
    """``series``: what differs from when all is well; ``raised``: (alert, its labels, what it says) after an hour."""

    name: str
    series: dict[str, str]
    raised: tuple[tuple[str, dict[str, str], str], ...] = field(default=())


CASES: Final = (
    Case("all is well", {}),
    Case(
        "any amount is kept: there is no bound to hold the database against",
        {
            f"playground_kept_limit_bytes{{{WEB}}}": "0+0x60",
            f"playground_database_size_bytes{{{WEB}}}": "900000000000+0x60",
        },
    ),
    Case(
        "a run without a worker",
        {f"playground_runs_without_worker{{{WEB}}}": "3+0x60"},
        (("PlaygroundRunsWithoutWorker", {}, "3 runs have lost their worker, and no other one takes them."),),
    ),
    Case(
        "engines die",
        {f"playground_engine_deaths_total{{{WORKER}}}": "0+1x60"},
        (("PlaygroundEnginesDie", ON_WORKER, "Engine processes of worker:9464 die again and again."),),
    ),
    Case(
        "workers store nothing",
        {f"playground_batches_total{{{WORKER}}}": "5+0x60"},
        (("PlaygroundCommandsWait", {}, "Commands are stored, and no worker applies them."),),
    ),
    Case(
        "all workers are gone, from Prometheus' list too",
        {
            **{series: GONE for series in WELL if WORKER in series},
            f'playground_ready{{{WEB},check="workers"}}': "0+0x60",
        },
        (
            ("PlaygroundCommandsWait", {}, "Commands are stored, and no worker applies them."),
            ("PlaygroundNotReady", {"check": "workers"}, "/readyz fails: workers."),
            (
                "PlaygroundTargetGone",
                {"job": "playground-worker"},
                "Prometheus knows no playground-worker: what it would say is not watched.",
            ),
        ),
    ),
    Case(
        "slow commands",
        {f'playground_command_duration_seconds_bucket{{{WORKER},le="0.3"}}': "0+0x60"},
        (("PlaygroundCommandsSlow", {}, "One of a hundred commands takes 9.903s or longer."),),
    ),
    Case(
        "late batches",
        {f'playground_batch_lag_seconds_bucket{{{WORKER},le="0.3"}}': "0+0x60"},
        (("PlaygroundBatchesLate", {}, "What engines say is stored and told 9.903s late."),),
    ),
    Case(
        "no places",
        {f'playground_waiting{{{WEB},kind="runs"}}': "12+0x60"},
        (("PlaygroundWorkWaits", {"kind": "runs"}, "12 runs wait for a place: there are too few workers."),),
    ),
    Case(
        "requests fail",
        {f'playground_http_requests_total{{{WEB},status="503"}}': "0+200x60"},
        (("PlaygroundServerErrors", {}, "25% of the requests fail."),),
    ),
    Case(
        "nobody is told",
        {f'playground_notices_total{{{WORKER},kind="slack",outcome="failed"}}': "0+1x60"},
        (("PlaygroundNoticesFail", {"kind": "slack"}, "slack cannot be told of pods that wait."),),
    ),
    Case(
        "slow browsers",
        {f'playground_sockets_closed_total{{{WEB},code="1013"}}': "0+10x60"},
        (
            (
                "PlaygroundSlowReaders",
                {**ON_WEB, "code": "1013"},
                "Browsers of web:8000 are sent away because they fall behind or Redis does not answer.",
            ),
        ),
    ),
    Case(
        "a full folder",
        {
            f'playground_storage_trouble{{{WEB},kind="folder_full"}}': "1+0x60",
            f'playground_ready{{{WEB},check="storage"}}': "0+0x60",
            f"playground_data_free_bytes{{{WEB}}}": "1048576+0x60",
        },
        (
            ("PlaygroundStorageRefuses", {"kind": "folder_full"}, "Writes are refused: folder_full."),
            (
                "PlaygroundDiskFillsUp",
                ON_WEB,
                "The disk of the data folder of web:8000 has 1MiB left.",
            ),
        ),
    ),
    Case(
        "a database that only a worker finds full",
        {f'playground_writes_refused_total{{{WORKER},kind="database_full"}}': "0+5x60"},
        (("PlaygroundStorageRefuses", {"kind": "database_full"}, "Writes are refused: database_full."),),
    ),
    Case(
        "a volume with little left",
        {f"kubelet_volume_stats_available_bytes{{{VOLUME}}}": "5+0x60"},
        (
            (
                "PlaygroundVolumeFillsUp",
                {"namespace": "scheduling-playground", "persistentvolumeclaim": "postgres-postgres-0"},
                "The volume postgres-postgres-0 has 5% left.",
            ),
        ),
    ),
    Case(
        "a large database",
        {f"playground_database_size_bytes{{{WEB}}}": "53687091200+0x60"},
        (("PlaygroundDatabaseGrows", {}, "The database has 50GiB, more than twice of what runs may use."),),
    ),
    Case(
        "a database that does not answer: of what it would say there is nothing",
        {
            f'playground_ready{{{WEB},check="database"}}': "0+0x60",
            f"playground_runs_without_worker{{{WEB}}}": GONE,
            f"playground_commands_pending{{{WEB}}}": GONE,
            f"playground_database_size_bytes{{{WEB}}}": GONE,
        },
        (("PlaygroundNotReady", {"check": "database"}, "/readyz fails: database."),),
    ),
    Case(
        "a target that does not answer",
        {f"up{{{WEB}}}": "0+0x60"},
        (("PlaygroundTargetDown", ON_WEB, "web:8000 (playground-web) does not tell its metrics."),),
    ),
)


def rules() -> dict[str, dict[str, Any]]:
    found = yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"][0]["rules"]
    return {rule["alert"]: rule for rule in found}


def test_every_alert_has_a_case() -> None:
    assert {alert for case in CASES for alert, _, _ in case.raised} == set(rules())
    assert [series for case in CASES for series in case.series if series not in WELL] == []


@pytest.mark.skipif(FOUND is None, reason=PROMTOOL.skipped)
def test_each_case_raises_its_alerts_and_no_others(tmp_path: Path) -> None:
    played = tmp_path / "alerts.test.yaml"
    tests = [played_case(case) for case in CASES]
    played.write_text(
        yaml.safe_dump({"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": tests}), encoding="utf-8"
    )
    done = subprocess.run(
        [str(FOUND), "test", "rules", str(played)], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr


def played_case(case: Case) -> dict[str, Any]:
    """As promtool has it."""
    expected: dict[str, list[dict[str, Any]]] = {alert: [] for alert in rules()}
    for alert, labels, summary in case.raised:
        severity = rules()[alert]["labels"]["severity"]
        expected[alert].append(
            {"exp_labels": {**labels, "severity": severity}, "exp_annotations": {"summary": summary}}
        )
    return {
        "name": case.name,
        "interval": "1m",
        "input_series": [
            {"series": series, "values": values} for series, values in {**WELL, **case.series}.items() if values
        ],
        "alert_rule_test": [
            {"eval_time": "1h", "alertname": alert, "exp_alerts": alerts} for alert, alerts in expected.items()
        ],
    }
