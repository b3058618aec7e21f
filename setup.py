"""How `pip install .` builds the package: with the user interface in it, where `make setup` has built that.

Node is not needed for it. A package that was built without it has all commands but `run`, which says so. The rest
stands in pyproject.toml.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

BUILT = Path("frontend", "dist")
WITHIN = Path("schedweb", "ui")
"""Where schedweb/environment.py looks for it in a package."""


class BuildWithUi(build_py):
    def run(self) -> None:
        super().run()
        # An editable installation is the clone itself.
        if (BUILT / "index.html").exists() and not self.editable_mode:
            target = Path(self.build_lib, WITHIN)
            # What an earlier build left there has other names.
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(BUILT, target)


setup(cmdclass={"build_py": BuildWithUi})
