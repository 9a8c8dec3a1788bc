"""The picture of parpy.explain shows the program's blocks, threads, workers and lanes, and is plain SVG."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import parpy
from parpy.studies.explain_picture import share

CPU, CUDA = parpy.CompileBackend.Cpu, parpy.CompileBackend.Cuda
SVG = "{http://www.w3.org/2000/svg}"


@parpy.jit
def rows(x, y, n, m):
    parpy.label("i")
    for i in range(n):
        parpy.label("j")
        for j in range(m):
            y[i] += x[i, j]


@parpy.jit
def two_in_a_row(x, y, n, m):
    parpy.label("i")
    for i in range(n):
        parpy.label("j")
        for j in range(m):
            x[i, j] += 1
        parpy.label("k")
        for k in range(1, m, 3):
            y[i, k] = x[i, k - 1]


@parpy.jit
def in_time(a, b, t, n):
    for s in range(t):
        parpy.label("i")
        for i in range(1, n - 1):
            b[i] = (a[i - 1] + a[i + 1]) / 2
        for i in range(1, n - 1):
            a[i] = b[i]


@parpy.jit
def deep(x, n):
    for a in range(n):
        for b in range(n):
            for c in range(n):
                for d in range(n):
                    x[a, b, c, d] += 1


@parpy.jit
def running(a, n):
    parpy.label("<&>")
    for i in range(1, n):
        a[i] += a[i - 1]


def texts(found):
    return [node.text for node in ET.fromstring(found.svg()).iter(SVG + "text")]


def cells(found, colour):
    """The numbers of used and of idle boxes of a colour."""
    boxes = [node for node in ET.fromstring(found.svg()).iter(SVG + "rect") if node.get("stroke") == colour]
    small = [node for node in boxes if node.get("height") == "12"]
    idle = [node for node in small if node.get("fill") == "none"]
    return len(small) - len(idle), len(idle)


def by_hand(function, arguments, backend=CUDA, **loops):
    opts = parpy.CompileOptions(parallelize=loops, backend=backend)
    return parpy.explain(function, *arguments, opts=opts), parpy.print_compiled(function, arguments, opts)


def rows_of(n, m):
    return np.zeros((n, m)), np.zeros(n), n, m


def test_blocks_and_threads():
    found, text = by_hand(rows, rows_of(300, 700), i=parpy.threads(300), j=parpy.threads(64).reduce())
    assert "j += 64" in text
    shown = texts(found)
    assert "kernel rows_i: 300 blocks of 64 threads" in shown
    assert [word for word in shown if word.startswith("i=")] == ["i=0", "i=1", "i=2", "i=3", "i=299"]
    assert "300 iterations: 300 blocks" in shown
    assert "700 iterations: 64 threads" in shown
    assert "thread 0 runs j=0, 64, …, 640" in shown
    assert [word for word in shown if word.startswith("warp")] == ["warp 0", "warp 1"]
    assert cells(found, "#2e9e4f") == (64, 0)


def test_fewer_blocks_than_iterations_and_idle_threads():
    found, text = by_hand(rows, rows_of(300, 40), i=parpy.threads(128), j=parpy.threads(64).reduce())
    assert "i += 128" in text
    shown = texts(found)
    assert "i=0, 128, 256" in shown
    assert "i=127, 255" in shown
    assert cells(found, "#2e9e4f") == (40, 24)
    assert "thread 0 runs j=0" in shown


def test_threads_of_several_blocks():
    found, _ = by_hand(rows, rows_of(1000, 7), i=parpy.threads(1000).tpb(256))
    shown = texts(found)
    assert "kernel rows_i: 4 blocks of 256 threads" in shown
    assert [word for word in shown if word.startswith("i=")] == ["i=0…255", "i=256…511", "i=512…767", "i=768…999"]
    assert "1000 iterations: 256 threads in each of 4 blocks" in shown
    assert "thread 0 of block 0 runs i=0" in shown
    assert "7 iterations: one after the other" in shown


def test_rows_spread_over_several_blocks():
    found, _ = by_hand(rows, rows_of(4, 100_000), i=parpy.threads(4), j=parpy.threads(3072).reduce())
    shown = texts(found)
    assert "kernel rows_i: 12 blocks of 1024 threads" in shown
    for row in range(4):
        assert shown.count(f"i={row}") == 3
    assert shown.count("j=0…1023, …") == shown.count("j=2048…3071, …") == 4
    assert "thread 0 of block 0 runs j=0, 3072, …, 98304" in shown


@pytest.mark.parametrize("sizes", [(64, 64), (64, 256), (32, 96)])
def test_neighbours_in_one_block_and_kernels_of_their_own(sizes):
    arguments = np.zeros((20, 300)), np.zeros((20, 300)), 20, 300
    loops = {"i": parpy.threads(20), "j": parpy.threads(sizes[0]), "k": parpy.threads(sizes[1])}
    found, text = by_hand(two_in_a_row, arguments, **loops)
    kernels = found.facts["kernels"]
    assert len(kernels) == text.count("__global__")
    placed = [found.facts["loops"][each["loop"]]["key"] for kernel in kernels for each in kernel["loops"]]
    assert placed == (["i", "j", "k"] if len(kernels) == 1 else ["i", "j", "i", "k"])
    shown = texts(found)
    starts = [f"thread 0 runs j=0, {sizes[0]}, ", f"thread 0 runs k=1, {1 + 3 * sizes[1]}"]
    if sizes[1] >= 100:
        starts[1] = "thread 0 runs k=1"
    for start in starts:
        assert any(word.startswith(start) for word in shown), (start, shown)


CALLS = {
    "rows": (rows, rows_of(300, 700)),
    "few rows": (rows, rows_of(4, 100_000)),
    "two": (two_in_a_row, (np.zeros((200, 3000)), np.zeros((200, 3000)), 200, 3000)),
    "time": (in_time, (np.zeros(60_000), np.zeros(60_000), 5, 60_000)),
    "deep": (deep, (np.zeros((9, 9, 9, 9)), 9)),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("backend", [CPU, CUDA], ids=lambda b: b.name)
def test_every_kernel_is_that_of_the_launch(call, backend):
    function, arguments = call
    found = parpy.explain(function, *arguments, opts=parpy.auto(backend=backend))
    for kernel in found.facts["kernels"]:
        assert math.prod(each["blocks"] for each in kernel["loops"]) == math.prod(kernel["grid"])
        widths = [each["threads"] // each["blocks"] for each in kernel["loops"] if each["level"] == "threads"]
        assert max(widths) == math.prod(kernel["block"])
        assert f"kernel {kernel['name']}: " in found.svg()
    loops = found.facts["loops"]
    for loop in loops:
        assert (loop["first"] is not None and loop["step"] == 1) or (loop["key"] == "k" and loop["step"] == 3)
    root = ET.fromstring(found.svg())
    assert root.tag == SVG + "svg"
    wide, high = (float(each) for each in root.get("viewBox").split()[2:])
    for node in root:
        if node.tag == SVG + "rect":
            assert float(node.get("x")) + float(node.get("width")) <= wide
            assert float(node.get("y")) + float(node.get("height")) <= high
        else:
            assert node.tag in (SVG + "text", SVG + "title")


def test_loops_of_the_host_are_around_the_kernels():
    function, arguments = CALLS["time"]
    found = parpy.explain(function, *arguments, opts=parpy.auto(backend=CUDA))
    assert texts(found).count("launched by the host for each s (5), one launch after the other") == 2
    found = parpy.explain(function, *arguments, opts=parpy.auto(backend=CPU))
    assert texts(found).count("started for each s (5), one after the other") == 2


def test_more_levels_than_a_picture_has():
    loops = {"a": 9, "b": 9, "c": 9}
    lines = deep.__wrapped__.__code__.co_firstlineno + 2
    mapping = {f"{name}@{lines + i}": parpy.threads(n) for i, (name, n) in enumerate(loops.items())}
    mapping[f"d@{lines + 3}"] = parpy.threads(32)
    found, _ = by_hand(deep, (np.zeros((9, 9, 9, 9)), 9), **mapping)
    shown = texts(found)
    assert "kernel deep_a: 729 blocks of 32 threads" in shown
    assert shown.count("b=0") == 5
    assert "c=8" in shown
    assert "the same for each of 9 blocks of a" in shown


def test_workers_and_lanes():
    found, text = by_hand(rows, rows_of(3000, 700), CPU, i=parpy.threads(8), j=parpy.threads(8).reduce())
    assert "parpy_parallel_for" in text
    shown = texts(found)
    assert "loop i: cores, at most 8 threads, SIMD lanes" in shown
    assert [word for word in shown if word.startswith(("i=", "… i="))] == ["i=0, …", "… i=2999"]
    assert shown.count("j=0") == 3
    assert "700 iterations: consecutive ones in the lanes of a vector" in shown
    found, _ = by_hand(rows, rows_of(3000, 700), CPU, i=parpy.threads(2))
    shown = texts(found)
    assert "loop i: cores, at most 2 threads" in shown
    assert "700 iterations: one after the other" in shown
    found, _ = by_hand(in_time, (np.zeros(60), np.zeros(60), 5, 60), CPU, i=parpy.threads(1))
    shown = texts(found)
    assert "loop i: the calling thread, SIMD lanes" in shown
    lanes = shown.index("lanes")
    assert shown[lanes + 1 : lanes + 10] == ["i=1", "2", "3", "4", "5", "6", "7", "8", "…"]


@pytest.mark.parametrize("threads", [1, 2, 3, 7, 16, 64])
def test_the_busiest_of_several_cores(threads):
    for iterations in (1, 2, 5, 63, 64, 65, 1000):
        pieces, most = share(iterations, threads)
        assert 1 <= pieces <= iterations and (pieces <= threads or pieces % threads == 0)
        shares = [0] * threads
        for piece in range(pieces):
            shares[piece % threads] += iterations // pieces + (piece < iterations % pieces)
        assert sum(shares) == iterations and max(shares) == most


def test_cores():
    shown = texts(by_hand(rows, rows_of(10, 700), CPU, i=parpy.threads(100))[0])
    assert any(word.startswith("10 pieces, 1 of 10 iterations on the busiest core: at most 10 ×") for word in shown)
    assert any(", 6 cores without work" in word for word in shown)
    assert sum("(this machine)" in word for word in shown) == (parpy._native.configuration()["threads"] > 1)
    shown = texts(by_hand(rows, rows_of(3000, 700), CPU, i=parpy.threads(8))[0])
    assert sum(word.startswith("32 pieces, 375 of 3000 iterations") for word in shown) >= 3  # 8, 16 and more cores
    shown = texts(by_hand(rows, rows_of(3000, 3000), CPU, i=parpy.threads(8))[0])
    assert shown[-1] == "from about 8 cores on, memory traffic limits the call (at 100 GB a second)"


@parpy.jit
def accesses(a, b, c, k, out, n):
    parpy.label("i")
    for i in range(n):
        parpy.label("j")
        for j in range(n):
            out[i, j] = a[j, i] + b[n * i + 2 * j + 1] + a[k[j], 0] + c[n - 1 - i, j] + b[i]


@parpy.jit
def of_slices(a, b, out):
    out[1:-1, ::2] = a[1:-1, ::2] * np.exp(b[1, :200])


def test_memory_of_neighbours():
    arguments = (
        np.zeros((400, 400), np.float32),
        np.zeros(161_000),
        np.zeros((400, 400)),
        np.arange(400),
        np.zeros((400, 400)),
        400,
    )
    expected = {"a[j, i]": 1600, "b[n * i + 2 * j + 1]": 16, "a[k[j], 0]": None, "k[j]": 8, "c[n - 1 - i, j]": 8}
    expected |= {"b[i]": 0, "out[i, j]": 8}
    mapping = {"i": parpy.threads(400), "j": parpy.threads(400)}
    for backend in (CPU, CUDA):
        found, _ = by_hand(accesses, arguments, backend, **mapping)
        assert {each["text"]: each["apart"] for each in found.facts["accesses"]} == expected
        assert [each["text"] for each in found.facts["accesses"] if each["stored"]] == ["out[i, j]"]
    shown = texts(found)
    assert "32 neighbours in j: 1600 bytes apart, in 32 sectors of 32 bytes" in shown
    assert "32 neighbours in j: the same element, in 1 sector of 32 bytes" in shown
    assert "the distance of neighbours in j is not known" in shown
    found = parpy.explain(of_slices, *arguments[:1], np.zeros((3, 400)), arguments[2], opts=parpy.auto(backend=CPU))
    assert {each["text"]: each["apart"] for each in found.facts["accesses"]} == {
        "out[1:-1, ::2]": 16, "a[1:-1, ::2]": 8, "b[1, :200]": 8,
    }  # fmt: skip
    assert "8 neighbours in j: 16 bytes apart, in 2 lines of 64 bytes" in texts(found)


@parpy.jit
def products(m, x, y, a, b, c):
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            y[i] += m[i, j] * x[j]
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def test_tiles_have_an_order_of_their_own():
    """A nest that is no contraction has the picture of its loops, a nest that is computed in tiles has not."""
    square = [np.zeros((300, 300)) for _ in range(4)]
    found = parpy.explain(products, square[0], np.zeros(300), np.zeros(300), *square[1:], opts=parpy.auto(backend=CPU))
    notes = [loop["contraction"].partition(" of ")[0].partition(":")[0] for loop in found.facts["loops"]]
    assert notes.count("no contraction") == notes.count("a contraction") == 1
    assert {each["text"] for each in found.facts["accesses"]} == {"m[i, j]", "x[j]", "y[i]"}
    assert sum(word == "cores" for word in texts(found)) == 1


@parpy.jit
def sparse(v, p, y, n):
    for i in range(n - 1, -1, -2):
        for k in range(p[i], p[i + 1]):
            y[i] += v[k]


def test_iterations_that_data_decide():
    arguments = np.ones(500), np.arange(0, 505, 5), np.zeros(100), 100
    found = parpy.explain(sparse, *arguments, opts=parpy.auto(backend=CUDA))
    shown = texts(found)
    assert [word for word in shown if word.startswith("i=")] == ["i=99", "i=97", "i=95", "i=93", "i=1"]
    assert "thread 0 runs k no. 0, k no. 64, k no. 128, …" in shown


def test_what_does_not_run_in_parallel():
    found = parpy.explain(running, np.zeros(10), 10, opts=parpy.auto(backend=CPU))
    assert texts(found)[0] == "running: nothing runs in parallel"
    found = parpy.explain(running, np.zeros(10), 10, opts=parpy.par({"<&>": parpy.threads(4)}, backend=CPU))
    shown = texts(found)
    assert shown[0] == "running: the call is refused"
    assert shown[1] == "for i in range(1, n):"


@parpy.jit
def allocating(x, n):
    y = np.empty(n)
    for i in range(n):
        y[i] = 2 * x[i]
    z = np.empty(n)
    for k in range(n):
        z[k] = y[n - 1 - k]
    return z


def test_parts_that_python_runs_between():
    found = parpy.explain(allocating, np.zeros(50_000), 50_000, opts=parpy.auto(backend=CUDA))
    kernels = found.facts["kernels"]
    keys = [found.facts["loops"][each["loop"]]["variable"] for kernel in kernels for each in kernel["loops"]]
    assert keys == ["i", "k"]
    assert {"thread 0 of block 0 runs i=0", "thread 0 of block 0 runs k=0"} <= set(texts(found))


def test_it_is_plain_svg_in_the_notebook_and_on_its_own():
    found, _ = by_hand(rows, rows_of(300, 700), i=parpy.threads(300))
    picture = found.svg()
    assert picture in found._repr_html_()
    assert not re.search(r"<script|<style|href|url\(|\bon\w+=|<foreignObject", picture)
    assert ET.fromstring(picture).find(SVG + "title").text == "rows on Cuda, mapping by hand"
