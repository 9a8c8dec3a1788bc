"""Lowers the arrays that kernels written by hand make: shared, local and constant arrays."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ... import _native
from ...syntax.names import Binding, is_array, is_scalar
from ...syntax.patterns import subscripts_of
from ...syntax.walks import children, walk
from ...syntax.whole_numbers import combined
from ...vocabulary.device import DeviceFunction
from ...vocabulary.operators import scalar_name
from ...vocabulary.signatures import Record as RecordType
from ...vocabulary.signatures import of_numba
from ..calls.arguments import fits
from ..calls.intrinsics import Intrinsic
from ..expressions.arrays import index_part, numbers_of
from ..expressions.evaluation import lower_all
from ..expressions.subscripts import array_of
from ..forms import Record, RecordArray
from ..scope import FunctionScope
from .record_paths import are_records, field, leaves
from .records import add_field, name_captured

_SIZES = {"bool": 1, "i8": 1, "u8": 1, "i16": 2, "u16": 2, "f16": 2, "bf16": 2, "i32": 4, "u32": 4, "f32": 4}
_MOST_ELEMENTS = 1 << 40  # larger arrays of a kernel exceed any memory and the limits of C++ compilers


def device_function(fn: FunctionScope, value: ast.expr, *lowerings: str) -> DeviceFunction | None:
    """The function of parpy.cuda that `value` calls, if it has one of these lowerings; otherwise None."""
    binding = fn.resolve(value.func) if isinstance(value, ast.Call) else None
    known = binding.value if binding is not None else None
    return known if isinstance(known, DeviceFunction) and known.lowering in lowerings else None


def makes_array(fn: FunctionScope, value: ast.expr) -> bool:
    """Whether the value is a new array of a kernel, or a part of one."""
    made = value.value if isinstance(value, ast.Subscript) else value
    return device_function(fn, made, "array", "const_array") is not None


def kernel_array(fn: FunctionScope, target: ast.expr, value: ast.expr, _: ast.stmt) -> bool:
    """`a = cuda.shared.array(…)` and similar assignments, also with subscripts; False for other assignments."""
    parts: list[ast.expr] = []
    if isinstance(value, ast.Subscript) and isinstance(value.value, ast.Call):
        parts = subscripts_of(value)
        value = value.value
    known = device_function(fn, value, "array", "const_array")
    if known is None or not isinstance(value, ast.Call):
        return False
    intrinsic = Intrinsic.of(known)
    fn.give_up_on(target)
    if not fn.in_kernel(intrinsic.name, value) or not fits(fn, value, intrinsic):
        return True
    if not isinstance(target, ast.Name):
        fn.error("P016", target, "an array of a kernel needs a name of its own", f"write a = {intrinsic.name}(…)")
    elif target.id in fn.variables or target.id in fn.records:
        fn.error(
            "P016",
            target,
            f"'{target.id}' is already something else",
            "give the array a name of its own, assigned once",
        )
    else:
        constant = known.lowering == "const_array"
        if constant and _constant_records(fn, target.id, value.args[0]):
            fn.assigned.add(target.id)
            return True
        own = fn.unique_name(f"{target.id}_all") if parts else target.id
        array = _constant_array(fn, value.args[0]) if constant else _allocate(fn, target, value, known.op, own)
        if array is not None and parts:
            _name_part(fn, target, array, parts)
        elif array is not None:
            fn.variables[target.id] = array
    return True


def _name_part(fn: FunctionScope, target: ast.Name, array: _native.Var, parts: list[ast.expr]) -> None:
    """`a = cuda.shared.array(…)[n:]`"""
    span = fn.span(target)
    numbers = [number for part in parts for number in numbers_of(fn, part)]
    values = iter(lower_all(fn, numbers))
    part = fn.module.load(array, [index_part(fn, each, values) for each in parts], span)
    var = fn.variable(target.id, target)
    fn.out.append(fn.module.assign(var, part, None, span))


def _constant_array(fn: FunctionScope, node: ast.expr) -> _native.Var | None:
    """The constant copy of a global array's present elements; a parameter is used itself."""
    make = fn.program.make_constant
    is_local = isinstance(node, ast.Name) and node.id in fn.scope.locals
    binding = fn.resolve(node) if isinstance(node, ast.Name | ast.Attribute) and not is_local else None
    if make is None or binding is None or not is_array(binding.value):
        if binding is None and isinstance(node, ast.Name | ast.Attribute):
            return array_of(fn, node)
        fix = "make it outside of the kernel: table = np.array([1, 2])"
        fn.error("P023", node, "'cuda.const.array_like' takes a global NumPy array by its name", fix)
        return None
    fn.rely_on(binding)
    key = str(id(binding.value))
    if key not in fn.program.constants:
        fn.program.constants[key] = make(binding.value)
    constant = Binding(fn.program.constants[key], fn.program.constants, key)
    return fn.captured(constant, ast.unparse(node), node)


