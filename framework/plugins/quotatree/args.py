"""ElasticQuotaTree's arguments (docs/koordinator.md#elasticquotatree)."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from framework.configuration.catalogue import PluginArgs
from framework.sentences import noted


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
