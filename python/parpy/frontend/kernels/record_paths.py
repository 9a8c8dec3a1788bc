"""Records in kernels, on the syntax tree: gives every access to a field the form ``r['x'][i]``.

``r[i].x``, ``r[i]['x']`` and ``r['x'][i]`` are equal, ``p.x`` is ``p['x']``, and ``r[i].pos.x`` is
``r['pos.x'][i]``: a field of nested records has a key of its own. Compiled code has no records: each field that is
used is a separate array or number (records.py).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from types import CodeType
from typing import Any, NamedTuple

import numpy as np

from ...syntax.names import Container, Scope, is_array, read
from ...syntax.patterns import Function, slices_of, string_key
from ...syntax.walks import copy_of

# Attributes of numbers and views, which are no fields of records.
_OF_ELEMENTS = ("real", "imag", "conjugate", "dtype", "shape", "ndim")
_OF_SLICES = ("size", "T", "flat", "strides", "itemsize", "nbytes")  # which a single record has as fields
_OF_ARRAYS = frozenset(dir(np.ndarray))


def with_separate_fields(node: Function, names: frozenset[str]) -> Function:
    """A copy of the function with fields accessed in this form; ``names`` are the function's local variables."""
    made = _Separate(names).visit(copy_of(node))
    assert isinstance(made, Function)
    return made


def record_names(scope: Scope, code: CodeType) -> frozenset[str]:
    """The names that the function uses and that refer to arrays of records outside the function."""
    found = ((name, scope.lookup(name)) for name in (*code.co_names, *code.co_freevars))
    return frozenset(name for name, binding in found if binding is not None and are_records(binding.value))


def are_records(value: object) -> bool:
    """Whether an object is an array of records."""
    dtype = getattr(value, "dtype", None) if is_array(value) else None
    return isinstance(dtype, np.dtype) and dtype.names is not None and isinstance(getattr(value, "ndim", None), int)


class _Separate(ast.NodeTransformer):
    def __init__(self, names: frozenset[str]) -> None:
        self._names = names

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Attribute):  # a method, or a function of a module
            node.func.value = self.visit(node.func.value)
            node.args = [self.visit(argument) for argument in node.args]
            node.keywords = [self.visit(keyword) for keyword in node.keywords]
            return node
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        return self._separated(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        return self._separated(node)

    def _separated(self, node: ast.Attribute | ast.Subscript) -> ast.AST:
        path: list[str] = []
        indices: list[ast.Subscript] = []
        part: ast.expr = node
        while not isinstance(part, ast.Name):
            if isinstance(part, ast.Attribute) and not _is_of_numpy(part):
                path.append(part.attr)
            elif isinstance(part, ast.Subscript) and (key := string_key(part)) is not None:
                path.append(key)
            elif isinstance(part, ast.Subscript):
                indices.append(part)
            else:
                return self.generic_visit(node)
            part = part.value
        if not path or part.id not in self._names:
            return self.generic_visit(node)
        whole = ast.copy_location(ast.Constant(".".join(reversed(path))), node)
        made = ast.copy_location(ast.Subscript(part, whole, ast.Load()), node)
        for each in reversed(indices):
            made = ast.copy_location(ast.Subscript(made, self.visit(each.slice), ast.Load()), node)
        made.ctx = node.ctx
        return made


def _is_of_numpy(node: ast.Attribute) -> bool:
    if isinstance(node.value, ast.Name):
        return node.attr in _OF_ARRAYS
    return node.attr in _OF_ELEMENTS or (node.attr in _OF_SLICES and has_slice(node.value))


def is_whole(part: ast.expr) -> bool:
    """Whether a subscript is `:`."""
    return isinstance(part, ast.Slice) and part.lower is part.upper is part.step is None


def has_slice(node: ast.expr) -> bool:
    """Whether `node` is x[a:b], also among other subscripts."""
    return bool(slices_of(node))


class Path(NamedTuple):
    """The parts of ``r['pos'][i, j]``: the variable, the field with the node of its key, and the subscripts."""

    root: ast.Name
    key: str
    key_node: ast.expr | None
    indices: list[ast.expr]


def path_of(node: ast.expr) -> Path | None:
    """The path of ``node`` from a variable, which may refer to records; None if it does not begin with a variable."""
    indices: list[ast.expr] = []
    while isinstance(node, ast.Subscript) and string_key(node) is None:
        indices.insert(0, node.slice)
        node = node.value
    if isinstance(node, ast.Name):
        return Path(node, "", None, indices)
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        return Path(node.value, string_key(node) or "", node, indices)
    return None


def joined(prefix: str, key: str) -> str:
    """The key of the field ``key`` in the field ``prefix``."""
    return f"{prefix}.{key}" if prefix and key else prefix or key


class Leaf(NamedTuple):
    """A field of numbers: its key, the type of the numbers, and the field's shape in each record."""

    key: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]


def leaves(dtype: np.dtype[Any], prefix: str = "", shape: tuple[int, ...] = ()) -> list[Leaf]:
    """All fields of numbers in records of this type, including those of nested records."""
    if dtype.names is None:
        return [Leaf(prefix, dtype, shape)]
    fields = [(joined(prefix, name), dtype[name]) for name in dtype.names]
    return [leaf for key, each in fields for leaf in leaves(each.base, key, shape + each.shape)]


def place_type(dtype: np.dtype[Any], key: str) -> tuple[np.dtype[Any], tuple[int, ...]] | None:
    """The type of the field with the key ``pos.x``, which may be a record type, and its shape in each record; None if
    there is no such field."""
    shape: tuple[int, ...] = ()
    for name in key.split(".") if key else ():
        if dtype.names is None or name not in dtype.names:
            return None
        dtype, shape = dtype[name].base, shape + dtype[name].shape
    return dtype, shape


def field_type(dtype: np.dtype[Any] | None, key: str) -> tuple[np.dtype[Any], tuple[int, ...]] | None:
    """The type and the shape of a field of numbers; None for other fields."""
    found = None if dtype is None else place_type(dtype, key)
    return None if found is None or found[0].names is not None else found


def field(records: Any, key: str) -> Any:
    """The field with the key ``pos.x`` of an array of records or of one record."""
    for name in key.split("."):
        records = records[name]
    return records


class FieldsOf(Mapping[str, Any]):
    """The present fields, by key, of the records at a place (a container and a key)."""

    def __init__(self, container: Container, key: str) -> None:
        self._container, self._key = container, key

    def __getitem__(self, key: str) -> Any:
        records = read(self._container, self._key)
        dtype = getattr(records, "dtype", None)
        if not isinstance(dtype, np.dtype) or field_type(dtype, key) is None:
            raise KeyError(key)
        return field(records, key)

    def __iter__(self) -> Iterator[str]:
        dtype = getattr(read(self._container, self._key), "dtype", None)
        return iter(leaf.key for leaf in leaves(dtype)) if isinstance(dtype, np.dtype) else iter(())

    def __len__(self) -> int:
        return len([*self])
