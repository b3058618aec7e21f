"""What each command does to a run, and what it answers. The same in the live run and in replay."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final

from framework.extenders import Answer
from framework.objects import Node, Pod
from framework.objects.timestamps import SECOND
from framework.profiles import ProfileError
from framework.scheduler import WaitingPodState
from framework.scheduler.controllers import is_workload, workload_in
from framework.sentences import Sentence, Words, counted_sentence, forms, sentence, words_of
from schedweb.engine import commands
from schedweb.engine.asked import unpacked
from schedweb.engine.decided_evictions import decide_evictions
from schedweb.engine.device_conditions import claim_with, with_device_condition
from schedweb.engine.observed import NOT_FOLLOWING, observe_all
from schedweb.engine.player import Player, RunRefused
from schedweb.engine.pod_view import PodView, owner_of
from schedweb.engine.shapes import UntranslatedDecision, UntranslatedResult
from schedweb.engine.times import iso
from schedweb.engine.unfollowed import NOT_COMING, expect, unfollow
from schedweb.engine.world import Refused
from schedweb.engine.written import NOT_SCHEDULING, hear_outcomes, say_decision

MID_CYCLE: Final = sentence("The configuration can only be switched between two cycles; finish this one first.")
NOT_ASKED: Final = sentence("No extender is asked that any more.")
KEPT_FREE: Final = forms(
    "{count} kept without a controller or of a DaemonSet", "{count} kept without a controller or of a DaemonSet"
)
KEPT_BY_BUDGET: Final = forms(
    "{count} kept by PodDisruptionBudget {budget}", "{count} kept by PodDisruptionBudget {budget}"
)
ADDED_WITH_PODS: Final = forms("added {kind} {name} with {count} pod", "added {kind} {name} with {count} pods")
DELETED_WITH_PODS: Final = forms("deleted {kind} {name} with {count} pod", "deleted {kind} {name} with {count} pods")


def answers_of(command: commands.ExtenderAnswers) -> list[Answer]:
    return [Answer(each.status, unpacked(each.body), each.error) for each in command.answers]


class Obedience:
    """Commands that change the machine; the pace is kept elsewhere. Handlers raise Refused before any change."""

    def __init__(self, player: Player) -> None:
        self.player = player
        self.world = player.world
        self.projection = player.projection

    def obey(self, command: commands.AnyCommand, *, author: str, entry: str) -> UntranslatedResult:
        """What the journal keeps as the result. Raises Refused; that too is an operation, and replay meets it again."""
        self.player.operations += 1
        if isinstance(command, commands.Decide):
            result = self.decide(command, author, entry)
        elif isinstance(command, commands.DecideEviction):
            result = decide_evictions(self.player, command, author, entry)
        elif isinstance(command, commands.ExtenderAnswers):
            if self.player.asked_at != command.asked:
                raise Refused(NOT_ASKED)
            self.player.answer(answers_of(command))
            result = UntranslatedResult()
        elif isinstance(command, commands.ClusterChanges):
            observe_all(self.player, command)
            result = UntranslatedResult()
        elif isinstance(command, commands.WriteOutcomes):
            hear_outcomes(self.player, command)
            result = UntranslatedResult()
        elif isinstance(command, commands.Arrivals):
            expect(self.player, command)
            result = UntranslatedResult()
        else:
            with self.noting():
                done = HANDLERS[type(command)](self, command)
            result = UntranslatedResult(text=done)
            self.projection.feed.line(
                self.player.now, "command", sentence("{author} {done}.", author=author, done=done)
            )
        self.player.settle()
        return result

    def noting(self) -> AbstractContextManager[None]:
        """What a person does to a fork holds against what is still to come to it."""
        persons = None if self.player.later is None else self.player.later.world.persons
        return nullcontext() if persons is None else persons.noting(self.world.cluster)

    # --- pods -------------------------------------------------------------------------------------------------------

    def pod_add(self, command: commands.PodAdd) -> Sentence:
        pod = self.player.create(command.manifest)
        return sentence("added pod {pod}", pod=pod.key)

    def pod_delete(self, command: commands.PodDelete) -> Sentence:
        """For good: its workload is taken to be one smaller."""
        pod = self.world.pod(command.namespace, command.name)
        self.world.delete(pod)
        return sentence("deleted pod {pod}", pod=pod.key)

    def pod_activate(self, command: commands.PodActivate) -> Sentence:
        pod = self.world.pod(command.namespace, command.name)
        if pod.spec.node_name:
            raise Refused(bound_already(pod))
        self.player.scheduler.activate([pod], by_person=True)
        return sentence("activated pod {pod}", pod=pod.key)

    def wait(self, command: commands.Wait) -> Sentence:
        self.player.until = max(self.player.now + command.seconds * SECOND, self.player.until or 0)
        return counted_sentence("let {count:,} second pass", "let {count:,} seconds pass", command.seconds)

    # --- nodes ------------------------------------------------------------------------------------------------------

    def node_add(self, command: commands.NodeAdd) -> Sentence:
        node = self.player.create(command.manifest)
        return sentence("added node {node}", node=node.metadata.name)

    def node_delete(self, command: commands.NodeDelete) -> Sentence:
        node = self.world.node(command.name)
        pods = self.world.pods_on(command.name)
        self.world.delete(node)
        made = sum(self.world.evict(pod) for pod in pods)
        return counted_sentence(
            "deleted node {node} with {count} pod, {made} of them made anew",
            "deleted node {node} with {count} pods, {made} of them made anew",
            len(pods),
            node=command.name,
            made=made,
        )

    def node_cordon(self, command: commands.NodeCordon) -> Sentence:
        self.world.cordon(command.name, cordoned=True)
        return sentence("cordoned node {node}", node=command.name)

    def node_uncordon(self, command: commands.NodeUncordon) -> Sentence:
        self.world.cordon(command.name, cordoned=False)
        return sentence("uncordoned node {node}", node=command.name)

    def node_drain(self, command: commands.NodeDrain) -> Sentence:
        """As kubectl drain: DaemonSets' pods stay, pods without a controller too, budgets are kept."""
        self.world.cordon(command.name, cordoned=True)
        spent: dict[str, int] = {}
        chosen: list[Pod] = []
        kept: dict[str, int] = {}
        """By the budget that keeps them; "" for those that nobody would make anew."""
        for pod in self.world.pods_on(command.name):
            if owner_of(pod)[0] == "DaemonSet" or self.world.replacement(pod) is None:
                budget = ""
            elif (known := self.world.budget_keeping(pod, spent)) is not None:
                budget = known
            else:
                chosen.append(pod)
                continue
            kept[budget] = kept.get(budget, 0) + 1
        for pod in chosen:
            self.world.evict(pod)
        done = [counted_sentence("{count} pod evicted", "{count} pods evicted", len(chosen))]
        for budget, count in kept.items():
            done.append(counted_sentence(*(KEPT_BY_BUDGET if budget else KEPT_FREE), count, budget=budget))
        return sentence("drained node {node}: {done}", node=command.name, done=done)

    # --- devices ----------------------------------------------------------------------------------------------------

    def device_condition(self, command: commands.DeviceCondition) -> Sentence:
        claim = claim_with(self.world.cluster, command)
        self.world.cluster.replace(with_device_condition(claim, command, self.player.now))
        return sentence(
            "set condition {condition} of device {device} to {status} in claim {claim}",
            condition=command.condition,
            device=f"{command.pool}/{command.device}",
            status=command.status,
            claim=claim.key,
        )

    # --- any object -------------------------------------------------------------------------------------------------

    def change(self, command: commands.Change) -> Sentence:
        """A pod or node that is deleted goes as by hand: controllers make their pods anew, but not what is removed.

        A workload comes with the pods that its controllers make, and takes them along when it goes.
        """
        if command.verb == "add":
            if (asked_for := workload_in(command.manifest)) is not None:
                workload, pods = self.world.add_workload(asked_for, self.player.now)
                return counted_sentence(*ADDED_WITH_PODS, pods, kind=workload.kind, name=workload.key)
            made = self.player.create(command.manifest)
            return sentence("added {kind} {name}", kind=made.kind, name=made.key)
        known, asked = self.world.asked(command.manifest, command.resource_version)
        if command.verb == "replace":
            self.world.replace(known, asked)
            return sentence("changed {kind} {name}", kind=known.kind, name=known.key)
        if is_workload(known.api_version, known.kind):
            pods = self.world.delete_workload(known)
            return counted_sentence(*DELETED_WITH_PODS, pods, kind=known.kind, name=known.key)
        if command.verb == "remove":
            self.world.delete(known)
            return sentence("removed {kind} {name} for good", kind=known.kind, name=known.key)
        if isinstance(known, Node):
            return self.node_delete(commands.NodeDelete(known.metadata.name))
        if isinstance(known, Pod):
            if self.world.evict(known):
                return sentence("deleted pod {pod}, made anew by its controller", pod=known.key)
            return sentence("deleted pod {pod}", pod=known.key)
        self.world.delete(known)
        return sentence("deleted {kind} {name}", kind=known.kind, name=known.key)

    # --- the run ----------------------------------------------------------------------------------------------------

    def set_seed(self, command: commands.SetSeed) -> Sentence:
        self.player.set_seed(command.seed)
        return sentence("set the seed to {seed}", seed=str(command.seed))

    def set_configuration(self, command: commands.SetConfiguration) -> Sentence:
        if self.player.scheduler.mid_cycle:
            raise Refused(MID_CYCLE)
        try:
            self.player.set_configuration(command.text)
        except (RunRefused, ProfileError, ValueError) as error:
            raise Refused(words_of(error)) from None
        return sentence("switched the configuration")

    def unfollow(self, command: commands.Unfollow) -> Sentence:
        unfollow(self.player, arrivals=command.arrivals, expects=command.expects)
        if command.arrivals:
            return sentence(
                "took over from the real cluster: from here on this run decides by itself, and what came to the "
                "cluster afterwards comes here"
            )
        return sentence("took over from the real cluster: from here on this run decides by itself")

    # --- decisions --------------------------------------------------------------------------------------------------

    def decide(self, command: commands.Decide, author: str, entry: str) -> UntranslatedResult:
        """Every pod has its own answer; a pod that cannot be decided does not keep the others."""
        outcomes = []
        for asked in command.pods:
            decided, outcome = self.decide_one(command, asked, author, entry)
            outcomes.append(
                UntranslatedDecision(namespace=asked.namespace, name=asked.name, decided=decided, outcome=outcome)
            )
        return UntranslatedResult(pods=outcomes)

    def decide_one(
        self, command: commands.Decide, asked: commands.DecidedPod, author: str, entry: str
    ) -> tuple[bool, Sentence]:
        """Whether this command decided, and in words."""
        pod = self.world.cluster.get(Pod, asked.namespace, asked.name)
        if pod is None or (asked.uid and asked.uid != pod.uid):
            # The pod is gone, or another one has its name.
            return False, self.decided_before(asked.uid)
        view = self.projection.views[pod.uid]
        state = next((each for each in self.player.scheduler.waiting_pods() if each.uid == pod.uid), None)
        if state is None or state.decided:
            return False, self.decided_before(pod.uid)
        plugins = self.plugins_asked(command, state)
        if not isinstance(plugins, list):
            return False, plugins
        if command.decision == "reject":
            self.projection.decide(view, "rejected", author, plugins[0], command.reason, entry)
            view.asked_again = sentence("rejected by {author} {time}", author=author, time=iso(self.player.now)[11:16])
            say_decision(self.player, pod, "reject", author, command.reason)
            self.player.scheduler.reject(pod.uid, plugins[0], command.reason, by_person=True)
            return True, sentence("rejected")
        kind = "approved" if command.decision == "approve" else "overridden"
        self.projection.decide(view, kind, author, plugins[0], command.reason, entry)
        say_decision(self.player, pod, command.decision, author, command.reason)
        for plugin in plugins:
            self.player.scheduler.allow(pod.uid, plugin)
        return True, left_waiting(view, kind)

    def plugins_asked(self, command: commands.Decide, state: WaitingPodState) -> list[str] | Sentence:
        """Which plugins the decision is for, or why it is for none."""
        pending = list(state.deadlines)
        asking = list(state.asks_a_person)
        if command.plugin and command.plugin not in pending:
            return sentence("not waiting on {plugin}", plugin=command.plugin)
        if command.decision == "approve":
            chosen = [plugin for plugin in asking if not command.plugin or plugin == command.plugin]
            return chosen or sentence("not approved: it waits on {plugins}, which asks nobody", plugins=pending)
        if command.decision == "override":
            return [command.plugin]
        return [command.plugin] if command.plugin else (asking or pending)[:1]

    def decided_before(self, uid: str) -> Sentence:
        known = self.projection.decided.get(uid)
        if known is None:
            return sentence("not waiting")
        return sentence("already decided by {by} at {time}", by=known[0], time=iso(known[1])[11:19])


