"""Legality: verdicts on small loop nests, compared with what running them shows; and what a mapping may do with them."""

from __future__ import annotations

import random
import re
import sys
from typing import Any

import numpy as np
import pytest

import parpy
from legality import Nest, facts, replay, trace
from legality_cases import CASES, HELPERS

LETTERS = {"proved": "P", "reduction": "R", "refuted": "X", "unknown": "U"}


def nest_of(arguments: dict[str, Any], text: str, helpers: str = "") -> Nest:
    rng = np.random.default_rng(1)
    values = {
        name: rng.uniform(0.5, 2, value) if isinstance(value, tuple) else value for name, value in arguments.items()
    }
    return Nest(text, values, helpers)


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
    if verdict in "XS":
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
            begin_text, end_text = (f"{outer} + {begin}", f"{end + 6}") if step > 0 else (f"{begin + 6}", f"{outer} + {end}")
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


def check_random(seed: int) -> None:
    nest = random_nest(seed)
    found = facts(nest)
    truth = trace(nest)
    for number, loop in enumerate(found):
        conflicts = truth.conflicts(number)
        right = {"proved"} if not conflicts else {"refuted", "reduction"}
        assert loop["verdict"] in right, f"seed {seed}, loop {number}: {loop['verdict']}\n{nest.body}"
        for dependence in loop["dependences"]:
            assert dependence["exact"], nest.body
            replay(truth, dependence["witness"])


@pytest.mark.parametrize("block", range(10))
def test_random_affine_nests(block):
    for seed in range(30 * block, 30 * block + 30):
        check_random(seed)


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    for number in range(count):
        check_random(number)
        if number % 500 == 499:
            print(f"{number + 1} nests agree", flush=True)
