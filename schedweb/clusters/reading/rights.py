"""What the credentials of a context may do, and the rules that they lack, as YAML to apply.

The rules are what kube-scheduler's own roles hold for the same work (``system:kube-scheduler``, bootstrap policy of
Kubernetes 1.36), as far as it is needed here. Whether they are granted is asked with SelfSubjectAccessReviews.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import time
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Literal

import msgspec
import yaml
from msgspec.structs import replace

from framework.sentences import Sentence, noted, sentence
from schedweb.clusters.reading.access import Access
from schedweb.clusters.reading.kinds import EXPLAINING, EXTRA, STANDARD, WATCHED, Resource, kinds_of
from schedweb.clusters.reading.problems import ClusterProblem

Mode = Literal["look", "schedule", "default_scheduler"]
"""``default_scheduler`` is what scheduling needs beside ``schedule`` where it takes kube-scheduler's place."""
READ_VERBS: Final = ("get", "list", "watch")
LEASE: Final = "scheduling-playground"
LEASE_NAMESPACE: Final = "kube-system"
DEFAULT_SCHEDULER: Final = "default-scheduler"
KUBE_SCHEDULER: Final = "kube-scheduler"
"""The Lease of the real one: who schedules for default-scheduler takes its place, so both never do."""
_ASKED_AT_ONCE: Final = 8
_WHO: Final = re.compile(r'User "([^"]+)"')
READ_BY_THE_SCHEDULER: Final = noted("what kube-scheduler reads")
FOR_EXPLANATIONS: Final = noted("for explanations")
FOR_OTHER_PLUGINS: Final = noted("what other plugins read")
TO_BIND: Final = noted("to bind")
FOR_CONDITIONS: Final = noted("conditions and nominatedNodeName")
FOR_EVENTS: Final = noted("what kubectl describe shows")
FOR_THE_LEASE: Final = noted("exactly one of us writes")
FOR_ITS_LEASE: Final = noted("kube-scheduler's own Lease, to schedule for default-scheduler in its place")
TO_PREEMPT: Final = noted("victims of preemption")
FOR_VOLUMES: Final = noted("volumes that wait for their first pod")
FOR_DEVICES: Final = noted("devices of pods' claims")
FOR_POD_GROUPS: Final = noted("whether a pod group was scheduled")


class Rule(msgspec.Struct, frozen=True):
    """One resource, and what is to be done with it."""

    mode: Mode
    group: str
    resource: str
    """With its subresource: ``pods/binding``."""
    verbs: tuple[str, ...]
    why: Sentence
    namespace: str = ""
    name: str = ""
    """Of the only object that it is about."""

    def attributes(self, verb: str) -> dict[str, str]:
        """Of a SelfSubjectAccessReview."""
        resource, _, subresource = self.resource.partition("/")
        # Nobody can be allowed to create an object by its name alone.
        name = "" if verb == "create" else self.name
        asked = {"verb": verb, "group": self.group, "resource": resource, "subresource": subresource}
        return {key: value for key, value in {**asked, "namespace": self.namespace, "name": name}.items() if value}


class Answered(msgspec.Struct, frozen=True):
    rule: Rule
    missing: tuple[str, ...] = ()
    """Of its verbs those that are not granted."""


class Rights(msgspec.Struct):
    asked_at: float
    """Seconds since 1970."""
    answers: list[Answered]
    who: str = ""
    """The user as the API server calls it, where it said so."""

    def missing(self, mode: Mode) -> list[Answered]:
        return [each for each in self.answers if each.rule.mode == mode and each.missing]


def rules_for(kinds: Iterable[Resource]) -> list[Rule]:
    """Of every mode. ``kinds``: those that are read of this cluster."""
    kinds = tuple(kinds)
    return [*map(_to_read, kinds), *(each for each in _TO_SCHEDULE if _is_served(each, kinds))]


def _is_served(rule: Rule, kinds: Iterable[Resource]) -> bool:
    """Whether the cluster has what the rule is about: every cluster has all but what is of alpha APIs."""
    return rule.resource not in _OF_SOME_CLUSTERS or any(
        (each.group, each.plural) == (rule.group, rule.resource.partition("/")[0]) for each in kinds
    )


def roles_yaml(mode: Mode) -> str:
    """All rules of a mode, for every kind that may be read: a ClusterRole, and a Role in each namespace that a rule is
    about. Who installs the product in a cluster applies them (deploy/kubernetes)."""
    name = f"scheduling-playground-{mode}"
    rules = [each for each in rules_for(STANDARD + EXTRA) if each.mode == mode]
    roles = [
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "Role" if namespace else "ClusterRole",
            "metadata": {"name": name, "namespace": namespace} if namespace else {"name": name},
            "rules": [*_grants(Answered(each, each.verbs) for each in rules if each.namespace == namespace)],
        }
        for namespace in sorted({each.namespace for each in rules})
    ]
    documents: str = yaml.dump_all(roles, Dumper=_Flow, sort_keys=False)
    return documents


