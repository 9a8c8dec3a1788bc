"""Names that a function imports outside of `try`, which compiled code treats as names outside of the function.

The import statements are removed from the syntax tree, and the modules are imported when the function is first
analysed. If another statement assigns to such a name, it is a variable, and Python runs its import.
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from types import FunctionType
from typing import Any

from .patterns import Function
from .walks import copy_of, walk

Import = ast.Import | ast.ImportFrom
Place = tuple[Mapping[str, Any], str]


def note_imports(function: FunctionType, node: ast.AST | None) -> None:
    """Stores the imports of the function as an attribute of it."""
    imports = [*_imports_in(node)] if isinstance(node, Function) else []
    if not isinstance(node, Function) or not imports:
        return
    given = Counter(each.arg for each in walk(node.args) if isinstance(each, ast.arg))
    for part in walk(node):
        if isinstance(part, Import):
            given.update(_names(part))
        elif isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            given[part.id] += 1
        elif isinstance(part, ast.FunctionDef | ast.ClassDef):
            given[part.name] += 1
    found: dict[str, Place] = {}
    for each in imports:
        if all(given[name] == 1 for name in _names(each)):
            found |= _places(each, function.__globals__)
    setattr(function, _IMPORTS, found)


def imports_of(function: FunctionType) -> Mapping[str, Place]:
    """The place, a mapping and a key, of each imported object, by name."""
    found: Mapping[str, Place] = getattr(function, _IMPORTS, {})
    return found


def without_imports(node: Function, function: FunctionType) -> Function:
    """A copy of the function without these statements."""
    found = imports_of(function)
    if not found:
        return node
    made: Function = copy_of(node)
    for each in (made, *_blocks(made)):
        for name in ("body", "orelse"):
            body = getattr(each, name, [])
            for place, statement in enumerate(body):
                if isinstance(statement, Import) and _names(statement) <= found.keys():
                    body[place] = ast.copy_location(ast.Pass(), statement)
    return made


def _blocks(node: ast.AST) -> Iterator[ast.stmt]:
    """The branches, loops and `with` blocks in a statement."""
    for each in (*getattr(node, "body", ()), *getattr(node, "orelse", ())):
        if isinstance(each, ast.If | ast.For | ast.While | ast.With):
            yield each
            yield from _blocks(each)


def _imports_in(node: Function) -> Iterator[Import]:
    for block in (node, *_blocks(node)):
        for each in (*block.body, *getattr(block, "orelse", ())):  # type: ignore[attr-defined]
            if isinstance(each, Import):
                yield each


def _names(node: Import) -> set[str]:
    """The names that an import assigns."""
    short = isinstance(node, ast.Import)
    return {each.asname or (each.name.partition(".")[0] if short else each.name) for each in node.names}


def _places(node: Import, space: Mapping[str, Any]) -> dict[str, Place]:
    """The places of the objects of an import; empty if the import fails, which Python reports when it runs it."""
    found: dict[str, Place] = {}
    try:
        for each in node.names:
            if isinstance(node, ast.Import):
                importlib.import_module(each.name)
                first = each.name.partition(".")[0]
                found[each.asname or first] = (sys.modules, each.name if each.asname else first)
                continue
            module = importlib.import_module("." * node.level + (node.module or ""), space.get("__package__"))
            if not hasattr(module, each.name):
                importlib.import_module(f"{module.__name__}.{each.name}")
            found[each.asname or each.name] = (module.__dict__, each.name)
    except Exception:
        return {}
    return {name: place for name, place in found.items() if place[1] in place[0]}


_IMPORTS = "__parpy_imports__"
