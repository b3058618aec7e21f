"""DefaultBinder: tells the API server which node the pod goes to."""

from __future__ import annotations

from typing import ClassVar

from framework.interface import BindPlugin, CycleState, Status
from framework.objects import Pod
from framework.sentences import noted


class DefaultBinder(BindPlugin):
    name: ClassVar[str] = "DefaultBinder"
    description: ClassVar[str] = noted("Binds the pod to its node through the API server.")

    def bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        error = self.handle.api.bind(pod, node_name)
        return None if error is None else Status.as_error(error)
