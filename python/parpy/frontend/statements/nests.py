"""Iterables for which a for loop becomes a nest of loops: `itertools.product`, `np.ndindex`, `np.ndenumerate`. Any
other iterable is a nest of one loop.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ... import _native
from ...syntax.patterns import integer_constant
from ...syntax.walks import walk
from ..expressions.arrays import is_array_name
from ..expressions.effects import has_effects
from ..expressions.subscripts import array_of
from ..expressions.tuples import items_of
from ..lowering import lower
from ..scope import FunctionScope
from .items import Number, Values, mirrored
from .iterables import Iterable, iterable_of, part_of

_MOST_DIMENSIONS = 4  # the most dimensions if their number is unknown to the frontend


@dataclass
class Nest:
    """The loops, outermost first, and the values of an iteration by the indices of all loops."""

    loops: list[Iterable]
    values: Callable[[list[Number]], Values]


@dataclass
class Choice:
    """A nest, which runs only if the test holds, if there is one. `make` is called at the place of the nest."""

    make: Callable[[], Nest]
    test: Callable[[], _native.Expr] | None = None


def nests_of(fn: FunctionScope, node: ast.For) -> list[Choice] | None:
    """The nests, of which the first one whose test holds runs, or else the last. None if `node` is a loop over a range
    or over an object that is not iterable here."""
    binding = fn.resolve(node.iter.func) if isinstance(node.iter, ast.Call) else None
    if isinstance(node.iter, ast.Call) and binding is not None and is_nest(binding.value, node.iter):
        fn.rely_on(binding)
        if binding.value is itertools.product:
            return _product(fn, node.iter, _changes_arrays(fn, node.body))
        return _MAKERS[binding.value](fn, node.iter, node.target)
    given = iterable_of(fn, node.iter)
    return None if given is None else [Choice(lambda: Nest([given], lambda numbers: _of(given, numbers[0])))]


def _changes_arrays(fn: FunctionScope, nodes: list[ast.stmt]) -> bool:
    """Whether the statements may store to arrays, directly or through calls."""
    for part in (part for each in nodes for part in walk(each)):
        if isinstance(part, ast.AugAssign):
            return True
        if isinstance(part, ast.Subscript | ast.Attribute) and isinstance(part.ctx, ast.Store):
            return True
        if isinstance(part, ast.Call):
            binding = fn.resolve(part.func)
            if binding is None or fn.is_function(binding.value) or has_effects(fn, part):
                return True
    return False


def is_nest(called: object, call: ast.Call) -> bool:
    """Whether a loop over this call of an object is a nest of loops. A starred argument is allowed only for np.ndindex,
    which also accepts the tuple itself."""
    if called is itertools.product:
        repeats = [integer_constant(each.value) for each in call.keywords if each.arg == "repeat"]
        literal = any(isinstance(each, ast.Starred | ast.Constant) for each in call.args)
        return bool(call.args) and len(repeats) == len(call.keywords) and all(repeats) and not literal
    if called is np.ndindex:
        starred = any(isinstance(each, ast.Starred) for each in call.args[1 if len(call.args) == 1 else 0 :])
        return bool(call.args) and not call.keywords and not starred
    return called is np.ndenumerate and len(call.args) == 1 and not call.keywords


def _of(given: Iterable, number: Number) -> Values:
    """The values of the iterable for this number."""
    return mirrored(given.values, lambda _: number)


def _of_each(loops: list[Iterable]) -> Nest:
    """The nest in which each loop has a value of its own."""
    return Nest(loops, lambda numbers: tuple(map(_of, loops, numbers)))


def _product(fn: FunctionScope, node: ast.Call, changes: bool) -> list[Choice] | None:
    """itertools.product(range(n), x), itertools.product(range(2), repeat=3). It reads all elements before the loop, so
    arrays are copied if the loop changes arrays."""
    times = [integer_constant(each.value) or 0 for each in node.keywords]
    arguments = node.args * sum(times, 0 if times else 1)
    parts = [part_of(fn, argument, as_copy=changes) for argument in arguments]
    found = [part for part in parts if part is not None]
    return [Choice(lambda: _of_each(found))] if len(found) == len(parts) else None


def _ndindex(fn: FunctionScope, node: ast.Call, target: ast.expr) -> list[Choice] | None:
    """np.ndindex(n, m), np.ndindex(x.shape)"""
    shape = node.args[0] if len(node.args) == 1 else ast.copy_location(ast.Tuple(node.args, ast.Load()), node)
    shape = shape.value if isinstance(shape, ast.Starred) else shape
    if isinstance(shape, ast.Attribute) and shape.attr == "shape" and is_array_name(fn, shape.value):
        array = array_of(fn, shape.value)
        return None if array is None else _by_rank(fn, array, node, target, _of_each)
    if isinstance(shape, ast.Tuple | ast.List):
        count = len(shape.elts)
    elif isinstance(target, ast.Tuple | ast.List) and len(target.elts) > 1:
        count = len(target.elts)
    else:
        count, shape = 1, ast.copy_location(ast.Tuple([shape], ast.Load()), shape)
    loops = [_counted(fn, make(), node) for make in items_of(fn, shape, count, set())]
    return [Choice(lambda: _of_each(loops))] if count else None


def _ndenumerate(fn: FunctionScope, node: ast.Call, target: ast.expr) -> list[Choice] | None:
    """np.ndenumerate(x)"""
    if not isinstance(target, ast.Tuple | ast.List) or len(target.elts) != 2:
        return None
    array = fn.hold(lower(fn, node.args[0]), node.args[0], shown=ast.unparse(node.args[0]))

    def with_element(loops: list[Iterable]) -> Nest:
        def values(numbers: list[Number]) -> Values:
            element = fn.module.load(array, [number() for number in numbers], fn.span(node))
            return tuple(map(_of, loops, numbers)), lambda _: element

        return Nest(loops, values)

    return _by_rank(fn, array, node, target.elts[0], with_element)


def _by_rank(
    fn: FunctionScope, array: _native.Var, node: ast.expr, target: ast.expr, make: Callable[[list[Iterable]], Nest]
) -> list[Choice]:
    """The loops over an array. Its number of dimensions is the number of targets or, for a single name, one choice for
    each possible number."""
    span = fn.span(node)

    def of_rank(rank: int) -> Nest:
        return make([_counted(fn, fn.module.extent(array, axis, span, rank), node) for axis in range(rank)])

    def has_rank(rank: int) -> _native.Expr:
        return fn.op("==", node, fn.module.rank(array, span), fn.integer(rank, node))

    if isinstance(target, ast.Tuple | ast.List):
        return [Choice(partial(of_rank, len(target.elts)))]
    return [Choice(partial(of_rank, rank), partial(has_rank, rank)) for rank in range(1, _MOST_DIMENSIONS + 1)]


def _counted(fn: FunctionScope, length: _native.Expr, node: ast.expr) -> Iterable:
    """The iterable of the integers from 0 below this length."""
    end = fn.module.read(fn.hold(length, node), fn.span(node))
    return Iterable([end], lambda number: number(), node)


_MAKERS: dict[object, Callable[[FunctionScope, ast.Call, ast.expr], list[Choice] | None]] = {
    np.ndindex: _ndindex,
    np.ndenumerate: _ndenumerate,
}
