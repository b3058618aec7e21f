"""Claims to volumes that cannot be met: those that are missing, and those whose class, provisioner or volume is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from shlex import quote
from typing import Final

from msgspec.structs import replace

from framework.advice.candidates import Case, Family, PossibleRemedy, few
from framework.advice.operations import operation
from framework.advice.patches import Patch, applied, object_diff
from framework.objects import (
    CSIDriver,
    KubeObject,
    Node,
    ObjectMeta,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    StorageClass,
)
from framework.objects.claims import (
    BETA_CLASS,
    NO_PROVISIONER,
    STORAGE,
    WAIT_FOR_FIRST_CONSUMER,
    claim_name,
    class_of_claim,
    requested_storage,
)
from framework.objects.pod import Volume
from framework.objects.selectors import SelectorError
from framework.objects.storage import (
    ObjectReference,
    PersistentVolumeClaimSpec,
    PersistentVolumeSpec,
    VolumeResourceRequirements,
)
from framework.objects.volume_matching import find_volume
from framework.objects.volume_sources import HostPathVolumeSource
from framework.plugins.volumebinding.node_sets import allowed_topologies, volume_affinity
from framework.sentences import Sentence, counted_sentence, joined_with_and, sentence

Choices = list[tuple[KubeObject, ...]]
"""Ways in which something missing can be made, each of one or more objects; the usual ones first."""
SIZE: Final = "1Gi"
"""Of a claim about which nothing is known but its name."""
DEFAULT_CLASS: Final = "storageclass.kubernetes.io/is-default-class"
CLASSES_TRIED: Final = 3
"""So that there is a try left for volumes that need none."""
ZONES: Final = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")


# --- what is missing --------------------------------------------------------------------------------------------------


def claim_choices(case: Case) -> Iterator[Choices]:
    """Of every claim of the pod that nobody can bind: also of the claims of pods like it, of which each has its own in
    a StatefulSet."""
    for volume in case.live.spec.volumes:
        if volume.ephemeral is None and (missing := _missing(case, volume)):
            yield from _given(_made(case, volume, missing))
        elif (claim := _claim_of(case, case.live, volume)) is not None:
            yield from _given(_for_claim(case, volume, claim))


def _given(choices: Choices) -> Iterator[Choices]:
    if choices:
        yield choices


def _claim_of(case: Case, pod: Pod, volume: Volume) -> PersistentVolumeClaim | None:
    name = claim_name(pod, volume)
    return case.cluster.get(PersistentVolumeClaim, pod.metadata.namespace, name) if name else None


def _alike(case: Case, volume: Volume, pods: Iterable[Pod]) -> Iterator[tuple[str, PersistentVolumeClaim | None]]:
    """(name, the claim if it is there) behind the volume of this name in each of the pods, each claim once."""
    named: dict[str, PersistentVolumeClaim | None] = {}
    for pod in pods:
        for each in pod.spec.volumes:
            if each.name == volume.name and (name := claim_name(pod, each)):
                named[name] = _claim_of(case, pod, each)
    yield from named.items()


def _missing(case: Case, volume: Volume) -> list[str]:
    """Names; none when the pod's own claim is there."""
    own = claim_name(case.live, volume)
    names = [name for name, claim in _alike(case, volume, case.workload.alike) if claim is None]
    return names if own in names else []


def _made(case: Case, volume: Volume, names: list[str]) -> Choices:
    """Like the claim of a replica that has one; else of each class, and at last with volumes of their own."""
    namespace = case.live.metadata.namespace
    siblings = [claim for _, claim in _alike(case, volume, case.workload.placed) if claim is not None]
    shapes = [replace(claim.spec, volume_name="") for claim in siblings[:1]]
    shapes += [_shape(each) for each in _provisioning_classes(case)[: CLASSES_TRIED - len(shapes)]]
    choices: Choices = [tuple(_claim(namespace, name, shape) for name in names) for shape in shapes]
    plain = [_claim(namespace, name, _shape("")) for name in names]
    return choices + [(*plain, *volumes) for volumes in _volumes(case, plain)]


def _shape(storage_class: str) -> PersistentVolumeClaimSpec:
    return PersistentVolumeClaimSpec(
        access_modes=("ReadWriteOnce",),
        storage_class_name=storage_class,
        resources=VolumeResourceRequirements(requests={STORAGE: SIZE}),
    )


