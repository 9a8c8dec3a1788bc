"""Lowers assignments: to one target, to several, and updates."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from functools import partial
from types import ModuleType

from ... import _native
from ...library.arrays import arange, numbers_of_range
from ...syntax.lists import fixed_lists
from ...syntax.names import is_array, is_scalar
from ...syntax.patterns import names_in, operator_methods
from ...syntax.walks import walk
from ...vocabulary.workers import is_range
from ..calls.functions import call_library
from ..expressions.effects import has_effects
from ..expressions.evaluation import held_for, lower_all
from ..expressions.expressions import BINARY
from ..expressions.subscripts import held_element, unpack_shape
from ..expressions.tuples import items_of, items_of_value, spelled_out
from ..kernels.exchanges import record_chain, record_exchange
from ..kernels.kernels import grid_assignment
from ..kernels.memory import kernel_array, makes_array
from ..kernels.naming import names_records, record_assignment
from ..kernels.records import record_copy
from ..lowering import lower
from ..scope import FunctionScope
from .nested_functions import is_nested_definition
from .targets import assign_entry, assign_value, entry_of

# A single target, the function that makes its value, and the expression that is read for it.
Pair = tuple[ast.expr, Callable[[], _native.Expr], ast.expr | None]


def lower_assign(fn: FunctionScope, node: ast.Assign) -> None:
    if is_nested_definition(fn, node):
        return
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
        assign_value(fn, target, again(), node)


# Meanings of `target = value` besides an assignment of numbers. The first function that applies lowers it: True.
_ALTERNATIVES = (kernel_array, record_assignment, record_copy, grid_assignment)


def _assign_one(fn: FunctionScope, target: ast.expr, value: ast.expr, node: ast.stmt) -> None:
    fn.whole_value = value
    fn.made_generator = target if isinstance(target, ast.Name) and isinstance(value, ast.Call) else None
    if not any(lowers(fn, target, value, node) for lowers in _ALTERNATIVES):
        assign(fn, target, value, node)


def assign(fn: FunctionScope, target: ast.expr, value: ast.expr, node: ast.stmt) -> None:
    """Lowers `target = value` for numbers and arrays."""
    if isinstance(target, ast.Tuple | ast.List):
        _assign_tuple(fn, target, value, node)
    elif isinstance(value, ast.List) and _is_spelled_out(fn, target):
        assign_value(fn, target, spelled_out(fn, value), node)
    elif isinstance(target, ast.Subscript) and (numbers := _numbers_of_range(fn, value)) is not None:
        assign_value(fn, target, numbers, node)
    else:
        assign_value(fn, target, lower(fn, value), node)


def _numbers_of_range(fn: FunctionScope, value: ast.expr) -> _native.Expr | None:
    """The array of the numbers of range(n), which NumPy makes where they are stored; None for other values."""
    if fn.kernel or not isinstance(value, ast.Call) or value.keywords or not 1 <= len(value.args) <= 3:
        return None
    binding = fn.resolve(value.func)
    if binding is None or not is_range(binding.value) or any(isinstance(each, ast.Starred) for each in value.args):
        return None
    fn.rely_on(binding)
    given = lower_all(fn, value.args)
    if len(given) == 1:
        given = [fn.integer(0, value), *given]
    return call_library(fn, arange if len(given) == 3 else numbers_of_range, given, value)


def _is_spelled_out(fn: FunctionScope, target: ast.expr) -> bool:
    """Whether a list that the target gets is lowered as a tuple: a list that is only read, or the elements of a row."""
    if isinstance(target, ast.Name):
        return target.id in fixed_lists(walk(fn.node))
    return isinstance(target, ast.Subscript) and not fn.kernel


# ------------------------------------------------------------ to several targets


def _assign_tuple(fn: FunctionScope, target: ast.Tuple | ast.List, value: ast.expr, node: ast.stmt) -> None:
    """Evaluates all right sides first, then assigns the targets from left to right."""
    values = value.elts if isinstance(value, ast.Tuple | ast.List) else None  # None if one value is unpacked
    if values is not None and len(values) == len(target.elts) and all(makes_array(fn, each) for each in values):
        for one, part in zip(target.elts, values, strict=True):
            kernel_array(fn, one, part, node)
        return
    if values is not None and names_records(fn, target, value):
        for one, part in zip(target.elts, values, strict=True):
            if not record_assignment(fn, one, part, node):
                assign(fn, one, part, node)
        return
    if record_exchange(fn, target, value, node):
        return
    pairs = _pairs(fn, target, value)
    if pairs is None:
        fn.give_up_on(target)
        return
    interferes = any(not isinstance(one, ast.Name) for one, _, _ in pairs[:-1])  # stores may change later elements
    interferes = _interfere(fn, pairs) if values is not None else interferes
    if len(pairs) == 1 or not interferes:
        for one, make, _ in pairs:
            assign_value(fn, one, make(), node)
        return
    held = [held_for(fn, one, make, source, node) for one, make, source in pairs]
    for (one, _, _), again in zip(pairs, held, strict=True):
        assign_value(fn, one, again(), node)


def _pairs(fn: FunctionScope, target: ast.expr, value: ast.expr) -> list[Pair] | None:
    """Each single target with the function that makes its value and the expression that is read for it (None
    if it reads no variable that could be a target). None after an error."""
    if not isinstance(target, ast.Tuple | ast.List):
        return [(target, lambda: lower(fn, value), value)]
    starred = next((t for t in target.elts if isinstance(t, ast.Starred)), None)
    if starred is not None:
        fn.error("P016", starred, "a starred target cannot be compiled", "name every element")
        return None
    count = len(target.elts)
    if isinstance(value, ast.Tuple | ast.List) and not any(isinstance(part, ast.Starred) for part in value.elts):
        if len(value.elts) != count:
            _unequal(fn, target, count, len(value.elts))
            return None
        nested = [_pairs(fn, t, v) for t, v in zip(target.elts, value.elts, strict=True)]
        if any(part is None for part in nested):
            return None
        return [pair for part in nested if part is not None for pair in part]
    makers = unpack_shape(fn, value, count)
    if makers is not None:
        return [(t, make, None) for t, make in zip(target.elts, makers, strict=True)] if makers else None
    stored = names_in(target)
    return _taken_apart(fn, target.elts, items_of(fn, value, count, stored), value)


def _taken_apart(
    fn: FunctionScope, targets: list[ast.expr], makers: list[Callable[[], _native.Expr]], value: ast.expr
) -> list[Pair] | None:
    """The targets with the elements of one value: `(a, b), c = t`. The first of them evaluates the value."""
    pairs: list[Pair] = []
    for index, (target, make) in enumerate(zip(targets, makers, strict=True)):
        source = value if index == 0 else None
        if isinstance(target, ast.Starred):
            fn.error("P016", target, "a starred target cannot be compiled", "name every element")
            return None
        if not isinstance(target, ast.Tuple | ast.List):
            pairs.append((target, make, source))
            continue
        inner = _taken_apart(fn, target.elts, items_of_value(fn, make, value, len(target.elts)), value)
        if inner is None:
            return None
        pairs += [(one, each, source if number == 0 else None) for number, (one, each, _) in enumerate(inner)]
    return pairs


def _unequal(fn: FunctionScope, node: ast.expr, targets: int, values: int) -> None:
    fn.error(
        "P017",
        node,
        f"{values} value{'' if values == 1 else 's'} cannot be assigned to "
        f"{targets} target{'' if targets == 1 else 's'}",
        "give both sides the same length",
    )


def lower_named(fn: FunctionScope, node: ast.NamedExpr) -> _native.Expr:
    """`(a := v)`: adds the assignment before the statement, and returns the new value of the name."""
    statement = ast.copy_location(ast.Assign([node.target], node.value), node)
    assign_value(fn, node.target, lower(fn, node.value), statement)
    return lower(fn, ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target))


# ------------------------------------------------------------ updates


def lower_augmented(fn: FunctionScope, node: ast.AugAssign) -> None:
    if isinstance(node.op, ast.MatMult):
        fn.error("P011", node, "the update '@=' cannot be compiled", "write x[:, :] = x @ y")
        return
    if isinstance(node.target, ast.Name) and node.target.id not in fn.assigned:
        # Python reads the target first, so an unassigned target is reported.
        fn.local(ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target))
    fn.program.attributes.update(operator_methods(node))
    entry = None if fn.kernel else entry_of(fn, node.target)
    if entry is not None and has_effects(fn, node.value):
        _update_entry(fn, node, entry)
        return
    value, before = fn.apart(lambda: lower(fn, node.value))
    target = node.target
    if before and isinstance(target, ast.Subscript) and (has_effects(fn, node.value) or has_effects(fn, target.slice)):
        _update_early(fn, node, target, value, before)
    else:
        fn.out.extend(before)
        assign_value(fn, node.target, value, node, BINARY[type(node.op)])


def _update_entry(fn: FunctionScope, node: ast.AugAssign, target: ast.Attribute | ast.Subscript) -> None:
    """An update of an entry or an attribute whose right side may change the entry, which Python reads first."""
    read = copy.copy(target)
    read.ctx = ast.Load()
    old = fn.module.read(fn.hold(lower(fn, read), target), fn.span(target))
    value = fn.module.op(BINARY[type(node.op)], [old, lower(fn, node.value)], fn.span(node))
    assign_entry(fn, target, value, node, None, in_place=True)


def _update_early(
    fn: FunctionScope, node: ast.AugAssign, target: ast.Subscript, value: _native.Expr, before: list[_native.Stmt]
) -> None:
    """An update whose value needs statements `before` it. These may change values that Python reads earlier: the
    subscripts and, unless they are slices, the old element. So these are held first."""
    array, indices = held_element(fn, target)
    if array is None:
        return
    op, update = BINARY[type(node.op)], True
    if not any(isinstance(part, ast.Slice) for part in walk(target.slice)):
        old = fn.module.load(array, indices(), fn.span(target))
        old = fn.module.read(fn.hold(old, target), fn.span(target))
        value, update = fn.module.op(op, [old, value], fn.span(target)), False
    fn.out.extend(before)
    fn.out.append(fn.module.store(array, indices(), value, op if update else None, fn.span(node)))


def lower_annotated(fn: FunctionScope, node: ast.AnnAssign) -> None:
    """x: T = value. The annotation has no effect; the type follows from the values."""
    if node.value is not None:
        _assign_one(fn, node.target, node.value, node)


def _interfere(fn: FunctionScope, pairs: list[Pair]) -> bool:
    """Whether the assignment to an earlier target may affect a later value."""
    names: set[str] = set()
    stored = False
    for target, _, source in pairs:
        if source is not None:
            if has_effects(fn, source):
                return True
            if stored and not isinstance(source, ast.Name) and _reads_variables(fn, source):
                return True
            if not names_in(source).isdisjoint(names):
                return True
        if isinstance(target, ast.Name):
            names.add(target.id)
        else:
            stored = True
    return False


def _reads_variables(fn: FunctionScope, source: ast.expr) -> bool:
    """Whether a value depends on local variables, which may all be arrays, or on objects outside of the function other
    than numbers and members of modules that are no arrays."""
    for part in walk(source):
        if isinstance(part, ast.Name):
            binding = None if part.id in fn.scope.locals else fn.scope.lookup(part.id)
            if binding is None or not (isinstance(binding.value, ModuleType) or is_scalar(binding.value)):
                return True
        elif isinstance(part, ast.Attribute) and is_array(getattr(fn.resolve(part), "value", None)):
            return True
    return False
