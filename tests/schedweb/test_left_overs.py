"""Ukrainian and Chinese say everything in their own words but for what Kubernetes' users know by its English name."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

from framework.plugins.registry import OPTIONAL, PLUGINS

ROOT = Path(__file__).parents[2]
WORD = re.compile(r"[A-Za-z][\w./-]*[A-Za-z0-9]|[A-Za-z]")
PLACEHOLDER = re.compile(r"\{\{?[^}]*\}?\}|</?\w+>")
#: Extension points, queues and results as the framework names them; the board's columns are called so in all languages.
FRAMEWORK = """
Filter NormalizeScore Permit PreBind QueueSort Reserve Score MultiPoint Wait Queue QueueSkip Active Backoff Gated
Pending Unschedulable UnschedulableAndUnresolvable Bound active activeQ backoff backoffQ gated unschedulable
framework hint MostAllocated LeastAllocated RequestedToCapacityRatio
"""
#: Kinds, fields and values of Kubernetes' API, and of the configuration.
API = """
API Allocatable allocatable Affinity affinity anti-affinity constraints conditions CSI cordon Cordon uncordon
Uncordon drain Drain CronJob DaemonSet Deployment Honor Job Kubelet kubelet Kustomization KubeSchedulerConfiguration
List Never Gt Lt Pod PodDisruptionBudget PodGroup Policy PriorityClass ReadWriteOncePod ReplicaSet
ReplicationController ResourceClaim ResourceClaimTemplate ResourceSlice ScheduleAnyway Service StatefulSet System
Extenders extenders Feature feature gate Gate gates StorageCapacityScoring TopologyAwareWorkloadScheduling apiVersion
items kind kubeconfig labelSelector manifest mapping maxSkew memory cpu metadata metadata.name minCandidateNodesAbsolute
minCandidateNodesPercentage minCount minMember minResources multiPoint name namespace namespace/name
nodeTaintsPolicy schedulingPolicy
percentageOfNodesToScore person preemptionPolicy queueSort schedulerName scheduling shape spec spec.nodeName
spec.schedulerName spec.schedulingGates spec.schedulingGroup spread status.declaredFeatures status.nominatedNodeName
taint Taints tolerations topology type uid unschedulable verb version/kind status metadata.namespace kubectl apply
patch CustomResourceDefinition StorageClass ephemeral-storage hostPath bindVerb
"""
#: Programs, formats, units, keys, what is typed, and the names of what comes with the product.
OTHER = """
OpenID Connect Django
Alt ASCII Base64 Chart Esc Enter GPU H100 HTTP Helm ID JSON Kubernetes KiB L4 MB URL UTF-16 UTF-8 UUID YAML app cart
api/docs api/v1 app.kubernetes.io/part-of as bearer csv describe doctor elsewhere events example.com expires_at
false true get json kube-scheduler kube-scheduler-simulator kubescheduler.config.k8s.io/v1 leave_out_problems
login_link make manage.py nvidia.com/gpu open retry serve setup shop sort token web yaml hold v1.36 m30s v1beta3
Three-zone CLI id Ctrl Cmd Shift Markdown gang total node score un ok skip Default Bin-pack Spread No scoring
migrate metrics metrics/resources SIGUSR2 table Webhook
"""
CATALOGUE = """
    All Annotation AppGroup BalancedAllocation BestEffort Burstable Dedicated ElasticQuota Enabled Go Guaranteed Highest
    koordinator KubernetesMetricsServer Label Least LeastNUMANodes limits load-watcher Lowest Most NetworkTopology
    expires Newest NUMA Number Oldest OnlyResources Prometheus requests RFC SeccompProfile Shared SignalFx Timestamp ttl
"""
"""Kinds, fields and arguments' values of scheduler-plugins."""
OLDER = """
    EqualPriority EvenPodsSpreadPriority InterPodAffinityPriority NodeLabel NodePreferAvoidPods NodeResourceLimits
    SelectorSpreadPriority ServiceAffinity addedAffinity alwaysCheckAllPredicates converted.yaml defaultConstraints
    defaultingType failureDomains leases postFilter preScore preferredDuringScheduling reserve
    scheduler.alpha.kubernetes.io/preferAvoidPods unreserve v1 v1alpha1 v1beta1
"""
"""Older files of kube-scheduler, as they spell it."""
CLUSTERS = """
    PodScheduled batch check cluster default-scheduler dryRun key pool scheduler-name value
    ConfigMap ConfigMaps CSINode EXTENDER_URLS Extender KUBECONFIG Lease NodeResourceTopology PLAYGROUND_CONTEXTS
    PreferNoSchedule Secrets TLS caData certData extender http https insecure-skip-tls-verify k0 k1 k2 keyData max min
    ignorable nominatedNodeName scheduler-plugins LoadMetrics etcd api/v1/query query_range vector matrix
"""
"""Extenders, quotas and zones, connections to clusters, loads of nodes."""
TERMS = {plugin.name for plugin in (*PLUGINS, *OPTIONAL)}.union(
    FRAMEWORK.split(), API.split(), CATALOGUE.split(), OTHER.split(), OLDER.split(), CLUSTERS.split()
)


def texts(language: str, folder: str) -> Iterator[tuple[str, str]]:
    """(where it stands, text) of the browser and the server."""
    for path in sorted((ROOT / "frontend" / "src" / "languages" / language).glob("*.json")):
        for key, text in json.loads(path.read_text()).items():
            yield f"{path.name} {key}", text
    with (ROOT / "schedweb" / "locale" / folder / "LC_MESSAGES" / "django.po").open("rb") as catalog:
        for message in read_po(catalog):
            forms = message.string if isinstance(message.string, list | tuple) else [message.string]
            if message.id:
                yield from ((f"django.po {message.id!r}", str(form)) for form in forms)


@pytest.mark.parametrize(("language", "folder"), [("uk", "uk"), ("zh-CN", "zh_Hans")])
def test_no_english_is_left_over(language: str, folder: str) -> None:
    left = [
        f"{where}: {word} in {text!r}"
        for where, text in texts(language, folder)
        for word in WORD.findall(PLACEHOLDER.sub(" ", text))
        if len(word) > 1 and word not in TERMS
    ]
    assert left == []
