"""Statements over slices: the interpreter, the CPU and the simulator give NumPy's results.

`check` compares with the Python function itself (what `seq=True` runs).
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import backends
import parpy
from slices import check, ints, rng

pytestmark = pytest.mark.gpu  # check() runs on every back end

# ---------------------------------------------------------------- elementwise


@parpy.jit
def mixed(y, x, z, j):
    parpy.label("N")
    y[:] = x[1:, j] * 2 + z[::-1]


@pytest.mark.parametrize("n", [0, 1, 7, 40])
def test_mixed_subscripts(n):
    check(mixed, (ints(n), ints(n + 1, 3), ints(n), 2), {"N": 64})


@parpy.jit
def stencil(y, x):
    parpy.label("N")
    parpy.label("M")
    y[1:-1, 1:-1] = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] - 4 * x[1:-1, 1:-1]


@pytest.mark.parametrize("shape", [(2, 2), (3, 3), (9, 20), (1, 5), (2, 7)])
def test_stencil(shape):
    check(stencil, (ints(*shape), ints(*shape)), {"N": 8, "M": 32})


@parpy.jit
def broadcasting(y, row, column, s):
    parpy.label("N")
    parpy.label("M")
    y[:, :] = row[:] * column[:, :] + s
    with parpy.gpu:
        y[:, 1:2] += column[:, :] * s
        y[0:1, :] -= row[:]
        y[:, :] *= row[None, :]


def test_broadcasting():
    check(broadcasting, (ints(6, 9), ints(9), ints(6, 1), 3.0), {"N": 6, "M": 32})


@parpy.jit
def outer(y, a, b):
    y[:, :] = a[:, None] * b[np.newaxis, :]


def test_new_axes():
    check(outer, (ints(4, 5), ints(4), ints(5)))


@parpy.jit
def whole(y, x, z):
    parpy.label("N")
    y[:] = x + z * 2
    with parpy.gpu:
        z[:] = 0


def test_whole_arrays():
    check(whole, (ints(9), ints(9), ints(9)), {"N": 32})


@parpy.jit
def clamped(y, x):
    y[0:3] = x[-3:100]
    y[3:5] = x[-100:2]
    y[5:5] = x[40:50]
    y[5:7] = x[6:4:-1]
    y[7:10] = x[2::-1]
    y[10:13] = x[100:5:-2]
    y[14:17] = x[-1:-4:-1]
    y[17:19] = x[:-13:-6]
    y[None:2] = x[None:2:None]


def test_clamping():
    check(clamped, (np.zeros(20), np.arange(12.0)))


@parpy.jit
def triangles(a, b, n):
    parpy.label("N")
    for i in range(n):
        a[i, i:] = b[i, i:] * 2
        a[i, :i] = b[i, n - i :]


@pytest.mark.parametrize("n", [0, 1, 2, 9])
def test_bounds_that_loops_count(n):
    check(triangles, (ints(n, n), ints(n, n), n), {"N": 16})


@parpy.jit
def elimination(a, n):
    for i in range(n):
        for j in range(i):
            a[i, j] = a[i, j] - parpy.sum(a[i, :j] * a[:j, j])
            a[i, j] /= a[j, j]
        a[i, i:] -= a[i, :i] @ a[:i, i:]


def test_lu():
    a = rng.random((8, 8)) + 8 * np.eye(8)
    check(elimination, (a, 8), tolerance=1e-12)


@parpy.jit
def choices(y, x, z):
    parpy.label("N")
    y[:] = np.where(x[:] > z[:], x[:], -z[:])
    parpy.label("N")
    y[:] += np.minimum(x[:], 1.0) ** 2 + abs(z[:])


def test_choices():
    check(choices, (ints(33), ints(33), ints(33)), {"N": 64}, 1e-12)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.uint64, np.float16, np.complex64, bool])
def test_types(dtype):
    @parpy.jit
    def convert(y, x):
        y[:] = x[:]

    @parpy.jit
    def combine(y, x):
        y[1:] = x[1:] * x[:-1]

    check(convert, (np.zeros(9, np.complex128), ints(9, dtype=dtype)))
    check(combine, (np.zeros(9, dtype), ints(9, dtype=dtype)))


# ---------------------------------------------------------------- loads from arrays that are being stored to


@parpy.jit
def shift_up(a):
    parpy.label("N")
    a[1:] = a[:-1]


@parpy.jit
def shift_down(a):
    parpy.label("N")
    a[:-1] = a[1:]


@parpy.jit
def smooth(a):
    parpy.label("N")
    a[1:-1] = (a[:-2] + a[2:]) / 2


@parpy.jit
def reverse(a):
    parpy.label("N")
    a[:] = a[::-1]


@parpy.jit
def by_first(a):
    parpy.label("N")
    a[:] = a[:] - a[0] + a[-1]


@parpy.jit
def accumulate(a):
    parpy.label("N")
    a[1:] += a[:-1]


@parpy.jit
def interleave(a):
    parpy.label("N")
    a[::2] = a[1::2]


@pytest.mark.parametrize("function", [shift_up, shift_down, smooth, reverse, by_first, accumulate, interleave])
@pytest.mark.parametrize("n", [2, 70])
def test_overlap(function, n):
    check(function, (ints(n),), {"N": 32})


@parpy.jit
def time_steps(a, n):
    for _ in range(n):
        parpy.label("N")
        parpy.label("M")
        a[1:-1, 1:-1] = (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]) * 0.25


def test_overlap_in_a_loop():
    check(time_steps, (ints(9, 12), 3), {"N": 8, "M": 32}, 1e-12)


@parpy.jit
def previous_row(a, n):
    for i in range(1, n):
        parpy.label("M")
        a[i, 1:] = a[i - 1, :-1] + a[i, 1:]


def test_other_rows():
    check(previous_row, (ints(9, 12), 9), {"M": 32})


@parpy.jit
def transpose_in_place(a):
    for i in range(3):
        a[:, i] = a[i, :]


def test_rows_and_columns():
    check(transpose_in_place, (ints(5, 5),))


@parpy.jit
def two_names(a, b):
    parpy.label("N")
    a[1:] = b[:-1] * 2


def test_arguments_that_overlap():
    memory = ints(40)
    want = memory.copy()
    want[1:] = want[:-1] * 2
    for mapping in ({}, {"N": 16}):
        got = memory.copy()
        two_names(got, got, opts=backends.options("cpu", mapping))
        np.testing.assert_array_equal(got, want)


def test_no_room_for_values():
    @parpy.jit
    def smooth_rows(a, n):
        parpy.label("N")
        for i in range(n):
            a[i, 1:-1] = a[i, :-2] + a[i, 2:]

    @parpy.jit
    def smooth_rows_backwards(a, n):
        parpy.label("N")
        for i in range(n, -1, -2):
            a[i, 1:-1] = a[i, :-2] + a[i, 2:]

    check(smooth_rows, (ints(4, 9), 4))
    backwards = ints(9, 4)[::-1]
    with pytest.raises(parpy.CompileError, match="also overwrites"):
        smooth_rows_backwards(backwards, 4, opts=backends.options("cpu", {"N": 4}))


def test_no_memory_for_values():
    endless = np.lib.stride_tricks.as_strided(np.zeros(1), (2**45,), (0,))
    opts = backends.options("cpu", {"N": 4})
    opts.legality = "trust"  # its elements share their memory
    with pytest.raises(parpy.BackendError, match="P561"):
        shift_up(endless, opts=opts)


# ---------------------------------------------------------------- fusion


@parpy.jit
def chain(x, y, z):
    parpy.label("N")
    y[:] = x[:] * 2
    parpy.label("N")
    z[:] = y[:] + 1
    parpy.label("N")
    x[1:] = y[1:]


def test_chains_become_one_loop():
    check(chain, (ints(50), ints(50), ints(50)), {"N": 64})
    text = backends.cuda_text(chain, (ints(50), ints(50), ints(50)), {"N": 64})
    assert text.count("__global__") == 2


@parpy.jit
def no_chain(x, y, z):
    parpy.label("N")
    y[:] = x[:] * 2
    parpy.label("N")
    z[:] = y[::-1] + 1


def test_other_elements_are_no_chain():
    check(no_chain, (ints(50), ints(50), ints(50)), {"N": 64})
    text = backends.cuda_text(no_chain, (ints(50), ints(50), ints(50)), {"N": 64})
    assert text.count("__global__") == 2


# ---------------------------------------------------------------- sizes that change


@parpy.jit
def copy_part(y, x, a, b):
    y[a:b] = x[1:-1]


def test_sizes_that_change():
    for n in range(3, 12):
        x, y = ints(n), np.zeros(20)
        copy_part(y, x, 2, n)
        want = np.zeros(20)
        want[2:n] = x[1:-1]
        np.testing.assert_array_equal(y, want)
        big, small = ints(n, 3), np.zeros((n, 3))
        stencil(small, big)
        want = np.zeros((n, 3))
        stencil(want, big, seq=True)
        np.testing.assert_array_equal(small, want)


@parpy.jit
def neighbours(y, x):
    y[1:-1] = x[2:] + x[:-2] - x[1:-1]


def test_one_program_for_all_sizes_that_fit_together():
    for n in range(3, 16):
        x, y = ints(n), np.zeros(n)
        neighbours(y, x)
        np.testing.assert_array_equal(y[1:-1], x[2:] + x[:-2] - x[1:-1])
    assert set(parpy.calls.jit.cache_info(neighbours).run_time) == {"y.shape[0]", "x.shape[0]"}
    assert parpy.calls.jit.cache_info(neighbours).compilations <= 4


@parpy.jit
def scaled_sum(y, x, w):
    y[:] = x * w + np.mean(x) + y[:]


def test_sizes_that_do_not_fit_the_general_program():
    for n in range(4, 14):
        x, y, w = np.arange(n, dtype=float), np.ones(n), np.arange(n) / 2.0
        want = x * w + np.mean(x) + y
        scaled_sum(y, x, w)
        np.testing.assert_allclose(y, want)
    compiled = parpy.calls.jit.cache_info(scaled_sum).compilations
    assert compiled <= 6
    y = np.ones(20)
    want = np.arange(20) * 3.0 + np.mean(np.arange(20)) + y
    scaled_sum(y, np.arange(20.0), np.array([3.0]))  # broadcast: a program of its own
    np.testing.assert_allclose(y, want)
    assert parpy.calls.jit.cache_info(scaled_sum).compilations == compiled + 1
    with pytest.raises(ValueError, match="shapes"):
        scaled_sum(np.ones(9), np.arange(9.0), np.ones(8))


@parpy.jit
def own_neighbours(a):
    a[1:-1] = a[:-2] + a[2:]


def test_one_array_of_any_size():
    for n in range(12):
        got = ints(n)
        want = got.copy()
        own_neighbours(got)
        own_neighbours(want, seq=True)
        np.testing.assert_array_equal(got, want)
    assert parpy.calls.jit.cache_info(own_neighbours).run_time == ("a.shape[0]",)


# ---------------------------------------------------------------- random statements


def random_subscript(size, generator):
    """The text of a slice of `size` elements of a dimension, and a size of that dimension."""
    extra = int(generator.integers(0, 4))
    before = int(generator.integers(0, extra + 1))
    if generator.random() < 0.3:
        if size == 0:
            return "0:0", max(extra, 1)
        begin = before + size - 1 - (size + extra if generator.random() < 0.5 else 0)
        return f"{begin}:{before - 1 if before else ''}:-1", size + extra
    if generator.random() < 0.2 and size:
        return f"{before}:{before + 2 * size - 1}:2", size * 2 + extra
    begin = str(before) if before or generator.random() < 0.5 else ""
    end = str(before + size) if extra > before else generator.choice(["", str(before + size + 3)])
    if extra > before and generator.random() < 0.5:
        end = str(before - extra)
    return f"{begin}:{end}", size + extra


@pytest.mark.parametrize("seed", range(40))
def test_random_statements(seed):
    import linecache

    generator = np.random.default_rng(seed)
    rank = int(generator.integers(1, 4))
    shape = [int(n) for n in generator.integers(0 if seed % 5 == 0 else 1, 6, rank)]
    arrays = {}

    def operand(name, may_stretch):
        parts, sizes = [], []
        skipped = int(generator.integers(0, rank)) if may_stretch else 0
        for n in shape[skipped:]:
            if generator.random() < 0.2:
                index = int(generator.integers(-3, 3))
                parts.append(str(index))
                sizes.append(3)
            stretched = may_stretch and generator.random() < 0.2
            text, size = random_subscript(1 if stretched else n, generator)
            parts.append(text)
            sizes.append(size)
        arrays[name] = generator.integers(-9, 10, sizes).astype(generator.choice(["float64", "int32", "float32"]))
        return f"{name}[{', '.join(parts)}]"

    target = operand("y", False)
    terms = [operand(f"x{i}", True) for i in range(int(generator.integers(1, 4)))]
    text = f"def f({', '.join(arrays)}):\n"
    text += "".join(f"    parpy.label('L{i}')\n" for i in range(rank))
    text += f"    {target} = {' + '.join(f'{t} * {i + 2}' for i, t in enumerate(terms))}\n"
    linecache.cache["random.py"] = (len(text), None, text.splitlines(True), "random.py")
    space = {"parpy": parpy}
    exec(compile(text, "random.py", "exec"), space)
    mapping = {f"L{i}": 32 for i in range(rank)} if rank < 3 else {"L0": 4, "L2": 32}
    on = backends.NAMES if seed % 4 == 0 else ("eval", "cpu")
    check(parpy.jit(space["f"]), tuple(arrays.values()), mapping, on=on)


@parpy.jit
def reversed_rows(x):
    parpy.label("n")
    for i in range(x.shape[0]):
        parpy.label("m")
        x[i, :] = x[i, ::-1] + 1


@parpy.jit
def shifted_rows(x, begin, end):
    parpy.label("n")
    for i in range(begin, end):
        parpy.label("m")
        x[i, 1:] = x[i, :-1] - x[i, 1:]


@parpy.jit
def planes_in_steps(z):
    parpy.label("n")
    for i in range(z.shape[0]):
        for _ in range(3):
            parpy.label("m")
            for j in range(1, z.shape[1]):
                z[i, j, 1:-1] = z[i, j, 2:] + z[i, j, :-2]


@pytest.mark.parametrize("backend", backends.TARGETS)
@pytest.mark.parametrize("loops", [{"n": 4}, {"m": 32}, {"n": 4, "m": 32}], ids=lambda loops: "+".join(loops))
def test_overlap_in_mapped_loops(backend, loops):
    r = np.random.default_rng(0)
    for function, arguments in [
        (reversed_rows, (r.random((5, 40)),)),
        (shifted_rows, (r.random((9, 33)), 2, 7)),
        (shifted_rows, (r.random((9, 33)), 5, 2)),
        (planes_in_steps, (r.random((4, 5, 20)),)),
    ]:
        got, want = arguments[0].copy(), arguments[0].copy()
        function(want, *arguments[1:], seq=True)
        function(got, *arguments[1:], opts=backends.options(backend, loops))
        np.testing.assert_allclose(got, want)


@parpy.jit
def rows_by_elements(x, y, p, sums):
    parpy.label("n")
    for i in range(sums.shape[0]):
        x[p[i] : p[i + 1]] = y[p[i] : p[i + 1]] * 2
        sums[i] = parpy.sum(x[p[i] : p[i + 1]] * y[p[i] : p[i + 1]])


@parpy.jit
def parts_by_elements(x, y, p):
    x[: p[1]] *= y[: p[1]]
    x[p[2] : 0 : -1] = y[p[2] : 0 : -1]
    x[-p[1] :] += y[-p[1] :]


def test_bounds_that_are_elements():
    """Equal bounds are equal sizes, even if they are elements of an array."""
    p = np.array([0, 2, 3, 6])
    check(rows_by_elements, (ints(6), ints(6), p, np.zeros(3)), {"n": 3})
    check(parts_by_elements, (ints(6), ints(6), p))


@parpy.jit
def one_in(x, step):
    x[::step] = 1
    x[2::step] = 2
    x[0] += parpy.sum(x[1::step])


@pytest.mark.parametrize("step", [2**63 - 1, 2**63 - 3, 2**62, 2**33, -(2**63), -(2**62), -(2**31)])
def test_steps_longer_than_any_array(step):
    check(one_in, (ints(4), step))


@parpy.jit
def sums_up(out, x, s):
    out[0] = parpy.sum(x[:: max(s[2], 1)])
    out[1] = parpy.sum(x[2 : s[1] : max(s[2], 1)])
    out[2] = parpy.sum(x[s[0] : s[1] : max(s[2], 1)])
    out[3] = parpy.sum(x[s[0] : s[1]])
    out[4] = parpy.sum(x[s[0] : -3])


@parpy.jit
def sums_down(out, x, s):
    out[0] = parpy.sum(x[:: min(s[2], -1)])
    out[1] = parpy.sum(x[: s[1] : min(s[2], -1)])
    out[2] = parpy.sum(x[s[0] : s[1] : min(s[2], -1)])
    out[3] = parpy.sum(x[s[0] : s[1] : -1])
    out[4] = parpy.sum(x[-3 : s[1] : -2])


@parpy.jit
def sum_against(out, x, t):
    if t > 0:
        out[0] = parpy.sum(x[::-t])


FAR = [2**63 - 1, 2**63 - 2, -(2**63), -(2**63) + 1]


@pytest.mark.parametrize("n", [0, 5])
def test_run_time_bounds_and_steps_far_away(n):
    x = np.arange(1.0, n + 1)
    out = np.zeros(5)
    for begin, end, step in itertools.product([0, 4, -3, *FAR], [5, -4, *FAR], [1, 2, -1, -2, *FAR]):
        sums = sums_up if step > 0 else sums_down
        s = np.array([begin, end, step])
        expected = np.zeros(5)
        sums(expected, x, s, seq=True)
        sums(out, x, s)
        np.testing.assert_array_equal(out, expected, f"{begin}:{end}:{step}")
    check(sums_up, (np.zeros(5), x, np.array([2**63 - 1, -(2**63), 2**63 - 1])))
    check(sums_down, (np.zeros(5), x, np.array([-(2**63), 2**63 - 1, -(2**63)])))
    check(sum_against, (np.zeros(1), x, 2**63 - 1))


@parpy.jit
def sum_of_two(out, x, s):
    out[0] = parpy.sum(x[::1073741825])
    out[1] = parpy.sum(x[:: max(s[0], 1)])
    out[2] = parpy.sum(x[:: min(s[1], -1)])


def test_steps_in_32_bits():
    x = np.zeros(2**30 + 10, np.uint8)
    x[[0, 2**30 + 1, 2**30 - 1, 9]] = 3, 5, 7, 11
    opts = parpy.seq()
    opts.force_int_size = parpy.types.I32
    out = np.zeros(3)
    for steps in ([2**30 + 1, -(2**30)], [2**31 - 1, -(2**31)]):
        s = np.array(steps, np.int32)
        sum_of_two(out, x, s, opts=opts)
        np.testing.assert_array_equal(out, [8, x[:: s[0]].sum(), x[:: s[1]].sum()])


@parpy.jit
def triangle_of_rows(x, n):
    parpy.label("i")
    for i in range(n):
        parpy.label("j")
        for j in range(max(i - 3, 0), i + 1):
            parpy.label("k")
            x[i, j, 1:-1] = x[i, j, 2:] + x[i, j, :-2]


@pytest.mark.parametrize("loops", [{"i": 6, "j": 6}, {"i": 6, "j": 6, "k": 32}, {"j": 6, "k": 64}])
def test_overlap_in_loops_that_others_bound(loops):
    for n in (6, 1, 7, 8, 9, 10):
        check(triangle_of_rows, (np.random.default_rng(n).random((n, n, 20)), n), loops)
