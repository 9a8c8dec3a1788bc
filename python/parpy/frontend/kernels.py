"""Lowers what only kernels written by hand contain: hardware indices, arrays of a block or thread, barriers,
exchanges between lanes, atomic operations, print.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from .. import _native
from ..syntax.names import is_array
from ..syntax.text import as_text
from ..vocabulary.device import DeviceFunction, ForeignFunction, GridGroup, Launchable, Register, this_grid
from .arrays import integer_constant
from .intrinsics import Intrinsic, intrinsic_of
from .memory import Memory
from .record_paths import has_slice

_FULL = 0xFFFFFFFF


class Kernels(Memory):
    """Kernels and device functions."""

    def as_kernel(self, body: list[_native.Stmt]) -> list[_native.Stmt]:
        """The body of the entry: the statements of the function, run by every thread of the launch."""
        span = self.span(self.node)
        sizes = [self.module.read(var, span) for var in self.geometry()]
        return [*self.in_front, self.module.kernel(sizes, body, span)]

    # ------------------------------------------------------------ foreign functions

    def call(self, node: ast.Call) -> _native.Expr:
        launched = isinstance(node.func, ast.Subscript)
        binding = self.resolve(node.func.value if isinstance(node.func, ast.Subscript) else node.func)
        kernel = binding.value if binding is not None and isinstance(binding.value, Launchable) else None
        if kernel is not None and (launched or not (kernel.is_callable and self.program.kernel)):
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
        operands = [self.lower(self.as_pointed(argument)) for argument in node.args]
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
                if re.search(rf"__global__[^;{{}}]*\b{re.escape(name)}\s*\(", text):
                    self.error(
                        "P105",
                        node,
                        f"'{name}' is a kernel, __global__, in '{Path(path).name}', and kernels call device functions",
                        f"write extern \"C\" __device__ in front of '{name}' there",
                    )
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
            name = _native.string_literal(as_text(Path(path).name))
            index = self.module.add_source(as_text(path), f"#line 1 {name}  // linked\n{text}", 1)
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
        if known is not None and (intrinsic := intrinsic_of(known)) is not None and intrinsic.lowering == "pair":
            return 2
        if not isinstance(known, DeviceFunction) or known.lowering not in ("grid", "match_all"):
            return None
        count = integer_constant(node.args[0]) if known.lowering == "grid" and len(node.args) == 1 else 2
        return None if count == 1 else count

    def results_of_device(self, node: ast.Call) -> list[_native.Expr]:
        makers = self.pair(node)
        makers = self.unpack_kernel(node, self.tuple_of_device(node) or 0) if makers is None else makers
        return [make() for make in makers or ()]

    def unpack_kernel(self, value: ast.expr, count: int) -> list[Callable[[], _native.Expr]] | None:
        """`x, y = cuda.grid(2)`, `m, p = cuda.match_all_sync(mask, v)`; None for other values, [] after an error."""
        known = self.device_function(value, "grid", "match_all")
        if known is None or not isinstance(value, ast.Call):
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

    # ------------------------------------------------------------ statements

    def kernel_statement(self, node: ast.Expr) -> bool:
        """Barriers and print: whether the statement is one."""
        call = node.value
        if not isinstance(call, ast.Call):
            return False
        if self.tuple_form(call) is not None:
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
        if isinstance(known, np.ufunc) and self.has_views and self.program.kernel and len(call.args) == known.nin + 1:
            self._ufunc(call)
            return True
        if not isinstance(known, DeviceFunction) or known.lowering != "barrier":
            return False
        intrinsic = Intrinsic.of(known)
        if self._in_kernel(intrinsic.name, call) and self.fits(call, intrinsic):
            self.out.append(self.module.barrier(known.op, self.span(node)))
        return True

    def _ufunc(self, call: ast.Call) -> None:
        """`np.sin(x, out)`: out[:] = np.sin(x[:]), by each thread."""

        def whole(node: ast.expr) -> ast.expr:
            return ast.copy_location(ast.Subscript(node, ast.copy_location(ast.Slice(), node), ast.Load()), node)

        *given, out = call.args
        operands = [whole(each) if self._is_whole_array(each) else each for each in given]
        value = ast.copy_location(ast.Call(call.func, operands, call.keywords), call)
        self.out.extend(self.body([ast.copy_location(ast.Assign([whole(out)], value), call)]))

    def _is_whole_array(self, node: ast.expr) -> bool:
        """Whether the operand is an array that has no subscripts, or a view."""
        if not isinstance(node, ast.Name):
            rank = self.dimensions(node) if self.subscripts_array(node) and not has_slice(node) else 0
            if rank is None:
                self.want_kinds(node)
            return bool(rank)
        if node.id in self.views:
            return True
        if node.id not in self.scope.locals:
            binding = self.resolve(node)
            return binding is not None and is_array(binding.value)
        var = self.variables.get(node.id)
        rank = None if var is None else self.array_rank(var)
        if rank is None and node.id in self.parameters:
            kind = self.kind_of(node.id)
            if kind is None:
                self.want_kinds(node)
            return kind is not None and kind.ndim > 0
        return rank is not None and rank > 0

    def body(self, nodes: list[ast.stmt]) -> list[_native.Stmt]:
        raise NotImplementedError

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
        self.out.append(self.module.print(list(map(as_text, texts)), values, self.span(call)))

    # ------------------------------------------------------------ exchanges and atomics

    def lower_device_op(self, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
        if not self._in_kernel(intrinsic.name, node):
            return self.poison(node)
        value = self._op(intrinsic.op, node, *(self.lower(argument) for argument in node.args))
        return value if intrinsic.op == "select" else self.by_numpy(value, node)

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
