"""Lowers CudaPy kernels: the language of kernels with the types of C.

The types found by Checker determine the code: `/` and `%` of ints truncate, variables have the type of their first
value, and names such as `idx` denote the values that CudaPy defines, not globals.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

from .. import _native
from ..frontend.calls.calls import lower_call
from ..frontend.kernels.indices import place
from ..frontend.languages import EXPRESSIONS, KERNELS, STATEMENTS
from ..frontend.lowering import lower
from ..frontend.program import Program
from ..frontend.scope import FunctionScope
from ..frontend.statements.assignments import assign
from ..frontend.statements.returns import lower_return
from ..syntax.names import NO_PLACE, Binding, Scope
from ..syntax.source import FunctionSource
from ._check import Checker, as_load
from ._types import Bool, Int, Signature, Type, Void
from ._values import CONSTANTS, MATH, GridIndex

_CASTS = {"int": "i32", "float": "f32", "double": "f64"}


class TypedProgram(Program):
    """The functions that are compiled together and their signatures, by name."""

    def __init__(
        self, sources: dict[str, FunctionSource], signatures: dict[str, Signature], whole: bool = False
    ) -> None:
        super().__init__(CUDAPY)
        self.sources_by_name, self.signatures = sources, signatures
        self.whole = whole  # also compile functions without callers, to check them
        self.of_cuda: dict[str, _native.Function] = {}  # CUDA's mathematical functions, by name
        self.ambient: dict[str, Any] = {**CONSTANTS, **sources}
        self.checkers: dict[FunctionScope, Checker] = {}


class _AmbientScope(Scope):
    """A scope in which CudaPy's own names hide globals of the same name."""

    ambient: dict[str, Any]

    def lookup(self, name: str) -> Binding | None:
        if name in self.ambient and name not in self.locals:
            return Binding(self.ambient[name], NO_PLACE, name)
        return super().lookup(name)


def _names(program: Program, source: FunctionSource) -> Scope:
    scope = _AmbientScope(source.function)
    assert isinstance(program, TypedProgram)
    scope.ambient = program.ambient
    return scope


def _typed(fn: FunctionScope) -> TypedProgram:
    assert isinstance(fn.program, TypedProgram)
    return fn.program


def _checker(fn: FunctionScope) -> Checker:
    return _typed(fn).checkers[fn]


def _signature(fn: FunctionScope) -> Signature:
    return _typed(fn).signatures[fn.source.function.__name__]


def _check(fn: FunctionScope) -> None:
    """Finds the types of the function."""

    def resolved(node: ast.expr) -> Any:
        binding = fn.resolve(node)
        return None if binding is None else binding.value

    program = _typed(fn)
    checker = Checker(fn.node, _signature(fn), program.ambient, program.signatures, fn.error, resolved)
    program.checkers[fn] = checker
    checker.run()


def _finish(fn: FunctionScope) -> None:
    """Reports untyped expressions if there is no other error; for the entry, also lowers functions without callers."""
    program = _typed(fn)
    if not program.diagnostics.has_errors:
        _checker(fn).refuse_untyped()
    for source in program.sources_by_name.values() if fn.entry and program.whole else ():
        if source is not fn.source:
            fn.helper(source)


def _as(fn: FunctionScope, kind: object, value: _native.Expr, node: ast.AST) -> _native.Expr:
    """`value`, converted to a C type."""
    if not isinstance(kind, Type) or kind is Void:
        return value
    if kind is Bool:
        return fn.module.op("truth", [value], fn.span(node))
    return fn.module.convert(value, kind.scalar, fn.span(node))


# ------------------------------------------------------------ expressions


def _value(fn: FunctionScope, value: object, node: ast.expr) -> _native.Expr | None:
    """`idx` as a Python int; it is never negative and is converted where an int is needed."""
    return place(fn, "thread", value.axis, node) if isinstance(value, GridIndex) else None


