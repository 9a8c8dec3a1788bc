"""Loops over time whose steps sweep over the same arrays: several steps are computed at a time, with Python's bits."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import BACKENDS, copies, explained, run_automatic
from fresh_functions import plain_function
from nvrtc import cubin


@pytest.fixture(autouse=True)
def tiles_whatever_can_be(monkeypatch):
    monkeypatch.setenv("PARPY_TIME_TILES", "2")


def auto(backend, **options):
    return parpy.auto(backend=parpy.CompileBackend("cpu" if backend == "eval" else backend), **options)


def run(backend, function, given, **options):
    return run_automatic(backend, function, given, "tile-time", **options)


def check(backend, function, given, **options):
    want = copies(given)
    with np.errstate(all="ignore"):
        function(*want)
    for a, b in zip(want, run(backend, function, given, **options), strict=True):
        np.testing.assert_array_equal(a, b)


def explained_for(backend, function, given, **options):
    return explained(function, given, auto(backend, **options))


def random(*shape, seed=0, dtype=np.float64):
    return (100 * np.random.default_rng(seed).random(shape)).astype(dtype)


def means_of_three(steps, a, b):
    for _ in range(1, steps):
        b[1:-1] = 0.33333 * (a[:-2] + a[1:-1] + a[2:])
        a[1:-1] = 0.33333 * (b[:-2] + b[1:-1] + b[2:])


def means_of_three_in_loops(steps, a, b, n):
    for _ in range(1, steps):
        for i in range(1, n - 1):
            b[i] = 0.33333 * (a[i - 1] + a[i] + a[i + 1])
        for i in range(1, n - 1):
            a[i] = 0.33333 * (b[i - 1] + b[i] + b[i + 1])


def means_of_five(steps, a, b):
    for _ in range(1, steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])


def means_of_five_in_loops(steps, a, b, n):
    for _ in range(1, steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                b[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j])
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a[i, j] = 0.2 * (b[i, j] + b[i, j - 1] + b[i, j + 1] + b[i + 1, j] + b[i - 1, j])


def fields(ex, ey, hz, drive, steps):
    for t in range(steps):
        ey[0, :] = drive[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


def fields_in_loops(ex, ey, hz, drive, steps):
    """Each step has several loops, of which one has a condition for its first iteration."""
    for t in range(steps):
        for i in range(ey.shape[0]):
            if i == 0:
                for j in range(ey.shape[1]):
                    ey[i, j] = drive[t]
            else:
                for j in range(ey.shape[1]):
                    ey[i, j] -= 0.5 * (hz[i, j] - hz[i - 1, j])
            for j in range(1, ey.shape[1]):
                ex[i, j] -= 0.5 * (hz[i, j] - hz[i, j - 1])
        for i in range(ey.shape[0] - 1):
            for j in range(ey.shape[1] - 1):
                hz[i, j] -= 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])


def last_row(steps, a, b):
    for _ in range(steps):
        for i in range(2, 90):
            if i != 89:
                for j in range(1, a.shape[1] - 1):
                    b[i, j] = 0.25 * a[i - 1, j] + a[i, j + 1]
            else:
                for j in range(a.shape[1]):
                    b[i, j] = a[i + 2, j]
        for i in range(2, 90):
            for j in range(1, a.shape[1] - 1):
                a[i, j] = 0.5 * b[i, j - 1]


def heat(steps, a, b):
    for _ in range(1, steps):
        b[1:-1, 1:-1, 1:-1] = 0.1 * (a[2:, 1:-1, 1:-1] + a[:-2, 1:-1, 1:-1] + a[1:-1, 2:, 1:-1] + a[1:-1, 1:-1, :-2])
        a[1:-1, 1:-1, 1:-1] = 0.1 * (b[2:, 1:-1, 1:-1] + b[:-2, 1:-1, 1:-1] + b[1:-1, 2:, 1:-1] + b[1:-1, 1:-1, :-2])


def far_and_askew(steps, a, b, weights):
    """Reads two rows up, one down, three columns to the right, and corners; steps differ; one array is read-only."""
    for t in range(steps):
        scale = weights[t % 3, 0] + t
        for i in range(2, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 3):
                left = a[i - 2, j - 1] - scale
                b[i, j] = left + a[i + 1, j + 3] * weights[i % 3, j % 5] - i
        for i in range(3, a.shape[0] - 2):
            for j in range(2, a.shape[1] - 4):
                a[i, j] = b[i - 1, j + 1] * 0.5 + b[i, j]


def three_in_turns(steps, a, b, c):
    for _ in range(steps):
        b[1:-1] = a[:-2] + a[2:]
        c[1:-1] = b[2:] - a[1:-1]
        a[2:-2] = 0.5 * (c[:-4] + b[4:])


def upwind(steps, a, b):
    """Each step sweeps over two arrays; the first sweep reads the left neighbour."""
    for _ in range(steps):
        for i in range(1, a.shape[0]):
            b[i] = a[i] - 0.25 * (a[i] - a[i - 1])
        for i in range(1, a.shape[0]):
            a[i] = b[i]


def moved_places(steps, a, b):
    """Borders have different widths, and none at one end."""
    for _ in range(steps):
        for i in range(a.shape[0] - 1):
            b[i + 1] = a[i] + 0.5 * a[i + 1]
        for i in range(3, a.shape[0] - 2):
            a[i] = b[i + 2] - b[i]


def integers(steps, a, b):
    for _ in range(steps):
        b[1:-1, 1:-1] = a[1:-1, :-2] * 3 + a[2:, 1:-1]
        a[1:-1, 1:-1] = b[1:-1, 2:] ^ b[:-2, 1:-1]


def cases():
    """A name, a function, arguments that make several tiles and bands, and arguments of other extents."""
    yield "line", means_of_three, (70, random(700), random(700, seed=1))
    yield "line of loops", means_of_three_in_loops, (70, random(700), random(700, seed=1), 700)
    yield "plane", means_of_five, (13, random(150, 260), random(150, 260, seed=1))
    yield "plane of loops", means_of_five_in_loops, (9, random(170, 170), random(170, 170, seed=1), 170)
    yield "fields", fields, (*(random(90, 250, seed=s) for s in range(3)), random(9), 9)
    yield "fields of loops", fields_in_loops, (*(random(90, 250, seed=s) for s in range(3)), random(9), 9)
    yield "last row", last_row, (9, random(95, 250) / 100, random(95, 250, seed=1))
    yield "askew", far_and_askew, (7, random(100, 200), random(100, 200, seed=1), random(3, 5) / 100)
    yield "three", three_in_turns, (20, random(600) / 100, random(600, seed=1), random(600, seed=2))
    yield "upwind", upwind, (40, random(900), random(900, seed=1))
    yield "moved", moved_places, (9, random(700) / 100, random(700, seed=1) / 100)
    yield "integers", integers, (7, random(90, 200, dtype=np.int32), random(90, 200, seed=1, dtype=np.int32))
    yield "single", means_of_five, (9, random(90, 300, dtype=np.float32), random(90, 300, dtype=np.float32))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("function", "given"), [pytest.param(f, g, id=name) for name, f, g in cases()])
def test_bits_are_those_of_the_loops(backend, function, given):
    if backend != "eval":
        assert "time tiles: " in explained_for(backend, function, given)
        assert "no time tiles" not in explained_for(backend, function, given)
    check(backend, function, given)


def test_three_dimensions():
    given = (7, random(40, 12, 11), random(40, 12, 11, seed=1))
    assert "bands of" in explained_for("cpu", heat, given)
    check("cpu", heat, given)
    assert "no time tiles: a tile of three dimensions" in explained_for("sim", heat, given)
    check("sim", heat, (3, random(5, 12, 11), random(5, 12, 11, seed=1)))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("extent", [0, 1, 2, 3, 4, 5, 127, 128, 129, 257])
def test_awkward_lines(backend, extent):
    for steps in (0, 1, 2, 3, 17) if backend != "sim" else (2, 17):
        check(backend, means_of_three, (steps, random(extent), random(extent, seed=1)))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (1, 300), (2, 3), (3, 300), (300, 3), (4, 4), (33, 129), (64, 112)])
def test_awkward_planes(backend, shape):
    for steps in (0, 1, 2, 6) if backend != "sim" else (6,):
        check(backend, means_of_five, (steps, random(*shape), random(*shape, seed=1)))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("steps", [*range(1, 9), 16, 17, 33])
def test_all_numbers_of_steps(backend, steps):
    if backend == "sim" and steps in (5, 6, 7):
        pytest.skip("as the others")
    check(backend, means_of_three, (steps, random(500), random(500, seed=1)))


@pytest.mark.parametrize("backend", BACKENDS)
def test_infinities_and_what_is_no_number(backend):
    a, b = random(60, 150), random(60, 150, seed=1)
    a[5, 7], a[30, 100], b[0, 3], b[59, 100] = np.inf, np.nan, np.nan, -np.inf
    check(backend, means_of_five, (9, a, b))


@pytest.mark.parametrize("backend", ["cpu", "sim"])
def test_other_layouts(backend):
    a, b = random(120, 400)[:, ::2], random(200, 120, seed=1).T
    check(backend, means_of_five, (7, a, b))
    check(backend, means_of_three, (33, random(900)[::-1], random(1800, seed=1)[::2]))


@pytest.mark.parametrize("backend", ["cpu", "sim"])
def test_the_same_bits_under_deterministic(backend):
    given = (9, random(90, 200), random(90, 200, seed=1))
    assert "time tiles: " in explained_for(backend, means_of_five, given, deterministic=True)
    check(backend, means_of_five, given, deterministic=True)


def random_stencil(seed):
    """The text of a function of steps and three arrays, whose sweeps read in any direction; a shape."""
    draw = np.random.default_rng(seed)
    rank = int(draw.integers(1, 3))
    shape = tuple(int(n) for n in draw.integers(*((60, 900) if rank == 1 else (20, 170)), rank))
    names = "abc"[: draw.integers(2, 4)]
    lines = ["def f(steps, a, b, c):", "    for t in range(steps):"]
    indices = "ij"[:rank]
    for _ in range(draw.integers(1, 5)):
        stored = draw.choice(list(names))
        body = "        "
        for k, index in enumerate(indices):
            first, last = draw.integers(2, 6, 2)
            lines.append(f"{body}for {index} in range({first}, {shape[k] - last}):")
            body += "    "
        terms = []
        for _ in range(draw.integers(1, 5)):
            loaded = draw.choice(list(names))
            offsets = draw.integers(-2, 3, rank) * (loaded != stored)
            at = ", ".join(f"{index} + {n}" for index, n in zip(indices, offsets, strict=True))
            terms.append(f"{draw.integers(-9, 10) / 40} * {loaded}[{at}]")
        update = draw.choice(["=", "=", "+="])
        lines.append(f"{body}{stored}[{', '.join(indices)}] {update} {' + '.join(terms)} + t")
    return "\n".join(lines) + "\n", shape


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("seed", range(16))
def test_random_stencils(backend, seed):
    text, shape = random_stencil(seed)
    function = plain_function(text, f"<stencil {seed}>")
    check(backend, function, (seed + 2, *(random(*shape, seed=n) for n in range(3))))


def test_some_random_stencils_have_tiles():
    texts = [explained_for("cpu", plain_function(text, f"<stencil {seed}>"), (9, *(random(*shape) for _ in range(3))))
             for seed, (text, shape) in ((seed, random_stencil(seed)) for seed in range(8))]  # fmt: skip
    assert sum("time tiles: " in text.replace("no time tiles: ", "") for text in texts) >= 4


@pytest.mark.parametrize("case", ["line", "plane", "fields", "askew", "single"])
def test_nvrtc_takes_the_kernels(case):
    function, given = next((f, g) for name, f, g in cases() if name == case)
    cubin(parpy.print_compiled(parpy.jit(function), copies(given), auto("cuda")))


# ---------------------------------------------------------------- programs that do not change


def stores_elsewhere(steps, a, b, log):
    for t in range(1, steps):
        log[t] = t
        b[1:-1] = a[:-2] + a[2:]
        a[1:-1] = b[:-2] + b[2:]


def adds_up(steps, a, b, total):
    for _ in range(1, steps):
        b[1:-1] = a[:-2] + a[2:]
        a[1:-1] = b[:-2] + b[2:]
        for i in range(a.shape[0]):
            total[0] += a[i]


def in_place(steps, a):
    for _ in range(1, steps):
        for i in range(1, a.shape[0] - 1):
            a[i] = 0.5 * (a[i - 1] + a[i + 1])


def ends_early(steps, a, b):
    for t in range(1, steps):
        b[1:-1] = a[:-2] + a[2:]
        a[1:-1] = b[:-2] + b[2:]
        if t > 5:
            break


def carries(steps, a, b):
    scale = 1.0
    for _ in range(1, steps):
        b[1:-1] = scale * (a[:-2] + a[2:])
        a[1:-1] = b[:-2] - b[2:]
        scale = scale * 0.5


def reverses(steps, a, b):
    for _ in range(1, steps):
        for i in range(1, a.shape[0] - 1):
            b[i] = a[a.shape[0] - 1 - i] + a[i - 1]
        for i in range(1, a.shape[0] - 1):
            a[i] = b[i]


def shrinks(steps, a, b):
    for t in range(1, steps):
        for i in range(1 + t, a.shape[0] - 1):
            b[i] = a[i - 1] + a[i + 1]
        for i in range(1, a.shape[0] - 1):
            a[i] = b[i]


def rows_in_order(steps, a, b):
    for _ in range(1, steps):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                b[i, j] = a[i - 1, j] + 1.0
            for j in range(1, a.shape[1] - 1):
                a[i, j] = b[i, j] * 0.5


def every_third(steps, a, b):
    for _ in range(1, steps):
        for i in range(1, a.shape[0] - 1):
            if i % 3 == 0:
                b[i] = a[i - 1] + a[i + 1]
        for i in range(1, a.shape[0] - 1):
            a[i] = b[i]


LEFT_ALONE = [
    (rows_in_order, (9, random(60, 70), random(60, 70)), ""),
    (every_third, (9, random(300), random(300)), "a condition selects something other than the first"),
    (stores_elsewhere, (9, random(300), random(300), np.zeros(9)), ""),
    (adds_up, (9, random(300, dtype=np.int64), random(300, dtype=np.int64), np.zeros(1, np.int64)), ""),
    (in_place, (9, random(300)), "reads neighbours of the elements of 'a' that it writes"),
    (ends_early, (9, random(300), random(300)), ""),
    (carries, (9, random(300), random(300)), "the scalar 'scale' goes from step to step"),
    (reverses, (9, random(300), random(300)), "is not at a fixed distance from the one that is written"),
    (shrinks, (9, random(300), random(300)), "the range of 'i' changes"),
]


@pytest.mark.parametrize("backend", ["cpu", "sim"])
@pytest.mark.parametrize(("function", "given", "reason"), LEFT_ALONE, ids=lambda x: getattr(x, "__name__", ""))
def test_other_loops_are_left_alone(backend, function, given, reason):
    text = explained_for(backend, function, given)
    assert "time tiles: " not in text.replace("no time tiles: ", "")
    if reason and backend == "cpu":
        assert "no time tiles: " in text
        assert reason in text
    check(backend, function, given)


@pytest.mark.parametrize("backend", ["cpu", "sim"])
def test_arrays_that_share_memory(backend):
    both = random(800)
    given = (9, both[:500], both[300:])
    want, got = both.copy(), both.copy()
    means_of_three(9, want[:500], want[300:])
    parpy.jit(means_of_three)(9, got[:500], got[300:], opts=auto(backend))
    np.testing.assert_array_equal(got, want)
    text = str(parpy.explain(parpy.jit(means_of_three), *given, opts=auto(backend)))
    assert "time tiles: " not in text.replace("no time tiles: ", "")


def test_the_cost_model_leaves_small_arrays_alone(monkeypatch):
    monkeypatch.delenv("PARPY_TIME_TILES")
    small = (9, random(90, 90), random(90, 90))
    assert "no time tiles: its arrays stay in the cache" in explained_for("cpu", means_of_five, small)
    large = (100, np.zeros((2000, 2000)), np.zeros((2000, 2000)))
    assert "time tiles: 16 steps at a time" in explained_for("cpu", means_of_five, large)
    assert "time tiles: " in explained_for("cuda", means_of_five, large)
    monkeypatch.setenv("PARPY_TIME_TILES", "0")
    assert "no time tiles: PARPY_TIME_TILES=0" in explained_for("cpu", means_of_five, large)
