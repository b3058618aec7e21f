"""Random CEL of the standard language and of the extensions that the library evaluates as well; every expression has
the type it was asked for.

Not among it: cel.bind and sortBy, which binds as well; inside other macros the library's evaluator confuses what they
bound.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

LEAVES = {
    "int": ("0", "1", "-1", "2", "7", "9223372036854775807", "-9223372036854775808"),
    "uint": ("0u", "1u", "5u", "18446744073709551615u"),
    "double": ("0.0", "1.5", "-2.25", "1e300", "0.1"),
    "string": ('"a"', '"ab"', '""', '"12"', '"-3"', '"é"'),
    "list": ("[1, 2, 3]", "[]", "[0]", "[3, 1, 2]"),
    "bool": ("true", "false"),
}
ORDERS = ("<", "<=", ">", ">=")


@dataclass
class Grammar:
    """``bound``: whether the variable x, an int, is in scope."""

    random: Random
    bound: bool = False

    def make(self, kind: str, depth: int) -> str:
        if depth <= 0:
            leaves = LEAVES[kind]
            return self.random.choice((*leaves, "x", "x") if kind == "int" and self.bound else leaves)
        rules: dict[str, Callable[[int], str]] = {
            "int": self._int,
            "uint": self._uint,
            "double": self._double,
            "string": self._string,
            "list": self._list,
            "bool": self._bool,
        }
        return rules[kind](depth - 1)

    def _pick(self, depth: int, *templates: str) -> str:
        """In a template ``{int}`` stands for an expression, ``{x:int}`` for one that may use x."""
        text = self.random.choice(templates)
        while (start := text.find("{")) >= 0:
            end = text.index("}", start)
            binder, _, kind = text[start + 1 : end].rpartition(":")
            outer, self.bound = self.bound, self.bound or binder == "x"
            text = text[:start] + self.make(kind, depth).replace("{", "\0") + text[end + 1 :]
            self.bound = outer
        return text.replace("\0", "{")

    def _int(self, depth: int) -> str:
        operator = self.random.choice("+-*/%")
        return self._pick(
            depth,
            f"({{int}} {operator} {{int}})",
            "-({int})",
            "{list}.size()",
            "({bool} ? {int} : {int})",
            "{list}[1]",
            "int({string})",
            "int({double})",
            "int({uint})",
            "[{int}].first().orValue({int})",
        )

    def _uint(self, depth: int) -> str:
        operator = self.random.choice("+-*/%")
        return self._pick(depth, f"({{uint}} {operator} {{uint}})", "uint({int})", "uint({double})")

    def _double(self, depth: int) -> str:
        # No division: the library orders NaN, cel-go refuses to.
        return self._pick(depth, f"({{double}} {self.random.choice('+-')} {{double}})", "double({int})")

    def _string(self, depth: int) -> str:
        return self._pick(depth, "({string} + {string})", "string({int})", "string({bool})", "string({uint})")

    def _list(self, depth: int) -> str:
        return self._pick(
            depth,
            "[{int}, {int}]",
            "({list} + {list})",
            "{list}.map(x, {x:int})",
            "{list}.filter(x, {x:bool})",
            "{list}.sort()",
            "{list}.slice(0, 2)",
            "{list}.distinct()",
            "{list}.reverse()",
            "[[1], {list}].flatten()",
            "{list}.transformList(i, x, {x:int})",
        )

    def _bool(self, depth: int) -> str:
        left, right = self.random.choices(tuple(LEAVES), k=2)
        kind = self.random.choice(("int", "uint", "double", "string"))
        return self._pick(
            depth,
            f"({{{kind}}} {self.random.choice((*ORDERS, '==', '!='))} {{{kind}}})",
            f"(dyn({{{left}}}) {self.random.choice((*ORDERS, '==', '!='))} dyn({{{right}}}))",
            "({bool} && {bool})",
            "({bool} || {bool})",
            "!{bool}",
            "({bool} ? {bool} : {bool})",
            "({int} in {list})",
            "{list}.exists(x, {x:bool})",
            "{list}.all(x, {x:bool})",
            "{list}.exists_one(x, {x:bool})",
            "{list}.all(i, x, {x:bool})",
            "{string}.contains({string})",
            "{string}.startsWith({string})",
            "{string}.endsWith({string})",
            '{string}.matches("^a?[0-9]*$")',
            "sets.contains({list}, {list})",
            "sets.intersects({list}, {list})",
            "sets.equivalent({list}, {list})",
        )
