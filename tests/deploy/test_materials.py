"""What the image is made of: images by digest, and a list of all packages in it."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

from scripts.compose import read_compose
from scripts.node import command, find_node
from scripts.processes import ROOT

DOCKERFILE = (ROOT / "deploy/Dockerfile").read_text(encoding="utf-8")
SECRETS = {"POSTGRES_PASSWORD": "x", "SECRET_KEY": "y"}
TAGS = {
    "NODE_IMAGE": "node:22-slim",
    "PYTHON_IMAGE": "python:3.12-slim",
    "POSTGRES_IMAGE": "postgres:17-alpine",
    "REDIS_IMAGE": "redis:7.4-alpine",
}
PINNED = r"%s@sha256:[0-9a-f]{64}"
DPKG = Path("/var/lib/dpkg/status")
DIGEST = f"sha256:{'0123456789abcdef' * 4}"


def commands(beginning: str) -> list[str]:
    """RUN commands of the Dockerfile that begin so."""
    joined = DOCKERFILE.replace("\\\n", "")
    found = [line.removeprefix("RUN ") for line in joined.splitlines() if line.startswith(f"RUN {beginning}")]
    assert found, beginning
    return found


def checked(path: Path, version: SchemaVersion) -> dict[str, Any]:
    text = path.read_text(encoding="utf-8")
    assert JsonStrictValidator(version).validate_str(text) is None
    found: dict[str, Any] = json.loads(text)
    return found


def test_the_list_of_python_packages_is_the_lock(tmp_path: Path) -> None:
    """Made by the Dockerfile's own command."""
    [written] = commands("/sbom/bin/cyclonedx-py")
    target = tmp_path / "python.cdx.json"
    here = {
        "/sbom/bin/cyclonedx-py": str(Path(sys.executable).with_name("cyclonedx-py")),
        "/python.cdx.json": str(target),
        "/requirements.lock": str(ROOT / "requirements.lock"),
    }
    words = [here.get(word, word) for word in written.split()]
    subprocess.run(words, check=True, capture_output=True, cwd=tmp_path)
    listed = checked(target, SchemaVersion.V1_6)
    locked = re.findall(
        r"^([a-z0-9._-]+)(?:\[.*\])?==([^ ;\\]+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE
    )
    assert len(locked) > 50
    assert {(each["name"], each["version"]) for each in listed["components"]} == set(locked)
    assert all(each["externalReferences"][0]["hashes"] for each in listed["components"])


def test_the_list_of_the_ui_s_packages_is_the_lock(tmp_path: Path) -> None:
    [written] = commands("npm sbom")
    words, target = written.split(" > ")
    assert target == "/frontend.cdx.json"
    for name in ("package.json", "package-lock.json", ".npmrc"):
        (tmp_path / name).write_bytes((ROOT / "frontend" / name).read_bytes())
    node = find_node()
    assert node is not None
    environment = {**os.environ, "PATH": f"{node.directory}{os.pathsep}{os.environ['PATH']}"}
    made = subprocess.run(command(node, words.split()), cwd=tmp_path, env=environment, capture_output=True, check=True)
    (tmp_path / "bom.json").write_bytes(made.stdout)
    listed = checked(tmp_path / "bom.json", SchemaVersion.V1_5)
    packages = json.loads((ROOT / "frontend/package-lock.json").read_text())["packages"]
    locked = {
        (path.rpartition("node_modules/")[2], each["version"])
        for path, each in packages.items()
        if path and not each.get("optional")
    }
    named = {(each["name"], each["version"]) for each in listed["components"]}
    assert {name for name, _ in locked} >= {"react", "@mantine/core", "vite"}
    assert locked <= named