def _claim(namespace: str, name: str, spec: PersistentVolumeClaimSpec) -> PersistentVolumeClaim:
    return PersistentVolumeClaim(metadata=ObjectMeta(namespace=namespace, name=name), spec=spec)


def _for_claim(case: Case, volume: Volume, claim: PersistentVolumeClaim) -> Choices:
    """The StorageClass of an unbound claim, or volumes where nobody provisions any."""
    if claim.spec.volume_name:
        return []
    wanted = class_of_claim(claim)
    known = case.cluster.get(StorageClass, "", wanted) if wanted else None
    if known is not None and _provisions(known):
        return []
    if _has_volume(case, claim):
        return []
    choices: Choices = []
    if wanted and known is None:
        choices += [(_storage_class(wanted, each),) for each in _provisioners(case)[:CLASSES_TRIED]]
    return choices + _volumes(case, _claims_like(case, volume, claim))


def _claims_like(case: Case, volume: Volume, claim: PersistentVolumeClaim) -> list[PersistentVolumeClaim]:
    """The claim, and those of pods like this one that are as unbound and of the same class."""
    found = {claim.key: claim}
    for _, other in _alike(case, volume, case.workload.alike):
        if other is not None and not other.spec.volume_name and class_of_claim(other) == class_of_claim(claim):
            found[other.key] = other
    return list(found.values())


def _provisions(known: StorageClass) -> bool:
    """For a pod that waits. Of a class that provisions at once a claim would have its volume by now."""
    return known.provisioner not in ("", NO_PROVISIONER) and known.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER


def _volumes(case: Case, claims: list[PersistentVolumeClaim]) -> Choices:
    """A volume for each claim, which names it; none where a name is taken."""
    made = [_volume(claim) for claim in claims]
    if any(case.cluster.find(each) is not None for each in made):
        return []
    return [tuple(made)]


def _volume(claim: PersistentVolumeClaim) -> PersistentVolume:
    """A directory of the node: of all sources the only one that asks for no driver, server or disk."""
    about, spec = claim.metadata, claim.spec
    name = f"{about.namespace}-{about.name}"
    return PersistentVolume(
        metadata=ObjectMeta(name=name),
        spec=PersistentVolumeSpec(
            capacity={STORAGE: requested_storage(claim) or SIZE},
            access_modes=spec.access_modes,
            claim_ref=ObjectReference(
                api_version=claim.api_version, kind=claim.kind, namespace=about.namespace, name=about.name
            ),
            storage_class_name=class_of_claim(claim),
            volume_mode=spec.volume_mode,
            host_path=HostPathVolumeSource(path=f"/var/lib/volumes/{name}", type="DirectoryOrCreate"),
            persistent_volume_reclaim_policy="Retain",
        ),
    )


def _storage_class(name: str, provisioner: str) -> StorageClass:
    return StorageClass(
        metadata=ObjectMeta(name=name), provisioner=provisioner, volume_binding_mode=WAIT_FOR_FIRST_CONSUMER
    )


def _classes(case: Case) -> list[StorageClass]:
    """The default one first."""
    return sorted(
        case.cluster.list(StorageClass),
        key=lambda each: (each.metadata.annotations.get(DEFAULT_CLASS) != "true", each.metadata.name),
    )


def _provisioning_classes(case: Case) -> list[str]:
    """Of which volumes are provisioned where there are nodes, for a claim that is new; the default one first."""
    nodes = case.cluster.list(Node)
    return [
        each.metadata.name
        for each in _classes(case)
        if each.provisioner not in ("", NO_PROVISIONER) and _reaches(each, nodes)
    ]


def _provisioners(case: Case) -> list[str]:
    """Of the classes and drivers that there are."""
    known = {each.provisioner for each in case.cluster.list(StorageClass)} - {NO_PROVISIONER, ""}
    return sorted(known | {each.metadata.name for each in case.cluster.list(CSIDriver)})


# --- another class ----------------------------------------------------------------------------------------------------