def _constant_records(fn: FunctionScope, name: str, node: ast.expr) -> bool:
    """The constant copy of an array of records, in which each field is a separate array."""
    binding = fn.resolve(node) if isinstance(node, ast.Name | ast.Attribute) else None
    if binding is None or not are_records(binding.value):
        return False
    fn.rely_on(binding)
    known = fn.program.constant_records.get(id(binding.value))
    if known is None:
        make = fn.program.make_constant or np.array
        known = {leaf.key: make(field(binding.value, leaf.key)) for leaf in leaves(binding.value.dtype)}
        fn.program.constant_records[id(binding.value)] = known
    name_captured(fn, name, ast.unparse(node), binding.value, known)
    return True


def _is_alignment(fn: FunctionScope, node: ast.expr) -> bool:
    """Whether the node is None or a power of two, the numbers of bytes that arrays can be aligned to. Otherwise it
    reports an error."""
    if isinstance(node, ast.Constant) and node.value is None:
        return True
    found = _constant_value(fn, node)
    if found is not None and found > 0 and not found & (found - 1):
        return True
    fn.error("P023", node, "an alignment is a power of two that is known here", "write for example alignment=16")
    return False


def _allocate(fn: FunctionScope, target: ast.Name, call: ast.Call, space: str, name: str) -> _native.Var | None:
    """The array that the call makes, which has the target's name in messages; None after an error."""
    given = dict(zip(("shape", "dtype", "alignment"), call.args, strict=False))
    given.update({k.arg: k.value for k in call.keywords if k.arg is not None})
    if "shape" not in given or "dtype" not in given:
        fn.error("P023", call, f"'cuda.{space}.array' needs a shape and a dtype", "write (shape=(16, 16), dtype=…)")
        return None
    scalar = _element_type(fn, given["dtype"])
    record = _record_type(fn, given["dtype"]) if scalar is None else None
    if scalar is None and record is None:
        fn.error(
            "P023",
            given["dtype"],
            "the element type must be known here",
            "write for example np.float32, 'float32', or x.dtype of a parameter, a global or a kernel's array",
        )
        return None
    shape = given["shape"]
    parts = _extents(fn, shape)
    extents = [part if isinstance(part, int) else _constant_value(fn, part) for part in parts]
    for extent, part in zip(extents, parts, strict=True):
        if extent is None:
            fn.error(
                "P023",
                shape if isinstance(part, int) else part,
                "the shape of an array of a kernel must be constant",
                "use integers, global integers, tuples of them, and sums or products of them",
            )
            return None
    sizes = [extent for extent in extents if extent is not None]
    if not sizes or any(size < 0 for size in sizes) or (0 in sizes and (len(sizes) > 1 or space == "local")):
        fn.error("P023", shape, f"{sizes} is not the shape of an array", "use positive integers")
        return None
    if math.prod(sizes) > _MOST_ELEMENTS:
        fn.error("P023", shape, f"no memory holds an array of {math.prod(sizes)} elements", "make it smaller")
        return None
    if "alignment" in given and not _is_alignment(fn, given["alignment"]):
        return None
    span = fn.span(call)
    if scalar is None or record is not None:
        _allocate_records(fn, target, call, space, sizes, record)
        return None
    array = fn.module.variable(name, fn.span(target), "" if name == target.id else target.id)
    fn.element_types[target.id] = scalar
    fn.plain_uses.setdefault(target.id, target)
    size = _dynamic_size(fn, scalar, call) if sizes == [0] else None
    fn.add_allocation(fn.module.alloc(array, scalar, space, [] if size else sizes, size, span))
    return array


def _extents(fn: FunctionScope, shape: ast.expr) -> Sequence[ast.expr | int]:
    """The parts of a shape: a tuple display, a global tuple, or a variable with one assignment of a tuple."""
    if isinstance(shape, ast.Tuple):
        return shape.elts
    if isinstance(shape, ast.Name) and shape.id in fn.scope.locals:
        only = _only_value(fn, shape.id)
        return [shape] if only is None or _constant_value(fn, shape) is not None else _extents(fn, only)
    outside = fn.tuple_of(shape)
    if outside is not None and all(is_scalar(each) and not isinstance(each, bool) for each in outside):
        with suppress(TypeError):
            return [operator.index(each) for each in outside]
    return [shape]


def _record_type(fn: FunctionScope, node: ast.expr) -> np.dtype[Any] | None:
    """The record type that `node` names."""
    binding = fn.resolve(node)
    value = None if binding is None else of_numba(binding.value)
    value = value.dtype if isinstance(value, RecordType) else value
    if binding is None or not isinstance(value, np.dtype) or value.names is None:
        return None
    fn.rely_on(binding)
    return value


