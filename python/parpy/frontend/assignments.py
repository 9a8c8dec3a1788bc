"""Lowers assignments: to one target, to several, and updates."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial

from .. import _native
from .compositions import results_of_pair
from .effects import has_effects, over_slices
from .evaluation import held_for
from .exchanges import record_chain, record_exchange
from .expressions import BINARY
from .kernels import grid_assignment, unpack_kernel
from .lowering import lower, several_results
from .memory import kernel_array
from .naming import known_ranks, names_records, record_assignment, tuple_assignment, unpacks_tuples
from .none import decided
from .patterns import first_name
from .records import record_copy
from .scope import FunctionScope
from .subscripts import held_element, unpack_shape
from .targets import assign_value
from .tuples import held_tuple, hidden_tuple, is_shape, spelled_out

# A single target, what makes its value, and the expression that is read for it.
Pair = tuple[ast.expr, Callable[[], _native.Expr], ast.expr | None]


def lower_assign(fn: FunctionScope, node: ast.Assign) -> None:
    if len(node.targets) == 1:
        _assign_one(fn, node.targets[0], node.value, node)
        return
    if record_chain(fn, node):
        return
    if any(isinstance(target, ast.Tuple | ast.List) for target in node.targets):
        fn.error(
            "P016", node, "a chained assignment to a tuple cannot be compiled", "write one assignment for each target"
        )
        fn.give_up_on(node)
        return
    again = held_for(fn, node.targets[0], partial(lower, fn, node.value), node.value, node)
    for target in node.targets:
        with known_ranks(fn, target, node.value):
            assign_value(fn, target, again(), node)


# What `target = value` may be besides an assignment of numbers. The first that applies lowers it, and says so.
_ALTERNATIVES = (kernel_array, tuple_assignment, record_assignment, record_copy, grid_assignment)


def _assign_one(fn: FunctionScope, target: ast.expr, value: ast.expr, node: ast.stmt) -> None:
    value = fn.whole_value = decided(fn, value)
    fn.made_generator = target if isinstance(target, ast.Name) and isinstance(value, ast.Call) else None
    if not any(lowers(fn, target, value, node) for lowers in _ALTERNATIVES):
        assign(fn, target, value, node)


def assign(fn: FunctionScope, target: ast.expr, value: ast.expr, node: ast.stmt) -> None:
    """target = value of numbers or arrays."""
    with known_ranks(fn, target, value):
        if isinstance(target, ast.Tuple | ast.List):
            _assign_tuple(fn, target, value, node)
        else:
            assign_value(fn, target, lower(fn, value), node)


# ------------------------------------------------------------ to several targets


def _assign_tuple(fn: FunctionScope, target: ast.Tuple | ast.List, value: ast.expr, node: ast.stmt) -> None:
    """All right sides first, then the targets from the left."""
    if _assign_results(fn, target, value, node):
        return
    value = spelled_out(fn, value)
    if names_records(fn, target, value):
        assert isinstance(value, ast.Tuple | ast.List)
        for one, part in zip(target.elts, value.elts, strict=True):
            if not record_assignment(fn, one, part, node):
                assign(fn, one, part, node)
        return
    if record_exchange(fn, target, value, node):
        return
    if unpacks_tuples(fn, target, value):
        _assign_elements(fn, target, hidden_tuple(fn, held_tuple(fn, value), value), node)
        return
    if over_slices(fn, target) or (over_slices(fn, value) and not is_shape(fn, value)):
        _assign_slices(fn, target, value, node)
        return
    pairs = _pairs(fn, target, value)
    if pairs is None:
        fn.give_up_on(target)
        return
    if len(pairs) == 1 or not _interfere(fn, pairs):
        for one, make, _ in pairs:
            assign_value(fn, one, make(), node)
        return
    held = [held_for(fn, one, make, source, node) for one, make, source in pairs]
    for (one, _, _), again in zip(pairs, held, strict=True):
        assign_value(fn, one, again(), node)


def _assign_results(fn: FunctionScope, target: ast.Tuple | ast.List, value: ast.expr, node: ast.stmt) -> bool:
    """`a, b = two(x)`, where the function's statements stand in place of the call."""
    results = several_results(fn, value)
    if results is None:
        return False
    if results and len(results) == len(target.elts):
        for one, make in zip(target.elts, results, strict=True):
            assign_value(fn, one, make(), node)
        return True
    if results:
        _unequal(fn, target, len(target.elts), len(results))
    fn.give_up_on(target)
    return True


def _assign_slices(fn: FunctionScope, target: ast.Tuple | ast.List, value: ast.expr, node: ast.stmt) -> None:
    """`x[:2], x[2:4] = x[2:4], x[:2]`: one after the other: a slice by itself is a view in NumPy, which has what is
    stored by then. Nothing may be computed of what an earlier target may change."""
    values = value.elts if isinstance(value, ast.Tuple | ast.List) else []
    names: set[str] = set()
    stored = False
    separate = len(values) == len(target.elts) and not has_effects(fn, value)
    for one, part in zip(target.elts, values, strict=False):
        computed = part.slice if isinstance(part, ast.Subscript) and over_slices(fn, part) else part
        for read in ast.walk(computed):
            separate &= not (isinstance(read, ast.Name) and read.id in names)
            separate &= not (isinstance(read, ast.Subscript) and stored)
        separate &= isinstance(one, ast.Name | ast.Subscript)
        names |= {first.id for first in [first_name(one)] if isinstance(first, ast.Name)}
        stored |= isinstance(one, ast.Subscript)
    if not separate:
        fn.error(
            "P016",
            node,
            "slices in an assignment to several targets cannot be compiled where values are computed of them",
            "write one assignment for each target",
        )
        return
    for one, part in zip(target.elts, values, strict=True):
        assign_value(fn, one, lower(fn, part), ast.copy_location(ast.Assign([one], part), node))