def reclassed(case: Case) -> Iterator[Family]:
    """Claims that no node can serve, made anew with a class that some node can: unbound ones, and those whose volume
    is out of reach of all nodes and of whom no pod that runs makes use."""
    for volume in case.live.spec.volumes:
        if volume.ephemeral is not None:
            yield from _given_family(_ephemeral(case, volume))
        elif (claim := _claim_of(case, case.live, volume)) is not None:
            claims = _claims_like(case, volume, claim)
            if not claim.spec.volume_name and not _can_serve(case, claim):
                yield _anew(case, claims)
            elif claim.spec.volume_name and not _is_reached(case, claim) and not _is_used(case, claim):
                yield _anew(case, [claim])


def _given_family(family: Family | None) -> Iterator[Family]:
    if family is not None:
        yield family


def _classes_for(case: Case, claim: PersistentVolumeClaim) -> list[str]:
    """That can serve it; its own first, where not the class but its volume is out of reach."""
    own, unbound = class_of_claim(claim), replace(claim, spec=replace(claim.spec, volume_name=""))
    able = [each.metadata.name for each in _classes(case) if _can_serve(case, _of_class(unbound, each.metadata.name))]
    return sorted(able, key=lambda name: name != own)[:CLASSES_TRIED]


def _can_serve(case: Case, claim: PersistentVolumeClaim) -> bool:
    """Whether a volume that some node reaches can be had for the unbound claim."""
    if _has_volume(case, claim):
        return True
    wanted = class_of_claim(claim)
    known = case.cluster.get(StorageClass, "", wanted) if wanted else None
    if known is None or not _provisions(known):
        return False
    return _reaches(known, case.cluster.list(Node))


def _has_volume(case: Case, claim: PersistentVolumeClaim) -> bool:
    nodes = case.cluster.list(Node)
    reached = (each for each in case.cluster.list(PersistentVolume) if _reaches(each, nodes))
    return find_volume(claim, reached, pre_bound_only=False) is not None


def _reaches(obj: StorageClass | PersistentVolume, nodes: Iterable[Node]) -> bool:
    """Whether some node is where the volume, or volumes of the class, can be."""
    try:
        if isinstance(obj, StorageClass):
            matcher = allowed_topologies(obj.allowed_topologies)
        else:
            matcher = volume_affinity(obj.spec.node_affinity.required if obj.spec.node_affinity else None)
        return any(matcher.matches(node.metadata.labels, node.metadata.name) for node in nodes)
    except SelectorError:
        return False


def _volume_of(case: Case, claim: PersistentVolumeClaim) -> PersistentVolume | None:
    return case.cluster.get(PersistentVolume, "", claim.spec.volume_name)


def _is_reached(case: Case, claim: PersistentVolumeClaim) -> bool:
    volume = _volume_of(case, claim)
    return volume is not None and _reaches(volume, case.cluster.list(Node))


def _is_used(case: Case, claim: PersistentVolumeClaim) -> bool:
    """By a pod that has a node: the API server keeps the claim then."""
    name, namespace = claim.metadata.name, claim.metadata.namespace
    return any(
        claim_name(pod, each) == name
        for pod in case.cluster.list(Pod, namespace)
        if pod.spec.node_name
        for each in pod.spec.volumes
    )


def _anew(case: Case, claims: list[PersistentVolumeClaim]) -> Family:
    first = claims[0]
    for name in _classes_for(case, first):
        made = [_of_class(each, name) for each in claims]
        operations = [*(operation("delete", each) for each in claims), *(operation("add", each) for each in made)]
        names = " ".join(quote(each.metadata.name) for each in claims)
        command = f"kubectl delete pvc {names} -n {quote(first.metadata.namespace)}"
        diff = "\n".join(object_diff(old, new) for old, new in zip(claims, made, strict=True))
        patch = Patch((command, *applied(*made)), diff)
        yield PossibleRemedy("claim", _anew_in_words(case, claims, name), tuple(operations), patch)


def _of_class(claim: PersistentVolumeClaim, name: str) -> PersistentVolumeClaim:
    """As somebody would write it: not bound to anything."""
    about = claim.metadata
    metadata = ObjectMeta(namespace=about.namespace, name=about.name, labels=about.labels)
    spec = replace(claim.spec, storage_class_name=name, volume_name="")
    return PersistentVolumeClaim(metadata=metadata, spec=spec)


