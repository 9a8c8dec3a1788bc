"""When code is compiled and when it is used again: specialisation and generalisation, overlap, captured
values."""

from __future__ import annotations

import gc
import itertools
import textwrap
import weakref
from functools import partial

import numpy as np
import pytest

import parpy
from fresh_functions import ADD, CPU, compilations, fresh, on_cpu
from parpy import _native


@parpy.jit
def shift(x, y, n):
    for i in range(n):
        y[i] = x[i] + 1


# ---------------------------------------------------------------- specialisation


def test_same_arguments_compile_once(tmp_path):
    f = fresh(ADD, tmp_path)
    x, y = np.ones(8), np.zeros(8)
    for _ in range(5):
        f(x, y, 8, 2.0, opts=CPU)
    assert f.cache_info() == (1, 1, ())
    assert y.tolist() == [10.0] * 8


def test_values_that_keep_changing_become_arguments(tmp_path):
    f = fresh(ADD, tmp_path)
    for n in range(1, 20):
        x, y = np.ones(n), np.zeros(n)
        f(x, y, n, 2.0, opts=CPU)
        assert y.tolist() == [2.0] * n
    info = f.cache_info()
    assert info.compilations == 4
    assert info.run_time == ("x.shape[0]", "y.shape[0]", "n")
    for a in range(10):
        x, y = np.ones(5), np.zeros(5)
        f(x, y, 5, float(a), opts=CPU)
        assert y.tolist() == [float(a)] * 5
    assert f.cache_info().compilations <= 8
    assert "a" in f.cache_info().run_time


def test_run_time_strides(tmp_path):
    f = fresh(ADD, tmp_path)
    for step in (1, 2, 3, 4, 5, 6, -1, -2):
        x, y = np.arange(60.0)[::step][:8], np.zeros(60)[::step][:8]
        f(x, y, 8, 1.0, opts=CPU)
        np.testing.assert_array_equal(x, y)
    assert f.cache_info().compilations <= 6
    assert "x.strides[0]" in f.cache_info().run_time


def test_run_time_extents_of_matrices(tmp_path):
    f = fresh(
        """
        @parpy.jit
        def f(x, y):
            n, m = x.shape
            for i in range(n):
                for j in range(m):
                    y[i] += x[i, j]
        """,
        tmp_path,
    )
    rng = np.random.default_rng(0)
    for n in range(1, 8):
        x = rng.random((n, 9 - n))
        for each in (x, x.T, x[::-1]):
            y = np.zeros(len(each))
            f(each, y, opts=CPU)
            np.testing.assert_allclose(y, each.sum(axis=1))


def test_types_do_not_share_code(tmp_path):
    f = fresh(ADD, tmp_path)
    for dtype in (np.float32, np.float64, np.int32):
        x, y = np.ones(3, dtype), np.zeros(3, dtype)
        f(x, y, 3, 2, opts=CPU)
        assert y.tolist() == [2] * 3
    assert f.cache_info().compilations == 3


def test_equal_options_share_code(tmp_path):
    f = fresh(ADD, tmp_path)
    x, y = np.ones(3), np.zeros(3)
    for _ in range(4):
        f(x, y, 3, 1.0, opts=on_cpu(i=3))
    assert f.cache_info().compilations == 1
    f(x, y, 3, 1.0, opts=on_cpu(i=2))
    assert f.cache_info().compilations == 2


def test_assigning_to_options_takes_effect(tmp_path):
    f = fresh(ADD, tmp_path)
    x, y = np.ones(3), np.zeros(3)
    opts = on_cpu(i=3)
    f(x, y, 3, 1.0, opts=opts)
    opts.parallelize = {"I": parpy.threads(3)}
    with pytest.raises(parpy.CompileError, match="write 'i'"):
        f(x, y, 3, 1.0, opts=opts)


# ---------------------------------------------------------------- no recompile storms


def test_thread_counts_that_keep_changing_are_rounded(tmp_path):
    f = fresh(ADD, tmp_path)
    for n in range(1, 100):
        x, y = np.ones(64), np.zeros(64)
        f(x, y, 64, 2.0, opts=on_cpu(i=n))
        assert y.tolist() == [2.0] * 64
    assert compilations(f) <= 12


def test_thread_counts_of_several_loops(tmp_path):
    f = fresh(
        """
        @parpy.jit
        def f(x):
            parpy.label('i')
            for i in range(8):
                x[i] += 1
            parpy.label('j')
            for j in range(8, 16):
                x[j] += 1
        """,
        tmp_path,
    )
    for n in range(1, 12):
        for m in range(1, 12):
            x = np.zeros(16)
            f(x, opts=on_cpu(i=n, j=m))
            assert (x == 1).all()
    assert compilations(f) <= 48


