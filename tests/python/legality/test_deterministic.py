"""Under `deterministic=True` results have the same bits on every back end and mapping."""

from __future__ import annotations

import itertools
import linecache
import math
import os
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import backends
import deterministic_programs
import nvrtc
import parpy
import places
from deterministic_programs import Program, bits, copies

sys.path.insert(0, str(places.TESTS / "fuzz"))
import ptx

CPU, CUDA = parpy.CompileBackend.Cpu, parpy.CompileBackend.Cuda
PROGRAMS = list(deterministic_programs.programs())
THREADS = (1, 3, 64, 2000)


def wanted(program: Program) -> list[object]:
    """The interpreter's results after the pass that fixes the meaning of sums."""
    arguments = copies(program.arguments)
    opts = parpy.CompileOptions(backend=parpy.CompileBackend.Cpu, deterministic=True)
    parpy.calls.jit.interpret(program.function, arguments, opts, "settle-reductions")
    return bits(arguments)


def left(program: Program, backend: str, opts: parpy.CompileOptions) -> list[object]:
    arguments = copies(program.arguments)
    if backend == "eval":
        parpy.calls.jit.interpret(program.function, arguments, opts)
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


SUMS = [p for p in PROGRAMS if p.name in ("dot float64", "sum float32", "a @ b float64", "nest float64")]


@pytest.mark.parametrize("backend", backends.TARGETS)
@pytest.mark.parametrize("program", SUMS, ids=lambda p: p.name)
def test_options_beside_it_change_no_bit(program, backend):
    want, where = wanted(program), device(backend)
    reducing = {label: parpy.threads(64) for label in program.labels[:-1]} | {
        program.labels[-1]: parpy.threads(64).reduce()
    }
    own = {"gpu": parpy.threads(1)} if backend in ("sim", "cuda") else {}
    variants = [
        {"parallelize": reducing | own},
        {"parallelize": reducing | own, "restructure": True},
        {"parallelize": reducing | own, "legality": "trust"},
        {"parallelize": reducing | own, "legality": "strict"},
        {"parallelize": reducing | own, "max_unroll_count": 64},
        {"automatic": True, "max_unroll_count": 64},
    ]
    if backend != "cuda":
        variants += [{"check": "bounds", "automatic": True}, {"check": "all", "parallelize": reducing | own}]
    for variant in variants:
        opts = parpy.CompileOptions(backend=where, deterministic=True, **variant)
        assert left(program, backend, opts) == want, variant


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
    x, y = deterministic_programs.values(1, (50,), "float64"), deterministic_programs.values(2, (50,), "float64")
    out = np.zeros(8)
    deterministic_programs.dot(x, y, out, 50, opts=parpy.auto(deterministic=True))
    s = 0.0
    for a, b in zip(x.tolist(), y.tolist(), strict=True):
        s = float(Fraction(a) * Fraction(b) + Fraction(s))  # rounds once
    assert out[0] == s


@parpy.jit
def of_arguments(out, a, b):
    out[0] = math.exp(a) + math.sin(b) * 3
    out[1] = a**b
    out[2] = (out[2] + a) ** b
    out[3] = np.hypot(a, b) * math.log(a)
    s = out[4]
    for i in range(3):
        s += a * b
    out[4] = s


@pytest.mark.parametrize("backend", backends.TARGETS)
def test_values_that_are_known_early_change_nothing(backend):
    opts = parpy.auto(backend=device(backend), deterministic=True)
    pairs = [(a, b) for a in (0.1, 0.7, 1.3, 2.9, 5.5, 7.7) for b in (1.0, 2.0, 3.0, 0.3, 0.0, -1.5)]

    def bits_of(function, a, b):
        out = np.full(5, 0.9)
        function(out, a, b, opts=opts)
        return bits((out,))

    known = []
    for a, b in pairs:
        parpy._native.forget_compiled(of_arguments)  # the first call compiles for its values
        known.append(bits_of(of_arguments, a, b))
    general = [bits_of(of_arguments, a, b) for a, b in pairs]
    assert parpy.calls.jit.cache_info(of_arguments).run_time == ("a", "b")
    assert general == known


def test_what_runs_in_order_is_told():
    shown = str(parpy.explain(deterministic_programs.dot, *PROGRAMS[0].arguments, opts=parpy.auto(deterministic=True)))
    assert "deterministic=True keeps the order of its sums" in shown


def test_approximation_contradicts():
    with pytest.raises(ValueError, match="contradictory: deterministic=True and fast_math=True"):
        parpy.CompileOptions(deterministic=True, fast_math=True)


