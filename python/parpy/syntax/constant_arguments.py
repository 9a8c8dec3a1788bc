"""Arguments that are constants of the program: functions, types of numbers, texts and None. For each of their values
the function is one of its own, in which the parameters are closure variables."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Mapping
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from .. import _native
from ..vocabulary.operators import scalar_name
from .chosen_source import ChosenSource, node_parameters
from .names import Scope, callable_source, jit_source
from .rebuilt import rebuilt
from .source import FunctionSource


def is_constant(value: object) -> bool:
    """Whether an argument is no number and no array, but something that compiled code is made for."""
    if value is None or isinstance(value, str | FunctionType | BuiltinFunctionType | np.ufunc | _native.JitFunction):
        return True
    return scalar_name(value) is not None or jit_source(value) is not None


def takes(source: FunctionSource, value: object) -> bool:
    """Whether a constant parameter of the function is such an argument; those of the library are integers as well."""
    return is_constant(value) or (type(value) is int and _is_of_library(source))


def constant_parameters(source: FunctionSource) -> tuple[str, ...]:
    """The parameters that are called, name a type, are compared with texts or with None, or go to such a parameter of
    another function, and are never assigned: their arguments may be constants."""
    if isinstance(source, ChosenSource) or source.part:
        return ()
    if _is_of_library(source):
        return tuple(name for name in node_parameters(source.tree()) if name == "axis")
    return _constant_parameters(source, set())


def _is_of_library(source: FunctionSource) -> bool:
    return str(source.function.__module__).startswith("parpy.library.")


def _constant_parameters(source: FunctionSource, met: set[FunctionType]) -> tuple[str, ...]:
    node = source.tree()
    met.add(source.function)
    names = [each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    parts = [part for stmt in node.body for part in ast.walk(stmt)]
    stored = {part.id for part in parts if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)}
    found = {name for part in parts for name in _named_constants(part)}
    scope = Scope(source.function)
    for call in (part for part in parts if isinstance(part, ast.Call)):
        if {n.id for n in ast.iter_child_nodes(call) if isinstance(n, ast.Name)}.isdisjoint(
            names
        ) and not call.keywords:
            continue
        found |= {each.id for each in _passed_on(call, scope, met)}
    return tuple(name for name in names if name in found - stored)


def _named_constants(node: ast.AST) -> Iterable[str]:
    """The names that `node` itself uses as constants alone can be."""
    used: list[ast.expr] = []
    if isinstance(node, ast.Call):
        used.append(node.func)
        used += [keyword.value for keyword in node.keywords if keyword.arg == "dtype"]
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("astype", "zeros", "ones", "empty", "dtype"):
            used += node.args[:1] if node.func.attr in ("astype", "dtype") else node.args[1:2]
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        used += [node.left] if _is_constant_node(node.comparators[0]) else []
    return [each.id for each in used if isinstance(each, ast.Name)]


def _is_constant_node(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple | ast.List):
        return bool(node.elts) and all(_is_constant_node(each) for each in node.elts)
    return isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, str))


def _passed_on(call: ast.Call, scope: Scope, met: set[FunctionType]) -> list[ast.Name]:
    """The names that the call hands to parameters of another function that are constants."""
    binding = None
    if isinstance(call.func, ast.Name) and call.func.id not in scope.locals:
        binding = scope.lookup(call.func.id)
    called = None if binding is None else callable_source(binding.value)
    if called is None or called.function in met or called.unparsed:
        return []
    wanted = _constant_parameters(called, met)
    code = called.function.__code__
    positional = code.co_varnames[: code.co_argcount]
    pairs = [*zip(positional, call.args, strict=False), *((k.arg, k.value) for k in call.keywords)]
    return [value for name, value in pairs if name in wanted and isinstance(value, ast.Name)]


def with_constants(source: FunctionSource, constants: Mapping[str, object], others: Iterable[str]) -> FunctionSource:
    """The function for these values of parameters; `others` of its constant parameters are something else here, and
    so neither texts nor None."""
    key = (*((name, identity(constants[name])) for name in sorted(constants)), *sorted(others))
    known = source.chosen.get(key)
    if known is None:
        if len(source.chosen) == _MOST:
            source.chosen.clear()
        known = source.chosen[key] = _with_constants(source, constants, frozenset(others))
    return known


_MOST = 256


def identity(value: object) -> object:
    """What two constants have in common that mean the same, though each call may make a new one."""
    if isinstance(value, FunctionType):
        cells = tuple(map(id, value.__closure__ or ()))
        return value.__code__, id(value.__globals__), cells, tuple(map(id, value.__defaults__ or ()))
    return value if isinstance(value, str) else id(value)


def _with_constants(source: FunctionSource, constants: Mapping[str, object], others: frozenset[str]) -> ChosenSource:
    node = copy.deepcopy(source.tree())
    assert isinstance(node, ast.FunctionDef)
    arguments = node.args
    function = source.function
    defaults = dict(zip(reversed([a.arg for a in (*arguments.posonlyargs, *arguments.args)]),
                        reversed(function.__defaults__ or ()), strict=False))  # fmt: skip
    for each in (arguments.posonlyargs, arguments.args, arguments.kwonlyargs):
        each[:] = [argument for argument in each if argument.arg not in constants]
    arguments.defaults, arguments.kw_defaults = [], [None] * len(arguments.kwonlyargs)
    node.decorator_list = []
    node.body = _block(_Folded(constants, others), node.body) or [ast.copy_location(ast.Pass(), node)]
    made = rebuilt(function, _without_annotations(node), constants)
    positional = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    made.__defaults__ = tuple(defaults[name] for name in positional if name in defaults) or None
    made.__kwdefaults__ = {k: v for k, v in (function.__kwdefaults__ or {}).items() if k not in constants} or None
    made.__annotations__ = {k: v for k, v in function.__annotations__.items() if k not in constants}
    made.__module__ = function.__module__
    return ChosenSource(source, node, made, constants)


def _without_annotations(node: ast.FunctionDef) -> ast.FunctionDef:
    made = copy.deepcopy(node)
    made.returns = None
    for each in (*made.args.posonlyargs, *made.args.args, *made.args.kwonlyargs):
        each.annotation = None
    return made


class _Folded(ast.NodeTransformer):
    """Decides tests of constants, and leaves out what is never run."""

    def __init__(self, constants: Mapping[str, object], others: frozenset[str]) -> None:
        self._constants = {k: v for k, v in constants.items() if v is None or isinstance(v, str)}
        self._others = others | {name for name in constants if name not in self._constants}

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        if len(node.ops) != 1 or not isinstance(node.left, ast.Name) or not _is_constant_node(node.comparators[0]):
            return node
        name, other = node.left.id, ast.literal_eval(node.comparators[0])
        if name in self._others:
            return _truth(isinstance(node.ops[0], ast.IsNot | ast.NotEq | ast.NotIn), node)
        if name not in self._constants:
            return node
        value = self._constants[name]
        match node.ops[0]:
            case ast.Is() | ast.Eq():
                return _truth(value == other, node)
            case ast.IsNot() | ast.NotEq():
                return _truth(value != other, node)
            case ast.In():
                return _truth(value in other, node)
            case ast.NotIn():
                return _truth(value not in other, node)
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        known = _known(node.operand) if isinstance(node.op, ast.Not) else None
        return node if known is None else _truth(not known, node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self.generic_visit(node)
        decisive = isinstance(node.op, ast.Or)
        left: list[ast.expr] = []
        for value in node.values:
            known = _known(value)
            if known is decisive:
                return (
                    _truth(decisive, node) if not left else ast.copy_location(ast.BoolOp(node.op, [*left, value]), node)
                )
            if known is None:
                left.append(value)
        if not left:
            return _truth(not decisive, node)
        if len(left) == 1:
            return left[0]
        return ast.copy_location(ast.BoolOp(node.op, left), node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self.generic_visit(node)
        known = _known(node.test)
        return node if known is None else (node.body if known else node.orelse)

    def visit_If(self, node: ast.If) -> ast.stmt | list[ast.stmt]:
        node.test = self.visit(node.test)
        known = _known(node.test)
        if known is not None:
            return _block(self, node.body if known else node.orelse) or [ast.copy_location(ast.Pass(), node)]
        node.body, node.orelse = _block(self, node.body), _block(self, node.orelse)
        return node


def _block(folded: _Folded, nodes: list[ast.stmt]) -> list[ast.stmt]:
    made: list[ast.stmt] = []
    for node in nodes:
        visited: Any = folded.visit(node)
        made.extend(visited if isinstance(visited, list) else [visited])
    return made


_FOLDED = "parpy_folded"


def _truth(value: bool, node: ast.expr) -> ast.expr:
    made = ast.copy_location(ast.Constant(value), node)
    setattr(made, _FOLDED, True)
    return made


def _known(node: ast.expr) -> bool | None:
    """The truth of a test that was decided here."""
    return bool(node.value) if isinstance(node, ast.Constant) and hasattr(node, _FOLDED) else None
