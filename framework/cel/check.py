"""Parses and type-checks a selector with Google's CEL library (docs/decisions/0008-cel.md) against the environment that
kube-scheduler declares (upstream: dynamic-resource-allocation/cel/compile.go, newCompiler; stored expressions, so that
everything gated is declared)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from cel_expr_python import cel

from framework.cel.errors import CelError
from framework.cel.functions import INCLUDES, KUBERNETES, Overload
from framework.cel.syntax import (
    DYN,
    Call,
    Checked,
    Constant,
    Identifier,
    ListLiteral,
    MapLiteral,
    MessageLiteral,
    Node,
    Select,
    Type,
    read_checked,
    read_parsed,
    walk,
)

FIELDS: Final = {
    "driver": "string",
    "allowMultipleAllocations": "bool",
    "attributes": "map",
    "capacity": "map",
}

# No "strings": the library allows no further overload of its indexOf, which Kubernetes gives to lists as well.
_EXTENSIONS: Final = """
name: device-selector
extensions:
  - name: bindings
  - name: optional
    version: 2
  - name: lists
    version: 2
  - name: sets
  - name: two-var-comprehensions
"""

# Kubernetes' environment declares these as well; the selectors of devices have little use for them.
_UNSUPPORTED: Final = frozenset((
    "url", "isURL", "getScheme", "getHost", "getHostname", "getPort", "getEscapedPath", "getQuery", "ip", "isIP",
    "ip.isCanonical", "cidr", "isCIDR", "containsIP", "containsCIDR", "masked", "prefixLength", "family",
    "isUnspecified", "isLoopback", "isLinkLocalMulticast", "isLinkLocalUnicast", "isGlobalUnicast", "format",
    "validate", "format.named", "strings.quote", "find", "findAll", "timestamp", "duration", "getFullYear",
    "getMonth", "getDayOfYear", "getDayOfMonth", "getDate", "getDayOfWeek", "getHours", "getMinutes", "getSeconds",
    "getMilliseconds", "authorizer",
))  # fmt: skip
_UNDECLARED: Final = re.compile(r"undeclared reference to '([^']*)'")
_OF_DEVICE: Final = "expression of type 'kubernetes.DRADevice' cannot be the operand of a select operation"
_ORDERINGS: Final = ("_<_", "_<=_", "_>_", "_>=_")
_LITERAL: Final = re.compile(r"-?(0x[0-9a-fA-F]+|[0-9]*\.?[0-9]+([eE][+-]?[0-9]+)?)u?")
_HAS: Final = re.compile(r"has\s*\(\s*device\s*\.\s*\w+\s*\)")
_NUMERIC: Final = re.compile(
    r"found no matching overload for '_[<>]=?_' applied to '\((int|uint|double), (int|uint|double)\)'"
)


def unsupported(what: str) -> CelError:
    return CelError(f"{what} is part of Kubernetes' CEL environment, but this playground cannot evaluate it")


def check(expression: str, *, list_attributes: bool) -> Checked:
    """Raises CelError with the texts of cel-go's checker."""
    environment = _environment(list_attributes)
    try:
        parsed = read_parsed(environment.compile(expression, disable_check=True).serialize())
        expression = _without_has_of_device(parsed, expression)
        try:
            compiled = environment.compile(expression)
        except RuntimeError as error:
            if _NUMERIC.search(str(error)) is None:
                raise
            compiled = environment.compile(_with_dynamic_numbers(parsed, expression))
    except RuntimeError as error:
        raise _refusal(str(error), expression) from error
    checked = read_checked(compiled.serialize())
    for node in walk(checked.root):
        _refuse_what_we_lack(node)
    issues = [issue for node in walk(checked.root) if (issue := _mixed(node, checked)) is not None]
    if issues:
        lines = "\n".join(_report(expression, checked.positions.get(id_, 0), text) for id_, text in issues)
        raise CelError(f"compilation failed: {lines}")
    result = checked.types.get(checked.root.id, DYN)
    if result.name not in ("bool", "any") and not (list_attributes and result == DYN):
        raise CelError(f"must evaluate to bool or the unknown type, not {result}")
    return checked


@lru_cache(maxsize=2)
def _environment(list_attributes: bool) -> cel.Env:
    types = cel.Type
    attribute = types.DYN if list_attributes else types("any")
    quantity = types.AbstractType("kubernetes.Quantity")
    variables = {
        # The library knows no object types without protobuf descriptors. A qualified name finds its own variable.
        "device": types.AbstractType("kubernetes.DRADevice"),
        "device.driver": types.STRING,
        "device.allowMultipleAllocations": types.BOOL,
        "device.attributes": types.Map(types.STRING, types.Map(types.STRING, attribute)),
        "device.capacity": types.Map(types.STRING, types.Map(types.STRING, quantity)),
    }
    functions = [
        cel.FunctionDecl(name, [_declaration(overload) for overload in overloads])
        for name, overloads in (*KUBERNETES.items(), ("includes", (INCLUDES,)))
    ]
    config = cel.NewEnvConfigFromYaml(_EXTENSIONS)
    return cel.NewEnv(config=config, variables=variables, functions=functions)


def _declaration(overload: Overload) -> cel.Overload:
    return cel.Overload(
        overload.id,
        return_type=_library_type(overload.result),
        parameters=[_library_type(parameter) for parameter in overload.parameters],
        is_member=overload.member,
    )


def _library_type(name: str) -> cel.Type:
    if name.startswith("list<"):
        return cel.Type.List(_library_type(name[5:-1]))
    return cel.Type.AbstractType(name) if name.startswith("kubernetes.") else cel.Type(name)