@pytest.mark.parametrize("automatic", [False, True])
def test_sizes_of_one_magnitude_have_a_program(automatic, tmp_path):
    f = fresh(ADD, tmp_path)
    opts = parpy.auto(backend=parpy.CompileBackend.Cpu) if automatic else CPU

    def call(n):
        x, y = np.ones(n), np.zeros(n)
        f(x, y, n, 2.0, opts=opts)
        assert y.tolist() == [2.0] * n

    for n in (20, 21, 22, 23, 24):
        call(n)
    before = compilations(f)
    call(255)
    assert compilations(f) == before
    for n in (3000, 256, 4095):
        call(n)
    assert compilations(f) == before + automatic
    for n in (70000, 15):
        call(n)
    assert compilations(f) == before + 3 * automatic
    for n in (70001, 14, 3000, 30):
        call(n)
    assert compilations(f) == before + 3 * automatic


def test_magnitudes_of_many_sizes_share_a_program_in_the_end(tmp_path):
    f = fresh(
        """
        @parpy.jit
        def f(x, y, z):
            for i in range(len(x)):
                x[i] += 1
            for i in range(len(y)):
                y[i] += 1
            for i in range(len(z)):
                z[i] += 1
        """,
        tmp_path,
    )

    def call(more):
        for sizes in itertools.product((13, 200, 3000, 20000, 70000), repeat=3):
            arrays = [np.zeros(n + more) for n in sizes]
            f(*arrays, opts=parpy.auto(backend=parpy.CompileBackend.Cpu))
            assert all((a == 1).all() for a in arrays)

    call(0)
    call(1)
    before = compilations(f)
    assert before <= 100
    call(2)
    assert compilations(f) == before


def test_overlapping_calls_do_not_use_up_the_programs_of_magnitudes(tmp_path):
    f = fresh(
        """
        @parpy.jit
        def f(x, y, n):
            for i in range(n):
                y[i] = x[i] + 1
        """,
        tmp_path,
    )
    for first in range(120):
        n = 10 + first
        data = np.arange(4000.0)
        expected = data.copy()
        there = slice(first + n - 3 - first % 3, first + 2 * n - 3 - first % 3)
        for i in range(n):
            expected[there.start + i] = expected[first + i] + 1
        f(data[first : first + n], data[there], n, opts=parpy.auto(backend=parpy.CompileBackend.Cpu))
        assert (data == expected).all()
    assert compilations(f) <= 22


def test_integers_of_one_magnitude_have_a_program(tmp_path):
    f = fresh(ADD, tmp_path)
    opts = parpy.auto(backend=parpy.CompileBackend.Cpu)
    x, y = np.ones(500), np.zeros(500)
    for n in (*range(2, 16), *range(-3, 0), *range(16, 60)):
        y[:] = 0
        f(x, y, n, 2.0, opts=opts)
        assert y.sum() == 2.0 * max(n, 0)
    before = compilations(f)
    for n in (300, 499, 500, 5, 17, -7):
        y[:] = 0
        f(x, y, n, 2.0, opts=opts)
        assert y.sum() == 2.0 * max(n, 0)
    assert compilations(f) == before + 1


def test_bools_that_keep_changing_become_arguments(tmp_path):
    names = "abcdefg"
    lines = [f"            if {name}: s += {1 << i}" for i, name in enumerate(names)]
    text = f"""
        @parpy.jit
        def f(x, {", ".join(names)}):
            s = 0
{chr(10).join(lines)}
            for i in range(1):
                x[i] = s
    """
    f = fresh(text, tmp_path)
    for bits in range(1 << len(names)):
        x = np.zeros(1)
        f(x, *(bool(bits >> i & 1) for i in range(len(names))), opts=CPU)
        assert x[0] == bits
    assert compilations(f) <= 32
    assert {"a", "b", "c"} <= set(f.cache_info().run_time)


def test_products_of_few_values_become_arguments(tmp_path):
    f = fresh(
        """
        @parpy.jit
        def f(x, a, b, c, d):
            for i in range(len(x)):
                x[i] = a * 1000 + b * 100 + c * 10 + d
        """,
        tmp_path,
    )
    for values in itertools.product(range(3), repeat=4):
        x = np.zeros(2)
        f(x, *values, opts=CPU)
        assert x[0] == int("".join(map(str, values)))
    assert compilations(f) <= 32


def test_overlaps_that_keep_changing():
    f = parpy.jit(shift.__wrapped__)
    for offset in range(1, 80):
        base = np.arange(100.0)
        want = base.copy()
        shift(want[:-offset], want[offset:], 100 - offset, seq=True)
        f(base[:-offset], base[offset:], 100 - offset, opts=CPU)
        np.testing.assert_array_equal(base, want)
    assert compilations(f) <= 40


# ---------------------------------------------------------------- overlapping arguments


def test_overlapping_arguments_are_seen(tmp_path):
    f = parpy.jit(shift.__wrapped__)
    base = np.zeros(9)
    f(base[:-1].copy(), base[1:], 8, opts=CPU)
    assert base.tolist() == [0] + [1] * 8
    before = f.cache_info().compilations
    base[:] = 0
    for _ in range(2):
        base[:] = 0
        f(base[:-1], base[1:], 8, opts=CPU)
        assert base.tolist() == list(range(9))
    assert f.cache_info().compilations == before + 1
    base[:] = 0
    f(base[:-1], base[1:], 8, seq=True)
    assert base.tolist() == list(range(9))


