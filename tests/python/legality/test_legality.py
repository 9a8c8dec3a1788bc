"""Legality: verdicts on small loop nests, compared with the conflicts of a run; and the effects of mappings on them."""

from __future__ import annotations

import multiprocessing
import random
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import pytest

import parpy
from backends import TARGETS
from legality_cases import CASES, HELPERS
from nests import Nest, facts, nest_of, replay, trace

BLOCK = 250  # random nests in a row
LETTERS = {"proved": "P", "reduction": "R", "refuted": "X", "unknown": "U"}


def letter(found: dict[str, Any]) -> str:
    return "S" if found["scatters"] and found["verdict"] == "reduction" else LETTERS[found["verdict"]]


def check_against_truth(nest: Nest, found: list[dict[str, Any]]) -> None:
    truth = trace(nest)
    for number, loop in enumerate(found):
        conflicts = truth.conflicts(number)
        assert not (conflicts and loop["verdict"] == "proved"), f"loop {number} is not parallel"
        exact = [d for d in loop["dependences"] if d["exact"]]
        assert conflicts or not exact
        for dependence in exact:
            replay(truth, dependence["witness"])


def opts(number: int, **fields: Any) -> parpy.CompileOptions:
    backend = parpy.CompileBackend.Cpu
    return parpy.CompileOptions(parallelize={f"L{number}": parpy.threads(8)}, backend=backend, **fields)


def check_execution(nest: Nest, number: int, verdict: str) -> None:
    got, want = nest.copies(), nest.copies()
    if verdict == "X":
        with pytest.raises(parpy.ParallelError):
            nest.function(*got.values(), opts=opts(number))
    elif verdict == "U":
        with pytest.raises(parpy.ParallelError, match="P402"):
            nest.function(*got.values(), opts=opts(number, legality="strict"))
    else:
        nest.function(*got.values(), opts=opts(number))
        nest.function(*want.values(), seq=True)
    for name, value in want.items():
        np.testing.assert_allclose(got[name], value, rtol=1e-12, err_msg=name)


def all_cases() -> list[Any]:
    plain = [pytest.param(v, a, "", t, id=name) for name, (v, a, t) in CASES.items()]
    return plain + [pytest.param(v, a, h, t, id=name) for name, (v, a, h, t) in HELPERS.items()]


@pytest.mark.parametrize(("verdicts", "arguments", "helpers", "text"), all_cases())
def test_case(verdicts, arguments, helpers, text):
    nest = nest_of(arguments, text, helpers)
    found = facts(nest)
    assert "".join(map(letter, found)) == verdicts, [loop["reason"] for loop in found]
    check_against_truth(nest, found)
    for number, verdict in enumerate(verdicts):
        check_execution(nest, number, verdict)


def test_the_suite_is_large():
    assert len(CASES) + len(HELPERS) >= 120


# ---------------------------------------------------------------- values that keep changing


@parpy.jit
def shifted(a, d, n):
    parpy.label("L0")
    for i in range(n):
        a[i] = a[i + d] + 1


def shift_by(d: int, n: int, size: int = 64) -> None:
    got, want = np.arange(float(size)), np.arange(float(size))
    shifted(got, d, n, opts=opts(0))
    shifted(want, d, n, seq=True)
    np.testing.assert_array_equal(got, want)


def test_a_verdict_does_not_depend_on_earlier_calls():
    for round_ in range(2):
        for d in range(10, 18):
            shift_by(d, 10)
        with pytest.raises(parpy.ParallelError, match=r"iteration i=0 reads a\[9\], iteration i=9 writes a\[9\]"):
            shift_by(9, 10)
        shift_by(9, 9)
        shift_by(0, 20)
        with pytest.raises(IndexError, match=r"subscript 64 is out of bounds for axis 0 of 'a', whose size is 64"):
            shift_by(60, 10)
        with pytest.raises(parpy.ParallelError, match=r"iteration i=0 writes a\[0\], iteration i=1 reads a\[0\]"):
            shift_by(-1, 10)
        assert "d" in parpy.calls.jit.cache_info(shifted).run_time, round_
    compilations = parpy.calls.jit.cache_info(shifted).compilations
    for d in range(20, 40):
        shift_by(d, 10 + d % 3)
    assert parpy.calls.jit.cache_info(shifted).compilations <= compilations + 4


@parpy.jit
def filled(a, n):
    for i in range(n):
        a[i] = n


