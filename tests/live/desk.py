"""A person at the installation: begins runs beside the cluster, looks at them, decides, stops them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scripts.site import Site, eventually
from tests.live.clusters import Cluster

CONTEXT = "live"
OURS = "ours"
WITH_APPROVALS = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: ours
  plugins:
    permit: {enabled: [{name: ManualApproval}]}
  pluginConfig:
  - name: ManualApproval
    args: {podSelector: {matchLabels: {approval: needed}}, timeoutSeconds: 800}
"""


def until(what: str, is_so: Callable[[], Any]) -> None:
    eventually(what, lambda: is_so() or None)


class Desk:
    def __init__(self, site: Site, cluster: Cluster) -> None:
        self.site = site
        self.cluster = cluster
        self._runs: list[str] = []

    def configured(self, name: str, text: str) -> str:
        """The version of a configuration, which is stored once."""
        known = self.site.get("/api/v1/configurations/?limit=50")["results"]
        found = next((each for each in known if each["name"] == name), None)
        made = found or self.site.post("/api/v1/configurations/", {"name": name, "text": text})
        version: str = made["latest"]["id"]
        return version

    def begin(self, how: str, **asked: Any) -> str:
        """``how``: follow, schedule. The run, when it knows all of the cluster."""
        url = f"/api/v1/clusters/{CONTEXT}/{how}/"
        asked["import_id"] = self.site.post(url, asked)["reading"]["id"]

        def begun() -> Any:
            answer = self.site.post(url, asked)
            assert answer["run"] or answer["reading"]["state"] != "failed", answer
            return answer["run"]

        run: str = eventually("the cluster is read", begun)["id"]
        self._runs.append(run)
        return run

    def schedule(self, **terms: Any) -> str:
        version = self.configured("with approvals", WITH_APPROVALS)
        asked = {"typed": CONTEXT, "configuration_version": version, "scheduler_names": [OURS], "dry_run": False}
        run = self.begin("schedule", **{**asked, "namespaces": [self.cluster.namespace], **terms})
        until("it schedules", lambda: self.scheduling(run)["state"] == "scheduling")
        return run

    def follow(self, **asked: Any) -> str:
        run = self.begin("follow", **asked)
        until("it is live", lambda: self.site.get(f"/api/v1/runs/{run}/follow/")["state"] == "live")
        return run

    def scheduling(self, run: str) -> Any:
        return self.site.get(f"/api/v1/runs/{run}/schedule/")

    def pod(self, run: str, name: str) -> Any:
        """As the run shows it, or None."""
        found = self.site.get(f"/api/v1/runs/{run}/pods/?q={self.cluster.namespace}/{name}&limit=20")["results"]
        return next((each for each in found if each["name"] == name), None)

    def column(self, run: str, name: str) -> str:
        found = self.pod(run, name)
        return "" if found is None else str(found["column"])

    def decide(self, run: str, decision: str, name: str, reason: str = "") -> None:
        pods = [{"namespace": self.cluster.namespace, "name": name}]
        self.site.command(run, {"type": "decide", "decision": decision, "reason": reason, "pods": pods})

    def writes(self, run: str, **asked: str) -> list[Any]:
        query = "".join(f"&{key}={value}" for key, value in asked.items())
        rows: list[Any] = self.site.get(f"/api/v1/runs/{run}/schedule/writes/?limit=100{query}")["results"]
        return rows

    def stop(self, run: str) -> None:
        self.site.command(run, {"type": "stop"})
        until("it is stopped", lambda: self.site.get(f"/api/v1/runs/{run}/")["state"] == "stopped")

    def stop_all(self) -> None:
        for run in self._runs:
            if self.site.get(f"/api/v1/runs/{run}/")["state"] != "stopped":
                self.stop(run)
