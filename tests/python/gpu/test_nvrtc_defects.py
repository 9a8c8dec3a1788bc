"""The smallest programs that NVRTC and ptxas miscompile (docs/explanation/gpu.md), and checks that ParPy's text avoids
them. An interpreter of PTX runs them, so only the defects of ptxas need a GPU."""

from __future__ import annotations

import ctypes
import linecache
import random
import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nvrtc
import parpy
import places
from parpy import CompileBackend, CompileOptions

sys.path.insert(0, str(places.TESTS / "fuzz"))
import nvrtc_kernels
import ptx

# Versions of NVRTC with these defects. Test a version that is not listed: defects that it has corrected can be removed
# from docs/explanation/gpu.md and from here.
MISTAKEN = {(13, 0), (13, 5)}

# Each text with the content of `memory` afterwards. The pointers are places in one memory, `d` has its own.
PROMISED = (
    """extern "C" __global__ void k(double* b, double* a, double* __restrict__ d) {
    b[4] = b[4] - 1.0;
    d[0] = 1.0;
    double t = a[4];
    a[4] = 2.0;
    d[1] = t;
    b[4] = 7.0;
}""",
    {"d1": 3.0, "b4": 7.0},
)
FALLING = """extern "C" __global__ void k(double* b) {
    for (int i = 0; i < 8; ++i)
        b[i * -3] = b[i * -3] + b[-9];
}"""
HIDDEN = nvrtc_kernels.HELPER + FALLING.replace("i * -3", "hidden(i * -3)")
# The same subscript as a difference is miscompiled too.
DIFFERENCE = """extern "C" __global__ void k(double* b) {
    for (int i = 0; i < 8; ++i)
        b[3 - (i & 3) * 3] = b[3 - (i & 3) * 3] + b[-6];
}"""
# Only the first iteration of this loop runs.
COUNTED = """extern "C" __global__ void k(double* b) {
#pragma unroll 1
    for (int i = 0; i < 12; i += 2)
        for (int j = 0; j < 6; ++j)
            b[j] += (double)(i - (5 - j) * 6) * b[10 + i];
}"""
# Only the first iteration runs here too, also of `while` loops.
TRIANGLE = """extern "C" __global__ void k(double* b) {
#pragma unroll 1
    for (int i = 0; i < 3; ++i)
        for (int j = i; j < 3; ++j)
            b[20 - i] += 9.0 - i;
}"""
# Versions whose ptxas replaces one rounding by another.
MISTAKEN_ROUNDING = {(12, 9), (13, 0)}
ROUNDED = """extern "C" __global__ void k(float* b, const float* a) {
    for (int i = 0; i < 6; ++i)
        b[i * 7] = (float)(0.5 + (a[i / 2] < b[i * 7]));
}"""
RECOMPUTED = """static __device__ __forceinline__ double recomputed(double value) {
    asm("mul.rn.f64 %0, %0, 0d3FF0000000000000;" : "+d"(value));
    return value;
}
""" + ROUNDED.replace("(float)", "(float)recomputed")


def version() -> tuple[int, int]:
    library = nvrtc.library()
    if library is None:
        pytest.skip("no NVRTC")
    major, minor = ctypes.c_int(), ctypes.c_int()
    library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    return major.value, minor.value


def run(text: str, *places: tuple[np.ndarray, int]) -> None:
    """Runs the kernel; each pointer is the address of an element of an array."""
    module, memory = ptx.parse(nvrtc.ptx(text)), ptx.Memory()
    begins = {id(array): memory.add(array) for array, _ in places}
    ptx.launch(module, "k", [begins[id(array)] + element * array.itemsize for array, element in places], memory)


def promised(text: str) -> tuple[float, float]:
    shared, own = np.full(8, 4.0), np.zeros(2)
    run(text, (shared, 0), (shared, 0), (own, 0))
    return own[1], shared[4]


def falling(text: str, size: int = 32) -> np.ndarray:
    memory = np.arange(float(size))
    run(text, (memory, 30))
    return memory


def counted(text: str) -> np.ndarray:
    memory = np.arange(32.0)
    run(text, (memory, 0))
    return memory


def counted_by_hand() -> np.ndarray:
    memory = np.arange(32.0)
    for i in range(0, 12, 2):
        for j in range(6):
            memory[j] += (i - (5 - j) * 6) * memory[10 + i]
    return memory


def triangle_by_hand() -> np.ndarray:
    memory = np.arange(32.0)
    for i in range(3):
        memory[20 - i] += (3 - i) * (9.0 - i)
    return memory


