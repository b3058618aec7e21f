"""Whether ``filter`` or ``score`` of a plugin can rest on anything but the node it is asked about, seen from its code.

An author's first plugin declares nothing. If its function, and every function that this one can call, looks only at the
node, the arguments, constants, and what equal pods have in common, an answer holds until the node changes. Everything
that cannot be seen through (state, the handle, attributes or globals that can change inside, imports, other people's
classes) means: ask every time. What was seen is part of the finding, so that a constant that is bound anew is noticed.
"""

from __future__ import annotations

import builtins
import dis
import enum
import inspect
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import BuiltinFunctionType, CodeType, FunctionType, MemberDescriptorType
from typing import Any, Final

import msgspec

from framework.interface.plugin import Plugin

Space = Mapping[str, Any]
Ground = tuple[Space, str, object]
"""(a namespace, a name in it, the value that was found there)."""

PURE: Final = frozenset(
    each.__name__
    for each in (
        *(abs, all, any, bool, bytes, chr, complex, dict, divmod, enumerate, filter, float, frozenset, int, isinstance),
        *(iter, len, list, map, max, min, next, ord, pow, range, reversed, round, set, slice, sorted, str, sum, tuple),
        *(zip, ArithmeticError, AssertionError, AttributeError, Exception, IndexError, KeyError, LookupError),
        *(NotImplementedError, RuntimeError, StopIteration, TypeError, ValueError, ZeroDivisionError),
    )
)
"""Builtins whose result follows from what they are given."""
OF_EQUAL_PODS: Final = frozenset(("annotations", "finalizers", "labels", "namespace", "owner_references"))
"""Of a pod's metadata, and its whole spec: the same for all pods of a class (``signature``)."""
_TRUSTED: Final = ("framework.interface.", "framework.objects.")
_VALUES: Final = (type(None), bool, int, float, complex, str, bytes, re.Pattern)
_REFUSED: Final = frozenset(
    (
        *("STORE_GLOBAL", "DELETE_GLOBAL", "STORE_ATTR", "DELETE_ATTR", "IMPORT_NAME", "LOAD_BUILD_CLASS"),
        *("LOAD_SUPER_ATTR", "LOAD_LOCALS", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_GLOBALS", "LOAD_FROM_DICT_OR_DEREF"),
        "MATCH_CLASS",
    )
)
"""Operations after which nothing is certain."""
_REFUSED_ATTRIBUTES: Final = frozenset(("format", "format_map", "handle"))
"""The handle leads everywhere; format strings name attributes."""
_VARIADIC: Final = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
_OWN_METHODS: Final = frozenset(("__init__", "__getstate__", "__setstate__", "__reduce__", "__repr__", "__str__"))
_MISSING: Final = object()


class _Opaque(Exception):
    """The code cannot be seen through."""


@dataclass(frozen=True, slots=True)
class OwnNode:
    """What the answers of one function rest on besides the node."""

    reads_pod: bool
    grounds: tuple[Ground, ...] = field(repr=False)

    def stands(self) -> bool:
        return all(space.get(name, _MISSING) is value for space, name, value in self.grounds)


def rests_on_own_node(plugin: Plugin, method: str) -> OwnNode | None:
    """``method`` takes (state, pod, node). None: it has to be asked every time."""
    try:
        return _Reading(plugin).of(method)
    except _Opaque:
        return None


class _Reading:
    def __init__(self, plugin: Plugin) -> None:
        self._plugin = plugin
        classes: dict[type, None] = {}
        for each in (plugin, *_structs(plugin.args)):
            classes.update(dict.fromkeys(each for each in type(each).__mro__ if not _is_ours(each.__module__)))
        self._classes = tuple(classes)
        """Other people's code: the plugin's and that of its arguments."""
        self._grounds: dict[tuple[int, str], Ground] = {}
        self._seen: set[CodeType] = set()

    def of(self, method: str) -> OwnNode:
        for each in self._classes:
            for name, value in vars(each).items():
                hidden = name.startswith("__") and isinstance(value, FunctionType) and name not in _OWN_METHODS
                in_slot = isinstance(value, MemberDescriptorType) and issubclass(each, Plugin)
                if hidden or in_slot:
                    raise _Opaque
        function = inspect.getattr_static(type(self._plugin), method)
        if method in vars(self._plugin) or not isinstance(function, FunctionType):
            raise _Opaque
        self._attribute(method)
        code = function.__code__
        if code.co_argcount != 4 or code.co_kwonlyargcount or code.co_flags & _VARIADIC:
            raise _Opaque
        _, state, pod, _ = code.co_varnames[:4]
        if any(True for _ in _uses(code, state)):
            raise _Opaque
        of_pod = tuple(_uses(code, pod))
        for after in of_pod:
            if after[:1] != ("spec",) and not (after[:1] == ("metadata",) and after[1] in OF_EQUAL_PODS):
                raise _Opaque
        return OwnNode(bool(of_pod), tuple(self._grounds.values()))

    # --- code -------------------------------------------------------------------------------------------------------

    def _function(self, function: FunctionType) -> None:
        if _is_ours(str(function.__globals__.get("__name__"))):
            return
        for default in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self._value(default)
        free = function.__code__.co_freevars
        cells = dict(zip(free, function.__closure__ or (), strict=True))
        for cell in cells.values():
            # A cell can be written to by whoever shares it, unseen.
            if not isinstance(cell.cell_contents, FunctionType):
                raise _Opaque
            self._function(cell.cell_contents)
        self._code(function.__code__, function.__globals__)

    def _code(self, code: CodeType, space: dict[str, Any]) -> None:
        if code in self._seen:
            return
        self._seen.add(code)
        for each in dis.get_instructions(code):
            name = each.opname
            if name in _REFUSED:
                raise _Opaque
            if name in ("LOAD_GLOBAL", "LOAD_NAME"):
                self._global(space, each.argval)
            elif name in ("LOAD_ATTR", "LOAD_METHOD"):
                self._attribute(each.argval)
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self._code(constant, space)

    # --- names ------------------------------------------------------------------------------------------------------

    def _found(self, owner: object, space: Space, name: str) -> Any:
        value = space.get(name, _MISSING)
        self._grounds[id(owner), name] = (space, name, value)
        return value

    def _global(self, space: dict[str, Any], name: str) -> None:
        value = self._found(space, space, name)
        if value is not _MISSING:
            self._value(value)
        elif name not in PURE or self._found(builtins, vars(builtins), name) is _MISSING:
            raise _Opaque

    def _attribute(self, name: str) -> None:
        """An attribute of the plugin or of its arguments, or else of data, which says nothing."""
        if name in _REFUSED_ATTRIBUTES or (name.startswith("__") and name.endswith("__")):
            raise _Opaque
        own = self._found(self._plugin, vars(self._plugin), name)
        if name == "args":
            if not (own is None or (isinstance(own, msgspec.Struct) and own.__struct_config__.frozen)):
                raise _Opaque
        elif own is not _MISSING:
            self._value(own)
        for each in self._classes:
            value = self._found(each, vars(each), name)
            if isinstance(value, property):
                value = value.fget
            elif isinstance(value, staticmethod | classmethod):
                value = value.__func__
            if value is not _MISSING and not isinstance(value, MemberDescriptorType):
                self._value(value)

    def _value(self, value: Any) -> None:
        if isinstance(value, FunctionType):
            self._function(value)
        elif not _is_constant(value):
            raise _Opaque


def _is_ours(module: str) -> bool:
    return module.startswith((*_TRUSTED, "msgspec")) or module in ("builtins", "abc", "typing")


def _is_constant(value: Any) -> bool:
    """A value that nobody can change from inside, or something of the framework's or of ``math`` that has no state."""
    if isinstance(value, type):
        return _is_ours(value.__module__)
    if value is math or type(value) is BuiltinFunctionType:
        return value is math or value.__module__ == "math"
    if type(value) in (tuple, frozenset):
        return all(map(_is_constant, value))
    if type(value) in _VALUES:
        return True
    if not _is_ours(type(value).__module__):
        return False
    frozen_struct = isinstance(value, msgspec.Struct) and value.__struct_config__.frozen
    of_dataclass = getattr(type(value), "__dataclass_params__", None)
    return frozen_struct or isinstance(value, enum.Enum) or (of_dataclass is not None and of_dataclass.frozen)


def _structs(value: object) -> Iterator[object]:
    """The Structs in the arguments of a plugin."""
    if isinstance(value, msgspec.Struct):
        yield value
        for name in value.__struct_fields__:
            yield from _structs(getattr(value, name))
    elif isinstance(value, list | tuple | set | frozenset):
        for each in value:
            yield from _structs(each)
    elif isinstance(value, dict):
        yield from _structs((*value, *value.values()))


def _uses(code: CodeType, name: str) -> Iterator[tuple[str, ...]]:
    """What is made of the parameter ``name`` wherever it is used: the names of up to two attributes, () for anything
    else."""
    instructions = [each for each in dis.get_instructions(code) if each.opname != "EXTENDED_ARG"]
    for place, each in enumerate(instructions):
        operation = each.opname
        if "FAST" not in operation and "DEREF" not in operation and operation != "LOAD_CLOSURE":
            continue
        named = each.argval if isinstance(each.argval, tuple) else (each.argval,)
        shared = name in code.co_cellvars or name in code.co_freevars
        if name not in named or (shared and "DEREF" not in operation):
            continue  # or it is only handed on to inner code
        if "STORE" in operation or "DELETE" in operation or named[-1] != name or named.count(name) > 1:
            yield ()
            continue
        after = [
            following.argval if following.opname in ("LOAD_ATTR", "LOAD_METHOD") else ""
            for following in instructions[place + 1 : place + 3]
        ]
        yield tuple(after) if after[0] else ()
    for constant in code.co_consts:
        if isinstance(constant, CodeType) and name in constant.co_freevars:
            yield from _uses(constant, name)
