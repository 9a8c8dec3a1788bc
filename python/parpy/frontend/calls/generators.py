"""Lowers `sum`, `min`, `max`, `any` and `all` of generator expressions and list comprehensions to loops before the
statement.
"""

from __future__ import annotations

import ast

import numpy as np

from ... import _native
from ...syntax.patterns import breaks, is_literal, names_in
from ...syntax.walks import copy_of, walk
from ...vocabulary.workers import is_range
from ..expressions.arrays import outside_items
from ..expressions.effects import has_effects
from ..lowering import block
from ..scope import FunctionScope
from .intrinsics import Intrinsic

Generated = ast.GeneratorExp | ast.ListComp


def lower_generated(
    fn: FunctionScope, node: ast.Call, name: str, given: Generated, start: ast.expr | None = None
) -> _native.Expr:
    """`sum((x[i] * y[i] for i in range(n)), start)`"""
    if _is_refused(fn, given):
        return fn.poison(node)
    loops = _Loops(fn, given)
    made = {"sum": loops.sum, "any": loops.any, "all": loops.all, "min": loops.min, "max": loops.max}[name]
    return _run(fn, node, name, loops, made(start or ast.Constant(0)))


def lower_by_key(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    """`max(range(n), key=lambda i: abs(x[i]))`, `max(a, b, key=f)`"""
    values = node.args[0] if len(node.args) == 1 else ast.copy_location(ast.Tuple(node.args, ast.Load()), node)
    given = _each_of(values)
    if _is_refused(fn, given):
        return fn.poison(node)
    loops = _Loops(fn, given)
    return _run(fn, node, intrinsic.name, loops, loops.best_by(node.keywords[0].value, intrinsic.name == "max"))


def lower_truths(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    """any(x), all(a > 0 for a in x)"""
    return lower_generated(fn, node, intrinsic.name, _each_of(node.args[0]))


def _each_of(given: ast.expr) -> Generated:
    """The argument if it is a comprehension, otherwise a comprehension over the elements of the argument."""
    if isinstance(given, Generated):
        return given
    element = ast.copy_location(ast.Name("element", ast.Load()), given)
    target = ast.copy_location(ast.Name("element", ast.Store()), given)
    return ast.copy_location(ast.GeneratorExp(element, [ast.comprehension(target, given, [], 0)]), given)


def comprehended(fn: FunctionScope, node: ast.For) -> ast.For | None:
    """`for i, j in [(i, j) for i in range(n) for j in range(i)]: …` as loops over the ranges; None for other loops, and
    if the loop may change values that the list is made of, so that the list must be made first."""
    given = node.iter
    if not isinstance(given, Generated) or any(each.is_async for each in given.generators):
        return None
    if isinstance(given, ast.ListComp) and _may_change(fn, node, given):
        return None
    loops = _Loops(fn, given)
    nest = loops.nest(node)
    for part in walk(nest):
        if not hasattr(part, "lineno"):
            ast.copy_location(part, node)
    return nest


def _may_change(fn: FunctionScope, node: ast.For, given: ast.ListComp) -> bool:
    """Whether the loop may change variables or elements that the comprehension reads."""
    read = {part.id for part in walk(given) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)}
    for part in (part for each in (node.target, *node.body) for part in walk(each)):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store) and part.id in read - _own(given):
            return True
    return _reads_elements(fn, given) and stores_elements(fn, node)


def _reads_elements(fn: FunctionScope, given: ast.ListComp) -> bool:
    """Whether the comprehension may read elements of arrays."""
    ranges = {part for part in walk(given) if isinstance(part, ast.Call) and _is_counted(fn, part)}
    elements = [part for part in walk(given) if isinstance(part, ast.Subscript | ast.Attribute | ast.Call)]
    if any(part not in ranges and not _is_size(part) for part in elements):
        return True
    iterables = [each.iter for each in given.generators]
    names = [each for each in iterables if isinstance(each, ast.Name) and outside_items(fn, each) is None]
    arrays = {
        part.value.id
        for part in walk(fn.node)
        if isinstance(part, ast.Subscript | ast.Attribute) and isinstance(part.value, ast.Name)
    }
    computed = [given.elt, *(test for each in given.generators for test in each.ifs)]
    parts = (part for each in computed for part in walk(each))
    return bool(names) or any(isinstance(part, ast.Name) and part.id in arrays - _own(given) for part in parts)


