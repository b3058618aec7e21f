"""KubeSchedulerConfiguration v1 as Structs: what a person writes.

``None`` is "not given" (a nil pointer upstream); ``framework.configuration.defaults`` fills it. The Go type that
decoding errors name stands in ``Meta(extra={"go": …})``. The types behind ``Plugins`` are the same in every profile.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final

import msgspec
from msgspec import Meta, field

from framework.sentences import noted

API_GROUP: Final = "kubescheduler.config.k8s.io"
API_VERSION: Final = f"{API_GROUP}/v1"
KIND: Final = "KubeSchedulerConfiguration"
DEFAULT_SCHEDULER_NAME: Final = "default-scheduler"

Int32 = Annotated[int, Meta(extra={"go": "int32"})]
Int64 = Annotated[int, Meta(extra={"go": "int64"})]
Float32 = Annotated[float, Meta(extra={"go": "float32"})]
Duration = Annotated[
    str,
    Meta(
        extra={"go": "duration"},
        description=noted("A duration such as 15s, 2m30s or 1h."),
        extra_json_schema={"format": "go-duration"},
    ),
]
Bytes = Annotated[str, Meta(description=noted("Base64."))]


class ConfigurationStruct(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Base of the configuration's Structs."""


class Plugin(ConfigurationStruct, frozen=True):
    name: str = ""
    weight: Annotated[Int32 | None, Meta(description=noted("Weight of the score; absent or 0 means 1."))] = None


class PluginSet(ConfigurationStruct, frozen=True):
    enabled: tuple[Plugin, ...] = ()
    disabled: tuple[Plugin, ...] = ()


NO_PLUGINS: Final = PluginSet()


class Plugins(ConfigurationStruct, frozen=True):
    pre_enqueue: PluginSet = NO_PLUGINS
    queue_sort: PluginSet = NO_PLUGINS
    pre_filter: PluginSet = NO_PLUGINS
    filter: PluginSet = NO_PLUGINS
    post_filter: PluginSet = NO_PLUGINS
    pre_score: PluginSet = NO_PLUGINS
    score: PluginSet = NO_PLUGINS
    reserve: PluginSet = NO_PLUGINS
    permit: PluginSet = NO_PLUGINS
    pre_bind: PluginSet = NO_PLUGINS
    bind: PluginSet = NO_PLUGINS
    post_bind: PluginSet = NO_PLUGINS
    multi_point: PluginSet = NO_PLUGINS
    placement_generate: PluginSet = NO_PLUGINS
    placement_score: PluginSet = NO_PLUGINS


class PluginConfig(ConfigurationStruct, frozen=True):
    name: str = ""
    args: Any = None
    """A mapping as written; after decoding the plugin's args Struct where the catalogue knows one."""


class KubeSchedulerProfile(ConfigurationStruct, frozen=True):
    scheduler_name: Annotated[
        str | None, Meta(description=noted("Pods choose the profile with spec.schedulerName."))
    ] = None
    percentage_of_nodes_to_score: Annotated[
        Int32 | None, Meta(description=noted("Overrides the global value for this profile."))
    ] = None
    plugins: Plugins | None = None
    plugin_config: tuple[PluginConfig, ...] = ()


class LeaderElectionConfiguration(ConfigurationStruct, frozen=True):
    leader_elect: bool | None = None
    lease_duration: Duration = "0s"
    renew_deadline: Duration = "0s"
    retry_period: Duration = "0s"
    resource_lock: str = ""
    resource_name: str = ""
    resource_namespace: str = ""


class ClientConnectionConfiguration(ConfigurationStruct, frozen=True):
    kubeconfig: str = ""
    accept_content_types: str = ""
    content_type: str = ""
    qps: Float32 = 0.0
    burst: Int32 = 0


class ExtenderManagedResource(ConfigurationStruct, frozen=True):
    name: str = ""
    ignored_by_scheduler: bool = False


class ExtenderTLSConfig(ConfigurationStruct, frozen=True):
    insecure: bool = False
    server_name: str = ""
    cert_file: str = ""
    key_file: str = ""
    ca_file: str = ""
    cert_data: Bytes = ""
    key_data: Bytes = ""
    ca_data: Bytes = ""


class Extender(ConfigurationStruct, frozen=True):
    url_prefix: str = ""
    filter_verb: str = ""
    preempt_verb: str = ""
    prioritize_verb: str = ""
    weight: Int64 = 0
    bind_verb: str = ""
    enable_https: bool = field(name="enableHTTPS", default=False)
    tls_config: ExtenderTLSConfig | None = None
    http_timeout: Duration = field(name="httpTimeout", default="0s")
    node_cache_capable: bool = False
    managed_resources: tuple[ExtenderManagedResource, ...] = ()
    ignorable: bool = False


class KubeSchedulerConfiguration(ConfigurationStruct, frozen=True):
    api_version: ClassVar[str] = API_VERSION
    kind: ClassVar[str] = KIND

    parallelism: Annotated[Int32 | None, Meta(description=noted("How many nodes are looked at in parallel."))] = None
    leader_election: LeaderElectionConfiguration = LeaderElectionConfiguration()
    client_connection: ClientConnectionConfiguration = ClientConnectionConfiguration()
    enable_profiling: bool | None = None
    enable_contention_profiling: bool | None = None
    percentage_of_nodes_to_score: Annotated[
        Int32 | None,
        Meta(
            description=noted(
                "Stop looking for feasible nodes at this share of the cluster; 0 chooses by cluster size."
            )
        ),
    ] = None
    pod_initial_backoff_seconds: Annotated[
        Int64 | None, Meta(description=noted("Backoff of a pod after its first failed attempt."))
    ] = None
    pod_max_backoff_seconds: Annotated[Int64 | None, Meta(description=noted("The longest backoff of a pod."))] = None
    profiles: tuple[KubeSchedulerProfile, ...] = ()
    extenders: tuple[Extender, ...] = ()
    delay_cache_until_active: bool = False
