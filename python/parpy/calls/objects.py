"""Arguments that are objects or dicts: which they are, and which of their attributes a program may read."""

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
from ..vocabulary.generators import is_generator_type
from .errors import CompileError


def is_object(value: object) -> bool:
    """Whether an argument is an object of a class of the user's, or a dict."""
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
    """The attributes and entries that a program may read, by name: those in the code of its functions, of the functions
    that these call, and of the methods of its arguments that these may call."""

    def __init__(self, function: FunctionSource) -> None:
        self._names: set[str] = {"__call__"}
        self.stored: set[str] = set()  # those of which some are assigned to
        self.replaced: set[str] = set()  # of these the ones that are not updated alone
        self.computed: set[str] = set()  # of the stored ones those that arithmetic gives values
        self.storing: frozenset[str] = frozenset()  # methods, properties and functions that assign to something
        self.unlike: set[str] = set()  # of those the ones that are assigned what is no number
        self.changed: set[str] = set()  # those of which a method of lists is called
        self.grown: set[str] = set()  # variables of which one is called, or of which elements are deleted or assigned
        self.entries: set[str] = set()  # those that are subscripts, as in `d["k"]`
        self.all_entries = False  # it runs over the entries of dicts, or over a variable that may be one
        self._functions: dict[str, list[FunctionSource]] = {}  # the methods that it may call
        self._called: dict[str, list[FunctionSource]] = {}  # the functions, by the names that they are called by
        self._codes: set[CodeType] = set()
        self._parsed: set[CodeType] = set()  # of these the ones that have a text
        self._sorted: list[str] = []
        self._classes: dict[type, list[str]] = {}  # what objects of them have that is not their own
        self._computed: dict[type, list[str]] = {}  # what these compute once, functools.cached_property
        self._found: dict[type, dict[str, Any]] = {}  # what the classes have under these names, or _MISSING
        self._versions: dict[type, int] = {}  # of the classes when that was found
        self._anew = 0  # how often a class was found to have changed
        self._count = -1  # of the names when methods were last looked for
        self._add(function)
        self._settle()

    def of(self, value: object) -> list[str]:
        """The attributes of such an object that it may read, methods aside."""
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
            with suppress(Exception):  # which whoever reads it gets
                getattr(value, name)
        return self._classes[kind] + [name for name in self._sorted if name in own]

    def not_computed(self, value: object) -> list[str]:
        """The attributes that such an object computes once, and has not yet."""
        own = getattr(value, "__dict__", {})
        return [name for name in self._computed.get(type(value), ()) if name not in own]

    @property
    def assigns(self) -> bool:
        """Whether it assigns to some of them, changes lists, or its objects compute attributes once."""
        return bool(self.stored or self.changed) or any(self._computed.values())

    @property
    def count(self) -> int:
        """How much they are, which new classes may add to."""
        return len(self._names) + len(self.stored) + len(self.computed) + len(self.storing) + self._anew

    def class_names(self, kind: type) -> list[str]:
        """What such a class has under the names that are read: methods, properties and other descriptors as well."""
        return [name for name, value in self._found.get(kind, {}).items() if value is not _MISSING]

    def is_changed(self, kind: type) -> bool:
        """Whether such a class has had something else under one of the names when it was looked at."""
        found = self._found.get(kind)
        version = type_version(kind)
        if found is None or (version != 0 and version == self._versions[kind]):
            return False
        if any(attribute_of_class(kind, name) is not value for name, value in found.items()):
            return True
        self._versions[kind] = version
        return False

    def _settle(self) -> None:
        """Finds the methods that may be called, and the attributes of the classes that may be read."""
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
        """The class, with its bases where methods of these may be called besides its own."""
        calls_bases = "super" in self._names or any(each.__name__ in self._names for each in kind.__mro__[1:-1])
        return kind.__mro__ if calls_bases else (kind,)

    def methods_that(self, assign: frozenset[str], read: frozenset[str]) -> frozenset[str]:
        """The methods that assign to some attributes, read some, or call others that do."""
        found: set[str] = set()

        def does(part: ast.AST) -> bool:
            name = attribute_name(part)
            is_store = isinstance(part, ast.Attribute | ast.Subscript) and isinstance(part.ctx, ast.Store)
            return name in read or name in found or (is_store and name in assign)

        while more := {
            name
            for name, sources in self._functions.items()
            if name not in found and any(does(part) for source in sources for part in ast.walk(source.tree()))
        }:
            found |= more
        return frozenset(found)

    def _storing(self) -> frozenset[str]:
        """The methods, properties and functions that assign to anything but variables, or call others that do."""
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
        while more := {
            name for name, tree in trees if name not in found and any(does(part) for part in ast.walk(tree))
        }:
            found |= more
        return frozenset(found)

    def method_names(self) -> frozenset[str]:
        """Those of the methods that it may call."""
        return frozenset(self._functions)

    def functions(self, names: Iterable[str]) -> list[FunctionSource]:
        """The methods of these names, but where several classes have one, of which the program may call another."""
        found = (self._functions.get(name, []) for name in names)
        return [sources[0] for sources in found if len(sources) == 1]

    def _look_at(self, tree: ast.AST) -> None:
        self.stored.update(stored_names(tree))
        subscripts = {_subscript_names(part) for part in ast.walk(tree)} - {None}
        dicts = {_entry_owner(part) for part in ast.walk(tree)} - {None} | _counted_alone(tree)
        for part in ast.walk(tree):
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
        with suppress(CompileError):  # whoever parses it says that there is no text
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
    """What the class or one of its bases has under the name, as it stands there: not what the type of the class has."""
    return next((vars(each)[name] for each in kind.__mro__ if name in vars(each)), _MISSING)