def stores_elements(fn: FunctionScope, node: ast.For) -> bool:
    """Whether the loop, or a function that it calls, may store to anything but local numbers."""
    for part in (part for each in (node.target, *node.body) for part in walk(each)):
        if isinstance(part, ast.Call):
            if not _only_computes(fn, part):
                return True
        elif isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name):
            if not _is_number(fn, part.target.id):
                return True
        elif not isinstance(part, ast.Name) and _is_stored(part) and not isinstance(part, ast.Tuple | ast.List):
            return True
    return False


def _only_computes(fn: FunctionScope, call: ast.Call) -> bool:
    """Whether it is a call of a function of Python, math or NumPy that stores to nothing."""
    binding = fn.resolve(call.func)
    if binding is None or has_effects(fn, call):
        return False
    called = binding.value
    if isinstance(called, np.ufunc):
        return not call.keywords and len(call.args) <= called.nin
    return any(called is each for each in (range, len, abs, min, max, int, float, bool, round, sum, print)) or (
        getattr(called, "__module__", None) == "math"
    )


def _is_number(fn: FunctionScope, name: str) -> bool:
    """Whether every plain assignment to the name has a constant, so that it is never an array, also after updates."""
    if name in fn.parameters:
        return False
    firsts: list[ast.expr] = []
    stores = 0
    for part in walk(fn.node):
        stores += isinstance(part, ast.Name) and part.id == name and not isinstance(part.ctx, ast.Load)
        if isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name) and part.target.id == name:
            stores -= 1
        elif isinstance(part, ast.Assign):
            targets = [each for each in part.targets if isinstance(each, ast.Name) and each.id == name]
            firsts += [part.value] * len(targets)
    return len(firsts) == stores and bool(firsts) and all(is_literal(each) for each in firsts)


def _own(given: Generated) -> set[str]:
    return names_in(*(each.target for each in given.generators))


def _is_stored(part: ast.AST) -> bool:
    return isinstance(getattr(part, "ctx", None), ast.Store)


def _is_size(part: ast.AST) -> bool:
    """Whether the node is x.shape, x.shape[0], x.size or x.ndim."""
    owner = part.value if isinstance(part, ast.Subscript) else part
    return isinstance(owner, ast.Attribute) and owner.attr in ("shape", "size", "ndim")


def _is_counted(fn: FunctionScope, call: ast.Call) -> bool:
    """Whether it is range(n) or len(x)."""
    binding = fn.resolve(call.func)
    return binding is not None and (is_range(binding.value) or binding.value is len)


def _is_refused(fn: FunctionScope, given: Generated) -> bool:
    if not any(each.is_async for each in given.generators):
        return False
    fn.error("P011", given, "an asynchronous comprehension cannot be compiled", "write a for loop")
    return True


def _run(fn: FunctionScope, node: ast.Call, name: str, loops: _Loops, statements: list[ast.stmt]) -> _native.Expr:
    """Adds the statements before the current one, and returns their result."""
    for part in (part for statement in statements for part in walk(statement)):
        if not hasattr(part, "lineno"):
            ast.copy_location(part, node)
    fn.out.extend(block(fn, statements))
    span = fn.span(node)
    if loops.is_set:
        empty = fn.module.fail("P427", f"{name}: there are no values", [], span)
        none = fn.op("not", node, fn.module.read(fn.variables[loops.is_set], span))
        fn.out.append(fn.module.if_(none, [empty], [], span))
    return fn.module.read(fn.variables[loops.found], span)


