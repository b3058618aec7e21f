"""TLS as a cluster has it: one authority for the server and for its users."""

from __future__ import annotations

import ssl
from pathlib import Path

import trustme


class Authority:
    """A certificate authority of its own for each server; its files are in ``folder``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._authority = trustme.CA(organization_name="stand-in", key_type=trustme.KeyType.ECDSA)
        self.file = folder / "ca.crt"
        self._authority.cert_pem.write_to_path(self.file)

    def server_context(self, *names: str) -> ssl.SSLContext:
        """Asks for a client certificate, and goes on without one."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._authority.issue_cert(*names, key_type=trustme.KeyType.ECDSA).configure_cert(context)
        self._authority.configure_trust(context)
        context.verify_mode = ssl.CERT_OPTIONAL
        return context

    def client(self, name: str, group: str = "") -> tuple[Path, Path]:
        """Certificate and key files of a user: common name and organization, as kube-apiserver reads them."""
        issued = self._authority.issue_cert(
            "client.invalid", common_name=name, organization_name=group or None, key_type=trustme.KeyType.ECDSA
        )
        stem = name.replace(":", "-").replace("/", "-")
        certificate, key = self._folder / f"{stem}.crt", self._folder / f"{stem}.key"
        issued.cert_chain_pems[0].write_to_path(certificate)
        issued.private_key_pem.write_to_path(key)
        return certificate, key