def falling_by_hand() -> np.ndarray:
    memory = np.arange(32.0)
    for i in range(8):
        memory[30 - 3 * i] += memory[30 - 9]
    return memory


def difference_by_hand() -> np.ndarray:
    memory = np.arange(40.0)
    for i in range(8):
        memory[30 + 3 - (i & 3) * 3] += memory[30 - 6]
    return memory


def test_defects_by_version():
    """Fails for a newer NVRTC without the defects: then see docs/explanation/gpu.md, and simplify the text."""
    mistaken = {
        "restrict": promised(PROMISED[0]) != (3.0, 7.0),
        "falling": not np.array_equal(falling(FALLING), falling_by_hand()),
        "counted": not np.array_equal(counted(COUNTED), counted_by_hand()),
        "triangle": not np.array_equal(counted(TRIANGLE), triangle_by_hand()),
        "difference": not np.array_equal(falling(DIFFERENCE, 40), difference_by_hand()),
    }
    assert mistaken == dict.fromkeys(mistaken, version() in MISTAKEN), f"NVRTC {version()}"


def test_the_forms_that_are_right():
    assert promised(PROMISED[0].replace(" __restrict__", "")) == (3.0, 7.0)
    np.testing.assert_array_equal(falling(HIDDEN), falling_by_hand())
    hidden = nvrtc_kernels.HELPER + DIFFERENCE.replace("3 - (i & 3) * 3", "hidden(3 - (i & 3) * 3)")
    np.testing.assert_array_equal(falling(hidden, 40), difference_by_hand())
    for text, by_hand in (COUNTED, counted_by_hand()), (TRIANGLE, triangle_by_hand()):
        exact, start = text.replace("i < ", "i != "), text.replace("i = 0", "i = hidden(0)")
        np.testing.assert_array_equal(counted(exact), by_hand)
        np.testing.assert_array_equal(counted(nvrtc_kernels.HELPER + start), by_hand)


@parpy.jit
def exchange(a, b, d):
    with parpy.gpu:
        b[4] = b[4] - 1.0
        d[0] = 1.0
        t = a[4]
        a[4] = 2.0
        d[1] = t
        b[4] = 7.0


@parpy.jit
def down(b):
    with parpy.gpu:
        for i in range(8):
            b[i] = b[i] + b[3]


@parpy.jit
def down_by_factor(b):
    with parpy.gpu:
        for i in range(8):
            b[i * -3 - 2] = b[i * -3 - 2] + b[-8] * 2


@parpy.jit
def exchange_at_minimum(b):
    with parpy.gpu:
        for i in range(10):
            b[min(5, i)], b[2] = b[2], b[min(5, i)]


@parpy.jit
def exchange_at_bits(b):
    with parpy.gpu:
        for i in range(10):
            b[12 - (i & 3) * 3], b[6] = b[6], b[12 - (i & 3) * 3]


@parpy.jit
def assigned_first(b):
    with parpy.gpu:
        for i in range(8):
            t = (i & 3) * 3
            b[12 - t] = b[12 - t] + b[3]


@parpy.jit
def subtracted_thrice(b):
    with parpy.gpu:
        for i in range(8):
            k = i & 3
            b[12 - k - k - k] = b[12 - k - k - k] + b[3]


@parpy.jit
def exchange_of_assigned(b):
    with parpy.gpu:
        for i in range(10):
            t = min(5, i) * 3
            b[16 - t], b[10] = b[10], b[16 - t]


@parpy.jit
def down_the_diagonal(b):
    with parpy.gpu:
        for i in range(8):
            k = i & 3
            b[k, k] = b[k, k] + b[1, 1]


@parpy.jit
def down_twice(b):
    with parpy.gpu:
        for i in range(4):
            for j in range(4):
                b[i, j] = b[i, 2] + b[1, j]


