"""Keys that stand twice in a mapping of an older text: the last one counts, as for decoders that were not strict.

Each of the others is told with its line. v1 refuses such a text, so the converted one is written without them.
"""

from __future__ import annotations

from collections.abc import Iterator

from framework.configuration.older.findings import Findings, Path
from framework.configuration.source import Node
from framework.sentences import sentence


def tell_repeated(root: Node, findings: Findings) -> bool:
    """Whether there were any."""
    found = list(_repeated(root, ()))
    for path, key, last in found:
        line = findings.line_of(last)
        if line is None:
            words = sentence("{field} stands once more, further on: the last one counts.", field=str(path[-1]))
        else:
            words = sentence(
                "{field} stands once more, in line {line}: the last one counts.", field=str(path[-1]), line=line
            )
        findings.dropped_where(key, path, words)
    return bool(found)


def _repeated(node: Node, path: Path) -> Iterator[tuple[Path, Node, Node]]:
    """(place, the key that does not count, the one that does). What is below a key that does not count is not told."""
    last = {str(key.value): key for key, _ in node.entries}
    for key, value in node.entries:
        name = str(key.value)
        if key is last[name]:
            yield from _repeated(value, (*path, name))
        else:
            yield (*path, name), key, last[name]
    for i, item in enumerate(node.items):
        yield from _repeated(item, (*path, i))
