"""Arguments that are objects or dicts, and the attributes of them that a program may read."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from enum import Enum
from functools import cached_property
from types import CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from .._native import type_version
from ..syntax.lists import makes_list
from ..syntax.names import ARRAY_PROTOCOLS, LIBRARIES, Scope, callable_source, has_elements
from ..syntax.patterns import got_entry, operator_methods, string_key
from ..syntax.source import FunctionSource
from ..syntax.walks import walk
from ..vocabulary.generators import is_generator_type
from .errors import CompileError


def is_object(value: object) -> bool:
    """Whether an argument is an instance of a user's class, or a dict."""
    kind = type(value)
    known = _known.get(kind)
    if known is None:
        known = _known[kind] = _is_of_user(kind)
    return known and ARRAY_PROTOCOLS.isdisjoint(getattr(value, "__dict__", ()))


_known: WeakKeyDictionary[type, bool] = WeakKeyDictionary()


def _is_of_user(kind: type) -> bool:
    if kind is dict or kind is SimpleNamespace:
        return True
    if kind.__module__.partition(".")[0] in LIBRARIES and kind.__module__ != "__main__":
        return False
    if issubclass(kind, int | float | complex | np.number | np.bool_ | tuple | str | type | ModuleType | Enum):
        return False
    return not issubclass(kind, np.ndarray) and not is_generator_type(kind) and not has_elements(kind)