VIEWS = {
    "exchange": (exchange, lambda m, d: (m[:8], m[:8], d)),
    "exchange of shifted": (exchange, lambda m, d: (m[:8], m[2:10], d)),
    "reversed": (down, lambda m, d: (m[::-1],)),
    "every third, reversed": (down, lambda m, d: (m[30::-3],)),
    "factor": (down_by_factor, lambda m, d: (m,)),
    "factor, reversed": (down_by_factor, lambda m, d: (m[::-1],)),
    "minimum, reversed": (exchange_at_minimum, lambda m, d: (m[30::-3],)),
    "bits": (exchange_at_bits, lambda m, d: (m,)),
    "bits, reversed": (exchange_at_bits, lambda m, d: (m[::-2],)),
    "assigned first": (assigned_first, lambda m, d: (m,)),
    "subtracted thrice": (subtracted_thrice, lambda m, d: (m,)),
    "exchange of assigned": (exchange_of_assigned, lambda m, d: (m,)),
    "diagonal of a reversed square": (down_the_diagonal, lambda m, d: (m[:32].reshape(4, 8)[::-1, ::-1],)),
    "diagonal of overlapping rows": (
        down_the_diagonal,
        lambda m, d: (np.lib.stride_tricks.as_strided(m[20:], (4, 4), (-8, -8)),),
    ),
    "rows reversed": (down_twice, lambda m, d: (m[:32].reshape(4, 8)[::-1, ::2],)),
    "columns reversed": (down_twice, lambda m, d: (m[:32].reshape(4, 8)[:, ::-2],)),
    "both reversed": (down_twice, lambda m, d: (m[:32].reshape(4, 8)[::-1, ::-2],)),
}


@pytest.mark.parametrize("case", VIEWS)
def test_our_text_is_none_of_them(case):
    check(*VIEWS[case])


def random_subscripts(seed: int) -> tuple[Any, Any]:
    """Exchanges and sums at subscripts that are assigned first, added up, shifted, or hidden in extremes."""
    rng = random.Random(seed)
    small = ["i", "(i & 3)", "min(i, 4)", "(i % 3)", "(i // 2)", "max(i - 5, 0)"]
    lines, names = [], []
    for name in ("t", "u")[: rng.randint(0, 2)]:
        factor = rng.choice(["", " * 3", " * 2", " << 1", " + 1"])
        sign = rng.choice(["", "", "-", "9 - "])
        lines.append(f"{name} = {sign}({rng.choice([*small, *names])}{factor})")
        names.append(name)

    def subscript() -> str:
        terms = [rng.choice([*small, *names, *names]) for _ in range(rng.randint(1, 3))]
        text = str(rng.choice([0, 3, 12, 30]))
        for term in terms:
            text += f" {rng.choice('--+')} {term}{rng.choice(['', '', ' * 3', ' * 2'])}"
        return f"max({text}, -3) + 60" if rng.random() < 0.1 else f"{text} + 60"

    x, y, z = subscript(), subscript(), rng.randint(50, 75)
    lines.append(rng.choice([f"b[{x}] = b[{x}] + b[{z}]", f"b[{x}], b[{z}] = b[{z}], b[{x}]", f"b[{x}] += b[{y}]"]))
    step = rng.choice([1, 1, -1, -3, 2])
    views = lambda m, d: (m[::step] if step > 0 else m[len(m) + step :: step],)  # noqa: E731
    return function_of(["for i in range(8):", *(f"    {line}" for line in lines)], f"<subscripts {seed}>"), views


@parpy.jit
def after(b, i: parpy.types.I32, step: int):
    if b[0] > 1e300:
        b[1] = 0
    return np.int32(i + step)


def function_of(lines: list[str], file: str) -> Any:
    text = "@parpy.jit\ndef f(b):\n    with parpy.gpu:\n" + "".join(f"        {line}\n" for line in lines)
    space: dict[str, Any] = {"parpy": parpy, "np": np, "after": after}
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), space)
    return space["f"]


@pytest.mark.parametrize("first", range(0, 80, 20))
def test_random_subscripts(first):
    for seed in range(first, first + 20):
        check(*random_subscripts(seed), size=600)


