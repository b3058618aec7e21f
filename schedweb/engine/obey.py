"""What each command does to a run, and what it answers. The same in the live run and in replay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from framework.objects import Node, Pod
from framework.profiles import ProfileError
from framework.scheduler import WaitingPodState
from schedweb.engine import commands
from schedweb.engine import feed as lines
from schedweb.engine.player import Player, RunRefused
from schedweb.engine.pod_view import PodView
from schedweb.engine.world import Refused
from schedweb.runs.times import iso

Result = dict[str, Any]


class Obedience:
    """Commands that change the machine; the pace is kept elsewhere. Handlers raise Refused before any change."""

    def __init__(self, player: Player) -> None:
        self.player = player
        self.world = player.world
        self.projection = player.projection

    def obey(self, command: commands.AnyCommand, *, author: str, entry: str) -> Result:
        """What the journal keeps as the result. Raises Refused; that too is an operation, and replay meets it again."""
        self.player.operations += 1
        if isinstance(command, commands.Decide):
            result = self.decide(command, author, entry)
        else:
            result = {"text": HANDLERS[type(command)](self, command)}
            said = f"{author} {result['text']}."
            self.projection.feed.line(self.player.now, "command", [lines.text(said)])
        self.player.settle()
        return result

    # --- pods -------------------------------------------------------------------------------------------------------

    def pod_add(self, command: commands.PodAdd) -> str:
        pod = self.player.create(command.manifest)
        return f"added pod {pod.key}"

    def pod_delete(self, command: commands.PodDelete) -> str:
        pod = self.world.pod(command.namespace, command.name)
        self.world.delete(pod)
        return f"deleted pod {pod.key}"

    def pod_activate(self, command: commands.PodActivate) -> str:
        pod = self.world.pod(command.namespace, command.name)
        if pod.spec.node_name:
            raise Refused(f"pod {pod.key} is bound to {pod.spec.node_name} already")
        self.player.scheduler.activate([pod], by_person=True)
        return f"activated pod {pod.key}"

    # --- nodes ------------------------------------------------------------------------------------------------------

    def node_add(self, command: commands.NodeAdd) -> str:
        node = self.player.create(command.manifest)
        return f"added node {node.metadata.name}"

    def node_delete(self, command: commands.NodeDelete) -> str:
        node = self.world.node(command.name)
        pods = self.world.pods_on(command.name)
        self.world.delete(node)
        made = self.evict(pods)
        return f"deleted node {command.name} with {len(pods)} pods, {made} of them made anew"

    def node_cordon(self, command: commands.NodeCordon) -> str:
        self.world.cordon(command.name, cordoned=True)
        return f"cordoned node {command.name}"

    def node_uncordon(self, command: commands.NodeUncordon) -> str:
        self.world.cordon(command.name, cordoned=False)
        return f"uncordoned node {command.name}"

    def node_drain(self, command: commands.NodeDrain) -> str:
        """As kubectl drain: DaemonSets' pods stay, pods without a controller too, budgets are kept."""
        self.world.cordon(command.name, cordoned=True)
        spent: dict[str, int] = {}
        chosen: list[Pod] = []
        kept: dict[str, int] = {}
        for pod in self.world.pods_on(command.name):
            if self.world.replacement(pod) is None:
                why = "without a controller or of a DaemonSet"
            elif (budget := self.world.budget_keeping(pod, spent)) is not None:
                why = f"by PodDisruptionBudget {budget}"
            else:
                chosen.append(pod)
                continue
            kept[why] = kept.get(why, 0) + 1
        self.evict(chosen)
        told = "".join(f", {count} kept {why}" for why, count in kept.items())
        return f"drained node {command.name}: {len(chosen)} pods evicted{told}"

    def evict(self, pods: list[Pod]) -> int:
        """Deletes them; their controllers make new ones. Returns how many were made."""
        made = 0
        for pod in pods:
            self.world.delete(pod)
            replacement = self.world.replacement(pod)
            if replacement is not None:
                self.world.add(replacement, self.player.now, stored=True)
                made += 1
        return made

    # --- any object -------------------------------------------------------------------------------------------------

    def change(self, command: commands.Change) -> str:
        """A pod or node that is deleted goes as by hand: controllers make their pods anew."""
        if command.verb == "add":
            made = self.player.create(command.manifest)
            return f"added {made.kind} {made.key}"
        known, asked = self.world.asked(command.manifest)
        if command.verb == "replace":
            self.world.replace(known, asked)
            return f"changed {known.kind} {known.key}"
        if isinstance(known, Node):
            return self.node_delete(commands.NodeDelete(known.metadata.name))
        if isinstance(known, Pod):
            made_anew = self.evict([known])
            return f"deleted pod {known.key}{', made anew by its controller' if made_anew else ''}"
        self.world.delete(known)
        return f"deleted {known.kind} {known.key}"

    # --- the run ----------------------------------------------------------------------------------------------------

    def set_seed(self, command: commands.SetSeed) -> str:
        self.player.set_seed(command.seed)
        return f"set the seed to {command.seed}"

    def set_configuration(self, command: commands.SetConfiguration) -> str:
        if self.player.scheduler.mid_cycle:
            raise Refused("The configuration can only be switched between two cycles; finish this one first.")
        try:
            self.player.set_configuration(command.text)
        except (RunRefused, ProfileError, ValueError) as error:
            raise Refused(str(error)) from None
        return "switched the configuration"

    # --- decisions --------------------------------------------------------------------------------------------------

    def decide(self, command: commands.Decide, author: str, entry: str) -> Result:
        """Every pod has its own answer; a pod that cannot be decided does not keep the others."""
        outcomes = []
        for asked in command.pods:
            outcome = self.decide_one(command, asked, author, entry)
            outcomes.append({"namespace": asked.namespace, "name": asked.name, "outcome": outcome})
        return {"pods": outcomes}

    def decide_one(self, command: commands.Decide, asked: commands.DecidedPod, author: str, entry: str) -> str:
        pod = self.world.cluster.get(Pod, asked.namespace, asked.name)
        if pod is None or (asked.uid and asked.uid != pod.uid):
            # The pod is gone, or another one has its name.
            return self.decided_before(asked.uid) or "not waiting"
        view = self.projection.views[pod.uid]
        state = next((each for each in self.player.scheduler.waiting_pods() if each.uid == pod.uid), None)
        if state is None or state.decided:
            return self.decided_before(pod.uid) or "not waiting"
        plugins = self.plugins_asked(command, state)
        if isinstance(plugins, str):
            return plugins
        if command.decision == "reject":
            self.projection.decide(view, "rejected", author, plugins[0], command.reason, entry)
            view.asked_again = f"rejected by {author} {iso(self.player.now)[11:16]}"
            self.player.scheduler.reject(pod.uid, plugins[0], command.reason, by_person=True)
            return "rejected"
        kind = "approved" if command.decision == "approve" else "overridden"
        self.projection.decide(view, kind, author, plugins[0], command.reason, entry)
        for plugin in plugins:
            self.player.scheduler.allow(pod.uid, plugin)
        return self.left_waiting(pod.uid, view, kind)

    def plugins_asked(self, command: commands.Decide, state: WaitingPodState) -> list[str] | str:
        """Which plugins the decision is for, or why it is for none."""
        pending = list(state.deadlines)
        asking = list(state.asks_a_person)
        if command.plugin and command.plugin not in pending:
            return f"not waiting on {command.plugin}"
        if command.decision == "approve":
            chosen = [plugin for plugin in asking if not command.plugin or plugin == command.plugin]
            return chosen or f"not approved: it waits on {', '.join(pending)}, which asks nobody"
        if command.decision == "override":
            return [command.plugin]
        return [command.plugin] if command.plugin else (asking or pending)[:1]

    def decided_before(self, uid: str) -> str | None:
        known = self.projection.decided.get(uid)
        return None if known is None else f"already decided by {known[0]} at {iso(known[1])[11:19]}"

    def left_waiting(self, uid: str, view: PodView, kind: str) -> str:
        left = [wait.plugin for wait in view.waits] if view.column == "waiting" else []
        return f"{kind}, still waits on {', '.join(left)}" if left else kind


