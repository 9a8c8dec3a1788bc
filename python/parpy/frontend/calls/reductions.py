"""Lowers reductions of arrays, `np.sum(x, axis=1)` and `x.mean()`, and the functions made of them: `np.std`, `np.var`,
`np.ptp`, `np.count_nonzero`.
"""

from __future__ import annotations

import ast

from ... import _native
from ...syntax.fields import is_of_object
from ...syntax.names import is_array, is_scalar
from ...syntax.patterns import integer_constant, is_none
from ..lowering import lower
from ..scope import FunctionScope
from .arguments import fits
from .functions import by_numpy
from .intrinsics import DEVIATION_KEYWORDS, DEVIATIONS, REDUCTIONS, Intrinsic


def method_of_value(fn: FunctionScope, node: ast.Call) -> ast.Attribute | None:
    """The method of the call if its owner may be an array or a number; None for other calls."""
    func = node.func
    if not isinstance(func, ast.Attribute) or fn.resolve(func) is not None or fn.starts_undefined(func):
        return None
    if is_of_object(func):
        return None
    owner = fn.resolve(func.value)
    return func if owner is None or is_array(owner.value) or is_scalar(owner.value) else None


def reduction_method(fn: FunctionScope, node: ast.Call) -> _native.Expr | None:
    """x[:].sum(axis=1) and other reductions that are methods; None for other calls."""
    func = method_of_value(fn, node)
    if func is None or func.attr not in (*REDUCTIONS, *DEVIATIONS):
        return None
    keywords = DEVIATION_KEYWORDS if func.attr in DEVIATIONS else ("axis", "keepdims")
    intrinsic = Intrinsic(func.attr, "reduce", func.attr, 0, 1, keywords)
    if not fits(fn, node, intrinsic):
        return fn.poison(node)
    lowers = _deviation if func.attr in DEVIATIONS else _reduce
    return lowers(fn, node, intrinsic.op, func.value, node.args)


def lower_reduce(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    """parpy.sum(x[:, :], axis=1), np.sum(…)."""
    return _reduce(fn, node, intrinsic.op, node.args[0], node.args[1:])


def lower_reduce_first(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    """np.add.reduce(x), which reduces the first axis unless `axis` is given."""
    first = ast.copy_location(ast.Constant(0), node)
    given = node.args[1:] or ([] if any(each.arg == "axis" for each in node.keywords) else [first])
    return _reduce(fn, node, intrinsic.op, node.args[0], given)


def _reduce(fn: FunctionScope, node: ast.Call, name: str, operand: ast.expr, more: list[ast.expr]) -> _native.Expr:
    axes, keeps = _shape_of_result(fn, node, name, more)
    return fn.module.reduce(name, lower(fn, operand), axes, keeps, fn.span(node))


def _shape_of_result(fn: FunctionScope, node: ast.Call, name: str, more: list[ast.expr]) -> tuple[list[int], bool]:
    """The axes that the call reduces (an empty list for all), and whether the result keeps them with size 1."""
    given = dict(zip(("axis", "keepdims"), more, strict=False))
    for keyword in node.keywords:
        assert keyword.arg is not None
        if keyword.arg in given:
            fn.error("P023", keyword, f"'{name}' gets two values for '{keyword.arg}'", "leave one out")
        given[keyword.arg] = keyword.value
    axes = _axes(fn, given["axis"]) if "axis" in given else []
    keepdims = given.get("keepdims")
    keeps = isinstance(keepdims, ast.Constant) and keepdims.value is True
    if keepdims is not None and not (isinstance(keepdims, ast.Constant) and isinstance(keepdims.value, bool)):
        fn.error("P023", keepdims, "'keepdims' must be True or False itself", "write keepdims=True")
    return axes, keeps


def lower_deviation(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    """np.var(x, axis=1), np.std(x)"""
    return _deviation(fn, node, intrinsic.op, node.args[0], node.args[1:])


def _deviation(fn: FunctionScope, node: ast.Call, name: str, operand: ast.expr, more: list[ast.expr]) -> _native.Expr:
    """The variance, as NumPy computes it, by the mean of the squared distances from the mean, or its root."""
    axes, keeps = _shape_of_result(fn, node, name, more)
    ddof = next((each.value for each in node.keywords if each.arg == "ddof"), None)
    span, module = fn.span(node), fn.module
    array = fn.hold(lower(fn, operand), operand, shown=ast.unparse(operand))
    fewer = None if ddof is None else lower(fn, ddof)
    mean = module.reduce("mean", module.read(array, span), axes, True, span)
    rest = module.op("abs", [module.op("-", [module.read(array, span), mean], span)], span)
    squares = module.op("square", [rest], span)
    if fewer is None:
        variance = module.reduce("mean", squares, axes, keeps, span)
    else:
        count = module.size(array, span) if not axes else module.extent(array, axes[0], span)
        for axis in axes[1:]:
            count = module.op("*", [count, module.extent(array, axis, span)], span)
        free = module.op("max", [module.op("-", [count, fewer], span), module.constant(0, span)], span)
        variance = module.op("/", [module.reduce("sum", squares, axes, keeps, span), free], span)
        variance = by_numpy(fn, variance, node)
    return variance if name == "var" else module.op("sqrt", [variance], span)


def lower_ptp(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    """np.ptp(x, axis=1), the difference of the largest and the smallest element."""
    axes, keeps = _shape_of_result(fn, node, intrinsic.name, node.args[1:])
    span, module = fn.span(node), fn.module
    array = fn.hold(lower(fn, node.args[0]), node.args[0], shown=ast.unparse(node.args[0]))
    ends = [module.reduce(name, module.read(array, span), axes, keeps, span) for name in ("max", "min")]
    return module.op("-", ends, span)


def lower_count_nonzero(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    """np.count_nonzero(x > 1)"""
    axes, keeps = _shape_of_result(fn, node, intrinsic.name, node.args[1:])
    span, module = fn.span(node), fn.module
    differs = module.op("!=", [lower(fn, node.args[0]), module.constant(0, span)], span)
    return module.reduce("sum", differs, axes, keeps, span)


def _axes(fn: FunctionScope, node: ast.expr) -> list[int]:
    """The axes that the constant `axis` names; an empty list means all axes."""
    if is_none(node):
        return []
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    axes = [integer_constant(part) for part in parts]
    if not axes or None in axes:
        fn.error(
            "P023",
            node,
            "'axis' must be an integer constant or a tuple of them",
            "write for example axis=1, axis=-1 or axis=(0, 1)",
        )
    return [axis for axis in axes if axis is not None]
