"""Numba's versions of a kernel: its text for Numba, that of NumPy, and its loops, serial and with `prange`."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import numba

from . import texts
from .kernel import CORES, Kernel


class _Rewrite(ast.NodeTransformer):
    """Removes ParPy's statements; the outermost loops with a label of `parallel` become prange."""

    def __init__(self, parallel: set[str]) -> None:
        self.parallel, self.inside = parallel, False

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        result, label = [], ""
        for statement in statements:
            match statement:
                case ast.Expr(ast.Call(ast.Attribute(attr="label"), [ast.Constant(str(label))])):
                    continue
                case ast.With(body=body):
                    result += self.block(body)
                case ast.For(iter=ast.Call(ast.Name("range"))):
                    chosen = label in self.parallel and not self.inside
                    if chosen:
                        statement.iter.func = ast.Name("prange", ast.Load())
                    self.inside |= chosen
                    statement.body = self.block(statement.body)
                    self.inside &= not chosen
                    result.append(statement)
                case ast.If():
                    statement.body, statement.orelse = self.block(statement.body), self.block(statement.orelse)
                    result.append(statement)
                case _:
                    result.append(statement)
            label = ""
        return result


def loops(kernel: Kernel, parallel: bool) -> Callable[..., None]:
    function = kernel.on("cpu").__wrapped__  # type: ignore[attr-defined]
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    definition = tree.body[0]
    assert isinstance(definition, ast.FunctionDef)
    definition.decorator_list = []
    spread = {label for label, loop in (kernel.cpu or {}).items() if loop is CORES} if parallel else set()
    definition.body = _Rewrite(spread).block(definition.body)
    space: dict[str, Any] = {**function.__globals__, "prange": numba.prange}
    exec(compile(ast.fix_missing_locations(tree), function.__name__, "exec"), space)
    return numba.njit(parallel=parallel, error_model="numpy")(space[function.__name__])


def versions(kernel: Kernel) -> Iterator[tuple[str, Callable[..., Any], Callable[..., Any]]]:
    """(name, function, the function with its parameters). Some do not compile, some give wrong results."""
    yield "text", texts.under_numba(kernel.name), texts.numba_style(kernel.name)
    if kernel.function is not texts.numba_style(kernel.name):
        if kernel.by_hand:
            yield "prange", loops(kernel, True), kernel.on("cpu")
        yield "serial", loops(kernel, False), kernel.on("cpu")
    yield "NumPy", numba.njit(parallel=True, error_model="numpy")(kernel.oracle), kernel.oracle
