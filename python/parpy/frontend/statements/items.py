"""The items of a loop over a tuple or list display, or over a named tuple object outside the function.

The items are evaluated before the loop. Equidistant integers are computed from the number of the iteration, other
constants are selected by it, and values that are known only at run time are assigned by branches.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from itertools import pairwise

from ... import _native
from ...syntax.names import is_scalar
from ...syntax.patterns import is_literal
from ..expressions.arrays import outside_items
from ..expressions.constants import whole_number
from ..lowering import lower
from ..scope import FunctionScope

_MOST_WHOLE = 2**62  # the differences of smaller integers fit 64 bits

# Makes a number any number of times; makes the value for a number.
Number = Callable[[], _native.Expr]
Maker = Callable[[Number], _native.Expr]
Values = Maker | tuple["Values", ...]


def item_values(fn: FunctionScope, node: ast.expr, items: list[ast.expr]) -> Values:
    """The values by the number of the item."""
    rows = [outside_items(fn, item) for item in items]
    found = [row for row in rows if row is not None]
    if not found:
        return _numbers(fn, node, items)
    sizes = sorted({len(row) for row in found})
    if len(found) < len(rows):
        return _refused(fn, node, "numbers and tuples")
    if len(sizes) > 1:
        return _refused(fn, node, f"tuples of {' and '.join(map(str, sizes))} elements")
    return tuple(item_values(fn, node, [row[index] for row in found]) for index in range(sizes[0]))


def may_be_arrays(fn: FunctionScope, items: list[ast.expr]) -> bool:
    """Whether some of these items, or items of tuples among them, may be arrays as far as the text shows."""
    for item in items:
        row = outside_items(fn, item)
        if may_be_arrays(fn, row) if row is not None else not (is_literal(item) or _is_number(fn, item)):
            return True
    return False


def tuple_of(fn: FunctionScope, node: ast.expr, items: list[ast.expr]) -> _native.Expr:
    """The tuple of the items."""
    rows = [outside_items(fn, item) for item in items]
    parts = [lower(fn, item) if row is None else tuple_of(fn, item, row) for item, row in zip(items, rows, strict=True)]
    return fn.op("tuple", node, *parts)


def _refused(fn: FunctionScope, node: ast.expr, what: str) -> Values:
    """Reports items of different kinds."""
    fn.error(
        "P017",
        node,
        f"the items of '{ast.unparse(node)}' are {what}",
        "write numbers alone, or tuples of one length, which a loop unpacks: for a, b in …",
    )
    return lambda _: fn.poison(node)


def mirrored(values: Values, mirror: Callable[[Number], Number]) -> Values:
    """The values for mirrored numbers: the value for n becomes the one for mirror(n)."""
    if isinstance(values, tuple):
        return tuple(mirrored(each, mirror) for each in values)
    return lambda number: values(mirror(number))


def _numbers(fn: FunctionScope, node: ast.expr, items: list[ast.expr]) -> Maker:
    whole = [_whole(fn, item) for item in items] or [0]
    steps = {b - a for a, b in pairwise(whole) if a is not None and b is not None}
    first = whole[0]
    if first is not None and None not in whole and len(steps) <= 1:
        return _progression(fn, node, first, steps.pop() if steps else 0)
    if all(is_literal(item) or _is_number(fn, item) for item in items):
        return lambda number: _chosen(fn, node, items, 0, number)
    held = [fn.hold(lower(fn, item), item, shown=ast.unparse(item)) for item in items]
    return lambda number: _assigned(fn, node, held, number)


def _whole(fn: FunctionScope, item: ast.expr) -> int | None:
    """The value of `item` if it is a known integer; otherwise None."""
    binding = fn.item(item)
    known = whole_number(fn, item) if binding is None else binding.value
    return known if type(known) is int and abs(known) < _MOST_WHOLE else None


def _is_number(fn: FunctionScope, item: ast.expr) -> bool:
    """Whether `item` is a number in a tuple outside the function."""
    binding = fn.item(item)
    return binding is not None and is_scalar(binding.value)


def _progression(fn: FunctionScope, node: ast.expr, first: int, step: int) -> Maker:
    """first + step * number"""

    def make(number: Number) -> _native.Expr:
        distance = fn.op("*", node, number(), fn.integer(step, node))
        return fn.op("+", node, distance, fn.integer(first, node))

    return make


def _chosen(fn: FunctionScope, node: ast.expr, items: list[ast.expr], first: int, number: Number) -> _native.Expr:
    """The constant with this number, selected by a binary search; the first one has the number `first`."""
    if len(items) == 1:
        return lower(fn, items[0])
    half = len(items) // 2
    test = fn.op("<", node, number(), fn.integer(first + half, node))
    sides = _chosen(fn, node, items[:half], first, number), _chosen(fn, node, items[half:], first + half, number)
    return fn.op("select", node, test, *sides)


def _assigned(fn: FunctionScope, node: ast.expr, held: list[_native.Var], number: Number) -> _native.Expr:
    """The value of the held variable with this number, assigned to a temporary."""
    span = fn.span(node)
    var = fn.temporary(span, "item")

    def assign(variables: list[_native.Var], first: int) -> _native.Stmt:
        if len(variables) == 1:
            return fn.module.assign(var, fn.module.read(variables[0], span), None, span)
        half = len(variables) // 2
        test = fn.op("<", node, number(), fn.integer(first + half, node))
        return fn.module.if_(test, [assign(variables[:half], first)], [assign(variables[half:], first + half)], span)

    fn.out.append(assign(held, 0))
    return fn.module.read(var, span)
