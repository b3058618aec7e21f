"""What is different about an object, in a few words each: what somebody changed on a fork."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from framework.advice.amounts import before_and_after
from framework.advice.edits import requirement_words, selector_words
from framework.advice.new_nodes import size_of
from framework.advice.scratch import HOSTNAME, MORE, node_like
from framework.objects import KubeObject, Node, PersistentVolumeClaim, Pod, Taint
from framework.objects.affinity import NodeSelectorTerm, PodAffinityTerm, PreferredSchedulingTerm
from framework.objects.claims import class_of_claim
from framework.objects.pod import PodSpec
from framework.objects.resources import node_allocatable, pod_requests
from framework.profiles import priority_of
from framework.said import Content, Said, noted, said, said_both, said_either

_PARTS = ("node_selector", "tolerations", "affinity", "topology_spread_constraints", "scheduling_gates", "priority")
_ASKS = ("priority_class_name", "preemption_policy", "containers", "init_containers", "resources", "scheduler_name")


def what_changed(old: KubeObject, new: KubeObject) -> list[Said]:
    """Most telling first; ``changed`` alone where the difference has no words of its own."""
    found: list[Said] = []
    if isinstance(old, Pod) and isinstance(new, Pod):
        found = [*_of_pod(old, new)]
    elif isinstance(old, Node) and isinstance(new, Node):
        found = [*_of_node(old, new)]
    elif isinstance(old, PersistentVolumeClaim) and isinstance(new, PersistentVolumeClaim):
        found = [*_of_claim(old, new)]
    return found or [said("changed")]


def _of_pod(old: Pod, new: Pod) -> Iterator[Said]:
    before, after = old.spec, new.spec
    yield from _amounts(pod_requests(old), pod_requests(new))
    yield from _gates(before, after)
    added = [each for each in after.tolerations if each not in before.tolerations]
    if added:
        taints = [_taint(each.key, each.value, each.effect) for each in added]
        yield said("tolerates {taints}", taints=said_both(taints))
    elif before.tolerations != after.tolerations:
        yield said("changed its tolerations")
    yield from _selector(before.node_selector or {}, after.node_selector or {})
    yield from _affinity(before, after)
    yield from _spread(before, after)
    if priority_of(old) != priority_of(new):
        yield said("priority {before} → {after}", before=priority_of(old), after=priority_of(new))
    if before.preemption_policy == "Never" != after.preemption_policy:
        yield said("may preempt")
    if before.scheduler_name != after.scheduler_name:
        yield said("scheduler {before} → {after}", before=before.scheduler_name, after=after.scheduler_name)
    if old.metadata.labels != new.metadata.labels:
        yield said("changed its labels")
    if before.node_name != after.node_name and after.node_name:
        yield said("moved to {node}", node=after.node_name)
    told = (*_PARTS, *_ASKS, "node_name")
    if any(getattr(before, name) != getattr(after, name) for name in PodSpec.__struct_fields__ if name not in told):
        yield said("changed its specification")


def _amounts(before: dict[str, int], after: dict[str, int]) -> Iterator[Said]:
    for words, chosen in (
        (said("lowered {what}", what=[]), [n for n in before if after.get(n, 0) < before[n]]),
        (said("raised {what}", what=[]), [n for n in after if before.get(n, 0) < after[n]]),
    ):
        if chosen:
            what = []
            for name in chosen:
                old, new = before_and_after(name, before.get(name, 0), after.get(name, 0))
                what.append(said("{resource} {before} → {after}", resource=name, before=old, after=new))
            yield Said(words.text, {"what": said_both(what)})


def _gates(before: PodSpec, after: PodSpec) -> Iterator[Said]:
    gone = [gate.name for gate in before.scheduling_gates if gate not in after.scheduling_gates]
    if gone:
        yield said("removed the gate {gates}", gates=said_both(gone))


def _selector(before: dict[str, str], after: dict[str, str]) -> Iterator[Said]:
    dropped = [f"{key}={value}" for key, value in before.items() if key not in after]
    if dropped:
        yield said("dropped the node selector {label}", label=said_both(dropped))
    asked = [f"{key}={value}" for key, value in after.items() if before.get(key) != value]
    if asked:
        yield said("node selector {label}", label=said_both(asked))


def _affinity(before: PodSpec, after: PodSpec) -> Iterator[Said]:
    if before.affinity == after.affinity:
        return
    found = [*_of_nodes(before, after), *_of_terms(before, after)]
    yield from found or [said("changed its affinity")]


def _of_nodes(before: PodSpec, after: PodSpec) -> Iterator[Said]:
    old, new = _required_of_nodes(before), _required_of_nodes(after)
    if old == new:
        return
    if not new:
        preferred = [each.preference for each in _preferred_of_nodes(after)]
        words = said("node affinity preferred instead of required")
        if not all(term in preferred for term in old):
            words = said("dropped {rules}", rules=said("required node affinity"))
        yield words
        return
    asked, asks = (said_either([_term_words(term) for term in terms]) for terms in (old, new))
    if old:
        yield said("required node affinity {before} → {after}", before=asked, after=asks)
    else:
        yield said("required node affinity {label}", label=asks)


def _of_terms(before: PodSpec, after: PodSpec) -> Iterator[Said]:
    for name, dropped, softened in (
        (
            "pod_affinity",
            noted("required pod affinity to {pods} per {key}"),
            noted("pod affinity to {pods} per {key} preferred instead of required"),
        ),
        (
            "pod_anti_affinity",
            noted("required pod anti-affinity to {pods} per {key}"),
            noted("pod anti-affinity to {pods} per {key} preferred instead of required"),
        ),
    ):
        kept, preferred = _terms(after, name), _preferred_terms(after, name)
        for term in _terms(before, name):
            about = {"pods": selector_words(term.label_selector), "key": term.topology_key}
            if term in preferred and term not in kept:
                yield Said(softened, about)
            elif term not in kept:
                yield said("dropped {rules}", rules=Said(dropped, about))


def _required_of_nodes(spec: PodSpec) -> Sequence[NodeSelectorTerm]:
    nodes = spec.affinity.node_affinity if spec.affinity is not None else None
    required = nodes.required_during_scheduling_ignored_during_execution if nodes is not None else None
    return () if required is None else required.node_selector_terms


def _preferred_of_nodes(spec: PodSpec) -> Sequence[PreferredSchedulingTerm]:
    nodes = spec.affinity.node_affinity if spec.affinity is not None else None
    return () if nodes is None else nodes.preferred_during_scheduling_ignored_during_execution or ()


def _term_words(term: NodeSelectorTerm) -> Content:
    """``pool in (general)``, as kubectl writes requirements."""
    rules = (*term.match_expressions, *term.match_fields)
    return said_both([requirement_words(rule.key, rule.operator, rule.values) for rule in rules])


def _terms(spec: PodSpec, name: str) -> Sequence[PodAffinityTerm]:
    rules = getattr(spec.affinity, name) if spec.affinity is not None else None
    return () if rules is None else rules.required_during_scheduling_ignored_during_execution


def _preferred_terms(spec: PodSpec, name: str) -> Sequence[PodAffinityTerm]:
    rules = getattr(spec.affinity, name) if spec.affinity is not None else None
    weighted = () if rules is None else rules.preferred_during_scheduling_ignored_during_execution
    return [each.pod_affinity_term for each in weighted]


def _spread(before: PodSpec, after: PodSpec) -> Iterator[Said]:
    old, new = before.topology_spread_constraints, after.topology_spread_constraints
    if new[: len(old)] == old:
        for each in new[len(old) :]:
            yield said("spread over {key} with maxSkew {skew}", key=each.topology_key, skew=each.max_skew)
        return
    if len(old) != len(new):
        yield said("changed its topology spread")
        return
    for was, now in zip(old, new, strict=True):
        if was.max_skew != now.max_skew:
            yield said(
                "maxSkew over {key} {before} → {after}", key=now.topology_key, before=was.max_skew, after=now.max_skew
            )
        if was.when_unsatisfiable != now.when_unsatisfiable:
            yield said("spread over {key} {rule}", key=now.topology_key, rule=now.when_unsatisfiable)


def what_it_is(node: Node, shape: Node | None) -> Said:
    """Of a node that is added. ``shape``: the one that it was made after, if any (``shape_of``)."""
    name = node.metadata.name
    if shape is None:
        return said("added node {name} ({size})", name=name, size=size_of(node))
    alike = node_like(shape, 1)
    before, after = node_allocatable(alike), node_allocatable(node)
    grown = {each: amount for each, amount in after.items() if amount > before.get(each, 0)}
    about = {"name": name, "node": shape.metadata.name, "size": size_of(node, grown)}
    if not grown:
        words = said("added node {name} like {node} ({size})", **about)
    else:
        words = said("added node {name} larger than {node} ({size})", **about)
    labels = [each for each in _other_labels(alike, node) if not each.startswith(f"{HOSTNAME}=")]
    if labels:
        words = said("{what}, with {labels}", what=words, labels=labels)
    if lost := _taints(each for each in alike.spec.taints if each not in node.spec.taints):
        words = said("{what}, without {taints}", what=words, taints=lost)
    return words


def shape_of(name: str) -> str:
    """Of a node that was made after another one: the name of that one; "" of any other."""
    found = MORE.search(name)
    return name[: found.start()] if found else ""


def _of_node(old: Node, new: Node) -> Iterator[Said]:
    if old.spec.unschedulable != new.spec.unschedulable:
        yield said("cordoned") if new.spec.unschedulable else said("uncordoned")
    yield from _amounts(node_allocatable(old), node_allocatable(new))
    lost = _taints(each for each in old.spec.taints if each not in new.spec.taints)
    got = _taints(each for each in new.spec.taints if each not in old.spec.taints)
    if lost:
        yield said("removed the taint {taints}", taints=said_both(lost))
    if got:
        yield said("tainted {taints}", taints=said_both(got))
    if more := _other_labels(old, new):
        yield said("labelled {labels}", labels=said_both(more))


def _other_labels(old: Node, new: Node) -> list[str]:
    labels = old.metadata.labels
    return [f"{key}={value}" for key, value in new.metadata.labels.items() if labels.get(key) != value]


def _of_claim(old: PersistentVolumeClaim, new: PersistentVolumeClaim) -> Iterator[Said]:
    before, after = class_of_claim(old), class_of_claim(new)
    if before and before != after:
        yield said("uses the StorageClass {name} instead of {asked}", name=after, asked=before)
    elif before != after:
        yield said("uses the StorageClass {name}", name=after)


def _taints(taints: Iterable[Taint]) -> list[str]:
    """But for the one that follows from cordoning."""
    return [
        _taint(each.key, each.value, each.effect) for each in taints if each.key != "node.kubernetes.io/unschedulable"
    ]


def _taint(key: str, value: str, effect: str) -> str:
    return f"{key}{f'={value}' if value else ''}{f':{effect}' if effect else ''}"
