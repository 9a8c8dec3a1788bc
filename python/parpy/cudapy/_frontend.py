"""Lowers CudaPy kernels: the frontend of ParPy with C's types.

What Checker found decides: `/` and `%` of ints truncate, variables have the type of their first value, and
names such as `idx` stand for what CudaPy defines, not for globals.
"""

from __future__ import annotations

import ast
from typing import Any

from .. import _native
from ..frontend.parse import FunctionFrontend
from ..frontend.scope import Program
from ..syntax.names import NO_PLACE, Binding, Scope
from ..syntax.source import FunctionSource
from ..vocabulary.device import Register
from ._check import Checker
from ._functions import CONSTANTS, MATH, GridIndex
from ._types import Bool, Int, Signature, Type, Void

_CASTS = {"int": "i32", "float": "f32", "double": "f64"}


class TypedProgram(Program):
    """The functions that are compiled together, by name, with their signatures."""

    def __init__(
        self, sources: dict[str, FunctionSource], signatures: dict[str, Signature], whole: bool = False
    ) -> None:
        super().__init__(kernel=True)
        self.sources_by_name, self.signatures = sources, signatures
        self.whole = whole  # those that nobody calls as well, to check them
        self.of_cuda: dict[str, _native.Function] = {}  # functions of CUDA's mathematics, by name
        self.ambient: dict[str, Any] = {**CONSTANTS, **sources}


class _AmbientScope(Scope):
    """CudaPy's own names hide globals of the same name."""

    ambient: dict[str, Any]

    def lookup(self, name: str) -> Binding | None:
        if name in self.ambient and name not in self.locals:
            return Binding(self.ambient[name], NO_PLACE, name)
        return super().lookup(name)