def _assign_elements(fn: FunctionScope, target: ast.Tuple | ast.List, value: ast.expr, node: ast.stmt) -> None:
    """The targets get the elements of a tuple that no target is."""
    for index, one in enumerate(target.elts):
        part = ast.copy_location(ast.Subscript(value, ast.copy_location(ast.Constant(index), value)), one)
        if isinstance(one, ast.Tuple | ast.List):
            _assign_elements(fn, one, part, node)
        elif not tuple_assignment(fn, one, part, node):
            assign_value(fn, one, lower(fn, part), node)


def _pairs(fn: FunctionScope, target: ast.expr, value: ast.expr) -> list[Pair] | None:
    """Each single target with what makes its value and the expression that is read for it (None where it
    reads no variable that could be a target). None after an error."""
    if not isinstance(target, ast.Tuple | ast.List):
        return [(target, lambda: lower(fn, value), value)]
    starred = next((t for t in target.elts if isinstance(t, ast.Starred)), None)
    if starred is not None:
        fn.error("P016", starred, "a starred target cannot be compiled", "name every element")
        return None
    count = len(target.elts)
    makers = several_results(fn, value)
    value = spelled_out(fn, value) if makers is None else value
    if isinstance(value, ast.Tuple | ast.List):
        if len(value.elts) != count:
            _unequal(fn, target, count, len(value.elts))
            return None
        nested = [_pairs(fn, t, v) for t, v in zip(target.elts, value.elts, strict=True)]
        if any(part is None for part in nested):
            return None
        return [pair for part in nested if part is not None for pair in part]
    makers = unpack_shape(fn, value, count) if makers is None else makers
    makers = results_of_pair(fn, value) if makers is None else makers
    makers = unpack_kernel(fn, value, count) if makers is None else makers
    if makers is None:
        fn.error(
            "P017",
            value,
            "this value cannot be unpacked into several targets",
            "a tuple, the shape of an array and divmod can",
        )
        return None
    if makers and len(makers) != count:
        _unequal(fn, target, count, len(makers))
        return None
    if not makers:
        return None
    return [(t, make, None) for t, make in zip(target.elts, makers, strict=True)]


def _unequal(fn: FunctionScope, node: ast.expr, targets: int, values: int) -> None:
    fn.error(
        "P017",
        node,
        f"{values} value{'' if values == 1 else 's'} cannot be assigned to "
        f"{targets} target{'' if targets == 1 else 's'}",
        "give both sides the same length",
    )


# ------------------------------------------------------------ updates


def lower_augmented(fn: FunctionScope, node: ast.AugAssign) -> None:
    if isinstance(node.op, ast.MatMult):
        fn.error("P011", node, "the update '@=' cannot be compiled", "write x[:, :] = x @ y")
        return
    if isinstance(node.target, ast.Name) and node.target.id not in fn.assigned:
        # Python reads the target first.
        fn.local(ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target))
    value, before = fn.apart(lambda: lower(fn, node.value))
    if before and isinstance(node.target, ast.Subscript) and has_effects(fn, node.value):
        _update_early(fn, node, node.target, value, before)
    else:
        fn.out.extend(before)
        assign_value(fn, node.target, value, node, BINARY[type(node.op)])


def _update_early(
    fn: FunctionScope, node: ast.AugAssign, target: ast.Subscript, value: _native.Expr, before: list[_native.Stmt]
) -> None:
    """An update whose value needs statements `before` it, which may write what Python has read by then: the
    subscripts and, unless they are slices, the old value."""
    array, indices = held_element(fn, target)
    if array is None:
        return
    op, update = BINARY[type(node.op)], True
    if not any(isinstance(part, ast.Slice) for part in ast.walk(target.slice)):
        old = fn.module.load(array, indices(), fn.span(target))
        old = fn.module.read(fn.hold(old, target), fn.span(target))
        value, update = fn.module.op(op, [old, value], fn.span(target)), False
    fn.out.extend(before)
    fn.out.append(fn.module.store(array, indices(), value, op if update else None, fn.span(node)))


def lower_annotated(fn: FunctionScope, node: ast.AnnAssign) -> None:
    """x: T = value. The annotation is for readers; the type follows from the values."""
    if node.value is not None:
        _assign_one(fn, node.target, node.value, node)


def _interfere(fn: FunctionScope, pairs: list[Pair]) -> bool:
    """Whether assigning an earlier target may change, or be seen by, a later value."""
    names: set[str] = set()
    stored = False
    for target, _, source in pairs:
        if source is not None:
            if has_effects(fn, source):
                return True
            for part in ast.walk(source):
                if isinstance(part, ast.Name) and part.id in names:
                    return True
                if isinstance(part, ast.Subscript) and stored:
                    return True
        if isinstance(target, ast.Name):
            names.add(target.id)
        else:
            stored = True
    return False
