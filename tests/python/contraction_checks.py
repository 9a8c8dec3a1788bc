"""Checks for the tests of contractions: the notes of explain, the bits of the reference interpreter, chains of fused
multiply-adds."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

import parpy
from contraction_cases import Case
from nests import Nest
from parpy import CompileBackend, CompileOptions

CPU = CompileBackend.Cpu
AUTO = parpy.auto(backend=CPU)
SETTLED = parpy.auto(backend=CPU, deterministic=True)
ON_SIMULATOR = [parpy.auto(backend=CompileBackend.Sim, deterministic=settled) for settled in (False, True)]

FMA = {np.dtype("f8"): ("fma", ctypes.c_double), np.dtype("f4"): ("fmaf", ctypes.c_float)}


def chain(start: Any, factors: Any) -> Any:
    """The result of a chain of fused multiply-adds, in the order of the factors."""
    name, number = FMA[np.asarray(start).dtype]
    function = getattr(ctypes.CDLL(None), name)
    function.restype, function.argtypes = number, [number] * 3
    total = float(start)
    for a, b in factors:
        total = function(float(a), float(b), total)
    return total


def notes(function: Callable[..., Any], arguments: Any, opts: CompileOptions) -> list[str]:
    """The notes of explain about contractions, nest by nest."""
    return [
        loop["contraction"]
        for loop in parpy.explain(function, *arguments, opts=opts).facts["loops"]
        if loop["contraction"]
    ]


def is_contraction(function: Callable[..., Any], arguments: Any, opts: CompileOptions = AUTO) -> bool:
    found = notes(function, arguments, opts)
    return len(found) == 1 and found[0].startswith("a contraction of")


def interpreted(nest: Nest, opts: CompileOptions, until: str) -> dict[str, Any]:
    values = nest.copies()
    with np.errstate(all="ignore"):
        parpy.calls.jit.interpret(nest.function, list(values.values()), opts, until)
    return values


def compiled(nest: Nest, opts: CompileOptions) -> dict[str, Any]:
    values = nest.copies()
    nest.function(*values.values(), opts=opts)
    return values


def assert_same(got: dict[str, Any], want: dict[str, Any], text: str) -> None:
    for name, value in want.items():
        np.testing.assert_array_equal(got[name], value, err_msg=text)


def check(c: Case) -> int:
    """Checks that all ways to run it agree to the last bit; returns the number of calls that ran as contractions."""
    nest, count = c.nest(), 0
    for arguments in c.calls:
        nest.arguments = arguments
        want = interpreted(nest, SETTLED, "settle-reductions")
        assert_same(compiled(nest, SETTLED), want, c.text)
        found = notes(nest.function, nest.copies().values(), AUTO)
        settled = notes(nest.function, nest.copies().values(), SETTLED)
        if len(found) != 1 or not found[0].startswith("a contraction of"):
            continue
        # Loops may have been collapsed for AUTO only, which then has enough rows or columns.
        assert settled and settled[0].startswith("a contraction ")
        count += 1
        assert_same(interpreted(nest, AUTO, "contract-loops"), want, c.text)
        if arguments is c.calls[0]:  # later calls may run a program for other sizes
            assert_same(compiled(nest, AUTO), want, c.text)
    return count


def check_on_simulator(c: Case) -> int:
    """Checks that kernels have the bits of the CPU; returns the number of calls that ran as contractions."""
    nest, count = c.nest(), 0
    for arguments in c.calls:
        nest.arguments = arguments
        want = compiled(nest, SETTLED)
        for opts in ON_SIMULATOR:
            contracts = is_contraction(nest.function, nest.copies().values(), opts)
            count += contracts
            if contracts or opts.deterministic:
                assert_same(compiled(nest, opts), want, c.text)
    return count
