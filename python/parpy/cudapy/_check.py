"""The static types of CudaPy: every expression has one, every variable exactly one, and nothing converts by itself.

Only literals adapt: an integer to ``float`` and ``double``, a float to ``double``. Found once per function, in
front of its lowering; mistakes are reported where they stand.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from .._device import Coordinates, Register
from ._functions import MATH, GridIndex
from ._types import Bool, CType, Double, Float, Int, Pointer, Signature, Type, Void

_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_INTEGER = (ast.Mod, ast.FloorDiv, ast.LShift, ast.RShift, ast.BitAnd, ast.BitOr, ast.BitXor)
_SYMBOLS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Mod: "%", ast.FloorDiv: "//", ast.LShift: "<<",
    ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.Pow: "**", ast.MatMult: "@",
}  # fmt: skip
_CASTS = {"int": Int, "float": Float, "double": Double, "bool": Bool}
_NUMERIC = (Int, Float, Double)

Report = Callable[[str, ast.AST, str, str], None]


class Checker:
    """Types of one function. ``ambient``: what names that the function does not assign stand for."""

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
        self.variables: dict[str, CType] = dict(
            zip((a.arg for a in node.args.args), signature.parameters, strict=False)
        )

    def run(self) -> None:
        self._body(self.node.body)

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
                load = ast.copy_location(_as_load(target), target)
                made = ast.copy_location(ast.BinOp(load, op, value), node)
                found = self._type(made)
                self._store(target, found, value)
            case ast.For(target=target, iter=ast.Call(args=arguments), body=body):
                for argument in arguments:
                    self._expect(argument, Int, "a bound of range")
                if isinstance(target, ast.Name):
                    self._bind(target.id, Int, target)
                self._body(body)
            case ast.While(test=test, body=body):
                self._expect(test, Bool, "a condition")
                self._body(body)
            case ast.If(test=test, body=body, orelse=other):
                self._expect(test, Bool, "a condition")
                self._body(body)
                self._body(other)
            case ast.Return(value=value):
                if value is None or self.signature.result is Void:
                    if (value is None) != (self.signature.result is Void):
                        shown = self.signature.result
                        self._error(node, f"'{self.node.name}' returns {shown}", "return a value of that type")
                else:
                    self._expect(value, self.signature.result, "the result")
            case ast.Expr(value=ast.Call() as call):
                self._type(call)

    def type_of_load(self, target: ast.expr) -> CType | None:
        """The type of what an assignment stores to."""
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
        self._store(target, self._type(value), value)

    def _store(self, target: ast.expr, found: CType | None, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            known = self.variables.get(target.id)
            if known is None:
                if isinstance(found, Type) and found is not Void:
                    self._fits(value, found)
                    self._bind(target.id, found, target)
                elif isinstance(found, Pointer):
                    self._error(target, f"{_a(found)} gets a second name", "use the one it has")
            elif isinstance(known, Type):
                self._agree(value, found, known, f"variable '{target.id}'")
            else:
                self._error(target, f"'{target.id}' is {_a(known)} and stays that one", "assign to its elements")
        elif isinstance(target, ast.Subscript):
            element = self._type(_as_load(target))
            if isinstance(element, Type):
                self._agree(value, found, element, f"'{ast.unparse(target)}'")

    def _bind(self, name: str, found: Type, node: ast.AST) -> None:
        known = self.variables.setdefault(name, found)
        if known != found:
            self._error(node, f"variable '{name}' is {_a(known)}, not {_a(found)}", "use another name")

    # ------------------------------------------------------------ agreement

    def _error(self, node: ast.AST, message: str, fix: str = "") -> None:
        self.report("P200", node, message, fix)

    def _adapts(self, node: ast.expr, wanted: CType) -> bool:
        """Whether a literal can be of this type."""
        inner = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd) else node
        if not isinstance(inner, ast.Constant) or isinstance(inner.value, bool):
            return False
        if isinstance(inner.value, int):
            return wanted in _NUMERIC
        return isinstance(inner.value, float) and wanted in (Float, Double)

    def _fits(self, node: ast.expr, kind: CType | None) -> None:
        """Reports an integer literal that is to be an int and is too large."""
        inner = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else node
        if kind != Int or not isinstance(inner, ast.Constant) or type(inner.value) is not int:
            return
        if inner.value >= 2**31 + (inner is not node):
            self._error(node, f"{ast.unparse(node)} is no int: these have 32 bits", "write it as a float, 3e9")

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
        found = self._find(node)
        if found is not None:
            self.types[node] = found
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
                return self.variables.get(name) or self._known(node)
            case ast.Attribute():
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
                    self._common(a, b, "the comparison", node)
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
        value = self.resolve(node)
        if isinstance(value, Register | GridIndex) or (isinstance(value, int) and not isinstance(value, bool)):
            return Int
        if isinstance(value, bool):
            return Bool
        if isinstance(value, float):
            return Float
        if isinstance(value, Coordinates):
            self._error(node, f"'{ast.unparse(node)}' has three parts", f"write {ast.unparse(node)}.x")
        return None

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
        return common

    def _unary(self, node: ast.expr, op: ast.unaryop, operand: ast.expr) -> CType | None:
        if isinstance(op, ast.Not):
            self._expect(operand, Bool, "the operand of 'not'")
            return Bool
        found = self._type(operand)
        allowed = (Int,) if isinstance(op, ast.Invert) else _NUMERIC
        if found is not None and found not in allowed:
            self._error(node, f"this sign takes {' or '.join(map(str, allowed))}, not {found}")
            return None
        return found

    def _element(self, node: ast.expr, base: ast.expr, index: ast.expr) -> CType | None:
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
        name = ast.unparse(node.func)
        if isinstance(node.func, ast.Name) and name in self.functions:
            return self._helper(node, name)
        if name == "len" and len(node.args) == 1:
            found = self._type(node.args[0])
            if found is not None and not isinstance(found, Pointer):
                self._error(node.args[0], f"only an array has a length, this is {_a(found)}")
            return Int
        if name in _CASTS and len(node.args) == 1:
            self._fits(node.args[0], _CASTS[name])
            found = self._type(node.args[0])
            if isinstance(found, Pointer):
                self._error(node.args[0], f"an array cannot become {_a(_CASTS[name])}")
            return _CASTS[name]
        if name in ("min", "max") and len(node.args) == 2:
            return self._common(node.args[0], node.args[1], f"'{name}'", node)
        if name == "abs" and len(node.args) == 1:
            return self._type(node.args[0])
        if name.startswith("math."):
            return self._math(node, name[5:])
        for argument in node.args:
            self._type(argument)
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
        if len(node.args) != count:
            self._error(node, f"'math.{name}' takes {count} arguments, not {len(node.args)}")
        for argument in node.args:
            found = self._type(argument)
            if found == Float and kind == Double and not self._adapts(argument, Double):
                self._error(argument, f"'math.{name}' takes a double, this is a float", f"write math.{name}f")
            else:
                self._agree(argument, found, kind, f"an argument of 'math.{name}'")
        return kind

    def _helper(self, node: ast.Call, name: str) -> CType | None:
        wanted = self.functions[name]
        if len(node.args) != len(wanted.parameters) or node.keywords:
            self._error(node, f"'{name}' takes {len(wanted.parameters)} arguments, not {len(node.args)}")
            return wanted.result
        for argument, kind in zip(node.args, wanted.parameters, strict=True):
            self._agree(argument, self._type(argument), kind, f"this argument of '{name}'")
        return wanted.result


def _as_load(node: ast.expr) -> ast.expr:
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