def test_trip_counts_at_run_time_stay_within_the_array():
    cpu = parpy.CompileOptions(backend=parpy.CompileBackend.Cpu)
    for n in range(12):
        filled(np.zeros(n + 1), n, opts=cpu)
    a = np.zeros(10)
    with pytest.raises(IndexError, match="in iteration i=10"):
        filled(a, 11, opts=cpu)
    assert not a.any()
    filled(a, 10, opts=cpu)
    assert (a == 10).all()


@parpy.jit
def picked(a, k):
    parpy.label("L0")
    for i in range(4):
        a[i] = a[i] + k


@parpy.jit
def flat_rows(a, n, m, ld):
    for i in range(n):
        for j in range(m):
            a[i * ld + j] += 1


@parpy.jit
def strided(a, n, step):
    for i in range(0, n, step):
        a[i] += 1


@parpy.jit
def ahead(a, n):
    for i in range(n):
        a[i] = a[i + 1]


def test_subscripts_that_are_not_linear_in_run_time_values_are_checked():
    cpu = parpy.CompileOptions(backend=parpy.CompileBackend.Cpu)
    for opts_ in (cpu, parpy.auto(backend=parpy.CompileBackend.Cpu)):
        for k in range(6):
            flat_rows(np.zeros(3000), 20 + k, 10 + k, 12 + k, opts=opts_)
            strided(np.zeros(100), 100 - k, 1 + k, opts=opts_)
            ahead(np.zeros(30 + k), 20 + k, opts=opts_)
        memory = np.zeros(400)
        for function, arguments in [(flat_rows, (12, 10, 10)), (strided, (200, 1)), (ahead, (2**48,)), (ahead, (100,))]:
            with pytest.raises(IndexError):
                function(memory[:100], *arguments, opts=opts_)
            assert not memory.any()


def test_huge_scalars_are_not_run_time_values():
    for k in [1, 2, 3, 4, 5, 2**62, -(2**62), 2**48, 6]:
        a = np.zeros(4, np.int64)
        picked(a, k, opts=opts(0))
        assert (a == k).all()


@parpy.jit
def copied(a, b, n):
    parpy.label("L0")
    for i in range(n):
        a[i] = b[i]


def test_how_arguments_overlap_is_found_per_call():
    x = np.arange(40.0)
    for n in range(1, 9):
        copied(x[20:], x[:20], n, opts=opts(0))
        copied(x[n:], x, n, opts=opts(0))
        copied(x, x[n:], n, opts=opts(0))
        copied(x, x, n, opts=opts(0))
        if n > 1:
            with pytest.raises(parpy.ParallelError, match="which is the same memory"):
                copied(x[1:], x, n, opts=opts(0))


@parpy.jit
def read_twice(a, b, out, n):
    parpy.label("L0")
    for i in range(n):
        out[i] = a[i] + b[i]


def test_arrays_that_are_only_read_may_overlap():
    x = np.arange(40.0)
    for n in range(3, 20):
        out = np.zeros(n)
        read_twice(x[1:], x, out, n, opts=opts(0))
        np.testing.assert_array_equal(out, x[1 : n + 1] + x[:n])
    assert parpy.calls.jit.cache_info(read_twice).compilations < 8


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("text", "arguments", "verdicts"),
    [
        ("for i in range(n):\n    a[0] = i", {"a": (4,), "n": 0}, ""),  # the loop disappears
        ("for i in range(n):\n    a[0] = i", {"a": (4,), "n": 1}, "P"),
        ("for i in range(n):\n    a[i % 4] = i", {"a": (4,), "n": 2**40}, "X"),
        ("for i in range(n):\n    a[i * m] = i", {"a": (4,), "n": 1, "m": 2**62}, "P"),
        ("for i in range(n):\n    if a[i] > 9:\n        a[i * m] = i", {"a": (4,), "n": 4, "m": 2**62}, "P"),
        ("for i in range(n, n + 3):\n    a[i - n] = i", {"a": (4,), "n": 2**62}, "P"),
        ("for i in range(0, n, m):\n    a[i] = i", {"a": (4,), "n": 4, "m": 2**62}, "P"),
    ],
)
def test_extreme_values(text, arguments, verdicts):
    nest = nest_of(arguments, text)
    assert "".join(map(letter, facts(nest))) == verdicts