def _to_read(kind: Resource) -> Rule:
    why = READ_BY_THE_SCHEDULER if kind in WATCHED else FOR_EXPLANATIONS if kind in EXPLAINING else FOR_OTHER_PLUGINS
    return Rule("look", kind.group, kind.plural, READ_VERBS, Sentence(why))


def _of_the_lease(mode: Mode, name: str, why: str) -> Rule:
    verbs = ("get", "create", "update")
    return Rule(mode, "coordination.k8s.io", "leases", verbs, Sentence(why), LEASE_NAMESPACE, name)


_TO_SCHEDULE: Final = (
    Rule("schedule", "", "pods/binding", ("create",), Sentence(TO_BIND)),
    Rule("schedule", "", "pods/status", ("patch",), Sentence(FOR_CONDITIONS)),
    Rule("schedule", "", "pods", ("delete",), Sentence(TO_PREEMPT)),
    Rule("schedule", "", "persistentvolumes", ("patch",), Sentence(FOR_VOLUMES)),
    Rule("schedule", "", "persistentvolumeclaims", ("patch",), Sentence(FOR_VOLUMES)),
    Rule("schedule", "resource.k8s.io", "resourceclaims", ("create", "patch", "delete"), Sentence(FOR_DEVICES)),
    Rule("schedule", "resource.k8s.io", "resourceclaims/status", ("patch",), Sentence(FOR_DEVICES)),
    Rule("schedule", "resource.k8s.io", "resourceclaims/binding", ("patch",), Sentence(FOR_DEVICES)),
    Rule("schedule", "scheduling.k8s.io", "podgroups/status", ("patch",), Sentence(FOR_POD_GROUPS)),
    Rule("schedule", "events.k8s.io", "events", ("create", "patch"), Sentence(FOR_EVENTS)),
    Rule("schedule", "", "events", ("create",), Sentence(FOR_THE_LEASE)),
    _of_the_lease("schedule", LEASE, FOR_THE_LEASE),
    _of_the_lease("default_scheduler", KUBE_SCHEDULER, FOR_ITS_LEASE),
)
_OF_PODS: Final = frozenset(
    (
        *("pods/binding", "pods/status", "persistentvolumeclaims", "resourceclaims", "resourceclaims/status"),
        "podgroups/status",
    )
)
"""What is done in the namespaces of the pods that are scheduled, and nowhere else. Not ``resourceclaims/binding``: API
servers ask for it cluster-wide (DRAResourceClaimGranularStatusAuthorization)."""
_OF_SOME_CLUSTERS: Final = frozenset(("podgroups/status",))
"""As upstream, whose role has it with the gate GenericWorkload: who cannot have such objects need not grant it."""
_INDISPENSABLE: Final = frozenset(("pods/binding", "leases"))
"""Without another rule a scheduler does less (it evicts nobody, it says no reason); without these, nothing."""


def lease_of(schedulers: Collection[str]) -> str:
    """The name of the Lease, in ``LEASE_NAMESPACE``, of whoever schedules for these schedulerNames."""
    return KUBE_SCHEDULER if DEFAULT_SCHEDULER in schedulers else LEASE


def rules_to_schedule(schedulers: Collection[str], namespaces: Collection[str], *, dry_run: bool) -> list[Rule]:
    """What a scheduler on these terms does. ``namespaces``: none for all; where some are named, the credentials may be
    theirs alone. A dry run asks for the same rights, without the Lease, which it does not take."""
    rules: list[Rule] = []
    for rule in _TO_SCHEDULE:
        if rule.resource == "leases":
            if not dry_run and rule.name == lease_of(schedulers):
                rules.append(rule)
        elif rule.resource in _OF_PODS and namespaces:
            rules += [replace(rule, namespace=each) for each in sorted(namespaces)]
        else:
            rules.append(rule)
    return rules


def refuse_who_lacks(access: Access, rules: Sequence[Rule]) -> None:
    """Asks for each of them. Where one is missing without which nothing can be scheduled, raises ClusterProblem
    (forbidden), which names all that are missing; and raises as ``access`` does."""
    missing = [each for each in asked_of(access, rules) if each.missing]
    if any(each.rule.resource in _INDISPENSABLE for each in missing):
        words = sentence(
            "The credentials of the context {context} may not do what scheduling needs: {rules}. The cluster's page "
            "and manage.py cluster check have the roles to apply.",
            context=access.context.name,
            rules="; ".join(map(in_words, missing)),
        )
        raise ClusterProblem(words, "forbidden")


def in_words(answered: Answered) -> str:
    """As ``kubectl auth can-i`` is asked, verb first."""
    rule = answered.rule
    resource = f"{rule.resource}.{rule.group}" if rule.group else rule.resource
    named = f"{resource} {rule.name}" if rule.name else resource
    return f"{', '.join(answered.missing)} {named}" + (f" -n {rule.namespace}" if rule.namespace else "")


