"""Names that mean different parts of one array after branches and loops, in loops and in kernels, against Python."""

from __future__ import annotations

import linecache
import random

import numpy as np
import pytest

import parpy
from backends import BACKENDS, run
from parpy import cuda


def rows(x, out):
    parpy.label("N")
    for i in range(x.shape[0]):
        row = x[i] if x[i, 0] > 0.5 else x[(i + 1) % x.shape[0]]
        if x[i, 1] > 0.5:
            row = x[i - 1]
        out[i] = row[2] + row[-1]


def stored(x, out):
    parpy.label("N")
    for i in range(x.shape[0]):
        part = x[i, 2:4]
        if i % 2 == 0:
            part = x[i, i % 3 :]
        part[0] = i
        part[-1] += len(part)
        out[i] = part.sum()


def narrowed(x, out):
    parpy.label("N")
    for i in range(x.shape[0]):
        part = x[i]
        while len(part) > 2:
            part = part[1:] if part[0] > part[-1] else part[:-1]
        out[i] = part[0] * 10 + part[-1]


def other_steps(x, out):
    parpy.label("N")
    for i in range(x.shape[0]):
        part = x[i]
        if x[i, 0] > 0.5:
            part = x[i, ::-2]
        out[i] = part[0] + part[1]


@parpy.jit
def total(v):
    s = 0.0
    for k in range(len(v)):
        s += v[k]
    return s


def shapes(x, out):
    parpy.label("N")
    for i in range(x.shape[0]):
        (n,) = x[i, 1:].shape
        out[i] = len(x[i]) + 10 * x[i].ndim + 100 * x[i, ::2].shape[0] + 1000 * x[1:, 2:].size + n
        if x[i, 0] > 0.3 and total(x[i, 2:]) > total(x[i, :2]) > 0.1:
            out[i] = -1.0


@pytest.mark.parametrize("mapping", [{}, {"N": 8}], ids=["host", "parallel"])
@pytest.mark.parametrize("function", [rows, stored, narrowed, other_steps, shapes], ids=lambda f: f.__name__)
@pytest.mark.parametrize("backend", BACKENDS)
def test_in_loops(backend, function, mapping):
    rng = np.random.default_rng(3)
    x, out = rng.random((8, 6)), np.zeros(8)
    want, want_out = x.copy(), out.copy()
    function(want, want_out)
    run(backend, parpy.jit(function), (x, out), mapping)
    np.testing.assert_allclose(x, want)
    np.testing.assert_allclose(out, want_out)


def random_program(seed: int) -> str:
    """Statements that name parts of two arrays, and store under the names."""
    dice = random.Random(seed)
    lines = ["def f(x, y, n):", "    r, s, t = x[1:], x[0:9], y"]

    def part(other: str) -> str:
        low, step = dice.randint(-3, 4), dice.choice([1, 1, 2, -1])
        return dice.choice([other, f"{other}[{low}:]", f"{other}[i % 4 : {dice.choice(['n', '7', '-1'])}]",
                            f"{other}[::{step}]", f"{other}[: len({other}) // 2]", f"{other}[n:]"])  # fmt: skip

    def block(indent: int, depth: int) -> None:
        for _ in range(dice.randint(1, 4)):
            name, other = dice.choice(
                [("r", "x"), ("r", "s"), ("s", "r"), ("s", "s"), ("t", "y"), ("t", "t"), ("r", "r")]
            )
            kind = dice.choice(["name", "name", "choice", "store", "store", "for", "if"])
            head, inner = "    " * indent, "    " * (indent + 1)
            if kind == "name":
                lines.append(f"{head}{name} = {part(other)}")
            elif kind == "choice":
                lines.append(f"{head}{name} = {part(other)} if len({other}) > {dice.randint(0, 8)} else {part(other)}")
            elif kind == "store":
                lines.extend(
                    [
                        f"{head}if len({name}) > 0:",
                        f"{inner}{name}[{dice.choice(['0', '-1', f'i % len({name})'])}] += 1",
                    ]
                )
            elif depth < 3:
                lines.append(
                    f"{head}for i in range(i + 1):" if kind == "for" else f"{head}if i % 2 == {dice.randint(0, 1)}:"
                )
                lines.append(f"{inner}y[0] += 1")
                block(indent + 1, depth + 1)

    lines.append("    i = n")
    block(1, 0)
    lines.append("    y[1] += len(r) + 100 * len(s) + 10000 * len(t)")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("language", ["loops", "kernels"])
@pytest.mark.parametrize("first", range(0, 200, 50))
def test_random_programs(first, language):
    accepted, cuda.sim.enabled = 0, True
    try:
        for seed in range(first, first + 50):
            text, file = random_program(seed), f"<parts {seed} of {language}>"
            linecache.cache[file] = (len(text), None, text.splitlines(True), file)
            space: dict = {}
            exec(compile(text, file, "exec"), space)
            compiled = parpy.jit(space["f"]) if language == "loops" else cuda.jit(space["f"])[1, 1]
            for n in (0, 1, 3, 12):
                want = np.arange(10.0), np.arange(6.0)
                got = np.arange(10.0), np.arange(6.0)
                try:
                    compiled(*got, n)
                except parpy.CompileError:
                    break  # refused
                accepted += 1
                space["f"](*want, n)
                for a, b in zip(got, want, strict=True):
                    np.testing.assert_array_equal(a, b, err_msg=text)
    finally:
        cuda.sim.enabled = False
    assert accepted > 100
