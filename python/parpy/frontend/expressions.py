"""Lowers Python expressions: one method for each kind of ast node, and subscripts, shapes and
constants.

A lowered expression belongs to one place of the tree; what is needed twice is lowered twice, or,
where that would run a call twice, held in a temporary assigned in front of the statement.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from enum import Enum
from functools import partial
from typing import Any, TypeVar

import numpy as np

from .. import _native
from ..calls.external import External
from ..syntax.names import NO_PLACE, Binding, is_array, is_scalar, is_unchanging
from ..syntax.whole_numbers import MOST_BITS, computed
from ..types import Symbol
from ..vocabulary.device import DeviceFunction, ForeignFunction, Register
from ..vocabulary.operators import scalar_name
from .arrays import first_name
from .none import Nones
from .scope import attribute_hint, describe

T = TypeVar("T")

BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|",
    ast.BitXor: "^", ast.MatMult: "matmul",
}  # fmt: skip
_UNARY: dict[type[ast.unaryop], str] = {
    ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "~", ast.Not: "not",
}  # fmt: skip
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip
_NO_COMPARE: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Is: ("is", "compare values with '=='"),
    ast.IsNot: ("is not", "compare values with '!='"),
    ast.In: ("in", "write the loop that looks for the value"),
    ast.NotIn: ("not in", "write the loop that looks for the value"),
}
_INT64 = range(-(2**63), 2**63)
_ARRAY_ATTRIBUTES = ("shape", "ndim", "size")

# What to say of expressions outside the language: what it is, and the way out.
_REFUSED: dict[type[ast.expr], tuple[str, str]] = {
    ast.NamedExpr: ("an assignment inside an expression", "assign on a line of its own"),
    ast.Lambda: ("a lambda", "define a function with 'def' and decorate it with @parpy.jit"),
    ast.ListComp: ("a list comprehension", "write a for loop that stores into an array"),
    ast.SetComp: ("a set comprehension", "write a for loop that stores into an array"),
    ast.DictComp: ("a dict comprehension", "write a for loop that stores into an array"),
    ast.GeneratorExp: ("a generator expression", "write a for loop"),
    ast.Await: ("'await'", "call the function from ordinary Python"),
    ast.Yield: ("'yield'", "store the values into an array"),
    ast.YieldFrom: ("'yield from'", "store the values into an array"),
    ast.JoinedStr: ("an f-string", "format the text in the caller"),
    ast.List: ("a list", "use an array"),
    ast.Set: ("a set", "use an array"),
    ast.Dict: ("a dict", "pass the dict as an argument"),
    ast.Tuple: ("a tuple as a value", "use one variable for each element"),
    ast.Starred: ("a starred expression", "write the elements one by one"),
    ast.Slice: ("a slice", "write a for loop over the elements"),
}


class Expressions(Nones):
    """Expressions of one function. `call` is written out in Calls."""

    # The statements in front of the one that is being lowered.
    out: list[_native.Stmt]
    _wholes: dict[ast.expr, int | float | None]

    def lower(self, node: ast.expr) -> _native.Expr:
        """`node` as a value."""
        method = _METHODS.get(type(node))
        if method is not None:
            return method(self, node)
        what, fix = _REFUSED.get(type(node), (f"'{type(node).__name__}'", ""))
        self.error("P011", node, f"{what} cannot be compiled", fix)
        self.give_up_on(node)
        return self.poison(node)

    def condition(self, node: ast.expr) -> _native.Expr:
        """`node` where only its truth counts: operands of `and`, `or` need no common type."""
        if (known := self.known_truth(node)) is not None:
            return self.constant(known, node)
        if isinstance(node, ast.BoolOp):
            values = self.undecided(node)
            result = self._truth(values[0])
            for value in values[1:]:
                right = self.branch(partial(self._truth, value))
                result = self.short_circuit(_word(node), result, right, node)
            return result
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self.module.op("not", [self.condition(node.operand)], self.span(node))
        return self.lower(node)

    def call(self, node: ast.Call) -> _native.Expr:
        raise NotImplementedError

    def register(self, value: Register, node: ast.expr) -> _native.Expr:
        raise NotImplementedError

    # ------------------------------------------------------------ leaves

    def _constant(self, node: ast.Constant) -> _native.Expr:
        return self.constant(node.value, node)

    def constant(self, value: Any, node: ast.expr) -> _native.Expr:
        """A Python number as a constant at `node`."""
        if isinstance(value, bool | float | complex):
            return self.module.constant(value, self.span(node))
        if isinstance(value, int):
            if value in _INT64:
                return self.module.constant(value, self.span(node))
            self._beyond_64_bits(str(value) if value.bit_length() <= MOST_BITS else "of so many digits", node)
        elif value is None:
            self.error("P018", node, "None has no value in compiled code", "use a number")
        elif isinstance(value, str | bytes):
            self.error("P018", node, "a string has no value in compiled code", "use a number instead")
        else:
            self.error("P018", node, f"{value!r} has no value in compiled code", "use a number")
        return self.poison(node)

    def number(self, value: Any, node: ast.expr) -> _native.Expr:
        """A Python number or NumPy scalar as a constant of its type at `node`."""
        scalar = scalar_name(value.dtype) if isinstance(value, np.generic) else None
        if scalar is None:
            return self.constant(value, node)
        if scalar == "u64":
            return self.module.constant_u64(int(value), self.span(node))
        return self.module.convert(self.constant(value.item(), node), scalar, self.span(node))

    def _beyond_64_bits(self, shown: str, node: ast.expr) -> None:
        self.error(
            "P019",
            node,
            f"the integer {shown} needs more than 64 bits",
            "integers of compiled code have 64 bits; write a float as 1e20; np.uint64(…) reaches 2**64 - 1",
        )

    def _name(self, node: ast.Name) -> _native.Expr:
        if node.id in self.scope.locals:
            var = self.local(node)
            return self.poison(node) if var is None else self.module.read(var, self.span(node))
        binding = self.find(node)
        return self.poison(node) if binding is None else self.value_of(binding, node.id, node)

    def value_of(self, binding: Binding, shown: str, node: ast.expr) -> _native.Expr:
        """A non-local object as a value: a constant of a library, or a captured scalar or array."""
        value = binding.value
        if isinstance(value, Register):
            return self.register(value, node)
        if isinstance(value, Symbol):
            self.rely_on(binding)
            return self._symbol(value, shown, node)
        if is_scalar(value) and self.is_constant(binding, node):
            return self.number(value.value if isinstance(value, Enum) else value, node)
        if (is_scalar(value) or is_array(value)) and binding.container is not NO_PLACE:
            return self.module.read(self.captured(binding, shown, node), self.span(node))
        self.not_a_value(value, shown, node)
        return self.poison(node)

    def _symbol(self, symbol: Symbol, shown: str, node: ast.expr) -> _native.Expr:
        """The extent that a symbol of the parameters' annotations stands for."""
        place = self.symbols.get(symbol)
        if place is None:
            self.error(
                "P103",
                node,
                f"the symbol '{shown}' stands in no annotation of '{self.source.function.__name__}'",
                f"annotate a parameter: x: parpy.types.buffer(parpy.types.F32, [{shown}])",
            )
            return self.poison(node)
        name, dimension = place
        if name in self.given_views and dimension is not None:
            return self.view_extent(self.given_views[name], dimension, node)
        var = self.variable(name, node)
        if dimension is None:
            return self.module.read(var, self.span(node))
        return self.module.extent(var, dimension, self.span(node))

    def is_constant(self, binding: Binding, node: ast.expr) -> bool:
        """Whether a number is what it is for good: of a library, an enum or a tuple."""
        if self.is_library_place(binding) or isinstance(node, ast.Subscript):
            return True
        if not isinstance(node, ast.Attribute):
            return False
        owner = self.resolve(node.value)
        return owner is not None and is_unchanging(owner.value, binding.value)

    # ------------------------------------------------------------ attributes

    def _attribute(self, node: ast.Attribute) -> _native.Expr:
        binding = self.resolve(node)
        if binding is not None:
            return self.value_of(binding, ast.unparse(node), node)
        span = self.span(node)
        if node.attr in _ARRAY_ATTRIBUTES and self.is_array_name(node.value):
            if node.attr == "shape":
                self.error(
                    "P026",
                    node,
                    "a shape is no value of its own",
                    "take one extent, x.shape[0], or all of them: n, m = x.shape",
                )
                return self.poison(node)
            if self.is_view(node.value):
                view = self.view_of(node.value)
                if view is None:
                    return self.poison(node)
                return self.view_rank(view, node) if node.attr == "ndim" else self.view_size(view, node)
            array = self.array(node.value)
            if array is None:
                return self.poison(node)
            return self.module.rank(array, span) if node.attr == "ndim" else self.module.size(array, span)
        if node.attr in _ARRAY_ATTRIBUTES and self.resolve(node.value) is None:
            self.refuse_shape(node.value)
            return self.poison(node)
        owner = self.resolve(node.value)
        if node.attr in ("real", "imag") and (owner is None or is_scalar(owner.value)):
            return self.module.op(node.attr, [self.lower(node.value)], span)
        if owner is not None:
            self._no_attribute(owner.value, node)
        elif self.starts_undefined(node.value):
            self.lower(first_name(node.value))
        else:
            self.error(
                "P024",
                node,
                f"the attribute '{node.attr}' cannot be compiled",
                "shape, ndim, size, real and imag can, and dtype where types are compared",
            )
        return self.poison(node)

    def _no_attribute(self, owner: object, node: ast.Attribute) -> None:
        message = f"{describe(owner)} has no attribute '{node.attr}'"
        self.error("P107", node, message, attribute_hint(owner, node.attr))

    # ------------------------------------------------------------ operators

    def _binary(self, node: ast.BinOp) -> _native.Expr:
        # Sums of many terms nest deeply on the left: walk down there without recursion.
        value = self.whole(node)
        if value is not None:
            return self.constant(value, node)
        chain = [node]
        while isinstance(chain[-1].left, ast.BinOp) and self.whole(chain[-1].left) is None:
            chain.append(chain[-1].left)
        result = self.lower(chain[-1].left)
        for part in reversed(chain):
            left, right = self.in_order(result, part.left, partial(self.lower, part.right))
            result = self.binary(part.op, left, right, part)
        return result

    def whole(self, node: ast.expr) -> int | float | None:
        """The value of an expression of integer constants alone, of any size, or the quotient of two, as Python
        computes it."""
        chain = [node]
        while isinstance(part := chain[-1], ast.BinOp) and part.left not in self._wholes:
            chain.append(part.left)
        for part in reversed(chain):
            if part in self._wholes:
                continue
            try:
                self._wholes[part] = computed(part, self.whole)
            except OverflowError:
                self._beyond_64_bits("that this makes", part)
                self._wholes[part] = 0
        return self._wholes[node]

    def in_order(
        self, left: _native.Expr, node: ast.expr, make: Callable[[], _native.Expr]
    ) -> tuple[_native.Expr, _native.Expr]:
        """`left`, which is `node`, and what `make` makes, evaluated in this order: statements that
        the second needs in front must not change what the first reads."""
        before = len(self.out)
        right = make()
        if len(self.out) > before and self.reads_elements(node):
            left = self.module.read(self.hold(left, node, before), self.span(node))
        return left, right

    def lower_all(
        self, nodes: list[ast.expr], lower: Callable[[ast.expr], _native.Expr] | None = None
    ) -> list[_native.Expr]:
        """`nodes` as values, each made by `lower`, evaluated from the left."""
        lower = lower or self.lower
        values: list[_native.Expr] = []
        for index, node in enumerate(nodes):
            before = len(self.out)
            value = lower(node)
            for i in reversed(range(index)) if len(self.out) > before else ():
                if self.reads_elements(nodes[i]):
                    values[i] = self.module.read(self.hold(values[i], nodes[i], before), self.span(nodes[i]))
            values.append(value)
        return values

    def lower_arguments(self, given: dict[str, ast.expr], parameters: Iterable[str]) -> dict[str, _native.Expr]:
        """Arguments by parameter, evaluated in the order of `given`, that of the call; compiled code evaluates
        operands in the order of the `parameters`."""
        nodes = list(given.values())
        if list(given) == [name for name in parameters if name in given] or not any(map(self.has_effects, nodes)):
            return dict(zip(given, self.lower_all(nodes), strict=True))
        values = {}
        for name, node in given.items():
            value = self.lower(node)
            if self.has_effects(node) or self.reads_elements(node):
                value = self.module.read(self.hold(value, node), self.span(node))
            values[name] = value
        return values

    def binary(self, op: ast.operator, left: _native.Expr, right: _native.Expr, node: ast.expr) -> _native.Expr:
        return self.module.op(BINARY[type(op)], [left, right], self.span(node))

    def _unary(self, node: ast.UnaryOp) -> _native.Expr:
        if isinstance(node.op, ast.Not):
            return self.condition(node)
        value = node.operand.value if isinstance(node.operand, ast.Constant) else None
        if isinstance(node.op, ast.USub) and isinstance(value, float):
            return self.constant(-value, node)
        value = self.whole(node)
        if value is not None:
            return self.constant(value, node)
        return self.module.op(_UNARY[type(node.op)], [self.lower(node.operand)], self.span(node))

    def _compare(self, node: ast.Compare) -> _native.Expr:
        if (known := self.known_truth(node)) is not None:
            return self.constant(known, node)
        if (compared := self.compared_tuples(node)) is not None:
            return compared
        for op in node.ops:
            if type(op) not in _COMPARE:
                word, fix = _NO_COMPARE[type(op)]
                self.error("P011", node, f"the operator '{word}' cannot be compiled", fix)
                return self.poison(node)
        if len(node.ops) == 1 and (self.is_dtype(node.left) or self.is_dtype(node.comparators[0])):
            return self._compare_types(node)
        return self._comparisons(node, 0, lambda: self.lower(node.left))

    def _compare_types(self, node: ast.Compare) -> _native.Expr:
        """x.dtype == np.float32"""
        span = self.span(node)
        same = self.module.op("types_equal", [self.type_operand(part) for part in (node.left, *node.comparators)], span)
        if isinstance(node.ops[0], ast.Eq):
            return same
        if not isinstance(node.ops[0], ast.NotEq):
            self.error("P011", node, "types have no order", "compare them with '==' or '!='")
        return self.module.op("not", [same], span)

    def compared_tuples(self, node: ast.Compare) -> _native.Expr | None:
        """`x.shape == y.shape`, `i in (1, 3)`; None of other comparisons."""
        raise NotImplementedError

    def is_dtype(self, node: ast.expr) -> bool:
        """Whether `node` is the dtype of an array."""
        return isinstance(node, ast.Attribute) and node.attr == "dtype" and self.is_array_name(node.value)

    def type_operand(self, node: ast.expr) -> _native.Expr:
        """Something that has the type that `node` stands for."""
        raise NotImplementedError

    def _comparisons(self, node: ast.Compare, index: int, left: Callable[[], _native.Expr]) -> _native.Expr:
        """`a < b < c` from its operator number `index` on, as `a < b and b < c` with b evaluated
        once; `left` makes the operand in front of that operator."""
        first, right = ([node.left, *node.comparators])[index : index + 2]
        span = self.span(first, right)
        text = _COMPARE[type(node.ops[index])]
        before = left()
        if index == len(node.ops) - 1:
            return self.module.op(text, [*self.in_order(before, first, lambda: self.lower(right))], span)
        held = isinstance(first, ast.Constant) or (index > 0 and self.has_effects(first))
        if self.has_effects(right) and not held:  # its effects come in front of the statement
            before = self.module.read(self.hold(before, first), span)
        value, again = self.lower_twice(right)
        compared = self.module.op(text, [before, value], span)
        rest = self.branch(lambda: self._comparisons(node, index + 1, again))
        return self.short_circuit("and", compared, rest, node)

    def lower_twice(self, node: ast.expr) -> tuple[_native.Expr, Callable[[], _native.Expr]]:
        """`node`, and a function that makes the same value once more without its effects."""
        if not self.has_effects(node):
            return self.lower(node), lambda: self.lower(node)
        var = self.hold(self.lower(node), node)
        span = self.span(node)
        return self.module.read(var, span), lambda: self.module.read(var, span)

    def lower_settled(self, node: ast.expr) -> Callable[[], _native.Expr]:
        """A function that makes the value that `node` has now, whatever later calls write."""
        if not self.reads_elements(node):
            return lambda: self.lower(node)
        var = self.hold(self.lower(node), node)
        return lambda: self.module.read(var, self.span(node))

    def lower_held(self, node: ast.expr) -> Callable[[], _native.Expr]:
        """A function that makes the value of `node`, evaluated now, as often as wanted."""
        if is_literal(node):
            return lambda: self.lower(node)
        var = self.hold(self.lower(node), node)
        return partial(self.module.read, var, self.span(node))

    def held_for(
        self, target: ast.expr, make: Callable[[], _native.Expr], source: ast.expr | None, node: ast.stmt
    ) -> Callable[[], _native.Expr]:
        """A function that makes again what `make` makes now of `source`, for `target` of the statement `node`.

        The name of a variable may turn out to be that of an array: then it is the statement that is refused.
        """
        if source is not None and is_literal(source):
            return make
        place = node if source is None or isinstance(source, ast.Name) else source
        var = self.hold(make(), place, shown=ast.unparse(target))
        return partial(self.module.read, var, self.span(place))

    def hold(
        self, value: _native.Expr, node: ast.expr | ast.stmt, at: int | None = None, shown: str = ""
    ) -> _native.Var:
        """A temporary with this value, assigned in front of the current statement; `at`: and of all
        that stands there from this number on. Messages call it `shown`."""
        span = self.span(node)
        var = self.temporary(span, shown)
        place = len(self.out) if at is None else at
        self.out.insert(place, self.module.assign(var, value, None, span))
        return var

    def has_effects(self, node: ast.expr) -> bool:
        """Whether evaluating `node` may do more than give a value: it calls a jit function, or changes memory."""
        for part in ast.walk(node):
            if isinstance(part, ast.Call):
                called = self.resolve(part.func)
                if called is not None and self.is_function(called.value):
                    return True
                known = None if called is None else called.value
                if isinstance(known, DeviceFunction | ForeignFunction | External) and known.effect:
                    return True
        return False

    def _bool_op(self, node: ast.BoolOp) -> _native.Expr:
        """`a and b` as a value: Python's, that of one of the operands."""
        if all(_is_boolean(value) for value in node.values):
            return self.condition(node)
        result = self._once(node.values[0])
        for value in node.values[1:]:
            right = self.branch(partial(self._once, value))
            result = self.short_circuit(_word(node), result, right, node)
        return result

    def _once(self, node: ast.expr) -> _native.Expr:
        """`node` as something that may be evaluated twice."""
        if self.has_effects(node):
            return self.module.read(self.hold(self.lower(node), node), self.span(node))
        return self.lower(node)

    def _truth(self, node: ast.expr) -> _native.Expr:
        """bool(node), as the operands of `and` and `or` in a condition."""
        if isinstance(node, ast.BoolOp) or _is_boolean(node):
            return self.condition(node)
        return self.module.op("truth", [self.lower(node)], self.span(node))

    def short_circuit(
        self,
        word: str,
        left: _native.Expr,
        right: tuple[_native.Expr, list[_native.Stmt]],
        node: ast.expr,
    ) -> _native.Expr:
        """`left and right` or `left or right`; what right needs in front runs only if it counts."""
        value, statements = right
        span = self.span(node)
        if not statements:
            return self.module.op(word, [left, value], span)
        var = self.temporary(span)
        self.out.append(self.module.assign(var, left, None, span))
        test = self.module.read(var, span)
        if word == "or":
            test = self.module.op("not", [test], span)
        more = [*statements, self.module.assign(var, value, None, span)]
        self.out.append(self.module.if_(test, more, [], span))
        return self.module.read(var, span)

    def _ternary(self, node: ast.IfExp) -> _native.Expr:
        if (value := self.chosen(node)) is not node:
            return self.lower(value)
        test = self.condition(node.test)
        chosen, before_chosen = self.branch(lambda: self.lower(node.body))
        other, before_other = self.branch(lambda: self.lower(node.orelse))
        return self._choose(test, (chosen, before_chosen), (other, before_other), node)

    def branch(self, lower: Callable[[], T]) -> tuple[T, list[_native.Stmt]]:
        """An operand that may not be evaluated, with the statements that must run before it."""
        self.conditions += 1
        try:
            return self.apart(lower)
        finally:
            self.conditions -= 1

    def apart(self, lower: Callable[[], T]) -> tuple[T, list[_native.Stmt]]:
        """What `lower` makes, and the statements that must run before it, not yet in front."""
        outer, self.out = self.out, []
        try:
            return lower(), self.out
        finally:
            self.out = outer

    def _choose(
        self,
        test: _native.Expr,
        chosen: tuple[_native.Expr, list[_native.Stmt]],
        other: tuple[_native.Expr, list[_native.Stmt]],
        node: ast.expr,
    ) -> _native.Expr:
        """test ? chosen : other; as a statement in front if one of them needs statements."""
        span = self.span(node)
        if not chosen[1] and not other[1]:
            return self.module.op("select", [test, chosen[0], other[0]], span)
        var = self.temporary(span)
        bodies = [[*statements, self.module.assign(var, value, None, span)] for value, statements in (chosen, other)]
        self.out.append(self.module.if_(test, bodies[0], bodies[1], span))
        return self.module.read(var, span)


def is_literal(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Constant)


def _word(node: ast.BoolOp) -> str:
    return "and" if isinstance(node.op, ast.And) else "or"


def _is_boolean(node: ast.expr) -> bool:
    """Whether `node` is True or False whatever the types of its operands are."""
    if isinstance(node, ast.Compare):
        return True
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not)
    if isinstance(node, ast.BoolOp):
        return all(_is_boolean(value) for value in node.values)
    return isinstance(node, ast.Constant) and isinstance(node.value, bool)


_METHODS: dict[type[ast.expr], Callable[[Expressions, Any], _native.Expr]] = {
    ast.Constant: Expressions._constant,
    ast.Name: Expressions._name,
    ast.Attribute: Expressions._attribute,
    ast.BinOp: Expressions._binary,
    ast.UnaryOp: Expressions._unary,
    ast.Compare: Expressions._compare,
    ast.BoolOp: Expressions._bool_op,
    ast.IfExp: Expressions._ternary,
    ast.Subscript: lambda self, node: self.subscript(node),
    ast.Call: lambda self, node: self.call(node),
}
