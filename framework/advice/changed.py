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
from framework.sentences import Content, Sentence, joined_with_and, joined_with_or, noted, sentence

_PARTS = ("node_selector", "tolerations", "affinity", "topology_spread_constraints", "scheduling_gates", "priority")
_ASKS = ("priority_class_name", "preemption_policy", "containers", "init_containers", "resources", "scheduler_name")


def what_changed(old: KubeObject, new: KubeObject) -> list[Sentence]:
    """Most telling first; ``changed`` alone where the difference has no words of its own."""
    found: list[Sentence] = []
    if isinstance(old, Pod) and isinstance(new, Pod):
        found = [*_of_pod(old, new)]
    elif isinstance(old, Node) and isinstance(new, Node):
        found = [*_of_node(old, new)]
    elif isinstance(old, PersistentVolumeClaim) and isinstance(new, PersistentVolumeClaim):
        found = [*_of_claim(old, new)]
    return found or [sentence("changed")]


def _of_pod(old: Pod, new: Pod) -> Iterator[Sentence]:
    before, after = old.spec, new.spec
    yield from _amounts(pod_requests(old), pod_requests(new))
    yield from _gates(before, after)
    added = [each for each in after.tolerations if each not in before.tolerations]
    if added:
        taints = [_taint(each.key, each.value, each.effect) for each in added]
        yield sentence("tolerates {taints}", taints=joined_with_and(taints))
    elif before.tolerations != after.tolerations:
        yield sentence("changed its tolerations")
    yield from _selector(before.node_selector or {}, after.node_selector or {})
    yield from _affinity(before, after)
    yield from _spread(before, after)
    if priority_of(old) != priority_of(new):
        yield sentence("priority {before} → {after}", before=priority_of(old), after=priority_of(new))
    if before.preemption_policy == "Never" != after.preemption_policy:
        yield sentence("may preempt")
    if before.scheduler_name != after.scheduler_name:
        yield sentence("scheduler {before} → {after}", before=before.scheduler_name, after=after.scheduler_name)
    if old.metadata.labels != new.metadata.labels:
        yield sentence("changed its labels")
    if before.node_name != after.node_name and after.node_name:
        yield sentence("moved to {node}", node=after.node_name)
    compared = (*_PARTS, *_ASKS, "node_name")
    if any(getattr(before, name) != getattr(after, name) for name in PodSpec.__struct_fields__ if name not in compared):
        yield sentence("changed its specification")


def _amounts(before: dict[str, int], after: dict[str, int]) -> Iterator[Sentence]:
    for words, chosen in (
        (sentence("lowered {what}", what=[]), [n for n in before if after.get(n, 0) < before[n]]),
        (sentence("raised {what}", what=[]), [n for n in after if before.get(n, 0) < after[n]]),
    ):
        if chosen:
            what = []
            for name in chosen:
                old, new = before_and_after(name, before.get(name, 0), after.get(name, 0))
                what.append(sentence("{resource} {before} → {after}", resource=name, before=old, after=new))
            yield Sentence(words.text, {"what": joined_with_and(what)})


def _gates(before: PodSpec, after: PodSpec) -> Iterator[Sentence]:
    gone = [gate.name for gate in before.scheduling_gates if gate not in after.scheduling_gates]
    if gone:
        yield sentence("removed the gate {gates}", gates=joined_with_and(gone))


def _selector(before: dict[str, str], after: dict[str, str]) -> Iterator[Sentence]:
    dropped = [f"{key}={value}" for key, value in before.items() if key not in after]
    if dropped:
        yield sentence("dropped the node selector {label}", label=joined_with_and(dropped))
    asked = [f"{key}={value}" for key, value in after.items() if before.get(key) != value]
    if asked:
        yield sentence("node selector {label}", label=joined_with_and(asked))


def _affinity(before: PodSpec, after: PodSpec) -> Iterator[Sentence]:
    if before.affinity == after.affinity:
        return
    found = [*_of_nodes(before, after), *_of_terms(before, after)]
    yield from found or [sentence("changed its affinity")]


def _of_nodes(before: PodSpec, after: PodSpec) -> Iterator[Sentence]:
    old, new = _required_of_nodes(before), _required_of_nodes(after)
    if old == new:
        return
    if not new:
        preferred = [each.preference for each in _preferred_of_nodes(after)]
        words = sentence("node affinity preferred instead of required")
        if not all(term in preferred for term in old):
            words = sentence("dropped {rules}", rules=sentence("required node affinity"))
        yield words
        return
    asked, asks = (joined_with_or([_term_words(term) for term in terms]) for terms in (old, new))
    if old:
        yield sentence("required node affinity {before} → {after}", before=asked, after=asks)
    else:
        yield sentence("required node affinity {label}", label=asks)


