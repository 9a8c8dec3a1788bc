"""parpy.external: functions of C++ and CUDA C++, and the errors that compilation finds."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS, options
from parpy import CompileBackend, Target, threads
from parpy.builtin import convert, static_backend_eq, static_fail, static_types_eq
from parpy.types import F32, F64, I32, I64, buffer, symbol, type_var

N, M, T = symbol(), symbol(), type_var()

HEADER = """
static WHERE inline double thrice(double v) { return 3 * v; }
static WHERE inline float sum_of(const float* v, long long n) {
    float s = 0;
    for (long long i = 0; i < n; ++i) s += v[i];
    return s;
}
static WHERE inline void negate(float* v, int i) { v[i] = -v[i]; }
"""


@parpy.external("thrice", CompileBackend.Cpu, Target.Device, header="ext.h")
def thrice_cpu(v: F64) -> F64:
    return 3 * v


@parpy.external("thrice", CompileBackend.Cuda, Target.Device, header="<ext.cuh>")
def thrice_cuda(v: F64) -> F64:
    return 3 * v


@parpy.jit
def tripled(x, y):
    parpy.label("i")
    for i in range(x.shape[0]):
        if static_backend_eq(CompileBackend.Cuda):
            y[i] = thrice_cuda(x[i]) + 1
        elif static_backend_eq(CompileBackend.Cpu):
            y[i] = thrice_cpu(v=x[i]) + 1
        else:
            static_fail("there is no thrice")


@pytest.fixture
def headers(tmp_path):
    (tmp_path / "ext.h").write_text(HEADER.replace("WHERE ", ""))
    (tmp_path / "ext.cuh").write_text(HEADER.replace("WHERE", "__device__"))
    return str(tmp_path)


def with_headers(backend, headers, **loops):
    opts = options(backend, loops)
    opts.includes = [headers]
    return opts


@pytest.mark.parametrize("backend", TARGETS)
def test_a_header(backend, headers):
    x, y = np.arange(50.0), np.zeros(50)
    tripled(x, y, opts=with_headers(backend, headers, i=32))
    assert np.array_equal(y, 3 * x + 1)
    tripled(x, y := np.zeros(50), seq=True)
    assert np.array_equal(y, 3 * x + 1)


def test_arrays_and_results(headers):
    @parpy.external("sum_of", CompileBackend.Cpu, Target.Host, header='"ext.h"')
    def sum_of(v: buffer(F32, [N]), n: I64) -> F32:
        return v[:n].sum()

    @parpy.external("negate", CompileBackend.Cpu, Target.Host, header='"ext.h"')
    def negate(v: buffer(F32, [N]), i: I32):
        v[i] = -v[i]

    @parpy.jit
    def f(x, y, n):
        negate(x, 2)
        y[0] = sum_of(x, n)

    x, y = np.ones(5, np.float32), np.zeros(1)
    f(x, y, 4, opts=with_headers("cpu", headers))
    assert y[0] == 2 and x[2] == -1
    f(x, y, 4, seq=True)
    assert y[0] == 4
    with pytest.raises(TypeError, match="'sum_of' takes"):
        f(np.ones(5), y, 4, opts=with_headers("cpu", headers))


def test_functions_that_the_compiler_knows():
    @parpy.external("__builtin_popcountll", CompileBackend.Cpu, Target.Device)
    def ones(v: I64) -> I32:
        return np.int32(int(v).bit_count())

    @parpy.jit
    def f(x, y):
        parpy.label("i")
        for i in range(x.shape[0]):
            y[i] = ones(x[i])

    x, y = np.arange(40), np.zeros(40, np.int32)
    f(x, y, opts=options("cpu", {"i": 8}))
    assert y.tolist() == [int(v).bit_count() for v in x]


def test_the_wrong_back_end():
    @parpy.jit
    def f(x):
        for i in range(x.shape[0]):
            x[i] = thrice_cuda(x[i])

    with pytest.raises(parpy.CompileError, match=r"P029.*'thrice' is a function of the back end 'cuda'"):
        f(np.ones(3), opts=options("cpu", {}))


def test_device_functions_are_not_called_on_the_host(headers):
    @parpy.jit
    def f(x):
        s = thrice_cuda(x.shape[0])
        parpy.label("i")
        for i in range(x.shape[0]):
            x[i] = s

    with pytest.raises(parpy.CompileError, match="is called on the host"):
        parpy.print_compiled(f, [np.ones(9)], with_headers("cuda", headers, i=9))


def test_declarations_that_cannot_be():
    cpu, device = CompileBackend.Cpu, Target.Device
    for call, error, message in [
        (lambda: parpy.external(3, cpu, device), TypeError, "name of the function"),
        (lambda: parpy.external("f", "cpu", device), TypeError, "CompileBackend"),
        (lambda: parpy.external("f", cpu, "device"), TypeError, "Target"),
        (lambda: parpy.external("f", cpu, device, header=3), TypeError, "header"),
        (lambda: parpy.external("f", cpu, device, parallelize=3), TypeError, "LoopPar"),
        (lambda: parpy.external("f", cpu, Target.Host, parallelize=parpy.threads(3)), ValueError, "device"),
    ]:
        with pytest.raises(error, match=message):
            call()
    with pytest.raises(TypeError, match=r"parameter 'x' .* needs a type of parpy.types"):

        @parpy.external("f", cpu, device)
        def f(x):
            pass


@parpy.jit
def by_type(x, y):
    parpy.label("i")
    for i in range(x.shape[0]):
        if static_types_eq(x.dtype, F32):
            y[i] = 1
        elif x.dtype == np.float64 and not static_types_eq(y.dtype, x.dtype):
            y[i] = 2
        else:
            y[i] = 3


@parpy.jit
def generic(x: buffer(T, [N]), y: buffer(F64, [N]), a: T):
    parpy.label("i")
    for i in range(N):
        y[i] = convert(1.75, T) + convert(a, x.dtype)
        if static_types_eq(T, F32):
            y[i] += 100


@pytest.mark.parametrize(("x", "y", "want"), [("f4", "i1", 1), ("f8", "i1", 2), ("f8", "f8", 3), ("i4", "i4", 3)])
@pytest.mark.parametrize("backend", [*TARGETS, "seq"])
def test_types_are_compared_when_compiled(backend, x, y, want):
    found = np.zeros(5, y)
    if backend == "seq":
        by_type(np.ones(5, x), found, seq=True)
    else:
        by_type(np.ones(5, x), found, opts=options(backend, {"i": 8}))
    assert (found == want).all()


@pytest.mark.parametrize("backend", TARGETS)
def test_type_variables(backend):
    y = np.zeros(4)
    generic(np.ones(4, np.float32), y, 2.0, opts=options(backend, {"i": 8}))
    assert (y == 103.75).all()
    generic(np.ones(4, np.int64), y, 2, opts=options(backend, {"i": 8}))
    assert (y == 3).all()
    generic(np.ones(4, np.float32), y, 2.0, seq=True)
    assert (y == 103.75).all()


def test_branches_that_are_not_taken_need_not_make_sense():
    @parpy.jit
    def f(x, y):
        for i in range(y.shape[0]):
            if static_types_eq(x.dtype, F32):
                y[i] = x[i, i]
            else:
                y[i] = x[i]

    y = np.zeros(3)
    f(np.ones(3), y, opts=options("cpu", {}))
    assert y.sum() == 3
    f(np.full((3, 3), 2, np.float32), y, opts=options("cpu", {}))
    assert y.sum() == 6


def test_static_fail():
    @parpy.jit
    def f(x, n):
        if n > 3:
            static_fail("n is {n} at most 3")
        x[0] = n

    x = np.zeros(1)
    f(x, 3, opts=options("cpu", {}))
    np.testing.assert_allclose(x[0], 3)
    with pytest.raises(parpy.CompileError, match=r"P232.*n is \{n\} at most 3"):
        f(x, 4, opts=options("cpu", {}))
    with pytest.raises(RuntimeError, match="at most"):
        f(x, 4, seq=True)
    with pytest.raises(TypeError, match="CompileBackend"):
        static_backend_eq("cpu")


def test_labels_of_shapes():
    @parpy.jit
    def f(x: buffer(F64, [N]), y: buffer(F64, [N])):
        for i in range(N):
            x[i] = 2.0
        y[:] = x[:] + 1

    def text(**more):
        opts = options("cpu", {"N": 16})
        for name, value in more.items():
            setattr(opts, name, value)
        return parpy.print_compiled(f, [np.zeros(10000), np.zeros(10000)], opts)

    assert text() == text(implicit_shape_labels=True)
    assert text().count("parpy_parallel_for(context") == 2
    assert "parpy_parallel_for(context" not in text(implicit_shape_labels=False)


@pytest.mark.parametrize("backend", TARGETS)
def test_labels_of_shapes_of_slices(backend):
    @parpy.jit
    def whole(x: buffer(F64, [N, M]), y: buffer(F64, [N])):
        y[:N] += 1
        y[:] = parpy.sum(x[:, :], axis=1) + y[0:N]

    @parpy.jit
    def rows(x: buffer(F64, [N, M]), y: buffer(F64, [N])):
        for i in range(0, N):  # noqa: PIE808
            y[i] = parpy.sum(x[i, :M])

    @parpy.jit
    def columns(x: buffer(F64, [N, M]), y: buffer(F64, [M])):
        y[:] = parpy.max(x[:, :], axis=0)

    x = np.random.default_rng(0).random((12, 7))
    for function, n in ((whole, 12), (rows, 12), (columns, 7)):
        opts = options(backend, {"N": 4, "M": threads(32).reduce() if function is not columns else 7})
        opts.implicit_shape_labels = True
        got, want = np.zeros(n), np.zeros(n)
        function(x, want, seq=True)
        function(x, got, opts=opts)
        np.testing.assert_allclose(got, want)


def test_labels_of_shapes_are_at_most_those_of_the_loops():
    @parpy.jit
    def centred(x: buffer(F64, [N, M])):
        x[:, :] = x[:, :] - parpy.sum(x[:, :], axis=0)

    x = np.random.default_rng(0).random((5, 6))
    want = x - x.sum(0)
    for opts in (options("cpu", {"N": 4}), parpy.auto(backend=CompileBackend.Cpu)):
        opts.implicit_shape_labels = True
        got = x.copy()
        centred(got, opts=opts)
        np.testing.assert_allclose(got, want)


def test_labels_by_hand_count_beside_those_of_shapes():
    @parpy.jit
    def f(x: buffer(F64, [N])):
        parpy.label("a")
        parpy.label("b")
        x[:] = 1

    opts = options("cpu", {"a": 4})
    opts.implicit_shape_labels = True
    with pytest.raises(parpy.CompileError, match="label 'b' names no loop"):
        f(np.zeros(3), opts=opts)


def test_arrays_of_externals_are_contiguous(tmp_path):
    (tmp_path / "total.h").write_text(
        "inline double total(double* x, long long n) { double s = 0; while (n) s += x[--n]; return s; }"
    )

    @parpy.external("total", CompileBackend.Cpu, Target.Device, header="total.h")
    def total(x: buffer(F64, [N]), n: I64) -> F64:
        return x.sum()

    @parpy.jit
    def f(x, y):
        y[0] = total(x, x.size)

    opts = parpy.CompileOptions(backend=CompileBackend.Cpu, includes=[str(tmp_path)])
    y = np.zeros(1)
    for n in range(1, 9):  # after some calls compiled for all sizes
        f(np.arange(float(n)), y, opts=opts)
        assert y[0] == n * (n - 1) / 2
        f(np.ones((n, n)), y, opts=opts)
        assert y[0] == n * n
        f(np.ones((3, n))[:, :1][:1], y, opts=opts)
        assert y[0] == 1
        f(np.ones((n, 3))[:0, ::2], y, opts=opts)
        assert y[0] == 0
    x = np.ones((8, 8))
    for view in (x[0, ::2], x[0, ::-1], x[:, 1], x[:, :4], x.T[:, :2], x[::2]):
        with pytest.raises(parpy.CompileError, match="do not lie side by side in memory"):
            f(view, y, opts=opts)


def test_standard_headers_need_no_folder():
    @parpy.external("std::cbrt", CompileBackend.Cpu, Target.Device, header="<cmath>")
    def cbrt(x: F64) -> F64:
        return np.cbrt(x)

    @parpy.jit
    def f(x):
        x[0] = cbrt(x[0])

    x = np.array([27.0])
    f(x, opts=parpy.CompileOptions(backend=CompileBackend.Cpu))
    np.testing.assert_allclose(x[0], 3)


@pytest.mark.parametrize("backend", TARGETS)
def test_defaults_and_mistakes_of_calls(backend, headers):
    on = CompileBackend.Cpu if backend == "cpu" else CompileBackend.Cuda

    @parpy.external("thrice", on, Target.Device, header="ext.h" if backend == "cpu" else "ext.cuh")
    def thrice(v: F64 = 2.5) -> F64:
        return 3 * v

    @parpy.jit
    def f(x):
        parpy.label("i")
        for i in range(x.shape[0]):
            x[i] = thrice() + thrice(v=1) + thrice(2)

    f(x := np.zeros(3), opts=with_headers(backend, headers, i=3))
    f(want := np.zeros(3), seq=True)
    assert np.array_equal(x, want)

    @parpy.jit
    def twice_given(x):
        x[0] = thrice(1, v=2)

    with pytest.raises(TypeError, match="gets two values for parameter 'v'"):
        twice_given(x)


def test_functions_of_the_host_are_not_called_in_parallel(headers):
    @parpy.external("thrice", CompileBackend.Cpu, Target.Host, header="ext.h")
    def thrice(v: F64) -> F64:
        return 3 * v

    @parpy.jit
    def through_a_helper(v):
        return thrice(v) + 1

    @parpy.jit
    def f(x):
        parpy.label("i")
        for i in range(x.shape[0]):
            x[i] = through_a_helper(x[i])

    with pytest.raises(
        parpy.CompileError, match="'thrice' is a function of the host, which loop 'i' calls in parallel"
    ):
        f(np.ones(100_000), opts=with_headers("cpu", headers, i=8))
    opts = with_headers("cpu", headers)
    f(x := np.ones(1_000_000), opts=opts)  # also in automatic mode
    assert (x == 4).all()
    assert "parallel_for" not in parpy.print_compiled(f, [x], opts)


def test_functions_of_the_simulator_are_those_of_cuda(headers):
    @parpy.external("thrice", CompileBackend.Sim, Target.Device, header="ext.cuh")
    def thrice(v: F64) -> F64:
        return 3 * v

    @parpy.jit
    def f(x):
        parpy.label("i")
        for i in range(x.shape[0]):
            x[i] = thrice(x[i])

    x = np.arange(40.0)
    f(x, opts=with_headers("sim", headers, i=32))
    assert np.array_equal(x, 3 * np.arange(40.0))
    assert "thrice(" in parpy.print_compiled(f, [x], with_headers("cuda", headers, i=32))
    with pytest.raises(parpy.CompileError, match=r"P029.*'thrice' is a function of the back end 'cuda'"):
        f(x, opts=with_headers("cpu", headers, i=32))


@pytest.mark.parametrize("backend", [CompileBackend.Metal, CompileBackend.Triton])
def test_functions_that_no_program_can_call(backend):
    @parpy.external("f", backend, Target.Host if backend is CompileBackend.Metal else Target.Device)
    def there(v: F32) -> F32:
        return v + 1

    @parpy.jit
    def f(x):
        parpy.label("i")
        for i in range(x.shape[0]):
            x[i] = there(x[i])

    x = np.zeros(3, np.float32)
    for program in ("metal", "cuda", "cpu"):
        with pytest.raises(
            parpy.CompileError, match=rf"P029.*'f' is a function of the back end '{backend.name.lower()}"
        ):
            parpy.print_compiled(f, [x], options(program, {"i": 3}))
    f(x, seq=True)
    assert (x == 1).all()


def test_a_function_that_is_declared_twice(headers):
    @parpy.external("thrice", CompileBackend.Cpu, Target.Device, header="ext.h")
    def again(w: F64) -> F64:
        return w * 3

    @parpy.jit
    def f(x):
        for i in range(x.shape[0]):
            x[i] = again(thrice_cpu(x[i]))

    x = np.ones(3)
    f(x, opts=with_headers("cpu", headers))
    assert x.tolist() == [9] * 3


OVERLOADS = """
static WHERE inline double more(double v) { return v + 1; }
static WHERE inline float more(float v) { return v + 2; }
static WHERE inline int more(int v) { return v + 3; }
namespace of { WHERE inline double more(double v) { return v + 4; }
               WHERE inline double more(double v, double w) { return v + w; } }
