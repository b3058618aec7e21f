"""Older files of kube-scheduler, converted to v1: Policy, earlier KubeSchedulerConfigurations, command lines.

``convert`` gives the v1 text and a ``Finding`` for each thing that was carried over, changed or dropped; nothing goes
without one. ``is_older`` tells whether a text that ``load`` refuses is one of these. Pure, like the layer around it.
"""

from __future__ import annotations

from framework.configuration.older.conversion import Conversion, convert
from framework.configuration.older.findings import OUTCOMES, Finding, NotOlder, Outcome
from framework.configuration.older.recognition import is_older

__all__ = ["OUTCOMES", "Conversion", "Finding", "NotOlder", "Outcome", "convert", "is_older"]
