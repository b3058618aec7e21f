"""From an older text to a v1 text, with what became of each part of it."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from framework.configuration.catalogue import PluginCatalogue
from framework.configuration.errors import ConfigurationError, PathPart
from framework.configuration.load import Loaded, load
from framework.configuration.older.command_lines import Flag
from framework.configuration.older.draft import Draft, as_yaml, with_lost_comments
from framework.configuration.older.findings import OUTCOMES, Finding, Findings, NotOlder
from framework.configuration.older.flags import apply_flags, need_old_defaults, policy_flags, provider_of
from framework.configuration.older.kinds import refuse_wrong_kinds
from framework.configuration.older.policy import Converted, convert_policy
from framework.configuration.older.recognition import Form, Piece, recognise
from framework.configuration.older.repeated import tell_repeated
from framework.configuration.older.versions import convert_version
from framework.configuration.types import API_GROUP, API_VERSION, DEFAULT_SCHEDULER_NAME, KIND
from framework.sentences import sentence

_UNKNOWN: Final = re.compile(r"unknown field ")
_PART: Final = re.compile(r"([^.\[\]]+)|\[(\d+)\]")


class Conversion(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    """A KubeSchedulerConfiguration v1, YAML."""
    old: str
    """What it was made of: the text itself, or what an object held."""
    findings: tuple[Finding, ...]
    """Carried, then changed, then dropped; each in the order of the old text."""
    forms: tuple[Form, ...]
    """What was found, e.g. ("Policy",); none for flags alone."""
    flags: bool
    errors: tuple[ConfigurationError, ...] = ()
    """Why the v1 text does not load: what the older version would have refused, too."""

    @property
    def dropped(self) -> tuple[Finding, ...]:
        return tuple(each for each in self.findings if each.outcome == "dropped")


def convert(text: str, catalogue: PluginCatalogue, flags: str = "") -> Conversion:
    """``flags``: a command line of kube-scheduler beside the text.

    Raises SourceError for what cannot be read, NotOlder for what is no configuration and no command line.
    """
    found = recognise(text)
    given = found.flags
    if flags.strip():
        beside = recognise(flags)
        if beside.pieces:
            raise NotOlder(sentence("the flags are no command line but a configuration"))
        given = (*given, *beside.flags)
    policy, main = _sorted_out(found.pieces, given)
    for piece in found.pieces:
        refuse_wrong_kinds(piece)
    notes: list[Findings] = []
    converted = None
    if policy is not None:
        findings = Findings(policy.root, policy.shift, policy.within)
        notes.append(findings)
        tell_repeated(policy.root, findings)
        converted = convert_policy(policy.root.to_value(), catalogue, findings)
    draft, old = _drafted(main, policy, converted, given, catalogue, notes)
    if given:
        findings = Findings(None)
        notes.append(findings)
        apply_flags(given, draft, findings, has_file=main is not None, has_policy=policy is not None)
    if not notes:
        notes.append(Findings(None))
    loaded = _without_unknown_fields(draft, catalogue, notes[0])
    everything = [each for findings in notes for each in findings.found]
    everything.sort(key=lambda each: OUTCOMES.index(each.outcome))
    return Conversion(
        text=with_lost_comments(old, draft.text),
        old=old or text,
        findings=tuple(everything),
        forms=tuple(piece.form for piece in found.pieces),
        flags=bool(given),
        errors=loaded.errors,
    )


def _sorted_out(pieces: tuple[Piece, ...], flags: tuple[Flag, ...]) -> tuple[Piece | None, Piece | None]:
    """The Policy and the KubeSchedulerConfiguration; both only where the latter, or a flag, names the former."""
    policies = [piece for piece in pieces if piece.form == "Policy"]
    others = [piece for piece in pieces if piece.form != "Policy"]
    both = bool(policies and others)
    named = any(piece.form == "v1alpha1" for piece in others)
    if len(policies) > 1 or len(others) > 1 or (both and not named and not policy_flags(flags)):
        second = pieces[1]
        line = None if second.shift is None or second.root.line is None else second.root.line + second.shift
        raise NotOlder(sentence("there are several configurations in this text; convert one at a time"), line, 1)
    return (policies[0] if policies else None), (others[0] if others else None)


def _drafted(
    main: Piece | None,
    policy: Piece | None,
    converted: Converted | None,
    flags: tuple[Flag, ...],
    catalogue: PluginCatalogue,
    notes: list[Findings],
) -> tuple[Draft, str]:
    """The v1 text before flags, and the old one that it is compared with."""
    if main is not None:
        findings = Findings(main.root, main.shift, main.within)
        notes.append(findings)
        is_repeated = main.form != "v1" and tell_repeated(main.root, findings)
        draft = Draft(as_yaml(main.root.to_value()) if is_repeated else main.text, catalogue)
        convert_version(main.form, main.root.to_value(), draft, catalogue, findings, converted)
        return draft, main.text
    if converted is not None and policy is not None:
        value: dict[str, Any] = {
            "apiVersion": API_VERSION,
            "kind": KIND,
            "profiles": [{"schedulerName": DEFAULT_SCHEDULER_NAME, **converted.profile}],
        }
        if converted.extenders:
            value["extenders"] = converted.extenders
        return Draft(as_yaml(value), catalogue), policy.text
    if need_old_defaults(flags):
        findings = Findings(None)
        notes.append(findings)
        written = {
            "apiVersion": f"{API_GROUP}/v1beta1",
            "kind": KIND,
            "profiles": [{"schedulerName": DEFAULT_SCHEDULER_NAME}],
        }
        draft = Draft(as_yaml(written), catalogue)
        convert_version("v1beta1", written, draft, catalogue, findings, provider=provider_of(flags))
        findings.found = [each for each in findings.found if each.what != "apiVersion"]
        words = sentence(
            "Kubernetes 1.22 was the last with these flags: its default plugins and weights (v1beta1) are written out."
        )
        findings.changed("plugins", (), words)
        return draft, ""
    return Draft(as_yaml({"apiVersion": API_VERSION, "kind": KIND}), catalogue), ""


def _without_unknown_fields(draft: Draft, catalogue: PluginCatalogue, findings: Findings) -> Loaded:
    """What v1 has no field for is taken out and named, one by one."""
    while True:
        loaded = load(draft.text, catalogue)
        unknown = [each for each in loaded.errors if each.stage == "decoding" and _UNKNOWN.search(str(each.message))]
        taken = False
        for each in unknown:
            path = _path(each.path)
            if not path or not _is_there(draft, path):
                continue
            draft.remove(path)
            words = sentence("v1 has no field {field}.", field=str(path[-1]))
            findings.dropped(str(path[-1]), path, words)
            taken = True
            break  # the others may stand elsewhere now
        if not taken:
            return loaded


def _is_there(draft: Draft, path: tuple[PathPart, ...]) -> bool:
    holder = draft.get(path[:-1])
    last = path[-1]
    return last in holder if isinstance(holder, dict) and isinstance(last, str) else isinstance(last, int)


def _path(text: str) -> tuple[PathPart, ...]:
    return tuple(int(index) if index else name for name, index in _PART.findall(text))