def test_overlap_at_the_first_call():
    f = parpy.jit(shift.__wrapped__)
    base = np.zeros(65)
    f(base[:-1], base[1:], 64, opts=CPU)
    assert base.tolist() == list(range(65))
    separate = np.zeros(64)
    f(np.zeros(64), separate, 64, opts=CPU)
    assert separate.tolist() == [1] * 64


def test_the_same_array_twice():
    f = parpy.jit(shift.__wrapped__)
    x = np.zeros(5)
    f(x, x, 5, opts=CPU)
    assert x.tolist() == [1] * 5


# ---------------------------------------------------------------- captured values

SCALE = 2.0


@parpy.jit
def scaled(x):
    x[0] = SCALE


def test_globals_are_read_at_each_call(monkeypatch):
    x = np.zeros(1)
    for value in (2.0, 3.0, 4.0, 5.0, 6.0, 7.0):
        monkeypatch.setitem(globals(), "SCALE", value)
        scaled(x, opts=CPU)
        assert x[0] == value
    assert scaled.cache_info().compilations <= 4
    monkeypatch.delitem(globals(), "SCALE")
    with pytest.raises(
        parpy.CompileError, match=r"test_call_reuse.py:\d+:\d+: error\[P101\]: .*'SCALE' is not defined"
    ):
        scaled(x, opts=CPU)
    with pytest.raises(NameError):
        scaled(x, opts=CPU)


def test_closures_are_read_at_each_call():
    value = 1

    @parpy.jit
    def f(x):
        x[0] = value

    x = np.zeros(1)
    f(x, opts=CPU)
    assert x[0] == 1
    value = 5
    f(x, opts=CPU)
    assert x[0] == 5


PAIR = (1, 2)


@parpy.jit
def paired(x):
    a, b = PAIR
    x[0] = a + b * 9 + PAIR[1] + len(PAIR) * 100


def test_tuples_are_read_at_each_call(monkeypatch):
    x = np.zeros(1)
    for value, want in (((1, 2), 221), ((3, 4), 243), ((3.5, np.float32(0.5)), 208.5)):
        monkeypatch.setitem(globals(), "PAIR", value)
        paired(x, opts=CPU)
        assert x[0] == want
    monkeypatch.setitem(globals(), "PAIR", (1, 2, 3))
    with pytest.raises(parpy.CompileError, match="3 values cannot be assigned to 2 targets"):
        paired(x, opts=CPU)
    monkeypatch.setitem(globals(), "PAIR", (1, 2))
    paired(x, opts=CPU)
    assert x[0] == 221


def test_tuples_of_closures_are_read_at_each_call():
    value = (1, (2, 3))

    @parpy.jit
    def f(x):
        x[0] = value[1][0]

    x = np.zeros(1)
    f(x, opts=CPU)
    assert x[0] == 2
    value = (1, (5, 3))
    f(x, opts=CPU)
    assert x[0] == 5


def test_redefined_helpers_never_run_old_code(tmp_path):
    space: dict[str, object] = {"parpy": parpy}

    def define(text: str) -> None:
        file = tmp_path / f"cell_{len(list(tmp_path.iterdir()))}.py"
        file.write_text(textwrap.dedent(text))
        exec(compile(file.read_text(), str(file), "exec"), space)

    define("""
        @parpy.jit
        def helper(a):
            return a + 1
        """)
    define("""
        @parpy.jit
        def f(x):
            x[0] = helper(1)
        """)
    x = np.zeros(1)
    space["f"](x, opts=CPU)
    assert x[0] == 2
    define("""
        @parpy.jit
        def helper(a):
            return a + 100
        """)
    space["f"](x, opts=CPU)
    assert x[0] == 101


def test_a_function_defined_anew_runs_its_new_code(tmp_path):
    x = np.zeros(1)
    for value in (1, 2):
        f = fresh(
            f"""
            @parpy.jit
            def f(x):
                x[0] = {value}
            """,
            tmp_path,
        )
        f(x, opts=CPU)
        assert x[0] == value


def test_clear_cache_forgets(tmp_path, monkeypatch):
    # Other tests use the folder; test_cache.py has the tests about it.
    monkeypatch.setattr(_native, "clear_cache", partial(_native.clear_cache, on_disk=False))
    f = fresh(ADD, tmp_path)
    x, y = np.ones(3), np.zeros(3)
    f(x, y, 3, 1.0, opts=CPU)
    parpy.clear_cache()
    f(x, y, 3, 1.0, opts=CPU)
    assert f.cache_info().compilations == 1
    assert y.tolist() == [2] * 3


def test_functions_are_collected(tmp_path):
    f = fresh(ADD, tmp_path)
    f(np.ones(3), np.zeros(3), 3, 1.0, opts=CPU)
    gone = weakref.ref(f)
    del f
    gc.collect()
    assert gone() is None
