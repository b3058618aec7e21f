"""What msgspec knows of each Struct, made before there are threads.

It learns a Struct's fields when it first reads one. In 0.22 a second thread that reads one meanwhile finds them half
made, and its process ends by a segmentation fault (tests/schedweb/processes/test_structs.py; 0.23 does not).
"""

from __future__ import annotations

import msgspec


def learn_structs() -> int:
    """Of everything that is imported. Answers how many there are."""
    learnt, waiting = 0, [msgspec.Struct]
    while waiting:
        each = waiting.pop()
        waiting += each.__subclasses__()
        try:
            msgspec.json.Decoder(each)
        except (NameError, TypeError, ValueError):
            continue  # it is only written: names of its fields' types are not to be had, or no JSON makes them
        learnt += 1
    return learnt
