"""Lists what is below the server's own packages, as a CycloneDX bill of materials on the standard output: the packages
of Debian that dpkg has installed here, and the Python that runs this. deploy/Dockerfile runs it in the image.

Two runs on equal packages print the same bytes.
"""

from __future__ import annotations

import platform
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.contact import OrganizationalEntity
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from packageurl import PackageURL

FIELDS: Final = (
    "db:Status-Status", "Package", "Version", "Architecture", "source:Package", "source:Version", "Maintainer",
)  # fmt: skip


@dataclass(frozen=True)
class Package:
    name: str
    version: str
    architecture: str
    source: str
    """What Debian's security advisories are about."""
    source_version: str
    maintainer: str


def installed() -> Iterator[Package]:
    """What dpkg's status says. Packages of which only configuration is left are left out. Raises OSError where there is
    no dpkg."""
    form = "\\t".join(f"${{{field}}}" for field in FIELDS) + "\\n"
    told = subprocess.run(["dpkg-query", "--show", "--showformat", form], capture_output=True, text=True, check=True)
    for line in told.stdout.splitlines():
        status, *values = line.split("\t")
        if status == "installed":
            yield Package(*values)


def component_of(package: Package, distribution: str) -> Component:
    """``distribution``: as os-release has it, "debian-12"."""
    vendor = distribution.partition("-")[0]
    qualifiers = {"arch": package.architecture, "distro": distribution}
    if (package.source, package.source_version) != (package.name, package.version):
        # As scanners have it, to look advisories up by.
        qualifiers["upstream"] = f"{package.source}@{package.source_version}"
    url = PackageURL("deb", vendor, package.name, package.version, qualifiers)
    return Component(
        type=ComponentType.LIBRARY,
        name=package.name,
        version=package.version,
        bom_ref=url.to_string(),
        purl=url,
        supplier=OrganizationalEntity(name=package.maintainer),
    )


def interpreter() -> Component:
    """It may be no package of Debian: the image's is built from source."""
    url = PackageURL("generic", None, "python", platform.python_version())
    return Component(
        type=ComponentType.APPLICATION, name="python", version=url.version, bom_ref=url.to_string(), purl=url
    )


def system() -> Component:
    release = platform.freedesktop_os_release()
    return Component(
        type=ComponentType.OPERATING_SYSTEM,
        name=release["ID"],
        version=release.get("VERSION_ID"),
        description=release.get("PRETTY_NAME"),
        bom_ref="operating-system",
    )


def bill() -> str:
    below = system()
    distribution = "-".join(filter(None, (below.name, below.version)))
    bom = Bom(components=[below, interpreter(), *(component_of(each, distribution) for each in installed())])
    # The library makes both anew each time; the format needs neither.
    bom.serial_number = None  # type: ignore[assignment]
    bom.metadata.timestamp = None  # type: ignore[assignment]
    text: str = make_outputter(bom, OutputFormat.JSON, SchemaVersion.V1_6).output_as_string(indent=2)
    return text


if __name__ == "__main__":
    sys.stdout.write(bill() + "\n")
