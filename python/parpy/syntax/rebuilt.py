"""Makes functions of changed syntax trees that replace the original functions."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping
from types import CellType, CodeType, FunctionType
from typing import Any

from .imports import imports_of


def rebuilt(
    function: FunctionType, node: ast.FunctionDef, constants: Mapping[str, object] | None = None, shift: int = 0
) -> FunctionType:
    """Makes `node`, whose parameters have no defaults, a function in place of `function`. It has the globals and the
    closure of `function`; its imports and `constants` are further closure variables. `shift` is the distance from the
    lines of the tree to those of the file, for tracebacks and debuggers."""
    imports = {name: container[key] for name, (container, key) in imports_of(function).items()}
    more = {name: CellType(value) for name, value in (imports | {**(constants or {})}).items()}
    free = (*function.__code__.co_freevars, *more)
    inner = ast.parse(f"def outer({', '.join(free)}):\n    def inner(): pass\n    return inner\n")
    outer = inner.body[0]
    assert isinstance(outer, ast.FunctionDef)
    made = copy.copy(node)
    made.name = "__parpy_inner__"  # the original name must refer to the original function, which it may call
    outer.body = [made, ast.copy_location(ast.Return(ast.Name(made.name, ast.Load())), node)]
    code = compile(ast.fix_missing_locations(inner), function.__code__.co_filename, "exec")
    space: dict[str, Any] = {}
    exec(code, function.__globals__, space)
    body: CodeType = space["outer"](*(None for _ in free)).__code__
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)) | more
    closure: tuple[CellType, ...] = tuple(cells[name] for name in body.co_freevars)
    body = _shifted(body, shift).replace(co_name=node.name, co_qualname=function.__qualname__)
    again = FunctionType(body, function.__globals__, node.name, None, closure)
    again.__qualname__ = function.__qualname__
    return again


def _shifted(code: CodeType, lines: int) -> CodeType:
    """The code with its lines shifted down by `lines`."""
    constants = tuple(_shifted(each, lines) if isinstance(each, CodeType) else each for each in code.co_consts)
    return code.replace(co_firstlineno=code.co_firstlineno + lines, co_consts=constants)