def random_counters(seed: int) -> Any:
    """A counter with a step above one, and a pattern beside it that makes NVRTC lose iterations: loops to be unrolled
    that compute with distances from the counter."""
    rng = random.Random(seed)
    step, end = rng.choice([2, 2, 3, 4, -2]), rng.choice([6, 8, 12, 20, 30, 100])
    rows, distance = rng.randint(5, 8), rng.choice([1, 2, 3, 6, 6, 10, end])
    begin, end, sign = (0, end, "<") if step > 0 else (end, 0, ">")
    lower, factor = rng.randint(3, 6), rng.choice(["2", "b[100 + i]", "b[100 + j]"])
    body = [
        f"for j in range({rows}):",
        f"    for k in range({lower}):",
        f"        b[j + k * 10] = (i - ({rows - 1} - j) * {distance}) * {factor}",
        f"for k in range({lower}):",
        f"    for j in range({rows}):",
        f"        b[{rng.choice(['90 - j - k * 10', '100 + j + k * 10'])}] += b[j + k * 10]",
    ]
    leave, start = f"if not (i {sign} {end}): break", f"i = np.int32({begin})"
    one, half = f"i += np.int32({step // abs(step)})", abs(step)
    advance = rng.choice([
        f"i += np.int32({step})", f"t = i + np.int32({step}); i = t", "\n".join([one] * half),
        f"i = after(b, i, {step})", f"i += np.int32({step}) if b[0] > 1e300 else np.int32({step})",
        f"for r in range({half}): {one}",
    ])  # fmt: skip
    if rng.random() < 0.3:
        leave = f"done = not (i {sign} {end})\nif done: break"
    lines = rng.choice([
        [f"for i in range({begin}, {end}, {step}):", *body],
        [f"for i in range({begin}, {end}, {step}):", *body, f"if not (i + {2 * step} {sign} {end}): break"],
        [start, f"while i {sign} {end}:", *body, advance],
        [start, "while True:", leave, *body, advance],
        [start, "while True:", *body, advance, leave],
        [start, "for q in range(200):", *body, advance, leave],
        [start, "for q in range(200):", leave, *body, advance],
    ])  # fmt: skip
    flat = "\n".join(lines).split("\n")
    head = next(n for n, line in enumerate(flat) if line.startswith(("for i", "for q", "while")))
    return function_of([*flat[: head + 1], *(f"    {line}" for line in flat[head + 1 :])], f"<counters {seed}>")


@pytest.mark.parametrize("first", [60, 145, 160])
def test_random_counters(first):
    for seed in range(first, first + 20):
        check(random_counters(seed), lambda m, d: (m,), size=400)


def random_triangle(seed: int) -> Any:
    """Nested loops, all with steps of one, whose counters meet in bounds, subscripts and values."""
    rng = random.Random(seed)
    end, distance = rng.choice([2, 3, 3, 3, 4, 7]), rng.randint(2, 9)
    value = rng.choice([f"{distance} - i", f"{distance} - i * 2", f"i - {distance}", f"i * 3 - {distance}"])
    places = ["20 - i", "40 - i * 4", "i", "80 + i - j", "50 + i * 3 + j"]
    line = f"b[{rng.choice(places)}] += ({value}) * {rng.choice(['1', 'b[i]', f'b[{rng.choice(places)}]'])}"
    guard = rng.choice(["", "", "if i > 0: ", "if j > i: "])
    inner = [f"for j in range(i, {end}):", f"    {guard}{line}"]
    if rng.random() < 0.2:
        inner = ["j = np.int32(i)", f"while j < {end}:", f"    {line}", "    j += np.int32(1)"]
    start, advance = "i = np.int32(0)", "i += np.int32(1)"
    flat = rng.choice([
        [f"for i in range({end}):", *inner],
        [f"for i in range({end}):", *inner],
        [f"for i in range({end}):", *inner, "if b[0] > 1e9: break"],
        [start, f"while i < {end}:", *inner, advance],
        [start, "while True:", *inner, advance, f"if not (i < {end}): break"],
        [start, "for q in range(200):", f"if not (i < {end}): break", *inner, advance],
        ["for q in range(2):", f"for i in range(q, {end}):", *(f"    {line}" for line in inner)],
    ])  # fmt: skip
    head = next(n for n, text in enumerate(flat) if text.startswith(("for", "while")))
    return function_of([*flat[: head + 1], *(f"    {line}" for line in flat[head + 1 :])], f"<triangle {seed}>")


def small_loops(monkeypatch, change: Callable[[str], str] = lambda text: text) -> None:
    """Keeps NVRTC from unrolling loops around other loops, as if their bodies were large."""
    made = nvrtc.ptx
    outer = re.compile(r"^( *)((?:for|while) \((?:.*\n)(?:\1 +.*\n)*?\1 +(?:for|while) \()", re.M)
    monkeypatch.setattr(nvrtc, "ptx", lambda text: made(change(outer.sub(r"#pragma unroll 1\n\1\2", text))))


def without_exact_ends(text: str) -> str:
    text = text.replace("#ifdef __CUDA_ARCH__\n    if constexpr", "#ifdef NOWHERE\n    if constexpr")
    text = re.sub(r"!= (-?\d+); (\w+ \+=|\+\+)", r"< \1; \2", text)
    return re.sub(r"!= (-?\d+); (\w+ -=|--)", r"> \1; \2", text)


@pytest.mark.parametrize("first", range(0, 120, 30))
def test_random_triangles(monkeypatch, first):
    small_loops(monkeypatch)
    for seed in range(first, first + 30):
        check(random_triangle(seed), lambda m, d: (m,), size=200)