class TypedFrontend(FunctionFrontend):
    """One function of a CudaPy program."""

    has_views = False

    def __init__(self, program: Program, source: FunctionSource, entry: bool) -> None:
        super().__init__(program, source, entry)
        assert isinstance(program, TypedProgram)
        self._of_cuda = program.of_cuda
        scope = _AmbientScope(source.function)
        scope.ambient, scope.guards = program.ambient, program.guards
        self.scope = scope
        self.signature = program.signatures[source.function.__name__]
        self.checker = Checker(
            self.node, self.signature, program.ambient, program.signatures, self._report, self._resolved
        )

    def build(self) -> None:
        program = self.program
        assert isinstance(program, TypedProgram)
        self.checker.run()
        super().build()
        if not program.diagnostics.has_errors:
            self.checker.refuse_untyped()
        for source in program.sources_by_name.values() if self.entry and program.whole else ():
            if source is not self.source:
                self.helper(source)

    def _report(self, code: str, node: ast.AST, message: str, fix: str) -> None:
        self.error(code, node, message, fix)

    def _resolved(self, node: ast.expr) -> Any:
        binding = self.resolve(node)
        return None if binding is None else binding.value

    def is_function(self, found: object) -> bool:
        return isinstance(found, FunctionSource) or super().is_function(found)

    def _as(self, kind: object, value: _native.Expr, node: ast.AST) -> _native.Expr:
        """`value` as a C type."""
        if not isinstance(kind, Type) or kind is Void:
            return value
        if kind is Bool:
            return self.module.op("truth", [value], self.span(node))
        return self.module.convert(value, kind.scalar, self.span(node))

    # ------------------------------------------------------------ expressions

    def register(self, value: Any, node: ast.expr) -> _native.Expr:
        """As a Python int, which is never negative and becomes an int where one is asked for."""
        return (
            self._place("thread", value.axis, node) if isinstance(value, GridIndex) else super().register(value, node)
        )

    def value_of(self, binding: Binding, shown: str, node: ast.expr) -> _native.Expr:
        if isinstance(binding.value, GridIndex | Register):
            return self.register(binding.value, node)
        return super().value_of(binding, shown, node)

    def whole(self, node: ast.expr) -> int | float | None:
        """Arithmetic of constants is C's: only a sign in front of one makes another."""
        return None if isinstance(node, ast.BinOp) else super().whole(node)

    def binary(self, op: ast.operator, left: _native.Expr, right: _native.Expr, node: ast.expr) -> _native.Expr:
        if self.checker.types.get(node) is Int and isinstance(op, ast.Div | ast.Mod):
            assert isinstance(node, ast.BinOp)
            span = self.span(node)
            rest = self.module.op("fmod", [left, right], span)
            if isinstance(op, ast.Mod):
                return rest
            whole = self.module.op("-", [self.lower(node.left), rest], span)
            return self.module.op("//", [whole, self.lower(node.right)], span)
        return super().binary(op, left, right, node)

    def call(self, node: ast.Call) -> _native.Expr:
        name = ast.unparse(node.func)
        span = self.span(node)
        if name in _CASTS and len(node.args) == 1:
            return self.module.convert(self.lower(node.args[0]), _CASTS[name], span)
        function = self.checker.math_name(node.func)
        if function and (found := MATH.get(function) or MATH.get(function[:-1])):
            if len(node.args) != found[0]:
                return self.poison(node)
            kind = self.checker.types.get(node)
            operands = [self._as(kind, self.lower(argument), argument) for argument in node.args]
            if not found[1] and isinstance(kind, Type):
                return self.module.call(self._cuda_function(function, found[0], kind, node), operands, span)
            return self.module.op(found[1], operands, span)
        binding = self.resolve(node.func)
        if binding is not None and isinstance(binding.value, FunctionSource):
            return self._helper_call(node, binding.value)
        return super().call(node)

    def _cuda_function(self, name: str, count: int, kind: Type, node: ast.AST) -> _native.Function:
        made = self._of_cuda.get(name)
        if made is None:
            made = self.module.foreign(name, [kind.scalar] * count, kind.scalar, "c", self.span(node))
            self._of_cuda[name] = made
        return made

    def _helper_call(self, node: ast.Call, source: FunctionSource) -> _native.Expr:
        callee = self.helper(source)
        assert isinstance(callee, TypedFrontend)
        if len(node.args) != len(callee.signature.parameters):
            return self.poison(node)
        operands = [
            self._as(kind, self.lower(argument), argument)
            for argument, kind in zip(node.args, callee.signature.parameters, strict=False)
        ]
        call = self.module.call(callee.function, operands, self.span(node))
        self.calls.append((call, callee, self.span(node)))
        return call

    # ------------------------------------------------------------ statements

    def statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.AugAssign):
            self._update(node)
        elif isinstance(node, ast.Return):
            self._result(node)
        else:
            super().statement(node)

    def assign_value(self, target: ast.expr, value: _native.Expr, node: ast.stmt, update: str | None = None) -> None:
        if isinstance(target, ast.Name) and update is None:
            value = self._as(self.checker.variables.get(target.id), value, node)
        super().assign_value(target, value, node, update)

    def _update(self, node: ast.AugAssign) -> None:
        """As `target = target op value`, whose types the checker knows; subscripts have no effects."""
        load: ast.expr = ast.copy_location(
            ast.Name(node.target.id, ast.Load())
            if isinstance(node.target, ast.Name)
            else ast.Subscript(node.target.value, node.target.slice, ast.Load()),  # type: ignore[union-attr]
            node.target,
        )
        value = ast.copy_location(ast.BinOp(load, node.op, node.value), node)
        found = self.checker.type_of_load(node.target)
        if found is not None:
            self.checker.types[value] = found
        self.assign(node.target, value, node)

    def _result(self, node: ast.Return) -> None:
        if node.value is None or self.signature.result is Void:
            super().statement(node)
            return
        value = self._as(self.signature.result, self.lower(node.value), node)
        self.out.append(self.module.return_(value, self.span(node)))