"""


def overloads(backend, folder):
    place = CompileBackend.Cpu if backend == "cpu" else CompileBackend.Cuda
    (folder / "more.h").write_text(OVERLOADS.replace("WHERE", "" if backend == "cpu" else "__device__"))

    def declared(function):
        return parpy.external(function.__name__.replace("_", "::"), place, Target.Device, header="more.h")(function)

    def by_type(kind, add):
        def more(v):
            return v + add

        more.__annotations__ = {"v": kind, "return": kind}
        return declared(more)

    def of_more(v: F64) -> F64:
        return v + 4

    def with_two(v: F64, w: F64) -> F64:
        return v + w

    with_two.__name__ = "of_more"
    return by_type(F64, 1), by_type(F32, 2), by_type(I32, 3), declared(of_more), declared(with_two)


@pytest.mark.parametrize("backend", TARGETS)
def test_overloads(backend, tmp_path):
    of_doubles, of_floats, of_ints, in_namespace, of_two = overloads(backend, tmp_path)

    @parpy.jit
    def f(x, y, n, more):
        parpy.label("i")
        for i in range(x.shape[0]):
            g = x[i]
            x[i] = of_doubles(g) + in_namespace(g) + of_two(g, more)
            y[i] = of_floats(y[i])
            n[i] = of_ints(n[i])

    opts = options(backend, {"i": 8})
    opts.includes = [str(tmp_path)]
    x, y, n = np.ones(8), np.ones(8, np.float32), np.ones(8, np.int32)
    f(x, y, n, 5.0, opts=opts)
    assert (x == 2 + 5 + 6).all() and (y == 3).all() and (n == 4).all()
    again = np.ones(8), np.ones(8, np.float32), np.ones(8, np.int32)
    f(*again, 5.0, seq=True)
    assert all(np.array_equal(a, b) for a, b in zip(again, (x, y, n), strict=True))
    text = parpy.print_compiled(f, (*again, 5.0), opts)
    assert parpy.compile_string("f", text, parpy.CompileOptions(includes=[str(tmp_path)]))(x, y, n, 5.0) is None


def test_overloads_one_of_which_is_left_out(tmp_path):
    of_doubles, of_floats, *_ = overloads("cpu", tmp_path)

    @parpy.jit
    def f(x):
        for more in range(x.shape[0]):
            if static_types_eq(x.dtype, F32):
                x[more] = of_floats(x[more])
            else:
                x[more] = of_doubles(x[more])

    for kind, want in ((np.float32, 3), (np.float64, 2)):
        f(x := np.ones(4, kind), opts=parpy.CompileOptions(backend=CompileBackend.Cpu, includes=[str(tmp_path)]))
        assert (x == want).all()