def functions_of(kind: type, name: str) -> Iterator[Any]:
    """The function that the class has under the name: a method, a static one, or that of a property."""
    found = attribute_of_class(kind, name)
    found = found.fget if isinstance(found, property) else found.__func__ if isinstance(found, staticmethod) else found
    if isinstance(found, FunctionType) or callable_source(found) is not None:
        yield found


def _slots(kind: type) -> tuple[str, ...]:
    slots = kind.__dict__.get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _is_arithmetic(node: ast.AST) -> bool:
    """Whether it is an operation, or an update, whose results of truth values are integers."""
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
    """The d and k of `d[k]`."""
    match node:
        case ast.Subscript(value=ast.Name(id=owner), slice=ast.Name(id=key)):
            return owner, key
    return None


def _loop_names(node: ast.AST) -> tuple[str, str] | None:
    """The d and k of `for k in d`."""
    match node:
        case ast.For(iter=ast.Name(id=owner), target=ast.Name(id=key)):
            return owner, key
        case ast.comprehension(iter=ast.Name(id=owner), target=ast.Name(id=key)):
            return owner, key
    return None


def _entry_owner(node: ast.AST) -> str | None:
    """The d of `d["k"]`."""
    match node:
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str())):
            return name
    return None


def _counted(node: ast.AST) -> str | None:
    """The d of `len(d)`."""
    match node:
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]):
            return name
    return None


def _counted_alone(tree: ast.AST) -> set[str]:
    """The names of which nothing but the length is asked."""
    counted = Counter(name for part in ast.walk(tree) if (name := _counted(part)) is not None)
    if not counted:
        return set()
    used = Counter(part.id for part in ast.walk(tree) if isinstance(part, ast.Name))
    return {name for name, count in counted.items() if used[name] == count}


def _is_of_entries(node: ast.AST) -> bool:
    """Whether it is d.items(), d.keys(), d.values(), d.get("k") or "k" in d."""
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
    """The k of `p.k` and `d["k"]`."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return string_key(node) if isinstance(node, ast.Subscript) else None


def stored_names(tree: ast.AST) -> Iterator[str]:
    """The attributes and entries that are assigned to."""
    for part in ast.walk(tree):
        if isinstance(part, ast.Attribute | ast.Subscript) and isinstance(part.ctx, ast.Store):
            name = attribute_name(part)
            if name is not None:
                yield name


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _codes(each)
