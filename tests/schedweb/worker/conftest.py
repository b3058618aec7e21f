"""Workers play the runs that tests of runs make."""

from __future__ import annotations

from tests.schedweb.runs.conftest import _short_waits as _short_waits
from tests.schedweb.runs.conftest import client as client
from tests.schedweb.runs.conftest import game as game
from tests.schedweb.runs.conftest import in_background as in_background
from tests.schedweb.runs.conftest import operator as operator
from tests.schedweb.runs.conftest import snapshot as snapshot
from tests.schedweb.runs.conftest import version as version
