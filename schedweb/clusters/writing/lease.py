"""Exactly one scheduler: a Lease as kube-scheduler holds it (client-go tools/leaderelection).

Held for 15 s, renewed every 2 s with the version of the last answer; who could not renew it for 10 s stops writing, 5 s
before anybody else may take it. Whether another's has expired is told by this machine's clock alone, from when it was
seen to change. A renewal whose answer was lost is looked at before the next: the lease says whose it is.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from typing import Any, Final

import msgspec

from framework.reports.events import micro_time
from framework.sentences import Words
from schedweb.clusters.reading.problems import ClusterProblem, refused
from schedweb.clusters.writing.access import WritingAccess
from schedweb.writes.writes import JSON

DURATION: Final = 15
"""Seconds."""
RENEW_DEADLINE: Final = 10.0
RETRY: Final = 2.0
RENEWAL_SECONDS: Final = 5.0
"""For an answer, as the server is asked to take no longer."""
RELEASE_SECONDS: Final = 2.0
"""For each answer when it is given back: somebody waits for the end, and nobody for the Lease longer than it lasts."""
JITTER: Final = 1.2
CONFLICT: Final = 409
_LEASES: Final = "/apis/coordination.k8s.io/v1/namespaces/{}/leases"
_QUERY: Final = {"timeout": "5s"}
Lease = dict[str, Any]


class LeaseHolder:
    """``try_once`` is for one thread; ``is_held`` may be asked by all."""

    def __init__(
        self,
        access: WritingAccess,
        *,
        namespace: str,
        name: str,
        identity: str,
        on_acquired: Callable[[Lease], None] = lambda lease: None,
        on_lost: Callable[[], None] = lambda: None,
        on_problem: Callable[[Words], None] = lambda why: None,
    ) -> None:
        """``identity``: of this process alone, also among those of this machine. ``on_problem`` is told each new reason
        why it could not be taken or renewed; "" when there is none any more."""
        self.namespace, self.name, self.identity = namespace, name, identity
        self.problem: Words = ""
        """Why the last try failed, where nobody else has it."""
        self._access, self._on_acquired, self._on_lost, self._on_problem = access, on_acquired, on_lost, on_problem
        self._collection = _LEASES.format(namespace)
        self._lease: Lease | None = None
        """As it was seen last, whole: what is PUT has lost nothing."""
        self._seen_at = 0.0
        """When its spec was seen to change."""
        self._renewed_at: float | None = None
        """When the renewal that succeeded last was sent; None while it is not ours."""
        self._refusal: Words = ""
        """What was answered to a write of this try that was not carried out."""
        self._is_certain = False
        """Whether the version is that of the last answer, so that nothing has to be read before a renewal."""
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def holder(self) -> str:
        """Whose it was when it was seen last."""
        return "" if self._lease is None else str(_spec(self._lease).get("holderIdentity") or "")

    @property
    def seen(self) -> dict[str, Any]:
        """Its spec when it was seen last."""
        return {} if self._lease is None else _spec(self._lease)

    def is_held(self) -> bool:
        renewed = self._renewed_at
        return renewed is not None and time.monotonic() < renewed + RENEW_DEADLINE

    # Its thread

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="lease", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """The lease is given back, so that another need not wait for its end; not where the last try was in vain."""
        self._wake.set()
        if self._thread is not None:
            self._thread.join(RENEWAL_SECONDS)
            if self._thread.is_alive():
                return
        if not self.problem:
            self.release()

    def _run(self) -> None:
        was_held = False
        while not self._wake.is_set():
            self.try_once()
            if self.is_held() and not was_held:
                was_held = True
                assert self._lease is not None
                self._on_acquired(self._lease)
            elif was_held and not self.is_held():
                # As kube-scheduler does, which exits: what was decided meanwhile may be out of date.
                self._renewed_at = None
                self._on_lost()
                return
            self._wake.wait(RETRY if was_held else RETRY * (1 + JITTER * random.random()))

    # One try

    def try_once(self) -> bool:
        """Acquires or renews it; whether that succeeded."""
        why: Words = ""
        try:
            done, why = self._try(), self._refusal
        except ClusterProblem as problem:
            # Not sent, or its answer was lost: read before the next.
            self._is_certain = done = False
            why = problem.words
        self._refusal = ""
        if str(why) != str(self.problem):
            self.problem = why
            self._on_problem(why)
        return done

    def release(self) -> bool:
        if self._renewed_at is None:
            return False
        self._renewed_at = None
        try:
            found = self._read(RELEASE_SECONDS)
            if found is None or _spec(found).get("holderIdentity") != self.identity:
                return False
            now = _now()
            spec = {**_spec(found), "holderIdentity": "", "leaseDurationSeconds": 1, "acquireTime": now}
            return self._put(found, {**spec, "renewTime": now}, RELEASE_SECONDS)
        except ClusterProblem:
            return False

    def _try(self) -> bool:
        began = time.monotonic()
        if self._is_certain and self._lease is not None and self.holder == self.identity:
            if self._renew(self._lease, began):
                return True
            self._is_certain = False
        found = self._read()
        if found is None:
            return self._create(began)
        self._see(found)
        if self.holder and self.holder != self.identity:
            self._renewed_at = None
            lasts = float(_spec(found).get("leaseDurationSeconds") or DURATION)
            if time.monotonic() < self._seen_at + lasts:
                self._refusal = ""
                return False
        return self._renew(found, time.monotonic())

    def _renew(self, lease: Lease, began: float) -> bool:
        spec = _spec(lease)
        now = _now()
        ours = spec.get("holderIdentity") == self.identity
        transitions = int(spec.get("leaseTransitions") or 0)
        renewed = {
            **spec,
            "holderIdentity": self.identity,
            "leaseDurationSeconds": DURATION,
            "acquireTime": spec.get("acquireTime") if ours else now,
            "renewTime": now,
            "leaseTransitions": transitions if ours else transitions + 1,
        }
        if not self._put(lease, renewed):
            return False
        self._renewed_at = began
        return True

    def _create(self, began: float) -> bool:
        now = _now()
        body = {
            "kind": "Lease",
            "apiVersion": "coordination.k8s.io/v1",
            "metadata": {"name": self.name, "namespace": self.namespace},
            "spec": {
                "holderIdentity": self.identity,
                "leaseDurationSeconds": DURATION,
                "acquireTime": now,
                "renewTime": now,
                "leaseTransitions": 0,
            },
        }
        if not self._written("POST", self._collection, body):
            return False
        self._renewed_at = began
        return True

    def _put(self, lease: Lease, spec: dict[str, Any], seconds: float = RENEWAL_SECONDS) -> bool:
        return self._written("PUT", f"{self._collection}/{self.name}", {**lease, "spec": spec}, seconds)

    def _written(self, method: str, path: str, body: Lease, seconds: float = RENEWAL_SECONDS) -> bool:
        answer = self._access.exchange(method, path, _QUERY, msgspec.json.encode(body), JSON, seconds)
        if answer.status not in (200, 201):
            # 409: somebody else was quicker.
            if answer.status != CONFLICT:
                self._refusal = refused(self._access.server, answer.status, answer.body, answer.headers).words
            return False
        self._refusal = ""
        self._see(msgspec.json.decode(answer.body))
        self._is_certain = True
        return True

    def _read(self, seconds: float = RENEWAL_SECONDS) -> Lease | None:
        address = f"{self._collection}/{self.name}"
        try:
            found: Lease = msgspec.json.decode(self._access.read(address, _QUERY, read_seconds=seconds))
        except ClusterProblem as problem:
            if problem.code == "absent":
                return None
            raise
        return found

    def _see(self, lease: Lease) -> None:
        if self._lease is None or _spec(self._lease) != _spec(lease):
            self._seen_at = time.monotonic()
        self._lease = lease


def _spec(lease: Lease) -> dict[str, Any]:
    spec: dict[str, Any] = lease.get("spec") or {}
    return spec


def _now() -> str:
    return micro_time(time.time_ns())
