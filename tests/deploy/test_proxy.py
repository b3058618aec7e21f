"""The product behind TLS, with the proxy and the configuration that deploy/README.md names."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from http.client import HTTPMessage
from pathlib import Path
from typing import Final

import pytest
import websockets

from scripts.debian import NGINX
from scripts.processes import ROOT, Playground, Process, bare_environment, free_port
from scripts.site import Site, eventually
from tests.first_start import FirstStart

FOUND: Final = NGINX.find()
pytestmark = pytest.mark.skipif(FOUND is None, reason=NGINX.skipped)


@dataclass
class Proxied:
    origin: str
    playground: Playground
    folder: Path
    certificate: Path

    @property
    def tls(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.certificate))

    def site(self) -> Site:
        return Site(self.origin, self.tls)

    def headers(self, path: str) -> HTTPMessage:
        with urllib.request.urlopen(self.origin + path, context=self.tls, timeout=30) as answer:
            headers: HTTPMessage = answer.headers
            return headers

    def log(self) -> str:
        return (self.folder / "access.log").read_text()

    def all_logs(self) -> str:
        """Of the proxy and of the product."""
        proxys = [(self.folder / name).read_text() for name in ("access.log", "error.log", "nginx.log")]
        return "".join(proxys) + self.playground.process.output()


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory, first_start: FirstStart) -> Iterator[Proxied]:
    folder = first_start.into(tmp_path_factory.mktemp("proxied"))
    port = free_port()
    origin = f"https://localhost:{port}"
    playground = Playground(folder, PUBLIC_URL=origin, TRUSTED_PROXIES="127.0.0.1")
    certificate = make_certificate(folder)
    proxy = start_proxy(folder, port, [playground.port], certificate)
    found = Proxied(origin, playground, folder, certificate)
    try:
        playground.printed()
        eventually("the proxy listens", lambda: (proxy.is_running() and answers(found)) or None)
        yield found
    finally:
        proxy.stop()
        playground.process.stop()


def answers(proxied: Proxied) -> bool:
    try:
        return proxied.headers("/healthz") is not None
    except OSError:
        return False


def make_certificate(folder: Path) -> Path:
    certificate = folder / "playground.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(folder / "playground.key")]
    subprocess.run([*command, "-out", str(certificate)], check=True, capture_output=True)
    return certificate


def start_proxy(folder: Path, port: int, upstreams: list[int], certificate: Path) -> Process:
    """With the file as it is deployed, but for where things are on this machine."""
    text = (ROOT / "deploy" / "nginx.conf").read_text()
    for written, here in {
        "listen 443 ssl;": f"listen 127.0.0.1:{port} ssl;",
        "playground.example.com": "localhost",
        "/etc/ssl/playground.pem": str(certificate),
        "/etc/ssl/playground.key": str(folder / "playground.key"),
        "/var/log/nginx/playground.log": str(folder / "access.log"),
        "/var/log/nginx/playground-error.log": str(folder / "error.log"),
        "server 127.0.0.1:8000 max_fails=0;": "\n".join(f"server 127.0.0.1:{each} max_fails=0;" for each in upstreams),
    }.items():
        assert written in text
        text = text.replace(written, here)
    temporary = "".join(
        f"{name}_temp_path {folder}/{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    main = folder / "nginx.conf"
    main.write_text(f"daemon off;\npid {folder}/nginx.pid;\nevents {{}}\nhttp {{\n{temporary}{text}\n}}\n")
    assert FOUND is not None
    command = [FOUND, "-c", str(main), "-p", str(folder), "-e", "stderr"]
    return Process("nginx", command, bare_environment(), folder / "nginx.log")


def test_links_login_and_writes_work_by_https(proxied: Proxied) -> None:
    site = proxied.site()
    link = proxied.playground.another_link()
    assert link.startswith(f"{proxied.origin}/login?token=")
    assert site.open_link(link)["role"] == "admin"
    cookies = {cookie.name: cookie for cookie in site.jar}
    assert cookies["playground_session"].secure
    assert cookies["playground_csrf"].secure
    run = start_run(site)
    site.command(run, {"type": "play", "speed": "max"})
    site.run_until(run, "it has ended", lambda seen: seen["state"] in ("finished", "waiting_for_person"))
    assert asyncio.run(greeted(proxied, site)) == "hello"
    assert link.partition("token=")[2] not in proxied.log() + proxied.playground.process.output().replace(link, "")
    assert '"GET /login" 302' in proxied.log()


def start_run(site: Site) -> str:
    snapshot = site.get("/api/v1/snapshots/?limit=1")["results"][0]["id"]
    version = site.get("/api/v1/configurations/?limit=1")["results"][0]["latest"]["id"]
    body = {"snapshot": snapshot, "configuration_version": version, "seed": 1, "paused": True}
    run: str = site.post("/api/v1/runs/", body)["id"]
    return run


async def greeted(proxied: Proxied, site: Site) -> str:
    cookie = "; ".join(f"{name}={value}" for name, value in site.cookies().items())
    async with websockets.connect(
        f"{proxied.origin.replace('https', 'wss')}/ws/",
        ssl=proxied.tls,
        origin=websockets.Origin(proxied.origin),
        additional_headers={"Cookie": cookie},
        proxy=None,
    ) as socket:
        kind: str = json.loads(await socket.recv())["type"]
        return kind


def test_browsers_are_told_to_come_by_https_only(proxied: Proxied) -> None:
    headers = proxied.headers("/login")
    assert headers["Strict-Transport-Security"] == "max-age=31536000"
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_each_of_the_product_s_policies_arrives_once(proxied: Proxied) -> None:
    headers = proxied.headers("/login")
    [policy] = headers.get_all("Content-Security-Policy") or []
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert re.search(r"style-src 'self' 'nonce-[^']+'", policy)
    assert policy != proxied.headers("/login")["Content-Security-Policy"], "every answer has a nonce of its own"
    assert [len(headers.get_all(name) or []) for name in ("Permissions-Policy", "Referrer-Policy")] == [1, 1]
    assert "camera=()" in headers["Permissions-Policy"]
    assert headers["Referrer-Policy"] == "same-origin"


def test_a_share_link_works_and_its_token_is_in_no_log(proxied: Proxied) -> None:
    site = proxied.site()
    site.open_link(proxied.playground.another_link())
    run = start_run(site)
    address: str = site.post(f"/api/v1/runs/{run}/share-links/", {"name": "a guest"})["path"]
    token = re.sub(r".*/share/", "", address).strip("/")
    visitor = proxied.site()
    with visitor.opener.open(f"{proxied.origin}/share/{token}", timeout=30) as answer:
        assert answer.url == f"{proxied.origin}/runs/{run}"
    assert visitor.get(f"/api/v1/runs/{run}/")["id"] == run
    assert '"GET /share/-" 302' in proxied.log()
    # What is refused is logged by Django with its address.
    for method in ("POST", "PUT", "HEAD", "DELETE"):
        tried = urllib.request.Request(f"{proxied.origin}/share/{token}", method=method, data=None)
        with contextlib.suppress(urllib.error.HTTPError):
            visitor.opener.open(tried, timeout=30).close()
    [link] = [each["id"] for each in site.get(f"/api/v1/runs/{run}/share-links/")]
    site.ask("DELETE", f"/api/v1/runs/{run}/share-links/{link}/")
    with pytest.raises(urllib.error.HTTPError) as gone:
        visitor.opener.open(f"{proxied.origin}/share/{token}", timeout=30)
    assert gone.value.code == 410
    assert "Gone: /share/-" in proxied.playground.process.output()
    assert token not in proxied.all_logs()


def test_a_proxy_without_the_product_behind_it_logs_no_token(proxied: Proxied) -> None:
    folder = proxied.folder / "alone"
    folder.mkdir()
    (folder / "playground.key").write_bytes((proxied.folder / "playground.key").read_bytes())
    port = free_port()
    proxy = start_proxy(folder, port, [free_port()], proxied.certificate)
    alone = Proxied(f"https://localhost:{port}", proxied.playground, folder, proxied.certificate)
    try:
        for path in ("/share/abcdefgh", "/login?token=abcdefgh"):
            assert eventually("it answers", partial(status_of, alone, path)) == 502
    finally:
        proxy.stop()
    assert '"GET /share/-" 502' in alone.log()
    assert "abcdefgh" not in alone.all_logs()


def status_of(proxied: Proxied, path: str) -> int | None:
    """None while nobody listens."""
    try:
        proxied.headers(path)
    except urllib.error.HTTPError as error:
        with error:
            return error.code
    except OSError:
        return None
    return 200


def test_who_claims_another_address_is_not_believed(proxied: Proxied) -> None:
    """Three tries are free, the fourth has to wait, whatever address is claimed."""
    statuses = [try_login(proxied, claimed) for claimed in ("203.0.113.1", "203.0.113.2", "203.0.113.3")]
    statuses += [try_login(proxied, f"203.0.113.{number}") for number in range(4, 8)]
    assert 429 in statuses


def try_login(proxied: Proxied, claimed: str) -> int:
    browser = proxied.site()
    with browser.opener.open(f"{proxied.origin}/login", timeout=30) as answer:
        page = answer.read().decode()
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
    assert token is not None
    form = f"csrfmiddlewaretoken={token[1]}&username=somebody&password=wrong".encode()
    request = urllib.request.Request(f"{proxied.origin}/login", data=form)
    request.add_header("Origin", proxied.origin)
    request.add_header("Referer", f"{proxied.origin}/login")
    request.add_header("X-Forwarded-For", claimed)
    try:
        with browser.opener.open(request, timeout=30) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_django_s_own_check_for_deployments_finds_nothing(proxied: Proxied) -> None:
    environment = {**proxied.playground.environment, "PUBLIC_URL": "https://playground.example.com"}
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    checked = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")
