"""Calls of functions and classes that compiled code does not know and that are not functions of NumPy: `sorted`,
`deque`, `tuple`. Python makes them, between compiled parts.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..calls.callback import Callback
from ..calls.external import External
from ..frontend.calls.intrinsics import intrinsic_of
from ..frontend.draws import OTHERS
from ..frontend.expressions.objects import is_made_of_fields
from ..syntax.names import callable_source
from ..vocabulary import operators
from ..vocabulary.generators import is_generator

# What the language has besides functions that are known by themselves.
_LANGUAGE = (range, enumerate, zip, reversed, print, isinstance, super)
_GIVE_CONTAINERS = (sorted, map, filter, iter)
_CONTAINERS = ("collections", "itertools")
_OF_PYTHON = ("parpy.cudalib", "parpy.ufuncs.device")  # modules of ours whose functions and objects Python calls


def is_foreign(value: Any) -> bool:
    """Whether it is such a function or class."""
    if not callable(value) or isinstance(value, Callback | External) or intrinsic_of(value) is not None:
        return False
    owner = getattr(value, "__self__", None)
    name = getattr(value, "__module__", None) or ""
    if name.startswith(_OF_PYTHON):
        return True
    module = name.partition(".")[0]
    if is_generator(owner):  # seed: np.random.seed is of the language
        return value.__name__ in OTHERS - {"seed"}
    if module in ("parpy", "numpy") or isinstance(owner, np.ufunc):
        return False
    if any(value is each for each in _LANGUAGE) or operators.scalar_name(value) is not None:
        return False
    if isinstance(value, type):
        return not issubclass(value, BaseException) and not is_made_of_fields(value)
    return isinstance(value, type(len)) and callable_source(value) is None


def is_universal(value: Any) -> bool:
    """Whether it is a universal function of the user's, whose function of numbers compiled code can call."""
    module = getattr(type(value), "__module__", None) or ""
    made = isinstance(value, np.ufunc) or module.startswith("parpy.ufuncs.")
    return made and callable_source(value) is not None


def takes_elements(call: ast.Call, value: Any, is_array: Callable[[ast.expr], bool]) -> bool:
    """Whether the call of a universal function in a loop is one that compiled code makes: it computes one element, as
    far as one can see, or is an expression of its arguments, whatever these are."""
    source = callable_source(value)
    assert source is not None
    if call.keywords or len(call.args) != source.function.__code__.co_argcount:
        return False
    first = source.tree().body[1 if ast.get_docstring(source.tree()) is not None else 0]
    return isinstance(first, ast.Return) or not any(is_array(part) for each in call.args for part in _values(each))


def _values(node: ast.expr) -> Iterator[ast.expr]:
    """The variables, elements and parts that an expression is made of."""
    if isinstance(node, ast.Name | ast.Subscript | ast.Attribute | ast.Call):
        yield node
        return
    for part in ast.iter_child_nodes(node):
        if isinstance(part, ast.expr):
            yield from _values(part)


def gives_container(value: Any) -> bool:
    """Whether what the call gives is Python's, and no number and no array."""
    module = getattr(value, "__module__", None)
    known = isinstance(value, type) or any(value is each for each in _GIVE_CONTAINERS) or module in _CONTAINERS
    return known and is_foreign(value)


def is_for_python(call: ast.Call) -> bool:
    """Whether the call is one that compiled code cannot make, whatever is called: it hands on the elements of a tuple
    or a dict, or gets a list comprehension."""
    if any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords):
        return True
    listed = any(isinstance(each, ast.ListComp | ast.SetComp | ast.DictComp) for each in call.args)
    folds = isinstance(call.func, ast.Name) and hasattr(builtins, call.func.id)  # sum, min, max, any, all
    return listed and not folds


_STATEMENTS = ast.Try | ast.TryStar | ast.Match | ast.Delete | ast.Import | ast.ImportFrom | ast.Yield | ast.YieldFrom


def is_statement_of_python(node: ast.AST) -> bool:
    """Whether it is a statement that compiled code has not, and that means the same wherever it runs, or a part of
    such a statement."""
    return isinstance(node, _STATEMENTS)


_REDUCTIONS = frozenset((
    "all", "any", "argmax", "argmin", "cumprod", "cumsum", "max", "mean", "min", "prod", "squeeze", "std", "sum", "var",
))  # fmt: skip


def has_open_keyword(call: ast.Call) -> bool:
    """Whether it is a reduction with a keyword that compiled code does not take, or takes as a constant alone."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if name in ("argmax", "argmin") and any(each.arg == "out" for each in call.keywords):  # of which the type counts
        return True
    return name in _REDUCTIONS and any(
        each.arg in ("where", "initial")
        or (each.arg == "ddof" and not (name in ("std", "var") and _counts_along(call)))
        or (each.arg in ("axis", "keepdims") and any(isinstance(part, ast.Name) for part in ast.walk(each.value)))
        for each in call.keywords
    )


def _counts_along(call: ast.Call) -> bool:
    """Whether the axes of a reduction, if it has some, are counted from the first one, as sizes of arrays are."""
    axes = [each.value for each in call.keywords if each.arg == "axis"]
    return all(isinstance(part, ast.Constant | ast.Tuple | ast.Load) for axis in axes for part in ast.walk(axis))
