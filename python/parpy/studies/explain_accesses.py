"""The distance in memory between the elements that neighbouring iterations touch, for the picture of parpy.explain.

It is read from the subscripts of the function and the strides of the arguments. Only arrays that are parameters and
are never assigned count, in loops over `range` and in statements over slices. A subscript that depends on data has no
known distance.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from .explain_text import Loop, applies

_NEIGHBOURS = ("vector", "threads")  # the levels whose neighbouring iterations run at the same time


_Nest = list[tuple[int | None, ast.For]]  # the loops around a statement: the index, None if it is not listed, the node


class _Layout(NamedTuple):
    strides: tuple[int, ...]  # in bytes
    size: int  # of an element, in bytes
    shape: tuple[int, ...]


def accesses_of(function: ast.AST, arguments: Sequence[Any], loops: list[Loop], shift: int) -> list[dict[str, Any]]:
    """The accesses to arguments in `loops`, in the order of the program, without repetitions.

    Each has the `loop` (an index) whose neighbouring iterations it compares, its `text`, the `size` of an element,
    whether it is `stored`, and the bytes `apart`, which are None if they are not known. `shift` is the difference
    between lines of the file and lines of the tree.
    """
    assert isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
    names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    nodes = list(ast.walk(function))
    counters = [node.target for node in nodes if isinstance(node, ast.For) and isinstance(node.target, ast.Name)]
    stored = [node for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)]
    values = {name: value for name, value in zip(names, arguments, strict=False) if name not in {n.id for n in stored}}
    layouts = {name: layout for name, value in values.items() if (layout := _layout(value)) is not None}
    variables = {each.id for each in counters} - {each.id for each in stored if each not in counters}
    reader = _Reader(loops, shift, values, layouts, variables)
    found: dict[tuple[int, str, bool], dict[str, Any]] = {}
    for statement in function.body:
        for access in reader.statement(statement, []):
            found.setdefault((access["loop"], access["text"], access["stored"]), access)
    return sorted(found.values(), key=lambda each: each.pop("place"))


def _layout(value: Any) -> _Layout | None:
    """The strides of an array of NumPy, of PyTorch, or of a library with one of the array interfaces."""
    if callable(stride := getattr(value, "stride", None)) and callable(getattr(value, "element_size", None)):
        size = int(value.element_size())
        return _Layout(tuple(int(each) * size for each in stride()), size, tuple(value.shape))
    for name in ("__array_interface__", "__cuda_array_interface__"):
        interface = getattr(value, name, None)
        if isinstance(interface, dict) and interface["shape"]:
            shape = tuple(interface["shape"])
            size = int(interface["typestr"][2:].partition("[")[0])  # dates end in a unit: "<M8[ns]"
            packed = [math.prod(shape[axis + 1 :]) * size for axis in range(len(shape))]
            return _Layout(tuple(interface.get("strides") or packed), size, shape)
    return None


class _Reader:
    """Reads the accesses of statements."""

    def __init__(
        self, loops: list[Loop], shift: int, values: dict[str, Any], layouts: dict[str, _Layout], counters: set[str]
    ) -> None:
        self._loops, self._shift, self._values, self._layouts = loops, shift, values, layouts
        self._counters = counters  # the names that only loops store to

    def statement(self, node: ast.stmt, nest: _Nest) -> Iterator[dict[str, Any]]:
        waiting = [(node, nest)]  # without recursion: long chains of elif are nested deeply
        while waiting:
            node, nest = waiting.pop()
            body: list[ast.stmt] = []
            if isinstance(node, ast.For):
                body, nest = node.body, [*nest, (self._index(node), node)]
            elif isinstance(node, ast.If | ast.While):
                yield from self._expression(node.test, nest)
                body = [*node.body, *node.orelse]
            elif isinstance(node, ast.With):
                body = node.body
            elif isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr):
                slices = [i for i, loop in enumerate(self._loops) if self._is_over_slices(loop, node)]
                yield from self._over_slices(node, slices) if slices else self._expression(node, nest)
            waiting.extend((each, nest) for each in reversed(body))

    def _index(self, node: ast.For) -> int | None:
        if not isinstance(node.target, ast.Name) or not isinstance(node.iter, ast.Call):
            return None
        same = (node.target.id, node.lineno + self._shift)
        return next((i for i, loop in enumerate(self._loops) if (loop["variable"], loop["line"]) == same), None)

    def _is_over_slices(self, loop: Loop, node: ast.stmt) -> bool:
        return bool(loop["line"] == node.lineno + self._shift and not loop["text"].startswith("for "))

    def _chosen(self, indices: list[int]) -> int | None:
        """The innermost of the loops whose iterations run at the same time or, on the CPU, in turn in one thread; None
        in a nest that is computed in tiles or runs sequentially."""
        levels = {index: self._loops[index]["level"] for index in indices}
        if any(applies(self._loops[index], "contraction") for index in indices):
            return None
        if together := [index for index, level in levels.items() if level in _NEIGHBOURS]:
            return max(together)
        return max(indices) if "workers" in levels.values() else None

    def _expression(self, node: ast.AST, nest: _Nest) -> Iterator[dict[str, Any]]:
        loop = self._chosen([index for index, _ in nest if index is not None])
        if loop is None:
            return
        name = self._loops[loop]["variable"]
        counted = {each.target.id: each.iter for _, each in nest if isinstance(each.target, ast.Name)}
        moving = {other for other, bounds in counted.items() if _mentions(bounds, name)}
        variables = self._counters & set(counted)

        def slope(entry: ast.expr) -> int | None:
            return None if any(_mentions(entry, each) for each in moving) else self._slope(entry, name, variables)

        for access in ast.walk(node):
            if isinstance(access, ast.Subscript) and isinstance(access.value, ast.Name):
                entries = access.slice.elts if isinstance(access.slice, ast.Tuple) else [access.slice]
                if not any(isinstance(each, ast.Slice) for each in entries):
                    yield from self._access(access, access.value.id, [slope(each) for each in entries], loop)

    def _over_slices(self, node: ast.stmt, loops: list[int]) -> Iterator[dict[str, Any]]:
        loop = self._chosen(loops)
        if loop is None or not _by_elements(node):
            return
        behind = len(loops) - 1 - loops.index(loop)  # the number of loops inside the chosen loop
        inside: set[int] = set()
        for access in ast.walk(node):
            if isinstance(access, ast.Subscript) and isinstance(access.value, ast.Name):
                inside.add(id(access.value))
                entries = access.slice.elts if isinstance(access.slice, ast.Tuple) else [access.slice]
                layout = self._layouts.get(access.value.id)
                if layout is None or any(isinstance(each, ast.Constant) and each.value is ... for each in entries):
                    continue
                whole: list[ast.expr] = [*entries, *[ast.Slice()] * (len(layout.shape) - len(entries))]
                slopes: list[int | None] = [0] * len(whole)
                sliced = [axis for axis, each in enumerate(whole) if isinstance(each, ast.Slice)]
                if behind < len(sliced):
                    axis = sliced[-1 - behind]
                    step = whole[axis].step  # type: ignore[attr-defined]
                    slopes[axis] = 1 if step is None else self._value(step)
                yield from self._access(access, access.value.id, slopes, loop)
            elif isinstance(access, ast.Name) and id(access) not in inside and access.id in self._layouts:
                count = len(self._layouts[access.id].shape)
                slopes = [int(axis == count - 1 - behind) for axis in range(count)]
                yield from self._access(access, access.id, slopes, loop)

    def _access(
        self, node: ast.Subscript | ast.Name, name: str, slopes: list[int | None], loop: int
    ) -> Iterator[dict[str, Any]]:
        layout = self._layouts.get(name)
        if layout is None or len(slopes) != len(layout.strides):
            return
        known = [slope for slope in slopes if slope is not None]
        step = self._loops[loop]["step"] or 1
        whole = len(known) == len(slopes)
        apart = (
            step * sum(slope * stride for slope, stride in zip(known, layout.strides, strict=True)) if whole else None
        )
        stored = isinstance(node.ctx, ast.Store)
        place = (node.lineno, node.col_offset)
        text = ast.unparse(node)
        yield {"loop": loop, "text": text, "size": layout.size, "stored": stored, "apart": apart, "place": place}

    def _slope(self, node: ast.expr, name: str, variables: set[str]) -> int | None:
        """The change of an expression from one iteration to the next of the loop over `name`."""
        inner: Callable[[ast.expr], int | None] = lambda each: self._slope(each, name, variables)  # noqa: E731
        match node:
            case ast.Name(id=found) if found in variables:
                return int(found == name)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return None if (slope := inner(operand)) is None else -slope
            case ast.BinOp(op=ast.Add() | ast.Sub(), left=left, right=right):
                first, second = inner(left), inner(right)
                if first is None or second is None:
                    return None
                return first + second if isinstance(node.op, ast.Add) else first - second
            case ast.BinOp(op=ast.Mult(), left=left, right=right):
                for factor, other in ((left, right), (right, left)):
                    if (value := self._value(factor)) is not None and (slope := inner(other)) is not None:
                        return value * slope
                return 0 if inner(left) == 0 and inner(right) == 0 else None
        return 0 if self._value(node) is not None else None

    def _value(self, node: ast.expr) -> int | None:
        """The value of an expression that no loop changes."""
        match node:
            case ast.Constant(value=int(value)):
                return int(value)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
                return -int(value)
            case ast.Name(id=name) if isinstance(self._values.get(name), int | np.integer):
                return int(self._values[name])
            case ast.Subscript(ast.Attribute(ast.Name(name), "shape"), ast.Constant(int(axis))):
                shape = self._layouts[name].shape if name in self._layouts else ()
                return shape[axis] if -len(shape) <= axis < len(shape) else None
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]) if name in self._layouts:
                return self._layouts[name].shape[0]
            case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult(), left=left, right=right):
                first, second = self._value(left), self._value(right)
                if first is None or second is None:
                    return None
                if isinstance(node.op, ast.Mult):
                    return first * second
                return first + second if isinstance(node.op, ast.Add) else first - second
        return None


def _by_elements(node: ast.stmt) -> bool:
    """Whether an element of the result depends on the elements of the same place alone, as far as the text shows."""
    for each in ast.walk(node):
        if isinstance(each, ast.MatMult) or (isinstance(each, ast.Attribute) and each.attr == "T"):
            return False
        if isinstance(each, ast.Call):
            name = each.func.attr if isinstance(each.func, ast.Attribute) else ""
            if not isinstance(getattr(np, name, None), np.ufunc):
                return False
    return True


def _mentions(node: ast.AST, name: str) -> bool:
    return any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(node))
