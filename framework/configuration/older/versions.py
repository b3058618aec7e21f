"""An older KubeSchedulerConfiguration, edited into v1: the fields beside the profiles, and then the profiles.

Upstream: ``defaults.go`` of the configuration's v1alpha1, v1alpha2, v1beta1, v1beta2 and v1beta3.
"""

from __future__ import annotations

from typing import Any, Final

from framework.configuration.catalogue import PluginCatalogue
from framework.configuration.edits import DisablePlugin, SetArgs
from framework.configuration.older.draft import Draft
from framework.configuration.older.extenders import converted_extenders
from framework.configuration.older.findings import Findings, Path
from framework.configuration.older.plugin_lists import convert_profiles
from framework.configuration.older.policy import Converted
from framework.configuration.older.recognition import Form
from framework.configuration.older.strategies import tell_unknown
from framework.configuration.types import API_VERSION
from framework.sentences import sentence

HARD_AFFINITY: Final = "hardPodAffinitySymmetricWeight"
_ADDRESSES: Final = ("healthzBindAddress", "metricsBindAddress")
CLUSTER_AUTOSCALER: Final = "ClusterAutoscalerProvider"
DEFAULT_PROVIDER: Final = "DefaultProvider"


def convert_version(
    form: Form,
    old: dict[str, Any],
    draft: Draft,
    catalogue: PluginCatalogue,
    findings: Findings,
    policy: Converted | None = None,
    provider: str = "",
) -> None:
    """``draft`` is the old text to begin with; ``policy`` the Policy that it names; ``provider`` the one of a flag."""
    if form == "v1":
        words = sentence("This is {version} already.", version=API_VERSION)
        findings.carried("apiVersion", ("apiVersion",), words)
        return
    _Version(form, old, draft, catalogue, findings, policy, provider).convert()


