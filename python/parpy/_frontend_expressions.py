"""Lowers Python expressions: one method for each kind of ast node, and subscripts, shapes and
constants.

A lowered expression belongs to one place of the tree; what is needed twice is lowered twice, or,
where that would run a call twice, held in a temporary assigned in front of the statement.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from typing import Any

from . import _native
from ._frontend_scope import DictParam, FunctionScope, describe, identifier
from ._names import Binding, is_array, is_scalar, jit_source

_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|",
    ast.BitXor: "^",
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


class Expressions(FunctionScope):
    """Expressions of one function. `lower_call` is written out in Calls."""

    # The statements in front of the one that is being lowered.
    out: list[_native.Stmt]

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
        if isinstance(node, ast.BoolOp):
            result = self._truth(node.values[0])
            for value in node.values[1:]:
                right = self.branch(partial(self._truth, value))
                result = self.short_circuit(_word(node), result, right, node)
            return result
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self.module.op("not", [self.condition(node.operand)], self.span(node))
        return self.lower(node)

    def call(self, node: ast.Call) -> _native.Expr:
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
            self.error(
                "P019",
                node,
                f"the integer {value} needs more than 64 bits",
                "integers of compiled code have 64 bits; "
                "np.uint64(…) around the constant reaches 2**64 - 1",
            )
        elif value is None:
            self.error("P018", node, "None has no value in compiled code", "use a number")
        elif isinstance(value, str | bytes):
            self.error(
                "P018", node, "a string has no value in compiled code", "use a number instead"
            )
        else:
            self.error("P018", node, f"{value!r} has no value in compiled code", "use a number")
        return self.poison(node)

    def _name(self, node: ast.Name) -> _native.Expr:
        if node.id in self.scope.locals:
            var = self.local(node)
            return self.poison(node) if var is None else self.module.read(var, self.span(node))
        binding = self.find(node)
        return self.poison(node) if binding is None else self._value(binding, node.id, node)

    def _value(self, binding: Binding, shown: str, node: ast.expr) -> _native.Expr:
        """A non-local object as a value: a constant of a library, or a captured scalar or array."""
        value = binding.value
        if is_scalar(value) and self.is_constant_place(binding):
            return self.constant(value, node)
        if (is_scalar(value) or is_array(value)) and binding.container:
            return self.module.read(self.captured(binding, shown, node), self.span(node))
        self._not_a_value(value, shown, node)
        return self.poison(node)

    def _not_a_value(self, value: object, shown: str, node: ast.expr) -> None:
        if jit_source(value) is not None:
            message, fix = f"'{shown}' is a function, not a value", f"call it: {shown}(…)"
        elif callable(value):
            message, fix = f"'{shown}' is {describe(value)}, not a value", "call it"
        else:
            message = f"'{shown}' is {describe(value)}, which compiled code cannot use"
            fix = "numbers, NumPy scalars and arrays can be used; pass others in parts"
        self.error("P103", node, message, fix)

    # ------------------------------------------------------------ attributes

    def _attribute(self, node: ast.Attribute) -> _native.Expr:
        binding = self.resolve(node)
        if binding is not None:
            return self._value(binding, ast.unparse(node), node)
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
            array = self.array(node.value)
            if array is None:
                return self.poison(node)
            return (
                self.module.rank(array, span)
                if node.attr == "ndim"
                else self.module.size(array, span)
            )
        if node.attr in ("real", "imag") and self.resolve(node.value) is None:
            return self.module.op(node.attr, [self.lower(node.value)], span)
        owner = self.resolve(node.value)
        if owner is not None:
            self._no_attribute(owner.value, node)
        elif self._starts_undefined(node.value):
            self.lower(_first_name(node.value))
        else:
            self.error(
                "P024",
                node,
                f"the attribute '{node.attr}' cannot be compiled",
                "shape, ndim, size, real and imag can",
            )
        return self.poison(node)

    def _no_attribute(self, owner: object, node: ast.Attribute) -> None:
        from difflib import get_close_matches

        close = get_close_matches(node.attr, dir(owner), n=1)
        fix = f"did you mean '{close[0]}'?" if close else ""
        self.error("P107", node, f"{describe(owner)} has no attribute '{node.attr}'", fix)

    def _starts_undefined(self, node: ast.expr) -> bool:
        name = _first_name(node)
        return (
            isinstance(name, ast.Name)
            and name.id not in self.scope.locals
            and self.scope.lookup(name.id) is None
        )

    # ------------------------------------------------------------ operators

    def _binary(self, node: ast.BinOp) -> _native.Expr:
        return self.binary(node.op, self.lower(node.left), self.lower(node.right), node)

    def binary(
        self, op: ast.operator, left: _native.Expr, right: _native.Expr, node: ast.expr
    ) -> _native.Expr:
        text = self.operator_text(op, node)
        if text is None:
            return self.poison(node)
        return self.module.op(text, [left, right], self.span(node))

    def operator_text(self, op: ast.operator, node: ast.expr | ast.stmt) -> str | None:
        text = _BINARY.get(type(op))
        if text is None:
            self.error("P011", node, "a matrix product '@' cannot be compiled", "write it as loops")
        return text

    def _unary(self, node: ast.UnaryOp) -> _native.Expr:
        if isinstance(node.op, ast.Not):
            return self.condition(node)
        value = node.operand.value if isinstance(node.operand, ast.Constant) else None
        if isinstance(node.op, ast.USub) and isinstance(value, int | float):
            return self.constant(-value, node)
        return self.module.op(_UNARY[type(node.op)], [self.lower(node.operand)], self.span(node))

    def _compare(self, node: ast.Compare) -> _native.Expr:
        for op in node.ops:
            if type(op) not in _COMPARE:
                word, fix = _NO_COMPARE[type(op)]
                self.error("P011", node, f"the operator '{word}' cannot be compiled", fix)
                return self.poison(node)
        return self._comparisons(node, 0, lambda: self.lower(node.left))

    def _comparisons(
        self, node: ast.Compare, index: int, left: Callable[[], _native.Expr]
    ) -> _native.Expr:
        """`a < b < c` from its operator number `index` on, as `a < b and b < c` with b evaluated
        once; `left` makes the operand in front of that operator."""
        right = node.comparators[index]
        span = self.span(node.left if index == 0 else node.comparators[index - 1], right)
        text = _COMPARE[type(node.ops[index])]
        before = left()
        if index == len(node.ops) - 1:
            return self.module.op(text, [before, self.lower(right)], span)
        value, again = self.lower_twice(right)
        first = self.module.op(text, [before, value], span)
        rest = self.branch(lambda: self._comparisons(node, index + 1, again))
        return self.short_circuit("and", first, rest, node)

    def lower_twice(self, node: ast.expr) -> tuple[_native.Expr, Callable[[], _native.Expr]]:
        """`node`, and a function that makes the same value once more without its effects."""
        if not self.has_effects(node):
            return self.lower(node), lambda: self.lower(node)
        var = self.hold(self.lower(node), node)
        span = self.span(node)
        return self.module.read(var, span), lambda: self.module.read(var, span)

    def hold(self, value: _native.Expr, node: ast.expr) -> _native.Var:
        """A temporary with this value, assigned in front of the current statement."""
        span = self.span(node)
        var = self.temporary(span)
        self.out.append(self.module.assign(var, value, None, span))
        return var

    def has_effects(self, node: ast.expr) -> bool:
        """Whether evaluating `node` may do more than give a value: it calls a jit function."""
        for part in ast.walk(node):
            if isinstance(part, ast.Call):
                called = self.resolve(part.func)
                if called is not None and self.is_function(called.value):
                    return True
        return False

    def is_function(self, found: object) -> bool:
        return found is self.source.function or jit_source(found) is not None

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
        test = self.condition(node.test)
        chosen, before_chosen = self.branch(lambda: self.lower(node.body))
        other, before_other = self.branch(lambda: self.lower(node.orelse))
        return self._choose(test, (chosen, before_chosen), (other, before_other), node)

    def branch(self, lower: Callable[[], _native.Expr]) -> tuple[_native.Expr, list[_native.Stmt]]:
        """An operand that may not be evaluated, with the statements that must run before it."""
        outer, self.out = self.out, []
        self.conditions += 1
        try:
            value = lower()
            return value, self.out
        finally:
            self.out = outer
            self.conditions -= 1

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
        bodies = [
            [*statements, self.module.assign(var, value, None, span)]
            for value, statements in (chosen, other)
        ]
        self.out.append(self.module.if_(test, bodies[0], bodies[1], span))
        return self.module.read(var, span)

    # ------------------------------------------------------------ subscripts and shapes

    def _subscript(self, node: ast.Subscript) -> _native.Expr:
        base = node.value
        if (
            isinstance(base, ast.Attribute)
            and base.attr == "shape"
            and self.is_array_name(base.value)
        ):
            return self._extent(node, base.value)
        if _string_key(node) is not None:
            var = self.array(node)
            return self.poison(node) if var is None else self.module.read(var, self.span(node))
        array, indices = self.element(node)
        if array is None:
            return self.poison(node)
        return self.module.load(array, indices, self.span(node))

    def _extent(self, node: ast.Subscript, array_node: ast.expr) -> _native.Expr:
        index = integer_constant(node.slice)
        if index is None:
            self.error(
                "P026",
                node.slice,
                "which extent of a shape is meant must be an integer constant",
                "write x.shape[0]; a constant may be negative, to count from the end",
            )
            return self.poison(node)
        array = self.array(array_node)
        if array is None:
            return self.poison(node)
        return self.module.extent(array, index, self.span(node))

    def element(self, node: ast.Subscript) -> tuple[_native.Var | None, list[_native.Expr]]:
        """The array and the subscripts of `x[i, j]`, also written x[i][j]."""
        parts: list[ast.expr] = []
        base: ast.expr = node
        while isinstance(base, ast.Subscript) and _string_key(base) is None:
            index = base.slice
            parts[:0] = index.elts if isinstance(index, ast.Tuple) else [index]
            base = base.value
        array = self.array(base)
        indices = [self._index(part) for part in parts]
        return array, indices

    def _index(self, node: ast.expr) -> _native.Expr:
        if isinstance(node, ast.Slice):
            self.error(
                "P025", node, "a slice cannot be compiled", "write a for loop over the elements"
            )
        elif isinstance(node, ast.Constant) and node.value in (None, ...):
            self.error(
                "P025",
                node,
                f"a subscript is {'None' if node.value is None else 'an ellipsis'}, not an index",
                "give one integer for each dimension",
            )
        else:
            return self.lower(node)
        return self.poison(node)

    def is_array_name(self, node: ast.expr) -> bool:
        """Whether `node` names something that may be an array, rather than a module or function."""
        if isinstance(node, ast.Name) and node.id in self.scope.locals:
            return True
        if isinstance(node, ast.Subscript):
            return _string_key(node) is not None
        binding = self.resolve(node)
        return binding is not None and (is_array(binding.value) or is_scalar(binding.value))

    def array(self, node: ast.expr) -> _native.Var | None:
        """The variable that `node` names as a whole: x, d['k'] or module.x. None after an error."""
        if isinstance(node, ast.Name):
            if node.id in self.scope.locals:
                return self.local(node)
            binding = self.find(node)
            return None if binding is None else self._captured_array(binding, node.id, node)
        if isinstance(node, ast.Subscript):
            key = _string_key(node)
            if key is not None:
                return self._dict_entry(node, key)
        elif isinstance(node, ast.Attribute):
            binding = self.resolve(node)
            if binding is not None:
                return self._captured_array(binding, ast.unparse(node), node)
            if self._starts_undefined(node):
                self.lower(node)
                return None
        self.error(
            "P025",
            node,
            "only a variable can be subscripted",
            "assign the value to a variable first, or subscript an array",
        )
        return None

    def _captured_array(self, binding: Binding, shown: str, node: ast.expr) -> _native.Var | None:
        if is_array(binding.value) and binding.container:
            return self.captured(binding, shown, node)
        if isinstance(binding.value, dict):
            fix = "take one entry with a string constant: d['key']"
        else:
            fix = "only arrays can be subscripted and have a shape"
        self.error("P103", node, f"'{shown}' is {describe(binding.value)}, not an array", fix)
        return None

    def _dict_entry(self, node: ast.Subscript, key: str) -> _native.Var | None:
        """d['k']: of a parameter, its own surface parameter; of a global dict, a captured value."""
        base = node.value
        if isinstance(base, ast.Name) and base.id in self.scope.locals:
            return self._dict_param(node, base, key)
        binding = self.resolve(base)
        if binding is None or not isinstance(binding.value, dict):
            if binding is None and self._starts_undefined(base):
                self.lower(_first_name(base))
            else:
                self.error(
                    "P104",
                    node,
                    "only a dict argument or a global dict has a string subscript",
                    "index arrays with integers",
                )
            return None
        self.rely_on(binding)
        shown = ast.unparse(node)
        if key not in binding.value:
            self.error("P101", node, f"the dict '{ast.unparse(base)}' has no key '{key}'")
            return None
        entry = Binding(binding.value[key], binding.value, key)
        if is_scalar(entry.value) or is_array(entry.value):
            return self.captured(entry, shown, node)
        self._not_a_value(entry.value, shown, node)
        return None

    def _dict_param(self, node: ast.Subscript, base: ast.Name, key: str) -> _native.Var | None:
        name = base.id
        if name not in self.parameter_names():
            self.error(
                "P104",
                node,
                f"'{name}' has a string subscript but is no parameter",
                "only arguments can be dicts",
            )
            return None
        if not self.entry:
            self.error(
                "P104",
                node,
                f"'{name}' is used as a dict in a function that compiled code calls",
                "pass the entries as arguments of their own",
            )
            return None
        if name in self.plain_uses:
            self.error(
                "P104",
                self.plain_uses[name],
                f"'{name}' is used as a dict elsewhere, so it must be followed by a string "
                "subscript",
                f"write {name}['key'], or pass the value as an argument of its own",
                [(self.span(node), f"'{name}' is a dict here")],
            )
            del self.plain_uses[name]
        param = self.dict_params.setdefault(name, DictParam({}, node))
        if key not in param.entries:
            shown = self.unique_name(identifier(f"{name}_{key}"))
            param.entries[key] = self.module.variable(shown, self.span(node))
        return param.entries[key]

    def parameter_names(self) -> tuple[str, ...]:
        code = self.source.function.__code__
        return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _word(node: ast.BoolOp) -> str:
    return "and" if isinstance(node.op, ast.And) else "or"


def _first_name(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node


def _string_key(node: ast.Subscript) -> str | None:
    """The k of d['k']."""
    index = node.slice
    return index.value if isinstance(index, ast.Constant) and isinstance(index.value, str) else None


def integer_constant(node: ast.expr) -> int | None:
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        sign, node = -1, node.operand
    if isinstance(node, ast.Constant) and type(node.value) is int and node.value < 64:
        return sign * node.value
    return None


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
    ast.Subscript: Expressions._subscript,
    ast.Call: lambda self, node: self.call(node),
}