def _anew_in_words(case: Case, claims: list[PersistentVolumeClaim], name: str) -> Sentence:
    text = counted_sentence(
        "Delete the claim {claims} and make it anew with the StorageClass {name}",
        "Delete the claims {claims} and make them anew with the StorageClass {name}",
        len(claims),
        claims=few([each.metadata.name for each in claims]),
        name=name,
    )
    volume = _volume_of(case, claims[0])
    if volume is None:
        return text
    if volume.spec.persistent_volume_reclaim_policy == "Delete":
        return sentence("{what}. The volume {volume} is deleted with its data.", what=text, volume=volume.metadata.name)
    return sentence("{what}. The data stay on the volume {volume}.", what=text, volume=volume.metadata.name)


def _ephemeral(case: Case, volume: Volume) -> Family | None:
    """A claim that is made from the pod: its template is changed."""
    claim = _claim_of(case, case.live, volume)
    template = volume.ephemeral.volume_claim_template if volume.ephemeral is not None else None
    if claim is None or template is None or claim.spec.volume_name or _can_serve(case, claim):
        return None
    if any(each.spec.volumes != case.live.spec.volumes for each in case.workload.alike):
        return None

    def family() -> Family:
        for name in _classes_for(case, claim):
            metadata = template.metadata
            kept = {key: value for key, value in metadata.annotations.items() if key != BETA_CLASS}
            changed = replace(
                template,
                metadata=replace(metadata, annotations=kept),
                spec=replace(template.spec, storage_class_name=name),
            )
            assert volume.ephemeral is not None
            other = replace(volume, ephemeral=replace(volume.ephemeral, volume_claim_template=changed))
            volumes = tuple(other if each.name == volume.name else each for each in case.pod.spec.volumes)
            pod = replace(case.pod, spec=replace(case.pod.spec, volumes=volumes))
            text = sentence("Give the ephemeral volume {volume} the StorageClass {name}", volume=volume.name, name=name)
            yield case.with_pods("claim", text, pod)

    return family()


# --- where volumes are ------------------------------------------------------------------------------------------------


def labels_of_volumes(case: Case, shape: Node) -> dict[str, str]:
    """Labels that a node like ``shape`` needs to reach the pod's volumes, or where its classes may make them."""
    labels: dict[str, str] = {}
    for volume in case.live.spec.volumes:
        claim = _claim_of(case, case.live, volume)
        if claim is None:
            continue
        for key, values in _places(case, claim):
            if values and shape.metadata.labels.get(key) not in values:
                labels.setdefault(key, values[0])
    return labels


def _places(case: Case, claim: PersistentVolumeClaim) -> Iterator[tuple[str, tuple[str, ...]]]:
    volume = _volume_of(case, claim) if claim.spec.volume_name else None
    if volume is not None:
        affinity = volume.spec.node_affinity
        terms = affinity.required.node_selector_terms if affinity is not None and affinity.required is not None else ()
        for rule in terms[0].match_expressions if terms else ():
            if rule.operator == "In":
                yield rule.key, rule.values
        for key in ZONES:
            if value := volume.metadata.labels.get(key):
                yield key, tuple(value.split("__"))
        return
    wanted = class_of_claim(claim)
    known = case.cluster.get(StorageClass, "", wanted) if wanted else None
    if known is not None and known.allowed_topologies:
        for each in known.allowed_topologies[0].match_label_expressions:
            yield each.key, each.values


def warned(objects: Iterable[KubeObject], text: Sentence) -> Sentence:
    """What is to be said of volumes that are directories of a node."""
    if not any(isinstance(each, PersistentVolume) and each.spec.host_path is not None for each in objects):
        return text
    return sentence(
        "{what}. The data of a hostPath volume stay on the node where it is used: for test clusters.", what=text
    )


def in_words(objects: Iterable[KubeObject]) -> Sentence | str:
    """PersistentVolumeClaim data-0, data-1 and PersistentVolume shop-data-0: names by kind."""
    kinds: dict[str, list[str]] = {}
    for each in objects:
        kinds.setdefault(each.kind, []).append(each.metadata.name)
    named: Sentence | str = joined_with_and(
        [sentence("{kind} {name}", kind=kind, name=few(list(n))) for kind, n in kinds.items()]
    )
    return named
