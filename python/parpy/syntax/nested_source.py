"""Nested functions with their texts, and the nodes of functions without those of nested functions."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from types import FunctionType

from .names import AROUND, cell_of, keep_source
from .rebuilt import rebuilt
from .source import FunctionSource
from .walks import copy_of, walk, walk_own

_BOUND = (ast.Nonlocal, ast.Global, ast.Yield, ast.YieldFrom, ast.Await, ast.ClassDef)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class NestedSource(FunctionSource):
    """A function that is defined in the text of another function."""

    def __init__(self, whole: FunctionSource, node: ast.FunctionDef, function: FunctionType) -> None:
        super().__init__(function, whole.name, whole.text, whole.first_line, node)
        self.defaults, self._plain, self._pragmas = whole.defaults, node, whole.pragmas


def nested_source(
    whole: FunctionSource, around: Iterable[str], node: ast.FunctionDef | ast.Lambda, name: str
) -> FunctionSource:
    """The function that `node` in the text of `whole` defines; a lambda gets this name. The variables `around` it
    become closure variables with the value AROUND. Its defaults are left out."""
    if isinstance(node, ast.Lambda):
        body: list[ast.stmt] = [ast.copy_location(ast.Return(node.body), node)]
        made = ast.copy_location(ast.FunctionDef(name, node.args, body, []), node)
    else:
        made = node
    plain = copy.copy(made)
    plain.args = copy_of(made.args)
    plain.args.defaults, plain.returns = [], None
    for each in (*plain.args.posonlyargs, *plain.args.args):
        each.annotation = None
    known = whole.function.__code__.co_freevars
    function = rebuilt(whole.function, plain, dict.fromkeys((each for each in around if each not in known), AROUND))
    function.__module__ = whole.function.__module__
    source = NestedSource(whole, plain, function)
    keep_source(function, source)
    return source


def link(functions: Mapping[str, FunctionType]) -> None:
    """Sets the closure variables by which the nested functions of one function refer to each other."""
    for function in functions.values():
        for name in function.__code__.co_freevars:
            if name in functions:
                cell_of(function, name).cell_contents = functions[name]


def names_given(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Counter[str]:
    """The number of assignments and definitions of each name by the function's parameters and statements."""
    given = Counter(each.arg for each in walk(node.args) if isinstance(each, ast.arg))
    for part in own_nodes(node):
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            given[part.id] += 1
        elif isinstance(part, ast.FunctionDef | ast.ClassDef):
            given[part.name] += 1
    return given


def definitions(
    node: ast.FunctionDef | ast.AsyncFunctionDef, nodes: Iterable[ast.AST]
) -> Iterator[tuple[str, ast.stmt, ast.FunctionDef | ast.Lambda]]:
    """The statements among `nodes` that define functions and lambdas whose names have no other assignment."""
    given: Counter[str] = Counter()
    for each in nodes:
        target = each.targets[0] if isinstance(each, ast.Assign) and len(each.targets) == 1 else None
        if isinstance(each, ast.FunctionDef):
            name = each.name
            defined: ast.FunctionDef | ast.Lambda = each
        elif isinstance(each, ast.Assign) and isinstance(each.value, ast.Lambda) and isinstance(target, ast.Name):
            name, defined = target.id, each.value
        else:
            continue
        given = given or names_given(node)
        if given[name] == 1 and is_plain(defined):
            yield name, each, defined


def is_plain(node: ast.FunctionDef | ast.Lambda) -> bool:
    """Whether a nested function can be compiled."""
    arguments = node.args
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
    others = (arguments.posonlyargs, arguments.kwonlyargs, arguments.vararg, arguments.kwarg, decorators)
    return not any(others) and not any(isinstance(part, _BOUND) for part in walk_inside(node))


def walk_inside(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Iterator[ast.AST]:
    """The nodes in a function's body, including those of nested functions."""
    for each in function.body if isinstance(function.body, list) else [function.body]:
        yield from walk(each)


def own_nodes(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Iterator[ast.AST]:
    """The nodes in a function's body, without the bodies of nested functions."""
    for each in function.body if isinstance(function.body, list) else [function.body]:
        yield from walk_own(each)


def free_names(node: ast.AST) -> frozenset[str]:
    """The names of outer variables that a nested function reads or assigns to."""
    assert isinstance(node, _FUNCTIONS)
    own = {each.arg for each in walk(node.args) if isinstance(each, ast.arg)}
    read: set[str] = set()
    around: set[str] = set()
    for part in own_nodes(node):
        if isinstance(part, _FUNCTIONS):
            read |= free_names(part)
        if isinstance(part, ast.FunctionDef):
            own.add(part.name)
        elif isinstance(part, ast.Nonlocal):
            around.update(part.names)
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            read.add(part.id)
        elif isinstance(part, ast.Name):
            own.add(part.id)
    return frozenset((read - own) | around)
