"""The meaning of the names in a function.

The code object tells which names are local. The others are looked up
when the function is first compiled: in closure cells, then globals, then builtins. Every look-up also
returns the place of the value, so that calls can read captured values anew and notice when the name of
a function or module is bound to another object.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from types import CellType, FunctionType, ModuleType
from typing import Any, Final, NamedTuple, TypeGuard

import numpy as np

from ..calls.errors import CompileError
from ..vocabulary.operators import is_numba
from .imports import imports_of
from .source import FunctionSource, capture, capture_expression
from .stored_views import views_of
from .turns import turns_of

Container = Mapping[str, Any] | CellType


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()
"""The value of a guard whose container must not have the key."""


AROUND: Final = object()
"""The content of a closure cell that represents a variable of the enclosing compiled function."""


OBJECT: Final = object()
"""The kind of a parameter that is a dict or an object of a user's class, neither a generator nor an array."""


NO_PLACE: Final[dict[str, Any]] = {}
"""The container of a value that cannot be read anew, such as that of a property."""


NOTHING: Final[Mapping[str, Any]] = {}


class Binding(NamedTuple):
    """An object that a name refers to, and its place: a mapping and a key, or a closure cell. The same
    key in one of the `nearer` places would hide the object."""

    value: Any
    container: Container
    key: str
    nearer: tuple[Container, ...] = ()


@dataclass(frozen=True, slots=True)
class Guard:
    """Compiled code is valid while `container` holds exactly the object `value` under `key`.

    Closure cells are containers with one value; `value` may be MISSING.
    """

    container: Container = field(repr=False)
    key: str
    value: Any = field(repr=False)

    def holds(self) -> bool:
        return read(self.container, self.key) is self.value


@dataclass(frozen=True, slots=True)
class Capture:
    """A global or closure value that compiled code gets as an argument; each call reads it anew."""

    name: str
    kind: str  # "global" or "closure variable"
    container: Container = field(repr=False)
    key: str
    generator: bool = False  # whether it is a generator of random numbers, from which calls draw a key

    def read(self) -> Any:
        """The present value, or MISSING."""
        return read(self.container, self.key)


def read(container: Container, key: str) -> Any:
    if isinstance(container, CellType):
        try:
            return container.cell_contents
        except ValueError:
            return MISSING
    return container.get(key, MISSING)


class Scope:
    """The names of one Python function."""

    def __init__(self, function: FunctionType) -> None:
        code = function.__code__
        self._cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=False))
        around = [name for name, cell in self._cells.items() if read(cell, name) is AROUND]
        self._imports = imports_of(function)
        own = frozenset((*code.co_varnames, *code.co_cellvars, *around))
        self.locals = own - self._imports.keys() | turns_of(function) | views_of(function)
        self._globals = function.__globals__
        builtins = self._globals.get("__builtins__", {})
        self._builtins: dict[str, Any] = builtins.__dict__ if isinstance(builtins, ModuleType) else builtins
        self.guards: dict[tuple[int, str], Guard] = {}
        self.known: Mapping[str, Any] = NOTHING  # known values of parameters on which the meaning of the text depends

    def known_binding(self, name: str) -> Binding | None:
        """The object that is the known value of the parameter `name`; None for other names."""
        value = self.known.get(name, OBJECT)
        return None if value is OBJECT else Binding(value, NO_PLACE, name)

    def lookup(self, name: str) -> Binding | None:
        """The object that the non-local `name` refers to; None if it is undefined."""
        cell = self._cells.get(name)
        if cell is not None:
            value = read(cell, name)
            return None if value is MISSING else Binding(value, cell, name)
        if name in self._imports:
            container, key = self._imports[name]
            value = read(container, key)
            return None if value is MISSING else Binding(value, container, key)
        if name in self._globals:
            return Binding(self._globals[name], self._globals, name)
        if name in self._builtins:
            return Binding(self._builtins[name], self._builtins, name)
        return None

    def is_cell(self, name: str) -> bool:
        """Whether the name is a variable of an enclosing function, which may have no value yet."""
        return name in self._cells

    def kind_of(self, name: str) -> str:
        return "closure variable" if name in self._cells else "global"

    def name_of(self, value: object) -> str:
        """A name of the closure or module that refers to this object; '' if there is none."""
        cells = ((name, read(cell, name)) for name, cell in self._cells.items())
        return next((name for name, found in (*cells, *self._globals.items()) if found is value), "")

    def rely_on(self, binding: Binding) -> None:
        """Adds a guard, because compiled code depends on the identity of this object."""
        container, key = binding.container, binding.key
        value = binding.value
        if container is self._builtins:
            container, value = self._globals, MISSING
        self.guards[id(container), key] = Guard(container, key, value)

    def global_value_exists(self, name: str) -> bool:
        return name in self._globals

    def undefined_hint(self, name: str) -> str:
        """A known name close to `name`, or ''."""
        from difflib import get_close_matches

        near = {*self.locals, *self._cells, *self._globals} - {name}
        close = get_close_matches(name, sorted(near), n=1)
        close = close or get_close_matches(name, self._builtins, n=1, cutoff=0.8)
        return close[0] if close else ""


