"""Records in kernels: arrays of records, `p = r[i]`, `q = r[1:]`, nested records, and all of these as arguments of
device functions.

Each used field is a separate array or number: a parameter of the entry (like the entries of a dict), an array that the
kernel makes, or a parameter of a device function. An element of records is a list of subscripts for all fields, and a
slice of records is a name for that part of each field.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from ... import _native
from ...syntax.names import Binding
from ...syntax.source import FunctionSource
from ...vocabulary.operators import scalar_name
from ..expressions.arrays import dict_entry, index_part, numbers_of
from ..expressions.conditions import condition
from ..expressions.evaluation import lower_all, lower_held
from ..expressions.tuples import parts_given
from ..forms import CapturedRecords, Record, RecordArray, RecordForm
from ..scope import FunctionScope
from .record_paths import FieldsOf, Leaf, Path, are_records, field_type, joined, leaves, path_of, place_type

# ------------------------------------------------------------ expressions that are records


def record_path(fn: FunctionScope, node: ast.expr) -> Path | None:
    """The path of `node`, if it begins with a name that refers to records; the path may end at a field."""
    path = path_of(node) if fn.has_records else None
    return path if path is not None and _stands_for_records(fn, path.root.id) else None


def _stands_for_records(fn: FunctionScope, name: str) -> bool:
    if name in fn.records or _known_records(fn, name) is not None or _capture_records(fn, name):
        return True
    is_own = fn.entry and name in fn.parameters and name not in fn.tuple_params
    return is_own and bool(fn.program.uses.fields(fn.source, name))


def _known_records(fn: FunctionScope, name: str) -> np.dtype[Any] | None:
    """The record type of a parameter of the kernel; None if the parameter is not known to be records."""
    kind = fn.kind_of(name)
    return kind.element if kind is not None and isinstance(kind.element, np.dtype) else None


def is_unused_record(fn: FunctionScope, name: str) -> bool:
    """Whether a parameter of the kernel is records of which the kernel uses no field."""
    return _known_records(fn, name) is not None and name not in fn.dict_params


def is_record(fn: FunctionScope, node: ast.expr, used: frozenset[str] = frozenset()) -> bool:
    """Whether `node` is records or a single record, of which the fields `used` are used."""
    path = record_path(fn, node)
    if path is None:
        return False
    if not path.key:
        return True
    dtype = _base(fn, path).dtype
    found = None if dtype is None else place_type(dtype, path.key)
    return bool(used) if dtype is None else found is not None and found[0].names is not None


def _base(fn: FunctionScope, path: Path) -> Record:
    """The records that the root of the path refers to."""
    known = fn.records.get(path.root.id)
    if known is not None:
        return known
    kind = fn.kind_of(path.root.id)
    return Record({}, path.root.id, "", (), None if kind is None else kind.ndim, _known_records(fn, path.root.id))


def dimensions_of(record: Record) -> int | None:
    """The number of dimensions of records that are not subscripted; None if it is unknown."""
    return None if record.rank is None else record.rank - len(record.at)


# ------------------------------------------------------------ fields and elements


def record_of(fn: FunctionScope, node: ast.expr, shown: str = "", used: frozenset[str] = frozenset()) -> Record | None:
    """The records that `node` refers to, with the present values of the subscripts; None after an error. `used` are the
    fields that are known to be used, and `shown` is the name in messages."""
    path = record_path(fn, node)
    assert path is not None
    if not fn.is_assigned(path.root):
        return None
    known = _inside_field(fn, _base(fn, path), path)
    for index in path.indices:
        parts = list(parts_given(index))
        if known is None:
            return None
        if known.rank is not None and len(parts) > known.rank - len(known.at):
            fn.error("P025", node, "there are more subscripts than dimensions", "leave some out")
            return None
        known = _subscripted(fn, known, path, parts, shown, used)
    return known


def _subscripted(
    fn: FunctionScope, record: Record, path: Path, parts: list[ast.expr], shown: str, used: frozenset[str]
) -> Record | None:
    """r[i, j] and r[1:]; None after an error."""
    for part in parts:
        if not isinstance(part, ast.Slice) and not numbers_of(fn, part):
            fn.error("P025", part, "records are subscripted by integers and slices", "leave this out")
            return None
    numbers = [n for part in parts for n in numbers_of(fn, part)]
    if not any(isinstance(part, ast.Slice) for part in parts):
        held = [fn.hold(value, n, shown=shown) for value, n in zip(lower_all(fn, numbers), numbers, strict=True)]
        return record._replace(at=(*record.at, *held))
    makers = [lower_held(fn, number, shown) for number in numbers]
    keys = _keys_used(fn, record, path, used)
    if not keys:
        fn.want_kinds(path.root)
        return None
    names: dict[str, _native.Var] = {}
    for key in keys:
        field = field_of(fn, record, key, path.root)
        if field is None:
            return None
        values = (make() for make in makers)
        span = fn.span(path.root)
        at = [fn.module.read(var, span) for var in record.at]
        elements = fn.module.load(field, [*at, *(index_part(fn, each, values) for each in parts)], span)
        name = f"{shown or ast.unparse(path.root)}.{key}"
        names[joined(record.prefix, key)] = fn.hold(elements, path.root, shown=name)
    integers = sum(not isinstance(part, ast.Slice) for part in parts)
    rank = None if record.rank is None else record.rank - len(record.at) - integers
    return record._replace(fields=names, owner="", at=(), rank=rank, is_part=True)


def _keys_used(fn: FunctionScope, record: Record, path: Path, used: frozenset[str]) -> list[str]:
    """The keys of the fields of numbers for which a slice of the records names parts."""
    if record.dtype is not None:
        return [leaf.key for leaf in leaves(record.dtype)]
    return sorted(used or _fields_through(fn, path))


def _fields_through(fn: FunctionScope, path: Path) -> set[str]:
    """The keys below the path of the fields that the function uses."""
    ahead = path.key + "." if path.key else ""
    used = fn.program.uses.fields(fn.source, path.root.id)
    return {key[len(ahead) :] for key in used if key.startswith(ahead)}


def _inside_field(fn: FunctionScope, record: Record, path: Path) -> Record | None:
    """The nested records in the field of the path, or the records themselves if the path has no field."""
    if not path.key:
        return record
    made = record._replace(prefix=joined(record.prefix, path.key))
    if record.dtype is None or record.rank is None:
        return made._replace(dtype=None, rank=None)
    found = place_type(record.dtype, path.key)
    if found is None or found[0].names is None:
        assert path.key_node is not None
        fn.error("P025", path.key_node, f"'{path.key}' is not a field of records of the type {record.dtype}")
        return None
    return made._replace(dtype=found[0], rank=record.rank + len(found[1]))


def some_field(fn: FunctionScope, record: Record, path: Path) -> _native.Var | None:
    """A field of numbers, whose first dimensions are those of the records; None after an error."""
    known = record.dtype
    keys = _fields_through(fn, path) if known is None else {leaf.key for leaf in leaves(known)}
    have = {key for key in keys if joined(record.prefix, key) in record.fields}
    keys = have or keys
    if not keys:
        fn.want_kinds(path.root)
        return None
    return field_of(fn, record, min(keys), path.root)


def field_of(fn: FunctionScope, record: Record, key: str, node: ast.expr) -> _native.Var | None:
    """The variable of a field, an array or a number; None after an error."""
    key = joined(record.prefix, key)
    if not record.owner:
        if key not in record.fields and make_field(fn, record, key, node) is None:
            fn.want_kinds(node)
            return None
        return record.fields[key]
    owner = ast.copy_location(ast.Name(record.owner, ast.Load()), node)
    entry = ast.copy_location(ast.Subscript(owner, ast.copy_location(ast.Constant(key), node), ast.Load()), node)
    return dict_entry(fn, entry, key)


# ------------------------------------------------------------ shapes


def record_extent(fn: FunctionScope, record: Record, path: Path, index: int, node: ast.expr) -> _native.Expr:
    """r.shape[index] in `node`, of the records that the path names."""
    known = dimensions_of(record)
    if index != 0 and known is None:
        fn.want_kinds(node)
        return fn.poison(node)
    if known is not None and not -known <= index < known:
        fn.error("P026", node, f"there are {known} dimensions, so there is no dimension {index}")
        return fn.poison(node)
    field, place = some_field(fn, record, path), len(record.at) + (index % known if known else 0)
    return fn.poison(node) if field is None else fn.module.extent(field, place, fn.span(node))


def record_rank(fn: FunctionScope, record: Record, node: ast.expr) -> int | None:
    """r.ndim in `node`; None after an error."""
    known = dimensions_of(record)
    if known is None:
        fn.want_kinds(node)
    return known


def record_size(fn: FunctionScope, record: Record, path: Path, node: ast.expr) -> _native.Expr:
    """r.size in `node`"""
    known, total = record_rank(fn, record, node), fn.integer(1, node)
    for index in range(known or 0):
        total = fn.op("*", node, total, record_extent(fn, record, path, index, node))
    return fn.poison(node) if known is None else total


# ------------------------------------------------------------ records outside the function


def _capture_records(fn: FunctionScope, name: str) -> bool:
    """Whether the name is that of an array of records outside the function."""
    binding = None if name in fn.scope.locals else fn.scope.lookup(name)
    if binding is None or not are_records(binding.value):
        return False
    fn.rely_on(binding)
    place = id(binding.container), binding.key
    fields = fn.program.record_places.setdefault(place, FieldsOf(binding.container, binding.key))
    name_captured(fn, name, name, binding.value, fields)
    return True


def name_captured(fn: FunctionScope, name: str, shown: str, records: Any, container: Mapping[str, Any]) -> None:
    """Makes the name refer to records from outside the function, whose fields the container holds."""
    fields: dict[str, _native.Var] = {}
    fn.captured_records.append(CapturedRecords(shown, container, fields, records.ndim, records.dtype))
    fn.records[name] = Record(fields, "", "", (), records.ndim, records.dtype)
    fn.assigned.add(name)


def _captured_field(fn: FunctionScope, record: Record, key: str, node: ast.expr) -> _native.Var | None:
    """A field of records from outside the function; None for other records."""
    found = next((each for each in fn.captured_records if each.fields is record.fields), None)
    if found is None:
        return None
    leaf = field_type(found.dtype, key)
    if leaf is None:
        fn.error("P025", node, f"'{key}' is not a field of numbers of '{found.shown}', which is of {record.dtype}")
        record.fields[key] = fn.temporary(fn.span(node))
        return record.fields[key]
    binding = Binding(found.container[key], found.container, key)
    var = fn.captured(binding, f"{found.shown}.{key}", node)
    record.fields[key] = var
    return var


def is_record_value(fn: FunctionScope, target: ast.Name, value: ast.expr) -> bool:
    """Whether `target = value` gives a name to a record."""
    if isinstance(value, ast.IfExp):
        return is_record_value(fn, target, value.body) and is_record_value(fn, target, value.orelse)
    return is_record(fn, value, fn.program.uses.fields(fn.source, target.id))


def assign_record(fn: FunctionScope, target: ast.Name, value: ast.expr) -> None:
    """`p = r[i]`"""
    made = _chosen_record(fn, value, target, fn.program.uses.fields(fn.source, target.id))
    fn.assigned.add(target.id)
    if made is not None:
        _name_record(fn, target, made)


def _chosen_record(fn: FunctionScope, node: ast.expr, target: ast.Name, used: frozenset[str]) -> Record | None:
    """`r[i] if c else r[j]` for records of one array."""
    if not isinstance(node, ast.IfExp):
        return record_of(fn, node, target.id, used)
    span, test = fn.span(node), condition(fn, node.test)
    sides = [fn.branch(partial(_chosen_record, fn, part, target, used)) for part in (node.body, node.orelse)]
    one, other = sides[0][0], sides[1][0]
    if one is None or other is None:
        return None
    if not _same_kind(one, other):
        _refuse_other(fn, target)
        return None
    held = [fn.temporary(span, target.id) for _ in one.variables]
    for record, before in ((one, sides[0][1]), (other, sides[1][1])):
        before.extend(_become(fn, held, record, target))
    fn.out.append(fn.module.if_(test, sides[0][1], sides[1][1], span))
    return one.of_variables(held)


def _name_record(fn: FunctionScope, target: ast.Name, made: Record) -> None:
    known = fn.records.get(target.id)
    if fn.may_rebind(target.id):
        fn.records[target.id] = made
    elif known is not None and _same_kind(known, made):
        fn.out.extend(_become(fn, known.variables, made, target))
    else:
        _refuse_other(fn, target)


def _become(fn: FunctionScope, variables: list[_native.Var], record: Record, target: ast.Name) -> list[_native.Stmt]:
    """Assigns the variables of the record to these variables."""
    span = fn.span(target)
    return [
        fn.module.assign(old, fn.module.read(new, span), None, span)
        for old, new in zip(variables, record.variables, strict=True)
    ]


def _refuse_other(fn: FunctionScope, target: ast.Name) -> None:
    fn.error(
        "P016",
        target,
        f"'{target.id}' is something else elsewhere",
        "give each record a name of its own, or choose among the subscripts: r[i if c else j]",
    )


# ------------------------------------------------------------ copies


def record_copy(fn: FunctionScope, target: ast.expr, value: ast.expr, node: ast.stmt) -> bool:
    """`r[i] = s[j]`: whether the assignment copies a record; also True after an error in such an assignment."""
    if not copies_record(fn, target, value):
        return False
    source = copied_record(fn, target, value, node)
    if source is not None:
        store_record(fn, target, source, node)
    return True


def copies_record(fn: FunctionScope, target: ast.expr, value: ast.expr) -> bool:
    """Whether `target = value` copies a record, as far as kinds are known."""
    return isinstance(target, ast.Subscript) and (_is_copied(fn, target) or _is_copied(fn, value))


def copied_record(fn: FunctionScope, target: ast.expr, value: ast.expr, node: ast.stmt) -> Record | None:
    """The record that the target gets; None after an error."""
    if not is_no_record(fn, target) and not is_no_record(fn, value):
        return record_of(fn, value)
    if not fn.program.knows_all:
        fn.want_kinds(node)
    else:
        fn.error("P016", node, "records and other values are assigned to each other", "assign single fields")
    return None


def store_record(fn: FunctionScope, target: ast.expr, source: Record, node: ast.stmt) -> None:
    """Copies the record to the target."""
    made = record_of(fn, target)
    if made is None:
        return
    if source.dtype is None or made.dtype is None:
        fn.want_kinds(node)
    elif not source.is_element or not made.is_element:
        fn.error("P016", node, "records are copied one by one", "write a for loop")
    elif leaves(source.dtype) != leaves(made.dtype):
        fn.error(
            "P016", node, f"records of the type {source.dtype} would have to become records of the type {made.dtype}"
        )
    else:
        for leaf in leaves(made.dtype):
            copy_leaf(fn, made, source, leaf, node)


def _is_copied(fn: FunctionScope, node: ast.expr) -> bool:
    """Whether `node` is known to be records."""
    path = record_path(fn, node)
    return path is not None and (not path.key or is_record(fn, node))


def is_no_record(fn: FunctionScope, node: ast.expr) -> bool:
    """Whether `node` is known to be no record."""
    path = record_path(fn, node)
    dtype = None if path is None else _base(fn, path).dtype
    found = place_type(dtype, path.key) if path is not None and dtype is not None and path.key else None
    return path is None or (found is not None and found[0].names is None)


def copy_leaf(fn: FunctionScope, target: Record, source: Record, leaf: Leaf, node: ast.stmt) -> None:
    """Copies one field of numbers, element by element if it is an array."""
    span = fn.span(node)
    inner = [fn.temporary(span) for _ in leaf.shape]
    sides = []
    for record in (target, source):
        array = field_of(fn, record, leaf.key, _name_at(node))
        indices = [fn.module.read(var, span) for var in record.at]
        sides.append((array, [*indices, *(fn.module.read(var, span) for var in inner)]))
    (array, to), (given, of) = sides
    if array is None or given is None:
        return
    value = fn.module.load(given, of, span) if of else fn.module.read(given, span)
    store = fn.module.store
    copy = store(array, to, value, None, span) if to else fn.module.assign(array, value, None, span)
    for var, extent in zip(reversed(inner), reversed(leaf.shape), strict=True):
        begin, end, step = (fn.module.constant(bound, span) for bound in (0, extent, 1))
        copy = fn.module.for_(var, begin, end, step, [copy], span)
    fn.out.append(copy)


# ------------------------------------------------------------ arguments


def is_record_argument(fn: FunctionScope, argument: ast.expr, source: FunctionSource, parameter: str) -> bool:
    """Whether the argument is records."""
    return fn.has_records and is_record(fn, argument, fn.program.uses.fields(source, parameter))


def record_apart(
    fn: FunctionScope, node: ast.expr, source: FunctionSource, parameter: str
) -> tuple[RecordForm, list[_native.Var]] | None:
    """The form of the records and the variables that are passed to a function; None after an error."""
    record = record_of(fn, node, used=fn.program.uses.fields(source, parameter))
    if record is None:
        return None
    told = fn.program.knows_all and record.dtype is not None
    keys = sorted(fn.program.uses.fields(source, parameter))
    if told and record.dtype is not None:
        keys = [leaf.key for leaf in leaves(record.dtype)]
    elif not keys:
        fn.want_kinds(node)
        return None
    fields = [field_of(fn, record, key, node) for key in keys]
    found = [var for var in fields if var is not None]
    if len(found) < len(keys):
        return None
    form = RecordForm(tuple(keys), len(record.at), record.rank if told else None, record.dtype if told else None)
    return form, [*found, *record.at]


def receive_records(fn: FunctionScope, name: str, form: RecordForm) -> None:
    """Receives a parameter that is records: variables for its fields and for its subscripts."""
    fields = [fn.received_variable(name, key, f"{name}.{key}") for key in form.keys]
    at = [fn.received_variable(name, f"at{number}") for number in range(form.taken)]
    fn.received[name] = [*fields, *at]
    take_record(fn, name, form, fields, at)


def take_record(
    fn: FunctionScope, name: str, form: RecordForm, fields: list[_native.Var], at: list[_native.Var]
) -> None:
    """Makes the name refer to the records that consist of these variables."""
    fn.records[name] = Record(dict(zip(form.keys, fields, strict=True)), "", "", tuple(at), form.rank, form.dtype)


def make_field(fn: FunctionScope, record: Record, key: str, node: ast.expr) -> _native.Var | None:
    """The variable of a further field of records that the kernel makes or captures; None for other records."""
    for array in fn.record_arrays.values():
        if array.fields is record.fields:
            return add_field(fn, array, key, fn.allocations.append)
    return _captured_field(fn, record, key, node)


def add_field(
    fn: FunctionScope, array: RecordArray, key: str, make: Callable[[_native.Stmt], None]
) -> _native.Var | None:
    """The array of one field of the records; None after an error."""
    name, call = array.target.id, array.call
    found = field_type(array.dtype, key)
    scalar = None if found is None else scalar_name(found[0])
    if found is None or scalar is None or array.sizes == [0]:
        what = "the dynamic shared memory of a launch, shape 0, cannot hold records"
        if array.sizes != [0]:
            what = f"the records of '{name}' have no field '{key}' that is a number"
        fn.error("P023", call, what, f"its type is {array.dtype}")
        return None
    wanted = fn.unique_name(f"{name}_{key.replace('.', '_')}")
    var = fn.module.variable(wanted, fn.span(array.target), f"{name}.{key}")
    shape = [*array.sizes, *found[1]]
    make(fn.module.alloc(var, scalar, array.space, shape, None, fn.span(call)))
    array.fields[key] = var
    return var


def _name_at(node: ast.stmt) -> ast.expr:
    return ast.copy_location(ast.Name("", ast.Load()), node)


def _same_kind(one: Record, other: Record) -> bool:
    if one.is_part or other.is_part:
        return one.is_part and other.is_part and _shape_of(one) == _shape_of(other)
    same = (one.owner, one.prefix, len(one.at)) == (other.owner, other.prefix, len(other.at))
    return same and (bool(one.owner) or one.fields is other.fields or one.fields == other.fields)


def _shape_of(part: Record) -> object:
    return part.fields.keys(), part.prefix, len(part.at), part.rank, part.dtype
