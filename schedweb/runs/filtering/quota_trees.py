"""The tree of a run's ElasticQuotas, as ElasticQuotaTree counts it (docs/koordinator.md#elasticquotatree)."""

from __future__ import annotations

from framework.objects.catalogue import QUOTA_NAME, ElasticQuota
from framework.objects.decode import decode_manifest
from framework.plugins.quotatree.args import ElasticQuotaTreeArgs
from framework.plugins.quotatree.plugin import tree_by
from framework.plugins.quotatree.tree import QuotaTree, counted_if_it_asks, counted_of
from schedweb.runs.filtering.standing import Standing
from schedweb.runs.objects.claims import Objects


def quota_tree_of(args: ElasticQuotaTreeArgs, objects: Objects, standing: Standing) -> QuotaTree:
    """Pods by their key; of those that no quota can be meant for none is read."""
    tree, namespaces = tree_by(args), set[str]()
    for manifest in objects.all(ElasticQuota.kind):
        quota = decode_manifest({"apiVersion": ElasticQuota.api_version, **manifest})
        if isinstance(quota, ElasticQuota):
            tree.set_quota(quota.metadata.namespace, quota.metadata.name, quota)
            namespaces.add(quota.metadata.namespace)
    for name, node in standing.nodes.items():
        tree.set_node(name, node)
    for each in standing.pods:
        if args.default_quota or each.namespace in namespaces or QUOTA_NAME in each.labels:
            known = each.pod
            if each.node and not known.spec.node_name:  # reserved for it
                tree.set_pod(each.key, counted_of(known, placed=True))
            else:
                tree.set_pod(each.key, counted_if_it_asks(known))
    return tree
