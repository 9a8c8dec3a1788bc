"""The tables of a language's lowering functions, and the functions that use them: `lower` for an expression,
`statement`, and `block` for a list of statements.

Lowering is recursive: each kind of node has a function of its own, which calls the functions of this module for the
parts of its node. languages.py builds the tables, so that it imports all of these functions; a FunctionScope has the
tables of its language.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from .. import _native
from ..syntax.names import Scope
from ..syntax.source import FunctionSource
from .calls.intrinsics import Intrinsic
from .refused import EXPRESSIONS, STATEMENTS

if TYPE_CHECKING:
    from .program import Program
    from .scope import FunctionScope

LowerExpression: TypeAlias = "Callable[[FunctionScope, Any], _native.Expr]"
LowerStatement: TypeAlias = "Callable[[FunctionScope, Any], None]"
LowerIntrinsic: TypeAlias = "Callable[[FunctionScope, ast.Call, Intrinsic], _native.Expr]"


def _own_names(_: Program, source: FunctionSource) -> Scope:
    """The names that are visible in a Python function."""
    return Scope(source.function)


@dataclass(frozen=True, slots=True)
class Language:
    """A language of functions: loops, kernels written by hand, CudaPy."""

    name: str
    expressions: Mapping[type[ast.expr], LowerExpression]
    statements: Mapping[type[ast.stmt], LowerStatement]
    intrinsics: Mapping[str, LowerIntrinsic]  # by Intrinsic.lowering
    block: Callable[[FunctionScope, list[ast.stmt]], list[_native.Stmt]]
    kernel: bool = False  # whether every thread of a launch runs the entry
    records: bool = False  # whether names may refer to records
    exact_integers: bool = True  # whether operations on integer constants are exact, as in Python
    functions: tuple[type, ...] = ()  # the types of objects that are functions of a program, besides jit functions
    names: Callable[[Program, FunctionSource], Scope] = _own_names
    # Called before a function's first statement is lowered, and after the last one.
    before: Callable[[FunctionScope], None] | None = None
    behind: Callable[[FunctionScope], None] | None = None
    # The value of an object outside the function, and of `left op right`; None for the lowering of other languages.
    value: Callable[[FunctionScope, object, ast.expr], _native.Expr | None] | None = None
    operator: Callable[[FunctionScope, ast.BinOp, _native.Expr, _native.Expr], _native.Expr | None] | None = None
    # Converts a value that is assigned to a variable.
    assigned: Callable[[FunctionScope, ast.Name, _native.Expr, ast.stmt], _native.Expr] | None = None


def lower(fn: FunctionScope, node: ast.expr) -> _native.Expr:
    """The value of `node`."""
    lowering = fn.language.expressions.get(type(node))
    if lowering is not None:
        return lowering(fn, node)
    what, fix = EXPRESSIONS.get(type(node), (f"'{type(node).__name__}'", ""))
    fn.error("P011", node, f"{what} cannot be compiled", fix)
    fn.give_up_on(node)
    return fn.poison(node)


def statement(fn: FunctionScope, node: ast.stmt) -> None:
    """Appends the statements for `node` to `fn.out`."""
    lowering = fn.language.statements.get(type(node))
    if lowering is not None:
        lowering(fn, node)
        return
    what, fix = STATEMENTS.get(type(node), (f"'{type(node).__name__}'", ""))
    fn.error("P010", fn.head(node), f"{what} cannot be compiled", fix)
    fn.give_up_on(node)


def block(fn: FunctionScope, nodes: list[ast.stmt]) -> list[_native.Stmt]:
    """The lowered statements of a block (labels.py)."""
    return fn.language.block(fn, nodes)
