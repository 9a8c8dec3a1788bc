"""Objects that have a say in how their attributes and entries are read and assigned to: Python runs what uses these."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from types import FunctionType
from typing import Any

from .objects import Reads, attribute_of_class

_OF_DICTS = ("__getitem__", "__missing__", "__contains__", "__iter__", "get", "items", "keys", "values")
_OF_LIBRARY = functools.__name__


class ByPython(Exception):
    """Compiled code would differ from Python for such arguments; the message says why."""


def check_hooks(value: Any, names: Iterable[str], reads: Reads) -> None:
    """Raises ByPython if the class of an object, of which these attributes or entries are read, does something else
    about them than to store them."""
    kind = type(value)
    hooks: tuple[str, ...]
    if isinstance(value, dict):
        hooks = (*_OF_DICTS, "__setitem__") if reads.stored else _OF_DICTS
    elif getattr(getattr(kind, "__dataclass_params__", None), "frozen", False):
        hooks = ("__getattribute__",)  # Python assigns to them (kept.py)
    else:
        hooks = ("__getattribute__", "__setattr__") if reads.stored.intersection(names) else ("__getattribute__",)
    for hook in hooks:
        if isinstance(getattr(kind, hook, None), FunctionType):
            raise ByPython(f"the class '{kind.__name__}' has its own {hook}")
    if isinstance(value, dict):
        return
    for name in reads.class_names(kind):
        found = attribute_of_class(kind, name)
        of_library = type(found).__module__ == _OF_LIBRARY
        if isinstance(found, property):
            if name in reads.storing:
                raise ByPython(f"the property '{name}' of the class '{kind.__name__}' assigns to something")
        elif reads.stored and not of_library and isinstance(getattr(type(found), "__get__", None), FunctionType):
            raise ByPython(f"'{name}' of the class '{kind.__name__}' has its own __get__")
        elif name in reads.stored and isinstance(getattr(type(found), "__set__", None), FunctionType):
            raise ByPython(f"'{name}' of the class '{kind.__name__}' has its own __set__")
