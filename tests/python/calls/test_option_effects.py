"""Each field of CompileOptions changes the compiled program, or the way it runs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import parpy
from backends import TARGETS, options
from parpy.types import F32, F64, I16, I32


@parpy.jit
def counted(x, n):
    parpy.label("i")
    for i in range(x.shape[0]):
        s = 0.0
        for k in range(4):
            s += 0.1 * (i + k)
        x[i] = s * n


def text(backend="cpu", **fields):
    opts = options(backend, {"i": 64})
    for name, value in fields.items():
        setattr(opts, name, value)
    return parpy.print_compiled(counted, [np.zeros(100), 3], opts)


@pytest.mark.parametrize("backend", ["cpu", "cuda"])
def test_forced_sizes(backend):
    assert "float " not in text(backend) and "float " in text(backend, force_float_size=F32)
    assert "short" in text(backend, force_int_size=I16) and "short" not in text(backend)


@pytest.mark.parametrize("backend", TARGETS)
def test_forced_sizes_compute_in_them(backend):
    @parpy.jit
    def third(x, n):
        parpy.label("i")
        for i in range(x.shape[0]):
            x[i] = 1.0 / n

    found = []
    for size in (None, F32, F64):
        x = np.zeros(3)
        opts = options(backend, {"i": 3})
        opts.force_float_size = size
        third(x, 3, opts=opts)
        found.append(x[0])
    assert found == [1 / 3, float(np.float32(1) / np.float32(3)), 1 / 3]

    @parpy.jit
    def wrapped(x, n):
        with parpy.gpu:
            a = n * n
            x[0] = a

    x = np.zeros(1)
    opts = options(backend, {})
    opts.force_int_size = I32
    wrapped(x, 1 << 17, opts=opts)
    assert x[0] == 0
    wrapped(x, 1 << 17, opts=options(backend, {}))
    assert x[0] == 2.0**34


@pytest.mark.parametrize(("backend", "pragma"), [("cpu", "unroll(full)"), ("cuda", "#pragma unroll")])
def test_unrolling(backend, pragma):
    assert pragma not in text(backend) and pragma not in text(backend, max_unroll_count=3)
    assert text(backend, max_unroll_count=0) == text(backend)
    assert text(backend, max_unroll_count=4).count(pragma) == 1


@pytest.mark.parametrize("backend", TARGETS)
def test_unrolled_loops_compute_the_same(backend):
    found = []
    for count in (1, 8):
        opts = options(backend, {"i": 64})
        opts.max_unroll_count = count
        counted(x := np.zeros(100), 3, opts=opts)
        found.append(x)
    assert np.array_equal(*found)


@pytest.mark.parametrize("backend", TARGETS)
def test_fast_math(backend):
    @parpy.jit
    def exps(x):
        parpy.label("i")
        for i in range(x.shape[0]):
            x[i] = parpy.math.exp(x[i]) / 3.0

    found = []
    for fast in (False, True):
        opts = options(backend, {"i": 64})
        opts.fast_math = fast
        exps(x := np.linspace(-1, 1, 100, dtype=np.float32), opts=opts)
        found.append(x)
    np.testing.assert_allclose(*found, rtol=1e-5)


@parpy.jit
def stepped(x, y, times):
    for t in range(times):
        parpy.label("i")
        for i in range(1, x.shape[0] - 1):
            y[i] = 0.5 * (x[i - 1] + x[i + 1]) + t
        parpy.label("i")
        for i in range(1, x.shape[0] - 1):
            x[i] = y[i]


@pytest.mark.parametrize("backend", TARGETS)
def test_cuda_graphs_replay_what_changed(backend):
    """Replays with equal and with changed arrays, numbers and contents; arrays are on the device or on the host."""
    opts = options(backend, {"i": 64})
    opts.use_cuda_graphs = True
    rng = np.random.default_rng(0)
    place = parpy.CompileBackend(backend)
    kept = parpy.buffer.zeros((50,), F64, place), parpy.buffer.zeros((50,), F64, place)
    for times in (3, 3, 4, 3):
        x = rng.random(50)
        want, other = x.copy(), np.zeros(50)
        stepped(want, other, times, seq=True)
        kept[0].copy_from(x)
        stepped(*kept, times, opts=opts)
        np.testing.assert_allclose(kept[0].numpy(), want, rtol=1e-12)
        y = np.zeros(50)
        stepped(x, y, times, opts=opts)
        np.testing.assert_allclose(x, want, rtol=1e-12)


def test_debug_print(capsys):
    opts = options("cpu", {"i": 64})
    opts.debug_print = True
    counted(np.zeros(100), 3, opts=opts)
    printed = capsys.readouterr().out
    assert "// ---- infer-types (" in printed and "ms) ----" in printed


LIBRARY = """
extern "C" double from_library(double x) { return x + 40; }
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("library")
    (folder / "lib.cpp").write_text(LIBRARY)
    compiler = next((c for c in ("clang++-19", "clang++", "g++", "c++") if _runs(c)), None)
    if compiler is None:
        pytest.skip("no compiler that makes shared libraries")
    made = [compiler, "-shared", "-fPIC", "-o", str(folder / "libfortytwo.so"), str(folder / "lib.cpp")]
    subprocess.run(made, check=True)
    (folder / "fortytwo.h").write_text('extern "C" double from_library(double);\n')
    return folder


def _runs(compiler: str) -> bool:
    paths = os.environ.get("PATH", "").split(os.pathsep)
    return any(Path(path, compiler).exists() for path in paths)


@pytest.mark.parametrize("spelling", ["file", "directory"])
def test_libraries(library, spelling):
    @parpy.external("from_library", parpy.CompileBackend.Cpu, parpy.Target.Host, header="fortytwo.h")
    def from_library(x: F64) -> F64:
        return x + 40

    @parpy.jit
    def f(x):
        x[0] = from_library(x[0])

    opts = options("cpu", {})
    opts.includes = [str(library)]
    if spelling == "file":
        opts.libs = [str(library / "libfortytwo.so")]
    else:
        opts.libs, opts.extra_flags = [str(library)], ["-lfortytwo", "-O3", "-Xcompiler", "-Wall"]
    x = np.full(1, 2.0)
    f(x, opts=opts)
    assert x[0] == 42


def test_flags():
    @parpy.external("WHAT", parpy.CompileBackend.Cpu, parpy.Target.Host)
    def what(x: F64) -> F64:
        return x

    @parpy.jit
    def f(x):
        x[0] = what(x[0])

    opts = options("cpu", {})
    opts.extra_flags = ["-DWHAT(x)=(2*(x))"]
    x = np.full(1, 3.0)
    f(x, opts=opts)
    assert x[0] == 6
    with pytest.raises(parpy.BackendError, match="WHAT"):
        f(x, opts=options("cpu", {}))


@pytest.mark.parametrize("backend", TARGETS)
def test_flags_of_drivers_and_other_compilers(backend):
    @parpy.jit
    def f(x):
        parpy.label("i")
        for i in range(4):
            x[i] += 1

    opts = options(backend, {"i": 4})
    opts.extra_flags = [
        "-lm",
        "--use_fast_math",
        "-lineinfo",
        "--maxrregcount=32",
        "-maxrregcount",
        "32",
        "-fmad=false",
    ]
    f(x := np.zeros(4), opts=opts)  # libm.so is a linker script on many systems
    assert (x == 1).all()
