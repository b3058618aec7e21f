"""Go's ``sort.Slice`` and ``sort.Sort``: an unstable sort whose order of equal elements we must share.

Upstream sorts with it, so above 12 elements (victims, claims of a pod) the order of equal ones is what Go's
pattern-defeating quicksort (Go 1.19 and later) happens to produce. This is that algorithm, step for step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeVar

T = TypeVar("T")

INSERTION_UP_TO: Final = 12
NINTHER_FROM: Final = 50
ALL_SWAPPED: Final = 12
"""4 medians of three comparisons each: when every one of them swaps, the slice is descending."""
SHIFTED_PAIRS: Final = 5
_WORD: Final = (1 << 64) - 1


def go_sorted(items: Sequence[T], less: Callable[[T, T], bool]) -> list[T]:
    """A sorted copy in exactly the order in which Go's ``sort.Slice`` leaves the elements."""
    slice_ = _Slice(list(items), less)
    slice_.sort(0, len(items), len(items).bit_length())
    return slice_.data


class _Slice(Generic[T]):
    def __init__(self, data: list[T], less: Callable[[T, T], bool]) -> None:
        self.data = data
        self._less = less

    def less(self, i: int, j: int) -> bool:
        return self._less(self.data[i], self.data[j])

    def swap(self, i: int, j: int) -> None:
        self.data[i], self.data[j] = self.data[j], self.data[i]

    def sort(self, a: int, b: int, bad_pivots_left: int) -> None:
        balanced = partitioned = True
        while (length := b - a) > INSERTION_UP_TO:
            if bad_pivots_left == 0:
                self.heap_sort(a, b)
                return
            if not balanced:
                self.break_patterns(a, b)
                bad_pivots_left -= 1
            pivot, swaps = self.choose_pivot(a, b)
            ascending = swaps == 0
            if swaps == ALL_SWAPPED:
                self.data[a:b] = self.data[a:b][::-1]
                pivot = (b - 1) - (pivot - a)
                ascending = True
            if balanced and partitioned and ascending and self.finish_by_insertion(a, b):
                return
            if a > 0 and not self.less(a - 1, pivot):
                a = self.partition_equal(a, b, pivot)
                continue
            middle, partitioned = self.partition(a, b, pivot)
            left, right = middle - a, b - middle
            if left < right:
                balanced = left >= length // 8
                self.sort(a, middle, bad_pivots_left)
                a = middle + 1
            else:
                balanced = right >= length // 8
                self.sort(middle + 1, b, bad_pivots_left)
                b = middle
        self.insertion_sort(a, b)

    def insertion_sort(self, a: int, b: int) -> None:
        for i in range(a + 1, b):
            j = i
            while j > a and self.less(j, j - 1):
                self.swap(j, j - 1)
                j -= 1

    def heap_sort(self, a: int, b: int) -> None:
        size = b - a
        for root in range((size - 1) // 2, -1, -1):
            self.sift_down(root, size, a)
        for end in range(size - 1, -1, -1):
            self.swap(a, a + end)
            self.sift_down(0, end, a)

    def sift_down(self, root: int, size: int, first: int) -> None:
        while (child := 2 * root + 1) < size:
            if child + 1 < size and self.less(first + child, first + child + 1):
                child += 1
            if not self.less(first + root, first + child):
                return
            self.swap(first + root, first + child)
            root = child

    def partition(self, a: int, b: int, pivot: int) -> tuple[int, bool]:
        """Smaller ones left, the others right of the pivot; (where the pivot is now, nothing had to move)."""
        self.swap(a, pivot)
        i, j = a + 1, b - 1
        moved = False
        while True:
            while i <= j and self.less(i, a):
                i += 1
            while i <= j and not self.less(j, a):
                j -= 1
            if i > j:
                break
            self.swap(i, j)
            moved = True
            i += 1
            j -= 1
        self.swap(j, a)
        return j, not moved

    def partition_equal(self, a: int, b: int, pivot: int) -> int:
        """For a part without elements smaller than the pivot: those equal to it come first; returns their end."""
        self.swap(a, pivot)
        i, j = a + 1, b - 1
        while True:
            while i <= j and not self.less(a, i):
                i += 1
            while i <= j and self.less(a, j):
                j -= 1
            if i > j:
                return i
            self.swap(i, j)
            i += 1
            j -= 1

    def finish_by_insertion(self, a: int, b: int) -> bool:
        """Tries to finish a nearly sorted part by shifting a few elements; True when it is sorted."""
        i = a + 1
        for _ in range(SHIFTED_PAIRS):
            while i < b and not self.less(i, i - 1):
                i += 1
            if i == b:
                return True
            if b - a < NINTHER_FROM:
                return False
            self.swap(i, i - 1)
            if i - a >= 2:
                j = i - 1
                # Down to 1, not a + 1: Go's loop may look left of the part, where everything is smaller anyway.
                while j >= 1 and self.less(j, j - 1):
                    self.swap(j, j - 1)
                    j -= 1
            if b - i >= 2:
                j = i + 1
                while j < b and self.less(j, j - 1):
                    self.swap(j, j - 1)
                    j += 1
        return False

    def break_patterns(self, a: int, b: int) -> None:
        """Scatters three elements with a xorshift generator that is seeded with the length."""
        length = b - a
        random = length
        modulus = 1 << length.bit_length()
        middle = a + (length // 4) * 2
        for index in range(middle - 1, middle + 2):
            random ^= (random << 13) & _WORD
            random ^= random >> 7
            random ^= (random << 17) & _WORD
            other = random & (modulus - 1)
            if other >= length:
                other -= length
            self.swap(index, a + other)

    def choose_pivot(self, a: int, b: int) -> tuple[int, int]:
        """(index of the pivot, number of comparisons that found a descending pair)."""
        quarter = (b - a) // 4
        swaps = 0

        def median(i: int, j: int, k: int) -> int:
            nonlocal swaps
            if self.less(j, i):
                swaps += 1
                i, j = j, i
            if self.less(k, j):
                swaps += 1
                j = k
            if self.less(j, i):
                swaps += 1
                j = i
            return j

        i, j, k = a + quarter, a + 2 * quarter, a + 3 * quarter
        if b - a >= NINTHER_FROM:
            i, j, k = median(i - 1, i, i + 1), median(j - 1, j, j + 1), median(k - 1, k, k + 1)
        return median(i, j, k), swaps
