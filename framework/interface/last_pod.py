"""LastPod: what was worked out for a pod, while the same pod is asked about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from framework.objects import Pod

T = TypeVar("T")


class LastPod(Generic[T]):
    """``fragment``, PreFilter and plans ask a pod the same, one after another. Not kept over a checkpoint."""

    __slots__ = ("_make", "_pod", "_value")

    def __init__(self, make: Callable[[Pod], T]) -> None:
        self._make = make
        self._pod: Pod | None = None
        self._value: Any = None

    def __call__(self, pod: Pod) -> T:
        if pod is not self._pod:
            self._value = self._make(pod)
            self._pod = pod
        value: T = self._value
        return value

    def __reduce__(self) -> tuple[Any, ...]:
        return LastPod, (self._make,)
