"""Under `deterministic=True` results are the same bits however a program runs."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path

import backends
import deterministic_programs
import numpy as np
import pytest
from deterministic_programs import Program, bits, copies

import parpy

PROGRAMS = list(deterministic_programs.programs())
THREADS = (1, 3, 64, 2000)


def wanted(program: Program) -> list[object]:
    """What the interpreter makes of the program as soon as the meaning of its sums is settled."""
    arguments = copies(program.arguments)
    opts = parpy.CompileOptions(backend=parpy.CompileBackend.Cpu, deterministic=True)
    parpy._jit.interpret(program.function, arguments, opts, "settle-reductions")
    return bits(arguments)


def left(program: Program, backend: str, opts: parpy.CompileOptions) -> list[object]:
    arguments = copies(program.arguments)
    if backend == "eval":
        parpy._jit.interpret(program.function, arguments, opts)
    else:
        program.function(*arguments, opts=opts)
    return bits(arguments)


def device(backend: str) -> parpy.CompileBackend:
    return parpy.CompileBackend("cpu" if backend == "eval" else backend)


@pytest.mark.parametrize("backend", backends.BACKENDS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_every_way_to_run_gives_the_same_bits(program, backend):
    want = wanted(program)
    where = device(backend)
    assert left(program, backend, parpy.auto(backend=where, deterministic=True)) == want
    own = {"gpu": parpy.threads(1)} if backend in ("sim", "cuda") else {}
    for size in range(1, len(program.labels) + 1):
        for labels in itertools.combinations(program.labels, size):
            for threads in THREADS if backend == "cpu" else THREADS[2:]:
                mapping = {label: parpy.threads(threads) for label in labels} | own
                opts = parpy.CompileOptions(backend=where, deterministic=True, parallelize=mapping)
                assert left(program, backend, opts) == want, labels


def test_nothing_about_the_process_matters(tmp_path):
    def digests(**environment: str) -> str:
        settings = {**os.environ, "PARPY_CACHE": "0", **environment}
        program = Path(deterministic_programs.__file__)
        command = [sys.executable, str(program)]
        if "MASK" in environment:
            command[1:] = ["-c", f"import os, runpy; os.sched_setaffinity(0, {{{environment['MASK']}}});"
                           f"runpy.run_path({str(program)!r}, run_name='__main__')"]  # fmt: skip
        return subprocess.run(command, env=settings, capture_output=True, text=True, check=True).stdout

    want = digests()
    assert want.count("\n") == 2 * len(PROGRAMS)
    for environment in (
        {"PARPY_CHUNKS": "2"},
        {"PARPY_CHUNKS": "7"},
        {"PARPY_CHUNKS": "1000"},
        {"PARPY_NUM_THREADS": "1"},
        {"MASK": str(min(os.sched_getaffinity(0)))},
    ):
        assert digests(**environment) == want, environment


def test_sums_of_products_are_chains_of_fused_multiply_adds():
    fma = parpy.math.fma if hasattr(parpy.math, "fma") else None
    x, y = deterministic_programs.values(1, (50,), "float64"), deterministic_programs.values(2, (50,), "float64")
    out = np.zeros(8)
    deterministic_programs.dot(x, y, out, 50, opts=parpy.auto(deterministic=True))
    from fractions import Fraction

    s = 0.0
    for a, b in zip(x.tolist(), y.tolist(), strict=True):
        s = float(Fraction(a) * Fraction(b) + Fraction(s))  # rounds once
    assert out[0] == s
    assert fma is None or fma(2.0, 3.0, 4.0) == 10.0
