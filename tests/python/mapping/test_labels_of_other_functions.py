"""Labels of a mapping that no loop of the function has, and mappings that map nothing."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import parpy
from backends import TARGETS, options
from parpy import CompileBackend, Target, threads
from parpy.builtin import static_fail, static_types_eq
from parpy.types import F32, I64


@parpy.jit
def rows(x, y):
    parpy.label("rows")
    for i in range(x.shape[0]):
        parpy.label("M1")
        for j in range(x.shape[1]):
            y[i] += x[i, j]


@parpy.jit
def plain(x):
    for i in range(x.shape[0]):
        x[i] += 1


@pytest.mark.parametrize("backend", TARGETS)
def test_one_mapping_serves_several_functions(backend):
    opts = options(backend, {"rows": 4, "M1": threads(32).reduce(), "M2": 64, "K": 8, "columns": 3, "tows": 2})
    x, y = np.ones((4, 30)), np.zeros(4)
    rows(x, y, opts=opts)
    assert (y == 30).all()
    notes = parpy.explain(rows, x, y, opts=opts).facts["notes"]
    assert [note.split("the label ")[1].split(",")[0] for note in notes] == ["'K'", "'M2'", "'columns'", "'tows'"]
    assert "performance[P301]: the mapping names the label 'K', which no loop of 'rows' carries" in notes[0]


@pytest.mark.parametrize("label", ["Rows", "ROWS", "rowss", "rowes", "tows", "brows", "m1"])
def test_near_misses(label):
    x, y = np.ones((4, 30)), np.zeros(4)
    meant = "M1" if label == "m1" else "rows"
    with pytest.raises(parpy.CompileError, match=rf"P301.*the label '{label}'[\s\S]*help: write '{meant}'"):
        rows(x, y, opts=options("cpu", {label: 4}))
    assert (y == 0).all()


@pytest.mark.parametrize("label", ["M2", "M", "M12", "row", "crowds"])
def test_other_labels(label):
    rows(np.ones((4, 30)), y := np.zeros(4), opts=options("cpu", {label: 4}))
    assert (y == 30).all()


def test_a_function_without_labels():
    plain(x := np.zeros(4), opts=options("cpu", {"i": 4}))
    assert (x == 1).all()
    with pytest.raises(parpy.CompileError, match="P306"):
        plain(x, opts=options("sim", {"i": 4}))


@parpy.jit
def in_parts(x, y):
    parpy.label("N")
    for i in range(x.shape[0]):
        x[i] += 1
    z = np.linalg.inv(y)
    parpy.label("rows")
    for i in range(x.shape[0]):
        x[i] += z[0, 0]


def test_labels_of_functions_of_which_python_runs_a_part():
    x, y = np.zeros(3), np.eye(2)
    with pytest.raises(parpy.CompileError, match=r"P301.*the label 'Rows'[\s\S]*help: write 'rows'"):
        in_parts(x, y, opts=options("cpu", {"N": 3, "Rows": 3}))
    with pytest.raises(parpy.CompileError, match=r"P301.*the label 'n'[\s\S]*help: write 'N'"):
        in_parts(x, y, opts=options("cpu", {"n": 3, "rows": 3}))
    opts = options("cpu", {"N": 3, "K": 3})
    in_parts(x := np.zeros(3), y, opts=opts)
    assert (x == 2).all()
    assert "\n".join(parpy.explain(in_parts, x, y, opts=opts).facts["notes"]).count("the label 'K'") == 1


@parpy.jit
def around(x, n):
    def steps(y):
        for t in range(2):
            print("step", t)
            parpy.label("N")
            for i in range(n):
                y[i] += t

    steps(x)
    print("done")


@pytest.mark.parametrize("backend", TARGETS)
def test_labels_of_functions_that_python_calls(backend):
    x = np.zeros(3)
    with pytest.raises(parpy.CompileError, match=r"P301.*'n', which no loop of 'around' carries[\s\S]*help: write 'N'"):
        around(x, 3, opts=options(backend, {"n": 3}))
    assert (x == 0).all()
    around(x, 3, opts=options(backend, {"N": 3, "K": 3}))
    assert (x == 1).all()


def test_blanks_at_the_ends_of_labels():
    with pytest.raises(parpy.CompileError, match=r"P301.*the label 'M1 '[\s\S]*help: write 'M1'"):
        rows(np.ones((4, 30)), np.zeros(4), opts=options("cpu", {"M1 ": 4}))


def test_code_of_the_host_says_which_labels_no_loop_carries():
    with pytest.raises(parpy.CompileError, match=r"P306[\s\S]*note: the mapping names the label 'K', which no loop"):
        rows(np.ones((4, 30)), np.zeros(4), opts=options("sim", {"K": 4}))


def test_gpu_code_of_the_user_is_no_empty_mapping():
    @parpy.jit
    def first(x):
        with parpy.gpu:
            for i in range(x.shape[0]):
                x[i] += i

    with warnings.catch_warnings():
        warnings.simplefilter("error", parpy.PerformanceWarning)
        first(x := np.zeros(3), opts=options("sim", {}))
    assert (x == [0, 1, 2]).all()


def test_an_empty_mapping_runs_on_one_thread():
    x, y = np.ones((4, 30)), np.zeros(4)
    with pytest.warns(parpy.PerformanceWarning, match=r"P316.*all of 'rows' runs on one thread of the GPU"):
        rows(x, y, opts=options("sim", {}))
    assert (y == 30).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows(x, y, opts=options("cpu", {}))


@parpy.jit
def of_floats(a):
    if static_types_eq(a, F32):
        return a
    else:
        static_fail("there are floats only")


@parpy.jit
def through(a):
    return of_floats(a) * 2


@parpy.jit
def calls(x):
    for i in range(x.shape[0]):
        x[i] = through(x[i])


def test_static_fail_in_helpers():
    calls(x := np.ones(3, np.float32))
    assert (x == 2).all()
    with pytest.raises(parpy.CompileError, match=r"P232.*there are floats only") as caught:
        calls(np.ones(3))
    assert "P213" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("__expf", np.exp(0.5)),
        ("__logf", np.log(0.5)),
        ("__sinf", np.sin(0.5)),
        ("__cosf", np.cos(0.5)),
        ("__saturatef", 0.5),
        ("__fsqrt_rn", np.sqrt(0.5)),
        ("__frcp_rn", 2),
        ("normcdff", 0.69146246),
        ("fabsf", 0.5),
    ],
)
def test_intrinsics_of_cuda(name, expected):
    @parpy.external(name, CompileBackend.Cuda, Target.Device)
    def intrinsic(x: F32) -> F32:
        raise AssertionError(x)

    @parpy.jit
    def f(x):
        parpy.label("i")
        for i in range(x.shape[0]):
            x[i] = intrinsic(x[i])

    f(x := np.full(3, 0.5, np.float32), opts=options("sim", {"i": 4}))
    assert np.allclose(x, expected)
    text = parpy.print_compiled(f, [x], options("cuda", {"i": 4}))
    assert f"// functions that the compiler knows: {name}\n" in text
    g = parpy.compile_string("f", parpy.print_compiled(f, [x], options("sim", {"i": 4})), options("sim", {}))
    g(x := np.full(3, 0.5, np.float32))
    assert np.allclose(x, expected)


def test_integer_intrinsics_of_cuda():
    @parpy.external("llabs", CompileBackend.Cuda, Target.Device)
    def magnitude(x: I64) -> I64:
        return abs(x)

    @parpy.jit
    def f(x):
        parpy.label("i")
        for i in range(x.shape[0]):
            x[i] = magnitude(x[i])

    f(x := np.array([-3, 5]), opts=options("sim", {"i": 4}))
    assert (x == [3, 5]).all()


def test_headers_use_the_intrinsics_of_cuda(tmp_path):
    (tmp_path / "fast.h").write_text(
        "static __device__ float fast(float x) { return __saturatef(__expf(x)) + __frcp_rn(2.0f) + abs(-1); }"
    )

    @parpy.external("fast", CompileBackend.Cuda, Target.Device, header="fast.h")
    def fast(x: F32) -> F32:
        return np.float32(min(np.exp(x), 1) + 1.5)

    @parpy.jit
    def f(x):
        parpy.label("i")
        for i in range(x.shape[0]):
            x[i] = fast(x[i])

    opts = options("sim", {"i": 4})
    opts.includes = [str(tmp_path)]
    f(x := np.zeros(4, np.float32), opts=opts)
    assert (x == 2.5).all()