UNARY = ["exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin", "arccos", "arctan"]
UNARY += ["sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "cbrt"]
BINARY = ["arctan2", "hypot", "power"]
COMPLEX = ["exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "sqrt", "abs"]


def elementwise(name: str, operands: int) -> parpy.jit:
    arguments = "xyz"[:operands]
    text = f"""
@parpy.jit
def {name}_of_all({", ".join(arguments)}, out, n):
    parpy.label("i")
    for i in range(n):
        out[i] = np.{name}({", ".join(f"{a}[i]" for a in arguments)})
"""
    space = {"parpy": parpy, "np": np}
    file = f"<{name} of {operands}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), space)
    return space[f"{name}_of_all"]


def anywhere(dtype: str, seed: int) -> np.ndarray:
    """Values of all magnitudes, near 0 and near 1, and special values."""
    rng = np.random.default_rng(seed)
    real = np.dtype(dtype).type(0).real.dtype
    far = rng.standard_normal(3000) * np.exp2(rng.integers(-30, 30, 3000))
    special = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, np.finfo(real).tiny / 8, np.finfo(real).max]
    made = rng.permutation(
        np.concatenate([far, rng.standard_normal(3000), 1 + 1e-3 * rng.standard_normal(500), special])
    )
    if np.dtype(dtype).kind == "c":
        made = made + 1j * rng.permutation(made)
    with np.errstate(over="ignore"):
        return made.astype(dtype)


FUNCTIONS = [(name, n, t) for names, n in ((UNARY, 1), (BINARY, 2)) for name in names for t in ("f4", "f8")]
FUNCTIONS += [(name, 1, t) for name in COMPLEX for t in ("c8", "c16")]


@pytest.mark.parametrize("name, operands, dtype", FUNCTIONS)
@pytest.mark.parametrize("backend", backends.TARGETS[1:])
def test_functions_are_the_same_text_everywhere(name, operands, dtype, backend):
    function = elementwise(name, operands)
    arguments = [anywhere(dtype, 10 + i) for i in range(operands)]
    if backend == "cuda" and (name in ("sin", "cos", "tan") or np.dtype(dtype).kind == "c"):
        # Beyond 2**32 a GPU reduces angles by a function of its own, as docs/explanation/deterministic.md says.
        arguments = [np.where(np.maximum(abs(x.real), abs(x.imag)) > 2**32, 1, x).astype(dtype) for x in arguments]
    found = []
    for where in ("cpu", backend):
        out = np.zeros_like(np.abs(arguments[0]) if name == "abs" else arguments[0])
        function(*arguments, out, len(out), opts=parpy.auto(backend=device(where), deterministic=True))
        found.append(bits((out,)))
    assert found[0] == found[1]


def run_ptx(function, names: str, arguments: tuple, opts: parpy.CompileOptions) -> None:
    """Runs NVRTC's code for the program, thread by thread, without a GPU."""
    text = parpy.print_compiled(function, arguments, opts)
    module, memory = ptx.parse(nvrtc.ptx(text)), ptx.Memory()
    places = {
        name: memory.add(a) for name, a in zip(names.split(), arguments, strict=False) if isinstance(a, np.ndarray)
    }
    heads = re.findall(r"__global__ void (?:__launch_bounds__\(\d+\) )?(\w+)\(([^)]*)\)", text)
    launches = re.findall(r"parpy_launch\w*\(context, (\d+), (\d+), 1, 1, (\d+), 1, 1, \d+, arguments\)", text)
    assert launches and len(launches) == text.count("const int error = parpy_launch")
    for kernel, grid, block in launches:
        name, parameters = heads[int(kernel)]
        values = [places[re.split(r"[\s*]+", each.strip())[-1]] for each in parameters.split(",")]
        ptx.launch(module, name, values, memory, int(grid), int(block))


@pytest.mark.parametrize("name, operands, dtype", FUNCTIONS)
def test_functions_have_these_bits_as_nvrtc_compiles_them(name, operands, dtype):
    arguments = [anywhere(dtype, 10 + i)[:16] for i in range(operands)]
    function = elementwise(name, operands)
    want = np.zeros_like(np.abs(arguments[0]) if name == "abs" else arguments[0])
    got = want.copy()
    function(*arguments, want, len(want), opts=parpy.auto(backend=CPU, deterministic=True))
    opts = parpy.CompileOptions(backend=CUDA, deterministic=True, parallelize={"i": parpy.threads(32)})
    run_ptx(function, f"{' '.join('xyz'[:operands])} out n", (*arguments, got, len(got)), opts)
    assert bits((got,)) == bits((want,))


BY_PTX = (
    "rows float",
    "sum float",
    "guarded float32",
    "a @ b float",
    "half",
    "extremes float32 nan",
    "extremes float64 0.0",
)


@pytest.mark.parametrize("program", [p for p in PROGRAMS if p.name.startswith(BY_PTX)], ids=lambda p: p.name)
def test_programs_have_these_bits_as_nvrtc_compiles_them(program):
    arguments = copies(program.arguments)
    mapping = {label: parpy.threads(16) for label in program.labels}
    opts = parpy.CompileOptions(backend=CUDA, deterministic=True, parallelize=mapping)
    names = program.function.__wrapped__.__code__.co_varnames
    run_ptx(program.function, " ".join(names), arguments, opts)
    assert bits(arguments) == wanted(program)
