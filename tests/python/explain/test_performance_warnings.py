"""Warnings of slow mappings: many kernels from loops of the host that could be mapped, and loops that run in
parallel without a proof."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

import parpy
from fresh_functions import fresh

SIM = parpy.CompileBackend.Sim
CPU = parpy.CompileBackend.Cpu
ROWS = """
    @parpy.jit
    def f(x, y, n, m):
        parpy.label('i')
        for i in range(n):
            parpy.label('j')
            for j in range(m):
                y[i, j] = x[i, j] + 1
    """
STEPS = """
    @parpy.jit
    def f(x, y, n, m):
        parpy.label('t')
        for t in range(1, n):
            parpy.label('j')
            for j in range(m):
                y[t, j] = y[t - 1, j] + x[t, j]
    """
SCATTER = """
    @parpy.jit
    def f(x, p, n):
        parpy.label('i')
        for i in range(n):
            x[p[i]] = i
    """


def inner(backend=SIM, **fields):
    return parpy.par({"j": parpy.threads(32)}, backend=backend, **fields)


def told(function, *arguments, opts):
    """The texts of the performance warnings of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function(*arguments, opts=opts)
    return [str(each.message) for each in caught if issubclass(each.category, parpy.PerformanceWarning)]


def rows(n, m=2):
    return np.ones((n, m)), np.zeros((n, m)), n, m


def test_many_launches_from_a_loop_that_could_be_mapped(tmp_path):
    f = fresh(ROWS, tmp_path)
    x, y, n, m = rows(1001)
    (text,) = told(f, x, y, n, m, opts=inner())
    assert "a call launches 1000 kernels and more from loop 'i', which runs on the host" in text
    assert "help: add it to the mapping: 'i': parpy.threads(1001)" in text and "for i in range(n):" in text
    assert (y == 2).all()
    assert told(f, x, y, n, m, opts=inner()) == []  # once
    both = parpy.par({"i": parpy.threads(1001), "j": parpy.threads(32)}, backend=SIM)
    assert told(fresh(ROWS, tmp_path), x, y, n, m, opts=both) == []


