"""The product schedules a cluster, is killed as a whole with a pod in its inbox, and goes on after the next start."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from schedweb.clusters.writing.permission import VARIABLE
from scripts.processes import Playground
from scripts.site import Site, eventually
from tests.apiserver import ApiServer
from tests.apiserver.access import READER
from tests.apiserver.manifests import node, pod
from tests.apiserver.players import Kubelets
from tests.apiserver.recordings import SCHEDULER
from tests.first_start import FirstStart

CONTEXT = "lab"
WITH_APPROVALS = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: ours
  plugins: {permit: {enabled: [{name: ManualApproval}]}}
  pluginConfig:
  - name: ManualApproval
    args: {podSelector: {matchLabels: {approval: needed}}, timeoutSeconds: 800}
"""


def so(what: str, is_so: Callable[[], Any]) -> None:
    eventually(what, lambda: True if is_so() else None)


def asks(name: str) -> Any:
    return pod(name, scheduler="ours", metadata={"labels": {"approval": "needed"}})


def started(server: ApiServer, folder: Path, first_start: FirstStart) -> Playground:
    """For a user who may do what *schedule* needs by the product's own list, and nothing more."""
    server.grant(SCHEDULER, READER)
    token = server.user(SCHEDULER, groups=["system:authenticated"])
    config = server.write_kubeconfig(folder / "config", token=token, context=CONTEXT)
    data = folder / "data"
    data.mkdir()
    return Playground(first_start.into(data), KUBECONFIG=str(config), **{VARIABLE: CONTEXT})


def begun(site: Site, server: ApiServer) -> str:
    site.post(f"/api/v1/clusters/{CONTEXT}/connect/", {})
    rights = eventually("its rights are known", lambda: site.get(f"/api/v1/clusters/{CONTEXT}/")["rights"])
    lacking = next(each["yaml"] for each in rights["modes"] if each["mode"] == "schedule")
    role, _ = yaml.safe_load_all(lacking)
    server.grant(SCHEDULER, role["rules"])
    made = site.post("/api/v1/configurations/", {"name": "ours", "text": WITH_APPROVALS})
    asked = {"typed": CONTEXT, "configuration_version": made["latest"]["id"], "scheduler_names": ["ours"]}
    address = f"/api/v1/clusters/{CONTEXT}/schedule/"
    reading = site.post(address, asked)["reading"]["id"]
    run: str = eventually(
        "the cluster is read", lambda: (site.post(address, {**asked, "import_id": reading})["run"] or {}).get("id")
    )
    return run


def test_a_pod_that_waits_still_waits_after_everything_was_killed(
    api_server: ApiServer, tmp_path: Path, first_start: FirstStart
) -> None:
    server = api_server
    server.play(Kubelets(stop_after=None))
    server.add(node("n1"), node("n2"), pod("plain", scheduler="ours"), asks("waits"))
    playground = started(server, tmp_path, first_start)
    try:
        site = Site(playground.origin)
        site.open_link(playground.link)
        run = begun(site, server)

        def node_of(name: str) -> str:
            return str(server.get("pods", name, "default")["spec"].get("nodeName", ""))

        def waiting() -> list[str]:
            return [each["name"] for each in site.get(f"/api/v1/waiting/?run={run}")["rows"]]

        def decide(decision: str, name: str) -> None:
            pods = [{"namespace": "default", "name": name}]
            site.command(run, {"type": "decide", "decision": decision, "reason": "we looked", "pods": pods})

        so("the plain pod is bound", lambda: node_of("plain"))
        so("the other waits for a person", lambda: waiting() == ["waits"])

        playground.process.signal(signal.SIGKILL)
        playground.process.child.wait(30)
        server.add(pod("meanwhile", scheduler="ours"), asks("refused"))
        playground.start()
        site.open_link(playground.another_link())

        so("what came meanwhile is bound", lambda: node_of("meanwhile"))
        so("both wait", lambda: sorted(waiting()) == ["refused", "waits"])
        assert not node_of("waits"), "nobody has approved it"
        decide("approve", "waits")
        decide("reject", "refused")
        so("the approved one is bound", lambda: node_of("waits"))
        so("nobody waits any more", lambda: not waiting())

        site.command(run, {"type": "stop"})
        site.run_until(run, "it is stopped", lambda seen: seen["state"] == "stopped")
        server.add(pod("late", scheduler="ours"))
        server.settle()
        assert not node_of("late")
        assert not node_of("refused")
        bound = [each.name for each in server.requests.select(resource="pods/binding")]
        assert sorted(bound) == ["meanwhile", "plain", "waits"], "each once"
    finally:
        playground.process.stop()
