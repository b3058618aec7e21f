"""What `kubectl kustomize` makes of deploy/kubernetes, and whether it is what the API of Kubernetes takes."""

from __future__ import annotations

import subprocess
from functools import lru_cache
from typing import Any, Final

import pytest
import yaml
from kubernetes.client import models
from pydantic import ValidationError

from scripts.debian import KUBECTL
from scripts.processes import ROOT

FOLDER: Final = ROOT / "deploy" / "kubernetes"
Manifest = dict[str, Any]
API_VERSIONS: Final = (
    "v1",
    "apps/v1",
    "batch/v1",
    "networking.k8s.io/v1",
    "policy/v1",
    "rbac.authorization.k8s.io/v1",
)


@lru_cache
def built(folder: str) -> tuple[Manifest, ...]:
    """``folder``: below deploy/kubernetes."""
    program = KUBECTL.find()
    if program is None:
        pytest.skip(KUBECTL.skipped)
    made = subprocess.run(
        [program, "kustomize", str(FOLDER / folder)], capture_output=True, text=True, timeout=120, check=False
    )
    assert made.returncode == 0, made.stderr
    return tuple(each for each in yaml.safe_load_all(made.stdout) if each)


def of_kind(manifests: tuple[Manifest, ...], *kinds: str) -> list[Manifest]:
    return [each for each in manifests if each["kind"] in kinds]


def pod_templates(manifests: tuple[Manifest, ...]) -> dict[str, Manifest]:
    """By the name of what makes the pods."""
    made = of_kind(manifests, "Deployment", "StatefulSet", "Job")
    return {each["metadata"]["name"]: each["spec"]["template"] for each in made}


def containers(template: Manifest) -> list[Manifest]:
    spec = template["spec"]
    return [*spec.get("initContainers", []), *spec["containers"]]


def faults(manifest: Manifest) -> list[str]:
    """What of it the schema does not know, lacks or has otherwise, by path. The schema are the kubernetes client's
    models, which refuse unknown keys and other types (docs/decisions/0028)."""
    name = f"V1{manifest['kind']}"
    if manifest["apiVersion"] not in API_VERSIONS or not hasattr(models, name):
        return [f"there is no {manifest['kind']} in {manifest['apiVersion']}"]
    try:
        read = getattr(models, name).model_validate(manifest)
    except ValidationError as error:
        return [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()]
    # The models also take Python's names for keys.
    return [] if said(read.to_dict(serialize=True)) == manifest else ["it is not read as it is written"]


def said(node: Any) -> Any:
    """Without what was left out."""
    if isinstance(node, dict):
        return {key: said(each) for key, each in node.items() if each is not None}
    return [said(each) for each in node] if isinstance(node, list) else node