def _allocate_records(
    fn: FunctionScope, target: ast.Name, call: ast.Call, space: str, sizes: list[int], record: np.dtype[Any] | None
) -> None:
    """Makes an array for each field that the function uses. Other arrays are made when needed (make_field)."""
    made: dict[str, _native.Var] = {}
    fn.record_arrays[target.id] = RecordArray(target, call, space, sizes, record, made)
    fn.records[target.id] = Record(made, "", "", (), len(sizes), record)
    for key in sorted(fn.program.uses.fields(fn.source, target.id)):
        if add_field(fn, fn.record_arrays[target.id], key, fn.add_allocation) is None:
            return


def _element_type(fn: FunctionScope, node: ast.expr) -> str | None:
    """The number type that `node` names: a type, a dtype, NumPy's text for one, or the dtype of an array of known
    kind."""
    if isinstance(node, ast.Constant):
        return _type_of_text(node.value)
    if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        binding = fn.resolve(node.func)
        return _element_type(fn, node.args[0]) if binding is not None and binding.value is np.dtype else None
    if isinstance(node, ast.Attribute) and node.attr == "dtype":
        name = node.value.id if isinstance(node.value, ast.Name) else ""
        if name in fn.element_types:
            return fn.element_types[name]
        if name in fn.tuple_params:  # perhaps None, which is an error only if the code is reached
            whole = fn.module.read(fn.variable(name, node), fn.span(node))
            fn.out.append(fn.module.evaluate(fn.op("pos", node, whole), fn.span(node)))
            return "f64"
        if fn.entry and name in fn.parameters and name not in fn.records:
            fn.program.asked.add(name)
            kind = fn.program.known.get(name)
            known = "f64" if kind is None else kind.element
            return known if isinstance(known, str) else None
        owner = fn.resolve(node.value)
        if owner is not None and is_array(owner.value):
            fn.rely_on(owner)
            return scalar_name(getattr(owner.value, "dtype", None))
    binding = fn.resolve(node)
    if binding is None:
        return None
    fn.rely_on(binding)
    return scalar_name(binding.value) or _type_of_text(binding.value)


def _dynamic_size(fn: FunctionScope, scalar: str, node: ast.Call) -> _native.Var:
    """The number of elements in the launch's dynamic shared memory, computed on the host before the kernel."""
    if not fn.entry:
        fn.error(
            "P023",
            node,
            "a device function cannot declare the dynamic shared memory of the launch",
            "pass the array as an argument",
        )
    span = fn.span(node)
    count = fn.module.variable(fn.unique_name("shared_size"), span)
    bytes_each = _SIZES.get(scalar, 16 if scalar == "c128" else 8)
    total = fn.module.read(fn.geometry()[6], span)
    size = fn.op("//", node, total, fn.integer(bytes_each, node))
    fn.in_front.append(fn.module.assign(count, fn.module.convert(size, "i64", span), None, span))
    return count


def _constant_value(fn: FunctionScope, node: ast.expr) -> int | None:
    """The value of an integer expression of constants, globals and variables with one assignment of such a value."""
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if isinstance(node, ast.BinOp):
        left, right = _constant_value(fn, node.left), _constant_value(fn, node.right)
        if left is None or right is None:
            return None
        try:
            made = combined(node.op, left, right)
        except OverflowError:
            return None
        return made if isinstance(made, int) else None
    if isinstance(node, ast.Name) and node.id in fn.scope.locals:
        only = _only_value(fn, node.id)
        return None if only is None else _constant_value(fn, only)
    binding = fn.resolve(node)
    if binding is None or isinstance(binding.value, bool):
        return None
    try:
        value = operator.index(binding.value)
    except TypeError:
        return None
    fn.rely_on(binding)
    return value


def _only_value(fn: FunctionScope, name: str) -> ast.expr | None:
    """The expression of the only assignment to a local variable; None if there are several."""
    values = [
        part.value if isinstance(part, ast.Assign) and len(part.targets) == 1 else None
        for part in walk(fn.node)
        if any(
            isinstance(child, ast.Name) and child.id == name and isinstance(child.ctx, ast.Store)
            for child in children(part)
        )
    ]
    return values[0] if len(values) == 1 and name not in fn.parameters else None


def lower_array(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    fn.error(
        "P016", node, f"the array that '{intrinsic.name}' makes has no name", f"assign it: a = {intrinsic.name}(…)"
    )
    return fn.poison(node)


def _type_of_text(text: object) -> str | None:
    """The number type with this NumPy name; None if there is none."""
    if text == "bfloat16":
        return "bf16"
    try:
        return scalar_name(np.dtype(text)) if isinstance(text, str) else None
    except TypeError:
        return None
