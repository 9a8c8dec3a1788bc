"""Calls of functions and classes without a lowering that are not NumPy's, such as `sorted`, `deque`, `tuple`; texts;
and tests for identity. Python makes these between compiled parts.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..calls.callback import Callback
from ..calls.external import External
from ..frontend.calls.intrinsics import intrinsic_of
from ..frontend.draws import OTHERS
from ..frontend.initializers import is_made_of_fields
from ..syntax.names import callable_source
from ..syntax.patterns import is_c_order
from ..syntax.text import is_text
from ..syntax.walks import children, walk
from ..vocabulary import operators
from ..vocabulary.generators import is_generator

# Functions that the language supports besides the intrinsic functions.
_LANGUAGE = (range, enumerate, zip, reversed, print, isinstance, super)
_GIVE_CONTAINERS = (sorted, map, filter, iter)
_CONTAINERS = ("collections", "itertools")
_OF_PYTHON = ("parpy.cudalib", "parpy.ufuncs.device")  # modules of ParPy whose functions and objects Python calls


def is_foreign(value: Any) -> bool:
    """Whether the value is a function or class that Python calls between compiled parts."""
    if not callable(value) or isinstance(value, Callback | External) or intrinsic_of(value) is not None:
        return False
    owner = getattr(value, "__self__", None)
    name = getattr(value, "__module__", None) or ""
    if name.startswith(_OF_PYTHON):
        return True
    module = name.partition(".")[0]
    if is_generator(owner):  # the language supports np.random.seed
        return value.__name__ in OTHERS - {"seed"}
    if module in ("parpy", "numpy") or isinstance(owner, np.ufunc):
        return False
    if any(value is each for each in _LANGUAGE) or operators.scalar_name(value) is not None:
        return False
    if isinstance(value, type):
        return not issubclass(value, BaseException) and not is_made_of_fields(value)
    return isinstance(value, type(len)) and callable_source(value) is None


def makes_object(value: Any) -> bool:
    """Whether the value is a class of objects that compiled code makes as well."""
    return isinstance(value, type) and not issubclass(value, tuple) and is_made_of_fields(value)


def is_universal(value: Any) -> bool:
    """Whether the value is a user's universal function, whose function of numbers compiled code can call."""
    module = getattr(type(value), "__module__", None) or ""
    made = isinstance(value, np.ufunc) or module.startswith("parpy.ufuncs.")
    return made and callable_source(value) is not None


def takes_elements(call: ast.Call, value: Any, is_array: Callable[[ast.expr], bool]) -> bool:
    """Whether compiled code makes the call of a universal function in a loop: the call appears to compute one element,
    or the function is an expression of its arguments, which works for arrays as well."""
    source = callable_source(value)
    assert source is not None
    if call.keywords or len(call.args) != source.function.__code__.co_argcount:
        return False
    first = source.tree().body[1 if ast.get_docstring(source.tree()) is not None else 0]
    return isinstance(first, ast.Return) or not any(is_array(part) for each in call.args for part in _values(each))


def _values(node: ast.expr) -> Iterator[ast.expr]:
    """The variables, subscripts, attributes and calls that are the operands of an expression."""
    if isinstance(node, ast.Name | ast.Subscript | ast.Attribute | ast.Call):
        yield node
        return
    for part in children(node):
        if isinstance(part, ast.expr):
            yield from _values(part)


def gives_container(value: Any) -> bool:
    """Whether calls of the value return a Python container, which is neither a number nor an array."""
    module = getattr(value, "__module__", None)
    known = isinstance(value, type) or any(value is each for each in _GIVE_CONTAINERS) or module in _CONTAINERS
    return known and is_foreign(value)


def is_for_python(call: ast.Call) -> bool:
    """Whether the call cannot be compiled for any callee, because it has starred arguments, arguments from a dict, or a
    comprehension as an argument, or is a method of a dict or set that is written out."""
    if any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords):
        return True
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    if any(isinstance(each, ast.Set | ast.SetComp | ast.DictComp) for each in (*call.args, owner)):
        return True
    listed = [each for each in call.args if isinstance(each, ast.ListComp)]
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    if name == "len":
        return any(not isinstance(each.elt, ast.Name | ast.Constant) for each in listed)
    return bool(listed) and not hasattr(builtins, name)  # not sum, min, max, any, all


_STATEMENTS = (
    ast.Try | ast.TryStar | ast.Match | ast.Delete | ast.Import | ast.ImportFrom | ast.Yield | ast.YieldFrom
    | ast.Global | ast.Nonlocal
)  # fmt: skip