BEYOND = [  # for i in range(n)
    "a[i * k] = i",
    "a[i * 4611686018427387904] = i",
    "a[3 * i * k] = i",
    "a[4 * i * k] = i",
    "a[(i + 4) * k * 2] = i",
    "a[i * k * k] = i",
    "a[-i * k] = i",
    "a[(i - 1) * k] = i",
    "a[(i - 1) * 3 * k] = i",
    "a[i * k - 4 * k] = i",
    "a[i * k + 4 * k - (i + 4) * k] = i",
    "a[i << 62] = i",
    "a[i] = a[i * k]",
    "a[i * k] += 1",
    "j = i * k\n    a[j + 1] = i",
    "j = i\n    j += i * k\n    a[j] = i",
    "j = i\n    j *= k\n    a[j] = i",
    "if i > 0:\n        a[i * k] = i",
]


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("body", BEYOND)
def test_subscripts_beyond_64_bits_are_out_of_bounds(body, backend):
    nest = Nest(f"for i in range(n):\n    {body}", {"a": None, "n": None, "k": None})
    automatic = parpy.auto(backend=parpy.CompileBackend(backend))
    wrong = 0
    calls = [(0, 2**62), (1, 2**62), (3, 2**62), (3, 2), (5, -(2**61))]
    if "-" not in body:
        calls += [(4, np.uint64(2**63)), (4, np.uint64(2**64 - 3))]
    for n, k in calls:
        got, want = np.full(8, 100.0), np.full(8, 100.0)
        try:
            with np.errstate(over="ignore"):
                nest.function.__wrapped__(want, n, k)
        except (IndexError, OverflowError):
            wrong += 1
            with pytest.raises(IndexError, match="out of bounds for axis 0 of 'a', whose size is 8"):
                nest.function(got, n, k, opts=automatic)
            assert (got == 100).all()
        else:
            nest.function(got, n, k, opts=automatic)
            np.testing.assert_array_equal(got, want)
    assert wrong or body == BEYOND[10]


@parpy.jit
def wrapped_to_zero(a, k, n):
    parpy.label("L0")
    for i in range(n):
        for _ in range(k[i]):
            p = np.int64(np.uint64(i) * np.uint64(2**63) * np.uint64(2))
            a[p] = a[p] + 1.0


@parpy.jit
def wrapped_to_counter(a, n):
    for i in range(n):
        j = np.uint64(i) * np.uint64(3) * np.uint64(0xAAAAAAAAAAAAAAAB)
        a[j] = i


@parpy.jit
def wrapped_beyond(a, n):
    for i in range(n):
        a[np.uint64(i) * np.uint64(2**61)] = i


def test_unsigned_subscripts_wrap_around():
    a = np.zeros(4)
    wrapped_to_zero(a, np.ones(20000, np.int64), 20000)
    assert a.tolist() == [20000, 0, 0, 0]
    a = np.zeros(8)
    wrapped_to_counter(a, 8)
    assert a.tolist() == list(range(8))
    with pytest.raises(IndexError, match="out of bounds for axis 0 of 'a'"):
        wrapped_beyond(a, 3)
    assert a.tolist() == list(range(8))


@pytest.mark.clock
def test_the_analysis_gives_up_in_time():
    terms = [f"a[{' + '.join(f'{(7 * k + n) % 5 - 2} * {v}' for n, v in enumerate('ijkl'))} + 60]" for k in range(40)]
    loops = [f"{'    ' * n}for {v} in range({n + 3}):" for n, v in enumerate("ijkl")]
    body = [f"                {terms[k]} = {terms[(k + 1) % 40]}" for k in range(40)]
    nest = nest_of({"a": (200,)}, "\n".join(loops + body))
    own = parpy.CompileOptions(parallelize={"L0": parpy.threads(4)}, backend=parpy.CompileBackend.Cpu)
    seconds = parpy._native.pass_seconds(nest.function, tuple(nest.copies().values()), own)
    assert seconds["check-legality"] < 2  # 0.25 s on an idle machine


# ---------------------------------------------------------------- random affine nests


