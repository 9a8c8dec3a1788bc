"""The conflicts of small loop nests, found by running them: the iterations that touch one byte, one of them writing.

`Nest` makes a function of a few lines of text: every loop gets a label (L0, L1, … in the order of the text). `trace`
runs it as plain Python on arrays that record each access with the loop iterations around it.
"""

from __future__ import annotations

import ast
import itertools
import linecache
import textwrap
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import parpy

_names = itertools.count()


def _namespace(text: str, name: str, extra: Mapping[str, Any]) -> dict[str, Any]:
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace: dict[str, Any] = {"parpy": parpy, "np": np, **extra}
    exec(compile(text, name, "exec"), namespace)
    return namespace


class Nest:
    """A function of the names in `arguments` whose body is `text`; `helpers` is defined before it, as jit functions."""

    def __init__(self, text: str, arguments: Mapping[str, Any], helpers: str = "") -> None:
        self.body = textwrap.dedent(text).strip("\n")
        self.arguments = arguments
        lines, self.loops = [], 0
        for line in self.body.split("\n"):
            indent = line[: len(line) - len(line.lstrip())]
            if line.lstrip().startswith("for "):
                lines.append(f"{indent}parpy.label('L{self.loops}')")
                self.loops += 1
            lines.append(line)
        head = f"def f({', '.join(arguments)}):\n"
        marked = "".join("@parpy.jit\n" + part for part in textwrap.dedent(helpers).strip("\n").split("\n\n") if part)
        text = marked + "\n@parpy.jit\n" + head + textwrap.indent("\n".join(lines), "    ") + "\n"
        self.function = _namespace(text, f"nest{next(_names)}.py", {})["f"]
        self._helpers = textwrap.dedent(helpers)
        self._head = head

    def copies(self) -> dict[str, Any]:
        """Fresh arguments; arrays that share memory still do."""
        owners: dict[int, np.ndarray] = {}

        def copy(value: Any) -> Any:
            if not isinstance(value, np.ndarray):
                return value
            owner = value
            while isinstance(owner.base, np.ndarray):
                owner = owner.base
            fresh = owners.setdefault(id(owner), owner.copy())
            offset = value.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
            return np.ndarray(value.shape, value.dtype, fresh.data, offset, value.strides)

        return {name: copy(value) for name, value in self.arguments.items()}

    def check(self, opts: parpy.CompileOptions) -> None:
        """Checks that compiled code gives the results of plain Python, bit for bit."""
        got, want = self.copies(), self.copies()
        self.function(*got.values(), opts=opts)
        self.function(*want.values(), seq=True)
        for name, value in want.items():
            np.testing.assert_array_equal(got[name], value, err_msg=self.body)

    def traced(self, trace: Trace) -> Callable[..., None]:
        tree = ast.parse(self._helpers + "\n" + self._head + textwrap.indent(self.body, "    "))
        number = itertools.count()

        class Instrument(ast.NodeTransformer):
            def visit_For(self, node: ast.For) -> ast.For:
                assert isinstance(node.target, ast.Name)
                key = next(number) if self.own else -1
                arguments = [ast.Constant(key), ast.Constant(node.target.id), node.iter]
                node.iter = ast.Call(ast.Name("__loop", ast.Load()), arguments, [])
                self.generic_visit(node)
                return node

            own = True

        for function in tree.body:
            Instrument.own = isinstance(function, ast.FunctionDef) and function.name == "f"
            Instrument().visit(function)
        ast.fix_missing_locations(tree)
        namespace: dict[str, Any] = {"parpy": parpy, "np": np, "__loop": trace.loop}
        exec(compile(tree, "<traced>", "exec"), namespace)
        return namespace["f"]


Step = tuple[int, str, int, int, int]  # loop, its variable, number of the execution, number of the iteration, value


@dataclass
class Trace:
    stack: list[Step] = field(default_factory=list)
    # (bytes, writes, the iterations around, array, element)
    records: list[tuple[range, bool, tuple[Step, ...], str, tuple[int, ...]]] = field(default_factory=list)
    executions: Iterator[int] = field(default_factory=itertools.count)

    def loop(self, number: int, variable: str, values: range) -> Iterator[int]:
        execution = next(self.executions)
        depth = len(self.stack)
        self.stack.append((number, variable, execution, -1, 0))
        try:
            for count, value in enumerate(values):
                self.stack[depth] = (number, variable, execution, count, value)
                yield value
        finally:
            del self.stack[depth:]

    def conflicts(self, loop: int) -> bool:
        """Whether two iterations of one execution of the loop touch a byte, and one of them writes it."""
        touched: dict[tuple[int, int], tuple[set[int], set[int]]] = defaultdict(lambda: (set(), set()))
        for where, writes, stack, _, _ in self.records:
            for number, _, execution, count, _ in stack:
                if number == loop:
                    for byte in where:
                        touched[execution, byte][writes].add(count)
        return any(len(writes) > 1 or (writes and reads - writes) for reads, writes in touched.values())

    def touches(self, instance: Mapping[str, Any]) -> tuple[set[tuple[int, ...]], bool, bool]:
        """The bytes that a witness's iteration touches, whether it reads them, and whether it writes them."""
        bytes_, reads, writes = set(), False, False
        for where, written, stack, array, element in self.records:
            at = tuple((step[1], step[4]) for step in stack)
            if at == instance["iteration"] and element == instance["element"] and array == instance["array"]:
                bytes_ |= set(where)
                reads, writes = reads or not written, writes or written
        return bytes_, reads, writes


class Traced:
    """A NumPy array that records the elements read and written."""

    def __init__(self, array: np.ndarray, name: str, trace: Trace) -> None:
        self.array, self.name, self.trace = array, name, trace
        self.shape = array.shape

    def __len__(self) -> int:
        return len(self.array)

    def _record(self, index: Any, writes: bool) -> None:
        index = index if isinstance(index, tuple) else (index,)
        element = tuple(int(i) + (n if i < 0 else 0) for i, n in zip(index, self.shape, strict=True))
        start = self.array.__array_interface__["data"][0] + int(np.dot(element, self.array.strides))
        where = range(start, start + self.array.itemsize)
        self.trace.records.append((where, writes, tuple(self.trace.stack), self.name, element))

    def __getitem__(self, index: Any) -> Any:
        self._record(index, False)
        return self.array[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self._record(index, True)
        self.array[index] = value


def nest_of(arguments: dict[str, Any], text: str, helpers: str = "") -> Nest:
    """A nest; arguments that are given as shapes become arrays of random numbers."""
    rng = np.random.default_rng(1)
    values = {
        name: rng.uniform(0.5, 2, value) if isinstance(value, tuple) else value for name, value in arguments.items()
    }
    return Nest(text, values, helpers)


def trace(nest: Nest) -> Trace:
    result = Trace()
    arguments = [
        Traced(value, name, result) if isinstance(value, np.ndarray) else value for name, value in nest.copies().items()
    ]
    nest.traced(result)(*arguments)
    return result


def facts(nest: Nest) -> list[dict[str, Any]]:
    """The verdict of the analysis on each loop."""
    return parpy._native.loop_facts(nest.function, tuple(nest.copies().values()))


def replay(truth: Trace, witness: tuple[Mapping[str, Any], Mapping[str, Any]]) -> None:
    """Checks that both iterations of the witness touch a common byte, one of them writing it."""
    (first, _, first_writes), (second, _, second_writes) = map(truth.touches, witness)
    assert first & second, witness
    assert first_writes or second_writes, witness
    assert witness[0]["iteration"] != witness[1]["iteration"]
