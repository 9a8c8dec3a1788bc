"""compile_string turns the text of print_compiled into a function again, also after edits of either part."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS, options

weights = np.arange(4.0)
FACTOR = 3.0


@parpy.jit
def axpy(a, x, y):
    parpy.label("i")
    for i in range(x.shape[0]):
        y[i] = a * x[i] + y[i]


@parpy.jit
def row_sums(x, y, n, m):
    parpy.label("n")
    for i in range(n):
        parpy.label("m")
        for j in range(m):
            y[i] += x[i, j]


@parpy.jit
def weighted(d, n):
    parpy.label("i")
    for i in range(n):
        d["y"][i] = d["x"][i] * weights[i] * FACTOR


@parpy.jit
def rotated(z, x):
    parpy.label("i")
    for i in range(x.shape[0]):
        x[i] = x[i] * z


@parpy.jit
def shift(x, n):
    parpy.label("i")
    for i in range(n):
        x[i] = x[i + n] + 1


def text_of(function, arguments, backend, **loops):
    opts = options(backend, {k: parpy.threads(v) if isinstance(v, int) else v for k, v in loops.items()})
    return parpy.print_compiled(function, arguments, opts), parpy.CompileOptions(backend=opts.backend)


@pytest.mark.parametrize("backend", TARGETS)
def test_round_trip(backend):
    x, y = np.arange(100.0), np.ones(100)
    code, opts = text_of(axpy, [2.5, x, y], backend, i=100)
    fn = parpy.compile_string("axpy", code, opts)
    fn(2.5, x, y)
    np.testing.assert_array_equal(y, 2.5 * x + 1)
    fn(a=2.5, x=y, y=(z := np.zeros(100)))
    np.testing.assert_array_equal(z, 2.5 * y)
    assert fn.__name__ == "axpy"


@pytest.mark.parametrize("backend", TARGETS)
def test_reduction_over_blocks(backend):
    x, y = np.random.default_rng(1).random((3, 5000)), np.zeros(3)
    code, opts = text_of(row_sums, [x, y, 3, 5000], backend, n=3, m=parpy.threads(4096).reduce())
    parpy.compile_string("row_sums", code, opts)(x, y, 3, 5000)
    np.testing.assert_allclose(y, x.sum(1))


@pytest.mark.parametrize("backend", TARGETS)
def test_edited_kernel(backend):
    x, y = np.arange(64.0), np.ones(64)
    code, opts = text_of(axpy, [2.0, x, y], backend, i=64)
    assert "2.0 * x" in code
    fn = parpy.compile_string("axpy", code.replace("2.0 * x", "10.0 * x"), opts)
    fn(2.0, x, y)
    np.testing.assert_array_equal(y, 10 * x + 1)


@pytest.mark.parametrize("backend", TARGETS)
def test_edited_host_code(backend):
    """The host code makes the launch, or on the CPU the loop, twice."""
    x, y = np.arange(64.0), np.ones(64)
    code, opts = text_of(axpy, [2.0, x, y], backend, i=64)
    head, entry = code.split('extern "C" int axpy_slots', 1)
    entry = 'extern "C" int axpy_slots' + entry.replace("return axpy(", "axpy(", 1).replace(
        ");\n}", ");\n" + entry[entry.index("    return axpy(") :].split("\n")[0] + "\n}", 1
    )
    fn = parpy.compile_string("axpy", head + entry, opts)
    fn(2.0, x, y)
    np.testing.assert_array_equal(y, 4 * x + 1)


@pytest.mark.parametrize("backend", [b for b in TARGETS if b != "cpu"])
def test_edited_launch_bounds_and_new_kernel(backend):
    x, y = np.arange(64.0), np.ones(64)
    code, opts = text_of(axpy, [2.0, x, y], backend, i=64)
    host = "// ---- host code ----"
    kernel = 'extern "C" __global__ void negate(double* y) { y[threadIdx.x] = -y[threadIdx.x]; }\n'
    code = code.replace(host, kernel + host)
    launch = "{ void* more[] = {(void*)&y}; parpy_launch(context, 1, 1, 1, 1, 64, 1, 1, 0, more); }\n    return 0;"
    code = code.replace("    return 0;", "    " + launch, 1)
    parpy.compile_string("axpy", code, opts)(2.0, x, y)
    np.testing.assert_array_equal(y, -(2 * x + 1))


@pytest.mark.parametrize("backend", TARGETS)
def test_dicts_and_captures(backend):
    d = {"x": np.ones(4), "y": np.zeros(4)}
    code, opts = text_of(weighted, [d, 4], backend, i=4)
    parpy.compile_string("weighted", code, opts)(d, 4, weights)
    np.testing.assert_array_equal(d["y"], weights * FACTOR)


@pytest.mark.parametrize("backend", TARGETS)
def test_numbers_passed_at_run_time(backend):
    x = np.ones(8, np.complex128)
    code, opts = text_of(rotated, [1j, x], backend, i=8)
    parpy.compile_string("rotated", code, opts)(2j, x)
    np.testing.assert_array_equal(x, 2j * np.ones(8))


def test_every_array_library_and_layout():
    x = np.zeros((10, 6), np.float32)
    y = np.zeros(3, np.float32)
    code, opts = text_of(row_sums, [x[::4, ::2], y, 3, 3], "cpu", n=3)
    x[:] = np.random.default_rng(0).random(x.shape)
    parpy.compile_string("row_sums", code, opts)(x[::4, ::2], y, 3, 3)
    np.testing.assert_allclose(y, x[::4, ::2].sum(1), rtol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            (2.0, np.ones(9), np.ones(8)),
            parpy.CompileError,
            r"x has shape \(9,\), but the text was made for \(8,\)",
        ),
        ((2.0, np.ones((8, 1)), np.ones(8)), parpy.CompileError, "argument x has shape"),
        ((2.0, np.ones(8, np.float32), np.ones(8)), parpy.CompileError, "argument x has elements of type f32"),
        ((2.0, np.ones(16)[::2], np.ones(8)), parpy.CompileError, "argument x has strides of 16 bytes"),
        ((2.5, np.ones(8), np.ones(8)), parpy.CompileError, "argument a is 2.5"),
        ((2.0, 3, np.ones(8)), parpy.CompileError, "argument x is a number"),
        ((2.0, np.ones(8), "y"), TypeError, "argument y"),
        ((2.0, np.ones(8)), TypeError, "missing 1 required positional argument: 'y'"),
    ],
)
def test_arguments_that_do_not_fit(arguments, error, message):
    code, opts = text_of(axpy, [2.0, np.ones(8), np.ones(8)], "cpu", i=8)
    fn = parpy.compile_string("axpy", code, opts)
    with pytest.raises(error, match=message):
        fn(*arguments)


def test_nothing_is_written_where_memory_is_shared_or_read_only():
    x = np.ones(8)
    code, opts = text_of(axpy, [2.0, x, np.ones(8)], "cpu", i=8)
    fn = parpy.compile_string("axpy", code, opts)
    with pytest.raises(parpy.CompileError, match="share memory"):
        fn(2.0, x, x)
    y = np.ones(8)
    y.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        fn(2.0, x, y)
    assert x.sum() == 8


def test_failures_name_their_place():
    @parpy.jit
    def steps(x, n, s):
        for i in range(0, n, s[0]):
            x[i] = 1.0

    arguments = [np.zeros(8), 8, np.ones(1, np.int64)]
    code, opts = text_of(steps, arguments, "cpu")
    fn = parpy.compile_string("steps", code, opts)
    fn(*arguments)
    assert arguments[0].sum() == 8
    with pytest.raises(ValueError, match="must not be zero"):
        fn(arguments[0], 8, np.zeros(1, np.int64))


def test_text_that_cannot_be_taken():
    code, opts = text_of(axpy, [2.0, np.ones(8), np.ones(8)], "cpu", i=8)
    with pytest.raises(parpy.BackendError, match="is that of 'axpy', not of 'f'"):
        parpy.compile_string("f", code, opts)
    with pytest.raises(parpy.BackendError, match="no line '// ---- interface ----'"):
        parpy.compile_string("axpy", code.partition("\n")[2], opts)
    with pytest.raises(parpy.BackendError, match="no line '// ---- host code ----'"):
        parpy.compile_string("axpy", code.replace("// ---- host code ----", ""), opts)
    with pytest.raises(parpy.BackendError, match="cannot be read: 'x: f64"):
        parpy.compile_string("axpy", code.replace("// x: f64[8]", "// x: f64{8}"), opts)
    with pytest.raises(parpy.BackendError, match=r"error: .*[\s\S]*nonsense"):
        parpy.compile_string("axpy", code.replace("return 0;", "nonsense"), opts)
    with pytest.raises(parpy.BackendError, match="the options ask for 'sim'"):
        parpy.compile_string("axpy", code, parpy.CompileOptions(backend=parpy.CompileBackend.Sim))
    with pytest.raises(TypeError):
        parpy.compile_string(axpy, code, opts)


def test_headers_and_libraries(tmp_path):
    (tmp_path / "twice.h").write_text("static inline double twice(double v) { return 2 * v; }\n")
    x, y = np.arange(8.0), np.zeros(8)
    code, opts = text_of(axpy, [3.0, x, y], "cpu", i=8)
    code = code.replace("// ---- host code ----\n", '// ---- host code ----\n#include "twice.h"\n')
    code = code.replace("3.0 * x", "twice(3.0) * x")
    opts.includes = [str(tmp_path)]
    parpy.compile_string("axpy", code, opts)(3.0, x, y)
    np.testing.assert_array_equal(y, 6 * x)


def test_automatic_back_end_is_that_of_the_text():
    x, y = np.arange(8.0), np.ones(8)
    for backend in ("cpu", "sim"):
        code, _ = text_of(axpy, [1.0, x, y], backend, i=8)
        parpy.compile_string("axpy", code)(1.0, x, y)
    np.testing.assert_array_equal(y, 2 * x + 1)


@parpy.jit
def sums(x, n, returns=2, on=True):
    s = 0.0
    for i in range(n):
        s += x[i] * returns
        if on:
            x[i] = 1.0
    return s


@parpy.jit
def updates(x):
    for i in range(4):
        x[i] += 1
    return x


def interface_of(code):
    lines = code.splitlines()
    return lines[1 : lines.index("")]


@pytest.mark.parametrize("backend", TARGETS)
def test_bools_and_defaults(backend):
    x = np.arange(8.0)
    code, opts = text_of(sums, [x, 8], backend)
    fn = parpy.compile_string("sums", code, opts)
    assert fn(x, 8) == 56.0
    assert fn(x, n=8, on=True) == 16.0
    with pytest.raises(parpy.CompileError, match="argument on is 0, but the text was made for 1"):
        fn(x, 8, 2, False)


def test_arguments_behind_defaults():
    def scaled(x, k=3):
        for i in range(4):
            x[i] = weights[i] * k

    x = np.zeros(4)
    code, opts = text_of(scaled, [x], "cpu")
    fn = parpy.compile_string("scaled", code, opts)
    fn(x, weights=weights)
    np.testing.assert_array_equal(x, 3 * weights)
    with pytest.raises(TypeError, match="missing 1 required argument: 'weights'"):
        fn(x)


def test_an_interface_that_was_changed_is_refused():
    """Each line of it is shortened, changed, or left out: an error results, never a program that reads other memory."""
    code, opts = text_of(sums, [np.ones(8), 8], "cpu")
    for line in interface_of(code):
        name = line[3:].partition(":")[0]
        edits = [
            line.rpartition(",")[0] or "// ",
            line[:-2],
            f"// {name}: f64[3, x] strides [1]",
            f"// {name}: f64[{'9' * 25}] strides [1]",
            f"// {name}: int = 3.5",
            f"// {name}: float = x",
            f"// {name}: nonsense",
            line.replace("[8]", "[4]") + " ",
        ]
        for edit in edits:
            changed = code.replace(line, edit, 1)
            if edit.rstrip() == line:
                parpy.compile_string("sums", changed, opts)
                continue
            with pytest.raises(parpy.BackendError, match=r"P563"):
                parpy.compile_string("sums", changed, opts)
        with pytest.raises(parpy.BackendError, match=r"P563"):
            parpy.compile_string("sums", code.replace(line + "\n", "", 1), opts)


def test_host_code_of_another_text_is_refused():
    few, opts = text_of(axpy, [2.0, np.ones(8), np.ones(8)], "cpu", i=8)
    many = few.replace("slots[1]", "slots[7]")
    with pytest.raises(parpy.BackendError, match=r"reads slots\[7\], but the interface lists 2"):
        parpy.compile_string("axpy", many, opts)


def test_text_that_returns_an_error_of_its_own():
    x = np.ones(8)
    code, opts = text_of(axpy, [2.0, x, np.ones(8)], "cpu", i=8)
    with pytest.raises(parpy.BackendError, match="an error that ParPy does not know"):
        parpy.compile_string("axpy", code.replace("return 0;", "return 7;"), opts)(2.0, x, np.ones(8))


def test_line_ends_of_windows():
    x, y = np.arange(8.0), np.ones(8)
    code, opts = text_of(axpy, [2.0, x, y], "cpu", i=8)
    parpy.compile_string("axpy", code.replace("\n", "\r\n"), opts)(2.0, x, y)
    np.testing.assert_array_equal(y, 2 * x + 1)


def test_parts_of_a_function_are_refused():
    code, opts = text_of(updates, [np.ones(4)], "cpu")
    with pytest.raises(parpy.BackendError, match="Python runs a part of 'updates'"):
        parpy.compile_string("updates", code, opts)