def validate(player: Player, command: commands.AnyCommand) -> str | None:
    """Why the command would be refused now; asked before it is given its place in the journal."""
    try:
        match command:
            case commands.PodDelete(namespace, name) | commands.PodActivate(namespace, name):
                pod = player.world.pod(namespace, name)
                if isinstance(command, commands.PodActivate) and pod.spec.node_name:
                    return f"pod {pod.key} is bound to {pod.spec.node_name} already"
            case (
                commands.NodeDelete(name)
                | commands.NodeCordon(name)
                | commands.NodeUncordon(name)
                | commands.NodeDrain(name)
            ):
                player.world.node(name)
            case commands.NodeAdd(manifest):
                name = str(manifest.get("metadata", {}).get("name", ""))
                if player.world.cluster.get(Node, "", name) is not None:
                    return f'nodes "{name}" already exists'
            case commands.Change(verb, manifest) if verb != "add":
                player.world.asked(manifest)
            case commands.SetSeed() if player.scheduler.attempts:
                return "The seed can be set only before the first step."
            case commands.SetConfiguration() if player.scheduler.mid_cycle:
                return "The configuration can only be switched between two cycles; finish this one first."
    except Refused as error:
        return str(error)
    return None


HANDLERS: Final[dict[type[Any], Callable[[Obedience, Any], str]]] = {
    commands.PodAdd: Obedience.pod_add,
    commands.PodDelete: Obedience.pod_delete,
    commands.PodActivate: Obedience.pod_activate,
    commands.NodeAdd: Obedience.node_add,
    commands.NodeDelete: Obedience.node_delete,
    commands.NodeCordon: Obedience.node_cordon,
    commands.NodeUncordon: Obedience.node_uncordon,
    commands.NodeDrain: Obedience.node_drain,
    commands.Change: Obedience.change,
    commands.SetSeed: Obedience.set_seed,
    commands.SetConfiguration: Obedience.set_configuration,
}
