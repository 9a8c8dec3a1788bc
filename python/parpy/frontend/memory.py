"""Lowers the arrays that kernels written by hand make: of a block, of a thread, and constant ones."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import _native
from ..syntax.names import Binding, is_array
from ..syntax.whole_numbers import combined
from ..vocabulary.device import DeviceFunction
from ..vocabulary.operators import scalar_name
from .inlining import Inlining
from .intrinsics import Intrinsic
from .lazy import lazy
from .record_paths import are_records, field, field_type, leaves
from .records import Record
from .scope import FunctionScope

GEOMETRY = ("grid.x", "grid.y", "grid.z", "block.x", "block.y", "block.z", "shared bytes")
"""The parameters of a kernel in front of those of its function: no Python function can have such names."""

_SIZES = {"bool": 1, "i8": 1, "u8": 1, "i16": 2, "u16": 2, "f16": 2, "bf16": 2, "i32": 4, "u32": 4, "f32": 4}
_MOST_ELEMENTS = 1 << 40  # of an array of a kernel: beyond what any memory or any C++ compiler takes


class RecordArray(NamedTuple):
    """An array of records that a kernel makes: how, and the arrays of the fields that are there so far."""

    target: ast.Name
    call: ast.Call
    space: str
    sizes: list[int]
    dtype: np.dtype[Any] | None
    fields: dict[str, _native.Var]


class Memory(Inlining):
    """Arrays that one kernel or device function makes."""

    @lazy
    def record_arrays(self) -> dict[str, RecordArray]:
        """By name."""
        return {}

    def geometry(self) -> list[_native.Var]:
        if not self.launch:
            span = self.span(self.node)
            names = (name.replace(".", "_").replace(" ", "_") for name in GEOMETRY)
            self.launch = [self.module.variable(self.unique_name(name), span) for name in names]
        return self.launch

    def _in_kernel(self, name: str, node: ast.AST) -> bool:
        if self.program.kernel:
            return True
        self.error(
            "P028",
            node,
            f"'{name}' stands outside of a kernel",
            "decorate the function with @parpy.cuda.jit; loops of @parpy.jit functions are mapped by the compiler",
        )
        return False

    def device_function(self, value: ast.expr, *lowerings: str) -> DeviceFunction | None:
        """The function of parpy.cuda that `value` calls, if it is lowered in one of these ways."""
        binding = self.resolve(value.func) if isinstance(value, ast.Call) else None
        known = binding.value if binding is not None else None
        return known if isinstance(known, DeviceFunction) and known.lowering in lowerings else None

    def kernel_array(self, target: ast.expr, value: ast.expr) -> bool:
        """`a = cuda.shared.array(…)` and its kin, also with subscripts behind: whether the assignment is one."""
        parts: list[ast.expr] = []
        if isinstance(value, ast.Subscript) and isinstance(value.value, ast.Call):
            parts = value.slice.elts if isinstance(value.slice, ast.Tuple) else [value.slice]
            value = value.value
        known = self.device_function(value, "array", "const_array")
        if known is None or not isinstance(value, ast.Call):
            return False
        intrinsic = Intrinsic.of(known)
        self.give_up_on(target)
        if not self._in_kernel(intrinsic.name, value) or not self.fits(value, intrinsic):
            return True
        if not isinstance(target, ast.Name):
            self.error("P016", target, "an array of a kernel needs a name of its own", f"write a = {intrinsic.name}(…)")
        elif target.id in self.variables or self.is_no_variable(target.id):
            self.error(
                "P016",
                target,
                f"'{target.id}' is already something else",
                "give the array a name of its own, assigned once",
            )
        else:
            constant = known.lowering == "const_array"
            if constant and self._constant_records(target.id, value.args[0]):
                self.assigned.add(target.id)
                return True
            array = self._constant_array(value.args[0]) if constant else self._allocate(target, value, known.op)
            if array is not None and parts:
                made = self.view_from(array, (), parts, target.id)
                self.views.update({target.id: made} if made is not None else {})
            elif array is not None:
                self.variables[target.id] = array
        return True

    def _constant_array(self, node: ast.expr) -> _native.Var | None:
        """A global array as it is now; parameters are what they are."""
        make = self.program.make_constant
        is_local = isinstance(node, ast.Name) and node.id in self.scope.locals
        binding = self.resolve(node) if isinstance(node, ast.Name | ast.Attribute) and not is_local else None
        if make is None or binding is None or not is_array(binding.value):
            if binding is None and isinstance(node, ast.Name | ast.Attribute):
                return self.array(node)
            fix = "make it outside of the kernel: table = np.array([1, 2])"
            self.error("P023", node, "'cuda.const.array_like' takes a global NumPy array by its name", fix)
            return None
        self.rely_on(binding)
        key = str(id(binding.value))
        if key not in self.program.constants:
            self.program.constants[key] = make(binding.value)
        constant = Binding(self.program.constants[key], self.program.constants, key)
        return self.captured(constant, ast.unparse(node), node)

    def _constant_records(self, name: str, node: ast.expr) -> bool:
        """The same of an array of records, of which each field is an array of its own."""
        binding = self.resolve(node) if isinstance(node, ast.Name | ast.Attribute) else None
        if binding is None or not are_records(binding.value):
            return False
        self.rely_on(binding)
        known = self.program.constant_records.get(id(binding.value))
        if known is None:
            make = self.program.make_constant or np.array
            known = {leaf.key: make(field(binding.value, leaf.key)) for leaf in leaves(binding.value.dtype)}
            self.program.constant_records[id(binding.value)] = known
        self.name_captured(name, ast.unparse(node), binding.value, known)
        return True

    def _allocate(self, target: ast.Name, call: ast.Call, space: str) -> _native.Var | None:
        """The array that the call makes, called as the target; None after an error."""
        given = dict(zip(("shape", "dtype", "alignment"), call.args, strict=False))
        given.update({k.arg: k.value for k in call.keywords if k.arg is not None})
        if "shape" not in given or "dtype" not in given:
            self.error(
                "P023", call, f"'cuda.{space}.array' needs a shape and a dtype", "write (shape=(16, 16), dtype=…)"
            )
            return None
        scalar = self._element_type(given["dtype"])
        record = self._record_type(given["dtype"]) if scalar is None else None
        if scalar is None and record is None:
            self.error(
                "P023",
                given["dtype"],
                "the element type must be known here",
                "write for example np.float32, 'float32', or x.dtype of a parameter, a global or a kernel's array",
            )
            return None
        shape = given["shape"]
        parts = shape.elts if isinstance(shape, ast.Tuple) else [shape]
        extents = [self._constant_value(part) for part in parts]
        for extent, part in zip(extents, parts, strict=True):
            if extent is None:
                self.error(
                    "P023",
                    part,
                    "the shape of an array of a kernel must be constant",
                    "use integers, global integers and sums or products of them",
                )
                return None
        sizes = [extent for extent in extents if extent is not None]
        if not sizes or any(size < 0 for size in sizes) or (0 in sizes and (len(sizes) > 1 or space == "local")):
            self.error("P023", shape, f"{sizes} is no shape of an array", "use positive integers")
            return None
        if math.prod(sizes) > _MOST_ELEMENTS:
            self.error("P023", shape, f"no memory holds an array of {math.prod(sizes)} elements", "make it smaller")
            return None
        span = self.span(call)
        if scalar is None or record is not None:
            self._allocate_records(target, call, space, sizes, record)
            return None
        array = self.module.variable(target.id, self.span(target))
        self.element_types[target.id] = scalar
        self.ranks[array] = len(sizes)
        self.plain_uses.setdefault(target.id, target)
        size = self._dynamic_size(scalar, call) if sizes == [0] else None
        self.make(self.module.alloc(array, scalar, space, [] if size else sizes, size, span))
        return array

    def make(self, allocation: _native.Stmt) -> None:
        """An array is used behind the loop or branch that makes it, too."""
        (self.allocations if self.conditions else self.out).append(allocation)

    def _record_type(self, node: ast.expr) -> np.dtype[Any] | None:
        """The record type that `node` names."""
        binding = self.resolve(node)
        if binding is None or not isinstance(binding.value, np.dtype) or binding.value.names is None:
            return None
        self.rely_on(binding)
        return binding.value

    def _allocate_records(
        self, target: ast.Name, call: ast.Call, space: str, sizes: list[int], record: np.dtype[Any] | None
    ) -> None:
        """An array for each field that the function uses; others where they are first needed (make_field)."""
        made: dict[str, _native.Var] = {}
        self.record_arrays[target.id] = RecordArray(target, call, space, sizes, record, made)
        self.records[target.id] = Record(made, "", "", (), len(sizes), record)
        for key in sorted(self.program.uses.fields(self.source, target.id)):
            if self._make_field(self.record_arrays[target.id], key, self.make) is None:
                return

    def make_field(self, record: Record, key: str, node: ast.expr) -> _native.Var | None:
        scope: FunctionScope | None = self
        while isinstance(scope, Memory):
            for array in scope.record_arrays.values():
                if array.fields is record.fields:
                    return scope._make_field(array, key, scope.allocations.append)
            captured = scope.captured_field(record, key, node)
            if captured is not None:
                return captured
            scope = scope.caller
        return None

    def _make_field(self, array: RecordArray, key: str, make: Callable[[_native.Stmt], None]) -> _native.Var | None:
        """The array of one field of the records; None after an error."""
        name, call = array.target.id, array.call
        found = field_type(array.dtype, key)
        scalar = None if found is None else scalar_name(found[0])
        if found is None or scalar is None or array.sizes == [0]:
            what = "shape 0 stands for the launch's shared memory, which has no records"
            if array.sizes != [0]:
                what = f"the records of '{name}' have no field '{key}' that is a number"
            self.error("P023", call, what, f"its type is {array.dtype}")
            return None
        wanted = self.unique_name(f"{name}_{key.replace('.', '_')}")
        var = self.module.variable(wanted, self.span(array.target), f"{name}.{key}")
        shape = [*array.sizes, *found[1]]
        make(self.module.alloc(var, scalar, array.space, shape, None, self.span(call)))
        array.fields[key] = var
        self.ranks[var] = len(shape)
        return var

    def _element_type(self, node: ast.expr) -> str | None:
        """The number type that `node` names, as NumPy does: a type, a dtype, its text, or the dtype of an array that is
        known here."""
        if isinstance(node, ast.Constant):
            return _type_of_text(node.value)
        if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
            binding = self.resolve(node.func)
            return self._element_type(node.args[0]) if binding is not None and binding.value is np.dtype else None
        if isinstance(node, ast.Attribute) and node.attr == "dtype":
            name = node.value.id if isinstance(node.value, ast.Name) else ""
            if name in self.element_types:
                return self.element_types[name]
            if self.entry and name in self.parameters and not self.is_no_variable(name):
                self.program.asked.add(name)
                kind = self.program.known.get(name)
                known = "f64" if kind is None else kind.element
                return known if isinstance(known, str) else None
            owner = self.resolve(node.value)
            if owner is not None and is_array(owner.value):
                self.rely_on(owner)
                return scalar_name(getattr(owner.value, "dtype", None))
        binding = self.resolve(node)
        if binding is None:
            return None
        self.rely_on(binding)
        return scalar_name(binding.value) or _type_of_text(binding.value)

    def _dynamic_size(self, scalar: str, node: ast.Call) -> _native.Var:
        """How many elements the shared memory of the launch has: set on the host, in front of the kernel."""
        if not self.entry:
            self.error(
                "P023",
                node,
                "a device function cannot ask for the launch's shared memory",
                "pass the array as an argument",
            )
        span = self.span(node)
        count = self.module.variable(self.unique_name("shared_size"), span)
        bytes_each = _SIZES.get(scalar, 16 if scalar == "c128" else 8)
        total = self.module.read(self.geometry()[6], span)
        size = self._op("//", node, total, self.integer(bytes_each, node))
        self.in_front.append(self.module.assign(count, self.module.convert(size, "i64", span), None, span))
        return count

    def _constant_value(self, node: ast.expr) -> int | None:
        """An integer known now: a constant, a global, a variable assigned one once, and what is made of those."""
        if isinstance(node, ast.Constant):
            return node.value if type(node.value) is int else None
        if isinstance(node, ast.BinOp):
            left, right = self._constant_value(node.left), self._constant_value(node.right)
            if left is None or right is None:
                return None
            try:
                made = combined(node.op, left, right)
            except OverflowError:
                return None
            return made if isinstance(made, int) else None
        if isinstance(node, ast.Name) and node.id in self.scope.locals:
            values = [
                part.value if isinstance(part, ast.Assign) and len(part.targets) == 1 else None
                for part in ast.walk(self.node)
                if any(
                    isinstance(name, ast.Name) and name.id == node.id and isinstance(name.ctx, ast.Store)
                    for name in ast.iter_child_nodes(part)
                )
            ]
            only = values[0] if len(values) == 1 and node.id not in self.parameters else None
            return None if only is None else self._constant_value(only)
        binding = self.resolve(node)
        if binding is None or isinstance(binding.value, bool):
            return None
        try:
            value = operator.index(binding.value)
        except TypeError:
            return None
        self.rely_on(binding)
        return value

    def lower_array(self, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
        self.error(
            "P016",
            node,
            f"the array that '{intrinsic.name}' makes has no name",
            f"assign it: a = {intrinsic.name}(…)",
        )
        return self.poison(node)

    lower_const_array = lower_array


def _type_of_text(text: object) -> str | None:
    """The number type that NumPy knows under this name."""
    if text == "bfloat16":
        return "bf16"
    try:
        return scalar_name(np.dtype(text)) if isinstance(text, str) else None
    except TypeError:
        return None
