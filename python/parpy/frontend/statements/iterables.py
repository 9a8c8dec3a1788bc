"""Lowers for loops over arrays and tuples, `enumerate`, `zip` and `reversed` to loops over indices, whose bodies begin
with the assignment of the element to the target."""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass
from functools import partial

from ... import _native
from ...library import library_function
from ...vocabulary.workers import is_range
from ..calls.intrinsics import intrinsic_of
from ..expressions.arrays import outside_items
from ..lowering import lower
from ..scope import FunctionScope
from .items import Number, Values, item_values, may_be_arrays, mirrored, tuple_of
from .targets import assign_value


@dataclass
class Iterable:
    """The iterable of a loop: the lengths of its parts, of which the shortest counts, and the values by number."""

    lengths: list[_native.Expr]
    values: Values
    node: ast.expr


def iterable_of(fn: FunctionScope, node: ast.expr, as_copy: bool = False) -> Iterable | None:
    """The iterable of a for loop over `node`; None if it is no array, no tuple and none of the known functions.
    `as_copy` keeps the present elements, also if the loop stores to them."""
    called = _called(fn, node)
    if called is None:
        return _elements(fn, node, as_copy)
    assert isinstance(node, ast.Call)
    if _refuses_keywords(node, called) or any(isinstance(argument, ast.Starred) for argument in node.args):
        return None
    span = fn.span(node)
    begins = [*node.args[1:], *(each.value for each in node.keywords)]
    if called is builtins.enumerate and node.args and len(begins) <= 1:
        given = part_of(fn, node.args[0], as_copy)
        if given is None:
            return None
        if not begins:
            return Iterable(given.lengths, (lambda number: number(), given.values), node)
        first = fn.hold(lower(fn, begins[0]), begins[0])
        return Iterable(
            given.lengths,
            (lambda number: fn.module.op("+", [number(), fn.module.read(first, span)], span), given.values),
            node,
        )
    if called is builtins.zip and node.args:
        parts = [part_of(fn, argument, as_copy) for argument in node.args]
        found = [part for part in parts if part is not None]
        if len(found) < len(parts):
            return None
        return Iterable([length for part in found for length in part.lengths], tuple(p.values for p in found), node)
    if called is builtins.reversed and len(node.args) == 1 and _called(fn, node.args[0]) is None:
        given = part_of(fn, node.args[0], as_copy)
        return None if given is None else _backwards(fn, given)
    return None


def _refuses_keywords(node: ast.Call, called: object) -> bool:
    """Whether the call has keywords other than zip's strict=False and enumerate's start."""
    for keyword in node.keywords:
        if called is builtins.enumerate and keyword.arg == "start":
            continue
        lenient = isinstance(keyword.value, ast.Constant) and keyword.value.value is False
        if called is not builtins.zip or keyword.arg != "strict" or not lenient:
            return True
    return False


def _called(fn: FunctionScope, node: ast.expr) -> object | None:
    """The function that `node` calls, if it is enumerate, zip or reversed; otherwise None."""
    binding = fn.resolve(node.func) if isinstance(node, ast.Call) else None
    known = (builtins.enumerate, builtins.zip, builtins.reversed)
    if binding is None or not any(binding.value is each for each in known):
        return None
    fn.rely_on(binding)
    called: object = binding.value
    return called


def part_of(fn: FunctionScope, node: ast.expr, as_copy: bool = False) -> Iterable | None:
    """The iterable of an argument of such a function, which may also be a range. `as_copy` keeps present elements."""
    if _called(fn, node) is not None:
        return iterable_of(fn, node, as_copy)
    if isinstance(node, ast.Call) and (binding := fn.resolve(node.func)) is not None and is_range(binding.value):
        return _range(fn, node)
    return _elements(fn, node, as_copy)


def _gives_array(fn: FunctionScope, node: ast.Call) -> bool:
    """Whether the call may return an array: it calls a method, a user's function, or one with a lowering."""
    binding = fn.resolve(node.func)
    if binding is None:
        return not fn.starts_undefined(node.func)
    if fn.is_function(binding.value) or library_function(binding.value, node) is not None:
        return True
    known = intrinsic_of(binding.value)
    return known is not None and not known.lowering.startswith("misplaced_")