def is_statement_of_python(node: ast.AST) -> bool:
    """Whether the node is a statement, or a part of one, that compiled code does not support and that Python may run
    anywhere with the same effect."""
    return isinstance(node, _STATEMENTS)


_REDUCTIONS = frozenset((
    "all", "any", "argmax", "argmin", "cumprod", "cumsum", "max", "mean", "min", "prod", "squeeze", "std", "sum", "var",
))  # fmt: skip


_ORDERED = ("copy", "flatten", "ravel", "reshape")


def has_open_keyword(call: ast.Call) -> bool:
    """Whether the call has a keyword that compiled code supports only as a constant or not at all: a reduction, a
    conversion, or a copy in another order."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if name in ("argmax", "argmin") and any(each.arg == "out" for each in call.keywords):  # the type of out matters
        return True
    if name == "astype" and any(each.arg != "dtype" for each in call.keywords):
        return True
    if name in _ORDERED and any(each.arg == "order" and not is_c_order(each.value) for each in call.keywords):
        return True
    return name in _REDUCTIONS and any(
        each.arg in ("where", "initial")
        or (each.arg == "ddof" and not (name in ("std", "var") and _counts_along(call)))
        or (each.arg in ("axis", "keepdims") and any(isinstance(part, ast.Name) for part in walk(each.value)))
        for each in call.keywords
    )


def _counts_along(call: ast.Call) -> bool:
    """Whether the axes of a reduction, if it has any, are non-negative constants."""
    axes = [each.value for each in call.keywords if each.arg == "axis"]
    return all(isinstance(part, ast.Constant | ast.Tuple | ast.Load) for axis in axes for part in walk(axis))


# ------------------------------------------------------------ texts and identity


def _is_text(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def is_made_text(node: ast.AST) -> bool:
    """Whether the node computes a text: an f-string, `"%d" % n`, `"a" + b`, or a method of a literal text; or is a text
    with a lone surrogate, which the core cannot represent."""
    match node:
        case ast.Constant(value=str(written)):
            return not is_text(written)
        case ast.JoinedStr():
            return True
        case ast.BinOp(left=left):
            return _is_text(left) or is_made_text(left)
        case ast.Call(func=ast.Attribute(value=owner)):
            return _is_text(owner)
    return False


def gives_text(value: ast.expr | None) -> bool:
    """Whether the value is a text, chooses a text, or is a tuple with one."""
    if isinstance(value, ast.IfExp):
        return gives_text(value.body) or gives_text(value.orelse)
    if isinstance(value, ast.Tuple):
        return any(map(gives_text, value.elts))
    return _is_text(value) or (value is not None and is_made_text(value))


# ------------------------------------------------------------ numbers of several types


def mixed_items(nodes: Sequence[ast.AST]) -> frozenset[ast.AST]:
    """The elements, by subscripts that are not constants, of lists and tuples of constants of several types that are
    written out, also under a name: `[1, 2.5][n]`. In compiled code such an element has one type."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Assign) and _is_mixed(node.value):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return frozenset(
        node
        for node in nodes
        if isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Load)
        and not isinstance(node.slice, ast.Slice)
        and not isinstance(_constant(node.slice), int)
        and (_is_mixed(node.value) or (isinstance(node.value, ast.Name) and node.value.id in found))
    )


def chooses_item(node: ast.AST) -> bool:
    """Whether it is an element, by a subscript that is not a constant, of a name or of a list or tuple that is written
    out."""
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Load)
        and isinstance(node.value, ast.Name | ast.List | ast.Tuple)
        and not isinstance(node.slice, ast.Slice | ast.Tuple)
        and not isinstance(_constant(node.slice), int)
    )


def _is_mixed(node: ast.expr) -> bool:
    """Whether it is a list or tuple display of constants of several types."""
    if not isinstance(node, ast.List | ast.Tuple):
        return False
    types = {type(_constant(each)) for each in node.elts}
    return len(types) > 1 and types <= {bool, int, float, complex}


def _constant(node: ast.expr) -> object:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        node = node.operand
    return node.value if isinstance(node, ast.Constant) else None


def is_identity(node: ast.AST) -> bool:
    """Whether the node is `a is b`, with names on both sides."""
    if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], ast.Is | ast.IsNot):
        return False
    return isinstance(node.left, ast.Name) and isinstance(node.comparators[0], ast.Name)