class _Version:
    def __init__(
        self,
        form: Form,
        old: dict[str, Any],
        draft: Draft,
        catalogue: PluginCatalogue,
        findings: Findings,
        policy: Converted | None,
        provider: str,
    ) -> None:
        self._provider = provider
        self._form = form
        self._old = old
        self._draft = draft
        self._catalogue = catalogue
        self._findings = findings
        self._policy = policy

    def convert(self) -> None:
        written = str(self._old.get("apiVersion"))
        words = sentence("{old} is written as {new}.", old=written, new=API_VERSION)
        self._findings.changed("apiVersion", ("apiVersion",), words)
        self._draft.set(("apiVersion",), API_VERSION)
        provider = self._algorithm_source() if self._form == "v1alpha1" else ""
        if self._form == "v1alpha1":
            self._one_profile()
        self._take_out()
        self._leader_election()
        if self._old.get("extenders"):
            extenders = converted_extenders(self._old["extenders"], ("extenders",), self._findings)
            if extenders != self._draft.get(("extenders",)):
                self._draft.set(("extenders",), extenders)
        if self._policy is None:
            packing = CLUSTER_AUTOSCALER in (provider, self._provider)
            convert_profiles(self._form, self._old, self._draft, self._catalogue, self._findings, packing=packing)
        self._top_level_arguments()
        self._sampling()

    # v1alpha1 ---------------------------------------------------------------------------------------------------------

    def _algorithm_source(self) -> str:
        """Takes it out; the provider's name."""
        source = self._old.get("algorithmSource")
        if not isinstance(source, dict):
            return ""
        self._draft.remove(("algorithmSource",))
        policy, provider = source.get("policy"), source.get("provider")
        tell_unknown(source, ("policy", "provider"), ("algorithmSource",), self._findings)
        if isinstance(policy, dict):
            at: Path = ("algorithmSource", "policy")
            if provider:
                words = sentence("{field} did not count beside a Policy.", field="provider")
                self._findings.dropped("provider", ("algorithmSource", "provider"), words)
            if self._policy is not None:
                words = sentence("The Policy that it names was given with it, and is converted.")
                self._findings.carried("algorithmSource", at, words)
                return ""
            words = sentence(
                "The Policy stands elsewhere ({place}), and its predicates and priorities are not in this text: "
                "convert it together with this file, as two documents separated by ---.",
                place=_place_of(policy),
            )
            self._findings.dropped("algorithmSource", at, words)
            return ""
        if isinstance(provider, str) and provider:
            tell_provider(provider, ("algorithmSource", "provider"), self._findings)
            return provider
        return ""

    def _one_profile(self) -> None:
        """v1alpha1 has one profile, whose fields stand at the top."""
        profile: dict[str, Any] = {}
        name = self._old.get("schedulerName")
        if name is not None:
            profile["schedulerName"] = name
            words = sentence("{field} stands in the profile.", field="schedulerName")
            self._findings.changed("schedulerName", ("schedulerName",), words)
        if self._policy is not None:
            profile |= self._policy.profile
            for field in ("plugins", "pluginConfig"):
                if self._old.get(field):
                    words = sentence("{field} beside a Policy: the plugins are those of the Policy.", field=field)
                    self._findings.dropped(field, (field,), words)
        else:
            for field in ("plugins", "pluginConfig"):
                if self._old.get(field):
                    profile[field] = self._old[field]
                    words = sentence("{field} stands in the profile.", field=field)
                    self._findings.changed(field, (field,), words)
            self._rename_sets(profile)
        if self._old.get("profiles"):
            words = sentence("No version of kube-scheduler reads {field} here.", field="profiles")
            self._findings.dropped("profiles", ("profiles",), words)
        profile.setdefault("schedulerName", "default-scheduler")
        profile = {"schedulerName": profile.pop("schedulerName"), **profile}
        self._draft.set(("profiles",), [profile])
        for field in ("schedulerName", "plugins", "pluginConfig"):
            if self._draft.get((field,)) is not None:
                self._draft.remove((field,))
        if self._policy is not None and self._policy.extenders:
            self._draft.set(("extenders",), self._policy.extenders)

    def _rename_sets(self, profile: dict[str, Any]) -> None:
        plugins = profile.get("plugins")
        if not isinstance(plugins, dict) or "postFilter" not in plugins:
            return
        plugins = {("preScore" if name == "postFilter" else name): each for name, each in plugins.items()}
        profile["plugins"] = plugins
        words = sentence("What v1alpha1 called postFilter is preScore today.")
        self._findings.changed("postFilter", ("plugins", "postFilter"), words)

    # Fields beside the profiles ---------------------------------------------------------------------------------------

    def _take_out(self) -> None:
        for field in _ADDRESSES:
            if field in self._old:
                words = sentence(
                    "{field}: health and metrics are served on the secure port alone, which is a flag.", field=field
                )
                self._gone(field, words)
        if "failureDomains" in self._old:
            words = sentence("failureDomains: topology keys are named in the affinity of each pod.")
            self._gone("failureDomains", words)

    def _gone(self, field: str, words: Any) -> None:
        self._findings.dropped(field, (field,), words)
        self._draft.remove((field,))

    def _leader_election(self) -> None:
        elected = self._old.get("leaderElection")
        if not isinstance(elected, dict):
            return
        for old, new in (("lockObjectNamespace", "resourceNamespace"), ("lockObjectName", "resourceName")):
            if old in elected:
                if new in elected:
                    words = sentence("{field} gives way to {kept}, which stands beside it.", field=old, kept=new)
                    self._findings.dropped(old, ("leaderElection", old), words)
                else:
                    words = sentence("{old} is called {new} in v1.", old=old, new=new)
                    self._findings.changed(old, ("leaderElection", old), words)
                    self._draft.set(("leaderElection", new), elected[old])
                self._draft.remove(("leaderElection", old))
        lock = elected.get("resourceLock")
        if lock not in (None, "", "leases"):
            words = sentence("v1 locks with leases only, not with {lock}.", lock=str(lock))
            self._findings.changed("resourceLock", ("leaderElection", "resourceLock"), words)
            self._draft.set(("leaderElection", "resourceLock"), "leases")

    def _top_level_arguments(self) -> None:
        for field, plugin, argument in (
            (HARD_AFFINITY, "InterPodAffinity", "hardPodAffinityWeight"),
            ("bindTimeoutSeconds", "VolumeBinding", "bindTimeoutSeconds"),
        ):
            value = self._old.get(field)
            if field not in self._old:
                continue
            self._draft.remove((field,))
            words = sentence("{old} is {argument} of {plugin}.", old=field, argument=argument, plugin=plugin)
            self._findings.changed(field, (field,), words)
            for i in range(self._profiles()):
                if value is not None and not _has_argument(self._draft, i, plugin, argument):
                    self._draft.edit(SetArgs(profile=i, plugin=plugin, path=(argument,), value=value))
        if "disablePreemption" in self._old:
            self._draft.remove(("disablePreemption",))
            at: Path = ("disablePreemption",)
            if self._old["disablePreemption"] is True:
                for i in range(self._profiles()):
                    self._draft.edit(DisablePlugin(profile=i, point="multiPoint", name="DefaultPreemption"))
                words = sentence("Without preemption: DefaultPreemption is disabled in every profile.")
                self._findings.changed("disablePreemption", at, words)
            else:
                words = sentence("Preemption is on, as by default in v1.")
                self._findings.carried("disablePreemption", at, words)

    def _profiles(self) -> int:
        return max(1, len(self._draft.get(("profiles",)) or ()))

    def _sampling(self) -> None:
        value = self._old.get("percentageOfNodesToScore")
        if self._form == "v1alpha1" and not value:
            words = sentence(
                "Without percentageOfNodesToScore, kube-scheduler 1.13 and older looked for feasible nodes in half of "
                "the cluster, 1.14 and newer in a share that follows from its size, as v1 does."
            )
            at: Path = ("percentageOfNodesToScore",) if "percentageOfNodesToScore" in self._old else ()
            self._findings.carried("percentageOfNodesToScore", at, words)


def tell_provider(provider: str, at: Path, findings: Findings) -> None:
    if provider == DEFAULT_PROVIDER:
        words = sentence("{provider} is what v1 calls the default plugins.", provider=provider)
        findings.carried(provider, at, words)
    elif provider == CLUSTER_AUTOSCALER:
        words = sentence(
            "{provider} filled nodes: NodeResourcesFit has the scoring strategy MostAllocated.", provider=provider
        )
        findings.changed(provider, at, words)
    else:
        words = sentence("No version of kube-scheduler has the provider {provider}.", provider=provider)
        findings.dropped(provider, at, words)


def _has_argument(draft: Draft, profile: int, plugin: str, argument: str) -> bool:
    for entry in draft.get(("profiles", profile, "pluginConfig")) or ():
        if isinstance(entry, dict) and entry.get("name") == plugin:
            args = entry.get("args")
            return isinstance(args, dict) and args.get(argument) is not None
    return False


def _place_of(policy: dict[str, Any]) -> str:
    file, config_map = policy.get("file"), policy.get("configMap")
    if isinstance(file, dict):
        return str(file.get("path", ""))
    if isinstance(config_map, dict):
        return f"ConfigMap {config_map.get('namespace') or 'kube-system'}/{config_map.get('name', '')}"
    return "?"
