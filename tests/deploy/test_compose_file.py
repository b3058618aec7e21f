"""docker-compose.yml and the Dockerfile say what the deployment promises; test_compose.py starts what they say."""

from __future__ import annotations

import json
import re
from urllib.parse import urlsplit

import pytest

from scripts.compose import ROOT, MissingVariable, Service, fill_in, read_compose, start_order

VARIABLES = {"POSTGRES_PASSWORD": "correct-horse", "SECRET_KEY": "battery-staple"}
DOCKERFILE = (ROOT / "deploy/Dockerfile").read_text(encoding="utf-8")


@pytest.fixture
def services() -> dict[str, Service]:
    return read_compose(VARIABLES)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("${NAME}", "value"),
        ("${ABSENT:-other}", "other"),
        ("${NAME:-other}", "value"),
        ("${NAME:?needed}", "value"),
        ("${ABSENT:-http://${NAME}:${ALSO_ABSENT:-80}/}", "http://value:80/"),
        ("$$NAME", "$NAME"),
        ("${ABSENT}", ""),
    ],
)
def test_variables_are_filled_in_as_compose_does(text: str, want: str) -> None:
    assert fill_in(text, {"NAME": "value"}) == want


@pytest.mark.parametrize("name", sorted(VARIABLES))
def test_a_secret_has_no_default(name: str) -> None:
    with pytest.raises(MissingVariable, match=name):
        read_compose({key: value for key, value in VARIABLES.items() if key != name})


def test_it_is_web_worker_redis_and_postgresql_with_one_migration(services: dict[str, Service]) -> None:
    assert sorted(services) == ["migrate", "postgres", "redis", "web", "worker"]
    assert [service.name for service in start_order(services)][:2] == ["postgres", "redis"]


def test_nothing_runs_as_root(services: dict[str, Service]) -> None:
    users = {name: service.user.split(":")[0] for name, service in services.items()}
    assert users == {"postgres": "postgres", "redis": "redis", "migrate": "10001", "web": "10001", "worker": "10001"}


def test_the_image_has_the_user_the_services_run_as() -> None:
    assert re.search(r"^RUN groupadd --gid 10001 .*\n && useradd --uid 10001 ", DOCKERFILE, re.MULTILINE)
    assert re.findall(r"^USER (.+)$", DOCKERFILE, re.MULTILINE) == ["10001:10001"]


def test_whatever_stays_up_has_a_health_check_and_is_restarted(services: dict[str, Service]) -> None:
    staying = {name for name, service in services.items() if not service.runs_once}
    assert staying == {"postgres", "redis", "web", "worker"}
    assert {name for name, service in services.items() if service.health} == staying
    assert {services[name].settings["restart"] for name in staying} == {"unless-stopped"}


def test_web_and_worker_wait_for_the_migration_and_for_redis(services: dict[str, Service]) -> None:
    want = {"migrate": "service_completed_successfully", "redis": "service_healthy"}
    assert services["migrate"].depends_on == {"postgres": "service_healthy"}
    assert (services["web"].depends_on, services["worker"].depends_on) == (want, want)


def test_the_application_is_given_the_database_that_postgresql_is_told_to_make(services: dict[str, Service]) -> None:
    made = services["postgres"].environment
    for name in ("migrate", "web", "worker"):
        url = urlsplit(services[name].environment["DATABASE_URL"])
        got = (url.hostname, url.username, url.password, url.path)
        assert got == ("postgres", made["POSTGRES_USER"], made["POSTGRES_PASSWORD"], f"/{made['POSTGRES_DB']}")


def test_the_application_is_given_the_redis_service(services: dict[str, Service]) -> None:
    for name in ("migrate", "web", "worker"):
        assert urlsplit(services[name].environment["REDIS_URL"]).hostname == "redis"


def test_the_port_is_published_on_this_machine_only_unless_told_otherwise(services: dict[str, Service]) -> None:
    assert services["web"].ports == ["127.0.0.1:8000:8000"]
    told = read_compose({**VARIABLES, "HOST": "0.0.0.0", "PORT": "80"})
    assert told["web"].ports == ["0.0.0.0:80:8000"]
    assert {name for name, service in services.items() if service.ports} == {"web"}


def test_the_image_starts_the_web_process_by_itself(services: dict[str, Service]) -> None:
    commands = re.findall(r"^CMD (\[.+\])$", DOCKERFILE, re.MULTILINE)
    assert [json.loads(command) for command in commands] == [services["web"].command]


def test_what_the_image_copies_exists_and_passes_the_dockerignore() -> None:
    sources = {
        source.rstrip("/")
        for line in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.MULTILINE)
        for source in line.split()[:-1]
    }
    assert {"manage.py", "framework", "schedweb", "frontend", "requirements.lock"} <= sources
    assert [source for source in sorted(sources) if not (ROOT / source).exists()] == []
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert [source for source in sorted(sources) if not allowed & {source, source.split("/")[0]}] == []


def test_web_and_worker_share_the_folder_of_uploads_and_nothing_big_lands_in_memory(
    services: dict[str, Service],
) -> None:
    for name in ("web", "worker"):
        volume, _, place = services[name].settings["volumes"][0].partition(":")
        given = services[name].environment
        assert (volume, given["PLAYGROUND_DATA"], given["TMPDIR"]) == ("data", place, place)
