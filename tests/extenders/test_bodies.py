"""What webhooks are sent of a pod's volumes."""

from __future__ import annotations

from typing import Any, Final

from framework.extenders.bodies import pod_json
from framework.objects import Pod
from framework.objects.decode import decode_manifest
from framework.reading.redaction import redacted

VOLUMES: Final[list[dict[str, Any]]] = [
    {"name": "cache", "emptyDir": {"medium": "Memory", "sizeLimit": "1024Mi"}},
    {"name": "plain", "emptyDir": {}},
    {"name": "logs", "hostPath": {"path": "/var/log"}},
    {"name": "run", "hostPath": {"path": "/run", "type": "Directory"}},
    {"name": "shared", "nfs": {"server": "files", "path": "/data", "readOnly": True}},
    {"name": "keys", "secret": {"secretName": "keys"}},
    {"name": "token", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}},
    {"name": "old", "flexVolume": {"driver": "d", "options": {"password": "secret"}}},
]


def sent(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    pod = decode_manifest(manifest)
    assert isinstance(pod, Pod)
    volumes: list[dict[str, Any]] = pod_json(pod)["spec"]["volumes"]
    return volumes


def test_volumes_are_sent_as_they_came_in_with_the_defaults_of_the_api_server() -> None:
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"volumes": VOLUMES}}
    sealed = redacted(manifest, seal=lambda text: "0123456789abcdef")
    assert "sealed:" in str(sealed)
    for given, options in ((manifest, {"options": {"password": "secret"}}), (redacted(manifest), {}), (sealed, {})):
        assert sent(given) == [
            {"name": "cache", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}},
            {"name": "plain", "emptyDir": {}},
            {"name": "logs", "hostPath": {"path": "/var/log", "type": ""}},
            {"name": "run", "hostPath": {"path": "/run", "type": "Directory"}},
            {"name": "shared", "nfs": {"server": "files", "path": "/data", "readOnly": True}},
            {"name": "keys"},
            {
                "name": "token",
                "projected": {
                    "defaultMode": 420,
                    "sources": [{"serviceAccountToken": {"path": "token", "expirationSeconds": 3600}}],
                },
            },
            {"name": "old", "flexVolume": {"driver": "d"} | options},
        ]


def test_a_limit_that_is_no_quantity_is_sent_as_it_is() -> None:
    volume = {"name": "cache", "emptyDir": {"sizeLimit": "much"}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"volumes": [volume]}}
    assert sent(pod) == [volume]
