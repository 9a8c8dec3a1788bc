"""Whole records in kernels: `r[i], r[j] = r[j], r[i]` and `r[i] = s[j] = r[k]`."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial

from .. import _native
from ..vocabulary.operators import scalar_name
from .kernels import Kernels
from .record_paths import leaves
from .records import Record


class Exchanges(Kernels):
    """Assignments of several records in one function."""

    def record_chain(self, node: ast.Assign) -> bool:
        """`r[i] = s[j] = r[k]`: whether the assignment copies a record to several places. They have the same type, so
        none of them is a part of the record."""
        if not any(self._gets_record(target, node.value) for target in node.targets):
            return False
        name = next((target for target in node.targets if not isinstance(target, ast.Subscript)), None)
        if name is not None:
            self._refuse_name(name)
            return True
        other = next((target for target in node.targets if self.is_no_record(target)), node.targets[0])
        source = self.copied_record(other, node.value, node)
        if source is not None:
            for target in node.targets:
                self.store_record(target, source, node)
        return True

    def record_exchange(self, target: ast.expr, value: ast.expr, node: ast.stmt) -> bool:
        """`r[i], s[j].x = r[k], 5.0`: whether records are copied by an assignment to several targets. All of the right
        side is read first."""
        pairs = _pairs(target, value)
        if not any(self._gets_record(*pair) for pair in pairs):
            return False
        stores: list[Callable[[], None]] = []
        for one, part in pairs:
            if not self.copies_record(one, part):
                if self._gets_record(one, part):
                    self._refuse_name(one)
                    return True
                again = self.held_for(one, partial(self.lower, part), part, node)
                stores.append(lambda one=one, again=again: self.assign_value(one, again(), node))  # type: ignore[misc]
                continue
            source = self.copied_record(one, part, node)
            held = None if source is None else self._held_record(source, node)
            if held is None:
                return True
            stores.append(partial(self.store_record, one, held, node))
        for store in stores:
            store()
        return True

    def _gets_record(self, target: ast.expr, value: ast.expr) -> bool:
        """Whether the target, which may be a name, becomes a record."""
        if not isinstance(target, ast.Name):
            return self.copies_record(target, value)
        return self.is_record(value, self.program.uses.fields(self.source, target.id))

    def assign_value(self, target: ast.expr, value: _native.Expr, node: ast.stmt, update: str | None = None) -> None:
        """target = value, or target <update>= value, for a name or an element."""
        raise NotImplementedError

    def _refuse_name(self, target: ast.expr) -> None:
        self.error(
            "P016",
            target,
            "a record is copied and another target assigned in one statement",
            "write one assignment for each target",
        )

    def _held_record(self, source: Record, node: ast.stmt) -> Record | None:
        """A copy of its own of the record; None after an error."""
        if source.dtype is None:
            self.want_kinds(node)
            return None
        if not source.is_element:
            return source  # refused where it is stored
        span = self.span(node)
        fields = {leaf.key: self.temporary(span) for leaf in leaves(source.dtype)}
        held = Record(fields, "", "", (), 0, source.dtype)
        for leaf in leaves(source.dtype):
            if leaf.shape:
                scalar = scalar_name(leaf.dtype)
                if scalar is not None:
                    self.make(self.module.alloc(fields[leaf.key], scalar, "local", list(leaf.shape), None, span))
                self.ranks[fields[leaf.key]] = len(leaf.shape)
            self.copy_leaf(held, source, leaf, node)
        return held


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """Each target with its value; none where they differ in number."""
    sequence = ast.Tuple | ast.List
    if not isinstance(target, sequence):
        return [(target, value)]
    if not isinstance(value, sequence) or len(target.elts) != len(value.elts):
        return []
    found = [_pairs(one, part) for one, part in zip(target.elts, value.elts, strict=True)]
    return [pair for part in found for pair in part] if all(found) else []