def _of_terms(before: PodSpec, after: PodSpec) -> Iterator[Sentence]:
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
                yield Sentence(softened, about)
            elif term not in kept:
                yield sentence("dropped {rules}", rules=Sentence(dropped, about))


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
    return joined_with_and([requirement_words(rule.key, rule.operator, rule.values) for rule in rules])


def _terms(spec: PodSpec, name: str) -> Sequence[PodAffinityTerm]:
    rules = getattr(spec.affinity, name) if spec.affinity is not None else None
    return () if rules is None else rules.required_during_scheduling_ignored_during_execution


def _preferred_terms(spec: PodSpec, name: str) -> Sequence[PodAffinityTerm]:
    rules = getattr(spec.affinity, name) if spec.affinity is not None else None
    weighted = () if rules is None else rules.preferred_during_scheduling_ignored_during_execution
    return [each.pod_affinity_term for each in weighted]


def _spread(before: PodSpec, after: PodSpec) -> Iterator[Sentence]:
    old, new = before.topology_spread_constraints, after.topology_spread_constraints
    if new[: len(old)] == old:
        for each in new[len(old) :]:
            yield sentence("spread over {key} with maxSkew {skew}", key=each.topology_key, skew=each.max_skew)
        return
    if len(old) != len(new):
        yield sentence("changed its topology spread")
        return
    for was, now in zip(old, new, strict=True):
        if was.max_skew != now.max_skew:
            yield sentence(
                "maxSkew over {key} {before} → {after}", key=now.topology_key, before=was.max_skew, after=now.max_skew
            )
        if was.when_unsatisfiable != now.when_unsatisfiable:
            yield sentence("spread over {key} {rule}", key=now.topology_key, rule=now.when_unsatisfiable)


def what_it_is(node: Node, shape: Node | None) -> Sentence:
    """Of a node that is added. ``shape``: the one that it was made after, if any (``shape_of``)."""
    name = node.metadata.name
    if shape is None:
        return sentence("added node {name} ({size})", name=name, size=size_of(node))
    alike = node_like(shape, 1)
    before, after = node_allocatable(alike), node_allocatable(node)
    grown = {each: amount for each, amount in after.items() if amount > before.get(each, 0)}
    about = {"name": name, "node": shape.metadata.name, "size": size_of(node, grown)}
    if not grown:
        words = sentence("added node {name} like {node} ({size})", **about)
    else:
        words = sentence("added node {name} larger than {node} ({size})", **about)
    labels = [each for each in _other_labels(alike, node) if not each.startswith(f"{HOSTNAME}=")]
    if labels:
        words = sentence("{what}, with {labels}", what=words, labels=labels)
    if lost := _taints(each for each in alike.spec.taints if each not in node.spec.taints):
        words = sentence("{what}, without {taints}", what=words, taints=lost)
    return words


def shape_of(name: str) -> str:
    """Of a node that was made after another one: the name of that one; "" of any other."""
    found = MORE.search(name)
    return name[: found.start()] if found else ""


def _of_node(old: Node, new: Node) -> Iterator[Sentence]:
    if old.spec.unschedulable != new.spec.unschedulable:
        yield sentence("cordoned") if new.spec.unschedulable else sentence("uncordoned")
    yield from _amounts(node_allocatable(old), node_allocatable(new))
    lost = _taints(each for each in old.spec.taints if each not in new.spec.taints)
    got = _taints(each for each in new.spec.taints if each not in old.spec.taints)
    if lost:
        yield sentence("removed the taint {taints}", taints=joined_with_and(lost))
    if got:
        yield sentence("tainted {taints}", taints=joined_with_and(got))
    if more := _other_labels(old, new):
        yield sentence("labelled {labels}", labels=joined_with_and(more))


def _other_labels(old: Node, new: Node) -> list[str]:
    labels = old.metadata.labels
    return [f"{key}={value}" for key, value in new.metadata.labels.items() if labels.get(key) != value]


def _of_claim(old: PersistentVolumeClaim, new: PersistentVolumeClaim) -> Iterator[Sentence]:
    before, after = class_of_claim(old), class_of_claim(new)
    if before and before != after:
        yield sentence("uses the StorageClass {name} instead of {asked}", name=after, asked=before)
    elif before != after:
        yield sentence("uses the StorageClass {name}", name=after)


def _taints(taints: Iterable[Taint]) -> list[str]:
    """But for the one that follows from cordoning."""
    return [
        _taint(each.key, each.value, each.effect) for each in taints if each.key != "node.kubernetes.io/unschedulable"
    ]


def _taint(key: str, value: str, effect: str) -> str:
    return f"{key}{f'={value}' if value else ''}{f':{effect}' if effect else ''}"
