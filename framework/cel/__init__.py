"""CEL, the expression language of device selectors, as kube-scheduler evaluates it (docs/decisions/0008-cel.md).

``selector.py`` is what is used from outside. An expression goes through ``check.py`` (the library parses it and checks
its types), ``syntax.py`` (the checked expression as a tree) and ``program.py`` (the tree as closures); what these call
is in ``operators.py`` and ``functions.py``, what it may cost in ``costs.py``.
"""

from __future__ import annotations

from framework.cel.errors import CelError
from framework.cel.selector import AttributeValue, CelDevice, compile_selector
from framework.cel.values import Version

__all__ = ["AttributeValue", "CelDevice", "CelError", "Version", "compile_selector"]