class Reads:
    """The names of attributes and entries that a program may read. They occur in the code of its function, of the
    functions that it calls, and of the methods of its arguments that it may call."""

    def __init__(self, function: FunctionSource) -> None:
        self._names: set[str] = {"__call__"}
        self.stored: set[str] = set()  # attributes that the program assigns to
        self.replaced: set[str] = set()  # stored attributes with assignments other than updates such as `+=`
        self.computed: set[str] = set()  # stored attributes that get the results of arithmetic
        self.storing: frozenset[str] = frozenset()  # methods, properties and functions that store to non-variables
        self.unlike: set[str] = set()  # stored attributes that get values which are no numbers
        self.changed: set[str] = set()  # attributes on which a method of lists is called
        self.grown: set[str] = set()  # variables with calls of list methods, or deleted or assigned elements
        self.entries: set[str] = set()  # names that occur as string subscripts, as in `d["k"]`
        self.all_entries = False  # the program iterates over the entries of a dict, or a variable that may be a dict
        self._functions: dict[str, list[FunctionSource]] = {}  # the methods that the program may call
        self._called: dict[str, list[FunctionSource]] = {}  # the called functions by the names in the calls
        self._codes: set[CodeType] = set()
        self._parsed: set[CodeType] = set()  # the code objects in `_codes` that have source text
        self._sorted: list[str] = []
        self._classes: dict[type, list[str]] = {}  # attributes that instances have through their classes
        self._computed: dict[type, list[str]] = {}  # the functools.cached_property attributes of classes
        self._found: dict[type, dict[str, Any]] = {}  # the class attributes with these names, or _MISSING
        self._versions: dict[type, int] = {}  # the type versions for which `_found` was filled
        self._anew = 0  # the number of class changes that were noticed
        self._count = -1  # the number of names when methods were last collected
        self._add(function)
        self._settle()

    def of(self, value: object) -> list[str]:
        """The attributes of an object that the program may read, without methods. Evaluates cached properties."""
        if isinstance(value, dict) and self.all_entries:
            return [key for key in value if isinstance(key, str)]
        if isinstance(value, dict):
            return [key for key in self._sorted if key in value]
        kind = type(value)
        if kind not in self._classes:
            self._classes[kind] = []
            self._settle()
        elif self.is_changed(kind):
            self._anew += 1
            self._settle()
        own = getattr(value, "__dict__", {})
        for name in self.not_computed(value):
            with suppress(Exception):  # a later read of the attribute raises the exception again
                getattr(value, name)
        return self._classes[kind] + [name for name in self._sorted if name in own]

    def not_computed(self, value: object) -> list[str]:
        """The cached properties of an object that have no value yet."""
        own = getattr(value, "__dict__", {})
        return [name for name in self._computed.get(type(value), ()) if name not in own]

    @property
    def assigns(self) -> bool:
        """Whether the program assigns to attributes, changes lists, or reads cached properties."""
        return bool(self.stored or self.changed) or any(self._computed.values())

    @property
    def count(self) -> int:
        """A number that changes whenever a new or changed class adds facts to this object."""
        return len(self._names) + len(self.stored) + len(self.computed) + len(self.storing) + self._anew

    def class_names(self, kind: type) -> list[str]:
        """The names among those read that a class has: methods, properties and other descriptors."""
        return [name for name, value in self._found.get(kind, {}).items() if value is not _MISSING]

    def is_changed(self, kind: type) -> bool:
        """Whether a class attribute with one of the names has changed since the class was inspected."""
        found = self._found.get(kind)
        version = type_version(kind)
        if found is None or (version != 0 and version == self._versions[kind]):
            return False
        if any(attribute_of_class(kind, name) is not value for name, value in found.items()):
            return True
        self._versions[kind] = version
        return False

    def _settle(self) -> None:
        """Finds the methods that the program may call, and the class attributes that it may read."""
        self._count = -1
        while self._count != len(self._names):
            self._count = len(self._names)
            for each in {each for kind in self._classes for each in self._classes_in(kind)}:
                for name in [*self._names]:
                    for function in functions_of(each, name):
                        self._add(callable_source(function), name)
        self._sorted = sorted(self._names)
        self.storing = self._storing()
        for kind in self._classes:
            slots = {name for each in kind.__mro__ for name in _slots(each)}
            found = {name: attribute_of_class(kind, name) for name in self._sorted}
            self._found[kind], self._versions[kind] = found, type_version(kind)
            self._computed[kind] = [name for name, value in found.items() if isinstance(value, cached_property)]
            self._classes[kind] = [
                name
                for name, value in found.items()
                if name in slots
                or not (value is _MISSING or isinstance(value, cached_property) or any(functions_of(kind, name)))
            ]

    def _classes_in(self, kind: type) -> tuple[type, ...]:
        """The class, and its bases if the program may call their methods explicitly or through super()."""
        calls_bases = "super" in self._names or any(each.__name__ in self._names for each in kind.__mro__[1:-1])
        return kind.__mro__ if calls_bases else (kind,)

    def methods_that(self, assign: frozenset[str], read: frozenset[str]) -> frozenset[str]:
        """The methods that assign to one of `assign`, read one of `read`, or call a method that does."""
        found: set[str] = set()

        def does(part: ast.AST) -> bool:
            name = attribute_name(part)
            is_store = isinstance(part, ast.Attribute | ast.Subscript) and isinstance(part.ctx, ast.Store)
            return name in read or name in found or (is_store and name in assign)

        while more := {
            name
            for name, sources in self._functions.items()
            if name not in found and any(does(part) for source in sources for part in walk(source.tree()))
        }:
            found |= more
        return frozenset(found)

    def _storing(self) -> frozenset[str]:
        """The methods, properties and functions that store to anything but variables, or call one that does."""
        found: set[str] = set()

        def does(part: ast.AST) -> bool:
            if isinstance(part, ast.Global | ast.Nonlocal):
                return True
            if isinstance(part, ast.Attribute | ast.Subscript) and not isinstance(part.ctx, ast.Load):
                return True
            if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr in _CHANGES:
                return True
            return (part.id if isinstance(part, ast.Name) else attribute_name(part)) in found

        sources = [*self._functions.items(), *self._called.items()]
        trees = [(name, source.tree()) for name, each in sources for source in each]
        while more := {name for name, tree in trees if name not in found and any(does(part) for part in walk(tree))}:
            found |= more
        return frozenset(found)

    def method_names(self) -> frozenset[str]:
        """The names of the methods that the program may call."""
        return frozenset(self._functions)

    def functions(self, names: Iterable[str]) -> list[FunctionSource]:
        """The methods with these names that only one class has, so that calls of them are unambiguous."""
        found = (self._functions.get(name, []) for name in names)
        return [sources[0] for sources in found if len(sources) == 1]

    def _look_at(self, tree: ast.AST) -> None:
        self.stored.update(stored_names(tree))
        subscripts = {_subscript_names(part) for part in walk(tree)} - {None}
        dicts = {_entry_owner(part) for part in walk(tree)} - {None} | _counted_alone(tree)
        for part in walk(tree):
            self._names.update(operator_methods(part))
            self.all_entries |= _is_of_entries(part) or _loop_names(part) in subscripts or _counted(part) in dicts
            if isinstance(part, ast.Assign | ast.AnnAssign):
                targets = part.targets if isinstance(part, ast.Assign) else [part.target]
                names = [name for each in targets for name in stored_names(each)]
                self.replaced.update(names)
                if part.value is not None and _is_arithmetic(part.value):
                    self.computed.update(names)
                if part.value is not None and _is_no_number(part.value):
                    self.unlike.update(names)
            elif _is_arithmetic(part):
                self.computed.update(stored_names(part))
            elif isinstance(part, ast.Attribute | ast.Subscript) and attribute_name(part) in _CHANGES:
                name = attribute_name(part.value)
                if name is not None:
                    self.changed.add(name)
                elif isinstance(part.value, ast.Name):
                    self.grown.add(part.value.id)
            if (
                isinstance(part, ast.Subscript)
                and isinstance(part.value, ast.Name)
                and not isinstance(part.ctx, ast.Load)
            ):
                self.grown.add(part.value.id)
            if isinstance(part, ast.Subscript) and (key := string_key(part)) is not None:
                self.entries.add(key)

    def _add(self, source: FunctionSource | None, method: str = "") -> None:
        if source is None or source.function.__code__ in self._codes:
            return
        function = source.function
        with suppress(CompileError):  # the parser reports later that there is no text
            self._look_at(source.tree())
            self._parsed.add(function.__code__)
            if method:
                self._functions.setdefault(method, []).append(source)
        scope = Scope(function)
        for code in _codes(function.__code__):
            self._codes.add(code)
            self._names.update(code.co_names, (each for each in code.co_consts if isinstance(each, str)))
            for name in (*code.co_names, *code.co_freevars):
                binding = scope.lookup(name)
                called = None if binding is None else callable_source(binding.value)
                self._add(called)
                if called is not None and called.function.__code__ in self._parsed:
                    self._called.setdefault(name, []).append(called)