class _Loops(ast.NodeTransformer):
    """The loops of a comprehension, whose variables are renamed to new variables of the function. `found` is the
    variable for the result, and `is_set` the variable that tells whether there is a result."""

    def __init__(self, fn: FunctionScope, given: Generated) -> None:
        self._fn = fn
        self._node = given
        given = copy_of(given)  # the original is kept, because the function may be lowered again
        self._names: dict[str, str] = {}
        self._loops: list[ast.comprehension] = []
        for each in given.generators:
            over = self.visit(each.iter)
            names = [part.id for part in walk(each.target) if isinstance(part, ast.Name)]
            self._names |= {name: self._variable(name) for name in names}
            ifs = [self.visit(test) for test in each.ifs]
            self._loops.append(ast.comprehension(self.visit(each.target), over, ifs, 0))
        self._value: ast.expr = self.visit(given.elt)
        self.found = self._variable(ast.unparse(given))
        self.is_set = ""

    def _variable(self, shown: str) -> str:
        """A new variable of the function, whose name in messages is `shown`."""
        return self._fn.own_variable(shown, self._node)

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.copy_location(ast.Name(self._names.get(node.id, node.id), node.ctx), node)

    def _around(self, body: list[ast.stmt], left: ast.expr | None = None) -> list[ast.stmt]:
        """The loops around the statements. If `left` holds after an inner loop, the loop around it ends as well."""
        for loop in reversed(self._loops):
            for test in reversed(loop.ifs):
                body = [ast.If(test, body, [])]
            body = [ast.For(loop.target, loop.iter, body, [])]
            if left is not None and loop is not self._loops[0]:
                body.append(ast.If(left, [ast.Break()], []))
        return body

    def nest(self, node: ast.For) -> ast.For:
        """The loops of the comprehension around the body of a for loop over the comprehension."""
        body: list[ast.stmt] = [ast.Assign([node.target], self._value), *node.body]
        leaves = breaks(node.body)
        for loop in reversed(self._loops):
            for test in reversed(loop.ifs):
                body = [ast.If(test, body, [])]
            is_outermost = loop is self._loops[0]
            behind: list[ast.stmt] = node.orelse if is_outermost else [ast.Continue()] if leaves else []
            made = ast.For(loop.target, loop.iter, body, behind)
            body = [made, ast.Break()] if leaves and not is_outermost else [made]
        return made

    def sum(self, start: ast.expr) -> list[ast.stmt]:
        added = ast.BinOp(_read(self.found), ast.Add(), self._value)
        return [_set(self.found, start), *self._around([_set(self.found, added)])]

    def any(self, _: ast.expr) -> list[ast.stmt]:
        return self._decided(True, self._value, _read(self.found))

    def all(self, _: ast.expr) -> list[ast.stmt]:
        return self._decided(False, ast.UnaryOp(ast.Not(), self._value), ast.UnaryOp(ast.Not(), _read(self.found)))

    def _decided(self, result: bool, settles: ast.expr, settled: ast.expr) -> list[ast.stmt]:
        """Statements that set the result to `result` if `settles` holds for a value, and otherwise to its opposite."""
        body: list[ast.stmt] = [ast.If(settles, [_set(self.found, ast.Constant(result)), ast.Break()], [])]
        return [_set(self.found, ast.Constant(not result)), *self._around(body, settled)]

    def min(self, _: ast.expr) -> list[ast.stmt]:
        return self._best(ast.Lt())

    def max(self, _: ast.expr) -> list[ast.stmt]:
        return self._best(ast.Gt())

    def best_by(self, key: ast.expr, greatest: bool) -> list[ast.stmt]:
        """The first value with the greatest or the least key."""
        begin = self._nothing()
        value, found = self._variable("value"), self._variable("key")
        of_value, is_better = self._variable("key"), ast.Gt() if greatest else ast.Lt()
        take = [_set(found, _read(of_value)), _set(self.found, _read(value))]
        keyed = ast.Call(key, [_read(value)], [])
        loop = [_set(value, self._value), _set(of_value, keyed), self._if_better(of_value, is_better, found, take)]
        return [*begin, _set(found, ast.Constant(False)), *self._around(loop)]

    def _best(self, is_better: ast.cmpop) -> list[ast.stmt]:
        """The greatest or the least value: a value replaces the best one only if it is strictly better."""
        begin, value = self._nothing(), self._variable("value")
        test = self._if_better(value, is_better, self.found, [_set(self.found, _read(value))])
        return [*begin, *self._around([_set(value, self._value), test])]

    def _nothing(self) -> list[ast.stmt]:
        self.is_set = self._variable("is_set")
        return [_set(self.is_set, ast.Constant(False)), _set(self.found, ast.Constant(False))]

    def _if_better(self, value: str, is_better: ast.cmpop, best: str, take: list[ast.stmt]) -> ast.stmt:
        """Runs `take` if there is no best value yet, or if the value is better."""
        compared = ast.Compare(_read(value), [is_better], [_read(best)])
        test = ast.BoolOp(ast.Or(), [ast.UnaryOp(ast.Not(), _read(self.is_set)), compared])
        return ast.If(test, [*take, _set(self.is_set, ast.Constant(True))], [])


def _read(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _set(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)
