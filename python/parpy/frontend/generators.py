"""Lowers `sum`, `min`, `max`, `any` and `all` of generator expressions and list comprehensions: the loops that Python
runs, in front of the statement."""

from __future__ import annotations

import ast

from .. import _native
from .intrinsics import Intrinsic
from .lowering import block
from .scope import FunctionScope

Generated = ast.GeneratorExp | ast.ListComp


def lower_generated(
    fn: FunctionScope, node: ast.Call, name: str, given: Generated, start: ast.expr | None = None
) -> _native.Expr:
    """`sum((x[i] * y[i] for i in range(n)), start)`"""
    if any(each.is_async for each in given.generators):
        fn.error("P011", given, "an asynchronous comprehension cannot be compiled", "write a for loop")
        return fn.poison(node)
    loops = _Loops(fn, given)
    made = {"sum": loops.sum, "any": loops.any, "all": loops.all, "min": loops.min, "max": loops.max}[name]
    statements = made(start or ast.Constant(0))
    for part in (part for statement in statements for part in ast.walk(statement)):
        if not hasattr(part, "lineno"):
            ast.copy_location(part, node)
    fn.out.extend(block(fn, statements))
    span = fn.span(node)
    if loops.is_set:
        empty = fn.module.fail("P427", f"{name}: there are no values", [], span)
        none = fn.op("not", node, fn.module.read(fn.variables[loops.is_set], span))
        fn.out.append(fn.module.if_(none, [empty], [], span))
    return fn.module.read(fn.variables[loops.found], span)


def lower_truths(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    """any(x), all(a > 0 for a in x)"""
    given = node.args[0]
    if not isinstance(given, Generated):
        element = ast.Name("element", ast.Load())
        loop = ast.comprehension(ast.Name("element", ast.Store()), given, [], 0)
        given = ast.copy_location(ast.GeneratorExp(ast.copy_location(element, given), [loop]), given)
        ast.copy_location(loop.target, given)
    return lower_generated(fn, node, intrinsic.name, given)


class _Loops(ast.NodeTransformer):
    """The loops of a comprehension. Its names are its own, and no variables of the function around it; the variable
    that gets the result is `found`, and the one that says whether there is any, `is_set`."""

    def __init__(self, fn: FunctionScope, given: Generated) -> None:
        self._fn = fn
        self._node = given
        self._names: dict[str, str] = {}
        self._loops: list[ast.comprehension] = []
        for each in given.generators:
            over = self.visit(each.iter)
            names = [part.id for part in ast.walk(each.target) if isinstance(part, ast.Name)]
            self._names |= {name: self._variable(name) for name in names}
            ifs = [self.visit(test) for test in each.ifs]
            self._loops.append(ast.comprehension(self.visit(each.target), over, ifs, 0))
        self._value: ast.expr = self.visit(given.elt)
        self.found = self._variable(ast.unparse(given))
        self.is_set = ""

    def _variable(self, shown: str) -> str:
        """A new variable of the function, which messages call `shown`."""
        name = self._fn.unique_name(shown if shown.isidentifier() else "found")
        self._fn.scope.locals |= {name}
        self._fn.variables[name] = self._fn.module.variable(name, self._fn.span(self._node), shown)
        return name

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.copy_location(ast.Name(self._names.get(node.id, node.id), node.ctx), node)

    def _around(self, body: list[ast.stmt], left: ast.expr | None = None) -> list[ast.stmt]:
        """The loops around the statements; a loop that another one is in is left as well if `left` holds."""
        for loop in reversed(self._loops):
            for test in reversed(loop.ifs):
                body = [ast.If(test, body, [])]
            body = [ast.For(loop.target, loop.iter, body, [])]
            if left is not None and loop is not self._loops[0]:
                body.append(ast.If(left, [ast.Break()], []))
        return body

    def sum(self, start: ast.expr) -> list[ast.stmt]:
        added = ast.BinOp(_read(self.found), ast.Add(), self._value)
        return [_set(self.found, start), *self._around([_set(self.found, added)])]

    def any(self, _: ast.expr) -> list[ast.stmt]:
        return self._decided(True, self._value, _read(self.found))

    def all(self, _: ast.expr) -> list[ast.stmt]:
        return self._decided(False, ast.UnaryOp(ast.Not(), self._value), ast.UnaryOp(ast.Not(), _read(self.found)))

    def _decided(self, result: bool, settles: ast.expr, settled: ast.expr) -> list[ast.stmt]:
        """`result` as soon as a value `settles` it."""
        body: list[ast.stmt] = [ast.If(settles, [_set(self.found, ast.Constant(result)), ast.Break()], [])]
        return [_set(self.found, ast.Constant(not result)), *self._around(body, settled)]

    def min(self, _: ast.expr) -> list[ast.stmt]:
        return self._best(ast.Lt())

    def max(self, _: ast.expr) -> list[ast.stmt]:
        return self._best(ast.Gt())

    def _best(self, better: ast.cmpop) -> list[ast.stmt]:
        """The first value, or the last one that is better than all before."""
        value, self.is_set = self._variable("value"), self._variable("is_set")
        compared = ast.Compare(_read(value), [better], [_read(self.found)])
        test = ast.BoolOp(ast.Or(), [ast.UnaryOp(ast.Not(), _read(self.is_set)), compared])
        take: list[ast.stmt] = [_set(self.found, _read(value)), _set(self.is_set, ast.Constant(True))]
        begin = [_set(self.is_set, ast.Constant(False)), _set(self.found, ast.Constant(False))]
        return [*begin, *self._around([_set(value, self._value), ast.If(test, take, [])])]


def _read(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _set(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)
