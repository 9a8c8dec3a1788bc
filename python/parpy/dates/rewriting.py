"""Rewrites a function of dates and durations to a function of the integers that NumPy stores. The types of the
arguments determine the type of each expression, and each operation treats NaT and units as NumPy's function does."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from ..calls.jit import jit_of_source
from ..library import atomics_of_dates
from ..syntax.names import Scope, callable_source, source_of
from ..syntax.patterns import Function
from ..syntax.rewriting.cases import with_cases
from ..syntax.source import FunctionSource
from ..syntax.turns import note_variables, turns_of
from ..syntax.walks import copy_of, walk
from ..vocabulary.device import DeviceFunction, Group
from .operations import (
    OPERATORS,
    Kind,
    NoOperationError,
    Value,
    combined,
    common,
    constant,
    converted,
    helpers,
    is_date,
)


class Elements(NamedTuple):
    """The type of an array of dates or durations."""

    dtype: np.dtype[Any]
    ndim: int


Parameter = Kind | Elements

_ARRAY_FACTS = frozenset(("shape", "size", "ndim"))
_RANGES = (range, enumerate, zip, reversed)


# The number of values of each atomic operation, and its function for dates and durations, or None if that of integers
# has the same effect.
_ATOMICS: dict[str, tuple[int, Any]] = {
    "add": (1, atomics_of_dates.added), "sub": (1, atomics_of_dates.added), "exch": (1, None), "cas": (2, None),
    "compare_and_swap": (2, None), "max": (1, atomics_of_dates.greater), "min": (1, atomics_of_dates.lesser),
    "nanmax": (1, atomics_of_dates.greater_time), "nanmin": (1, atomics_of_dates.lesser_time),
}  # fmt: skip


class Rewritten(NamedTuple):
    """A function of integers, and the types of its results."""

    source: FunctionSource
    results: tuple[Kind, ...]


def in_integers(
    source: FunctionSource, parameters: Sequence[Parameter], results: Sequence[Kind] | None = None
) -> Rewritten:
    """The function for parameters of these types. Its results have the types `results`, or those of the expressions.
    Raises TypeError, with the line, for operations that dates and durations do not have."""
    return _rewritten(source, tuple(parameters), results, {})


def _rewritten(
    source: FunctionSource, parameters: tuple[Parameter, ...], results: Sequence[Kind] | None, known: dict[Any, Any]
) -> Rewritten:
    names = source.function.__code__.co_varnames
    kinds: dict[str, Parameter] = {
        name: kind for name, kind in zip(names, parameters, strict=False) if kind is not None
    }
    found: tuple[Kind, ...] | None = None if results is None else tuple(results)
    while True:
        pass_ = _Pass(source, kinds, found, results is not None, known)
        tree = pass_.function(copy_of(with_cases(source.written())))
        if pass_.kinds == kinds and pass_.results == found:
            break
        kinds, found = dict(pass_.kinds), pass_.results
    plain = source.function
    function = FunctionType(
        plain.__code__, {**plain.__globals__, **helpers(), **pass_.called}, plain.__name__, plain.__defaults__,
        plain.__closure__,
    )  # fmt: skip
    note_variables(function, turns_of(plain))
    made = FunctionSource(function, source.name, source.text, source.first_line, tree)
    return Rewritten(made, found or ())


class _Pass:
    """One walk over the function. It finds the types of more variables and of the results, and ends with the tree."""

    def __init__(
        self,
        source: FunctionSource,
        kinds: dict[str, Parameter],
        results: tuple[Kind, ...] | None,
        fixed: bool,
        known: dict[Any, Any],
    ) -> None:
        self._source, self._scope = source, Scope(source.function)
        self.kinds, self.results, self._fixed = dict(kinds), results, fixed
        self.called: dict[str, Any] = {}
        self._known = known
        parameters = source.function.__code__.co_varnames[: source.function.__code__.co_argcount]
        self._numbers = {name for name in parameters if name not in kinds}  # variables with values that are numbers

    def function(self, node: Function) -> Function:
        node.body = self._block(node.body)
        return ast.fix_missing_locations(node)

    # ------------------------------------------------------------ statements

    def _block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        return [self._statement(each) for each in body]

    def _statement(self, node: ast.stmt) -> ast.stmt:
        try:
            return self._changed(node)
        except TypeError as error:
            if not hasattr(error, "__notes__"):
                line = node.lineno + self._source.line_shift
                error.add_note(f"in '{self._source.function.__name__}', line {line} of {self._source.name}")
            raise

    def _changed(self, node: ast.stmt) -> ast.stmt:
        match node:
            case ast.Assign(targets=[target], value=value):
                return self._assigned(node, target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                return self._assigned(ast.copy_location(ast.Assign([target], value), node), target, value)
            case ast.AugAssign(target=ast.Name() | ast.Subscript() as target, op=op, value=value):
                read = copy_of(target)
                read.ctx = ast.Load()
                whole = ast.copy_location(ast.BinOp(read, op, value), node)
                if self._value(copy_of(whole)).kind is None and self._stored(target) is None:
                    node.value = self._number(value)
                    return node
                return self._assigned(ast.copy_location(ast.Assign([target], whole), node), target, whole)
            case ast.Return(value=ast.expr() as value):
                node.value = self._returned(value)
            case ast.If(test=test) | ast.While(test=test):
                node.test = self._condition(test)
                node.body, node.orelse = self._block(node.body), self._block(node.orelse)
            case ast.For(target=target, iter=over):
                self._loop(target, over)
                node.iter = self._any(over).node
                node.body, node.orelse = self._block(node.body), self._block(node.orelse)
            case ast.Expr(value=value):
                node.value = self._value(value).node
            case _:
                if any(isinstance(part, ast.Name) and part.id in self.kinds for part in walk(node)):
                    raise TypeError("this statement is not supported for dates and durations")
        return node

    def _assigned(self, node: ast.stmt, target: ast.expr, value: ast.expr) -> ast.stmt:
        assert isinstance(node, ast.Assign)
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            pairs = zip(target.elts, value.elts, strict=True)
            value.elts = [self._for_target(each, self._value(given)) for each, given in pairs]
        elif isinstance(target, ast.Name | ast.Subscript):
            given = self._any(value)
            if isinstance(given.kind, Elements):
                if not isinstance(target, ast.Name) or self.kinds.setdefault(target.id, given.kind) != given.kind:
                    raise TypeError("an array of dates is assigned; assign its elements")
                node.value = given.node
            else:
                node.value = self._for_target(target, Value(given.node, given.kind))
        else:
            node.value = self._number(value)
        return node

    def _stored(self, target: ast.expr) -> Kind:
        """The type of a variable or of an element that is assigned to."""
        if isinstance(target, ast.Name):
            found = self.kinds.get(target.id)
            return found if is_date(found) else None  # type: ignore[return-value]
        return self._value(_loaded(target)).kind

    def _for_target(self, target: ast.expr, value: Value) -> ast.expr:
        if isinstance(target, ast.Name):
            return converted(value, self._kind_of_variable(target.id, value.kind))
        kind = self._stored(target)
        assert isinstance(target, ast.Subscript)
        target.slice = self._number(target.slice)
        return converted(value, kind)

    def _kind_of_variable(self, name: str, found: Kind) -> Kind:
        """The type of a variable that gets a value of this type, and had values of others before."""
        known = self._stored(ast.Name(name))
        is_number = name in self._numbers
        if found is None and known is None:
            self._numbers.add(name)
            return None
        kind = found if known is None and not is_number else common(known, found)
        assert kind is not None
        self.kinds[name] = kind
        return kind

    def _loop(self, target: ast.expr, over: ast.expr) -> None:
        rows = self._any(copy_of(over)).kind if isinstance(over, ast.Name | ast.Subscript) else None
        if isinstance(rows, Elements):
            if not isinstance(target, ast.Name):
                raise TypeError("a loop over an array of dates has one variable")
            self.kinds[target.id] = rows.dtype if rows.ndim == 1 else Elements(rows.dtype, rows.ndim - 1)

    def _returned(self, node: ast.expr) -> ast.expr:
        values = [self._value(each) for each in (node.elts if isinstance(node, ast.Tuple) else [node])]
        kinds = tuple(each.kind for each in values)
        if self.results is None:
            self.results = kinds
        if len(self.results) != len(kinds):
            raise TypeError("the function returns different numbers of results")
        if not self._fixed:
            self.results = tuple(
                None if a is b is None else common(a, b) for a, b in zip(self.results, kinds, strict=True)
            )
        nodes = [converted(each, kind) for each, kind in zip(values, self.results, strict=True)]
        return ast.copy_location(ast.Tuple(nodes, ast.Load()), node) if isinstance(node, ast.Tuple) else nodes[0]

    # ------------------------------------------------------------ expressions

    def _number(self, node: ast.expr) -> ast.expr:
        found = self._value(node)
        return converted(found, None)

    def _condition(self, node: ast.expr) -> ast.expr:
        found = self._value(node)
        if found.kind is not None and found.kind.kind == "M":
            raise TypeError("a date is no condition")
        return found.node

    def _value(self, node: ast.expr) -> Value:
        found = self._any(node)
        if isinstance(found.kind, Elements):
            raise TypeError("arrays of dates are not supported here; use their elements")
        return Value(ast.copy_location(found.node, node), found.kind)

    def _any(self, node: ast.expr) -> Any:
        """The expression of integers, with its type: None, a type of dates or durations, or `Elements`."""
        match node:
            case ast.Name(id=name) if name in self.kinds:
                return _Found(node, self.kinds[name])
            case ast.Name() | ast.Attribute():
                known = self._known_value(node)
                if isinstance(known, np.datetime64 | np.timedelta64):
                    return constant(known)
                if isinstance(node, ast.Attribute):
                    return self._attribute(node)
                return _Found(node, None)
            case ast.BinOp(left=left, op=op, right=right):
                a, b = self._value(left), self._value(right)
                return self._operation(node, op, (a, b), ast.BinOp(a.node, op, b.node))
            case ast.UnaryOp(op=op, operand=operand):
                value = self._value(operand)
                if isinstance(op, ast.Not):
                    return _Found(ast.UnaryOp(op, self._condition(operand)), None)
                return self._operation(node, op, (value,), ast.UnaryOp(op, value.node))
            case ast.Compare(left=left, ops=ops, comparators=others):
                return self._comparison(node, [self._value(each) for each in (left, *others)], ops)
            case ast.BoolOp(op=op, values=values):
                return _Found(ast.BoolOp(op, [self._number(each) for each in values]), None)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                a, b = self._value(body), self._value(orelse)
                kind = common(a.kind, b.kind) if a.kind is not None or b.kind is not None else None
                return _Found(ast.IfExp(self._condition(test), converted(a, kind), converted(b, kind)), kind)
            case ast.Subscript(value=value, slice=index):
                return self._subscript(node, self._any(value), index)
            case ast.Call():
                return self._call(node)
        for name, field in ast.iter_fields(node):
            if isinstance(field, ast.expr):
                setattr(node, name, self._number(field))
            elif isinstance(field, list):
                setattr(node, name, [self._number(each) if isinstance(each, ast.expr) else each for each in field])
        return _Found(node, None)

    def _operation(self, node: ast.expr, op: Any, values: tuple[Value, ...], plain: ast.expr) -> Any:
        if all(each.kind is None for each in values):
            return _Found(ast.copy_location(plain, node), None)
        function = OPERATORS.get(type(op))
        if function is None:
            raise TypeError(f"'{ast.unparse(node)}' is not supported for dates and durations")
        return combined(function, *values)

    def _comparison(self, node: ast.Compare, values: list[Value], ops: list[ast.cmpop]) -> Any:
        pairs = list(zip(values, ops, values[1:], strict=False))
        parts = [self._operation(node, op, (a, b), ast.Compare(a.node, [op], [b.node])).node for a, op, b in pairs]
        if all(each.kind is None for each in values):
            return _Found(ast.Compare(values[0].node, ops, [each.node for each in values[1:]]), None)
        return _Found(parts[0] if len(parts) == 1 else ast.BoolOp(ast.And(), [copy_of(each) for each in parts]), None)

    def _attribute(self, node: ast.Attribute) -> Any:
        if self._known_value(node) is not None:
            return _Found(node, None)
        owner = self._any(node.value)
        if owner.kind is not None and not (isinstance(owner.kind, Elements) and node.attr in _ARRAY_FACTS):
            raise TypeError(f"'{ast.unparse(node)}' is not supported for dates and durations")
        node.value = owner.node
        return _Found(node, None)

    def _subscript(self, node: ast.Subscript, owner: Any, index: ast.expr) -> Any:
        node.value = owner.node
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        numbers = [self._any(each).node for each in parts]
        node.slice = ast.Tuple(numbers, ast.Load()) if isinstance(index, ast.Tuple) else numbers[0]
        if owner.kind is None:
            return _Found(node, None)
        if not isinstance(owner.kind, Elements):
            raise TypeError("a date has no elements")
        left = owner.kind.ndim - sum(not isinstance(each, ast.Slice) for each in parts)
        return _Found(node, owner.kind.dtype if left == 0 else Elements(owner.kind.dtype, left))

    def _call(self, node: ast.Call) -> Any:
        function = self._known_value(node.func)
        if function in (np.datetime64, np.timedelta64):
            return self._made(node, function)
        if isinstance(node.func, ast.Attribute) and function is None:
            owner = self._any(node.func.value)
            if owner.kind is not None:
                return self._method(node, owner)
            node.func.value = owner.node
        values = [self._any(each) for each in node.args]
        for each in node.keywords:
            each.value = self._number(each.value)
        if all(each.kind is None for each in values):
            node.args = [each.node for each in values]
            return _Found(node, None)
        arrays = any(isinstance(each.kind, Elements) for each in values)
        if function in (int, float, np.int64, np.float64) and len(values) == 1 and not arrays:
            node.args = [values[0].node]
            return _Found(node, None)
        if function in (len, *_RANGES):
            node.args = [each.node for each in values]
            return _Found(node, None)
        if isinstance(function, DeviceFunction) and isinstance(values[0].kind, Elements) and not node.keywords:
            return self._atomic(node, function.name, values)
        source = callable_source(function)
        if source is not None and not node.keywords:
            return self._helper(node, source, values)
        if arrays or node.keywords:
            raise TypeError(f"'{ast.unparse(node.func)}' is not supported for dates and durations")
        return combined(function, *(Value(each.node, each.kind) for each in values))

    def _atomic(self, node: ast.Call, name: str, values: list[Any]) -> Any:
        """An atomic operation on an element of an array. Its values have the type of the elements."""
        of_array, *rest = values
        kind, operation = of_array.kind.dtype, name.rpartition(".")[2]
        places = 0 if operation == "compare_and_swap" else 1
        if operation not in _ATOMICS or len(rest) != places + _ATOMICS[operation][0]:
            raise TypeError(f"'{ast.unparse(node.func)}' is not supported for dates and durations")
        given = [Value(each.node, each.kind) for each in rest[places:]]
        if operation in ("add", "sub"):
            element = Value(ast.Constant(0), kind)
            result = combined(np.add if operation == "add" else np.subtract, element, given[0])
            if result.kind is None or result.kind.kind != kind.kind:
                raise NoOperationError(f"the result, {result.kind}, cannot be an element of {kind}")
            kind = np.dtype(f"m8{str(kind)[str(kind).find('[') :]}") if "[" in str(kind) else np.dtype("m8")
            if operation == "sub":
                given = [
                    combined(np.negative, Value(converted(each, each.kind or kind), each.kind or kind))
                    for each in given
                ]
        helper = _ATOMICS[operation][1]
        if helper is not None:
            made = f"dates_atomic_{operation}"
            self.called[made] = jit_of_source(source_of(helper))
            node.func = ast.Name(made, ast.Load())
        node.args = [each.node for each in values[: places + 1]] + [converted(each, kind) for each in given]
        return _Found(node, of_array.kind.dtype)

    def _helper(self, node: ast.Call, source: FunctionSource, values: list[Any]) -> Any:
        """A call of a user's function, which is rewritten for these arguments."""
        kinds = tuple(each.kind for each in values)
        key = (source.function, kinds)
        if key not in self._known:
            self._known[key] = None
            self._known[key] = _rewritten(source, kinds, None, self._known)
        made = self._known[key]
        if made is None:
            raise TypeError(f"'{source.function.__name__}' calls itself with dates or durations")
        if len(made.results) > 1:
            raise TypeError(f"'{source.function.__name__}' returns several dates; call a function with one result")
        name = f"dates_called_{len(self.called)}"
        self.called[name] = jit_of_source(made.source)
        node.func, node.args = ast.Name(name, ast.Load()), [each.node for each in values]
        return _Found(node, made.results[0] if made.results else None)

    def _made(self, node: ast.Call, kind: Any) -> Any:
        """``np.datetime64(…)`` or ``np.timedelta64(…)`` of constants, of a number and a unit, or with another unit."""
        known = [self._constant(each) for each in node.args]
        if all(each is not None for each in known) and not node.keywords:
            return constant(kind(*known))
        if len(known) != 2 or not isinstance(known[1], str) or node.keywords:
            raise TypeError(f"'{ast.unparse(node)}' needs constants, or a number and a unit")
        value = self._value(node.args[0])
        wanted = np.dtype(f"{kind.__name__}[{known[1]}]")
        if value.kind is None:
            value = Value(converted(value, np.dtype("m8")), wanted)
        return Value(converted(value, wanted), wanted)

    def _constant(self, node: ast.expr) -> Any:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            return -node.operand.value  # type: ignore[operator]
        return node.value if isinstance(node, ast.Constant) else None

    def _method(self, node: ast.Call, owner: Any) -> Any:
        assert isinstance(node.func, ast.Attribute)
        if node.func.attr != "astype" or len(node.args) != 1 or node.keywords or isinstance(owner.kind, Elements):
            raise TypeError(f"'{ast.unparse(node.func)}' is not supported for dates and durations")
        given = node.args[0].value if isinstance(node.args[0], ast.Constant) else self._known_value(node.args[0])
        wanted = np.dtype(given)  # type: ignore[arg-type]
        if is_date(wanted):
            return Value(converted(Value(owner.node, owner.kind), wanted), wanted)
        if wanted != np.dtype(np.int64):
            raise TypeError(f"dates and durations are converted to 'int64' or to units, not to '{wanted}'")
        return _Found(owner.node, None)

    def _known_value(self, node: ast.expr) -> Any:
        """The object outside of the function that an expression refers to; None if there is none."""
        if isinstance(node, ast.Attribute):
            owner = self._known_value(node.value)
            return getattr(owner, node.attr, None) if isinstance(owner, type(np) | Group) else None
        if not isinstance(node, ast.Name) or node.id in self._scope.locals:
            return None
        found = self._scope.lookup(node.id)
        return None if found is None else found.value


class _Found(NamedTuple):
    """An expression of integers with its type, which may be an array's."""

    node: ast.expr
    kind: Parameter


def _loaded(target: ast.expr) -> ast.expr:
    read = copy_of(target)
    for part in walk(read):
        if isinstance(part, ast.Name | ast.Subscript):
            part.ctx = ast.Load()
    return read