MISTAKEN_SEEDS = {"counters": (65, 162, 164, 178, 185), "triangles": tuple(range(60))}


@pytest.mark.parametrize("kind", MISTAKEN_SEEDS)
def test_they_are_mistaken_if_nothing_is_hidden(monkeypatch, kind):
    if kind == "triangles":
        small_loops(monkeypatch, without_exact_ends)
    else:
        made = nvrtc.ptx
        monkeypatch.setattr(nvrtc, "ptx", lambda text: made(without_exact_ends(text)))
    found = 0
    for seed in MISTAKEN_SEEDS[kind]:
        try:
            check(random_counters(seed) if kind == "counters" else random_triangle(seed), lambda m, d: (m,), size=400)
        except AssertionError:
            found += 1
    assert (found > 0) == (version() in MISTAKEN)


def check(function, of, size=40):
    (got, own), (want, expected) = ((np.arange(float(size)), np.zeros(2)) for _ in range(2))
    options = CompileOptions(backend=CompileBackend.Cuda)
    arguments = of(got, own)
    text = parpy.print_compiled(function, arguments, options)
    device = nvrtc.device_part(text)
    assert "__restrict" not in device
    assert not re.search(r"\* -\d", re.sub(r"//.*", "", device))
    head = re.search(r"__global__ void (?:__launch_bounds__\(\d+\) )?(\w+)\(([^)]*)\)", device)
    assert head is not None
    names = [re.split(r"[\s*]+", parameter.strip())[-1] for parameter in head.group(2).split(",")]
    views = dict(zip(function.__wrapped__.__code__.co_varnames, arguments, strict=False))
    module, memory = ptx.parse(nvrtc.ptx(text)), ptx.Memory()
    begins = {id(array): memory.add(array) for array in (got, own)}

    def place(view: np.ndarray) -> int:
        array = own if np.shares_memory(view, own) else got
        distance = view.__array_interface__["data"][0] - array.__array_interface__["data"][0]
        return begins[id(array)] + distance

    ptx.launch(module, head.group(1), [place(views[name]) for name in names], memory)
    function(*of(want, expected), seq=True)
    np.testing.assert_array_equal(got, want, err_msg=device)
    np.testing.assert_array_equal(own, expected, err_msg=device)


@pytest.mark.parametrize("first", range(0, 160, 40))
def test_random_kernels_of_one_thread(first):
    """`python tests/fuzz/nvrtc_kernels.py` runs more, also on a GPU."""
    for seed in range(first, first + 40):
        assert (found := nvrtc_kernels.difference(seed)) is None, found


@parpy.jit
def rounded(b, a, h, d, m):
    with parpy.gpu:
        for i in range(6):
            b[i * 7] = 0.5 + (a[i // 2] < b[i * 7])
        for i in range(6):
            d[i] = 2.5 if m[i] else 0.5
            h[i] = d[i]
        for i in range(6):
            t = 0.25
            if a[i] > 2:
                t = 0.75
            d[i] += t
            b[i * 7 + 1] = t


def numbers() -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(1)
    b, a = (rng.integers(0, 5, size).astype(np.float32) for size in (43, 6))
    return b, a, np.zeros(6, np.float16), np.zeros(6), rng.random(6) > 0.5


on_gpu = pytest.mark.skipif(not parpy.backend.is_enabled(CompileBackend.Cuda), reason="no GPU")


@on_gpu
@pytest.mark.gpu
def test_roundings_of_chosen_constants():
    got, want = numbers(), numbers()
    rounded(*got, opts=CompileOptions(backend=CompileBackend.Cuda))
    rounded(*want, seq=True)
    for array, expected in zip(got, want, strict=True):
        np.testing.assert_array_equal(array, expected)


@on_gpu
@pytest.mark.gpu
def test_roundings_by_version():
    cupy = pytest.importorskip("cupy")

    def right(text: str) -> bool:
        b, a, *_ = numbers()
        module = cupy.cuda.function.Module()
        module.load(nvrtc.cubin(text, f"sm_{cupy.cuda.Device().compute_capability}"))
        of_b, of_a = cupy.asarray(b), cupy.asarray(a)
        module.get_function("k")((1,), (1,), (of_b, of_a))
        expected = b.copy()
        for i in range(6):
            expected[i * 7] = 0.5 + (a[i // 2] < b[i * 7])
        return np.array_equal(cupy.asnumpy(of_b), expected)

    assert right(RECOMPUTED)
    assert right(ROUNDED) != (version() in MISTAKEN_ROUNDING), f"NVRTC {version()}"
