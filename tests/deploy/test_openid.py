"""Login by OpenID Connect at a started product, with a provider beside it: as a browser goes, by redirects."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.processes import Playground
from scripts.site import Site
from tests.first_start import FirstStart
from tests.schedweb.accounts.openid_provider import CLIENT_ID, CLIENT_SECRET
from tests.schedweb.accounts.test_openid import ProviderProcess


@pytest.fixture
def provider() -> Iterator[ProviderProcess]:
    started = ProviderProcess()
    try:
        yield started
    finally:
        started.stop()


def test_from_the_login_page_to_the_api(provider: ProviderProcess, tmp_path: Path, first_start: FirstStart) -> None:
    playground = Playground(
        first_start.into(tmp_path),
        OIDC_ISSUER=provider.issuer,
        OIDC_CLIENT_ID=CLIENT_ID,
        OIDC_CLIENT_SECRET=CLIENT_SECRET,
        OIDC_NAME="Team login",
        OIDC_ROLES="sre=operator",
    )
    try:
        owner = Site(playground.origin)
        owner.open_link(playground.link)
        provider.says({"sub": "subject-1", "preferred_username": "mira", "roles": ["sre"]})
        mira = Site(playground.origin)
        assert "Log in with Team login" in str(mira.ask("GET", "/login").body)
        assert mira.ask("GET", "/login/openid?next=/runs").status == 200
        assert mira.get("/api/v1/me/")["role"] == "operator"
        told = owner.get("/api/v1/audit/?action=login&who=mira")["results"]
        assert [(each["address"], each["details"]) for each in told] == [("127.0.0.1", {"how": "openid"})]
        provider.says({"sub": "subject-2", "preferred_username": "eve", "roles": []})
        eve = Site(playground.origin)
        assert eve.ask("GET", "/login/openid").status == 401
        assert eve.ask("GET", "/api/v1/me/").status == 401
        assert CLIENT_SECRET not in playground.process.output()
    finally:
        playground.process.stop()
