"""The tables of what a language lowers, and the functions that use them: `lower` an expression, a `statement`, a
`block` of them.

Lowering is recursive through every kind of node: each kind is lowered by a function of its own, which comes back here
for the parts of its node. The tables are put together in languages.py, above all of these functions; the function that
is being lowered carries those of its language.
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
    """The names that a Python function sees."""
    return Scope(source.function)


@dataclass(frozen=True, slots=True)
class Language:
    """A language of functions: loops, kernels written by hand, CudaPy."""

    name: str
    expressions: Mapping[type[ast.expr], LowerExpression]
    statements: Mapping[type[ast.stmt], LowerStatement]
    intrinsics: Mapping[str, LowerIntrinsic]  # by Intrinsic.lowering
    block: Callable[[FunctionScope, list[ast.stmt]], list[_native.Stmt]]
    kernel: bool = False  # every thread of a launch runs the entry
    records: bool = False  # names stand for records
    exact_integers: bool = True  # integer constants make one of any size, as Python computes it
    functions: tuple[type, ...] = ()  # types of objects that are functions of the program, besides jit functions
    names: Callable[[Program, FunctionSource], Scope] = _own_names
    # What the language does in front of a function's first statement, and behind its last one.
    before: Callable[[FunctionScope], None] | None = None
    behind: Callable[[FunctionScope], None] | None = None
    # An object outside the function as a value; `left op right`. None where it is as in other languages.
    value: Callable[[FunctionScope, object, ast.expr], _native.Expr | None] | None = None
    operator: Callable[[FunctionScope, ast.BinOp, _native.Expr, _native.Expr], _native.Expr | None] | None = None
    # What a variable gets of the value that is assigned to it.
    assigned: Callable[[FunctionScope, ast.Name, _native.Expr, ast.stmt], _native.Expr] | None = None


def lower(fn: FunctionScope, node: ast.expr) -> _native.Expr:
    """`node` as a value."""
    lowering = fn.language.expressions.get(type(node))
    if lowering is not None:
        return lowering(fn, node)
    what, fix = EXPRESSIONS.get(type(node), (f"'{type(node).__name__}'", ""))
    fn.error("P011", node, f"{what} cannot be compiled", fix)
    fn.give_up_on(node)
    return fn.poison(node)


def statement(fn: FunctionScope, node: ast.stmt) -> None:
    """Appends to `fn.out` what `node` does."""
    lowering = fn.language.statements.get(type(node))
    if lowering is not None:
        lowering(fn, node)
        return
    what, fix = STATEMENTS.get(type(node), (f"'{type(node).__name__}'", ""))
    fn.error("P010", fn.head(node), f"{what} cannot be compiled", fix)
    fn.give_up_on(node)


def block(fn: FunctionScope, nodes: list[ast.stmt]) -> list[_native.Stmt]:
    """The statements of a block (labels.py)."""
    return fn.language.block(fn, nodes)
