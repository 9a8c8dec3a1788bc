"""Records in kernels: arrays of them, `p = r[i]`, `q = r[1:]`, records in records, and all of these as arguments of
device functions.

The fields that are used are arrays, or numbers, of their own: parameters of the entry (as the entries of a dict are),
arrays that the kernel makes, or parameters of the function that gets them. An element of records is a view of each.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .. import _native
from ..syntax.names import Binding
from ..syntax.source import FunctionSource
from .lazy import lazy
from .record_paths import FieldsOf, Leaf, Path, are_records, field_type, joined, leaves, path_of, place_type
from .scope import ArrayForm, Axis, Form, RecordForm, View, axes_of
from .uses import TupleForm
from .views import Views


class Record(NamedTuple):
    """An array of records, or an element: its `fields`, or the parameter of the entry that has them, which field of
    these it is (`prefix`), and how it is subscripted; where they are known, how many dimensions there are with those
    that are subscripted, and its type."""

    fields: dict[str, _native.Var]
    owner: str
    prefix: str
    axes: tuple[Axis, ...]
    rank: int | None = None
    dtype: np.dtype[Any] | None = None

    @property
    def taken(self) -> int:
        """How many dimensions are subscripted by integers."""
        return sum(axis.at is not None for axis in self.axes)

    @property
    def is_element(self) -> bool:
        """Whether it is a single record."""
        return self.rank == self.taken


class CapturedRecords(NamedTuple):
    """An array of records from outside the function: what messages call it, and where its fields are found by key."""

    shown: str
    container: Mapping[str, Any]
    fields: dict[str, _native.Var]
    ndim: int
    dtype: np.dtype[Any]


class Records(Views):
    """Records in one function."""

    @lazy
    def captured_records(self) -> list[CapturedRecords]:
        """Those that the function uses."""
        return []

    # ------------------------------------------------------------ what is one

    def record_path(self, node: ast.expr) -> Path | None:
        """`node` taken apart, if it starts at a name that stands for records; it may be a field of them."""
        path = path_of(node) if self.has_views and self.program.kernel else None
        return path if path is not None and self._stands_for_records(path.root.id) else None

    def _stands_for_records(self, name: str) -> bool:
        if name in self.records or self._known_records(name) is not None or self._capture_records(name):
            return True
        return self.entry and name in self.parameters and bool(self.program.uses.fields(self.source, name))

    def _known_records(self, name: str) -> np.dtype[Any] | None:
        """The type of a parameter of the kernel that is known to be records."""
        kind = self.kind_of(name)
        return kind.element if kind is not None and isinstance(kind.element, np.dtype) else None

    def is_unused_record(self, name: str) -> bool:
        """Whether a parameter of the kernel is records of which it uses nothing."""
        return self._known_records(name) is not None and name not in self.dict_params

    def is_record(self, node: ast.expr, used: frozenset[str] = frozenset()) -> bool:
        """Whether `node` is records or one of them, of which the fields `used` are used."""
        path = self.record_path(node)
        if path is None:
            return False
        if not path.key:
            return True
        dtype = self._base(path).dtype
        found = None if dtype is None else place_type(dtype, path.key)
        return bool(used) if dtype is None else found is not None and found[0].names is not None

    def _base(self, path: Path) -> Record:
        """The records that the name stands for."""
        known = self.records.get(path.root.id)
        if known is not None:
            return known
        kind = self.kind_of(path.root.id)
        return Record({}, path.root.id, "", (), None if kind is None else kind.ndim, self._known_records(path.root.id))

    def record_dimensions(self, path: Path) -> int | None:
        """How many dimensions there are without the path's own subscripts; None if that is not known."""
        base = self._base(path)
        known = base if base.dtype is None else self._inside_field(base, path)
        return None if known is None or known.rank is None else known.rank - known.taken

    # ------------------------------------------------------------ fields and elements

    def record_of(self, node: ast.expr, shown: str = "") -> Record | None:
        """The records that `node` is, subscripted as it is now; None after an error."""
        path = self.record_path(node)
        assert path is not None
        if not self.is_assigned(path.root):
            return None
        known = self._inside_field(self._base(path), path)
        if known is None:
            return None
        field = self._some_field(known, path) if path.indices else None
        for index in path.indices:
            parts = list(self.index_parts(index))
            if known.rank is not None and len(parts) > known.rank - known.taken:
                self.error("P025", node, "there are more subscripts than dimensions", "leave some out")
                return None
            made = None if field is None else self.view_from(field, known.axes, parts, shown)
            if made is None:
                return None
            known = known._replace(axes=made.axes)
        return known

    def _inside_field(self, record: Record, path: Path) -> Record | None:
        """The records in the field of records that the path has."""
        if not path.key:
            return record
        made = record._replace(prefix=joined(record.prefix, path.key))
        if record.dtype is None or record.rank is None:
            return made._replace(dtype=None, rank=None)
        found = place_type(record.dtype, path.key)
        if found is None or found[0].names is None:
            assert path.key_node is not None
            self.error("P025", path.key_node, f"'{path.key}' is no field of records of the type {record.dtype}")
            return None
        return made._replace(dtype=found[0], rank=record.rank + len(found[1]))

    def _some_field(self, record: Record, path: Path) -> _native.Var | None:
        """A field of numbers, whose first dimensions are those of the records; None after an error."""
        if record.dtype is not None:
            keys = {leaf.key for leaf in leaves(record.dtype)}
        else:
            ahead = path.key + "." if path.key else ""
            used = self.program.uses.fields(self.source, path.root.id)
            keys = {key[len(ahead) :] for key in used if key.startswith(ahead)}
        have = {key for key in keys if joined(record.prefix, key) in record.fields}
        keys = have or keys
        if not keys:
            self.want_kinds(path.root)
            return None
        return self.field_of(record, min(keys), path.root)

    def field_of(self, record: Record, key: str, node: ast.expr) -> _native.Var | None:
        """The array, or number, that a field is; None after an error."""
        key = joined(record.prefix, key)
        if not record.owner:
            if key not in record.fields and self.make_field(record, key, node) is None:
                self.want_kinds(node)
                return None
            return record.fields[key]
        owner = ast.copy_location(ast.Name(record.owner, ast.Load()), node)
        entry = ast.copy_location(ast.Subscript(owner, ast.copy_location(ast.Constant(key), node), ast.Load()), node)
        return self.array(entry)

    def make_field(self, record: Record, key: str, node: ast.expr) -> _native.Var | None:
        """A further field of records that the kernel makes or captures; None of others."""
        raise NotImplementedError

    # ------------------------------------------------------------ from outside

    def _capture_records(self, name: str) -> bool:
        """Whether the name is that of an array of records outside the function."""
        binding = None if name in self.scope.locals else self.scope.lookup(name)
        if binding is None or not are_records(binding.value):
            return False
        self.rely_on(binding)
        place = id(binding.container), binding.key
        fields = self.program.record_places.setdefault(place, FieldsOf(binding.container, binding.key))
        self.name_captured(name, name, binding.value, fields)
        return True

    def name_captured(self, name: str, shown: str, records: Any, container: Mapping[str, Any]) -> None:
        """The name stands for records from outside, whose fields are in the container."""
        fields: dict[str, _native.Var] = {}
        self.captured_records.append(CapturedRecords(shown, container, fields, records.ndim, records.dtype))
        self.records[name] = Record(fields, "", "", (), records.ndim, records.dtype)
        self.assigned.add(name)

    def captured_field(self, record: Record, key: str, node: ast.expr) -> _native.Var | None:
        """A field of records from outside; None of others."""
        found = next((each for each in self.captured_records if each.fields is record.fields), None)
        if found is None:
            return None
        leaf = field_type(found.dtype, key)
        if leaf is None:
            self.error("P025", node, f"'{key}' is no field of numbers of '{found.shown}', which is of {record.dtype}")
            record.fields[key] = self.temporary(self.span(node))
            return record.fields[key]
        binding = Binding(found.container[key], found.container, key)
        var = self.captured(binding, f"{found.shown}.{key}", node)
        self.ranks[var] = found.ndim + len(leaf[1])
        record.fields[key] = var
        return var

    def array(self, node: ast.expr) -> _native.Var | None:
        if isinstance(node, ast.Name) and node.id not in self.records and self.record_path(node) is not None:
            self.error("P204", node, f"the records '{node.id}' are used as numbers", f"take a field, {node.id}[0].x")
            return None
        return super().array(node)

    def view_of(self, node: ast.expr) -> View | None:
        if not self.is_record(node):
            return super().view_of(node)
        record, path = self.record_of(node), self.record_path(node)
        var = None if record is None or path is None else self._some_field(record, path)
        return None if record is None or var is None else View(var, record.axes, True, record.rank)

    def is_view(self, node: ast.expr) -> bool:
        return super().is_view(node) or self.is_record(node)

    def view_named(self, node: ast.expr) -> View | None:
        path = self.record_path(node) if isinstance(node, ast.Subscript) else None
        if path is None or path.key_node is not node or path.root.id not in self.records:
            return super().view_named(node)
        record = self.records[path.root.id]
        var = self.field_of(record, path.key, node) if self.is_assigned(path.root) else None
        return None if var is None else View(var, record.axes)

    # ------------------------------------------------------------ names

    def is_view_value(self, target: ast.Name, value: ast.expr) -> bool:
        return self._is_record_value(target, value) or super().is_view_value(target, value)

    def _is_record_value(self, target: ast.Name, value: ast.expr) -> bool:
        if isinstance(value, ast.IfExp):
            return self._is_record_value(target, value.body) and self._is_record_value(target, value.orelse)
        return self.is_record(value, self.program.uses.fields(self.source, target.id))

    def view_assignment(self, target: ast.expr, value: ast.expr) -> bool:
        if not isinstance(target, ast.Name) or not self._is_record_value(target, value):
            return super().view_assignment(target, value)
        chosen = isinstance(value, ast.IfExp)
        made = self._chosen_record(value, target) if chosen else self.record_of(value, target.id)
        self.assigned.add(target.id)
        if made is not None:
            self._name_record(target, made)
        return True

    def _chosen_record(self, node: ast.expr, target: ast.Name) -> Record | None:
        """`r[i] if c else r[j]`, of records of one array."""
        if not isinstance(node, ast.IfExp):
            return self.record_of(node, target.id)
        span, test = self.span(node), self.condition(node.test)
        sides = [self.branch(partial(self._chosen_record, part, target)) for part in (node.body, node.orelse)]
        one, other = sides[0][0], sides[1][0]
        if one is None or other is None:
            return None
        if not _same_kind(one, other):
            self._refuse_other(target)
            return None
        held = [self.temporary(span, target.id) for _ in _variables(one.axes)]
        for record, before in ((one, sides[0][1]), (other, sides[1][1])):
            for var, value in zip(held, _variables(record.axes), strict=True):
                before.append(self.module.assign(var, self.module.read(value, span), None, span))
        self.out.append(self.module.if_(test, sides[0][1], sides[1][1], span))
        return one._replace(axes=axes_of(_form(one.axes), iter(held)))

    def _name_record(self, target: ast.Name, made: Record) -> None:
        known = self.records.get(target.id)
        if self.may_rebind(target.id):
            self.stand_for_nothing(target.id)
            self.records[target.id] = made
        elif known is not None and _same_kind(known, made):
            span = self.span(target)
            for old, new in zip(_variables(known.axes), _variables(made.axes), strict=True):
                self.out.append(self.module.assign(old, self.module.read(new, span), None, span))
        else:
            self._refuse_other(target)

    def _refuse_other(self, target: ast.Name) -> None:
        self.error(
            "P016",
            target,
            f"'{target.id}' is something else elsewhere",
            "give each record a name of its own, or choose among the subscripts: r[i if c else j]",
        )

    # ------------------------------------------------------------ copies

    def record_copy(self, target: ast.expr, value: ast.expr, node: ast.stmt) -> bool:
        """`r[i] = s[j]`: whether the assignment copies a record, or would if what is there were right."""
        if not self.copies_record(target, value):
            return False
        source = self.copied_record(target, value, node)
        if source is not None:
            self.store_record(target, source, node)
        return True

    def copies_record(self, target: ast.expr, value: ast.expr) -> bool:
        """Whether `target = value` is such a copy, as far as is known."""
        return isinstance(target, ast.Subscript) and (self._is_copied(target) or self._is_copied(value))

    def copied_record(self, target: ast.expr, value: ast.expr, node: ast.stmt) -> Record | None:
        """The record that the target gets; None after an error."""
        if not self.is_no_record(target) and not self.is_no_record(value):
            return self.record_of(value)
        if not self.program.knows_all:
            self.want_kinds(node)
        else:
            self.error("P016", node, "records and other values are assigned to each other", "assign single fields")
        return None

    def store_record(self, target: ast.expr, source: Record, node: ast.stmt) -> None:
        made = self.record_of(target)
        if made is None:
            return
        if source.dtype is None or made.dtype is None:
            self.want_kinds(node)
        elif not source.is_element or not made.is_element:
            self.error("P016", node, "records are copied one by one", "write a for loop")
        elif leaves(source.dtype) != leaves(made.dtype):
            self.error("P016", node, f"records of the type {source.dtype} become such of the type {made.dtype}")
        else:
            for leaf in leaves(made.dtype):
                self.copy_leaf(made, source, leaf, node)

    def _is_copied(self, node: ast.expr) -> bool:
        """Whether `node` is certainly records, as far as is known."""
        path = self.record_path(node)
        return path is not None and (not path.key or self.is_record(node))

    def is_no_record(self, node: ast.expr) -> bool:
        """Whether `node` is certainly no record."""
        path = self.record_path(node)
        dtype = None if path is None else self._base(path).dtype
        found = place_type(dtype, path.key) if path is not None and dtype is not None and path.key else None
        return path is None or (found is not None and found[0].names is None)

    def copy_leaf(self, target: Record, source: Record, leaf: Leaf, node: ast.stmt) -> None:
        span = self.span(node)
        inner = [self.temporary(span) for _ in leaf.shape]
        sides = []
        for record in (target, source):
            array = self.field_of(record, leaf.key, _name_at(node))
            indices = [self.module.read(axis.at, span) for axis in record.axes if axis.at is not None]
            sides.append((array, [*indices, *(self.module.read(var, span) for var in inner)]))
        (array, to), (given, of) = sides
        if array is None or given is None:
            return
        value = self.module.load(given, of, span) if of else self.module.read(given, span)
        store = self.module.store
        copy = store(array, to, value, None, span) if to else self.module.assign(array, value, None, span)
        for var, extent in zip(reversed(inner), reversed(leaf.shape), strict=True):
            begin, end, step = (self.module.constant(bound, span) for bound in (0, extent, 1))
            copy = self.module.for_(var, begin, end, step, [copy], span)
        self.out.append(copy)

    # ------------------------------------------------------------ arguments

    def is_record_argument(self, argument: ast.expr, source: FunctionSource, parameter: str) -> bool:
        """Whether records are given to a function."""
        return self.is_record(argument, self.program.uses.fields(source, parameter))

    def record_apart(
        self, node: ast.expr, source: FunctionSource, parameter: str
    ) -> tuple[RecordForm, list[_native.Var]] | None:
        """What a function gets of the records; None after an error."""
        record = self.record_of(node)
        if record is None:
            return None
        told = self.program.knows_all and record.dtype is not None
        keys = sorted(self.program.uses.fields(source, parameter))
        if told and record.dtype is not None:
            keys = [leaf.key for leaf in leaves(record.dtype)]
        elif not keys:
            self.want_kinds(node)
            return None
        fields = [self.field_of(record, key, node) for key in keys]
        found = [var for var in fields if var is not None]
        if len(found) < len(keys):
            return None
        form = RecordForm(
            tuple(keys),
            View(found[0], record.axes).form,
            record.rank if told else None,
            record.dtype if told else None,
        )
        return form, [*found, *_variables(record.axes)]

    def receive(self, name: str, form: ArrayForm | RecordForm | TupleForm) -> None:
        if not isinstance(form, RecordForm):
            super().receive(name, form)
            return
        fields = [self.received_variable(name, key, f"{name}.{key}") for key in form.keys]
        axes = self.received_axes(name, form.axes)
        self.received[name] = [*fields, *_variables(axes)]
        self.take_record(name, form, fields, axes)

    def take_record(self, name: str, form: RecordForm, fields: list[_native.Var], axes: tuple[Axis, ...]) -> None:
        """The name stands for the records that consist of these variables."""
        self.records[name] = Record(dict(zip(form.keys, fields, strict=True)), "", "", axes, form.rank, form.dtype)
        found = leaves(form.dtype) if form.dtype is not None else []
        for leaf in found:
            if form.rank is not None:
                self.ranks[self.records[name].fields[leaf.key]] = form.rank + len(leaf.shape)


def _variables(axes: tuple[Axis, ...]) -> list[_native.Var]:
    return [var for axis in axes for var in axis.variables]


def _form(axes: tuple[Axis, ...]) -> Form:
    return tuple((axis.at is not None, axis.begin is not None, axis.step) for axis in axes)


def _same_kind(one: Record, other: Record) -> bool:
    same = (one.owner, one.prefix, _form(one.axes)) == (other.owner, other.prefix, _form(other.axes))
    return same and (bool(one.owner) or one.fields is other.fields or one.fields == other.fields)


def _name_at(node: ast.stmt) -> ast.expr:
    return ast.copy_location(ast.Name("", ast.Load()), node)