@pytest.mark.skipif(not DPKG.exists(), reason="NO LIST OF DEBIAN'S PACKAGES IS MADE: this machine has no dpkg")
def test_the_list_of_the_system_s_packages_is_what_dpkg_has_installed(tmp_path: Path) -> None:
    """Made of this machine by the Dockerfile's own command, and compared with dpkg's own file."""
    [written] = commands("/sbom/bin/python /system_packages.py")
    words, target = written.split(" > ")
    assert (words, target) == ("/sbom/bin/python /system_packages.py", "/system.cdx.json")
    twice = [
        subprocess.run([sys.executable, str(ROOT / "scripts/system_packages.py")], capture_output=True, check=True)
        for _ in range(2)
    ]
    assert twice[0].stdout == twice[1].stdout
    (tmp_path / "bom.json").write_bytes(twice[0].stdout)
    listed = checked(tmp_path / "bom.json", SchemaVersion.V1_6)["components"]
    by_dpkg = {
        (found["Package"], found["Version"], found["Architecture"])
        for found in (
            dict(re.findall(r"^([\w-]+): (.*)$", block, re.MULTILINE)) for block in DPKG.read_text().split("\n\n")
        )
        if found.get("Status", "").endswith(" installed")
    }
    addresses = [PackageURL.from_string(each["purl"]) for each in listed if each["type"] != "operating-system"]
    named = {(each.name, each.version, each.qualifiers["arch"]) for each in addresses if each.type == "deb"}
    assert len(by_dpkg) > 50
    assert named == by_dpkg
    assert [each.version for each in addresses if each.type == "generic"] == [platform.python_version()]
    assert [each["name"] for each in listed if each["type"] == "operating-system"]


def test_the_system_s_list_is_made_of_what_the_image_is_made_of() -> None:
    """Nothing is installed between the two."""
    assert re.findall(r"^FROM system(.*)$", DOCKERFILE, re.MULTILINE) == [" AS materials", ""]
    assert DOCKERFILE.count("apt-get install") == DOCKERFILE.split("FROM system")[0].count("apt-get install") == 1


def test_all_lists_are_in_the_image() -> None:
    assert "COPY --from=materials /system.cdx.json /python.cdx.json sbom/" in DOCKERFILE
    assert "COPY --from=ui /frontend.cdx.json sbom/" in DOCKERFILE


def test_every_image_is_named_by_its_digest() -> None:
    """The same one wherever it is named, and another one where the environment says so."""
    stages = re.findall(r"^FROM (\S+)(?: AS (\S+))?$", DOCKERFILE, re.MULTILINE)
    names = {stage for _, stage in stages}
    assert {image for image, _ in stages if image not in names} == {"${NODE_IMAGE}", "${PYTHON_IMAGE}"}
    defaults = dict(re.findall(r"^ARG (\w+_IMAGE)=(\S+)$", DOCKERFILE, re.MULTILINE))
    images = defaults | {
        f"{name.upper()}_IMAGE": image
        for name in ("postgres", "redis")
        for image in re.findall(rf"image: ({name}:\S+)", (ROOT / f"deploy/kubernetes/base/{name}.yaml").read_text())
    }
    assert images.keys() == TAGS.keys()
    for name, tag in TAGS.items():
        assert re.fullmatch(PINNED % re.escape(tag), images[name])
    others = {name: f"{tag}@{DIGEST}" for name, tag in TAGS.items()}
    for given, wanted in (({}, images), (others, others)):
        services = read_compose({**SECRETS, **given})
        for name in ("POSTGRES", "REDIS"):
            assert services[name.lower()].settings["image"] == wanted[f"{name}_IMAGE"]
        arguments = services["web"].settings["build"]["args"]
        assert arguments == {name: wanted[name] for name in ("NODE_IMAGE", "PYTHON_IMAGE")}


@pytest.mark.parametrize(("answer", "status"), [(DIGEST, 0), ("", 1), ("sha256:short", 1)])
def test_digests_are_printed_for_the_environment_of_compose(tmp_path: Path, answer: str, status: int) -> None:
    """With a docker that answers so: there may be none here, and no way to its registry."""
    docker = tmp_path / "docker"
    docker.write_text(f'#!/bin/sh\n[ "$1 $2 $3" = "buildx imagetools inspect" ] && echo "{answer}"\n')
    docker.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(
        [str(ROOT / "deploy/pin_images.sh")], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == status
    if status == 0:
        assert dict(line.split("=", 1) for line in done.stdout.splitlines()) == {
            name: f"{image}@{DIGEST}" for name, image in TAGS.items()
        }
    else:
        assert (done.stdout, "No digest of node:22-slim" in done.stderr) == ("", True)
