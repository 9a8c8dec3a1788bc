"""parpy.dask.map_overlap: the bits of one call, for any chunks; refusals if chunks could change them."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from test_halo import backwards, jacobi_1d, jacobi_2d

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
pytest.importorskip("parpy.dask")


@parpy.jit
def smooth(x, y):
    for i in range(1, len(x) - 1):
        y[i] = (x[i - 1] + 2 * x[i] + x[i + 1]) / 4


@parpy.jit
def heat_3d(a, b, steps):
    n, m, l = a.shape
    for t in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                for k in range(1, l - 1):
                    b[i, j, k] = a[i, j, k] + 0.1 * (
                        a[i - 1, j, k] + a[i + 1, j, k] + a[i, j - 1, k] + a[i, j + 1, k] + a[i, j, k - 1] - a[i, j, k]
                    )
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                for k in range(1, l - 1):
                    a[i, j, k] = b[i, j, k]


@parpy.jit
def depths_differ(a, b, c, steps):
    for t in range(steps):
        for i in range(3, len(a) - 1):
            c[i] = a[i - 3] + b[i + 1] + a[i]
        for i in range(2, len(a)):
            a[i] = c[i - 2] * 0.5
            b[i] = c[i]


@parpy.jit
def writes_beside(a, b, c, steps):
    for t in range(steps):
        for i in range(len(a) - 4):
            a[i + 1] = c[i] + c[i + 4]
            b[i + 3] = c[i + 2]


@parpy.jit
def life(g, h, steps):
    n, m = g.shape
    for t in range(steps):
        for i in range(n):
            up, down = (i + n - 1) % n, (i + 1) % n
            for j in range(m):
                right = (j + 1) % m
                s = g[up, j - 1] + g[up, j] + g[up, right] + g[i, j - 1] + g[i, right]
                s += g[down, j - 1] + g[down, j] + g[down, right]
                h[i, j] = 1 if s == 3 or (s == 2 and g[i, j] == 1) else 0
        for i in range(n):
            for j in range(m):
                g[i, j] = h[i, j]


@parpy.jit
def wide_border(x, y):
    for i in range(5, len(x) - 7):
        y[i] = x[i - 1] + x[i + 1]


@parpy.jit
def every_second(a, steps):
    for t in range(steps):
        for i in range(1, len(a) - 1, 2):
            a[i] = 0.5 * (a[i - 1] + a[i + 1])
        for i in range(2, len(a) - 1, 2):
            a[i] = 0.5 * (a[i - 1] + a[i + 1])


@parpy.jit
def returned(x, w):
    y = np.zeros_like(x)
    for i in range(2, len(x) - 2):
        s = 0.0
        for k in range(5):
            s += w[k] * x[i + k - 2]
        y[i] = s
    return y


@parpy.jit
def two_returned(x):
    low = np.empty_like(x)
    high = np.zeros(x.shape)
    for i in range(len(x)):
        low[i] = min(x[i], 0.5)
    for i in range(len(x) - 1):
        high[i] = low[i + 1]
    return high, low


@parpy.jit
def rows_of_a_table(a, scale, shift, out):
    for i in range(a.shape[0]):
        for j in range(1, a.shape[1]):
            out[i, j] = a[i, j - 1] * scale[i] + shift[j]


@parpy.jit
def staggered(u, v, steps):
    for t in range(steps):
        for i in range(len(v)):
            v[i] += 0.1 * (u[i + 1] - u[i])
        for i in range(1, len(u) - 1):
            u[i] += 0.1 * (v[i] - v[i - 1])


@parpy.jit
def columns(a, out):
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[i, j]
        out[i] = s


@parpy.jit
def turns(a, b, steps):
    for t in range(steps):
        for i in range(1, len(a) - 1):
            b[i] = a[i - 1] + a[i + 1]
        a, b = b, a


@parpy.jit
def swapped_chunks(a, b):
    for i in range(a.shape[0]):
        for j in range(1, a.shape[1] - 1):
            b[i, j] = a[i, j + 1] - a[i, j - 1]


# The function, the shapes of its arrays, the other arguments, and the axes that are divided.
PROGRAMS = {
    "smooth": (smooth, [(101,), (101,)], (), (0,)),
    "jacobi_1d": (jacobi_1d, [(101,), (101,)], (4,), (0,)),
    "jacobi_2d": (jacobi_2d, [(40, 37), (40, 37)], (3,), (0, 1)),
    "jacobi_2d, rows": (jacobi_2d, [(40, 37), (40, 37)], (3,), (0,)),
    "jacobi_2d, columns": (jacobi_2d, [(40, 37), (40, 37)], (3,), (1,)),
    "heat_3d": (heat_3d, [(14, 13, 15), (14, 13, 15)], (2,), (0, 1, 2)),
    "depths_differ": (depths_differ, [(97,), (97,), (97,)], (2,), (0,)),
    "writes_beside": (writes_beside, [(97,), (97,), (97,)], (2,), (0,)),
    "wide_border": (wide_border, [(97,), (97,)], (), (0,)),
    "backwards": (backwards, [(97,), (97,)], (3,), (0,)),
    "returned": (returned, [(90,), (5,)], (), (0,)),
    "two_returned": (two_returned, [(90,)], (), (0,)),
    "rows_of_a_table": (rows_of_a_table, [(20, 31), (20,), (31,), (20, 31)], (), (0, 1)),
    "staggered": (staggered, [(81,), (80,)], (4,), (0,)),
    "columns": (columns, [(33, 12), (33,)], (), (0,)),
    "swapped_chunks": (swapped_chunks, [(20, 30), (20, 30)], (), (0, 1)),
}
_RNG = np.random.default_rng(11)


def _arrays(shapes, dtype=np.float64):
    return [_RNG.random(shape).astype(dtype) for shape in shapes]


def _plain(function, arrays, numbers):
    """The results of a call, or else the arrays that it changes."""
    made = [array.copy() for array in arrays]
    result = function(*made, *numbers)
    if result is not None:
        return result if isinstance(result, tuple) else (result,)
    return tuple(after for after, before in zip(made, arrays, strict=True) if not np.array_equal(after, before))


def _sizes(extent, at_least):
    """Random sizes of chunks."""
    cuts = [0]
    while cuts[-1] < extent:
        cuts.append(min(cuts[-1] + int(_RNG.integers(at_least, at_least + 12)), extent))
    return tuple(np.diff(cuts).tolist())


def _chunked(arrays, cut, at_least=1):
    sizes = {axis: _sizes(arrays[0].shape[axis], at_least) for axis in cut}
    chunks = tuple(sizes.get(axis, (extent,)) for axis, extent in enumerate(arrays[0].shape))
    return da.from_array(arrays[0], chunks=chunks)


def _same(results, expected):
    results = results if isinstance(results, tuple) else (results,)
    assert len(results) == len(expected)
    for result, each in zip(results, expected, strict=True):
        found = result.compute()
        assert result.dtype == found.dtype == each.dtype
        assert result.shape == found.shape
        np.testing.assert_array_equal(found, each)


@pytest.mark.parametrize("name", PROGRAMS)
def test_chunks_have_the_bits_of_one_call(name):
    function, shapes, numbers, cut = PROGRAMS[name]
    for _ in range(3):
        arrays = _arrays(shapes)
        expected = _plain(function, arrays, numbers)
        given = [_chunked(arrays, cut), *arrays[1:]]
        before = [array.copy() for array in arrays]
        _same(parpy.dask.map_overlap(function, *given, *numbers), expected)
        for array, old in zip(arrays, before, strict=True):
            np.testing.assert_array_equal(array, old)


@pytest.mark.parametrize("dtype", [np.int8, np.int64])
@pytest.mark.parametrize("cut", [(0,), (1,), (0, 1)])
def test_periodic_borders(dtype, cut):
    alive = (_RNG.random((60, 52)) < 0.4).astype(dtype)
    arrays = [alive, np.full_like(alive, 7)]
    expected = _plain(life, arrays, (3,))
    _same(parpy.dask.map_overlap(life, _chunked(arrays, cut, at_least=13), arrays[1], 3), expected)


def test_every_second_row():
    arrays = _arrays([(100,)])
    expected = _plain(every_second, arrays, (3,))
    _same(parpy.dask.map_overlap(every_second, da.from_array(arrays[0], chunks=14), 3), expected)
    with pytest.raises(parpy.ParallelError, match=r"runs over each 2th row.*multiples of 2"):
        parpy.dask.map_overlap(every_second, da.from_array(arrays[0], chunks=15), 3)


def test_all_arrays_may_be_chunked_and_each_otherwise():
    a, b, c = arrays = _arrays([(97,), (97,), (97,)])
    expected = _plain(depths_differ, arrays, (2,))
    given = da.from_array(a, chunks=20), da.from_array(b, chunks=(50, 47)), da.from_array(c, chunks=97)
    _same(parpy.dask.map_overlap(depths_differ, *given, 2), expected)


def test_what_each_chunk_needs_all_of_becomes_one_chunk():
    x, w = arrays = _arrays([(90,), (5,)])
    expected = _plain(returned, arrays, ())
    result = parpy.dask.map_overlap(returned, da.from_array(x, chunks=11), da.from_array(w, chunks=2))
    _same(result, expected)


def test_halos_that_reach_over_several_chunks():
    arrays = _arrays([(60,), (60,)])
    expected = _plain(jacobi_1d, arrays, (6,))
    _same(parpy.dask.map_overlap(jacobi_1d, da.from_array(arrays[0], chunks=3), arrays[1], 6), expected)


def test_nothing_is_computed_before_it_is_asked_for():
    seen = []

    def block(block_id):
        seen.append(block_id)
        return np.ones(10)

    x = da.map_blocks(lambda block_id=None: block(block_id), chunks=((10,) * 8,), dtype=np.float64, meta=np.empty(0))
    result = parpy.dask.map_overlap(smooth, x, np.zeros(80))
    assert seen == []
    assert np.array_equal(result[:5].compute(), [0, 1, 1, 1, 1])
    assert set(seen) <= {(0,), (1,)}  # the requested rows, and their halo


def test_arrays_may_be_larger_than_memory():
    x = da.zeros((4_000_000, 1_000_000), chunks=(1000, 1000))[:, :2000].rechunk((1_000_000, 2000))
    y = parpy.dask.map_overlap(swapped_chunks, x, da.ones_like(x))
    assert y.shape == x.shape
    assert y[5:7, 10:12].dtype == np.float64


def test_one_thread_all_threads_and_processes():
    arrays = _arrays([(60,), (60,)])
    expected = _plain(jacobi_1d, arrays, (2,))
    results = parpy.dask.map_overlap(jacobi_1d, da.from_array(arrays[0], chunks=17), arrays[1], 2)
    for scheduler in ("synchronous", "threads", "processes"):
        with dask.config.set(scheduler=scheduler):
            _same(results, expected)


def test_distributed():
    from distributed import Client, LocalCluster

    arrays = _arrays([(60, 40), (60, 40)])
    expected = _plain(jacobi_2d, arrays, (2,))
    results = parpy.dask.map_overlap(jacobi_2d, da.from_array(arrays[0], chunks=(17, 40)), arrays[1], 2)
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster, timeout="60s"):
        _same(results, expected)


def test_options_of_the_calls():
    arrays = _arrays([(60,), (60,)])
    expected = _plain(smooth, arrays, ())
    opts = parpy.CompileOptions(backend=parpy.CompileBackend.Sim)
    _same(parpy.dask.map_overlap(smooth, da.from_array(arrays[0], chunks=17), arrays[1], opts=opts), expected)


def test_names_on_the_dashboard():
    x = da.zeros(40, chunks=10)
    result = parpy.dask.map_overlap(smooth, x, np.zeros(40))
    assert {str(key[0]).split("-")[0] for key in result.dask if isinstance(key, tuple)} >= {"smooth", "y", "rows"}


def test_xarray():
    xr = pytest.importorskip("xarray")
    x = _RNG.random((40, 30))
    plain = np.zeros_like(x)
    swapped_chunks(x, plain)
    given = xr.DataArray(x, dims=("row", "column"), name="x").chunk({"row": 13, "column": 9})

    def apply(values):
        return parpy.dask.map_overlap(swapped_chunks, values, da.zeros_like(values))

    result = xr.apply_ufunc(apply, given, dask="allowed")
    assert result.dims == ("row", "column")
    assert not isinstance(result.data, np.ndarray)
    np.testing.assert_array_equal(result.values, plain)


# ---------------------------------------------------------------- refusals


@parpy.jit
def irregular(x, at, y):
    for i in range(len(y)):
        y[i] = x[at[i]]
        x[i] = 0.0


@parpy.jit
def irregular_reads(x, at, y, t):
    for k in range(t):
        for i in range(len(y)):
            y[i] = x[at[i]]
        for i in range(len(y)):
            x[i] = y[i]


@parpy.jit
def transposed(x, t):
    for k in range(t):
        y = np.empty_like(x)
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                y[i, j] = x[j, i]
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                x[i, j] = y[i, j]


@parpy.jit
def normalized(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i]
    for i in range(len(x)):
        x[i] /= s


@parpy.jit
def histogram(x, h):
    for i in range(len(x)):
        h[int(x[i] * 10)] += 1


@parpy.jit
def ramp(x):
    for i in range(len(x)):
        x[i] += i


@parpy.jit
def by_the_extent(x):
    for i in range(len(x)):
        x[i] = x[i] / len(x)


@parpy.jit
def first_row(x, y):
    for i in range(len(x)):
        if i == 0:
            y[i] = 0.0
        else:
            y[i] = x[i - 1]


@parpy.jit
def triangle(x):
    for i in range(x.shape[0]):
        for j in range(i):
            x[i, j] = 0.0


@parpy.jit
def reversed_rows(x, y):
    for i in range(len(x)):
        y[i] = x[len(x) - 1 - i]


@parpy.jit
def fixed_rows(x):
    for i in range(10, 20):
        x[i] = 0.0


@parpy.jit
def second_half(x):
    for i in range(len(x) // 2, len(x)):
        x[i] = 0.0


@parpy.jit
def steps_by_extent(x, y):
    for t in range(len(x)):
        for i in range(1, len(x)):
            y[i] = x[i - 1] + y[i]


@parpy.jit
def chain(x):
    for i in range(1, len(x)):
        x[i] += x[i - 1]


@parpy.jit
def one_element(x, y):
    for i in range(len(x)):
        y[i] = x[i]
    y[3] = 1.0


@parpy.jit
def until_small(x):
    s = 1.0
    while s > 0.1:
        s = 0.0
        for i in range(len(x)):
            x[i] *= 0.5
            s += x[i]


@parpy.jit
def parts_of_rows(x):
    for i in range(1, len(x)):
        x[i] = 1.0 if (i - 1) % 3 == 0 else 2.0


_X, _Y = np.linspace(0.1, 0.9, 60), np.zeros(60)
_M = np.ones((60, 60))
REFUSED = {
    "irregular": (irregular_reads, (_X, np.zeros(60, int), _Y, 2), "decide which elements of 'x' 'x.at.i"),
    "transposed": (transposed, (_M, 2), "Python runs a part|is cut by"),
    "a sum": (normalized, (_X,), "reduces 's'"),
    "a histogram": (histogram, (_X, np.zeros(10, int)), "reduces 'h'"),
    "the number of a row": (ramp, (_X,), "depends on the number of the row, 'i'"),
    "an extent": (by_the_extent, (_X,), "depends on the extents"),
    "a condition on the row": (first_row, (_X, _Y), "depends on the number of the row, 'i'"),
    "a triangle": (triangle, (_M,), "depends on the number of the row, 'i'"),
    "reversed": (reversed_rows, (_X, _Y), "each chunk needs all of 'x'"),
    "fixed rows": (fixed_rows, (_X,), "on a chunk|chunks need"),
    "a part of the rows": (second_half, (_X,), "extents|chunks need"),
    "steps": (steps_by_extent, (_X, _Y), "extents"),
    "a chain": (chain, (_X,), "nothing runs in parallel"),
    "one element": (one_element, (_X, _Y), "nothing runs in parallel"),
    "a while loop": (until_small, (_X,), "reduces 's'|unknown number"),
    "remainders": (parts_of_rows, (_X,), "depends on the number of the row, 'i'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    function, arguments, why = REFUSED[name]
    first, *rest = arguments
    with pytest.raises(parpy.ParallelError, match=f"(?s)cannot run on chunks: .*({why})"):
        parpy.dask.map_overlap(function, da.from_array(first, chunks=25), *rest)


def test_other_arguments():
    with pytest.raises(TypeError, match="not list"):
        parpy.dask.map_overlap(smooth, da.zeros(20, chunks=5), [0.0] * 20)
    with pytest.raises(TypeError, match="takes 2 arguments, not 3"):
        parpy.dask.map_overlap(smooth, da.zeros(20, chunks=5), np.zeros(20), 1)
    unknown = da.zeros(20, chunks=5)
    unknown = unknown[unknown > 1]
    with pytest.raises(parpy.ParallelError, match="unknown sizes"):
        parpy.dask.map_overlap(smooth, unknown, np.zeros(20))
    with pytest.raises(parpy.CompileError):
        parpy.dask.map_overlap(smooth, da.zeros((20, 20), chunks=5), np.zeros(20))


def test_one_chunk_is_one_call():
    x = _X.copy()
    expected = x.copy()
    ramp(expected)
    _same(parpy.dask.map_overlap(ramp, da.from_array(x, chunks=-1)), (expected,))