def test_the_warning_names_the_line_of_the_call(tmp_path):
    f = fresh(ROWS, tmp_path)
    with pytest.warns(parpy.PerformanceWarning) as caught:
        f(*rows(1200), opts=inner())
    assert caught[0].filename == __file__
    g = fresh(ROWS, tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error", parpy.PerformanceWarning)
        with pytest.raises(parpy.PerformanceWarning, match="launches 1000 kernels"):
            g(*rows(1200), opts=inner())


@pytest.mark.parametrize("opts", [inner(), inner(CPU), inner(legality="trust")], ids=["few", "cpu", "trust"])
def test_no_warning_where_there_is_nothing_to_say(opts, tmp_path):
    n = 1000 if opts.backend is SIM and opts.legality != "trust" else 1500
    assert told(fresh(ROWS, tmp_path), *rows(n), opts=opts) == []


def test_loops_whose_iterations_depend_on_each_other_have_to_launch(tmp_path):
    assert told(fresh(STEPS, tmp_path), *rows(1500), opts=inner()) == []
    automatic = parpy.auto(backend=SIM)
    assert told(fresh(STEPS, tmp_path), *rows(1500), opts=automatic) == []


def test_scalars_of_the_host_count_as_dependences(tmp_path):
    f = fresh(
        """
        @parpy.jit
        def f(x, y, n, m):
            s = 1
            for i in range(n):
                s = (s * 5) % 7
                parpy.label('j')
                for j in range(m):
                    y[i, j] = x[i, j] + s
        """,
        tmp_path,
    )
    assert told(f, *rows(1500), opts=inner()) == []


def test_the_outermost_loop_is_named_and_sequential_loops_count(tmp_path):
    f = fresh(
        """
        @parpy.jit
        def f(x, y, n, m):
            for t in range(n):
                for i in range(8):
                    for k in range(2):
                        parpy.label('j')
                        for j in range(m):
                            y[i * 2 + k, j] = y[i * 2 + k, j] * 0.5 + x[i, j]
        """,
        tmp_path,
    )
    x, y = np.ones((8, 3)), np.zeros((16, 3))
    assert told(f, x, y, 62, 3, opts=inner()) == []  # 992 launches
    (text,) = told(f, x, y, 63, 3, opts=inner())
    assert "from loop 'i'" in text and "'i@5': parpy.threads(8)" in text
    named = parpy.par({"i@5": parpy.threads(8), "j": parpy.threads(32)}, backend=SIM)
    f(x, y, 2, 3, opts=named)  # the help line contains a valid mapping


def test_run_time_sizes_are_counted_as_they_are(tmp_path):
    f = fresh(
        """
        @parpy.jit
        def f(y, n):
            for i in range(n):
                parpy.label('j')
                for j in range(3):
                    y[i * 3 + j] += 1
        """,
        tmp_path,
    )
    for n in range(2, 14):  # compiled for any size by now
        assert told(f, np.zeros(3 * n), n, opts=inner()) == []
    y = np.zeros(3 * 1100)
    assert len(told(f, y, 1100, opts=inner())) == 1 and (y == 1).all()


def test_shapes_that_are_no_symbols_leave_loops_to_the_host(tmp_path):
    """hdiff of NPBench: implicit_shape_labels gives loops of `I + 2` and `J + 2` iterations no labels."""
    symbol, buffer = parpy.types.symbol, parpy.types.buffer
    I, J, K = symbol(), symbol(), symbol()
    cells, wide = (buffer(parpy.types.F64, [*sides, K]) for sides in ([I, J], [symbol(), symbol()]))
    f = fresh(
        """
        @parpy.jit
        def f(inp, lap: WIDE, out: CELLS):
            I, J, K = out.shape
            lap[:I + 2, :J + 2, :] = 4.0 * inp[1:I + 3, 1:J + 3, :] - inp[2:I + 4, 1:J + 3, :]
            out[:, :, :] = lap[1:I + 1, 1:J + 1, :]
        """,
        tmp_path,
        I=I,
        J=J,
        K=K,
        CELLS=cells,
        WIDE=wide,
    )
    given, lap, out = np.random.default_rng(0).random((38, 38, 4)), np.zeros((36, 36, 4)), np.zeros((34, 34, 4))
    mapping = {"I": parpy.threads(34), "J": parpy.threads(34), "K": parpy.threads(32)}
    opts = parpy.par(mapping, backend=SIM, implicit_shape_labels=True)
    texts = told(f, given, lap, out, opts=opts)
    np.testing.assert_allclose(lap, 4 * given[1:37, 1:37] - given[2:38, 1:37])
    assert len(texts) == 1 and "parpy.threads(36)" in texts[0] and "lap[:I + 2" in texts[0]
    named = texts[0].partition("add it to the mapping: '")[2].partition("'")[0]
    mapping[named] = parpy.threads(36)
    f(given, lap, out, opts=parpy.par(mapping, backend=SIM, implicit_shape_labels=True))
    np.testing.assert_array_equal(out, lap[1:-1, 1:-1])


@pytest.mark.parametrize("backend", [CPU, SIM])
def test_unproved_loops(backend, tmp_path):
    f = fresh(SCATTER, tmp_path)
    opts = parpy.par({"i": parpy.threads(8)}, backend=backend)
    x, p = np.zeros(20), np.arange(20)[::-1].copy()
    (text,) = told(f, x, p, 20, opts=opts)
    assert "performance[P403]: loop 'i' runs in parallel without a proof" in text
    assert x.tolist() == list(range(20))[::-1]
    for n in itertools.chain([20], range(3, 12)):
        assert told(f, x, p, n, opts=opts) == []
    assert told(fresh(SCATTER, tmp_path), x, p, 20, opts=parpy.auto(backend=backend)) == []
    trusting = parpy.par({"i": parpy.threads(8)}, backend=backend, legality="trust")
    assert told(fresh(SCATTER, tmp_path), x, p, 20, opts=trusting) == []
