"""Lowers loops and their else branches. If a break may leave such a loop, a variable tells whether it did."""

from __future__ import annotations

import ast
from functools import partial

from ... import _native
from ...syntax.patterns import breaks, integer_constant
from ...syntax.walks import walk
from ...vocabulary import workers
from ...vocabulary.workers import is_range
from ..calls.generators import comprehended
from ..calls.random_numbers import streams_of_loop
from ..expressions.conditions import condition
from ..expressions.evaluation import lower_all, lower_twice
from ..lowering import block, statement
from ..scope import FunctionScope
from .entries import over_entries
from .items import Number
from .iterables import length_of, take
from .nests import Choice, Nest, nests_of
from .targets import refuses_reuse


def lower_for(fn: FunctionScope, node: ast.For) -> None:
    if (nest := comprehended(fn, node)) is not None:
        statement(fn, nest)
        fn.lowered_loops[node] = fn.lowered_loops[nest]
        return
    if (statements := over_entries(fn, node)) is not None:
        fn.out.extend(block(fn, statements))
        return
    if (choices := nests_of(fn, node)) is not None:
        _lower_nests(fn, node, choices)
        return
    _before_else(fn, node)
    call = _bounds(fn, node)
    if call is None:
        fn.give_up_on(node.target)
        _inside(fn, node, node.body)
        return
    begin, end, step = call
    if not isinstance(node.target, ast.Name):
        fn.error(
            "P016", node.target, "the target of a for loop must be a name", "assign to the element inside the loop"
        )
        return
    name = node.target.id
    refuses_reuse(fn, node.target)
    before = set(fn.assigned)
    fn.assigned.add(name)
    fn.plain_uses.setdefault(name, node.target)
    var = fn.variable(name, node.target)
    with streams_of_loop(fn, node, var) as beginning:
        body = beginning(_inside(fn, node, node.body))
    fn.assigned |= before
    span = fn.span(node, node.iter)
    _place(fn, node, fn.module.for_(var, begin, end, step, body, span))


def _lower_nests(fn: FunctionScope, node: ast.For, choices: list[Choice]) -> None:
    """Lowers a loop over anything but a range."""
    *first, last = choices
    before = set(fn.assigned)
    fn.lowered_loops[node] = []
    if not first:
        _lower_nest(fn, node, last.make())
    else:
        _, body = fn.branch(lambda: _lower_nest(fn, node, last.make()))
        for each in reversed(first):
            assert each.test is not None
            _, chosen = fn.branch(lambda each=each: _lower_nest(fn, node, each.make()))  # type: ignore[misc]
            body = [fn.module.if_(each.test(), chosen, body, fn.span(node, node.iter))]
        fn.out.extend(body)
    fn.assigned |= before
    _lower_else(fn, node)


def _lower_nest(fn: FunctionScope, node: ast.For, nest: Nest) -> None:
    """Loops over the indices of the nest; the innermost body begins with the assignment of the value to the target."""
    span = fn.span(node, node.iter)
    names = [part.id for part in walk(node.target) if isinstance(part, ast.Name)]
    wishes = [*names, *["element"] * len(nest.loops)][: len(nest.loops)]
    variables = [fn.module.variable(fn.unique_name(f"{wish}_number"), span, wish) for wish in wishes]
    numbers: list[Number] = [partial(fn.module.read, var, span) for var in variables]
    ends = [length_of(fn, given) for given in nest.loops]
    left = _note_breaks(fn, node) if node.orelse or len(nest.loops) > 1 else None

    def lower_from(level: int) -> list[_native.Stmt]:
        """The loop of this level with its inner loops, and a test after it by which a break also leaves outer loops."""
        if level == len(nest.loops):
            _, taken = fn.branch(lambda: take(fn, node.target, nest.values(numbers), numbers[0], node))
            return [*taken, *_inside(fn, node, node.body)]
        with streams_of_loop(fn, node, variables[level]) as beginning:
            body = beginning(lower_from(level + 1))
        bounds = fn.module.constant(0, span), ends[level], fn.module.constant(1, span)
        loop = fn.module.for_(variables[level], *bounds, body, span)
        if level == 0:
            fn.lowered_loops[node].append(loop)
        elif left is not None:
            return [loop, fn.module.if_(fn.module.read(left, span), [fn.module.break_(span)], [], span)]
        return [loop]

    fn.out.extend(lower_from(0))


def _inside(fn: FunctionScope, loop: ast.For | ast.While, nodes: list[ast.stmt]) -> list[_native.Stmt]:
    fn.conditions += 1
    fn.loops.append((loop, fn.conditions))
    lowered = block(fn, nodes)
    fn.loops.pop()
    fn.conditions -= 1
    return lowered


