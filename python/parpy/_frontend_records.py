"""Records in kernels: arrays of them, `p = r[i]`, and both as arguments of device functions.

The fields that are used are arrays, or numbers, of their own: parameters of the entry (as the entries of a dict are),
arrays that the kernel makes, or parameters of the function that gets them. An element of records is a view of each.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from . import _native
from ._frontend_scope import Axis, Form, RecordForm, View
from ._frontend_views import Views
from ._records import key_of
from ._uses import root_of


class Record(NamedTuple):
    """An array of records, or an element: its `fields`, or the parameter of the entry that has them, and how far it is
    subscripted."""

    fields: dict[str, _native.Var]
    owner: str
    axes: tuple[Axis, ...]


class Records(Views):
    """Records in one function."""

    def is_record(self, node: ast.expr) -> bool:
        """Whether `node` is, or subscripts, a name that stands for records."""
        root = root_of(node) if self.has_views and self.program.kernel else ""
        return bool(root) and (root in self.records or self._is_entry_record(root))

    def _is_entry_record(self, name: str) -> bool:
        return self.entry and name in self.parameters and bool(self.program.uses.fields(self.source, name))

    def record_of(self, node: ast.expr, shown: str = "") -> Record | None:
        """The records that `node` is, subscripted as it is now; None after an error."""
        parts: list[ast.expr] = []
        while isinstance(node, ast.Subscript):
            parts[:0] = self.index_parts(node.slice)
            node = node.value
        assert isinstance(node, ast.Name)
        if not self.is_assigned(node):
            return None
        known = self.records.get(node.id) or Record({}, node.id, ())
        for part in parts:
            if isinstance(part, ast.Slice) or not self._numbers(part):
                self.error("P025", part, "an element of records is taken by integers", "give one integer per dimension")
                return None
        made = [
            Axis(self.hold(value, part, shown=shown)) for value, part in zip(self.lower_all(parts), parts, strict=True)
        ]
        return known._replace(axes=(*known.axes, *made))

    def field_of(self, record: Record, key: str, node: ast.expr) -> _native.Var | None:
        """The array, or number, that a field is; None after an error."""
        if not record.owner:
            return record.fields[key]
        owner = ast.copy_location(ast.Name(record.owner, ast.Load()), node)
        entry = ast.copy_location(ast.Subscript(owner, ast.copy_location(ast.Constant(key), node), ast.Load()), node)
        return self.array(entry)

    def view_of(self, node: ast.expr) -> View | None:
        if not self.is_record(node):
            return super().view_of(node)
        record = self.record_of(node)
        key = min(self.program.uses.fields(self.source, root_of(node)))
        var = None if record is None else self.field_of(record, key, node)
        return None if record is None or var is None else View(var, record.axes)

    def is_view(self, node: ast.expr) -> bool:
        return super().is_view(node) or self.is_record(node)

    def view_named(self, node: ast.expr) -> View | None:
        key = key_of(node)
        base = node.value if isinstance(node, ast.Subscript) else None
        if key is None or not isinstance(base, ast.Name) or base.id not in self.records:
            return super().view_named(node)
        record = self.records[base.id]
        var = self.field_of(record, key, node) if self.is_assigned(base) else None
        return None if var is None else View(var, record.axes)

    def is_view_value(self, target: ast.Name, value: ast.expr) -> bool:
        return self.is_record(value) or super().is_view_value(target, value)

    def view_assignment(self, target: ast.expr, value: ast.expr) -> bool:
        if not isinstance(target, ast.Name) or not self.is_record(value):
            return super().view_assignment(target, value)
        made = self.record_of(value, target.id)
        self.assigned.add(target.id)
        if made is not None:
            self._name_record(target, made)
        return True

    def _name_record(self, target: ast.Name, made: Record) -> None:
        known = self.records.get(target.id)
        if self.may_rebind(target.id):
            self.stand_for_nothing(target.id)
            self.records[target.id] = made
        elif known is not None and (known.fields, known.owner, len(known.axes)) == (
            made.fields,
            made.owner,
            len(made.axes),
        ):
            span = self.span(target)
            for old, new in zip(known.axes, made.axes, strict=True):
                assert old.at is not None and new.at is not None
                self.out.append(self.module.assign(old.at, self.module.read(new.at, span), None, span))
        else:
            self.error(
                "P016",
                target,
                f"'{target.id}' is something else elsewhere",
                "give each record a name of its own, or choose among the subscripts: r[i if c else j]",
            )

    # ------------------------------------------------------------ arguments

    def record_apart(self, node: ast.expr, keys: list[str]) -> tuple[RecordForm, list[_native.Var]] | None:
        """What a function that uses these fields gets of the records; None after an error."""
        record = self.record_of(node)
        fields = [] if record is None else [self.field_of(record, key, node) for key in keys]
        found = [var for var in fields if var is not None]
        if record is None or len(found) < len(keys):
            return None
        at = [var for axis in record.axes for var in axis.variables]
        return RecordForm(tuple(keys), len(at)), [*found, *at]

    def receive(self, name: str, form: Form | RecordForm | int) -> None:
        if not isinstance(form, RecordForm):
            super().receive(name, form)
            return
        names = [*form.keys, *(f"at{number}" for number in range(form.rank))]
        span = self.span(self.parameters[name])
        made = [self.module.variable(self.unique_name(f"{name}_{each.replace('.', '_')}"), span) for each in names]
        self.received[name] = made
        self.take_record(name, form, made)

    def take_record(self, name: str, form: RecordForm, variables: list[_native.Var]) -> None:
        """The name stands for the records that consist of these variables."""
        count = len(form.keys)
        axes = tuple(Axis(var) for var in variables[count:])
        self.records[name] = Record(dict(zip(form.keys, variables, strict=False)), "", axes)
