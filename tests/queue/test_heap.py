"""The keyed heap against a sorted list."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from framework.queue.queues import KeyedHeap

OPERATIONS = st.lists(st.tuples(st.sampled_from(["add", "delete", "pop"]), st.integers(0, 8), st.integers(0, 99)))


@given(OPERATIONS)
def test_pops_the_least_item_whatever_was_added_changed_and_taken_out(operations: list[tuple[str, int, int]]) -> None:
    heap: KeyedHeap[tuple[int, str]] = KeyedHeap(lambda item: item)
    model: dict[str, tuple[int, str]] = {}
    for what, which, value in operations:
        key = f"pod-{which}"
        if what == "add":
            heap.add_or_update(key, (value, key))
            model[key] = (value, key)
        elif what == "delete":
            assert heap.delete(key) == model.pop(key, None)
        else:
            want = min(model.values(), default=None)
            assert heap.peek() == want
            assert heap.pop() == want
            if want is not None:
                del model[want[1]]
        assert len(heap) == len(model)
        assert heap.in_pop_order() == sorted(model.values())
        assert all(heap.get(each) == model.get(each) for each in (key, "pod-0"))


def test_rebuild_takes_another_order() -> None:
    heap: KeyedHeap[int] = KeyedHeap(lambda item: item)
    for value in (3, 1, 2):
        heap.add_or_update(str(value), value)
    heap.rebuild(lambda item: -item)
    assert heap.in_pop_order() == [3, 2, 1]
