"""Functions defined in functions: they become functions of their own, to which calls pass the variables around them.

    def f(x, k):                        def g(k, v):
        def g(v):                           return v * k
            return v * k      as        def f(x, k):
        x[0] = g(x[1])                      x[0] = g(k, x[1])

A variable has the value that it has at the call, as Python's. What is used otherwise than by calling it, or assigns
variables of the function around it, stays where it is, and is refused there.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from types import CodeType, FunctionType
from typing import Any

from ..calls.errors import CompileError
from .chosen_source import ChosenSource, node_parameters
from .names import keep_source, prepare_sources_by
from .rebuilt import rebuilt
from .source import FunctionSource

_KEY = ("nested functions",)


def without_nested_functions(source: FunctionSource) -> FunctionSource:
    """The same function; its nested functions are closure variables."""
    if isinstance(source, ChosenSource) or source.part or source.alternatives or source.unparsed:
        return source
    if not any(isinstance(each, CodeType) for each in source.function.__code__.co_consts):
        return source
    known = source.chosen.get(_KEY)
    if known is None:
        known = source
        with suppress(CompileError):  # which is raised where the function is compiled
            known = _lifted(source)
        source.chosen[_KEY] = known
    return known


def _lifted(source: FunctionSource) -> FunctionSource:
    tree = source.tree()
    nested = _nested(tree) if isinstance(tree, ast.FunctionDef) else {}
    free = _free_variables(tree, nested)
    if not free:
        return source
    lifted = {name: nested[name] for name in free}
    calls = _Calls(free)
    functions: dict[str, FunctionType] = {}
    for name, node in lifted.items():
        made = copy.deepcopy(node)
        defaults = tuple(ast.literal_eval(each) for each in made.args.defaults)
        made.args.defaults = []
        made.args.args[:0] = [ast.copy_location(ast.arg(each), node) for each in free[name]]
        made.body = [calls.visit(each) for each in made.body]
        functions[name] = function = rebuilt(source.function, made, dict.fromkeys(lifted))
        function.__defaults__ = defaults or None
        function.__module__ = source.function.__module__
        own = ChosenSource(source, made, function, {})
        own.declared, own.arrays, own.shown = {}, {}, ""
        keep_source(function, own)
    for function in functions.values():
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            if name in functions:
                cell.cell_contents = functions[name]
    whole = copy.deepcopy(tree)
    assert isinstance(whole, ast.FunctionDef)
    whole.decorator_list = []
    whole.body = [calls.visit(each) for each in whole.body if _name_of(each) not in lifted]
    whole.body = whole.body or [ast.copy_location(ast.Pass(), tree)]
    plain = copy.deepcopy(whole)
    plain.returns, plain.args.defaults = None, []
    plain.args.kw_defaults = [None] * len(plain.args.kwonlyargs)
    for each in (*plain.args.posonlyargs, *plain.args.args, *plain.args.kwonlyargs):
        each.annotation = None
    made_whole = rebuilt(source.function, plain, functions)
    for attribute in ("__defaults__", "__kwdefaults__", "__annotations__", "__module__", "__doc__"):
        setattr(made_whole, attribute, getattr(source.function, attribute))
    return ChosenSource(source, whole, made_whole, functions)


def _name_of(statement: ast.stmt) -> str:
    """The name that a statement gives a function; "" for other statements."""
    if isinstance(statement, ast.FunctionDef):
        return statement.name
    if (
        isinstance(statement, ast.Assign)
        and isinstance(statement.value, ast.Lambda)
        and len(statement.targets) == 1
        and isinstance(statement.targets[0], ast.Name)
    ):
        return statement.targets[0].id
    return ""


def _nested(tree: ast.FunctionDef) -> dict[str, ast.FunctionDef]:
    """The functions in the body of the function, those that are called and nothing else."""
    found: dict[str, ast.FunctionDef] = {}
    for statement in tree.body:
        node = statement
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Lambda) and _name_of(statement):
            value = statement.value
            body: list[ast.stmt] = [ast.copy_location(ast.Return(value.body), value)]
            node = ast.copy_location(ast.FunctionDef(_name_of(statement), value.args, body, [], None), statement)
        if isinstance(node, ast.FunctionDef) and _is_plain(node):
            found[node.name] = node
    every = list(ast.walk(tree))
    called = Counter(part.func.id for part in every if isinstance(part, ast.Call) and isinstance(part.func, ast.Name))
    named = Counter(part.id for part in every if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load))
    given = Counter(_names_given(every))
    given.update(node_parameters(tree))
    return {name: node for name, node in found.items() if named[name] == called[name] and given[name] == 1}


def _is_plain(node: ast.FunctionDef) -> bool:
    arguments = node.args
    others = (arguments.posonlyargs, arguments.kwonlyargs, arguments.vararg, arguments.kwarg, node.decorator_list)
    bound = (ast.Nonlocal, ast.Global, ast.Yield, ast.YieldFrom, ast.Await, ast.FunctionDef, ast.Lambda, ast.ClassDef)
    if any(others) or any(isinstance(part, bound) for each in node.body for part in ast.walk(each)):
        return False
    with suppress(ValueError):
        for each in arguments.defaults:
            ast.literal_eval(each)
        return True
    return False


def _names_given(nodes: list[ast.AST]) -> Iterator[str]:
    """Names that statements give values or functions to, once for each time."""
    for part in nodes:
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            yield part.id
        elif isinstance(part, ast.FunctionDef | ast.ClassDef):
            yield part.name
        elif isinstance(part, ast.arg):
            yield part.arg


def _free_variables(tree: Any, nested: dict[str, ast.FunctionDef]) -> dict[str, list[str]]:
    """By function, the variables of `tree` that it and the functions that it calls read, in a fixed order."""
    around = {*node_parameters(tree), *_names_given(_outside(tree, nested))} - nested.keys()
    own = {
        name: {*node_parameters(node), *_names_given([p for each in node.body for p in ast.walk(each)])}
        for name, node in nested.items()
    }
    reads = {
        name: {part.id for each in node.body for part in ast.walk(each) if isinstance(part, ast.Name)}
        for name, node in nested.items()
    }
    free = {name: (reads[name] & around) - own[name] for name in nested}
    for _ in nested:
        for name in nested:
            for called in reads[name] & free.keys():
                free[name] |= free[called]
    hidden = {name for name in free if free[name] & own[name]}  # what it would pass on has another meaning there
    return {name: sorted(variables) for name, variables in free.items() if name not in hidden} if not hidden else {}


def _outside(tree: ast.FunctionDef, nested: dict[str, ast.FunctionDef]) -> list[ast.AST]:
    """The nodes of the function but for those of its nested functions."""
    return [part for each in tree.body if _name_of(each) not in nested for part in ast.walk(each)]


class _Calls(ast.NodeTransformer):
    """Passes the variables around to nested functions."""

    def __init__(self, free: dict[str, list[str]]) -> None:
        self._free = free

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in self._free:
            node.args[:0] = [ast.copy_location(ast.Name(each, ast.Load()), node) for each in self._free[node.func.id]]
        return node


prepare_sources_by(without_nested_functions)
