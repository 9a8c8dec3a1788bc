"""Strip-mines loops with ``simd`` into steps over vectors."""

from __future__ import annotations

import ast
from collections.abc import Callable

from ..pragmas.words import LoopPragma
from ..syntax.patterns import subscripts_of
from ._vectors import accumulation, copied, expression, loop, mentions, offset_of, vector

# The expressions that mean the same for vectors as for numbers.
_ALLOWED = (
    ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Compare, ast.cmpop, ast.Constant, ast.Name, ast.Subscript,
    ast.Tuple, ast.Attribute, ast.Call, ast.expr_context,
)  # fmt: skip
_OF_NUMBERS = ("max", "min", "abs", "float", "int", "round", "pow", "len", "bool")
_EXTREMES = {"max": "max", "maximum": "max", "min": "min", "minimum": "min"}


def mined_loop(node: ast.For, pragma: LoopPragma, new: Callable[[str], str]) -> list[ast.stmt] | None:
    """The loop over vectors; None if its statements have no vector form."""
    call = node.iter
    if not isinstance(node.target, ast.Name) or not isinstance(call, ast.Call) or call.keywords or node.orelse:
        return None
    if not 1 <= len(call.args) <= 2 or getattr(call.func, "id", "") not in ("range", "prange"):
        return None
    low, high = (ast.Constant(0), call.args[0]) if len(call.args) == 1 else (call.args[0], call.args[1])
    length = str(pragma.width) if pragma.width else "appy.MVL"
    variable, index = new("v"), new("i")
    bound = ast.unparse(high)
    body = _Body(node.target.id, variable, index, length, bound)
    made: list[ast.stmt] = []
    for statement in node.body:
        rewritten = body.statement(statement)
        if rewritten is None:
            return None
        made.append(rewritten)
    first = ast.Assign([ast.Name(variable, ast.Store())], vector(index, length, bound))
    return [loop(index, ast.unparse(low), bound, length, [first, *made])]


class _Body:
    """Rewrites the statements of a loop over `variable` for a vector of iterations."""

    def __init__(self, variable: str, vector_name: str, index: str, length: str, bound: str) -> None:
        self._variable, self._vector_name = variable, vector_name
        self._index, self._length, self._bound = index, length, bound
        self._vectors: set[str] = set()  # variables that have a value for each iteration

    def statement(self, node: ast.stmt) -> ast.stmt | None:
        if not isinstance(node, ast.Assign | ast.AugAssign):
            return None
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if len(targets) != 1 or isinstance(targets[0], ast.Tuple):
            return None
        target = targets[0]
        varies = mentions(target, {self._variable, *self._vectors})
        if isinstance(node, ast.AugAssign) and not varies:
            operator = {ast.Add: "sum", ast.Mult: "prod"}.get(type(node.op))
            return None if operator is None else self._reduced(target, operator, node.value)
        if isinstance(node, ast.Assign) and not varies:
            if (update := self._update(target, node.value)) is not None:
                return self._reduced(target, *update)
            if not isinstance(target, ast.Name):
                return None
        value = self._value(node.value)
        place = target if isinstance(target, ast.Name) else self._value(target)
        if value is None or place is None:
            return None
        if isinstance(target, ast.Name) and mentions(node.value, {self._variable, *self._vectors}):
            self._vectors.add(target.id)
        if isinstance(node, ast.AugAssign):
            return ast.AugAssign(place, node.op, value)  # type: ignore[arg-type]
        return ast.Assign([place], value)

    def _update(self, target: ast.expr, value: ast.expr) -> tuple[str, ast.expr] | None:
        """The operator and the expression e of `m = maximum(m, e)` or `s = s + e`; None for other assignments."""
        text = ast.unparse(target)
        if isinstance(value, ast.Call) and len(value.args) == 2 and not value.keywords:
            name = value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", "")
            others = [each for each in value.args if ast.unparse(each) != text]
            if name in _EXTREMES and len(others) == 1:
                return _EXTREMES[name], others[0]
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add) and ast.unparse(value.left) == text:
            return "sum", value.right
        return None

    def _reduced(self, target: ast.expr, operator: str, value: ast.expr) -> ast.stmt | None:
        if not mentions(value, {self._variable, *self._vectors}) or mentions(value, {ast.unparse(target)}):
            return None
        made = self._value(value)
        return None if made is None else accumulation(ast.unparse(target), operator, made)

    def _value(self, node: ast.expr) -> ast.expr | None:
        """The expression for a vector of iterations."""
        made = _Vectorize(self._variable, self._vector_name, self._index, self._length, self._bound)
        rewritten: ast.expr = made.visit(copied(node))
        return rewritten if made.possible else None


class _Vectorize(ast.NodeTransformer):
    def __init__(self, variable: str, vector_name: str, index: str, length: str, bound: str) -> None:
        self._variable, self._vector_name = variable, vector_name
        self._index, self._length, self._bound = index, length, bound
        self.possible = True

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if not isinstance(node, _ALLOWED):
            self.possible = False
        if isinstance(node, ast.Name) and node.id == self._variable:
            self.possible = False  # a slice is not a number
        if isinstance(node, ast.Compare) and len(node.ops) > 1:
            self.possible = False
        return super().generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        root = node.func
        while isinstance(root, ast.Attribute):
            root = root.value
        of_numbers = isinstance(node.func, ast.Name) and node.func.id in _OF_NUMBERS
        if of_numbers or getattr(root, "id", "") == "math" or node.keywords:
            self.possible = False
        node.args = [self.visit(each) for each in node.args]
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        node.value = self.visit(node.value)
        parts = subscripts_of(node)
        varying = sum(mentions(part, {self._variable}) for part in parts)
        if varying > 1:
            self.possible = False  # a diagonal
        made = [self._part(part) for part in parts]
        node.slice = ast.Tuple(made, ast.Load()) if isinstance(node.slice, ast.Tuple) else made[0]
        return node

    def _part(self, part: ast.expr) -> ast.expr:
        offset = offset_of(part, self._variable)
        if offset == 0:
            return expression(self._vector_name)
        if offset is not None:
            return vector(self._index, self._length, self._bound, offset)
        visited: ast.expr = self.visit(part)
        return visited