def _bounds(fn: FunctionScope, node: ast.For) -> tuple[_native.Expr, _native.Expr, _native.Expr] | None:
    """The begin, the end and the step of the loop; None after an error."""
    call = node.iter
    binding = fn.resolve(call.func) if isinstance(call, ast.Call) else None
    if not isinstance(call, ast.Call) or binding is None or not is_range(binding.value):
        fn.error(
            "P013",
            call,
            "a for loop must run over a range, an array, a tuple of numbers, or enumerate, zip and reversed of them",
            "write for i in range(n), and use x[i] in the body",
        )
        return None
    fn.rely_on(binding)
    flags = binding.value is workers.range
    if (call.keywords and not flags) or not 1 <= len(call.args) <= 3:
        found = "keyword arguments" if call.keywords else f"{len(call.args)} arguments"
        fn.error(
            "P014",
            call,
            f"'range' takes 1 to 3 arguments, not {found}",
            "write range(stop), range(start, stop) or range(start, stop, step)",
        )
        return None
    for argument in call.args:
        if isinstance(argument, ast.Starred):
            what = "'range' takes no starred argument in compiled code"
            fn.error("P014", argument, what, "write range(start, stop, step)")
            return None
    parts = lower_all(fn, call.args, _bound)
    span = fn.span(call)
    if len(parts) == 1:
        parts.insert(0, fn.module.constant(0, span))
    if len(parts) == 2:
        parts.append(fn.module.constant(1, span))
    elif integer_constant(call.args[2]) == 0:
        fn.error("P015", call.args[2], "range() arg 3 must not be zero", "use a positive or negative step")
    return parts[0], parts[1], parts[2]


def _bound(fn: FunctionScope, node: ast.expr) -> _native.Expr:
    """A bound or the step of a range, which the loop may read several times; its effects happen once."""
    return lower_twice(fn, node)[0]


def lower_while(fn: FunctionScope, node: ast.While) -> None:
    _before_else(fn, node)
    span = fn.span(node, node.test)
    test, before = fn.branch(lambda: condition(fn, node.test))
    body = _inside(fn, node, node.body)
    if before:
        # The statements of the condition run at the head of each iteration.
        leave = fn.module.if_(fn.module.op("not", [test], span), [fn.module.break_(span)], [], span)
        test = fn.module.constant(True, span)
        body = [*before, leave, *body]
    _place(fn, node, fn.module.while_(test, body, span))


def lower_break(fn: FunctionScope, node: ast.Break) -> None:
    _note_break(fn, node)
    fn.out.append(fn.module.break_(fn.span(node)))


def lower_continue(fn: FunctionScope, node: ast.Continue) -> None:
    fn.out.append(fn.module.continue_(fn.span(node)))


def _place(fn: FunctionScope, node: ast.For | ast.While, loop: _native.Stmt) -> None:
    """Appends the loop and its else branch."""
    fn.out.append(loop)
    if isinstance(node, ast.For):
        fn.lowered_loops[node] = [loop]
    _lower_else(fn, node)


def _before_else(fn: FunctionScope, node: ast.For | ast.While) -> None:
    """Prepares a loop that may have an else branch."""
    if node.orelse:
        _note_breaks(fn, node)


def _note_breaks(fn: FunctionScope, node: ast.For | ast.While) -> _native.Var | None:
    """The variable that tells whether a break has left the loop; None if the loop has no break."""
    if not breaks(node.body):
        return None
    span = fn.span((node.orelse or node.body)[0])
    if node not in fn.left_by_break:
        fn.left_by_break[node] = fn.module.variable(fn.unique_name("left_by_break"), span)
    fn.out.append(fn.module.assign(fn.left_by_break[node], fn.module.constant(False, span), None, span))
    return fn.left_by_break[node]


def _lower_else(fn: FunctionScope, node: ast.For | ast.While) -> None:
    var = fn.left_by_break.get(node)
    if var is None or not node.orelse:
        fn.out.extend(block(fn, node.orelse))
        return
    span = fn.span(node.orelse[0])
    fn.conditions += 1
    body = block(fn, node.orelse)
    fn.conditions -= 1
    fn.out.append(fn.module.if_(fn.module.op("not", [fn.module.read(var, span)], span), body, [], span))


def _note_break(fn: FunctionScope, node: ast.Break) -> None:
    """Sets the variable of the loop, if it has one, before a break."""
    var = fn.left_by_break.get(fn.loops[-1][0]) if fn.loops else None
    if var is not None:
        span = fn.span(node)
        fn.out.append(fn.module.assign(var, fn.module.constant(True, span), None, span))
