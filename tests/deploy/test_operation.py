"""What the product says of itself to those who run it: signs of life, metrics, one id from a click to its outcome."""

from __future__ import annotations

import json
import os
import re
import signal
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest
from prometheus_client.core import Metric
from prometheus_client.parser import text_string_to_metric_families

from scripts.processes import ROOT, Playground, free_port
from scripts.services import Services
from scripts.site import Answer, Site, eventually
from tests.deploy.collector import Collector, collecting
from tests.deploy.crowd import run_for_a_crowd
from tests.deploy.test_database import cut, name_of

pytestmark = pytest.mark.services
TRACE: Final = "0af7651916cd43dd8448eb211c80319c"
TOKEN: Final = "for-prometheus"
SUFFIX: Final = re.compile(r"_(bucket|count|sum|total)$")
"""Of a sample; its family's name has none."""


@pytest.fixture
def services(migrated_services: Services) -> Services:
    return migrated_services


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as found:
        yield found


@pytest.fixture
def playground(services: Services, tmp_path: Path, collector: Collector) -> Iterator[Playground]:
    started = Playground(
        tmp_path,
        REDIS_URL=services.redis_url,
        DATABASE_URL=services.database_url,
        LOG_FORMAT="json",
        METRICS_TOKEN=TOKEN,
        METRICS_PORT=str(free_port()),
        OTEL_EXPORTER_OTLP_ENDPOINT=collector.endpoint,
        OTEL_BSP_SCHEDULE_DELAY="200",
    )
    try:
        yield started
    finally:
        started.process.stop()


def test_from_a_click_to_its_outcome(playground: Playground, services: Services, collector: Collector) -> None:
    site = Site(playground.origin)
    site.open_link(playground.link)
    run = run_for_a_crowd(site)
    command = click(site, run, {"type": "play", "speed": "max"})
    site.run_until(run, "the run is finished", lambda seen: seen["state"] == "finished")
    one_id_is_in_the_log_the_journal_and_the_traces(playground, services, collector, command)
    metrics_tell_of_it(playground, site)
    readiness_names_what_is_missing(playground, site, services)


def click(site: Site, run: str, body: dict[str, Any]) -> str:
    """As the browser sends it. The journal entry's id."""
    site.opener.addheaders = [("traceparent", f"00-{TRACE}-b7ad6b7169203331-00")]
    command: str = site.command(run, body)["id"]
    site.opener.addheaders = []
    return command


def one_id_is_in_the_log_the_journal_and_the_traces(
    playground: Playground, services: Services, collector: Collector, command: str
) -> None:
    def settled() -> list[dict[str, Any]] | None:
        ours = [line for line in log_of(playground) if line.get("trace_id") == TRACE]
        return ours if "command play applied" in {line["message"] for line in ours} else None

    lines = {line["message"]: line for line in eventually("the worker's line is in the log", settled)}
    assert set(lines) >= {"command play accepted", "POST api/v1/runs/<uuid:run>/commands/ 202"}, lines
    assert lines["command play accepted"]["command"] == command
    assert lines["command play applied"]["command"] == command
    assert int(lines["command play applied"]["batch"]) > 0
    with psycopg.connect(services.database_url) as connection:
        row = connection.execute("SELECT traceparent FROM runs_journalentry WHERE id = %s", [command]).fetchone()
    assert row is not None
    assert row[0].split("-")[1] == TRACE
    asked = eventually("the request's span", lambda: collector.named("POST api/v1/runs/<uuid:run>/commands/", TRACE))
    done = eventually("the command's span", lambda: collector.named("command play", TRACE))
    assert asked.parent_span_id.hex() == "b7ad6b7169203331"
    assert done.parent_span_id == asked.span_id


def log_of(playground: Playground) -> list[dict[str, Any]]:
    """Lines that are no JSON are for whoever started it: the link."""
    lines = playground.process.output().splitlines()
    return [json.loads(line) for line in lines if line.startswith("{")]


def metrics_tell_of_it(playground: Playground, site: Site) -> None:
    assert Site(playground.origin).ask("GET", "/metrics").status == 403
    web = scraped(f"{playground.origin}/metrics", TOKEN)
    assert web["playground_commands_accepted_total", "play"] == 1
    assert web["playground_runs", "finished"] == 1
    assert web["playground_runs", "playing"] == 0
    assert web["playground_commands_pending",] == 0
    assert web["playground_tasks_queued", "celery"] == 0
    assert web["playground_import_bytes_count",] == 1
    assert web["playground_database_size_bytes",] > 1_000_000
    assert web["playground_http_requests_total", "POST", "api/v1/runs/<uuid:run>/commands/", "202"] == 1
    worker = scraped(metrics_of_the_worker(playground))
    assert worker["playground_command_duration_seconds_count", "applied", "play"] == 1
    assert worker["playground_batches_total",] == worker["playground_batch_lag_seconds_count",] > 0
    assert {sample[1]: value for sample, value in web.items() if sample[0] == "playground_ready"} == dict.fromkeys(
        ["database", "migrations", "storage", "redis", "workers"], 1
    )
    assert {value for sample, value in web.items() if sample[0] == "playground_storage_trouble"} == {0}
    assert 0 < web["playground_data_free_bytes",] < web["playground_data_size_bytes",]
    assert web["playground_writes_refused_total", "database_full"] == 0
    told = {
        family.name
        for family in (*families(f"{playground.origin}/metrics", TOKEN), *families(metrics_of_the_worker(playground)))
    }
    for file in ("alerts.yaml", "grafana-dashboard.json"):
        text = (ROOT / "deploy" / "monitoring" / file).read_text(encoding="utf-8")
        asked = {SUFFIX.sub("", name) for name in re.findall(r"playground_[a-z_]+", text)}
        assert asked - told == set(), "the running product has every metric that is asked for"
    # A person who may change everything may read them, too.
    assert "playground_runs" in str(site.ask("GET", "/metrics").body)


