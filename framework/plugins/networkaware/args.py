"""Arguments of NetworkOverhead and TopologicalSort (docs/semantics/catalogue.md#networkoverhead)."""

from __future__ import annotations

from typing import Annotated, Final, Self

from msgspec import Meta
from msgspec.structs import replace

from framework.configuration.catalogue import PluginArgs
from framework.sentences import noted

DEFAULT_NAMESPACES: Final = ("default",)


class TopologicalSortArgs(PluginArgs, frozen=True):
    namespaces: Annotated[
        tuple[str, ...], Meta(description=noted("Where AppGroups are looked for, in this order."))
    ] = ()

    def defaulted(self) -> Self:
        return replace(self, namespaces=self.namespaces or DEFAULT_NAMESPACES)


class NetworkOverheadArgs(PluginArgs, frozen=True):
    namespaces: Annotated[
        tuple[str, ...],
        Meta(description=noted("Where AppGroups and the NetworkTopology are looked for, in this order.")),
    ] = ()
    weights_name: Annotated[str, Meta(description=noted("Which of the NetworkTopology's lists of costs counts."))] = (
        "UserDefined"
    )
    network_topology_name: Annotated[str, Meta(description=noted("The name of the NetworkTopology."))] = "nt-default"

    def defaulted(self) -> Self:
        return replace(self, namespaces=self.namespaces or DEFAULT_NAMESPACES)
