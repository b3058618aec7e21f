"""The contexts of this server's kubeconfig, by name and address. What they log in with stays in the file.

Finding and merging the files (KUBECONFIG, ``~/.kube/config``) is the kubernetes client's work. It is imported where it
is needed: it takes half a second and 40 MB.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final, NamedTuple

from framework.sentences import sentence
from schedweb.clusters.reading.problems import ClusterProblem

IN_CLUSTER: Final = "in-cluster"
"""The service account of the pod that this server runs in."""
_TOKEN: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount/token")


class Context(NamedTuple):
    name: str
    server: str
    """Address of its API server; "" where nobody has looked yet."""


def kubeconfig_paths() -> str:
    """One or several, as KUBECONFIG names them."""
    return os.environ.get("KUBECONFIG") or "~/.kube/config"


def is_in_a_pod() -> bool:
    return bool(os.environ.get("KUBERNETES_SERVICE_HOST")) and _TOKEN.is_file()


def known_contexts() -> list[Context]:
    """Those of the kubeconfig in its order, then the service account. Raises ClusterProblem."""
    if not kubeconfig_files():
        if is_in_a_pod():
            return [_service_account()]
        words = sentence(
            "There is no kubeconfig: {paths} does not exist. KUBECONFIG names another one.", paths=kubeconfig_paths()
        )
        raise ClusterProblem(words, "no_kubeconfig")
    found = [Context(name, server) for name, server in _merged()]
    return [*found, _service_account()] if is_in_a_pod() else found


def kubeconfig_files() -> list[Path]:
    named = (Path(each).expanduser() for each in kubeconfig_paths().split(os.pathsep) if each)
    return [each for each in named if each.exists()]


def _service_account() -> Context:
    host, port = os.environ["KUBERNETES_SERVICE_HOST"], os.environ.get("KUBERNETES_SERVICE_PORT", "443")
    return Context(IN_CLUSTER, f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}")


def _merged() -> list[tuple[str, str]]:
    """(context, server). Nothing of the file but these goes into what is raised: its lines hold keys."""
    import yaml  # noqa: PLC0415 - see above
    from kubernetes.config.config_exception import ConfigException  # noqa: PLC0415
    from kubernetes.config.kube_config import KubeConfigMerger  # noqa: PLC0415

    try:
        whole = KubeConfigMerger(kubeconfig_paths()).config.value
        servers = {each["name"]: _server(each) for each in map(_plain, whole["clusters"])}
        return [
            (str(each["name"]), servers.get((each.get("context") or {}).get("cluster"), ""))
            for each in map(_plain, whole["contexts"])
        ]
    except OSError as error:
        why = f"{error.filename}: {error.strerror}"
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        why = f"line {line}: {error.problem}"
    except (ConfigException, yaml.YAMLError, AttributeError, KeyError, TypeError, UnicodeDecodeError):
        why = "it has not the form of a kubeconfig"
    raise ClusterProblem(
        sentence("The kubeconfig {paths} cannot be read: {why}.", paths=kubeconfig_paths(), why=why), "bad_kubeconfig"
    )


def _plain(entry: Any) -> dict[str, Any]:
    value: dict[str, Any] = getattr(entry, "value", entry)
    return value


def _server(cluster: dict[str, Any]) -> str:
    return without_password(str((cluster.get("cluster") or {}).get("server") or "").rstrip("/"))


def without_password(address: str) -> str:
    """That somebody wrote into it."""
    scheme, separator, rest = address.partition("://")
    return f"{scheme}{separator}{rest.rpartition('@')[2]}" if separator else address
