"""What is used of a run's ElasticQuotas, per resource, beside what each is guaranteed and may use.

Counted as the plugin counts that the configuration enables: by namespace as CapacityScheduling does, or along the tree
of ElasticQuotaTree, with what each may use at the moment. Where none does, by namespace.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from framework.plugins.quotatree.args import ElasticQuotaTreeArgs
from framework.plugins.quotatree.plugin import ElasticQuotaTree
from framework.plugins.quotatree.tree import QuotaTree
from schedweb.api.errors import ApiError
from schedweb.runs.filtering import elastic_quotas
from schedweb.runs.filtering.elastic_quotas import amount_body, quotas_of, resource_bodies, resource_order
from schedweb.runs.filtering.quota_trees import quota_tree_of
from schedweb.runs.filtering.standing import Standing, StandingOf
from schedweb.runs.models import Run
from schedweb.runs.objects.claims import Objects
from schedweb.runs.objects.selectors import ObjectLookup
from schedweb.runs.records.beginning import refuse_until_begun
from schedweb.runs.records.profiles import effective, version_at

TREE: Final = ElasticQuotaTree.name


def bars_of_run(run: Run) -> dict[str, Any]:
    objects, standing = ObjectLookup(run), StandingOf(run)
    plugin, args = _counts_by(run)
    if args is not None:
        resources = tree_bodies(quota_tree_of(args, objects, standing))
    else:
        resources = namespace_bodies(objects, standing)
    if not resources:
        refuse_until_begun(run)
    return {"plugin": plugin, "resources": resources}


def _counts_by(run: Run) -> tuple[str, ElasticQuotaTreeArgs | None]:
    """The plugin that holds to quotas, of the first profile that has one; "" for none."""
    try:
        profiles = effective(version_at(run, run.position).text).profiles
    except ApiError:
        return "", None
    for profile in profiles:
        enabled = {plugin.name for plugin in profile.point("preFilter").plugins}
        args = profile.args.get(TREE)
        if TREE in enabled and isinstance(args, ElasticQuotaTreeArgs):
            return TREE, args
        if elastic_quotas.PLUGIN in enabled:
            return elastic_quotas.PLUGIN, None
    return "", None


def namespace_bodies(objects: Objects, standing: Standing) -> list[dict[str, Any]]:
    return resource_bodies(quotas_of(objects, standing.pods))


def tree_bodies(tree: QuotaTree) -> list[dict[str, Any]]:
    """Quotas as they stand below each other. Those in a circle are below none, and have no share."""
    built = tree.built
    named = {name for quota in built.quotas.values() for bound in (quota.least, quota.most) for name in bound}
    rows = [*_below(tree, "", 0)]
    placed = {name for name, _ in rows}
    rows += [(name, 0) for name in sorted(built.quotas) if name not in placed]
    return [_tree_resource(tree, resource, rows) for resource in resource_order(named)]


def _below(tree: QuotaTree, parent: str, depth: int) -> Iterator[tuple[str, int]]:
    for name in sorted(tree.built.children.get(parent, ())):
        yield name, depth
        yield from _below(tree, name, depth + 1)


def _tree_resource(tree: QuotaTree, resource: str, rows: list[tuple[str, int]]) -> dict[str, Any]:
    """`used` and `min` in all: of the quotas at the top, which have all below them in theirs."""
    top = [name for name, depth in rows if depth == 0]
    quotas = []
    for name, depth in rows:
        quota = tree.quota(name)
        most, share = quota.most.get(resource), tree.shares[name].get(resource)
        quotas.append(
            {
                "namespace": quota.namespace,
                "name": name,
                "depth": depth,
                "used": amount_body(resource, tree.used(name, resource)),
                "min": amount_body(resource, quota.least.get(resource, 0)),
                "max": None if most is None else amount_body(resource, most),
                "share": None if share is None else amount_body(resource, share),
            }
        )
    return {
        "name": resource,
        "used": amount_body(resource, sum(tree.used(name, resource) for name in top)),
        "min": amount_body(resource, sum(tree.quota(name).least.get(resource, 0) for name in top)),
        "quotas": quotas,
    }