def metrics_of_the_worker(playground: Playground) -> str:
    return f"http://127.0.0.1:{playground.environment['METRICS_PORT']}/metrics"


def scraped(address: str, token: str = "") -> dict[tuple[str, ...], float]:
    """By the sample's name and the values of its labels, which stand in their alphabetical order."""
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in families(address, token)
        for sample in family.samples
    }


def families(address: str, token: str = "") -> list[Metric]:
    request = urllib.request.Request(address)
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as response:
        return list(text_string_to_metric_families(response.read().decode()))


def readiness_names_what_is_missing(playground: Playground, site: Site, services: Services) -> None:
    assert site.get("/livez") == {"status": "ok"}
    all_well = dict.fromkeys(["database", "migrations", "storage", "redis", "workers"], "ok")
    assert site.get("/readyz") == {"status": "ok", "checks": all_well}
    assert site.ask("GET", "/readyz?exclude=moon").status == 400
    name = name_of(services)
    a_read_only_database_is_told(playground, site, services)
    with psycopg.connect(services.database_url.replace(f"/{name}", "/postgres"), autocommit=True) as connection:
        connection.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
        try:
            cut(connection, name)
            gone = ready(site)
            metrics = scraped(f"{playground.origin}/metrics", TOKEN)
            assert site.get("/livez") == {"status": "ok"}
        finally:
            connection.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')
    assert gone.status == 503
    assert "does not answer" in gone.body["checks"]["database"]
    assert gone.body["checks"]["redis"] == "ok"
    assert (metrics["playground_ready", "database"], metrics["playground_ready", "redis"]) == (0, 1)
    assert ("playground_commands_pending",) not in metrics, "what nobody knows is not told"
    os.kill(worker_of(playground), signal.SIGKILL)
    missing = eventually("the worker is missed", lambda: answer if (answer := ready(site)).status == 503 else None)
    assert missing.body["checks"] == {**all_well, "workers": "No worker answers."}
    assert scraped(f"{playground.origin}/metrics", TOKEN)["playground_ready", "workers"] == 0
    assert site.get("/readyz?exclude=workers")["status"] == "ok"


def a_read_only_database_is_told(playground: Playground, site: Site, services: Services) -> None:
    """As a standby after a failover is, and what hosts make of one whose disk is full."""
    name = name_of(services)
    with psycopg.connect(services.database_url, autocommit=True) as connection:
        connection.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')
        try:
            told = eventually("it is told", lambda: answer if (answer := ready(site)).status == 503 else None)
            refused = site.ask("POST", "/api/v1/configurations/", {"name": "a", "text": ""})
            assert site.get("/api/v1/runs/")["results"], "pages still show what is stored"
            trouble = site.get("/api/v1/storage/trouble/")["trouble"]
            metrics = scraped(f"{playground.origin}/metrics", TOKEN)
        finally:
            connection.execute("SET transaction_read_only = off")
            connection.execute(f'ALTER DATABASE "{name}" RESET default_transaction_read_only')
    failed = {check: said for check, said in told.body["checks"].items() if said != "ok"}
    assert failed == {"storage": "The database is read-only. What was accepted is safe."}
    assert (refused.status, refused.body["error"]["code"]) == (503, "storage_read_only")
    assert refused.headers["Retry-After"]
    assert (trouble["kind"], trouble["message"]) == ("database_read_only", failed["storage"])
    assert metrics["playground_storage_trouble", "database_read_only"] == 1
    assert (metrics["playground_ready", "storage"], metrics["playground_ready", "database"]) == (0, 1)
    eventually("it has passed", lambda: True if ready(site).status == 200 else None)


def ready(site: Site) -> Answer:
    return site.ask("GET", "/readyz")


def worker_of(playground: Playground) -> int:
    children = Path(f"/proc/{playground.process.child.pid}/task/{playground.process.child.pid}/children").read_text()
    for child in children.split():
        if b"celery" in Path(f"/proc/{child}/cmdline").read_bytes():
            return int(child)
    raise AssertionError(children)
