"""Writes the strip-mined form of a program, which ``dump_final_appy`` prints.

Loops with ``simd`` run in steps of ``appy.MVL``, over vectors of subscripts that ``appy.vidx`` gives; tensor statements
become loops. The result is an APPy program that computes the same values, both in Python and compiled. Statements
without a vector form are unchanged.
"""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from types import FunctionType, ModuleType
from typing import Any

from ..pragmas.words import LoopPragma, StatementPragma
from ..syntax.names import Scope
from ..syntax.source import FunctionSource
from ..syntax.walks import copy_of, walk
from ._mined_loops import mined_loop
from ._mined_tensors import mined_slices, mined_tensor

_COMMENT = re.compile(r"""^(\s*)['"]+(#pragma .*?)['"]+$""")


def strip_mined(source: FunctionSource) -> str:
    """The text of the program: the imports and constants that it uses, then the function."""
    tree = copy_of(source.written())
    tree.decorator_list = [ast.parse("appy.jit", mode="eval").body]
    miner = _Miner(source)
    tree.body = miner.block(tree.body)
    text = ast.unparse(ast.fix_missing_locations(tree))
    lines = [_COMMENT.sub(r"\1\2", line) for line in text.split("\n")]
    return "\n".join([*_header(source), "", "", *lines]) + "\n"


def comment(text: str) -> ast.stmt:
    """A placeholder statement that is printed as this comment."""
    return ast.Expr(ast.Constant(text))


def _header(source: FunctionSource) -> list[str]:
    """The imports and constants that the function uses."""
    scope = Scope(source.function)
    found: dict[str, Any] = {}
    for part in walk(source.written()):
        if isinstance(part, ast.Name) and part.id not in scope.locals:
            binding = scope.lookup(part.id)
            if binding is not None and part.id not in __builtins__:  # type: ignore[operator]
                found[part.id] = binding.value
    lines = {"import parpy.appy as appy"}
    constants = []
    for name, value in found.items():
        module = getattr(value, "__module__", None) or ""
        own = getattr(value, "__name__", "")
        if isinstance(value, ModuleType):
            lines.add(f"import {value.__name__} as {name}")
        elif isinstance(value, int | float | complex | str):
            constants.append(f"{name} = {value!r}")
        elif callable(value) and own and not isinstance(value, FunctionType) and _is_numpys(value):
            lines.add(f"from numpy import {own}" + (f" as {name}" if own != name else ""))
        elif callable(value) and own and module and module != "__main__":
            lines.add(f"from {module} import {own}" + (f" as {name}" if own != name else ""))
    return [*sorted(lines), *([""] if constants else []), *constants]


def _is_numpys(value: object) -> bool:
    import numpy as np

    return getattr(np, getattr(value, "__name__", ""), None) is value


class _Miner:
    """Rewrites the statements of a function."""

    def __init__(self, source: FunctionSource) -> None:
        self._pragmas = source.pragmas
        self._scope = Scope(source.function)
        taken = {part.id for part in walk(source.written()) if isinstance(part, ast.Name)}
        self._taken = taken | {part.arg for part in walk(source.written()) if isinstance(part, ast.arg)}
        self._inside = 0  # the number of loops around the statement whose iterations are workers

    def new(self, name: str) -> str:
        """A name that the function does not have."""
        number = 0
        while f"_{name}{number}" in self._taken:
            number += 1
        self._taken.add(f"_{name}{number}")
        return f"_{name}{number}"

    def block(self, nodes: list[ast.stmt]) -> list[ast.stmt]:
        return [made for node in nodes for made in self._statement(node)]

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        pragma = self._pragmas.of(node)
        if isinstance(node, ast.For) and isinstance(pragma, LoopPragma):
            return self._loop(node, pragma)
        if isinstance(pragma, StatementPragma) and isinstance(node, ast.Assign | ast.AugAssign):
            made = mined_tensor(node, self._with_lengths(pragma), self.new) if pragma.dims else None
            if made is not None:
                return made
            words = (["atomic"] if pragma.atomic else []) + [_dimension(dim) for dim in pragma.dims]
            return [comment("#pragma " + " ".join(words)), node]
        if self._inside and isinstance(node, ast.Assign | ast.AugAssign):
            return mined_slices(node, self.new) or [node]
        for name in ("body", "orelse", "finalbody"):
            inner = getattr(node, name, None)
            if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                setattr(node, name, self.block(inner))
        return [node]

    def _with_lengths(self, pragma: StatementPragma) -> StatementPragma:
        """The pragma without the lengths whose names have no value; the compiler chooses these."""
        dims = [
            replace(dim, width=0) if isinstance(dim.width, str) and not self._stands(dim.width) else dim
            for dim in pragma.dims
        ]
        return replace(pragma, dims=tuple(dims))

    def _stands(self, name: str) -> bool:
        """Whether the name has a value in the function."""
        return name in self._scope.locals or self._scope.lookup(name) is not None

    def _loop(self, node: ast.For, pragma: LoopPragma) -> list[ast.stmt]:
        head = _loop_words(pragma, simd=False)
        made = mined_loop(node, pragma, self.new) if pragma.simd else None
        if made is not None:
            return [comment(head), *made] if head else made
        self._inside += 1
        node.body = self.block(node.body)
        self._inside -= 1
        return [comment(_loop_words(pragma, simd=True)), node]


def _loop_words(pragma: LoopPragma, simd: bool) -> str:
    """The text of the pragma, without ``simd`` unless `simd` is set; '' if nothing is left."""
    words = ["parallel for"] if pragma.parallel else ["sequential for"] if pragma.sequential else []
    if simd and pragma.simd:
        words.append(f"simd({pragma.width})" if pragma.width else "simd")
    if not words:
        return ""
    words += [f"num_warps({pragma.warps})"] if pragma.warps else []
    for each in pragma.lists:
        names = ", ".join(each.names)
        words.append(f"{each.clause}({each.op}:{names})" if each.op else f"{each.clause}({names})")
    return "#pragma " + " ".join(words)


def _dimension(dim: Any) -> str:
    properties = []
    for word in dim.properties:
        value = dim.width if word in ("block", "simd", "le") and dim.width else ""
        if word in ("reduce", "reduction"):
            value = dim.reduction + (f":{dim.target}" if dim.target else "")
        properties.append(f"{word}({value})" if value else word)
    return f"{dim.text}=>{','.join(properties)}"
