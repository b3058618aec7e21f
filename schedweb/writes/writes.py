"""A write and what became of it, as values: a journal can hold both."""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from framework.sentences import Sentence

Body = dict[str, Any]
Method = Literal["POST", "PATCH", "PUT", "DELETE"]
Purpose = Literal[
    "bind",
    "status",
    "disrupt",
    "evict",
    "volume",
    "node_of_claim",
    "protect_claim",
    "devices",
    "create_claim",
    "claim_of_pod",
    "unreserve",
    "deallocate",
    "unprotect_claim",
    "delete_claim",
    "pod_group",
    "event",
    "series",
    "leader",
    "lease",
]
JSON: Final = "application/json"
STRATEGIC: Final = "application/strategic-merge-patch+json"


class About(msgspec.Struct, frozen=True):
    """The object that a write changes."""

    namespace: str
    name: str
    uid: str = ""
    read: str = ""
    """The path under which it is read; "" where there is nothing to look at."""


class Write(msgspec.Struct, frozen=True):
    purpose: Purpose
    method: Method
    path: str
    body: Body
    about: About
    for_namespace: str
    """Of the pod for whose sake it is; "" for what is not done for a pod."""
    content_type: str = JSON


Result = Literal[
    "done",
    "bound_elsewhere",
    "gone",
    "replaced",
    "terminating",
    "gated",
    "conflict",
    "exists",
    "forbidden",
    "busy",
    "refused",
    "unreached",
    "unknown",
    "withheld",
]
"""
done: carried out, now or by an earlier try whose answer was lost.
bound_elsewhere: somebody else bound the pod, to ``node_name``.
gone: the object is not there. replaced: one of the same name with another uid is.
terminating, gated: the pod cannot be bound as it is.
conflict: the object changed since it was read. exists: an object of this name is there already.
forbidden: a right is missing. busy: 429 or 503 until patience ended; nothing was carried out.
refused: any other answer. unreached: no connection, so nothing was carried out.
unknown: the answer was lost, and nobody could be asked what became of it: the watch will tell.
withheld: not sent, or not sent again; ``message`` says why.
"""
NOT_AN_ERROR_OF_THE_POD: Final = frozenset(("done", "bound_elsewhere", "replaced", "unknown", "withheld"))


class Outcome(msgspec.Struct, frozen=True):
    result: Result
    status: int = 0
    """Of the last answer; 0 without one."""
    message: Sentence | str = ""
    """In the API server's words, as kube-scheduler repeats them; else why there is no answer."""
    node_name: str = ""
    """Where the pod is bound, as far as that is known."""
    name: str = ""
    """Of an object that was created."""
    uid: str = ""
    resource_version: str = ""
    """Of the object after the write, where the answer told it."""
    tries: int = 0
    looked: bool = False
    """Whether the object was looked at before this was said."""
    dry_run: bool = False

    @property
    def is_done(self) -> bool:
        return self.result == "done"

    @property
    def error(self) -> str | None:
        """What plugins are told; None of what was done."""
        return None if self.is_done else str(self.message) or self.result

    @property
    def fails_the_pod(self) -> bool:
        """Of a binding: whether the condition PodScheduled=False (SchedulerError) may be written on the pod. Not on
        one that runs, or of which nobody knows."""
        return self.result not in NOT_AN_ERROR_OF_THE_POD
