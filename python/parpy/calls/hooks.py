"""Objects whose classes define how attributes and entries are read or assigned: Python runs the code that uses them."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable
from types import FunctionType
from typing import Any

from ..syntax.names import LIBRARIES, callable_source
from ..syntax.patterns import IN_PLACE_METHODS, OPERATOR_METHODS
from .errors import CompileError
from .objects import Reads, attribute_of_class, is_object

_OF_DICTS = ("__getitem__", "__missing__", "__contains__", "__iter__", "get", "items", "keys", "values")
_OF_TUPLES = (
    "__len__", "__getitem__", "__iter__", "__contains__", "__getattribute__", "__getattr__", "index",
    "count", *sorted(IN_PLACE_METHODS),
)  # fmt: skip
_OF_LIBRARY = functools.__name__


class ByPython(Exception):
    """Compiled code would differ from Python for such arguments. The message gives the reason."""


def has_say(value: Any, name: str) -> bool:
    """Whether reading this attribute or entry may run code of the object's class. False for arrays and objects of
    libraries."""
    if not is_object(value):
        return False
    kind = type(value)
    found = attribute_of_class(kind, name)
    if isinstance(value, dict):
        return _own(kind, (*_OF_DICTS, "__getattribute__")) is not None or name not in value or _computes(kind)
    return (
        isinstance(found, property | functools.cached_property)
        or isinstance(getattr(type(found), "__get__", None), FunctionType)
        or _own(kind, ("__getattribute__", "__getattr__", "__getitem__")) is not None
    )


def check_hooks(value: Any, names: Iterable[str], reads: Reads) -> None:
    """Raises ByPython if the class of an object runs code of its own when these attributes or entries are read, or
    when one of them is assigned to."""
    kind = type(value)
    if hook := _own(kind, _hooks(value, names, reads)):
        raise ByPython(f"the class '{kind.__name__}' has its own {hook}")
    if isinstance(value, dict):
        if _computes(kind):
            raise ByPython(f"the class '{kind.__name__}' has its own __getattr__")
        return
    for name in reads.class_names(kind):
        found = attribute_of_class(kind, name)
        if name in IN_PLACE_METHODS and _own(kind, (name,)):
            raise ByPython(f"the class '{kind.__name__}' has its own {name}")
        if isinstance(found, property):
            if name in reads.storing:
                raise ByPython(f"the property '{name}' of the class '{kind.__name__}' assigns to something")
        elif type(found).__module__ != _OF_LIBRARY and isinstance(getattr(type(found), "__get__", None), FunctionType):
            raise ByPython(f"'{name}' of the class '{kind.__name__}' has its own __get__")
        elif name in reads.stored and isinstance(getattr(type(found), "__set__", None), FunctionType):
            raise ByPython(f"'{name}' of the class '{kind.__name__}' has its own __set__")


def hook_of_tuples(kind: type) -> str | None:
    """The first method of a class of named tuples that differs from that of tuples and that compiled code lacks."""
    operators = (name for name in sorted(OPERATOR_METHODS) if _own(kind, (name,)) is not None)
    found = _own(kind, _OF_TUPLES)
    return found or next((name for name in operators if not is_plain_method(attribute_of_class(kind, name))), None)


def is_plain_method(function: object) -> bool:
    """Whether the function needs only its arguments, and constants for those that are left out."""
    if not isinstance(function, FunctionType) or callable_source(function) is None or function.__closure__:
        return False
    return all(map(_is_constant, (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())))


def _is_constant(value: object) -> bool:
    """Whether compiled code has it as a constant."""
    whole = type(value) is not int or -(2**63) <= value < 2**63
    return value is None or (type(value) in (bool, int, float, complex, str) and whole)


def _hooks(value: Any, names: Iterable[str], reads: Reads) -> Iterable[str]:
    """The names of the methods that the class must not define itself."""
    yield "__getattribute__"
    if isinstance(value, dict):
        yield from _OF_DICTS
        if reads.stored:
            yield "__setitem__"
        return
    yield "__getattr__"
    if reads.entries:
        yield from ("__getitem__", "__setitem__")
    frozen = getattr(getattr(type(value), "__dataclass_params__", None), "frozen", False)
    if not frozen and reads.stored.intersection(names):  # Python assigns to frozen objects (kept.py)
        yield "__setattr__"


def _own(kind: type, hooks: Iterable[str]) -> str | None:
    """The first of these methods that user code in Python defines for the class; None if there is none."""
    return next((hook for hook in hooks if _is_users(getattr(kind, hook, None))), None)


def _is_users(value: object) -> bool:
    return isinstance(value, FunctionType) and value.__module__.partition(".")[0] not in LIBRARIES


def _computes(kind: type) -> bool:
    """Whether a class of dicts has a `__getattr__` that does more than `return self[name]`."""
    method = getattr(kind, "__getattr__", None)
    if not isinstance(method, FunctionType):
        return False
    source = callable_source(method)
    try:
        tree = None if source is None else source.tree()
    except CompileError:  # the method has no source text
        return True
    if not isinstance(tree, ast.FunctionDef):
        return True
    match [part for part in tree.body if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))]:
        case [ast.Return(value=ast.Subscript(value=ast.Name(id=owner), slice=ast.Name(id=key)))]:
            pass
        case [
            ast.Try(
                body=[ast.Return(value=ast.Subscript(value=ast.Name(id=owner), slice=ast.Name(id=key)))],
                handlers=[ast.ExceptHandler(body=[ast.Raise()])],
                finalbody=[],
            )
        ]:
            pass
        case _:
            return True
    return [owner, key] != [each.arg for each in tree.args.args]
