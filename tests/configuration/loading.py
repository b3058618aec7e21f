"""Configurations that are short: without their head, as an editor holds them."""

from __future__ import annotations

import textwrap

from framework.configuration import Loaded, load
from framework.plugins.registry import built_in_registry

REGISTRY = built_in_registry()
HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def loaded(body: str) -> Loaded:
    return load(HEAD + textwrap.dedent(body), REGISTRY)


def refused(body: str) -> Loaded:
    result = loaded(body)
    assert result.effective is None
    assert result.errors
    return result
