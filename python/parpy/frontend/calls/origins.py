"""Whether a value is Python's number or NumPy's on every path, as far as the text of the function tells."""

from __future__ import annotations

import ast

from ...syntax.walks import walk
from ..expressions.arrays import subscripts_array
from ..scope import FunctionScope
from .reductions import method_of_value

_NUMBERS_OF_ARRAYS = ("shape", "ndim", "size", "itemsize", "nbytes", "real", "imag")
_ALWAYS_ONE = (int, float, complex, len)


def has_one_origin(fn: FunctionScope, value: ast.expr, seen: tuple[str, ...] = ()) -> bool:
    """Whether the value is always Python's number, or always NumPy's: no path gives the one and another path the
    other."""
    match value:
        case ast.Constant():
            return True
        case ast.Name(id=name):
            return name not in seen and _name_has_one_origin(fn, name, seen)
        case ast.Attribute(attr=name) | ast.Subscript(value=ast.Attribute(attr="shape" as name)):
            return name in _NUMBERS_OF_ARRAYS
        case ast.Subscript():  # elements of arrays are NumPy's
            return subscripts_array(fn, value)
        case ast.BinOp(left=left, right=right):
            return has_one_origin(fn, left, seen) and has_one_origin(fn, right, seen)
        case ast.UnaryOp(op=ast.Not()):
            return True
        case ast.Compare(left=left, comparators=others):
            return all(has_one_origin(fn, each, seen) for each in (left, *others))
        case ast.UnaryOp(operand=operand):
            return has_one_origin(fn, operand, seen)
        case ast.Call():
            called = fn.resolve(value.func)
            if called is None:
                return method_of_value(fn, value) is not None
            if called.value is abs and len(value.args) == 1:
                return has_one_origin(fn, value.args[0], seen)
            return called.value in _ALWAYS_ONE or str(getattr(called.value, "__module__", "")) in ("numpy", "math")
    return False


def may_have_two_origins(fn: FunctionScope, value: ast.expr) -> bool:
    """Whether the value is a name that gets several values, and not only constants."""
    return isinstance(value, ast.Name) and len(_stores(fn, value.id)) > 1 and not _gets_constants(fn, value.id)


def _stores(fn: FunctionScope, name: str) -> list[ast.Name]:
    return [p for p in walk(fn.node) if isinstance(p, ast.Name) and p.id == name and not isinstance(p.ctx, ast.Load)]


def _gets_constants(fn: FunctionScope, name: str) -> bool:
    given = [
        part.value
        for part in walk(fn.node)
        if isinstance(part, ast.Assign)
        for target in part.targets
        if isinstance(target, ast.Name) and target.id == name
    ]
    return len(given) == len(_stores(fn, name)) and all(isinstance(each, ast.Constant) for each in given)


def _name_has_one_origin(fn: FunctionScope, name: str, seen: tuple[str, ...]) -> bool:
    stores = _stores(fn, name)
    if name in fn.parameters:
        return not stores
    if len(stores) != 1:
        return _gets_constants(fn, name)
    for part in walk(fn.node):
        if isinstance(part, ast.Assign):
            for target in part.targets:
                for each, value in _pairs(target, part.value):
                    if each is stores[0]:
                        return has_one_origin(fn, value, (*seen, name))
        if isinstance(part, ast.For) and part.target is stores[0] and isinstance(part.iter, ast.Call):
            called = fn.resolve(part.iter.func)
            return called is not None and called.value is range
    return False


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """The parts of a target, each with its value, as far as these are written out."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]
