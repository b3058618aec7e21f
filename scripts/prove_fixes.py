"""Whether every fix that is proposed does what it says: random clusters through the product, as a person goes.

A playground of its own, over HTTP: a cluster is imported and played; of every pod that is left pending it is asked what
would help; every proposal is tried on a fork, which plays to its end. There the pod has its node, others fared as was
said, its page shows the pod as it was changed, and no node holds more than it has.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from schedweb.engine.sums import VERIFY
from scripts.processes import Playground
from scripts.random_clusters import Form, export
from scripts.site import Site, eventually

FORMS: tuple[Form, Form] = ("list", "simulator")
AT_REST = ("finished", "waiting_for_person", "paused")
TRIED = ("unschedulable", "gated", "backoff")
PLACED = ("bound", "waiting")
#: Verbs of what is there afterwards.
PUT = ("add", "replace")
WINDOW = 500
#: One cluster of so many is asked about while pods are still to be tried.
EARLY = 4
#: A fork that stands this long, and is told nothing, stays.
PAUSED_SECONDS = 5


@dataclass
class Count:
    clusters: int = 0
    pods: int = 0
    fixes: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


class Prover:
    def __init__(self, site: Site) -> None:
        self.site = site
        found = site.get("/api/v1/configurations/?limit=50")["results"]
        self.version = next(each["latest"]["id"] for each in found if each["name"] == "Default")
        self.count = Count()

    def cluster(self, seed: int) -> None:
        form = FORMS[seed % 2]
        snapshot = self.site.import_snapshot(export(seed, form), f"random {seed}")["id"]
        body = {"snapshot": snapshot, "configuration_version": self.version, "seed": seed, "paused": True}
        run = self.site.post("/api/v1/runs/", body)["id"]
        early = seed % EARLY == EARLY - 1
        seen = self.started(run, seed) if early else self.played(run)
        self.count.clusters += 1
        self.check_nodes(run, f"cluster {seed}")
        for pod in [each for each in self.pods(run).values() if each["column"] in TRIED]:
            self.count.pods += 1
            fits = self.pod(seed, run, seen["position"], pod, ended=not early)
            if fits and not early:
                self.count.wrong.append(f"cluster {seed}, {pod['name']}: pending, but it fits on {fits}")

    def played(self, run: str) -> Any:
        self.site.command(run, {"type": "play", "speed": "max"})
        return self.site.run_until(run, "the run is at its end", lambda seen: seen["state"] in AT_REST)

    def started(self, run: str, seed: int) -> Any:
        """After the first one or two attempts."""
        seen: Any = None
        for attempts in range(1, 2 + seed // EARLY % 2):
            self.site.command(run, {"type": "step", "what": "cycle"})
            stepped = partial(has_stepped, attempts)
            seen = self.site.run_until(run, "the run has made a step", stepped)
        return seen

    def pod(self, seed: int, run: str, position: int, pod: Any, *, ended: bool) -> str:
        """Where it goes without any help, if it does."""
        asked = {"namespace": pod["namespace"], "name": pod["name"]}
        question = {"name": "what_would_help", "arguments": asked, "position": position}
        analysis = self.site.post(f"/api/v1/runs/{run}/analyses/", question)

        def answered() -> Any:
            seen = self.site.get(f"/api/v1/runs/{run}/analyses/{analysis['id']}/")
            return seen if seen["status"] in ("done", "failed", "cancelled") else None

        answer = eventually("the question is answered", answered)
        about = f"cluster {seed}, {pod['name']}"
        if answer["status"] != "done":
            self.count.wrong.append(f"{about}: {answer['status']}: {answer.get('error')}")
            return ""
        for remedy in answer["result"]["remedies"]:
            self.count.fixes += 1
            self.count.kinds[remedy["kind"]] += 1
            for wrong in self.fix(run, position, pod, remedy, ended=ended):
                self.count.wrong.append(f"{about}: {remedy['kind']} “{remedy['text']}”: {wrong}")
        fits: str = answer["result"]["fits_on"]
        return fits

    def fix(self, run: str, position: int, pod: Any, remedy: Any, *, ended: bool) -> Iterator[str]:
        """As the button does it. What is wrong afterwards."""
        body = {"position": position, "changes": remedy["operations"], "play": True}
        fork = self.site.post(f"/api/v1/runs/{run}/forks/", body)["id"]

        paused: tuple[int, float] | None = None

        def played(seen: Any) -> bool:
            nonlocal paused
            if seen["state"] != "paused":
                paused = None
            elif paused is None or paused[0] != seen["seq"]:
                # Where its parent was, until it hears that it is to play; or because it would go on for ever.
                paused = seen["seq"], time.monotonic()
            return seen["state"] in AT_REST and (paused is None or time.monotonic() - paused[1] > PAUSED_SECONDS)

        self.site.run_until(fork, "the fork is at its end", played)
        journal = self.site.get(f"/api/v1/runs/{fork}/journal/?limit=100")["results"]
        yield from (f"refused: {each['text']}" for each in journal if each["status"] != "applied")
        found = self.site.get(f"/api/v1/runs/{fork}/pods/{pod['namespace']}/{pod['name']}/")
        if remedy["node"]:
            yield from self.placement(found, remedy)
            yield from self.page(fork, found, remedy)
        elif found["column"] != "deleted":
            yield f"it is not wanted any more, and {found['column']}"
        if not remedy["finished"]:
            yield "it was not played to its end before it was proposed"
        if ended:
            # Of an earlier moment it is said against what becomes of them anyway.
            yield from self.others(run, fork, pod, remedy)
        yield from self.node_figures(fork)
        answer = self.site.ask("DELETE", f"/api/v1/runs/{fork}/")
        if answer.status != 204:
            yield f"the fork cannot be deleted: {answer.body}"

    def placement(self, pod: Any, remedy: Any) -> Iterator[str]:
        if not placed(pod):
            yield f"it is {pod['column']}: {pod['answer']['headline']}"
        elif pod.get("node") != remedy["node"]:
            yield f"on {pod.get('node')}, not on {remedy['node']}"
        elif pod["answer"]["kind"] not in PLACED:
            yield f"its page says {pod['answer']['headline']}"

    def others(self, run: str, fork: str, pod: Any, remedy: Any) -> Iterator[str]:
        """Pods that had a node, and those that were made instead of them: where they are, as it was said."""
        before, after = self.pods(run), self.pods(fork)
        own = own_pods(pod, remedy)
        before = {uid: each for uid, each in before.items() if each["name"] not in own}
        after = {uid: each for uid, each in after.items() if each["name"] not in own}
        lost = [each["name"] for uid, each in before.items() if placed(each) and not placed(after.get(uid))]
        made = [each for uid, each in after.items() if uid not in before and placed(each)]
        if len(lost) - len(made) != remedy["left_pending"]:
            yield f"of {lost} {len(made)} have a place again, said were {remedy['left_pending']}: {remedy['cost']}"
        if len(remedy["others"]) == remedy["others_count"]:
            promised = sorted(each["node"] for each in remedy["others"] if each["fate"] == "moves")
            found = sorted(each["node"] for each in made)
            if promised != found:
                yield f"others are on {found}, said were {promised}"

    def page(self, fork: str, pod: Any, remedy: Any) -> Iterator[str]:
        """Its page shows what it was changed to."""
        path = f"/api/v1/runs/{fork}/pods/{pod['namespace']}/{pod['name']}/yaml/"
        shown = YAML(typ="safe").load(self.site.get(path)["yaml"])
        for operation in remedy["operations"]:
            manifest = operation["manifest"]
            if operation["verb"] not in PUT or manifest["kind"] != "Pod":
                continue
            if manifest["metadata"]["name"] != pod["name"]:
                continue
            for name, asked in manifest["spec"].items():
                if name not in ("nodeName", "volumes") and shown["spec"].get(name) != asked:
                    yield f"its YAML has {name} {shown['spec'].get(name)}, not {asked}"
            if pod["priority"] != manifest["spec"].get("priority", 0):
                yield f"its page has priority {pod['priority']}, not {manifest['spec'].get('priority')}"

    # --- what the cluster holds -------------------------------------------------------------------------------------

    def pods(self, run: str) -> dict[str, Any]:
        """By uid."""
        return {each["uid"]: each for each in self.site.get(f"/api/v1/runs/{run}/pods/?limit={WINDOW}")["results"]}

    def check_nodes(self, run: str, about: str) -> None:
        self.count.wrong += [f"{about}: {wrong}" for wrong in self.node_figures(run)]

    def node_figures(self, run: str) -> Iterator[str]:
        """Nothing holds more than it has: these clusters were not overfull."""
        table = self.site.get(f"/api/v1/runs/{run}/nodes/")
        rows = zip(table["names"], table["allocatable"], table["requested"], table["reserved"], strict=True)
        for node, has, asked, kept in rows:
            for name, most, bound, other in zip(table["resources"], has, asked, kept, strict=True):
                if bound + other > most:
                    yield f"{node} holds {bound + other} of {most} {name}"


def own_pods(pod: Any, remedy: Any) -> set[str]:
    """Names of the pods that are changed themselves: the one that is asked about, and those of its workload. Those that
    are moved are others."""
    operations = remedy["operations"]
    puts = any(each["verb"] in PUT and each["manifest"]["kind"] == "Pod" for each in operations)
    changes = puts and remedy["kind"] != "move"
    named = {each["manifest"]["metadata"]["name"] for each in operations if each["verb"] != "wait"}
    return {pod["name"], *(named if changes or not remedy["node"] else ())}


def has_stepped(attempts: int, run: Any) -> bool:
    return run["state"] in AT_REST and (run["state"] != "paused" or run["attempts"] >= attempts)


def placed(pod: Any) -> bool:
    return pod is not None and pod["column"] in PLACED


def prove(site: Site, seeds: Iterable[int], *, loud: bool = False) -> Count:
    prover = Prover(site)
    for seed in seeds:
        known = len(prover.count.wrong)
        try:
            prover.cluster(seed)
        except Exception as error:  # noqa: BLE001 - one that cannot be looked at is an exception like any other
            prover.count.wrong.append(f"cluster {seed}: {type(error).__name__}: {error}")
        if loud:
            for each in prover.count.wrong[known:]:
                print(each, flush=True)
    return prover.count


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clusters", type=int, default=300)
    parser.add_argument("--first", type=int, default=0, help="seed of the first cluster")
    asked = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        playground = Playground(Path(folder), **{VERIFY: "1"})
        try:
            site = Site(playground.origin)
            site.open_link(playground.link)
            count = prove(site, range(asked.first, asked.first + asked.clusters), loud=True)
        finally:
            playground.process.stop()
    kinds = ", ".join(f"{kind} {number}" for kind, number in sorted(count.kinds.items()))
    print(
        f"{count.clusters} clusters, {count.pods} pending pods, {count.fixes} fixes ({kinds}): {len(count.wrong)} "
        f"exceptions; {time.monotonic() - began:.0f} s"
    )
    return 1 if count.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
