"""Turns a checked expression into Python closures that evaluate as cel-go's interpreter does.

Every closure takes the frame of one evaluation: a list with the cost so far, the device's four fields, then one place
for each variable that a macro binds. An error value of CEL is an EvaluationError that is raised; only where cel-go
keeps an error for later (an accumulator) it is stored and raised on the next read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from framework.cel import costs, operators
from framework.cel.check import invalid_pattern, literal_pattern, regex_matches, unsupported
from framework.cel.errors import EvaluationError, no_such_overload
from framework.cel.functions import INCLUDES, KUBERNETES, STANDARD, Overload, accepts
from framework.cel.syntax import (
    Call,
    Checked,
    Comprehension,
    Constant,
    Identifier,
    ListLiteral,
    MapLiteral,
    Node,
    Select,
)
from framework.cel.values import (
    NONE,
    DomainMap,
    Optional,
    TypeValue,
    Uint,
    map_key,
    shown,
    type_name,
)

Frame = list[Any]
Closure = Callable[[Frame], Any]

#: In a frame, behind the cost so far (costs.py).
PLACES: Final = {
    "device.driver": 1,
    "device.allowMultipleAllocations": 2,
    "device.attributes": 3,
    "device.capacity": 4,
}
FIRST_VARIABLE: Final = 5
_MISSING: Final[dict[str, Any]] = {}
_TYPE_NAMES: Final = frozenset(("int", "uint", "double", "bool", "string", "bytes", "list", "map", "null_type", "type"))


@dataclass(frozen=True, slots=True)
class _Failed:
    """An error value that waits in an accumulator."""

    error: EvaluationError


@dataclass(slots=True)
class Program:
    run: Closure
    variables: int

    def frame(self, driver: str, multiple: bool, attributes: DomainMap, capacity: DomainMap) -> Frame:
        return [0, driver, multiple, attributes, capacity, *([None] * self.variables)]


def build(checked: Checked, expression: str) -> Program:
    """Raises CelError for what cannot be evaluated."""
    builder = _Builder(checked, expression, costs.needs_tracking(checked.root))
    return Program(builder.build(checked.root), builder.places - FIRST_VARIABLE)


@dataclass(slots=True)
class _Builder:
    checked: Checked
    expression: str
    tracked: bool
    places: int = FIRST_VARIABLE
    scope: dict[str, int] = field(default_factory=dict)

    def build(self, node: Node) -> Closure:
        match node:
            case Constant():
                value = Uint(node.value) if node.unsigned else node.value
                return lambda frame: value
            case Identifier():
                return self._identifier(node)
            case Select():
                return self._select(node)
            case Call():
                return self._call(node)
            case ListLiteral():
                return self._list(node)
            case MapLiteral():
                return self._map(node)
            case Comprehension():
                return self._comprehension(node)
        raise unsupported(type(node).__name__)

    def _charged(self, closure: Closure, cost: int) -> Closure:
        if not self.tracked:
            return closure

        def run(frame: Frame) -> Any:
            value = closure(frame)
            costs.charge(frame, cost)
            return value

        return run

    def _identifier(self, node: Identifier) -> Closure:
        name = node.name.removeprefix(".")
        if name not in self.scope and (place := PLACES.get(name)) is not None:
            return self._charged(lambda frame: frame[place], 2)
        if name not in self.scope:
            if name in _TYPE_NAMES:
                return lambda frame: TypeValue(name)
            raise unsupported(f"the identifier {name}")
        at = self.scope[name]

        def run(frame: Frame) -> Any:
            value = frame[at]
            if type(value) is _Failed:
                raise value.error
            return value

        return self._charged(run, 1)

    def _select(self, node: Select) -> Closure:
        operand, name = self.build(node.operand), node.name
        if node.test_only:
            return lambda frame: operators.find(operand(frame), name)[1]

        def run(frame: Frame) -> Any:
            value = operand(frame)
            if type(value) is dict and name in value:
                return value[name]
            return operators.index(value, name)

        return self._charged(run, 1)

    def _call(self, node: Call) -> Closure:
        special = {
            "_&&_": self._and,
            "_||_": self._or,
            "_?_:_": self._conditional,
            "@not_strictly_false": self._not_strictly_false,
            "_[_]": self._index,
            "_[?_]": self._optional_index,
            "_?._": self._optional_index,
            "or": self._optional_or,
            "orValue": self._optional_or,
            "matches": self._matches,
        }.get(node.function)
        if special is not None:
            return special(node)
        operands = [self.build(operand) for operand in node.operands()]
        operator = operators.TABLE.get(node.function)
        if operator is not None:
            return self._charged_call(node.function, operator, operands)
        return self._function(node)

    def _charged_call(self, name: str, function: Callable[..., Any], operands: list[Closure]) -> Closure:
        if self.tracked:

            def tracked(frame: Frame) -> Any:
                values = [operand(frame) for operand in operands]
                try:
                    result = function(*values)
                except EvaluationError:
                    costs.charge(frame, costs.of_call(name, values, None))
                    raise
                costs.charge(frame, costs.of_call(name, values, result))
                return result

            return tracked
        if len(operands) == 1:
            (only,) = operands
            return lambda frame: function(only(frame))
        if len(operands) == 2:
            left, right = operands
            return lambda frame: function(left(frame), right(frame))
        return lambda frame: function(*[operand(frame) for operand in operands])

    def _function(self, node: Call) -> Closure:
        name, target = self._qualified(node)
        operands = [self.build(operand) for operand in (*target, *node.arguments)]
        candidates = (INCLUDES,) if name == "includes" else KUBERNETES.get(name, STANDARD.get(name, ()))
        resolved = self.checked.overloads.get(node.id, ())
        candidates = tuple(
            candidate
            for candidate in candidates
            if len(candidate.parameters) == len(operands) and (not candidate.id or candidate.id in resolved)
        )
        if not candidates:
            raise unsupported(f"the function {name}")
        return self._charged_call(name, _dispatch(name, candidates), operands)

    def _qualified(self, node: Call) -> tuple[str, tuple[Node, ...]]:
        """("sets.contains", ()) for what the parser saw as a member of "sets"."""
        prefix = node.target.name if isinstance(node.target, Identifier) else ""
        whole = f"{prefix}.{node.function}"
        if prefix and prefix not in self.scope and (whole in STANDARD or whole in KUBERNETES):
            return whole, ()
        return node.function, () if node.target is None else (node.target,)

    def _matches(self, node: Call) -> Closure:
        pattern = literal_pattern(node)
        if pattern is not None and regex_matches(pattern, "") is None:
            raise invalid_pattern(node, self.expression, self.checked)
        operands = [self.build(operand) for operand in node.operands()]
        return self._charged_call("matches", operators.matches, operands)

    def _terms(self, node: Call) -> list[Closure]:
        """The operands of a chain of one operator, left to right."""
        terms: list[Closure] = []
        for operand in node.arguments:
            if isinstance(operand, Call) and operand.function == node.function:
                terms.extend(self._terms(operand))
            else:
                terms.append(self.build(operand))
        return terms

    def _and(self, node: Call) -> Closure:
        return _junction(self._terms(node), decisive=False)

    def _or(self, node: Call) -> Closure:
        return _junction(self._terms(node), decisive=True)

    def _conditional(self, node: Call) -> Closure:
        condition, then, otherwise = (self.build(argument) for argument in node.arguments)

        def run(frame: Frame) -> Any:
            verdict = condition(frame)
            if verdict is True:
                return then(frame)
            if verdict is False:
                return otherwise(frame)
            raise no_such_overload()

        return run

    def _not_strictly_false(self, node: Call) -> Closure:
        operand = self.build(node.arguments[0])

        def run(frame: Frame) -> bool:
            try:
                return bool(operand(frame) is not False)
            except EvaluationError:
                return True

        return self._charged(run, 1)

    def _index(self, node: Call) -> Closure:
        operand, key = (self.build(argument) for argument in node.operands())
        if isinstance(node.arguments[-1], Constant) and isinstance(node.arguments[-1].value, str):
            name = node.arguments[-1].value

            def run(frame: Frame) -> Any:
                value = operand(frame)
                if type(value) is DomainMap:
                    return value.get(name, _MISSING)
                if type(value) is dict and name in value:
                    return value[name]
                return operators.index(value, name)

            return self._charged(run, 1)
        return self._charged(lambda frame: operators.index(operand(frame), key(frame)), 1)

    def _optional_index(self, node: Call) -> Closure:
        operand, key = (self.build(argument) for argument in node.operands())

        def run(frame: Frame) -> Optional:
            value = operand(frame)
            if type(value) is Optional:
                if not value.present:
                    return NONE
                value = value.content
            found, present = operators.find(value, key(frame))
            return Optional(True, found) if present else NONE

        return self._charged(run, 1)

    def _optional_or(self, node: Call) -> Closure:
        """cel-go: cel/library.go, evalOptionalOr; what is no optional passes through."""
        operand, other = (self.build(argument) for argument in node.operands())
        unwrap = node.function == "orValue"

        def run(frame: Frame) -> Any:
            value = operand(frame)
            if type(value) is not Optional:
                return value
            if not value.present:
                return other(frame)
            return value.content if unwrap else value

        return self._charged(run, 1)

    def _list(self, node: ListLiteral) -> Closure:
        elements, optional = [self.build(element) for element in node.elements], node.optional
        if all(isinstance(element, Constant) for element in node.elements):
            constants = [element([]) for element in elements]
            return lambda frame: constants  # folded: it costs nothing and nobody changes a list

        def run(frame: Frame) -> list[Any]:
            values = []
            for at, element in enumerate(elements):
                value = element(frame)
                if at in optional:
                    if type(value) is not Optional:
                        text = f"cannot initialize optional list element from non-optional value {shown(value)}"
                        raise EvaluationError(text)
                    if not value.present:
                        continue
                    value = value.content
                values.append(value)
            return values

        return self._charged(run, costs.LIST)

    def _map(self, node: MapLiteral) -> Closure:
        entries = [(self.build(key), self.build(value), optional) for key, value, optional in node.entries]

        def run(frame: Frame) -> dict[Any, Any]:
            result: dict[Any, Any] = {}
            for make_key, make_value, optional in entries:
                key, value = make_key(frame), make_value(frame)
                if optional:
                    if type(value) is not Optional:
                        text = f"cannot initialize optional entry '{shown(key)}' from non-optional value {shown(value)}"
                        raise EvaluationError(text)
                    if not value.present:
                        result.pop(map_key(key), None)
                        continue
                    value = value.content
                result[map_key(key)] = value
            return result

        return self._charged(run, costs.MAP)

    def _comprehension(self, node: Comprehension) -> Closure:
        source = self.build(node.range)
        initial = self.build(node.initial)
        outer = self.scope
        accumulator, variable, second = self.places, self.places + 1, self.places + 2
        self.places += 3
        self.scope = outer | {node.accumulator: accumulator}
        result = self.build(node.result)
        self.scope = outer | {node.variable: variable, node.accumulator: accumulator}
        if node.second_variable:
            self.scope[node.second_variable] = second
        condition, step = self.build(node.condition), self.build(node.step)
        self.scope = outer
        two = bool(node.second_variable)

        def run(frame: Frame) -> Any:
            pairs = operators.pairs(source(frame), two=two)
            frame[accumulator] = _kept(initial, frame)
            for first, item in pairs:
                frame[variable], frame[second] = first, item
                if _stops(condition, frame):
                    break
                frame[accumulator] = _kept(step, frame)
            return result(frame)

        return run


def _kept(closure: Closure, frame: Frame) -> Any:
    try:
        return closure(frame)
    except EvaluationError as error:
        return _Failed(error)


def _stops(condition: Closure, frame: Frame) -> bool:
    try:
        return bool(condition(frame) is False)
    except EvaluationError:
        return False


def _junction(terms: list[Closure], *, decisive: bool) -> Closure:
    """``&&`` and ``||``: the decisive value wins over errors; else the first error (cel-go: evalAnd, evalOr)."""

    def run(frame: Frame) -> Any:
        failure: EvaluationError | None = None
        for term in terms:
            try:
                value = term(frame)
            except EvaluationError as error:
                failure = error if failure is None else failure
                continue
            if value is decisive:
                return decisive
            if type(value) is not bool and failure is None:
                failure = no_such_overload()
        if failure is not None:
            raise failure
        return not decisive

    return run


def _dispatch(name: str, candidates: tuple[Overload, ...]) -> Callable[..., Any]:
    """The first overload whose parameters take the values (cel-go: common/decls/decls.go)."""
    guarded_by_value = name in ("contains", "startsWith", "endsWith")

    def call(*values: Any) -> Any:
        for candidate in candidates:
            if all(map(accepts, candidate.parameters, values)):
                return candidate.implementation(*values)
        if guarded_by_value:
            raise no_such_overload()  # these disable the guard that would name the types (stdlib/standard.go)
        raise EvaluationError(f"no such overload: {name}({', '.join(map(type_name, values))})")

    return call
