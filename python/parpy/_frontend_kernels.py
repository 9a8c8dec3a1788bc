"""Lowers what only kernels written by hand contain: hardware indices, arrays of a block or thread, barriers,
exchanges between lanes, atomic operations, print.
"""

from __future__ import annotations

import ast
import builtins
import math
import operator
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from . import _native
from ._device import DeviceFunction, ForeignFunction, GridGroup, Launchable, Register, this_grid
from ._frontend_arrays import integer_constant
from ._frontend_expressions import combined
from ._frontend_records import Record
from ._frontend_tuples import Tuples
from ._intrinsics import Intrinsic
from ._names import Binding, is_array
from ._operators import scalar_name
from ._records import field_type

GEOMETRY = ("grid.x", "grid.y", "grid.z", "block.x", "block.y", "block.z", "shared bytes")
"""The parameters of a kernel in front of those of its function: no Python function can have such names."""

_SIZES = {"bool": 1, "i8": 1, "u8": 1, "i16": 2, "u16": 2, "f16": 2, "bf16": 2, "i32": 4, "u32": 4, "f32": 4}
_FULL = 0xFFFFFFFF
_MOST_ELEMENTS = 1 << 40  # of an array of a kernel: beyond what any memory or any C++ compiler takes


class Kernels(Tuples):
    """Kernels and device functions."""

    def as_kernel(self, body: list[_native.Stmt]) -> list[_native.Stmt]:
        """The body of the entry: the statements of the function, run by every thread of the launch."""
        span = self.span(self.node)
        sizes = [self.module.read(var, span) for var in self.geometry()]
        return [*self.in_front, self.module.kernel(sizes, body, span)]

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

    # ------------------------------------------------------------ foreign functions

    def call(self, node: ast.Call) -> _native.Expr:
        launched = isinstance(node.func, ast.Subscript)
        binding = self.resolve(node.func.value if isinstance(node.func, ast.Subscript) else node.func)
        if binding is not None and isinstance(binding.value, Launchable):
            self._refuse_launch(node, launched)
            return self.poison(node)
        if launched or binding is None or not isinstance(binding.value, ForeignFunction):
            return super().call(node)
        self.rely_on(binding)
        function = binding.value
        if not self._in_kernel(function.__name__, node):
            return self.poison(node)
        if node.keywords or len(node.args) != len(function.types):
            self.error(
                "P105",
                node,
                f"'{function.__name__}' takes {len(function.types)} positional arguments, not {len(node.args)}",
                "pass what its declaration says",
            )
            return self.poison(node)
        operands = [self.lower(argument) for argument in node.args]
        return self.module.call(self._foreign(function, node), operands, self.span(node))

    def _refuse_launch(self, node: ast.Call, launched: bool) -> None:
        shown = ast.unparse(node.func.value if isinstance(node.func, ast.Subscript) else node.func)
        self.error(
            "P022",
            node,
            f"'{shown}' is a kernel, which compiled code can neither call nor launch",
            "launch it from Python, behind this function"
            if launched
            else f"decorate '{shown}' with @cuda.jit(device=True), or launch it from Python: {shown}[grid, block](…)",
        )

    def _foreign(self, function: ForeignFunction, node: ast.Call) -> _native.Function:
        """The function in the module, made once; its place is the source that defines it."""
        known = self.program.foreign.get(function)
        if known is not None:
            return known
        span = self.span(node)
        name = function.__name__
        paths = function.link or self.program.link
        if not paths:
            self.error(
                "P105",
                node,
                f"'{name}' is declared, but no file is linked that defines it",
                f"write declare_device({name!r}, …, link='file.cu'), or cuda.jit(link=['file.cu'])",
            )
        found = False
        for path in paths:
            index, text = self._link(path, node)
            if text is None:  # machine code: its linker knows
                found = True
            elif not found and re.search(rf"\b{re.escape(name)}\s*\(", text):
                span, found = (index, 1, 1, 1, 1), True
        if paths and not found:
            shown = " and ".join(f"'{Path(path).name}'" for path in paths)
            self.error("P105", node, f"no function '{name}' is defined in {shown}", "link the file that does")
        made = self.module.foreign(function.__name__, function.types, function.result, function.abi, span)
        self.program.foreign[function] = made
        return made

    def _link(self, path: str, node: ast.AST) -> tuple[int, str | None]:
        """The module's source with the text of a .cu file, and the text; None for machine code."""
        if not path.endswith(".cu"):
            self.program.linked.setdefault(path, (0, None))
        elif path not in self.program.linked:
            try:
                text = Path(path).read_text()
            except OSError as error:
                self.error("P105", node, f"'{path}' cannot be read: {error}")
                text = ""
            index = self.module.add_source(path, f'#line 1 "{Path(path).name}"\n{text}', 1)
            self.program.linked[path] = (index, text)
        return self.program.linked[path]

    # ------------------------------------------------------------ indices

    def register(self, value: Register, node: ast.expr) -> _native.Expr:
        if not self._in_kernel(f"cuda.{value.name}", node):
            return self.poison(node)
        return self._register(value.text, node) if value.text else self._lane(node)

    def _register(self, text: str, node: ast.expr) -> _native.Expr:
        return self.module.register(text, self.span(node))

    def _lane(self, node: ast.expr) -> _native.Expr:
        """Threads are numbered with x fastest, and a warp is so many in a row."""
        number = self._register("thread.z", node)
        for axis in "yx":
            row = self._op("*", node, number, self._register(f"blockdim.{axis}", node))
            number = self._op("+", node, row, self._register(f"thread.{axis}", node))
        return self._op("%", node, number, self._register("warpsize", node))

    def _place(self, what: str, axis: str, node: ast.expr) -> _native.Expr:
        """grid or gridsize along one axis."""
        block = self._register(f"{'block' if what == 'thread' else 'griddim'}.{axis}", node)
        start = self._op("*", node, block, self._register(f"blockdim.{axis}", node))
        return self._op("+", node, start, self._register(f"thread.{axis}", node)) if what == "thread" else start

    def _dimensions(self, node: ast.Call, name: str) -> int:
        count = integer_constant(node.args[0])
        if count not in (1, 2, 3):
            shown = ast.unparse(node.args[0])
            self.error("P023", node.args[0], f"'{name}' takes 1, 2 or 3, not {shown}", f"write {name}(1)")
            return 0
        return count

    def lower_grid(self, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
        if self._in_kernel(intrinsic.name, node) and (count := self._dimensions(node, intrinsic.name)) > 1:
            self.error(
                "P011",
                node,
                f"the {count} results of '{intrinsic.name}' are not assigned to {count} variables",
                f"write {', '.join('xyz'[:count])} = {intrinsic.name}({count})",
            )
            return self.poison(node)
        return self._place(intrinsic.op, "x", node)

    def tuple_of_device(self, node: ast.Call) -> int | None:
        binding = self.resolve(node.func)
        known = binding.value if binding is not None else None
        if not isinstance(known, DeviceFunction) or known.lowering not in ("grid", "match_all"):
            return None
        count = integer_constant(node.args[0]) if known.lowering == "grid" and len(node.args) == 1 else 2
        return None if count == 1 else count

    def results_of_device(self, node: ast.Call) -> list[_native.Expr]:
        makers = self.unpack_kernel(node, self.tuple_of_device(node) or 0)
        return [make() for make in makers or ()]

    def unpack_kernel(self, value: ast.expr, count: int) -> list[Callable[[], _native.Expr]] | None:
        """`x, y = cuda.grid(2)`, `m, p = cuda.match_all_sync(mask, v)`; None for other values, [] after an error."""
        binding = self.resolve(value.func) if isinstance(value, ast.Call) else None
        known = binding.value if binding is not None else None
        if not isinstance(value, ast.Call) or not isinstance(known, DeviceFunction):
            return None
        if known.lowering not in ("grid", "match_all"):
            return None
        intrinsic = Intrinsic.of(known)
        if not self._in_kernel(intrinsic.name, value) or not self.fits(value, intrinsic):
            return []
        if known.lowering == "match_all":
            found = self.hold(self._exchange(value, known.op), value)
            read = partial(self.module.read, found, self.span(value))
            same = partial(lambda: self._op("!=", value, read(), self.integer(0, value)))
            makers: list[Callable[[], _native.Expr]] = [read, same]
        else:
            axes = "xyz"[: self._dimensions(value, intrinsic.name)]
            if not axes:
                return []
            makers = [partial(self._place, known.op, axis, value) for axis in axes]
        if len(makers) == count:
            return makers
        self.error(
            "P017",
            value,
            f"{len(makers)} values cannot be assigned to {count} targets",
            "give both sides the same length",
        )
        return []

    # ------------------------------------------------------------ memory

    def kernel_array(self, target: ast.expr, value: ast.expr) -> bool:
        """`a = cuda.shared.array(…)` and its kin, also with subscripts behind: whether the assignment is one."""
        parts: list[ast.expr] = []
        if isinstance(value, ast.Subscript) and isinstance(value.value, ast.Call):
            parts = value.slice.elts if isinstance(value.slice, ast.Tuple) else [value.slice]
            value = value.value
        binding = self.resolve(value.func) if isinstance(value, ast.Call) else None
        known = binding.value if binding is not None else None
        if not isinstance(value, ast.Call) or not isinstance(known, DeviceFunction):
            return False
        if known.lowering not in ("array", "const_array"):
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
            return self.array(node)
        self.rely_on(binding)
        key = str(id(binding.value))
        if key not in self.program.constants:
            self.program.constants[key] = make(binding.value)
        constant = Binding(self.program.constants[key], self.program.constants, key)
        return self.captured(constant, ast.unparse(node), node)

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
        self.plain_uses.setdefault(target.id, target)
        size = self._dynamic_size(scalar, call) if sizes == [0] else None
        self._make(self.module.alloc(array, scalar, space, [] if size else sizes, size, span))
        return array

    def _make(self, allocation: _native.Stmt) -> None:
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
        """An array for each field that the function uses."""
        made: dict[str, _native.Var] = {}
        for key in sorted(self.program.uses.fields(self.source, target.id)):
            found = field_type(record, key)
            scalar = None if found is None else scalar_name(found[0])
            if found is None or scalar is None or sizes == [0]:
                what = "shape 0 stands for the launch's shared memory, which has no records"
                if sizes != [0]:
                    what = f"the records of '{target.id}' have no field '{key}' that is a number"
                self.error("P023", call, what, f"its type is {record}")
                return
            var = self.module.variable(self.unique_name(f"{target.id}_{key.replace('.', '_')}"), self.span(target))
            self._make(self.module.alloc(var, scalar, space, [*sizes, *found[1]], None, self.span(call)))
            made[key] = var
        if made:
            self.records[target.id] = Record(made, "", ())

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
                return self.program.dtypes.get(name, "f64")
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

    # ------------------------------------------------------------ statements

    def kernel_statement(self, node: ast.Expr) -> bool:
        """Barriers and print: whether the statement is one."""
        call = node.value
        if not isinstance(call, ast.Call):
            return False
        if self.tuple_length(call) is not None:
            self.tuple_parts(call)
            return True
        sync = self._grid_sync(call)
        binding = None if sync is not None else self.resolve(call.func)
        known = sync if sync is not None else binding.value if binding is not None else None
        if known is builtins.print and self.program.kernel:
            assert binding is not None
            self.rely_on(binding)
            self._print(call)
            return True
        if not isinstance(known, DeviceFunction) or known.lowering != "barrier":
            return False
        intrinsic = Intrinsic.of(known)
        if self._in_kernel(intrinsic.name, call) and self.fits(call, intrinsic):
            self.out.append(self.module.barrier(known.op, self.span(node)))
        return True

    def _grid_sync(self, call: ast.Call) -> DeviceFunction | None:
        """`cg.this_grid().sync()`, or `g.sync()` behind `g = cg.this_grid()`."""
        func = call.func
        if not isinstance(func, ast.Attribute) or func.attr != "sync":
            return None
        owner = func.value
        if isinstance(owner, ast.Name) and owner.id in self.grids:
            return GridGroup.sync
        return GridGroup.sync if self.is_grid(owner) else None

    def is_grid(self, node: ast.expr) -> bool:
        binding = self.resolve(node.func) if isinstance(node, ast.Call) else None
        return binding is not None and binding.value is this_grid

    def lower_this_grid(self, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
        self.error("P011", node, "the threads of the grid are no value", "write cg.this_grid().sync()")
        return self.poison(node)

    def lower_barrier(self, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
        self.error("P023", node, f"'{intrinsic.name}' gives no value", "write it as a line of its own")
        return self.poison(node)

    def _print(self, call: ast.Call) -> None:
        separator = " "
        for keyword in call.keywords:
            if (
                keyword.arg == "sep"
                and isinstance(keyword.value, ast.Constant)
                and isinstance(keyword.value.value, str)
            ):
                separator = keyword.value.value
            else:
                self.error("P023", keyword, "'print' in a kernel takes 'sep' only", "leave it out")
        texts: list[str] = [""]
        values: list[_native.Expr] = []
        for index, part in enumerate(call.args):
            texts[-1] += separator if index else ""
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                texts[-1] += part.value
            else:
                values.append(self.lower(part))
                texts.append("")
        self.out.append(self.module.print(texts, values, self.span(call)))

    # ------------------------------------------------------------ exchanges and atomics

    def lower_device_op(self, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
        if not self._in_kernel(intrinsic.name, node):
            return self.poison(node)
        return self._op(intrinsic.op, node, *(self.lower(argument) for argument in node.args))

    def lower_exchange(self, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
        return self._exchange(node, intrinsic.op) if self._in_kernel(intrinsic.name, node) else self.poison(node)

    def _exchange(self, node: ast.Call, op: str) -> _native.Expr:
        """numba's order is (mask, value, …), ours (value, mask, …)."""
        masks = [self._mask(argument) for argument in node.args[:1]]
        if op == "sync_warp" and not masks:
            masks = [self.integer(_FULL, node)]
        operands = masks + [self.lower(argument) for argument in node.args[1:]]
        if len(operands) > 1:
            operands[0], operands[1] = operands[1], operands[0]
        if op.startswith("shfl"):
            operands.append(self._register("warpsize", node))
        return self._op(op, node, *operands)

    def _mask(self, node: ast.expr) -> _native.Expr:
        """Lanes, a bit each; -1 is all of them."""
        return self.integer(_FULL, node) if integer_constant(node) == -1 else self.lower(node)

    def lower_match_all(self, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
        self.error(
            "P011",
            node,
            "the two results of 'match_all_sync' are not assigned to two variables",
            "write mask, same = cuda.match_all_sync(…)",
        )
        return self.poison(node)

    def lower_vote_equal(self, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
        """All or none: what the ballot gives is the mask or 0."""
        if not self._in_kernel(intrinsic.name, node):
            return self.poison(node)
        mask = self.hold(self._mask(node.args[0]), node.args[0])
        truth = self.hold(self.condition(node.args[1]), node.args[1])
        span = self.span(node)
        every = self._op("vote_all", node, self.module.read(truth, span), self.module.read(mask, span))
        some = self._op("vote_any", node, self.module.read(truth, span), self.module.read(mask, span))
        every, some = (self.module.read(self.hold(vote, node), span) for vote in (every, some))
        return self._op("or", node, every, self._op("not", node, some))

    def lower_lanemask_lt(self, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
        if not self._in_kernel(intrinsic.name, node):
            return self.poison(node)
        bit = self._op("<<", node, self.integer(1, node), self._lane(node))
        return self._op("-", node, bit, self.integer(1, node))

    def lower_atomic(self, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
        if not self._in_kernel(intrinsic.name, node):
            return self.poison(node)
        return self._atomic(node, intrinsic.op, node.args[1], node.args[2:])

    def lower_compare_and_swap(self, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
        if not self._in_kernel(intrinsic.name, node):
            return self.poison(node)
        return self._atomic(node, intrinsic.op, ast.copy_location(ast.Constant(0), node), node.args[1:])

    def _atomic(self, node: ast.Call, op: str, index: ast.expr, arguments: list[ast.expr]) -> _native.Expr:
        element = ast.copy_location(ast.Subscript(node.args[0], index, ast.Load()), node)
        array, indices = self.element(element)
        values = [self.lower(argument) for argument in arguments]
        if array is None:
            return self.poison(node)
        return self.module.atomic(op, array, indices, values, self.span(node))


def _type_of_text(text: object) -> str | None:
    """The number type that NumPy knows under this name."""
    if text == "bfloat16":
        return "bf16"
    try:
        return scalar_name(np.dtype(text)) if isinstance(text, str) else None
    except TypeError:
        return None