def attribute(owner: Any, name: str, spaces: dict[type, Mapping[str, Any]]) -> Binding | None:
    """`owner.name`, where owner is a module, class or plain object; None if there is no such attribute.

    `spaces` keeps one view of each class's `__dict__`, because each access of `__dict__` makes a new view.
    """
    try:
        value = getattr(owner, name)
    except Exception:
        return None
    nearer: list[Container] = []
    for place in owner.__mro__ if isinstance(owner, type) else (owner, *type(owner).__mro__):
        space = getattr(place, "__dict__", None)
        if isinstance(place, type):
            space = spaces.setdefault(place, place.__dict__)
        if not isinstance(space, Mapping):
            continue
        if space.get(name, MISSING) is value:
            return Binding(value, space, name, tuple(nearer))
        nearer.append(space)
    return Binding(value, NO_PLACE, name)


def is_unchanging(owner: object, value: object) -> bool:
    """Whether `value`, found in `owner`, never changes while `owner` exists."""
    return isinstance(value, Enum) or isinstance(owner, tuple | Enum)


ARRAY_PROTOCOLS = frozenset(("__cuda_array_interface__", "__array_interface__", "__dlpack__", "__array__"))


def is_scalar(value: object) -> bool:
    """Whether a captured object is a number: Python's own or a NumPy scalar."""
    if isinstance(value, int | float | complex):
        return True
    return isinstance(value, np.number | np.bool_)


def is_choice(value: object) -> TypeGuard[Enum]:
    """Whether the value is an enum member that is no number; compiled code can only compare it."""
    return isinstance(value, Enum) and not is_scalar(value)


def is_array(value: object) -> bool:
    if isinstance(value, np.ndarray):
        return True
    return not isinstance(value, type) and has_elements(type(value))


def has_elements(kind: type) -> bool:
    """Whether objects of the class are arrays."""
    return any(hasattr(kind, protocol) for protocol in ARRAY_PROTOCOLS)


def jit_source(value: object) -> FunctionSource | None:
    """The captured source of a jit function; None for other values."""
    source = None if isinstance(value, dict) else getattr(value, "__parpy_source__", None)
    if source is None and is_numba(value):  # a function that Numba has decorated
        return callable_source(getattr(value, "py_func", None))
    return source if isinstance(source, FunctionSource) else None


def callable_source(value: object) -> FunctionSource | None:
    """The source of a function that compiled code can call: a jit function, or a plain function with a known text."""
    source = jit_source(value)
    if source is not None or not isinstance(value, FunctionType):
        return source
    of, known = getattr(value, _KNOWN, (None, None))
    if of is value:  # a decorator may have copied the attribute of another function
        return known
    if is_of_library(value) or hasattr(value, "__wrapped__"):
        return None
    with suppress(CompileError):
        source = capture_expression(value, "nameless")
        keep_source(value, source)
    return source


def keep_source(function: FunctionType, source: FunctionSource) -> None:
    """Stores `source` as the source of the plain function."""
    setattr(function, _KNOWN, (function, source))


def cell_of(function: FunctionType, name: str) -> CellType:
    """The closure cell of this variable of an enclosing function."""
    return (function.__closure__ or ())[function.__code__.co_freevars.index(name)]


def is_of_library(function: FunctionType) -> bool:
    """Whether a function belongs to a library, so that it is compiled only if it has a lowering. Functions of
    parpy.library are compiled like the user's."""
    module = str(function.__module__)
    return module.partition(".")[0] in LIBRARIES and not module.startswith("parpy.library.")


_KNOWN = "__parpy_plain_source__"  # the attribute of a plain function that holds its source
LIBRARIES = frozenset({"parpy", "numpy", "scipy", "torch", "cupy", "jax", "numba"}) | sys.stdlib_module_names


def keep_texts(function: FunctionType) -> None:
    """Stores the texts of the plain functions that a function may call as their attributes, which pickles contain."""
    scope = Scope(function)
    for name in (*function.__code__.co_names, *function.__code__.co_freevars):
        binding = scope.lookup(name)
        if binding is not None:
            callable_source(binding.value)


def source_of(function: object) -> FunctionSource:
    """The source of a jit function or of a plain Python function; a captured source itself."""
    if isinstance(function, FunctionSource):
        return function
    return callable_source(function) or capture(function)
