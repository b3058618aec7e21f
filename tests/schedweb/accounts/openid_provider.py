"""A small OpenID Connect provider, as a process: real keys, signatures and PKCE, and lies that a test asks for.

It logs everybody in at once, as whom `POST /control` says: ``{"claims": {…}, "userinfo": {…}, "lie": "nonce"}``.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT_ID: Final = "playground"
CLIENT_SECRET: Final = "of the tests"
LIES: Final = (
    "nonce", "no_nonce", "audience", "issuer", "signature", "unsigned", "expired", "no_subject", "no_token", "not_json",
    "error", "somebody_else",
)  # fmt: skip


class Provider:
    def __init__(self, issuer: str) -> None:
        self.issuer = issuer
        self.key = RSAKey.generate_key(2048, {"kid": "1"})
        self.other_key = RSAKey.generate_key(2048, {"kid": "1"})
        self.codes: dict[str, dict[str, str]] = {}
        self.access_tokens: set[str] = set()
        self.claims: dict[str, Any] = {}
        self.userinfo: dict[str, Any] = {}
        self.lie = ""

    def metadata(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
            "jwks_uri": f"{self.issuer}/jwks",
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["S256"],
        }

    def authorize(self, asked: dict[str, str]) -> str:
        """Where the browser is sent."""
        assert asked["client_id"] == CLIENT_ID
        assert asked["response_type"] == "code"
        assert "openid" in asked["scope"].split()
        assert asked["code_challenge_method"] == "S256"
        if self.lie == "error":
            answer = {"error": "access_denied", "state": asked["state"]}
        else:
            code = secrets.token_urlsafe(16)
            self.codes[code] = asked
            answer = {"code": code, "state": asked["state"]}
        return f"{asked['redirect_uri']}?{urlencode(answer)}"

    def token(self, asked: dict[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        known = base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".replace(" ", "+").encode()).decode()
        plain = base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()
        if authorization not in (f"Basic {known}", f"Basic {plain}"):
            return 401, {"error": "invalid_client"}
        # A code works once.
        begun = self.codes.pop(asked.get("code", ""), None)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(asked.get("code_verifier", "").encode()).digest())
        if (
            begun is None
            or begun["redirect_uri"] != asked.get("redirect_uri")
            or begun["code_challenge"] != challenge.rstrip(b"=").decode()
        ):
            return 400, {"error": "invalid_grant"}
        access = secrets.token_urlsafe(16)
        self.access_tokens.add(access)
        answer = {"access_token": access, "token_type": "Bearer", "expires_in": 300}
        return 200, answer if self.lie == "no_token" else {**answer, "id_token": self.id_token(begun["nonce"])}

    def id_token(self, nonce: str) -> str:
        now = int(time.time())
        claims = {
            "iss": "https://evil.example.com" if self.lie == "issuer" else self.issuer,
            "aud": "somebody-else" if self.lie == "audience" else CLIENT_ID,
            "iat": now - 7200 if self.lie == "expired" else now,
            "exp": now - 3600 if self.lie == "expired" else now + 300,
            "nonce": "another" if self.lie == "nonce" else nonce,
            **self.claims,
        }
        if self.lie == "audience":
            claims["azp"] = CLIENT_ID
        if self.lie == "no_nonce":
            del claims["nonce"]
        if self.lie == "no_subject":
            del claims["sub"]
        if self.lie == "unsigned":
            return ".".join([*map(encoded, ({"alg": "none", "kid": "1"}, claims)), ""])
        key = self.other_key if self.lie == "signature" else self.key
        return jwt.encode({"alg": "RS256", "kid": "1"}, claims, key)


def encoded(part: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()


class Handler(BaseHTTPRequestHandler):
    provider: Provider

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        match parts.path:
            case "/.well-known/openid-configuration":
                self.answer(200, self.provider.metadata())
            case "/jwks":
                self.answer(200, {"keys": [self.provider.key.as_dict(private=False)]})
            case "/authorize":
                self.send_response(302)
                self.send_header("Location", self.provider.authorize(flat(parts.query)))
                self.end_headers()
            case "/userinfo":
                bearer = self.headers.get("Authorization", "").removeprefix("Bearer ")
                if bearer not in self.provider.access_tokens:
                    self.answer(401, {"error": "invalid_token"})
                    return
                subject = "mallory" if self.provider.lie == "somebody_else" else self.provider.claims.get("sub")
                self.answer(200, {"sub": subject, **self.provider.userinfo})
            case _:
                self.answer(404, {})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        if self.path == "/control":
            wanted = json.loads(body)
            self.provider.claims = wanted.get("claims", {})
            self.provider.userinfo = wanted.get("userinfo", {})
            self.provider.lie = wanted.get("lie", "")
            self.answer(200, {})
        elif self.provider.lie == "not_json":
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<html>Sorry</html>")
        else:
            self.answer(*self.provider.token(flat(body), self.headers.get("Authorization", "")))

    def answer(self, status: int, body: dict[str, Any]) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


def flat(query: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(query).items()}


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Handler.provider = Provider(f"http://127.0.0.1:{server.server_address[1]}")
    sys.stdout.write(f"{Handler.provider.issuer}\n")
    sys.stdout.flush()
    server.serve_forever()
