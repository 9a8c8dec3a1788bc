"""opts.check = 'races': iterations that conflict are found and located, others are not."""

from __future__ import annotations

from typing import Any

import numpy as np

import parpy
from checking import backend, message, on_host, options  # noqa: F401
from parpy import threads


def race(function: Any, arguments: tuple[Any, ...], **loops: Any) -> str:
    text = message(parpy.ParallelError, function, arguments, options("races", **loops))
    assert "error[P422]: loop '" in text and "note: the other access" in text
    function(*arguments, opts=options("bounds", **loops))  # finds no fault: there is none of that kind
    assert (
        text.splitlines()[0]
        == message(parpy.ParallelError, function, arguments, options("all", **loops)).splitlines()[0]
    )
    return text


def test_two_writes():
    @parpy.jit
    def put(y, p, n):
        parpy.label("i")
        for i in range(n):
            y[p[i]] = 1.0

    p = np.arange(20)
    put(np.zeros(20), p, 20, opts=options("races", i=8))
    p[13] = 5
    text = race(put, (np.zeros(20), p, 20), i=8)
    assert "loop 'i' cannot run in parallel: iteration i=5 writes y[5], iteration i=13 writes y[5]" in text


def test_write_then_read_and_read_then_write():
    @parpy.jit
    def shift(y, p, n):
        parpy.label("i")
        for i in range(n):
            y[i] = y[p[i]] + 1.0

    p = np.arange(20)
    shift(np.zeros(20), p, 20, opts=options("races", i=8))
    p[4] = 3
    assert "iteration i=3 writes y[3], iteration i=4 reads y[3]" in race(shift, (np.zeros(20), p, 20), i=8)
    p[4] = 9
    assert "iteration i=4 reads y[9], iteration i=9 writes y[9]" in race(shift, (np.zeros(20), p, 20), i=8)


def test_the_first_reader_counts():
    """An element read by several iterations, the last of which then writes it."""

    @parpy.jit
    def late(y, z, p, n):
        parpy.label("i")
        for i in range(n):
            z[i] = y[p[i]]
            if i == n - 1:
                y[p[i]] = 2.0

    p = np.zeros(10, np.int64)
    assert "iteration i=0 reads y[0], iteration i=9 writes y[0]" in race(late, (np.zeros(3), np.zeros(10), p, 10), i=8)


def test_strided_and_descending_loops():
    @parpy.jit
    def down(y, p, n):
        parpy.label("i")
        for i in range(n, 0, -3):
            y[p[i]] = 1.0

    p = np.arange(31)
    p[24] = 27
    assert "iteration i=27 writes y[27], iteration i=24 writes y[27]" in race(down, (np.zeros(31), p, 30), i=8)


@parpy.jit
def nest(y, p, n, m):
    parpy.label("i")
    for i in range(n):
        parpy.label("j")
        for j in range(m):
            y[p[i, j]] = y[p[i, j]] + 1.0


def test_nested_parallel_loops():
    p = np.arange(12).reshape(3, 4)
    nest(np.zeros(12), p, 3, 4, opts=options("all", i=3, j=4))
    p[1, 3] = p[1, 1]
    text = race(nest, (np.zeros(12), p, 3, 4), i=3, j=4)
    assert "loop 'j' cannot run in parallel: iteration j=1 writes y[5], iteration j=3 reads y[5]" in text
    assert "in iteration i=1, j=3" in text
    nest(np.zeros(12), p, 3, 4, opts=options("all", i=3))  # one iteration may use an element twice
    p[1, 3] = p[0, 2]
    assert "loop 'i' cannot run in parallel: iteration i=0" in race(nest, (np.zeros(12), p, 3, 4), i=3, j=4)
    nest(np.zeros(12), p, 3, 4, opts=options("all", j=4))  # the outer loop is not parallel


def test_runs_of_a_loop_do_not_conflict():
    @parpy.jit
    def again(y, p, steps, n):
        for t in range(steps):
            parpy.label("i")
            for i in range(n):
                y[(i + t) % n] = y[(i + t) % n] + p[i]

    again(np.zeros(10), np.ones(10), 7, 10, opts=options("all", i=8))


