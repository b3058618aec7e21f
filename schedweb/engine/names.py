"""Pod names as people read them: the workload, and the tail that tells one pod from its siblings.

The template hash of a Deployment's ReplicaSet and a random suffix are machine-made; the workload's name is not.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

# Kubernetes draws random suffixes and template hashes from these letters only (apimachinery util/rand): no vowels, so
# that no word appears by chance, and none that look alike.
SAFE: Final = "bcdfghjklmnpqrstvwxz2456789"
SUFFIX: Final = re.compile(rf"^(?P<rest>.+)-(?P<tail>[{SAFE}]{{5}})$")
HASHED: Final = re.compile(rf"^(?P<workload>.+)-[{SAFE}]{{6,10}}$")
ORDINAL: Final = re.compile(r"^(?P<workload>.+)-(?P<tail>\d+)$")


def split_name(name: str, owner: str = "", owner_kind: str = "", hash_label: str = "") -> tuple[str, str]:
    """(workload, tail). The owner and the pod-template-hash label settle it; without them the name's shape does."""
    if owner and name.startswith(owner) and name[len(owner) : len(owner) + 1] == "-":
        return _workload(owner, owner_kind, hash_label), name[len(owner) + 1 :]
    if found := SUFFIX.match(name):
        rest = found["rest"]
        hashed = HASHED.match(rest)
        return (hashed["workload"] if hashed else rest), found["tail"]
    if found := ORDINAL.match(name):
        return found["workload"], found["tail"]
    return name, ""


@lru_cache(maxsize=1 << 12)
def _workload(owner: str, owner_kind: str, hash_label: str) -> str:
    """Asked once per replica."""
    if owner_kind == "ReplicaSet" and hash_label and owner.endswith(f"-{hash_label}"):
        return owner.removesuffix(f"-{hash_label}")
    if owner_kind == "ReplicaSet" and (hashed := HASHED.match(owner)):
        return hashed["workload"]
    return owner