def ask(access: Access, kinds: Sequence[Resource]) -> Rights:
    """Of every mode. Raises ClusterProblem."""
    answers = asked_of(access, rules_for(kinds))
    return Rights(time.time(), answers, _who(access, kinds, answers))


def asked_of(access: Access, rules: Sequence[Rule]) -> list[Answered]:
    """One question per rule and verb. What the cluster does not have lacks nobody. Raises ClusterProblem."""
    asked = [(rule, verb) for rule in rules for verb in rule.verbs]
    pool = ThreadPoolExecutor(_ASKED_AT_ONCE, thread_name_prefix="rights")
    try:
        granted = list(pool.map(lambda one: access.may(one[0].attributes(one[1])), asked))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # nobody who is interrupted waits for the other answers
    refused: dict[Rule, list[str]] = {}
    for (rule, verb), is_granted in zip(asked, granted, strict=True):
        if not is_granted:
            refused.setdefault(rule, []).append(verb)
    if any(rule.resource in _OF_SOME_CLUSTERS for rule in refused):
        kinds = kinds_of(access)
        refused = {rule: verbs for rule, verbs in refused.items() if _is_served(rule, kinds)}
    return [Answered(rule, tuple(refused.get(rule, ()))) for rule in rules]


def _who(access: Access, kinds: Sequence[Resource], answers: Sequence[Answered]) -> str:
    """A refusal names the user, so something is tried of which it is known that it will be refused."""
    for each in answers:
        if "list" in each.missing:
            path = next(one.path for one in kinds if (one.group, one.plural) == (each.rule.group, each.rule.resource))
        elif "get" in each.missing and each.rule.name:
            path = f"/apis/{each.rule.group}/v1/namespaces/{each.rule.namespace}/{each.rule.resource}/{each.rule.name}"
        else:
            continue
        try:
            access.read(path, {"limit": "1"} if "list" in each.missing else None)
        except ClusterProblem as problem:
            return user_in(str(problem))
    return ""


def user_in(said: str) -> str:
    """Of a refusal of Kubernetes' authorizer."""
    found = _WHO.search(said)
    return found[1] if found else ""


class _Flow(yaml.SafeDumper):
    """Lists of words on one line, as people write rules; lists of rules one under another."""


def _list(dumper: _Flow, items: list[object]) -> yaml.Node:
    return dumper.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=all(isinstance(i, str) for i in items))


_Flow.add_representer(list, _list)
_USER_UNKNOWN: Final = "REPLACE-WITH-THE-USER"


def missing_yaml(rights: Rights, mode: Mode, context: str) -> str:
    """A ClusterRole with exactly the rules that are missing, and its binding; "" when none is. Other rules are a role
    of another name: what is applied later takes nothing away that was granted before."""
    missing = rights.missing(mode)
    if not missing:
        return ""
    rules = [*_grants(missing)]
    name = f"scheduling-playground-{mode}-{hashlib.sha256(json.dumps(rules).encode()).hexdigest()[:8]}"
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": name},
        "rules": rules,
    }
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
        "subjects": [_subject(rights.who)],
    }
    documents = yaml.dump_all([role, binding], Dumper=_Flow, sort_keys=False)
    return f"# kubectl --context {context} apply -f -\n{documents}"


def lacking_yaml(missing: Sequence[Answered], who: str, context: str) -> str:
    """As ``missing_yaml``, of rules of any mode. What is missing of pods in some namespaces is granted in all."""
    plain: dict[tuple[Mode, str, str, str], Answered] = {}
    for each in missing:
        rule = replace(each.rule, namespace="") if each.rule.resource in _OF_PODS else each.rule
        plain.setdefault((rule.mode, rule.group, rule.resource, rule.name), replace(each, rule=rule))
    rights = Rights(0.0, list(plain.values()), who)
    modes: tuple[Mode, ...] = ("schedule", "default_scheduler")
    return "---\n".join(text for mode in modes if (text := missing_yaml(rights, mode, context)))


def _grants(missing: Iterable[Answered]) -> Iterable[dict[str, object]]:
    """Resources of a group that lack the same verbs share a rule."""
    plain: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    named: list[dict[str, object]] = []
    for each in missing:
        rule = each.rule
        by_name = [verb for verb in each.missing if rule.name and verb != "create"]
        others = tuple(verb for verb in each.missing if verb not in by_name)
        if others:
            plain.setdefault((rule.group, others), []).append(rule.resource)
        if by_name:
            about = {"apiGroups": [rule.group], "resources": [rule.resource], "resourceNames": [rule.name]}
            named.append({**about, "verbs": by_name})
    shared: Iterable[dict[str, object]] = (
        {"apiGroups": [g], "resources": names, "verbs": [*verbs]} for (g, verbs), names in plain.items()
    )
    return itertools.chain(shared, named)


def _subject(who: str) -> dict[str, str]:
    if who.startswith("system:serviceaccount:") and who.count(":") == 3:
        _, _, namespace, name = who.split(":")
        return {"kind": "ServiceAccount", "namespace": namespace, "name": name}
    return {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": who or _USER_UNKNOWN}
