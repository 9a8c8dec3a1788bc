"""Functions with signatures: arrays are what these say, and of several a call takes the one that fits best.

What fits is known with the types of a call. So a function with several signatures becomes one that compares the types
of its parameters with each, and calls that version; infer-types decides, and one call is left.
"""

from __future__ import annotations

import ast
from functools import partial

from .. import _native
from ..syntax.source import DeclaredArray, FunctionSource
from .statements import Statements

# Kind and bits. Of floats: which integers they hold, as NumPy has it.
_SCALARS = {
    "bool": ("b", 1), "i8": ("i", 8), "i16": ("i", 16), "i32": ("i", 32), "i64": ("i", 64), "u8": ("u", 8),
    "u16": ("u", 16), "u32": ("u", 32), "u64": ("u", 64), "f16": ("f", 16), "bf16": ("g", 16), "f32": ("f", 32),
    "f64": ("f", 64), "c64": ("c", 64), "c128": ("c", 128),
}  # fmt: skip
_INTEGERS_OF = {"f16": 8, "bf16": 8, "f32": 16, "f64": 64, "c64": 16, "c128": 64}
# Conversions, from the best: sums compare first how many are not safe, then how many are not of the same kind.
_EXACT, _WIDER, _SAFE, _OTHER, _NONE = 0, 1, 1 << 10, 1 << 20, 1 << 32


def conversion(given: str, wanted: str) -> int:
    """What it costs to make a number of one type one of another."""
    (kind, bits), (to, room) = _SCALARS[given], _SCALARS[wanted]
    if given == wanted:
        return _EXACT
    if kind == "c" and to != "c":
        return _NONE
    if kind == to:
        return _WIDER if bits < room else _OTHER
    if to == "b":
        return _OTHER
    if kind == "b":
        return _SAFE
    if kind in "iu":
        holds = bits <= _INTEGERS_OF[wanted] if wanted in _INTEGERS_OF else kind == "u" and bits < room
        return _SAFE if holds else _OTHER
    if to == "c":
        return _SAFE if bits <= room // 2 else _OTHER
    return _WIDER if kind == "g" and room > bits else _OTHER  # bfloat16


class Overloads(Statements):
    """What the signatures of one function say."""

    def dispatch(self) -> list[_native.Stmt]:
        """The body of a function with several signatures."""
        alternatives = self.source.alternatives
        node, span = self.node, self.span(self.node)
        listed = ", ".join(each.shown for each in alternatives)
        text = f"no signature of '{node.name}' takes the arguments of a call: {listed}"
        statements = [self.module.fail("P105", text, [], span)]
        if not self._gives_nothing(alternatives[0]):
            statements.append(self.module.return_(self._known(0), span))
        self.out: list[_native.Stmt] = []
        for number, alternative in reversed([*enumerate(alternatives)]):
            _, taken = self.branch(partial(self._take, alternative))
            statements = [self.module.if_(self._is_best(number), taken, statements, span)]
        return statements

    def _take(self, alternative: FunctionSource) -> None:
        """`return f(a, b)`, of the function with one signature."""
        node, span = self.node, self.span(self.node)
        arguments = [ast.copy_location(ast.Name(name, ast.Load()), node) for name in self.parameters]
        name = ast.copy_location(ast.Name(node.name, ast.Load()), node)
        call = ast.copy_location(ast.Call(name, [*arguments], []), node)
        value = self.call_function(call, alternative)
        if self._gives_nothing(alternative):
            self.out += [self.module.evaluate(value, span), self.module.return_(None, span)]
        else:
            self.out.append(self.module.return_(value, span))

    def _gives_nothing(self, source: FunctionSource) -> bool:
        if "return" in source.declared:
            return source.declared["return"] == "void"
        returns = (part for part in ast.walk(self.node) if isinstance(part, ast.Return))
        return all(part.value is None for part in returns)

    def _is_best(self, number: int) -> _native.Expr:
        """Whether that signature takes the arguments, and none does better; of equals the first counts."""
        alternatives = self.source.alternatives
        cost = partial(self._cost, alternatives[number])
        found = self._rule("<", self._cost(alternatives[number]), self._known(_NONE))
        for other, alternative in enumerate(alternatives):
            if other != number:
                better = self._rule("<" if other < number else "<=", cost(), self._cost(alternative))
                found = self._rule("and", found, better)
        return found

    def _cost(self, alternative: FunctionSource) -> _native.Expr:
        """What the conversions of all arguments cost, known once types are."""
        total = self._known(0)
        for name in self.parameters:
            wanted, array = alternative.declared.get(name), alternative.arrays.get(name)
            if array is not None:
                each = self._choice(self._has_type(name, array), _EXACT, self._known(_NONE))
            elif wanted is None or self.is_no_variable(name):
                continue
            elif self.program.uses.takes_array(self.source, name):
                each = self._known(_NONE)
            else:
                each = self._known(_NONE)
                for given in _SCALARS:
                    cost = conversion(given, wanted)
                    each = self._choice(self._has_elements(self._variable(name), given), cost, each)
            total = self._rule("+", total, each)
        return total

    # ------------------------------------------------------------ arrays

    def checked_arrays(self) -> list[_native.Stmt]:
        """Arrays are what the signature says."""
        statements = []
        for name, wanted in self.source.arrays.items():
            span = self.span(self.parameters[name])
            text = f"'{name}' of '{self.node.name}' is called with another kind of array than {self.source.shown} says"
            fail = self.module.fail("P105", text, [], span)
            statements.append(self.module.if_(self._has_type(name, wanted), [], [fail], span))
        return statements

    def _has_type(self, name: str, wanted: DeclaredArray) -> _native.Expr:
        """Whether the parameter, an array or a view of one, has such elements and so many dimensions."""
        view = self.views.get(name)
        if view is None:
            var = self._variable(name)
            rank = self.module.rank(var, self.span(self.parameters[name]))
        else:
            var = view.array
            rank = self.view_rank(view, self._node(name))
        same_rank = self._rule("==", rank, self._known(wanted.ndim))
        return self._rule("and", self._has_elements(var, wanted.element), same_rank)

    def _has_elements(self, var: _native.Var, wanted: str) -> _native.Expr:
        span = self.span(self.node)
        return self._rule("types_equal", self.module.read(var, span), self.module.convert(self._known(0), wanted, span))

    # ------------------------------------------------------------ small pieces

    def _node(self, name: str) -> ast.Name:
        return ast.copy_location(ast.Name(name, ast.Load()), self.parameters[name])

    def _variable(self, name: str) -> _native.Var:
        return self.variable(name, self.parameters[name])

    def _known(self, value: int) -> _native.Expr:
        return self.module.constant(value, self.span(self.node))

    def _choice(self, test: _native.Expr, cost: int, other: _native.Expr) -> _native.Expr:
        return self._rule("select", test, self._known(cost), other)

    def _rule(self, text: str, *operands: _native.Expr) -> _native.Expr:
        return self.module.op(text, list(operands), self.span(self.node))