def _elements(fn: FunctionScope, node: ast.expr, as_copy: bool = False) -> Iterable | None:
    """The iterable of a tuple of numbers or of an array, which is held, since the loop may assign to its name."""
    span = fn.span(node)
    if (items := outside_items(fn, node)) is not None and (fn.kernel or not may_be_arrays(fn, items)):
        return Iterable([fn.integer(len(items), node)], item_values(fn, node, items), node)
    is_other = isinstance(node, ast.Constant) or (isinstance(node, ast.Call) and not _gives_array(fn, node))
    if items is None and is_other:
        return None
    if items is not None:
        value = tuple_of(fn, node, items)
    elif isinstance(node, ast.Attribute) and node.attr == "flat" and fn.resolve(node) is None:
        value = fn.op("reshape", node, lower(fn, node.value), fn.integer(-1, node))
    else:
        value = lower(fn, node)
    if as_copy:
        value = fn.op("snapshot", node, value)
    array = fn.hold(value, node, shown=ast.unparse(node))
    length = fn.op("length", node, fn.module.read(array, span))
    return Iterable([length], lambda number: fn.module.load(array, [number()], span), node)


def _range(fn: FunctionScope, node: ast.Call) -> Iterable | None:
    """range(n) and range(m, n)"""
    if node.keywords or not 1 <= len(node.args) <= 2 or any(isinstance(part, ast.Starred) for part in node.args):
        return None
    span = fn.span(node)
    bounds = [fn.hold(lower(fn, argument), argument) for argument in node.args]
    end = fn.module.read(bounds[-1], span)
    if len(bounds) == 1:
        return Iterable([end], lambda number: number(), node)
    length = fn.module.op("-", [end, fn.module.read(bounds[0], span)], span)
    return Iterable([length], lambda number: fn.module.op("+", [fn.module.read(bounds[0], span), number()], span), node)


def _backwards(fn: FunctionScope, given: Iterable) -> Iterable:
    """The reversed iterable of an array, a tuple or a range."""
    span, (own,) = fn.span(given.node), given.lengths
    length = fn.hold(own, given.node)
    last = fn.module.op("-", [fn.module.read(length, span), fn.module.constant(1, span)], span)
    from_end = fn.hold(last, given.node)

    def mirror(number: Number) -> Number:
        return lambda: fn.module.op("-", [fn.module.read(from_end, span), number()], span)

    return Iterable([fn.module.read(length, span)], mirrored(given.values, mirror), given.node)


def length_of(fn: FunctionScope, given: Iterable) -> _native.Expr:
    """The number of iterations."""
    length, *others = given.lengths
    for other in others:
        length = fn.module.op("min", [length, other], fn.span(given.node))
    return length


def take(fn: FunctionScope, target: ast.expr, values: Values, number: Number, node: ast.For) -> None:
    """Assigns the value of the iteration with this number to the target."""
    span = fn.span(target)
    if isinstance(values, tuple) and isinstance(target, ast.Name):
        assign_value(fn, target, _as_value(fn, values, number, target), node)
        return
    if isinstance(values, tuple):
        if not isinstance(target, ast.Tuple | ast.List) or len(target.elts) != len(values):
            fn.error(
                "P017",
                target,
                f"an iteration gives {len(values)} values",
                f"write {len(values)} targets for them: for {', '.join('abcdefgh'[: len(values)])} in …",
            )
            return
        for one, value in zip(target.elts, values, strict=True):
            take(fn, one, value, number, node)
        return
    taken = values(number)
    if isinstance(target, ast.Tuple | ast.List):  # unpacks a row of an array
        row = fn.hold(taken, target)
        for index, one in enumerate(target.elts):
            part = fn.module.load(row, [fn.module.constant(index, span)], span)
            take(fn, one, partial(_given, part), number, node)
        return
    assign_value(fn, target, taken, node)


def _given(value: _native.Expr, _: Number) -> _native.Expr:
    return value


def _as_value(fn: FunctionScope, values: Values, number: Number, node: ast.expr) -> _native.Expr:
    if isinstance(values, tuple):
        return fn.op("tuple", node, *(_as_value(fn, each, number, node) for each in values))
    return values(number)
