"""`Target.Host` functions of CUDA: C++ that the host calls between kernels, with numbers, arrays and the stream."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest

import nvrtc
import parpy
from backends import options
from parpy import CompileBackend, Target, threads
from parpy.types import F64, I32, I64, buffer, symbol

N, M = symbol(), symbol()

HEADER = """
#include <math.h>
static int64_t halved(int64_t n) { return n / 2; }
static double rate(double x, int32_t steps) { return x / sqrt((double)steps); }

// What wrappers of libraries look like; on the simulator memory is the host's.
static inline void scale(double* x, int64_t n, double by) {
    for (int64_t i = 0; i < n; ++i) x[i] *= by;
}
static inline double norm(const double* x, long long n, void* stream) {
    double sum = stream == nullptr ? 0 : 1e300;
    for (long long i = 0; i < n; ++i) sum += x[i] * x[i];
    return sqrt(sum);
}
struct Stream_st;
typedef Stream_st* Stream_t;
template <class A> void transposed(A x, A y, Stream_t) {
    for (long long i = 0; i < x.shape[0]; ++i)
        for (long long j = 0; j < x.shape[1]; ++j) y[j * x.shape[0] + i] = x[i * x.shape[1] + j];
}
static void add_rows(parpy_array<double, 2> x, double* sums) {
    for (long long i = 0; i < x.shape[0] * x.shape[1]; ++i) sums[i / x.shape[1]] += x.data[i];
}
__device__ double unused_here(double x);
__host__ double annotated(double x) { return x + 1; }
"""


@parpy.external("halved", CompileBackend.Cuda, Target.Host, header="host.h")
def halved(n: I64) -> I64:
    return n // 2


@parpy.external("rate", CompileBackend.Sim, Target.Host, header="host.h")
def rate(x: F64, steps: I32) -> F64:
    return x / steps**0.5


@parpy.external("scale", CompileBackend.Cuda, Target.Host, header="host.h")
def scale(x: buffer(F64, [N]), n: I64, by: F64):
    x[:n] *= by


@parpy.external("norm", CompileBackend.Cuda, Target.Host, header="host.h")
def norm(x: buffer(F64, [N]), n: I64) -> F64:
    return float(np.sqrt((x[:n] ** 2).sum()))


@parpy.external("transposed", CompileBackend.Cuda, Target.Host, header="host.h")
def transposed(x: buffer(F64, [N, M]), y: buffer(F64, [M, N])):
    y[:] = x.T


@parpy.external("add_rows", CompileBackend.Cuda, Target.Host, header="host.h")
def add_rows(x: buffer(F64, [N, M]), sums: buffer(F64, [N])):
    sums += x.sum(axis=1)


@parpy.external("annotated", CompileBackend.Cuda, Target.Host, header="host.h")
def annotated(x: F64) -> F64:
    return x + 1


@pytest.fixture
def include(tmp_path):
    (tmp_path / "host.h").write_text(HEADER)

    def made(opts):
        opts.includes = [str(tmp_path)]
        return opts

    return made


@parpy.jit
def numbers(x, n):
    m = halved(n)
    r = rate(3.0, m)
    parpy.label("i")
    for i in range(m):
        x[i] += r
    q = annotated(r)
    parpy.label("i")
    for i in range(m, n):
        x[i] += q


@parpy.jit
def steps(x, n):
    k = n
    while k > 0:
        parpy.label("i")
        for i in range(k):
            x[i] += k
        k = halved(k)


@parpy.jit
def arrays(x, y, n):
    parpy.label("i")
    for i in range(n):
        x[i] += 1
    scale(x, n, 0.5)
    length = norm(x, n)
    parpy.label("i")
    for i in range(n):
        y[i] = x[i] / length


@parpy.jit
def shapes(x, y, sums):
    parpy.label("i")
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            x[i, j] += i
    transposed(x, y)
    add_rows(x, sums)
    parpy.label("i")
    for i in range(x.shape[0]):
        sums[i] *= 2


@parpy.jit
def elements(x, n):
    x[0] = halved(n)
    for i in range(1, n):
        x[i] += x[i - 1] + halved(n)


def cases():
    r = np.random.default_rng(0)
    return [
        (numbers, (r.random(20), 20)),
        (steps, (r.random(20), 20)),
        (arrays, (r.random(20), np.zeros(20), 20)),
        (shapes, (r.random((4, 5)), np.zeros((5, 4)), np.zeros(4))),
    ]


@pytest.mark.parametrize(("function", "given"), cases(), ids=lambda c: getattr(c, "__name__", ""))
@pytest.mark.parametrize("automatic", [False, True])
def test_results(function, given, automatic, include):
    got, want = [a.copy() if hasattr(a, "copy") else a for a in given], list(given)
    opts = parpy.auto(backend=CompileBackend.Sim) if automatic else options("sim", {"i": 32})
    function(*got, opts=include(opts))
    function(*want, seq=True)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b)


def test_what_the_host_computes_is_stored_by_the_gpu(include):
    got, want = np.ones(6), np.ones(6)
    elements(want, 6, seq=True)
    elements(got, 6, opts=include(parpy.auto(backend=CompileBackend.Sim)))
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(("function", "given"), cases(), ids=lambda c: getattr(c, "__name__", ""))
def test_text(function, given, include, tmp_path):
    text = parpy.print_compiled(function, given, include(options("cuda", {"i": 32})))
    device, host = text.split("// ---- host code ----")
    assert '#include "host.h"' in host and "host.h" not in device
    nvrtc.cubin(text)
    graphs = options("cuda", {"i": 32})
    graphs.use_cuda_graphs = True
    assert parpy.print_compiled(function, given, include(graphs))
    simulated = include(options("sim", {}))
    again = parpy.compile_string(function.__name__, parpy.print_compiled(function, given, include(options("sim", {"i": 32}))), simulated)
    got, want = [a.copy() if hasattr(a, "copy") else a for a in given], [a.copy() if hasattr(a, "copy") else a for a in given]
    again(*got)
    function(*want, seq=True)
    np.testing.assert_allclose(got[0], want[0])


def test_libraries(tmp_path):
    if shutil.which("cc") is None:
        pytest.skip("no C compiler to make a library with")
    (tmp_path / "t.c").write_text("void twice(double* x, long n) { for (long i = 0; i < n; ++i) x[i] *= 2; }\n")
    (tmp_path / "t.h").write_text('extern "C" void twice(double* x, int64_t n);\n')
    library = tmp_path / "libtwice.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(tmp_path / "t.c")], check=True)

    @parpy.external("twice", CompileBackend.Cuda, Target.Host, header="t.h")
    def twice(x: buffer(F64, [N]), n: I64):
        x[:n] *= 2

    @parpy.jit
    def f(x, n):
        parpy.label("i")
        for i in range(n):
            x[i] += 1
        twice(x, n)

    for libs, flags in (([str(library)], []), ([str(tmp_path)], ["-ltwice"]), ([], [f"-L{tmp_path}", "-ltwice"])):
        opts = options("sim", {"i": 32})
        opts.includes, opts.libs, opts.extra_flags = [str(tmp_path)], libs, flags
        f(x := np.ones(5), 5, opts=opts)
        assert (x == 4).all()


# ---------------------------------------------------------------- mistakes


def test_a_library_that_is_not_named(tmp_path):
    (tmp_path / "missing.h").write_text('extern "C" void nobody_defines_this(double* x);\n')

    @parpy.external("nobody_defines_this", CompileBackend.Cuda, Target.Host, header="missing.h")
    def missing(x: buffer(F64, [N])):
        pass

    @parpy.jit
    def f(x):
        missing(x)

    opts = options("sim", {})
    opts.includes = [str(tmp_path)]
    message = refused(f, np.ones(5), opts=opts, error=parpy.BackendError)
    assert "P512" in message and "nobody_defines_this" in message and "opts.libs" in message


def refused(function, *given, opts, error=parpy.CompileError):
    with pytest.raises(error) as caught:
        function(*given, opts=opts)
    return str(caught.value)


def test_in_parallel_code(include):
    @parpy.jit
    def in_a_loop(x):
        parpy.label("i")
        for i in range(x.shape[0]):
            x[i] = rate(x[i], 4)

    @parpy.jit
    def on_the_gpu(x):
        with parpy.gpu:
            x[0] = rate(2.0, 4)

    message = refused(in_a_loop, np.ones(3), opts=include(options("sim", {"i": 32})))
    assert "P029" in message and "'rate' is a function of the host, which loop 'i' calls in parallel" in message
    assert "outside of the loop" in message
    message = refused(on_the_gpu, np.ones(3), opts=include(options("sim", {})))
    assert "P029" in message and "which code on the GPU cannot call" in message


def test_elements_in_host_code(include):
    @parpy.jit
    def f(x):
        t = rate(x[0], 4)
        parpy.label("i")
        for i in range(x.shape[0]):
            x[i] = t

    message = refused(f, np.ones(3), opts=include(options("sim", {"i": 32})))
    assert "P306" in message and "parpy.gpu" in message


@parpy.jit
def halving(x, n):
    scale(x, n, 0.5)


def test_arrays_in_helpers(include):
    @parpy.jit
    def f(x, n):
        halving(x, n)
        parpy.label("i")
        for i in range(n):
            x[i] += 1

    message = refused(f, np.ones(3), 3, opts=include(options("sim", {"i": 32})))
    assert "P029" in message and "it is called in the helper 'halving'" in message and "parpy.builtin.inline" in message

    @parpy.jit
    def inlined(x, n):
        parpy.builtin.inline(halving(x, n))
        parpy.label("i")
        for i in range(n):
            x[i] += 1

    inlined(x := np.ones(3), 3, opts=include(options("sim", {"i": 32})))
    assert (x == 1.5).all()


def test_other_back_ends(include):
    message = refused(numbers, np.ones(4), 4, opts=include(options("cpu", {"i": 2})))
    assert "P029" in message and "'halved' is a function of the back end 'cuda host'" in message


def test_types(include):
    @parpy.jit
    def f(x, n):
        scale(x, n, 0.5)

    message = refused(f, np.ones(3, np.float32), 3, opts=include(options("sim", {})), error=TypeError)
    assert "P230" in message and "'scale' takes" in message


def test_a_header_that_does_not_compile(tmp_path):
    (tmp_path / "host.h").write_text("static int64_t halved(int64_t n) { return m / 2; }\n")
    opts = options("sim", {"i": 32})
    opts.includes = [str(tmp_path)]
    message = refused(steps, np.ones(3), 3, opts=opts, error=parpy.BackendError)
    assert "host.h:1:" in message and "undeclared identifier 'm'" in message and "return m / 2;" in message


def test_a_header_that_lacks_the_function(tmp_path):
    (tmp_path / "host.h").write_text("static int64_t half(int64_t n) { return n / 2; }\n")
    opts = options("sim", {"i": 32})
    opts.includes = [str(tmp_path)]
    assert "'halved'" in refused(steps, np.ones(3), 3, opts=opts, error=parpy.BackendError)


def test_threads():
    with pytest.raises(ValueError, match=r"target=parpy\.Target\.Device"):
        parpy.external("f", CompileBackend.Cuda, Target.Host, parallelize=threads(32))
