"""What kube-scheduler does not say of a configuration: what was probably meant, and what is silently without effect."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from framework.configuration.catalogue import ExtensionPoint, PluginCatalogue
from framework.configuration.effective import EffectiveConfiguration, EffectiveProfile
from framework.configuration.errors import ROOT, FieldPath, did_you_mean
from framework.configuration.types import KubeSchedulerConfiguration, KubeSchedulerProfile, PluginSet
from framework.sentences import Words, sentence

_NO_SUCH_PLUGIN: Final = re.compile(r'Plugin "([^"]*)" does not exist$')
_NOT_HERE: Final = re.compile(r'^plugin "([^"]*)" does not extend ')
_WEIGHED: Final = ("score", "multiPoint")
_EVERY: Final = "*"


def hint(path: FieldPath, message: str, catalogue: PluginCatalogue) -> Words:
    """For one error of kube-scheduler's: a sentence that leads on, or ""."""
    if (unknown := _NO_SUCH_PLUGIN.search(message)) is not None:
        return _meant(unknown[1], catalogue)
    if (elsewhere := _NOT_HERE.search(message)) is not None:
        entry = catalogue.get(elsewhere[1])
        points = [] if entry is None else [at.value for at in ExtensionPoint if at in entry.extension_points]
        return sentence("It extends {points}.", points=points) if points else ""
    match path.parts:
        case ("profiles", int(), "schedulerName") if message.startswith("Duplicate value"):
            return sentence("An earlier profile has this name; pods choose a profile by it.")
        case ("profiles", int(), "plugins", str(point)) if point.lower() == "queuesort" and "only one" in message:
            few = message.endswith(" 0")
            return (
                sentence("Enable one, usually PrioritySort.") if few else sentence("Disable the others at queueSort.")
            )
    return ""


def warnings(
    written: KubeSchedulerConfiguration, effective: EffectiveConfiguration, catalogue: PluginCatalogue
) -> Iterator[tuple[FieldPath, Words, Words]]:
    """Path, sentence and hint of what kube-scheduler takes without a word and the author hardly meant."""
    for i, (profile, built) in enumerate(zip(written.profiles, effective.profiles, strict=False)):
        at = ROOT.child("profiles").index(i)
        for j, entry in enumerate(profile.plugin_config):
            if entry.name not in built.plugins:
                text = sentence(
                    "{plugin} is not enabled in this profile: its arguments are not used", plugin=entry.name
                )
                meant = _meant(entry.name, catalogue) if catalogue.get(entry.name) is None else ""
                yield at.child("pluginConfig").index(j), text, meant
        for point, plugins in _sets(profile):
            yield from _of_set(at.child("plugins", point), point, plugins, built, catalogue)


def _of_set(
    at: FieldPath, point: str, plugins: PluginSet, built: EffectiveProfile, catalogue: PluginCatalogue
) -> Iterator[tuple[FieldPath, Words, Words]]:
    for j, plugin in enumerate(plugins.disabled):
        if plugin.name != _EVERY and catalogue.get(plugin.name) is None:
            text = sentence("no plugin is called {plugin}: nothing is disabled by it", plugin=plugin.name)
            yield at.child("disabled").index(j).child("name"), text, _meant(plugin.name, catalogue)
    for j, plugin in enumerate(plugins.enabled):
        used = built.weights.get(plugin.name)
        if point not in _WEIGHED or used is None or plugin.weight is None or plugin.weight > 0:
            continue
        where = at.child("enabled").index(j).child("weight")
        if plugin.weight == 0:
            yield (
                where,
                sentence("a weight of 0 is as good as none: it is {used}", used=used),
                sentence("Disable {plugin} at score instead.", plugin=plugin.name),
            )
        else:
            text = sentence("with a negative weight, nodes that {plugin} likes best come last", plugin=plugin.name)
            yield where, text, ""


def _sets(profile: KubeSchedulerProfile) -> Iterator[tuple[str, PluginSet]]:
    if profile.plugins is not None:
        for field in msgspec.structs.fields(profile.plugins):
            yield field.encode_name, getattr(profile.plugins, field.name)


def _meant(name: str, catalogue: PluginCatalogue) -> Words:
    return did_you_mean(name, catalogue.names())
