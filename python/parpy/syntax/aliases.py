"""Local names for functions, modules, shapes, types of elements and indices of threads, for example `exp = math.exp`,
`s = x.shape`, `t = x.dtype`, `t = cuda.threadIdx`.

Such a name is assigned once, among the outermost statements of the function, and is not a value in compiled code.
"""

from __future__ import annotations

import ast

from .patterns import Function, node_parameters, root_of
from .walks import copy_of, walk

_COORDINATES = ("x", "y", "z")


def without_aliases(node: Function, shapes: bool = True) -> Function:
    """A copy of the function in which such names are replaced by their values. Without `shapes`, only names for
    functions and modules are replaced."""
    if not any(_is_candidate(statement) for statement in node.body):
        return node
    found = _aliases(node, shapes)
    return _Replace(found).visit(copy_of(node)) if found else node


def _is_candidate(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Name | ast.Attribute)
    )


def _aliases(node: Function, shapes: bool) -> dict[str, ast.expr]:
    parameters = {*node_parameters(node)}
    bound: dict[str, int] = {}
    # The nodes of names that are called or have attributes, and of names of which a coordinate is read.
    called: set[int] = set()
    defined: set[str] = set()
    for part in walk(node):
        if isinstance(part, ast.FunctionDef):
            if part.name in defined:  # the name has several definitions
                bound[part.name] = 2
            defined.add(part.name)
        if isinstance(part, ast.arg):
            bound[part.arg] = bound.get(part.arg, 0) + 1
        elif isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            bound[part.id] = bound.get(part.id, 0) + 1
        elif isinstance(part, ast.Call):
            func = part.func
            while isinstance(func, ast.Attribute):
                func = func.value
            called.add(id(func))
        elif isinstance(part, ast.Attribute) and part.attr in _COORDINATES and isinstance(part.ctx, ast.Load):
            called.add(id(part.value))
    found: dict[str, ast.expr] = {}
    for statement in node.body:
        if not _is_candidate(statement):
            continue
        assert isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)
        name, value = statement.targets[0].id, statement.value
        uses = [p for p in walk(node) if isinstance(p, ast.Name) and p.id == name and isinstance(p.ctx, ast.Load)]
        behind = statement.end_lineno or 0, statement.end_col_offset or 0
        if bound[name] != 1 or not uses or any((use.lineno, use.col_offset) < behind for use in uses):
            continue
        if (fact := _fact(value)) is not None and root_of(value) in parameters:
            if shapes and bound[root_of(value)] == 1 and _stays(fact, node):
                found[name] = value
        elif root_of(value) not in bound and all(id(use) in called for use in uses):
            found[name] = value
    return found


def _fact(value: ast.expr) -> ast.Attribute | None:
    """The attribute of an array that `value` consists of or belongs to: x.shape, or x.dtype, also of x.dtype.type."""
    if isinstance(value, ast.Attribute) and value.attr == "type":
        return fact if (fact := _fact(value.value)) is not None and fact.attr == "dtype" else None
    return value if isinstance(value, ast.Attribute) and value.attr in ("shape", "dtype") else None


def _stays(shape: ast.Attribute, node: Function) -> bool:
    """Whether x.shape of a parameter, or d['x'].shape, has one value throughout the function."""
    owner = shape.value
    if isinstance(owner, ast.Name):
        return True
    if not (isinstance(owner, ast.Subscript) and isinstance(owner.value, ast.Name)):
        return False
    return isinstance(owner.slice, ast.Constant) and _keeps_entry(node, owner.value.id, owner.slice.value)


def _keeps_entry(node: Function, name: str, key: object) -> bool:
    """Whether d[key] is never assigned: d is used only for its entries, and no entry of another dict is assigned."""
    entries: set[int] = set()  # the nodes of names whose entries are used
    for part in walk(node):
        if not isinstance(part, ast.Subscript):
            continue
        is_set, its_key = not isinstance(part.ctx, ast.Load), part.slice
        entry = its_key.value if isinstance(its_key, ast.Constant) and isinstance(its_key.value, str) else None
        if _is_name(part.value, name):
            if is_set and entry in (None, key):
                return False
            entries.add(id(part.value))
        elif is_set and entry is not None:
            return False
    return all(id(part) in entries for part in walk(node) if _is_name(part, name))


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


class _Replace(ast.NodeTransformer):
    def __init__(self, found: dict[str, ast.expr]) -> None:
        self._found = found

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        if isinstance(node.targets[0], ast.Name) and node.targets[0].id in self._found:
            return ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id not in self._found:
            return node
        made = copy_of(self._found[node.id])
        for part in walk(made):
            ast.copy_location(part, node)
        return made