def _without_has_of_device(parsed: Checked, expression: str) -> str:
    """has(device.driver) is always true, and the library would take it for the variable "device.driver": the text is
    replaced in place, so that what comes after it keeps its column."""
    for node in walk(parsed.root):
        match node:
            case Select(operand=Identifier(name="device"), name=name, test_only=True) if name in FIELDS:
                at = parsed.positions.get(node.id, 0)
                found = _HAS.match(expression, max(at - 3, 0))
                if found is None:
                    raise unsupported("this form of has() of a field of device")
                blank = " " * (found.end() - found.start() - len("true"))
                expression = f"{expression[: found.start()]}true{blank}{expression[found.end() :]}"
    return expression


def _with_dynamic_numbers(parsed: Checked, expression: str) -> str:
    """Kubernetes enables the order of numbers across types (base.go, CrossTypeNumericComparisons), which the library
    knows only for dynamic values: number literals beside an ordering operator become dyn(…)."""
    starts = {
        parsed.positions[operand.id]
        for node in walk(parsed.root)
        if isinstance(node, Call) and node.function in _ORDERINGS
        for operand in node.arguments
        if isinstance(operand, Constant) and isinstance(operand.value, int | float) and operand.id in parsed.positions
    }
    for start in sorted(starts, reverse=True):
        if found := _LITERAL.match(expression, start):
            expression = f"{expression[:start]}dyn({found[0]}){expression[found.end() :]}"
    return expression


def _refusal(text: str, expression: str) -> CelError:
    """The library's text in cel-go's words."""
    text = text.removeprefix("INVALID_ARGUMENT: ").removesuffix(" [INVALID_ARGUMENT]")
    if "recursion" in text:  # cel-go allows 250 levels
        return unsupported("an expression nested deeper than 32 levels")
    for name in _UNDECLARED.findall(text):
        if name in _UNSUPPORTED:
            return unsupported(f"the function {name}")
    if found := _NUMERIC.search(text):
        return unsupported(f"the comparison of {found[1]} with {found[2]}")
    if _OF_DEVICE in text:
        text = _undefined_fields(text, expression)
        if _OF_DEVICE in text:
            return unsupported("device other than by device.<field>")
    text = text.replace("cannot be the range of a comprehension", "cannot be range of a comprehension")
    return CelError(f"compilation failed: {text}")


def _undefined_fields(text: str, expression: str) -> str:
    """ "undefined field 'x'" where the text after the reported dot is no field of the device."""

    def replacement(found: re.Match[str]) -> str:
        line, column = int(found[2]), int(found[3])
        name = re.match(r"\.\s*(\w+)", (expression.split("\n")[line - 1])[column - 1 :])
        known = name is None or name[1] in FIELDS
        return found[0] if known or name is None else f"{found[1]}undefined field '{name[1]}'"

    return re.sub(rf"(<input>:(\d+):(\d+): ){re.escape(_OF_DEVICE)}", replacement, text)


def _refuse_what_we_lack(node: Node) -> None:
    match node:
        case Identifier(name="device"):
            raise unsupported("device other than by device.<field>")
        case Identifier(name=name) if name.startswith("device.") and name.count(".") > 1:
            raise unsupported(name)
        case MessageLiteral():
            raise unsupported(f"the message {node.name}")
        case Call(function=name) if name in _UNSUPPORTED:
            raise unsupported(f"the function {name}")


def _mixed(node: Node, checked: Checked) -> tuple[int, str] | None:
    """cel-go's HomogeneousAggregateLiterals, which the library does not offer: the first element that disagrees."""
    groups: list[list[Node]] = []
    match node:
        case ListLiteral():
            groups = [[element for at, element in enumerate(node.elements) if at not in node.optional]]
        case MapLiteral():
            groups = [[key for key, _, _ in node.entries], [value for _, value, plain in node.entries if not plain]]
    for group in groups:
        first: Type | None = None
        for element in group:
            found = checked.types.get(element.id, DYN)
            if first is None:
                first = found
            elif found != first and not _loose(found) and not _loose(first):
                return element.id, f"expected type '{first}' but found '{found}'"
    return None


def _loose(type_: Type) -> bool:
    return type_.name in ("dyn", "any") or any(map(_loose, type_.parameters))


def _report(expression: str, offset: int, text: str) -> str:
    before = expression[:offset]
    column = offset - (before.rfind("\n") + 1)
    line = expression.split("\n")[before.count("\n")]
    return f"ERROR: <input>:{before.count(chr(10)) + 1}:{column + 1}: {text}\n | {line}\n | {'.' * column}^"


def regex_matches(pattern: str, text: str) -> bool | None:
    """RE2's verdict by the library's own matches(); None if the pattern is none."""
    try:
        verdict = _matcher().eval(data={"text": text, "pattern": pattern}).value()
    except RuntimeError:
        return None
    return verdict if isinstance(verdict, bool) else None


@lru_cache(maxsize=1)
def _matcher() -> cel.Expression:
    environment = cel.NewEnv(variables={"text": cel.Type.STRING, "pattern": cel.Type.STRING})
    return environment.compile("text.matches(pattern)")


def literal_pattern(node: Call) -> str | None:
    last = node.arguments[-1]
    return last.value if isinstance(last, Constant) and isinstance(last.value, str) else None


def invalid_pattern(node: Call, expression: str, checked: Checked) -> CelError:
    """cel-go: cel/validator.go, ValidateRegexLiterals."""
    at = checked.positions.get(node.arguments[-1].id, 0)
    return CelError("compilation failed: " + _report(expression, at, "invalid matches argument"))
