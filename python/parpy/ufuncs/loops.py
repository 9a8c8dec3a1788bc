"""The functions whose compiled form NumPy's ufuncs call: a loop over the elements, or over the core arrays, around the
user's function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .. import _native
from ..builtin import label
from ..calls.jit import jit_of_source
from ..calls.options import CompileBackend, CompileOptions, LoopPar
from ..frontend.parse import Surface, parse
from ..library.texts import function_of
from ..syntax.names import source_of
from ..syntax.source import FunctionSource
from ..vocabulary.sizes import SIZES
from .layouts import Layout
from .prototypes import Prototype, core_call
from .updates import combined

LOOP = "elements"


@dataclass(frozen=True, slots=True)
class LoopSource:
    """The source of a loop that bindings/ufuncs compiles. ``types`` are those of all operands. ``mapped`` are the
    options if iterations touch different elements, and ``sequential`` those otherwise. ``reducing`` is a function of an
    accumulator, which is an array of one element, and the second input; ``reduced`` are its options if the compiler
    knows it as a reduction. ``indexed`` is a function of an array, numbers, the index of the element that each number
    updates, and the size of the array in an array of one element."""

    types: tuple[str, ...]
    parsed: Surface
    parameters: tuple[str, ...]
    parallel: bool
    mapped: CompileOptions
    sequential: CompileOptions
    prepared: bool
    reducing: Surface | None = None
    reduced: CompileOptions | None = None
    indexed: Surface | None = None


def operand_names(inputs: int, outputs: int) -> tuple[list[str], list[str]]:
    """The names of inputs and outputs in generated texts, which the user's function cannot see."""
    return [f"x{number}" for number in range(inputs)], [f"y{number}" for number in range(outputs)]


def element_loop(
    source: FunctionSource, prototype: Prototype, parallel: bool, fast: bool, prepared: bool
) -> LoopSource:
    """The loop of an elementwise ufunc for one combination of types."""
    inputs, outputs = operand_names(len(prototype.inputs), len(prototype.outputs))
    stored = ", ".join(f"{name}[i]" for name in outputs)
    given = ", ".join(f"{name}[i]" for name in inputs)
    text = (
        f"def ufunc_loop({', '.join(inputs + outputs)}):\n"
        f"    label({LOOP!r})\n"
        f"    for i in range({outputs[0]}.shape[0]):\n"
        f"        {stored} = function({given})\n"
    )
    reducing = indexed = None
    if prototype.outputs == prototype.inputs[:1] and len(inputs) == 2:
        reducing = parse(_source(_reduction(source, prototype.outputs[0]), "ufunc_reduction", source))
        indexed = parse(_source(_INDEXED, "ufunc_at", source))
    one_worker = {LOOP: LoopPar().threads(1)}
    return LoopSource(
        prototype.inputs + prototype.outputs,
        parse(_source(text, "ufunc_loop", source)),
        (*inputs, *outputs),
        parallel,
        CompileOptions(parallelize=one_worker, backend=CompileBackend.Cpu, fast_math=fast),
        CompileOptions(parallelize={}, backend=CompileBackend.Cpu, fast_math=fast),
        prepared,
        reducing,
        CompileOptions(
            parallelize={LOOP: LoopPar().threads(1).reduce()},
            backend=CompileBackend.Cpu,
            legality="strict",
            fast_math=fast,
        ),
        indexed,
    )


_INDEXED = (
    "def ufunc_at(x0, x1, places, size):\n"
    "    for i in range(places.shape[0]):\n"
    "        at = places[i]\n"
    "        if at < 0:\n"
    "            at += size[0]\n"
    "        x0[at] = function(x0[at], x1[i])\n"
)


def _reduction(source: FunctionSource, kind: str) -> str:
    return (
        "def ufunc_reduction(x0, x1):\n"
        "    found = x0[0]\n"
        f"    label({LOOP!r})\n"
        "    for i in range(x1.shape[0]):\n"
        f"        found = {combined(source, kind, 'found', 'x1[i]')}\n"
        "    x0[0] = found\n"
    )


def core_loop(
    source: FunctionSource, prototype: Prototype, layout: Layout, arrays: Sequence[bool], parallel: bool, fast: bool
) -> LoopSource:
    """The loop of a generalised ufunc. ``arrays`` tells for each operand without core dimensions whether the function
    gets it as an array of one element."""
    count = len(prototype.inputs)
    inputs, outputs = operand_names(count, len(prototype.outputs))
    names = inputs + outputs
    given = [
        f"{name}[i:i + 1]" if not dimensions and array else f"{name}[i]"
        for name, dimensions, array in zip(names, layout.operands, arrays, strict=True)
    ]
    text = (
        f"def gufunc_loop({', '.join(names)}):\n"
        f"    label({LOOP!r})\n"
        f"    for i in range({outputs[0]}.shape[0]):\n"
        f"        {core_call(source, ', '.join(given))}\n"
    )
    options = CompileOptions(backend=CompileBackend.Cpu, fast_math=fast, automatic=True)
    return LoopSource(
        prototype.inputs + prototype.outputs,
        parse(_source(text, "gufunc_loop", source)),
        tuple(names),
        parallel,
        options,
        options,
        False,
    )


def result_types(source: FunctionSource, inputs: Sequence[str]) -> tuple[str, ...]:
    """The types of the numbers that a function returns for numbers of these types."""
    names, _ = operand_names(len(inputs), 0)
    text = f"def ufunc_result({', '.join(names)}):\n    return function({', '.join(names)})\n"
    parsed = parse(_source(text, "ufunc_result", source))
    options = CompileOptions(parallelize={}, backend=CompileBackend.Cpu)
    found = _native.result_types(parsed, tuple(names), list(inputs), options)
    name = source.function.__name__
    if not found or not all(found):
        raise TypeError(f"'{name}' must return numbers to be a ufunc")
    return tuple(found)


def _source(text: str, name: str, source: FunctionSource) -> FunctionSource:
    file = f"<ufunc {source.function.__name__}>"
    types = {key.upper(): size for key, size in SIZES.items()}
    return source_of(function_of(text, name, file, function=jit_of_source(source), label=label, **types))
