"""parpy.halo: offsets, verdicts and depths. Tests compute a block from its rows and the halo alone,
with NaN in all other rows; with one row less somewhere the result differs."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import parpy


@parpy.jit
def jacobi_1d(A, B, T):
    for t in range(T):
        for i in range(1, len(A) - 1):
            B[i] = 0.33 * (A[i - 1] + A[i] + A[i + 1])
        for i in range(1, len(A) - 1):
            A[i] = 0.33 * (B[i - 1] + B[i] + B[i + 1])


@parpy.jit
def jacobi_2d(A, B, T):
    for t in range(T):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])


@parpy.jit
def heat_3d(A, B, T):
    n = A.shape[0]
    for t in range(T):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    B[i, j, k] = A[i, j, k] + 0.125 * (
                        (A[i + 1, j, k] - 2.0 * A[i, j, k] + A[i - 1, j, k])
                        + (A[i, j + 1, k] - 2.0 * A[i, j, k] + A[i, j - 1, k])
                        + (A[i, j, k + 1] - 2.0 * A[i, j, k] + A[i, j, k - 1])
                    )
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    A[i, j, k] = B[i, j, k]


@parpy.jit
def swapped(A, B, T):
    u, v = A, B
    for t in range(T):
        for i in range(1, len(A) - 1):
            v[i] = u[i - 1] + u[i + 1]
        u, v = v, u


@parpy.jit
def asymmetric(A, B, C, T):
    for t in range(T):
        for i in range(3, len(A) - 1):
            C[i] = A[i - 3] + B[i + 1] + A[i]
        for i in range(2, len(A)):
            A[i] = C[i - 2] * 0.5
            B[i] = C[i]


@parpy.jit
def several_offsets(A, B, C, T):
    for t in range(T):
        for i in range(len(A) - 4):
            A[i + 1] = C[i] + C[i + 4]
            B[i + 3] = C[i + 2]


@parpy.jit
def band(m, x, y, T):
    n = len(x)
    for t in range(T):
        for i in range(n):
            s = 0.0
            for j in range(max(0, i - 2), min(n, i + 4)):
                s += m[i, j] * x[j]
            y[i] = s
        for i in range(n):
            x[i] = y[i]


@parpy.jit
def backwards(A, B, T):
    for t in range(T):
        for i in range(len(A) - 1, 1, -1):
            B[i] = A[i - 2]
        for i in range(len(A)):
            A[i] = B[i] + 1.0


_RNG = np.random.default_rng(3)
_N = 60
# The function, its arrays, and the depth of each along axis 0 for one call of three time steps.
CASES = {
    "jacobi_1d": (jacobi_1d, {"A": (_N,), "B": (_N,)}, {"A": (6, 6), "B": (5, 5)}),
    "jacobi_2d": (jacobi_2d, {"A": (_N, 9), "B": (_N, 9)}, {"A": (6, 6), "B": (5, 5)}),
    "heat_3d": (heat_3d, {"A": (24, 24, 24), "B": (24, 24, 24)}, {"A": (3, 3), "B": (2, 2)}),
    "swapped": (swapped, {"A": (_N,), "B": (_N,)}, {"A": (3, 3), "B": (3, 3)}),
    "asymmetric": (asymmetric, {"A": (_N,), "B": (_N,), "C": (_N,)}, {"A": (15, 2), "B": (11, 3), "C": (12, 2)}),
    "several_offsets": (several_offsets, {"A": (_N,), "B": (_N,), "C": (_N,)}, {"A": (0, 0), "B": (0, 0), "C": (3, 3)}),
    "band": (band, {"m": (_N, _N), "x": (_N,), "y": (_N,)}, {"m": (4, 6), "x": (6, 9), "y": (4, 6)}),
    "backwards": (backwards, {"A": (_N,), "B": (_N,)}, {"A": (6, 0), "B": (4, 0)}),
}


def _run(function, arrays):
    made = {name: array.copy() for name, array in arrays.items()}
    function(*made.values(), 3)
    return made


def _restricted(arrays, depths, first, last):
    """The arrays, with NaN in all rows outside the block first … last and its halo."""
    made = {}
    for name, array in arrays.items():
        before, behind = depths[name]
        made[name] = np.full_like(array, np.nan)
        rows = slice(max(first - before, 0), last + 1 + behind)
        made[name][rows] = array[rows]
    return made


def _agree(found, expected, first, last):
    return all(np.array_equal(found[name][first : last + 1], expected[name][first : last + 1]) for name in expected)


@pytest.mark.parametrize("name", CASES)
def test_a_block_needs_its_halo_and_nothing_else(name):
    function, shapes, _ = CASES[name]
    arrays = {each: _RNG.random(shape) for each, shape in shapes.items()}
    expected = _run(function, arrays)
    halo = parpy.halo(function, *arrays.values(), 3)
    depths = {each: halo.depth(each)[0] for each in arrays}
    rows = next(iter(shapes.values()))[0]
    for first, last in [(0, 9), (rows // 2, rows // 2), (10, rows - 8), (rows - 9, rows - 1)]:
        assert _agree(_run(function, _restricted(arrays, depths, first, last)), expected, first, last), (first, last)


@pytest.mark.parametrize("name", CASES)
def test_depths(name):
    function, shapes, depths = CASES[name]
    halo = parpy.halo(function, *(np.ones(shape) for shape in shapes.values()), 3)
    assert {each: halo.depth(each)[0] for each in shapes} == depths
    for each, (before, behind) in depths.items():
        axis = halo.of(each)
        assert axis.partitionable
        assert (axis.low, axis.high) == (-before, behind)
        assert axis.why == ""


@pytest.mark.parametrize("name", ["jacobi_1d", "jacobi_2d", "swapped", "backwards"])
def test_depths_are_no_greater_than_they_must_be(name):
    function, shapes, depths = CASES[name]
    arrays = {each: _RNG.random(shape) for each, shape in shapes.items()}
    expected = _run(function, arrays)
    first, last = 25, 34
    before, behind = depths["A"]
    for less in [(before - 1, behind), (before, behind - 1)]:
        if min(less) >= 0:
            found = _run(function, _restricted(arrays, {**depths, "A": less}, first, last))
            assert not _agree(found, expected, first, last)


def test_every_axis_of_a_stencil():
    A, B = np.ones((20, 20, 20)), np.ones((20, 20, 20))
    halo = parpy.halo(heat_3d, A, B, 4)
    assert halo.depth("A") == {0: (4, 4), 1: (4, 4), 2: (4, 4)}
    assert halo.arrays == ("A", "B")
    first = halo.nests[0]
    assert [(loop.variable, loop.depth, loop.proved, loop.trips) for loop in first.loops] == [
        ("i", 0, True, 18),
        ("j", 1, True, 18),
        ("k", 2, True, 18),
    ]
    reads = {each.axis: each.reads for each in first.outermost.axes("A")}
    assert (reads[0].kind, reads[0].low, reads[0].high) == ("block", -1, 1)
    assert (reads[0].lowest.text, reads[0].highest.text) == ("A[i - 1, j, k]", "A[i + 1, j, k]")
    assert reads[0].lowest.line == heat_3d.__wrapped__.__code__.co_firstlineno + 8
    assert reads[1].kind == reads[2].kind == "all"
    assert reads[1].low is None
    assert [step.kind for step in halo.steps] == ["repeat"]
    assert halo.steps[0].trips == 4


def test_several_calls_are_like_more_time_steps():
    A, B = np.ones(_N), np.ones(_N)
    halo = parpy.halo(jacobi_1d, A, B, 2)
    for calls in (1, 2, 5, 1000):
        more = parpy.halo(jacobi_1d, A, B, 2 * calls)
        for name in "AB":
            assert halo.depth(name, calls) == more.depth(name)
    assert halo.depth("A", 1000) == {0: (4000, 4000)}
    assert halo.of("A").reads == (-1, 1)  # for a nest, independent of the number of steps
    assert halo.of("A").writes == (0, 0)


def test_a_product_of_matrices_reads_one_factor_whole():
    @parpy.jit
    def product(A, B, C):
        for i in range(A.shape[0]):
            for j in range(B.shape[1]):
                for k in range(A.shape[1]):
                    C[i, j] += A[i, k] * B[k, j]

    halo = parpy.halo(product, *(np.ones((12, 12)) for _ in range(3)))
    rows = halo.of("C", 0)
    assert (rows.partitionable, rows.along, rows.whole) == (True, {"C": 0, "A": 0}, ("B",))
    columns = halo.of("C", 1)
    assert (columns.partitionable, columns.along, columns.whole) == (True, {"C": 1, "B": 1}, ("A",))
    assert not halo.of("A", 1).partitionable
    assert "'A[i, k]' in line" in halo.of("A", 1).why


def test_reductions():
    @parpy.jit
    def norm(x, y):
        s = 0.0
        for i in range(1, len(x) - 1):
            s += x[i - 1] * y[i + 1]
        m = x[0]
        for i in range(len(x)):
            m = max(m, y[i])
        return s + m

    halo = parpy.halo(norm, np.ones(30), np.ones(30))
    nests = [step for step in halo.nests if step.kind == "nest"]
    assert [[dataclasses.astuple(each) for each in step.outermost.reduced] for step in nests] == [
        [("s", "+", "f64", False, False, True)],
        [("m", "max", "f64", False, False, True)],
    ]
    assert not nests[0].outermost.proved
    # `m = x[0]` reads an element of x where nothing runs in parallel.
    assert not halo.of("x").partitionable
    assert "x[0]" in halo.of("x").why


def test_reductions_of_elements():
    @parpy.jit
    def histogram(k, h):
        for i in range(len(k)):
            h[k[i]] += 1

    halo = parpy.halo(histogram, np.zeros(30, np.int64), np.zeros(5, np.int64))
    (loop,) = halo.nests[0].loops
    assert [dataclasses.astuple(each) for each in loop.reduced] == [("h", "+", "i64", True, True, True)]
    assert halo.of("k").partitionable
    assert "reduce 'h' together" in halo.of("h").why

    @parpy.jit
    def column_sums(a, y):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                y[j] += a[i, j]

    halo = parpy.halo(column_sums, np.ones((30, 20)), np.ones(20))
    assert halo.of("y").along == {"y": 0, "a": 1}
    assert not halo.of("a", 0).partitionable


def test_transposed_reads():
    @parpy.jit
    def transposed(x, y):
        for i in range(x.shape[1]):
            for j in range(x.shape[0]):
                y[i, j] = x[j, i]

    halo = parpy.halo(transposed, np.ones((20, 30)), np.ones((30, 20)))
    assert halo.of("y", 0).along == {"y": 0, "x": 1}
    assert halo.of("y", 1).along == {"y": 1, "x": 0}

    @parpy.jit
    def back_and_forth(x, y):
        for i in range(x.shape[0]):
            for j in range(x.shape[0]):
                y[i, j] = x[j, i]
        for i in range(x.shape[0]):
            for j in range(x.shape[0]):
                x[i, j] = y[i, j]

    halo = parpy.halo(back_and_forth, np.ones((20, 20)), np.ones((20, 20)))
    for name in "xy":
        for axis in (0, 1):
            found = halo.of(name, axis)
            assert not found.partitionable
            assert "is cut by" in found.why
            assert found.why.count("in line") == 2  # the two accesses


def test_what_every_block_needs_may_be_gathered():
    @parpy.jit
    def power(M, x, y, n):
        for k in range(n):
            for i in range(len(x)):
                s = 0.0
                for j in range(len(x)):
                    s += M[i, j] * x[j]
                y[i] = s
            for i in range(len(x)):
                x[i] = y[i]

    halo = parpy.halo(power, np.ones((16, 16)), np.ones(16), np.ones(16), 3)
    found = halo.of("x")
    assert not found.partitionable
    assert found.gathered == ("x",)
    assert "each block needs all of 'x', because of 'x[j]' in line" in found.why
    assert halo.of("M", 0).gathered == ("x",)
    assert halo.of("M", 1).gathered == ()


def test_gathered_reads_are_irregular():
    @parpy.jit
    def gather(x, y, k):
        for i in range(len(y)):
            y[i] = x[k[i]]

    halo = parpy.halo(gather, np.ones(9), np.ones(20), np.zeros(20, np.int64))
    assert halo.nests[0].outermost.axes("x")[0].reads.kind == "irregular"
    assert "decide which elements of 'x' 'x[k[i]]' in line" in halo.of("x").why
    assert halo.of("y").whole == ("x",)
    assert halo.of("y").along == {"y": 0, "k": 0}


def test_arrays_that_share_memory_are_irregular():
    @parpy.jit
    def shifted(x, y):
        for i in range(len(x)):
            y[i] = x[i] + 1

    memory = np.ones(40)
    halo = parpy.halo(shifted, memory[:20], memory[20:])
    assert halo.depth("x") == {0: (0, 0)}
    halo = parpy.halo(shifted, memory[:-1], memory[1:])
    assert not halo.of("y").partitionable
    assert not halo.of("x").partitionable


def test_subscripts_of_data_within_bounds_are_a_halo():
    @parpy.jit
    def near(x, y, k):
        for i in range(len(y) - 3):
            y[i] = x[i + (k[i] & 3)]

    halo = parpy.halo(near, np.ones(20), np.ones(20), np.zeros(20, np.int64))
    assert halo.depth("x") == {0: (0, 3)}


def test_triangles_need_everything():
    @parpy.jit
    def triangle(x, y):
        for i in range(len(x)):
            s = 0.0
            for j in range(i + 1):
                s += x[j]
            y[i] = s

    halo = parpy.halo(triangle, np.ones(20), np.ones(20))
    assert halo.of("y").whole == ("x",)
    assert not halo.of("x").partitionable
    assert "'x[j]' in line" in halo.of("x").why


def test_other_factors_need_everything():
    @parpy.jit
    def restrict(fine, coarse):
        for i in range(1, len(coarse) - 1):
            coarse[i] = fine[2 * i - 1] + fine[2 * i] + fine[2 * i + 1]

    halo = parpy.halo(restrict, np.ones(40), np.ones(20))
    assert halo.of("coarse").whole == ("fine",)


def test_periodic_borders():
    @parpy.jit
    def ring(x, y):
        n = len(x)
        for i in range(n):
            y[i] = x[i - 1] + x[(i + 2) % n]

    halo = parpy.halo(ring, np.ones(30), np.ones(30))
    found = halo.of("x")
    assert (found.partitionable, found.periodic, found.low, found.high) == (True, True, -1, 2)
    assert not halo.of("y").periodic
    assert halo.depth("x") == {0: (1, 2)}


def test_recurrences_are_refused_with_their_iterations():
    @parpy.jit
    def running_sum(x):
        for i in range(1, len(x)):
            x[i] += x[i - 1]

    found = parpy.halo(running_sum, np.ones(20)).of("x")
    assert not found.partitionable
    assert "iteration i=1 writes x[1], iteration i=2 reads x[1]" in found.why
    assert f"line {running_sum.__wrapped__.__code__.co_firstlineno + 3}" in found.why


def test_statements_between_nests_are_refused():
    @parpy.jit
    def with_border(x, y):
        for i in range(1, len(x) - 1):
            y[i] = x[i - 1] + x[i + 1]
        y[0] = y[1]

    halo = parpy.halo(with_border, np.ones(20), np.ones(20))
    assert not halo.of("y").partitionable
    assert "touches 'y' where nothing runs in parallel" in halo.of("y").why
    assert [step.kind for step in halo.nests] == ["nest", "serial"]


def test_bounds_that_arrays_say_are_statements_of_their_own():
    @parpy.jit
    def counted(n, x):
        for i in range(n[3]):
            x[i] = 1.0

    halo = parpy.halo(counted, np.ones(9, np.int64), np.ones(20))
    assert [step.kind for step in halo.nests] == ["serial", "nest"]
    assert "'n[3]' in line" in halo.of("n").why


def test_loops_inside_of_a_parallel_loop_run_one_after_the_other():
    @parpy.jit
    def rows(x, y):
        for b in range(x.shape[0]):
            for i in range(1, x.shape[1] - 1):
                y[b, i] = x[b, i - 1]
            for i in range(1, x.shape[1] - 1):
                x[b, i] = y[b, i + 1] + y[b, i - 1]

    halo = parpy.halo(rows, np.ones((20, 30)), np.ones((20, 30)))
    assert halo.depth("x") == {0: (0, 0), 1: (2, 0)}
    assert halo.depth("y") == {0: (0, 0), 1: (1, 1)}

    @parpy.jit
    def repeated(x, y):
        for b in range(x.shape[0]):
            for t in range(5):
                for i in range(1, x.shape[1] - 1):
                    y[b, i] = x[b, i - 1]
                for i in range(1, x.shape[1] - 1):
                    x[b, i] = y[b, i]

    halo = parpy.halo(repeated, np.ones((20, 30)), np.ones((20, 30)))
    assert halo.depth("x") == {0: (0, 0)}
    assert "along axis 1" in halo.of("x", 1).why

    @parpy.jit
    def beside(x, y):
        for b in range(x.shape[0]):
            for i in range(1, x.shape[1] - 1):
                y[b, i] = x[b, i - 1]
            y[b, 0] = 1.0

    halo = parpy.halo(beside, np.ones((20, 30)), np.ones((20, 30)))
    assert halo.depth("y") == {0: (0, 0)}
    assert "outside of the loops that move along axis 1" in halo.of("y", 1).why


def test_a_loop_of_one_step_is_no_nest():
    halo = parpy.halo(jacobi_1d, np.ones(_N), np.ones(_N), 1)
    assert halo.steps[0].kind == "repeat"
    assert halo.depth("A") == {0: (2, 2)}


def test_an_unknown_number_of_steps_has_no_depth():
    @parpy.jit
    def relax(x, y, eps):
        err = eps + 1.0
        while err > eps:
            err = 0.0
            for i in range(1, len(x) - 1):
                y[i] = 0.5 * (x[i - 1] + x[i + 1])
            for i in range(1, len(x) - 1):
                err = max(err, abs(y[i] - x[i]))
                x[i] = y[i]

    halo = parpy.halo(relax, np.ones(20), np.ones(20), 0.1)
    found = halo.of("x")
    assert found.partitionable
    assert found.reads == (-1, 1)
    assert found.low is None
    assert halo.depth("x") == {}
    assert halo.steps[0].trips is None


def test_allocated_and_returned_arrays():
    @parpy.jit
    def smooth(x):
        y = np.zeros_like(x)
        for i in range(1, len(x) - 1):
            y[i] = x[i - 1] + x[i + 1]
        return y

    halo = parpy.halo(smooth, np.ones(20))
    assert halo.complete
    assert halo.depth("x") == {0: (1, 1)}
    assert halo.depth("y") == {0: (0, 0)}

    @parpy.jit
    def differences(x):
        return x[2:] - x[:-2]

    assert parpy.halo(differences, np.ones(20)).depth("x") == {0: (0, 2)}


def test_loops_that_python_runs_leave_the_depth_open():
    @parpy.jit
    def renamed(A, B, T):
        for t in range(T):
            B[1:-1] = A[:-2] + A[2:]
            A, B = B, A

    @parpy.jit
    def transformed(x, y):
        z = np.fft.fft(x).real
        for i in range(len(y)):
            y[i] = z[i]

    for halo in (
        parpy.halo(renamed, np.ones(20), np.ones(20), 7),
        parpy.halo(transformed, np.ones(20), np.ones(20)),
    ):
        assert not halo.complete
        assert all(halo.depth(name) == {} for name in halo.arrays)
        assert "no depth is known" in str(halo)
    assert parpy.halo(renamed, np.ones(20), np.ones(20), 7).of("A").reads == (-1, 1)


def test_the_result_is_frozen_and_readable():
    halo = parpy.halo(jacobi_1d, np.ones(20), np.ones(20), 3)
    with pytest.raises(dataclasses.FrozenInstanceError):
        halo.function = "g"
    with pytest.raises(KeyError, match="touches no axis 1 of an array 'A'"):
        halo.of("A", 1)
    text = str(halo)
    assert "halo of jacobi_1d" in text
    assert "3 times" in text
    assert "A, axis 0: reads -1 … +1  ('A[i - 1]', 'A[i + 1]')" in text
    assert "A, axis 0: blocks, -6 … +6 for the call, with B along 0" in text


def test_explain_shows_it():
    found = parpy.explain(jacobi_1d, np.ones(20), np.ones(20), 3)
    assert "blocks: A along axis 0 (-1 … +1), B along axis 0 (-1 … +1)" in str(found)
    assert found.facts["halo"] == ["blocks: A along axis 0 (-1 … +1), B along axis 0 (-1 … +1)"]

    @parpy.jit
    def running_sum(x):
        for i in range(1, len(x)):
            x[i] += x[i - 1]

    assert parpy.explain(running_sum, np.ones(20)).facts["halo"] == []


def test_what_cannot_be_compiled_is_raised():
    with pytest.raises(TypeError):
        parpy.halo(jacobi_1d, np.ones(20))
    with pytest.raises(parpy.CompileError):
        parpy.halo(jacobi_1d, "text", np.ones(20), 3)
