"""The parts of pragmas, which the grammar makes from a comment, each with its place."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import NamedTuple

OPERATORS = ("+", "*", "max", "min", "&", "|", "^")  # the operators of reduction(op: v) before loops
REDUCTIONS = ("sum", "max", "min", "prod", "any", "all")  # the operators of reduce(op) in tensor statements
LARGEST_BLOCK = 1024  # the most threads of a block


class Place(NamedTuple):
    """A range of columns, counted from 1 in bytes, in a line of the file; `end` is exclusive."""

    line: int
    begin: int
    end: int


@dataclass(frozen=True)
class Names:
    """The variables in the parentheses of a clause."""

    clause: str
    names: tuple[str, ...]
    places: tuple[Place, ...]
    op: str = ""


@dataclass(frozen=True)
class LoopPragma:
    """`#pragma parallel for simd …`, `#pragma sequential for`, `#pragma simd`. `width` is the n of simd(n) or block(n),
    0 if missing; `warps` is the n of num_warps(n)."""

    place: Place
    parallel: bool = False
    sequential: bool = False
    simd: bool = False
    width: int = 0
    warps: int = 0
    lists: tuple[Names, ...] = ()

    def names(self, *clauses: str) -> tuple[str, ...]:
        """The variables in the clauses of these names."""
        return tuple(name for each in self.lists if each.clause in clauses for name in each.names)


@dataclass(frozen=True)
class Dim:
    """`low:high=>properties` of a tensor statement. `width` is the n of block(n) or simd(n), a number or the name of
    one. `most` is the n of le(n), or of block(n) with single_block."""

    place: Place
    low: ast.expr | None
    high: ast.expr
    text: str
    parallel: bool = False
    simd: bool = False
    width: int | str = 0
    single_block: bool = False
    most: int | str = 0
    reduction: str = ""
    target: str = ""
    properties: tuple[str, ...] = ()


@dataclass(frozen=True)
class StatementPragma:
    """`#pragma atomic`, `#pragma :M=>parallel :N=>reduce(sum)`, or both."""

    place: Place
    atomic: bool = False
    dims: tuple[Dim, ...] = ()


Pragma = LoopPragma | StatementPragma


@dataclass
class Fault:
    """A user's error in a pragma."""

    code: str
    place: Place
    message: str
    help: str = ""
    notes: list[tuple[Place, str]] = field(default_factory=list)