def random_nest(seed: int) -> Nest:
    """Up to three loops, not always rectangular, and a few statements on two arrays; every subscript in bounds."""
    rng = random.Random(seed)
    depth = rng.randint(1, 3)
    names = "ijk"[:depth]
    lines, bounds = [], {}
    for level, name in enumerate(names):
        pad = "    " * level
        low, trips, step = rng.randint(-2, 3), rng.randint(1, 5), rng.choice([1, 1, 1, 2, -1, 3, -2])
        outer = rng.choice(names[:level]) if level and rng.random() < 0.3 else None
        begin, end = (low, low + trips * step) if step > 0 else (low + trips * -step, low)
        if outer:
            begin_text, end_text = (
                (f"{outer} + {begin}", f"{end + 6}") if step > 0 else (f"{begin + 6}", f"{outer} + {end}")
            )
            bounds[name] = (-10, 16)
        else:
            begin_text, end_text = str(begin), str(end)
            bounds[name] = (min(begin, end), max(begin, end))
        lines.append(f"{pad}for {name} in range({begin_text}, {end_text}, {step}):")
    pad = "    " * depth

    def subscript() -> str:
        terms = [f"{rng.choice([1, 1, 1, -1, 2, 3])} * {n}" for n in names if rng.random() < 0.6]
        text = " + ".join(terms) or "0"
        if rng.random() < 0.2:
            text = f"({text}) {rng.choice(['//', '%'])} {rng.choice([2, 3, 4])}"
        return f"{text} + {rng.randint(100, 103)}"

    def element() -> str:
        return f"a[{subscript()}]" if rng.random() < 0.5 else f"b[{subscript()}, {subscript()}]"

    def condition() -> str:
        x, y = rng.choice(names), rng.choice([*names, "2", "1"])
        return rng.choice([f"{x} < {y}", f"{x} >= {y}", f"{x} != {y}", f"({x} + {y}) % 2 == 0", f"{x} == 1 or {y} > 2"])

    for _ in range(rng.randint(1, 3)):
        statement = f"{element()} {rng.choice(['=', '=', '+='])} {element()} + {element()}"
        if rng.random() < 0.3:
            lines.append(f"{pad}if {condition()}:")
            statement = "    " + statement
        lines.append(pad + statement)
    return Nest("\n".join(lines), {"a": np.ones(230), "b": np.ones((230, 230))})


def nest_of_digits(seed: int) -> Nest:
    """A nest that splits a counter by quotients and remainders, inside or around another loop."""
    rng = random.Random(seed)
    d, e = rng.randint(2, 4), rng.randint(2, 3)
    loops = [f"for c in range({rng.choice([d * e * 2, d * e * 2, 7, 1])}):", f"for j in range({rng.randint(1, 4)}):"]
    rng.shuffle(loops)
    digits = [f"q = c // {d * e}", f"r = c % {d * e}", f"s = r // {e}", f"t = r % {e}"]

    def subscript() -> str:
        names = rng.sample(["q", "r", "s", "t", "c", "j"], rng.randint(1, 5))
        factors = [1, 1, 2, 3, d, e, d * e, 12, -1, -e]
        return " + ".join(f"{rng.choice(factors)} * {name}" for name in names) + f" + {rng.randint(140, 142)}"

    element = (lambda: f"a[{subscript()}]") if rng.random() < 0.6 else (lambda: f"b[{subscript()}, {subscript()}]")
    statement = f"{element()} {rng.choice(['=', '+='])} 2.0"
    if rng.random() < 0.3:
        statement = f"{element()} = {element()}"
    lines = [loops[0], "    " + loops[1], *("        " + line for line in [*digits, statement])]
    return Nest("\n".join(lines), {"a": np.ones(700), "b": np.ones((600, 600))})


def check_random(seed: int, make: Callable[[int], Nest] = random_nest) -> None:
    nest = make(seed)
    found = facts(nest)
    truth = trace(nest)
    for number, loop in enumerate(found):
        conflicts = truth.conflicts(number)
        right = {"proved"} if not conflicts else {"refuted", "reduction"}
        assert loop["verdict"] in right, f"seed {seed}, loop {number}: {loop['verdict']}\n{nest.body}"
        for dependence in loop["dependences"]:
            assert dependence["exact"], nest.body
            replay(truth, dependence["witness"])


def check_random_mapped(seed: int, target: str) -> None:
    """Checks mappings by hand, of all loops that may run in parallel or of one of them, and the automatic mapping."""
    nest = random_nest(seed)
    legal = [number for number, loop in enumerate(facts(nest)) if loop["verdict"] != "refuted"]
    chosen = [random.Random(seed).choice(legal)] if legal and seed % 2 else legal
    rest = {} if target == "cpu" else {"gpu": parpy.threads(1)}
    mapping = {f"L{number}": parpy.threads(8) for number in chosen} | rest
    backend = parpy.CompileBackend(target)
    by_hand = parpy.CompileOptions(parallelize=mapping, backend=backend)
    want = nest.copies()
    nest.function(*want.values(), seq=True)
    for mapped in [by_hand, parpy.auto(backend=backend)] if chosen else [parpy.auto(backend=backend)]:
        got = nest.copies()
        nest.function(*got.values(), opts=mapped)
        for name, value in want.items():
            np.testing.assert_array_equal(got[name], value, err_msg=f"seed {seed} on {target}\n{nest.body}")


