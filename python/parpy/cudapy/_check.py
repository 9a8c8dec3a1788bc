"""The static types of CudaPy: each expression and variable has one type, and there are no implicit conversions.

Only literals adapt: an integer to ``float`` and ``double``, a float to ``double``. Types are found once per function,
before its lowering, and mistakes are reported at their position. Expressions without a type are kept in ``untyped``:
the lowering refuses most of them with a better reason.
"""

from __future__ import annotations

import ast
import builtins
import operator
from collections.abc import Callable
from typing import Any

from ..syntax.patterns import ends, is_absent
from ..vocabulary.device import Coordinates, DeviceFunction
from ._types import Bool, CType, Double, Float, Int, Pointer, Signature, Type, Void
from ._values import MATH, instead_of, type_named_by, type_of

_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_INTEGER = (ast.Mod, ast.FloorDiv, ast.LShift, ast.RShift, ast.BitAnd, ast.BitOr, ast.BitXor)
_SYMBOLS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Mod: "%", ast.FloorDiv: "//", ast.LShift: "<<",
    ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.Pow: "**", ast.MatMult: "@",
}  # fmt: skip
_FOLDED: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
}  # fmt: skip
_INT = range(-(2**31), 2**31)
_CASTS = {"int": Int, "float": Float, "double": Double, "bool": Bool}
_NUMERIC = (Int, Float, Double)

Report = Callable[[str, ast.AST, str, str], None]


