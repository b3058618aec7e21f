"""Flags of kube-scheduler, of any version: what of them is configuration, and what stays with the process.

Upstream: cmd/kube-scheduler/app/options/options.go, deprecated.go; the flags of the API server's libraries (serving,
authentication) and of logging are told by their names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from framework.configuration.durations import InvalidDuration, parse_duration
from framework.configuration.edits import SetArgs, SetFeatureGate
from framework.configuration.feature_gates import GATES, FeatureGatesError, feature_gates, gates_line, parse_flag
from framework.configuration.older.command_lines import Flag
from framework.configuration.older.draft import Draft
from framework.configuration.older.findings import Finding, Findings, Outcome
from framework.configuration.older.versions import tell_provider
from framework.sentences import Words, sentence

_POLICY: Final = (
    "--policy-config-file",
    "--policy-configmap",
    "--policy-configmap-namespace",
    "--use-legacy-policy-config",
)
_OF_OLD_DEFAULTS: Final = (
    *_POLICY,
    "--algorithm-provider",
    "--hard-pod-affinity-symmetric-weight",
    "--scheduler-name",
)
"""Kubernetes 1.22 was the last with any of these; its default plugins are meant."""

_HARD: Final = "hardPodAffinitySymmetricWeight"

_DURATION, _BOOLEAN, _NUMBER, _FRACTION, _TEXT = "duration", "boolean", "number", "fraction", "text"
_FIELDS: Final[dict[str, tuple[tuple[str, ...], str]]] = {
    "--leader-elect": (("leaderElection", "leaderElect"), _BOOLEAN),
    "--leader-elect-lease-duration": (("leaderElection", "leaseDuration"), _DURATION),
    "--leader-elect-renew-deadline": (("leaderElection", "renewDeadline"), _DURATION),
    "--leader-elect-retry-period": (("leaderElection", "retryPeriod"), _DURATION),
    "--leader-elect-resource-lock": (("leaderElection", "resourceLock"), _TEXT),
    "--leader-elect-resource-name": (("leaderElection", "resourceName"), _TEXT),
    "--leader-elect-resource-namespace": (("leaderElection", "resourceNamespace"), _TEXT),
}
"""Count beside a file, too."""

_DEPRECATED: Final[dict[str, tuple[tuple[str, ...], str]]] = {
    "--lock-object-name": (("leaderElection", "resourceName"), _TEXT),
    "--lock-object-namespace": (("leaderElection", "resourceNamespace"), _TEXT),
    "--kubeconfig": (("clientConnection", "kubeconfig"), _TEXT),
    "--kube-api-content-type": (("clientConnection", "contentType"), _TEXT),
    "--kube-api-qps": (("clientConnection", "qps"), _FRACTION),
    "--kube-api-burst": (("clientConnection", "burst"), _NUMBER),
    "--profiling": (("enableProfiling",), _BOOLEAN),
    "--contention-profiling": (("enableContentionProfiling",), _BOOLEAN),
    "--scheduler-name": (("profiles", "schedulerName"), _TEXT),
    "--hard-pod-affinity-symmetric-weight": (("InterPodAffinity", "hardPodAffinityWeight"), _NUMBER),
    "--algorithm-provider": ((), _TEXT),
}
"""kube-scheduler ignores them when it is given a file."""

_STAYS: Final = re.compile(
    r"--?(v|vmodule|master|bind-address|secure-port|cert-dir|permit-(port|address)-sharing|write-config-to|help|version|"
    r"http2-.*|tls-.*|authentication-.*|authorization-.*|client-ca-file|requestheader-.*|log.*|"
    r"pod-max-in-unschedulable-pods-duration|show-hidden-metrics-for-version|disabled-metrics|allow-metric-labels.*|"
    r"emulated-version|emulation-forward-compatible|min-compatibility-version)$"
)
_WENT: Final = re.compile(
    r"--?(address|port|failure-domains|experimental-.*|alsologtostderr|stderrthreshold|skip-headers|skip-log-headers|"
    r"one-output|add-dir-header|storage-driver.*|google-json-key)$"
)


def policy_flags(flags: Iterable[Flag]) -> list[Flag]:
    """Those that name a Policy."""
    return [flag for flag in flags if flag.name in _POLICY[:2]]


def provider_of(flags: Iterable[Flag]) -> str:
    return next((flag.value for flag in flags if flag.name == "--algorithm-provider"), "")


def need_old_defaults(flags: Iterable[Flag]) -> bool:
    return any(flag.name in _OF_OLD_DEFAULTS for flag in flags) and not any(flag.name == "--config" for flag in flags)


def apply_flags(flags: Iterable[Flag], draft: Draft, findings: Findings, *, has_file: bool, has_policy: bool) -> None:
    """``has_file``: beside a KubeSchedulerConfiguration, next to which some do not count."""
    _Flags(draft, findings, has_file=has_file, has_policy=has_policy).apply(flags)


class _Flags:
    def __init__(self, draft: Draft, findings: Findings, *, has_file: bool, has_policy: bool) -> None:
        self._draft = draft
        self._findings = findings
        self._has_file = has_file
        self._is_given = has_file
        """The file that --config names stands in the text, too."""
        self._has_policy = has_policy

    def apply(self, flags: Iterable[Flag]) -> None:
        given = list(flags)
        self._has_file = self._has_file or any(flag.name == "--config" for flag in given)
        last = {flag.name: flag for flag in given}
        for flag in given:
            if flag is not last[flag.name] and flag.name in (*_FIELDS, *_DEPRECATED):
                words = sentence("{flag} stands here once more, further on: the last one counted.", flag=flag.name)
                self._tell("dropped", flag, words)
            else:
                self._apply(flag)

    def _tell(self, outcome: Outcome, flag: Flag, words: Words) -> None:
        path = flag.path or flag.name
        self._findings.found.append(Finding(outcome=outcome, what=flag.name, path=path, line=flag.line, sentence=words))

    def _apply(self, flag: Flag) -> None:
        if not flag.name.startswith("-"):
            words = sentence(
                "{word} belongs to no flag, and kube-scheduler takes no other arguments. A flag that is true or false "
                "has its value behind an equals sign.",
                word=flag.name,
            )
            self._tell("dropped", flag, words)
        elif flag.name == "--algorithm-provider" and self._has_policy:
            self._tell("dropped", flag, sentence("{field} did not count beside a Policy.", field=flag.name))
        elif flag.name in _DEPRECATED and self._has_file:
            words = sentence("{flag} does not count beside a configuration file.", flag=flag.name)
            self._tell("dropped", flag, words)
        elif flag.name in _FIELDS or flag.name in _DEPRECATED:
            self._field(flag)
        elif flag.name == "--feature-gates":
            self._gates(flag)
        elif flag.name == "--config":
            self._config(flag)
        elif flag.name in _POLICY:
            self._policy(flag)
        elif _STAYS.match(flag.name):
            words = sentence("{flag} is no configuration: it stays a flag of kube-scheduler.", flag=flag.name)
            self._tell("dropped", flag, words)
        elif _WENT.match(flag.name):
            words = sentence("{flag} was a flag of older versions; kube-scheduler 1.36 has none of it.", flag=flag.name)
            self._tell("dropped", flag, words)
        else:
            words = sentence("{flag} is no flag of kube-scheduler that is known here.", flag=flag.name)
            self._tell("dropped", flag, words)

    def _field(self, flag: Flag) -> None:
        path, kind = _FIELDS.get(flag.name) or _DEPRECATED[flag.name]
        if flag.name == "--algorithm-provider":
            before = len(self._findings.found)
            tell_provider(flag.value, (flag.path or flag.name,), self._findings)
            told = self._findings.found[before:]
            self._findings.found[before:] = []
            for each in told:
                self._tell(each.outcome, flag, each.sentence)
            return
        value = _VALUES[kind](flag.value)
        if value is None:
            words = sentence("{value} is no value for {flag}.", value=flag.value, flag=flag.name)
            self._tell("dropped", flag, words)
            return
        if flag.name == "--leader-elect-resource-lock" and value != "leases":
            self._draft.set(path, "leases")
            self._tell("changed", flag, sentence("v1 locks with leases only, not with {lock}.", lock=flag.value))
            return
        if path[0] == "profiles":
            self._draft.set(("profiles", 0, "schedulerName"), value)
        elif path[0] == "InterPodAffinity" and self._has_policy and self._has_hard_affinity():
            words = sentence("{field} gives way to {kept}, which stands beside it.", field=flag.name, kept=_HARD)
            self._tell("dropped", flag, words)
            return
        elif path[0] == "InterPodAffinity":
            profiles = max(1, len(self._draft.get(("profiles",)) or ()))
            for i in range(profiles):
                self._draft.edit(SetArgs(profile=i, plugin=path[0], path=path[1:], value=value))
        else:
            self._draft.set(path, value)
        place = "profiles[0].schedulerName" if path[0] == "profiles" else ".".join(path)
        self._tell("carried", flag, sentence("{flag} is {field} of the configuration.", flag=flag.name, field=place))

    def _has_hard_affinity(self) -> bool:
        """The Policy's own weight won over the flag."""
        entries = self._draft.get(("profiles", 0, "pluginConfig")) or ()
        return any(each.get("name") == "InterPodAffinity" for each in entries)

    def _config(self, flag: Flag) -> None:
        if self._is_given:
            words = sentence("{flag} names the file that is converted here.", flag=flag.name)
            self._tell("carried", flag, words)
        else:
            words = sentence(
                "What stands in {file} is not in this text: convert that file, and the flags beside it.",
                file=flag.value,
            )
            self._tell("dropped", flag, words)

    def _policy(self, flag: Flag) -> None:
        if self._has_policy and flag.name in _POLICY[:2]:
            words = sentence("{flag} names the Policy that is converted here.", flag=flag.name)
            self._tell("carried", flag, words)
        elif self._has_file and not self._has_policy:
            words = sentence("{flag} does not count beside a configuration file.", flag=flag.name)
            self._tell("dropped", flag, words)
        elif flag.name in ("--policy-configmap-namespace", "--use-legacy-policy-config"):
            words = sentence("{flag} says where a Policy is looked for; nothing in v1 does.", flag=flag.name)
            self._tell("dropped", flag, words)
        else:
            words = sentence(
                "The Policy stands elsewhere ({place}), and its predicates and priorities are not in this text: "
                "convert it together with this file, as two documents separated by ---.",
                place=flag.value,
            )
            self._tell("dropped", flag, words)

    def _gates(self, flag: Flag) -> None:
        """Those that can be set here go into the text's comment; the others are told one by one."""
        try:
            given = parse_flag(flag.value)
            line = gates_line(self._draft.text)
            kept = {} if line is None else parse_flag(line.value)
        except FeatureGatesError as error:
            self._tell("dropped", flag, error.texts[0])
            return
        # A gate that another depends on comes first; those whose needs are not met are told.
        for name, value in sorted(given.items(), key=lambda each: _depth(each[0])):
            if name in ("AllAlpha", "AllBeta"):
                words = sentence(
                    "{gate} switches many feature gates at once; here each is set by its own name.", gate=name
                )
                self._tell("dropped", flag, words)
                continue
            if name not in GATES:
                words = sentence(
                    "The feature gate {gate} is none of kube-scheduler 1.36: what it switched came for good or went, "
                    "or another component reads it.",
                    gate=name,
                )
                self._tell("dropped", flag, words)
                continue
            try:
                feature_gates({**kept, name: value})
            except FeatureGatesError as error:
                self._tell("dropped", flag, error.texts[0])
                continue
            kept[name] = value
            self._draft.edit(SetFeatureGate(name=name, enabled=value))
            words = sentence("The feature gate {gate} stands in the first line, as a comment.", gate=name)
            self._tell("carried", flag, words)


def _depth(name: str) -> int:
    gate = GATES.get(name)
    return 0 if gate is None else 1 + max((_depth(each) for each in gate.depends_on), default=0)


def _boolean(text: str) -> bool | None:
    return {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}.get(text.lower())


def _duration(text: str) -> str | None:
    try:
        parse_duration(text)
    except InvalidDuration:
        return None
    return text


def _number(text: str) -> int | None:
    return int(text) if re.fullmatch(r"-?\d{1,9}", text, re.ASCII) else None


def _fraction(text: str) -> float | int | None:
    """As Go reads it: a sign and an exponent are allowed; a negative qps is no limit."""
    if not re.fullmatch(r"[+-]?\d{1,9}(\.\d{1,9})?(e[+-]?\d)?", text, re.ASCII | re.IGNORECASE):
        return None
    value = float(text)
    return int(value) if value.is_integer() else value


_VALUES: Final[dict[str, Callable[[str], Any]]] = {
    _BOOLEAN: _boolean,
    _DURATION: _duration,
    _NUMBER: _number,
    _FRACTION: _fraction,
    _TEXT: str,
}
