"""ElasticQuotaTree's arguments (docs/koordinator.md#elasticquotatree)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Annotated

from msgspec import Meta

from framework.configuration import EffectiveConfiguration
from framework.configuration.catalogue import PluginArgs
from framework.configuration.errors import ROOT, FieldPath
from framework.sentences import Sentence, noted, sentence


class ElasticQuotaTreeArgs(PluginArgs, frozen=True):
    default_quota: Annotated[
        str,
        Meta(description=noted("ElasticQuota of pods that belong to none. Empty: these are not limited.")),
    ] = ""
    check_parents: Annotated[
        bool, Meta(description=noted("A pod must fit into the share of every quota above its own, too."))
    ] = True
    count_pending_pods: Annotated[
        bool,
        Meta(description=noted("What pending pods ask for counts when shares are worked out, not only what is used.")),
    ] = True


def unknown_default_quotas(
    configuration: EffectiveConfiguration, names: Collection[str]
) -> Iterator[tuple[FieldPath, Sentence]]:
    """Where a profile names a ``defaultQuota`` that no ElasticQuota of the cluster has, ``names`` being theirs."""
    for i, profile in enumerate(configuration.profiles):
        args = profile.args.get("ElasticQuotaTree")
        if isinstance(args, ElasticQuotaTreeArgs) and args.default_quota and args.default_quota not in names:
            yield (
                ROOT.child("profiles").index(i),
                sentence(
                    "ElasticQuotaTree's {field} {name} is no ElasticQuota of the cluster: pods that belong to no "
                    "other one are not limited.",
                    field="defaultQuota",
                    name=args.default_quota,
                ),
            )