_MISSING = object()


def attribute_of_class(kind: type, name: str) -> Any:
    """The raw attribute in the dict of the class or of its nearest base with that name; metaclasses do not count."""
    return next((vars(each)[name] for each in kind.__mro__ if name in vars(each)), _MISSING)


def functions_of(kind: type, name: str) -> Iterator[Any]:
    """The function behind a method, a static method or the getter of a property of the class, if there is one."""
    found = attribute_of_class(kind, name)
    found = found.fget if isinstance(found, property) else found.__func__ if isinstance(found, staticmethod) else found
    if isinstance(found, FunctionType) or callable_source(found) is not None:
        yield found


def _slots(kind: type) -> tuple[str, ...]:
    slots = kind.__dict__.get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _is_arithmetic(node: ast.AST) -> bool:
    """Whether the node is an operation or an update that returns integers for bools."""
    match node:
        case ast.BinOp(op=op) | ast.AugAssign(op=op):
            return not isinstance(op, ast.BitAnd | ast.BitOr | ast.BitXor)
        case ast.UnaryOp(op=op):
            return not isinstance(op, ast.Not)
        case ast.IfExp(body=body, orelse=orelse):
            return _is_arithmetic(body) or _is_arithmetic(orelse)
        case ast.BoolOp(values=values):
            return any(map(_is_arithmetic, values))
    return False


def _is_no_number(value: ast.expr) -> bool:
    if isinstance(value, ast.Constant):
        return value.value is None or isinstance(value.value, str | bytes)
    if isinstance(value, ast.IfExp):
        return _is_no_number(value.body) or _is_no_number(value.orelse)
    return makes_list(value)


def _subscript_names(node: ast.AST) -> tuple[str, str] | None:
    """The names d and k of a subscript `d[k]`."""
    match node:
        case ast.Subscript(value=ast.Name(id=owner), slice=ast.Name(id=key)):
            return owner, key
    return None


def _loop_names(node: ast.AST) -> tuple[str, str] | None:
    """The names d and k of a loop `for k in d`."""
    match node:
        case ast.For(iter=ast.Name(id=owner), target=ast.Name(id=key)):
            return owner, key
        case ast.comprehension(iter=ast.Name(id=owner), target=ast.Name(id=key)):
            return owner, key
    return None


def _entry_owner(node: ast.AST) -> str | None:
    """The name d of a subscript `d["k"]`."""
    match node:
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str())):
            return name
    return None


def _counted(node: ast.AST) -> str | None:
    """The name d of a call `len(d)`."""
    match node:
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]):
            return name
    return None


def _counted_alone(tree: ast.AST) -> set[str]:
    """The names that occur only as arguments of len()."""
    counted = Counter(name for part in walk(tree) if (name := _counted(part)) is not None)
    if not counted:
        return set()
    used = Counter(part.id for part in walk(tree) if isinstance(part, ast.Name))
    return {name for name, count in counted.items() if used[name] == count}


def _is_of_entries(node: ast.AST) -> bool:
    """Whether the node is d.items(), d.keys(), d.values(), d.get("k") or "k" in d."""
    func = node.func if isinstance(node, ast.Call) else None
    if isinstance(func, ast.Attribute):
        return func.attr in ("items", "keys", "values") or got_entry(node) is not None
    match node:
        case ast.Compare(left=ast.Constant(value=str()), ops=[ast.In() | ast.NotIn()], comparators=[ast.Name()]):
            return True
    return False


_CHANGES = frozenset((
    "append", "appendleft", "add", "clear", "discard", "extend", "insert", "pop", "popleft", "remove", "reverse",
    "sort", "update",
))  # fmt: skip


def attribute_name(node: ast.AST) -> str | None:
    """The name k of `p.k` or `d["k"]`."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return string_key(node) if isinstance(node, ast.Subscript) else None


def stored_names(tree: ast.AST) -> Iterator[str]:
    """The names of the attributes and entries that the tree assigns to."""
    for part in walk(tree):
        if isinstance(part, ast.Attribute | ast.Subscript) and isinstance(part.ctx, ast.Store):
            name = attribute_name(part)
            if name is not None:
                yield name


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _codes(each)