def test_siblings_inside_a_loop():
    @parpy.jit
    def siblings(y, z, n, m):
        parpy.label("i")
        for i in range(n):
            parpy.label("j")
            for j in range(m):
                y[i, j] = 1.0
            parpy.label("k")
            for k in range(m):
                z[i, k] = y[i, m - 1 - k]

    y, z = np.zeros((4, 5)), np.zeros((4, 5))
    siblings(y, z, 4, 5, opts=options("all", i=4, j=5, k=5))
    assert z.all()


def test_the_middle_loop_of_three():
    @parpy.jit
    def three(y, p, n):
        parpy.label("i")
        for i in range(n):
            parpy.label("j")
            for j in range(n):
                parpy.label("k")
                for k in range(n):
                    y[i, p[j], k] = 1.0

    p = np.array([0, 1, 2, 1])
    text = race(three, (np.zeros((4, 4, 4)), p, 4), i=4, j=4, k=4)
    assert "loop 'j' cannot run in parallel: iteration j=1 writes y[0, 1, 0], iteration j=3 writes y[0, 1, 0]" in text


def test_reductions_conflict_with_other_loops():
    @parpy.jit
    def binned(y, b, x, n, m):
        parpy.label("i")
        for i in range(n):
            k = b[i]
            parpy.label("j")
            for j in range(m):
                y[k] += x[i, j]

    b = np.arange(5)
    y = np.zeros(5)
    binned(y, b, np.ones((5, 8)), 5, 8, opts=options("all", i=5, j=threads(8).reduce()))
    assert (y == 8).all()
    b[3] = 1
    text = race(binned, (y, b, np.ones((5, 8)), 5, 8), i=5, j=threads(8).reduce())
    assert "loop 'i' cannot run in parallel: iteration i=1 writes y[1], iteration i=3 writes y[1]" in text


def test_races_in_helpers():
    @parpy.jit
    def bump(a, k, v):
        a[k] = a[k] + v

    @parpy.jit
    def use(y, p, n):
        parpy.label("i")
        for i in range(n):
            bump(y, p[i], 1.0)

    for n in range(10, 16):
        y = np.zeros(n)
        use(y, np.arange(n), n, opts=options("all", i=8))
        assert (y == 1).all()
    p = np.arange(20)
    p[9] = 2
    text = race(use, (np.zeros(20), p, 20), i=8)
    assert "iteration i=2 writes a[2], iteration i=9 reads a[2]" in text
    assert "a[k] = a[k] + v" in text and "in iteration i=9" in text


def test_overlapping_arguments():
    @parpy.jit
    def copy(a, b, p, n):
        parpy.label("i")
        for i in range(n):
            a[i] = b[p[i]]

    @parpy.jit
    def put(a, k, v):
        a[k] = v

    @parpy.jit
    def through(a, b, p, n):
        parpy.label("i")
        for i in range(n):
            put(a, i, b[p[i]])

    p = np.arange(9)
    memory = np.arange(20.0)
    for function in (copy, through):
        function(memory[:9], memory[10:], p, 9, opts=options("all", i=8))
        text = race(function, (memory[:9], memory[:9][::-1], p, 9), i=8)
        assert "iteration i=3 writes the element that iteration i=5 reads as b[5]" in text
        text = race(function, (memory[1:10], memory[:9], p, 9), i=8)
        assert "iteration i=0 writes the element that iteration i=1 reads as b[1]" in text


def test_the_loop_runs_in_sequence():
    """The report does not depend on timing: it is the first conflict of the sequential order."""
    n = 100_000
    p = np.zeros((n, 1), np.int64)
    for _ in range(5):
        text = message(parpy.ParallelError, nest, (np.zeros(3), p, n, 1), options("races", i=64))
        assert "iteration i=0 writes y[0], iteration i=1 reads y[0]" in text