class Checker:
    """Finds the types of one function. ``ambient`` has the values of names that the function does not assign."""

    def __init__(
        self,
        node: Any,
        signature: Signature,
        ambient: dict[str, Any],
        functions: dict[str, Signature],
        report: Report,
        resolve: Callable[[ast.expr], Any],
    ) -> None:
        self.node, self.signature, self.ambient, self.functions = node, signature, ambient, functions
        self.report, self.resolve = report, resolve
        self.types: dict[ast.AST, CType] = {}
        self.untyped: list[ast.expr] = []
        self.variables: dict[str, CType] = {}
        self._later: dict[str, CType] = {}  # types of variables that a loop assigns further down
        self._unknown: set[str] = set()  # variables whose first value has no type
        self._errors = 0

    def run(self) -> None:
        report, self.report = self.report, lambda *_: None
        self._pass()
        self._later, self.report = self.variables, report
        self._pass()
        if self.signature.result is not Void and not ends(self.node.body):
            fix = f"end every path with 'return' and {_a(self.signature.result)}"
            self.report("P211", self.node.body[-1], f"'{self.node.name}' does not return on every path", fix)

    def _pass(self) -> None:
        names = (argument.arg for argument in self.node.args.args)
        self.variables = dict(zip(names, self.signature.parameters, strict=False))
        self.types.clear()
        self.untyped.clear()
        self._unknown.clear()
        self._body(self.node.body)

    def refuse_untyped(self) -> None:
        """Reports the expressions without a type."""
        for node in self.untyped:
            shown, fix = f"'{ast.unparse(node)}'", ""
            if isinstance(node, ast.Call):
                name = ast.unparse(node.func)
                shown = f"the result of '{name}'"
                fix = instead_of(name) or "give cp.compile a function with a signature"
            self._error(node, f"{shown} has none of the types bool, int, float and double", fix)

    # ------------------------------------------------------------ statements

    def _body(self, nodes: list[ast.stmt]) -> None:
        for node in nodes:
            self._statement(node)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._assign(target, value)
            case ast.AnnAssign(target=target, value=value) if value is not None:
                self._assign(target, value)
            case ast.AugAssign(target=target, op=op, value=value):
                made = ast.copy_location(ast.BinOp(as_load(target), op, value), node)
                self._store(target, self._type(made), value)
            case ast.For(target=target, iter=ast.Call(args=arguments), body=body, orelse=other):
                for argument in arguments:
                    self._expect(argument, Int, "a bound of range")
                if isinstance(target, ast.Name):
                    self._bind(target.id, Int, target)
                self._body([*body, *other])
            case ast.While(test=test, body=body, orelse=other) | ast.If(test=test, body=body, orelse=other):
                self._expect(test, Bool, "a condition")
                self._body([*body, *other])
            case ast.With(body=body):
                self._body(body)
            case ast.Assert(test=test):
                self._expect(test, Bool, "a condition")
            case ast.Return(value=value):
                self._return(node, None if _is_none(value) else value)
            case ast.Expr(value=ast.Call() as call):
                if self._call(call) is None and not call.args and self.untyped[-1:] == [call]:
                    self.untyped.pop()  # a barrier

    def _return(self, node: ast.stmt, value: ast.expr | None) -> None:
        wanted = self.signature.result
        if value is None and wanted is not Void:
            self._error(node, f"'{self.node.name}' returns {_a(wanted)}, not nothing", "return a value of that type")
        elif value is not None and wanted is Void:
            self._error(node, f"'{self.node.name}' returns void", "leave out the value, and store it to an array")
        elif value is not None:
            self._expect(value, wanted, "the result")

    def type_of_load(self, target: ast.expr) -> CType | None:
        """The type of the target of an assignment."""
        if isinstance(target, ast.Name):
            return self.variables.get(target.id)
        base = (
            self.variables.get(target.value.id)
            if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name)
            else None
        )
        return base.element if isinstance(base, Pointer) else None

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
            for one, part in zip(target.elts, value.elts, strict=False):
                self._assign(one, part)
            return
        parts = self._parts(value) if isinstance(target, ast.Tuple | ast.List) else None
        found = self._type(value) if parts is None else None
        if isinstance(target, ast.Tuple | ast.List):
            for one, kind in zip(target.elts, parts or [None] * len(target.elts), strict=False):
                self._store(one, kind, value)
        else:
            self._store(target, found, value)

    def _parts(self, value: ast.expr) -> list[CType | None] | None:
        """The types of several values: those of a constant tuple or of ``cuda.grid(2)``."""
        known = self._constant(value)
        if isinstance(known, tuple):
            return [type_of(each) for each in known]
        called = self._constant(value.func) if isinstance(value, ast.Call) else None
        if isinstance(value, ast.Call) and isinstance(called, DeviceFunction) and called.lowering == "grid":
            return [Int] * 3
        return None

    def _store(self, target: ast.expr, found: CType | None, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            known = self.variables.get(target.id)
            if known is None:
                if isinstance(found, Type) and found is not Void:
                    self._fits(value, found)
                    self._bind(target.id, found, target)
                elif isinstance(found, Pointer) and isinstance(value, ast.Call):  # shared.array(…)
                    self.variables[target.id] = found
                elif isinstance(found, Pointer):
                    self._error(target, f"{_a(found)} cannot get a second name", "use the one it has")
                else:
                    self._unknown.add(target.id)
            elif isinstance(known, Type):
                self._agree(value, found, known, f"variable '{target.id}'")
            else:
                self._error(
                    target, f"'{target.id}' is {_a(known)} and cannot be assigned again", "assign to its elements"
                )
        elif isinstance(target, ast.Subscript):
            element = self._type(as_load(target))
            if isinstance(element, Type):
                self._agree(value, found, element, f"'{ast.unparse(target)}'")

    def _bind(self, name: str, found: Type, node: ast.AST) -> None:
        known = self.variables.setdefault(name, found)
        if known != found:
            self._error(node, f"variable '{name}' is {_a(known)}, not {_a(found)}", "use another name")

    # ------------------------------------------------------------ agreement

    def _error(self, node: ast.AST, message: str, fix: str = "") -> None:
        self._errors += 1
        self.report("P200", node, message, fix)

    def _adapts(self, node: ast.expr, wanted: CType) -> bool:
        """Whether an expression is a literal that can have this type."""
        inner = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd) else node
        if not isinstance(inner, ast.Constant) or isinstance(inner.value, bool):
            return False
        if isinstance(inner.value, int):
            return wanted in _NUMERIC
        return isinstance(inner.value, float) and wanted in (Float, Double)

    def _fits(self, node: ast.expr, kind: CType | None) -> None:
        """Reports an integer literal that is too large for int."""
        inner = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else node
        if kind != Int or not isinstance(inner, ast.Constant) or type(inner.value) is not int:
            return
        if inner.value >= 2**31 + (inner is not node):
            self._error(node, f"{ast.unparse(node)} is not an int: an int has 32 bits", "write it as a float, 3e9")

    def _agree(self, node: ast.expr, found: CType | None, wanted: CType, what: str) -> None:
        self._fits(node, wanted)
        if found is None or found == wanted or self._adapts(node, wanted):
            return
        fix = f"convert it: {wanted}(…)" if isinstance(wanted, Type) and isinstance(found, Type) else ""
        self._error(node, f"{what} is {_a(wanted)}, this is {_a(found)}", fix)

    def _expect(self, node: ast.expr, wanted: Type, what: str) -> None:
        self._agree(node, self._type(node), wanted, what)

    def _common(self, a: ast.expr, b: ast.expr, what: str, node: ast.AST) -> CType | None:
        left, right = self._type(a), self._type(b)
        if left is None or right is None:
            return None
        if left == right or self._adapts(b, left) or self._adapts(a, right):
            common = left if left == right or self._adapts(b, left) else right
            self._fits(a, common)
            self._fits(b, common)
            return common
        self._error(node, f"{what} has {_a(left)} on the left and {_a(right)} on the right", "convert one of them")
        return None

    # ------------------------------------------------------------ expressions

    def _type(self, node: ast.expr) -> CType | None:
        reported = self._errors + len(self.untyped)
        found = self._find(node)
        if found is Void:
            self._error(node, f"'{ast.unparse(node)}' is void: it has no value", "call it on a line of its own")
            return None
        if found is not None:
            self.types[node] = found
        elif reported == self._errors + len(self.untyped) and ast.unparse(node) not in self._unknown:
            self.untyped.append(node)
        return found

    def _find(self, node: ast.expr) -> CType | None:
        match node:
            case ast.Constant(value=bool()):
                return Bool
            case ast.Constant(value=int()):
                return Int
            case ast.Constant(value=float()):
                return Float
            case ast.Name(id=name):
                return self.variables.get(name) or self._later.get(name) or self._known(node)
            case ast.Attribute(value=base, attr=attribute):
                if self.resolve(base) is None and isinstance(base, ast.Name) and attribute in ("size", "ndim"):
                    return Int if isinstance(self._type(base), Pointer) else None
                return self._known(node)
            case ast.BinOp(left=left, op=op, right=right):
                return self._binary(node, left, op, right)
            case ast.UnaryOp(op=op, operand=operand):
                return self._unary(node, op, operand)
            case ast.BoolOp(values=values):
                for value in values:
                    self._expect(value, Bool, "an operand of 'and' and 'or'")
                return Bool
            case ast.Compare(left=left, comparators=others):
                for a, b in zip([left, *others], others, strict=False):
                    if isinstance(self._common(a, b, "the comparison", node), Pointer):
                        self._error(node, "arrays have no order", "compare their elements")
                return Bool
            case ast.IfExp(test=test, body=body, orelse=other):
                self._expect(test, Bool, "a condition")
                return self._common(body, other, "the choice", node)
            case ast.Subscript(value=base, slice=index):
                return self._element(node, base, index)
            case ast.Call():
                return self._call(node)
        return None

    def _known(self, node: ast.expr) -> CType | None:
        value = self._constant(node)
        if isinstance(value, Coordinates):
            self._error(node, f"'{ast.unparse(node)}' has three parts", f"write {ast.unparse(node)}.x")
        if type(value) is int and value not in _INT:
            self._error(node, f"'{ast.unparse(node)}' is {value}, which is not an int: an int has 32 bits")
        return type_of(value)

    def _constant(self, node: ast.expr) -> Any:
        """The value that a name, an attribute or an element of a tuple has outside of the function; None if none."""
        if isinstance(node, ast.Subscript):
            owner = self._constant(node.value)
            place = self._integer(node.slice) if isinstance(owner, tuple) else None
            return None if place is None or not -len(owner) <= place < len(owner) else owner[place]
        return None if isinstance(node, ast.Name) and node.id in self.variables else self.resolve(node)

    def _integer(self, node: ast.expr) -> int | None:
        """The value of a constant int: a literal, a captured name, or + - * of such; None for other expressions."""
        match node:
            case ast.Constant(value=value):
                return value if type(value) is int else None
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() as op, operand=operand):
                value = self._integer(operand)
                return -value if value is not None and isinstance(op, ast.USub) else value
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _FOLDED:
                a, b = self._integer(left), self._integer(right)
                return None if a is None or b is None else _FOLDED[type(op)](a, b)
            case ast.Name() | ast.Attribute() | ast.Subscript():
                value = self._constant(node)
                return value if type(value) is int else None
        return None

    def _in_range(self, node: ast.expr, *operands: ast.expr) -> None:
        """Reports an operation on constants that fit int if the result does not."""
        value = self._integer(node)
        if value is None or value in _INT:
            return
        if all(known is not None and known in _INT for known in map(self._integer, operands)):
            self._error(node, f"'{ast.unparse(node)}' is {value}, which is not an int: an int has 32 bits")

    def _binary(self, node: ast.expr, left: ast.expr, op: ast.operator, right: ast.expr) -> CType | None:
        symbol = _SYMBOLS[type(op)]
        if not isinstance(op, _ARITHMETIC + _INTEGER):
            self._error(node, f"there is no operator '{symbol}'", "use math.pow" if symbol == "**" else "")
            return None
        common = self._common(left, right, f"'{symbol}'", node)
        allowed = _NUMERIC if isinstance(op, _ARITHMETIC) else (Int,)
        if common is not None and common not in allowed:
            self._error(node, f"'{symbol}' takes {' or '.join(map(str, allowed))}, not {common}")
            return None
        if common == Int and type(op) in _FOLDED:
            self._in_range(node, left, right)
        return common

    def _unary(self, node: ast.expr, op: ast.unaryop, operand: ast.expr) -> CType | None:
        if isinstance(op, ast.Not):
            self._expect(operand, Bool, "the operand of 'not'")
            return Bool
        found = self._type(operand)
        allowed = (Int,) if isinstance(op, ast.Invert) else _NUMERIC
        if found is not None and found not in allowed:
            self._error(node, f"this unary operator takes {' or '.join(map(str, allowed))}, not {found}")
            return None
        if found == Int and isinstance(op, ast.USub):
            self._in_range(node, operand)
        return found

    def _element(self, node: ast.expr, base: ast.expr, index: ast.expr) -> CType | None:
        if isinstance(self._constant(base), tuple):
            return self._known(node)
        if isinstance(base, ast.Attribute) and base.attr == "shape":
            self._expect(index, Int, "a subscript")
            return Int if isinstance(self._type(base.value), Pointer) else None
        found = self._type(base)
        if isinstance(index, ast.Tuple | ast.Slice):
            self._error(index, "an array takes one subscript, an int", "compute it from row and column: X[i * n + j]")
        self._expect(index, Int, "a subscript")
        if isinstance(found, Pointer):
            return found.element
        if found is not None:
            self._error(node, f"{_a(found)} takes no subscript", "subscript an array")
        return None

    def _call(self, node: ast.Call) -> CType | None:
        reported = self._errors + len(self.untyped)
        found = self._result(node)
        if found is None and reported == self._errors + len(self.untyped):
            self.untyped.append(node)
        return found

    def _result(self, node: ast.Call) -> CType | None:
        name, count = ast.unparse(node.func), len(node.args)
        if isinstance(node.func, ast.Name) and name in self.functions:
            return self._helper(node, name)
        called = self._constant(node.func)
        if isinstance(called, DeviceFunction):
            return self._device(node, called)
        if called is builtins.print:
            for argument in node.args:
                if not isinstance(argument, ast.Constant):
                    self._type(argument)
            return Void
        if node.keywords:
            self._error(node, f"'{name}' takes its arguments by position", "leave out the names")
            return None
        if name == "len" and count == 1:
            return self._length(node.args[0])
        cast = _CASTS.get(name) or type_named_by(called)
        if cast is not None and count == 1:
            self._fits(node.args[0], cast)
            found = self._type(node.args[0])
            if isinstance(found, Pointer):
                self._error(node.args[0], f"an array cannot become {_a(cast)}")
            return cast
        if name in ("min", "max") and count > 1:
            return self._extremum(node, name)
        if name == "abs" and count == 1:
            return self._number(node.args[0], self._type(node.args[0]), "'abs'")
        function = self.math_name(node.func)
        return self._math(node, function) if function else None

    def math_name(self, function: ast.expr) -> str:
        """The name of a function of ``math``, CudaPy's or Python's; '' for other functions."""
        name = ast.unparse(function)
        if name.startswith("math."):
            return name[5:]
        value = self._constant(function)
        return str(value.__name__) if getattr(value, "__module__", "") == "math" else ""

    def _length(self, node: ast.expr) -> CType | None:
        if isinstance(self._constant(node), tuple):
            return Int
        found = self._type(node)
        if found is not None and not isinstance(found, Pointer):
            self._error(node, f"only an array has a length, this is {_a(found)}")
        return Int

    def _extremum(self, node: ast.Call, name: str) -> CType | None:
        common: CType | None = None
        for a, b in zip(node.args, node.args[1:], strict=False):
            common = self._common(a, b, f"'{name}'", node)
            if common is None:
                return None
        return self._number(node, common, f"'{name}'")

    def _number(self, node: ast.expr, found: CType | None, what: str) -> CType | None:
        if found is not None and found not in _NUMERIC:
            self._error(node, f"{what} takes {' or '.join(map(str, _NUMERIC))}, not {found}")
            return None
        return found

    def _device(self, node: ast.Call, called: DeviceFunction) -> CType | None:
        """The type of a call of a ``parpy.cuda`` function: an array, an atomic operation or a grid position."""
        given = node.args
        if called.lowering == "array":
            dtype = given[1] if len(given) > 1 else next((k.value for k in node.keywords if k.arg == "dtype"), None)
            element = None if dtype is None else type_named_by(self._constant(dtype))
            return Pointer(element) if element is not None else None
        if called.lowering == "grid" and len(given) == 1:
            return Int
        if called.lowering == "atomic" and len(given) > 2 and not node.keywords:
            found = self._element(node, given[0], given[1])
            for value in given[2:]:
                if found is None:
                    break
                self._agree(value, self._type(value), found, f"this argument of '{ast.unparse(node.func)}'")
            return found
        return None

    def _math(self, node: ast.Call, name: str) -> CType | None:
        count, _ = MATH.get(name, (0, ""))
        single = not count and name.endswith("f") and name[:-1] in MATH
        if single:
            count, _ = MATH[name[:-1]]
        if not count:
            self._error(node, f"Not a math library function: '{name}'")
            return None
        kind = Float if single else Double
        self._counts(node, f"math.{name}", count)
        for argument in node.args:
            found = self._type(argument)
            if found == Float and kind == Double and not self._adapts(argument, Double):
                self._error(argument, f"'math.{name}' takes a double, this is a float", f"write math.{name}f")
            else:
                self._agree(argument, found, kind, f"an argument of 'math.{name}'")
        return kind

    def _counts(self, node: ast.Call, name: str, count: int) -> bool:
        """Whether a call has ``count`` arguments; reports another number."""
        if len(node.args) != count:
            self._error(node, f"'{name}' takes {count} argument{'' if count == 1 else 's'}, not {len(node.args)}")
        return len(node.args) == count

    def _helper(self, node: ast.Call, name: str) -> CType | None:
        wanted = self.functions[name]
        if node.keywords:
            self._error(node, f"'{name}' takes its arguments by position", "leave out the names")
            return wanted.result
        if not self._counts(node, name, len(wanted.parameters)):
            return wanted.result
        for argument, kind in zip(node.args, wanted.parameters, strict=True):
            self._agree(argument, self._type(argument), kind, f"this argument of '{name}'")
        return wanted.result


def _is_none(node: ast.expr | None) -> bool:
    return is_absent(node)


def as_load(node: ast.expr) -> ast.expr:
    """The target of an assignment as an expression that reads it."""
    match node:
        case ast.Name(id=name):
            return ast.copy_location(ast.Name(name, ast.Load()), node)
        case ast.Subscript(value=value, slice=index):
            return ast.copy_location(ast.Subscript(value, index, ast.Load()), node)
    return node


def _a(kind: object) -> str:
    if isinstance(kind, Pointer):
        return f"an array of {kind.element}"
    return f"{'an' if str(kind)[0] in 'aeiou' else 'a'} {kind}"