def _operator(fn: FunctionScope, node: ast.BinOp, left: _native.Expr, right: _native.Expr) -> _native.Expr | None:
    """Lowers `/` and `%` of ints, which truncate; None for other operators."""
    if _checker(fn).types.get(node) is not Int or not isinstance(node.op, ast.Div | ast.Mod):
        return None
    span = fn.span(node)
    rest = fn.module.op("fmod", [left, right], span)
    if isinstance(node.op, ast.Mod):
        return rest
    whole = fn.module.op("-", [lower(fn, node.left), rest], span)
    return fn.module.op("//", [whole, lower(fn, node.right)], span)


def _lower_call(fn: FunctionScope, node: ast.Call) -> _native.Expr:
    """Lowers casts, calls of CUDA's mathematical functions, and calls of functions that are compiled together."""
    name = ast.unparse(node.func)
    span = fn.span(node)
    if name in _CASTS and len(node.args) == 1:
        return fn.module.convert(lower(fn, node.args[0]), _CASTS[name], span)
    function = _checker(fn).math_name(node.func)
    if function and (found := MATH.get(function) or MATH.get(function[:-1])):
        if len(node.args) != found[0]:
            return fn.poison(node)
        kind = _checker(fn).types.get(node)
        operands = [_as(fn, kind, lower(fn, argument), argument) for argument in node.args]
        if not found[1] and isinstance(kind, Type):
            return fn.module.call(_cuda_function(fn, function, found[0], kind, node), operands, span)
        return fn.module.op(found[1], operands, span)
    binding = fn.resolve(node.func)
    if binding is not None and isinstance(binding.value, FunctionSource):
        return _helper_call(fn, node, binding.value)
    return lower_call(fn, node)


def _cuda_function(fn: FunctionScope, name: str, count: int, kind: Type, node: ast.AST) -> _native.Function:
    of_cuda = _typed(fn).of_cuda
    if name not in of_cuda:
        of_cuda[name] = fn.module.foreign(name, [kind.scalar] * count, kind.scalar, "c", fn.span(node))
    return of_cuda[name]


def _helper_call(fn: FunctionScope, node: ast.Call, source: FunctionSource) -> _native.Expr:
    callee = fn.helper(source)
    parameters = _signature(callee).parameters
    if len(node.args) != len(parameters):
        return fn.poison(node)
    operands = [
        _as(fn, kind, lower(fn, argument), argument) for argument, kind in zip(node.args, parameters, strict=False)
    ]
    call = fn.module.call(callee.function, operands, fn.span(node))
    fn.calls.append((call, callee, fn.span(node)))
    return call


# ------------------------------------------------------------ statements


def _assigned(fn: FunctionScope, target: ast.Name, value: _native.Expr, node: ast.stmt) -> _native.Expr:
    """The value of an assignment, converted to the type of the variable's first value."""
    return _as(fn, _checker(fn).variables.get(target.id), value, node)


def _lower_augmented(fn: FunctionScope, node: ast.AugAssign) -> None:
    """Lowers `target = target op value`, whose types the checker knows; subscripts have no side effects."""
    value = ast.copy_location(ast.BinOp(as_load(node.target), node.op, node.value), node)
    found = _checker(fn).type_of_load(node.target)
    if found is not None:
        _checker(fn).types[value] = found
    assign(fn, node.target, value, node)


def _lower_return(fn: FunctionScope, node: ast.Return) -> None:
    result = _signature(fn).result
    if node.value is None or result is Void:
        lower_return(fn, node)
        return
    value = _as(fn, result, lower(fn, node.value), node)
    fn.out.append(fn.module.return_(value, fn.span(node)))


CUDAPY = replace(
    KERNELS,
    name="CudaPy",
    expressions={**EXPRESSIONS, ast.Call: _lower_call},
    statements={**STATEMENTS, ast.AugAssign: _lower_augmented, ast.Return: _lower_return},
    records=False,
    exact_integers=False,
    functions=(FunctionSource,),
    names=_names,
    before=_check,
    behind=_finish,
    value=_value,
    operator=_operator,
    assigned=_assigned,
)
