"""``bench``: how many pods a second go through whole cycles, on the workloads kube-scheduler is measured with.

``workloads`` says what is measured, ``measure`` does it in a process of its own, ``tables`` prints it.
"""

from __future__ import annotations