def left_waiting(view: PodView, kind: str) -> Sentence:
    left = [wait.plugin for wait in view.waits] if view.column == "waiting" else []
    if kind == "approved":
        return sentence("approved, still waits on {plugins}", plugins=left) if left else sentence("approved")
    return sentence("overridden, still waits on {plugins}", plugins=left) if left else sentence("overridden")


def bound_already(pod: Pod) -> Sentence:
    return sentence("pod {pod} is bound to {node} already", pod=pod.key, node=pod.spec.node_name)


def validate(player: Player, command: commands.AnyCommand) -> Words | None:
    """Why the command would be refused now; asked before it is given its place in the journal."""
    try:
        match command:
            case commands.PodDelete(namespace, name) | commands.PodActivate(namespace, name):
                pod = player.world.pod(namespace, name)
                if isinstance(command, commands.PodActivate) and pod.spec.node_name:
                    return bound_already(pod)
            case (
                commands.NodeDelete(name)
                | commands.NodeCordon(name)
                | commands.NodeUncordon(name)
                | commands.NodeDrain(name)
            ):
                player.world.node(name)
            case commands.DeviceCondition():
                claim_with(player.world.cluster, command)
            case commands.NodeAdd(manifest):
                name = str(manifest.get("metadata", {}).get("name", ""))
                if player.world.cluster.get(Node, "", name) is not None:
                    return f'nodes "{name}" already exists'
            case commands.Change(verb, manifest, version) if verb != "add":
                player.world.asked(manifest, version)
            case commands.ExtenderAnswers(asked=asked) if player.asked_at != asked:
                return NOT_ASKED
            case commands.ClusterChanges() | commands.Unfollow() if not player.is_of_real_cluster:
                return NOT_FOLLOWING
            case commands.Arrivals() if player.later is None:
                return NOT_COMING
            case commands.WriteOutcomes() if player.live is None:
                return NOT_SCHEDULING
            case commands.SetSeed() if player.scheduler.attempts:
                return sentence("The seed can be set only before the first step.")
            case commands.SetConfiguration() if player.scheduler.mid_cycle:
                return MID_CYCLE
    except Refused as error:
        return error.words
    return None


HANDLERS: Final[dict[type[Any], Callable[[Obedience, Any], Sentence]]] = {
    commands.PodAdd: Obedience.pod_add,
    commands.PodDelete: Obedience.pod_delete,
    commands.PodActivate: Obedience.pod_activate,
    commands.Wait: Obedience.wait,
    commands.DeviceCondition: Obedience.device_condition,
    commands.NodeAdd: Obedience.node_add,
    commands.NodeDelete: Obedience.node_delete,
    commands.NodeCordon: Obedience.node_cordon,
    commands.NodeUncordon: Obedience.node_uncordon,
    commands.NodeDrain: Obedience.node_drain,
    commands.Change: Obedience.change,
    commands.SetSeed: Obedience.set_seed,
    commands.SetConfiguration: Obedience.set_configuration,
    commands.Unfollow: Obedience.unfollow,
}