@pytest.mark.parametrize("block", range(10))
def test_random_affine_nests(block):
    for seed in range(30 * block, 30 * block + 30):
        check_random(seed)


@pytest.mark.parametrize("block", range(10))
def test_random_digits_of_a_counter(block):
    for seed in range(30 * block, 30 * block + 30):
        check_random(seed, nest_of_digits)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("block", range(4))
def test_random_affine_nests_run_right(block, target):
    for seed in range(2000 + 20 * block, 2020 + 20 * block):
        check_random_mapped(seed, target)


def check_block(first: int, targets: tuple[str, ...]) -> int:
    for seed in range(first, first + BLOCK):
        check_random(seed)
        for target in targets:
            check_random_mapped(seed, target)
    return BLOCK


def main(count: int = 10_000, *targets: str) -> None:
    """Checks the verdicts of `count` random nests and, for each named back end, their results. Uses all cores."""
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
        blocks = [pool.submit(check_block, first, targets) for first in range(0, count, BLOCK)]
        for number, block in enumerate(blocks, 1):
            block.result()
            print(f"{number * BLOCK} nests agree", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:])


# ---------------------------------------------------------------- whatever calls came before


TEXTS = {
    "store": "a[i * ld + j] = b[i * ld + j]",
    "read and store": "a[i * ld + j] = a[i * ld + j] + 1",
    "update": "a[i * ld + j] += 1",
}


def outcome(nest: Nest, values: tuple[int, ...], options: parpy.CompileOptions) -> str:
    try:
        nest.function(np.zeros(100), np.zeros(100), *values, opts=options)
    except parpy.ParallelError as error:
        return str(error).split("\n")[0].split("error")[1]
    return "accepted"


@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("legality", ["check", "strict"])
@pytest.mark.parametrize("loop", ["L0", "L1"])
@pytest.mark.parametrize("text", TEXTS)
def test_verdicts_of_products_of_arguments(text, loop, legality, deterministic):
    body = f"for i in range(n):\n    for j in range(m):\n        {TEXTS[text]}"
    names = {"a": (100,), "b": (100,), "n": 1, "m": 1, "ld": 1}
    options = parpy.CompileOptions(
        backend=parpy.CompileBackend.Cpu,
        legality=legality,
        deterministic=deterministic,
        parallelize={loop: parpy.threads(8)},
    )
    rng = random.Random(f"{text} {loop}")
    used = nest_of(names, body)
    for call in [(4, 5, 5), (4, 5, 4), (4, 5, 6), (1, 5, 0), (4, 1, 1), (6, 3, 3)] + [
        tuple(rng.randint(0, 6) for _ in range(3)) for _ in range(10)
    ]:
        assert outcome(used, call, options) == outcome(nest_of(names, body), call, options), call


@parpy.jit
def set_in_some_calls(a, k, n):
    s = 0.0
    parpy.label("L0")
    for i in range(n):
        if k > 0:
            s = a[i]
        a[i] = s + 1


def test_a_scalar_that_some_values_make_private():
    for k in [*range(1, 12), 0, *range(20, 60)]:
        got, want = np.arange(8.0), np.arange(8.0)
        set_in_some_calls(got, k, 8, opts=opts(0))
        set_in_some_calls(want, k, 8, seq=True)
        np.testing.assert_array_equal(got, want)
    assert parpy.calls.jit.cache_info(set_in_some_calls).compilations < 30


def test_loops_of_one_name_are_told_apart():
    @parpy.jit
    def twice(a, n):
        parpy.label("outer")
        for i in range(n):
            for i in range(n):
                a[i] = a[i - 1] + 1

    options = parpy.CompileOptions(backend=parpy.CompileBackend.Cpu, parallelize={"outer": parpy.threads(8)})
    with pytest.raises(parpy.ParallelError) as caught:
        twice(np.zeros(9), 8, opts=options)
    outer = twice.__wrapped__.__code__.co_firstlineno + 3 if hasattr(twice, "__wrapped__") else None
    assert "iteration i@" in str(caught.value)
    if outer is not None:
        assert f"iteration i@{outer}=0, i@{outer + 1}=0 writes a[0]" in str(caught.value)
