"""Lowers `isinstance(v, float)` of numbers and arrays, as far as their types decide it."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable
from enum import Enum

import numpy as np

from ... import _native
from ...library.limits import instance
from ...syntax.names import LIBRARIES
from ...vocabulary.operators import DTYPE_OF
from ..expressions.conditions import choose
from ..expressions.entries import is_assigned
from ..expressions.objects import has
from ..expressions.subscripts import array_of
from ..lowering import lower
from ..program import identifier
from ..scope import FunctionScope
from .functions import call_library
from .intrinsics import Intrinsic
from .origins import has_one_origin

# The numbers of Python that have the type of NumPy's.
_PYTHONS = {"bool": bool, "i64": int, "f64": float, "c128": complex}


def lower_isinstance(fn: FunctionScope, node: ast.Call, _: Intrinsic) -> _native.Expr:
    classes = _classes(fn, node.args[1])
    if classes is None:
        fn.error("P022", node, "compiled code does not know one of these classes", "compare x.dtype, or x.ndim")
        return fn.poison(node)
    if not any(_is_of_user(each) for each in classes):
        return _of_number(fn, node, classes)
    name = "__of_" + "_or_".join(identifier(each.__name__) for each in classes)
    while fn.program.asked_classes.setdefault(name, classes) != classes:
        name += "_"  # other classes with these names have the name already
    fn.program.attributes.add(name)
    has_it = has(fn, node.args[0], name, node)
    if all(map(_is_of_user, classes)):
        return has_it
    of_number = fn.branch(lambda: _of_number(fn, node, classes))
    return choose(fn, has(fn, node.args[0], "", node), (has_it, []), of_number, node)


def _of_number(fn: FunctionScope, node: ast.Call, classes: tuple[type, ...]) -> _native.Expr:
    """Python's number and NumPy's of one type may differ in this. Python's are weak in computations with NumPy's."""
    value = node.args[0]
    answers = {scalar: _answers(scalar, classes) for scalar in DTYPE_OF}
    pythons = tuple(scalar for scalar, (by_python, by_numpy) in answers.items() if by_python and not by_numpy)
    numpys = tuple(scalar for scalar, (by_python, by_numpy) in answers.items() if by_numpy and not by_python)
    yes = tuple(scalar for scalar, both in answers.items() if all(both))
    of_arrays = issubclass(np.ndarray, classes)
    owner = value.value if isinstance(value, ast.Subscript) else value
    if not (isinstance(owner, ast.Name) and owner.id in fn.parameters and not is_assigned(fn.node, owner.id)):
        asked = f"'{ast.unparse(node)}' in line {node.lineno + fn.source.line_shift}"
        is_clear = has_one_origin(fn, value)
        return call_library(fn, instance(yes, pythons, numpys, of_arrays, is_clear, asked), [lower(fn, value)], node)
    return _decided(fn, node, yes, pythons, numpys, of_arrays)


def _decided(
    fn: FunctionScope,
    node: ast.Call,
    yes: Iterable[str],
    pythons: Iterable[str],
    numpys: Iterable[str],
    of_arrays: bool,
) -> _native.Expr:
    """The same of a parameter, or of elements of one, which is known before other types are."""
    span, value = fn.span(node), node.args[0]

    def of_type(scalar: str) -> _native.Expr:
        return fn.module.convert(fn.module.constant(0, span), scalar, span)

    def is_of(scalar: str) -> _native.Expr:
        return fn.module.op("types_equal", [lower(fn, value), of_type(scalar)], span)

    def is_pythons(scalar: str) -> _native.Expr:
        small = "c64" if scalar == "c128" else "f32"
        both = fn.module.op("+", [lower(fn, value), of_type(small)], span)
        return fn.module.op("types_equal", [both, of_type(small)], span)

    result = fn.module.constant(False, span)
    for scalar in (*yes, *pythons, *numpys):
        found = is_of(scalar)
        if scalar in pythons:
            found = fn.module.op("and", [found, is_pythons(scalar)], span)
        elif scalar in numpys:
            found = fn.module.op("and", [found, fn.op("not", node, is_pythons(scalar))], span)
        result = fn.module.op("or", [result, found], span)
    if isinstance(value, ast.Name) and (array := array_of(fn, value)) is not None:
        word, op = ("or", "!=") if of_arrays else ("and", "==")
        rank = fn.module.op(op, [fn.module.rank(array, span), fn.module.constant(0, span)], span)
        result = fn.module.op(word, [rank, result], span)
    return result


def _answers(scalar: str, classes: tuple[type, ...]) -> tuple[bool, bool]:
    """Whether Python's number of the type is such an instance, and whether NumPy's is."""
    by_numpy = issubclass(np.dtype(DTYPE_OF[scalar]).type, classes)
    python = _PYTHONS.get(scalar)
    return (by_numpy if python is None else issubclass(python, classes)), by_numpy


def _is_of_user(of_class: type) -> bool:
    """Whether no number, text or choice of an enum is an instance."""
    return of_class.__module__.partition(".")[0] not in LIBRARIES and not issubclass(of_class, Enum)


def _classes(fn: FunctionScope, node: ast.expr) -> tuple[type, ...] | None:
    """The classes that the second argument names; None where something else is in it."""
    if isinstance(node, ast.Tuple):
        parts = node.elts
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        parts = [node.left, node.right]
    else:
        binding = fn.resolve(node)
        if binding is None or not inspect.isclass(binding.value):
            return None
        fn.rely_on(binding)
        return (binding.value,)
    found: list[type] = []
    for part in parts:
        more = _classes(fn, part)
        if more is None:
            return None
        found.extend(more)
    return tuple(found)
