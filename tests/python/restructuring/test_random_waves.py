"""Random nests that depend on themselves in random directions, run as waves, with the bits of plain Python."""

from __future__ import annotations

import random
import re
import warnings

import numpy as np
import pytest

import parpy
from backends import copies
from fresh_functions import plain_function

MARGIN = 4  # of the arrays around the iterations
LARGEST = 9  # iterations of a loop
SIM = parpy.CompileBackend.Sim
PER_TEST = 12


class Nest:
    """A nest of two or three loops around statements that read elements at a distance of up to two from their own."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        pick = self.random.choice
        loops = pick((2, 2, 2, 3, 3))
        self.rank = pick((loops, loops, loops, max(1, loops - 1)))
        self.variables = [f"i{number}" for number in range(loops)]
        self.subscripts = pick((self.variables[loops - self.rank :], self.random.sample(self.variables, self.rank)))
        self.dtype = pick(("f8", "f4", "i4", "i8"))
        lines = ["def f(A, B, C, n, m):"]
        for number, variable in enumerate(self.variables):
            indent = "    " * (number + 1)
            lines += [f"{indent}parpy.label('{variable}')", f"{indent}for {variable} in range({self.range_(number)}):"]
        indent = "    " * (loops + 1)
        for number in range(pick((1, 1, 2))):
            lines += [indent + line for line in self.statement(number)]
        self.text = "\n".join(lines) + "\n"
        self.function = plain_function(self.text, f"random_waves_{seed}.py", parpy=parpy)

    def range_(self, number: int) -> str:
        pick = self.random.choice
        begin, size = pick(("0", "0", "1", "-1", "2")), pick(("n", "m", "n", "m", pick("013678")))
        end = pick((size, size, f"{size} - 1"))
        if number > 0 and self.random.random() < 0.35:
            other = pick(self.variables[:number])
            begin, end = pick(
                (
                    (other, end),
                    (f"{other} + 1", end),
                    (begin, other),
                    (begin, f"min({end}, {other} + 2)"),
                    (f"max({begin}, {other} - 1)", end),
                )
            )
        return f"{end} - 1, {begin} - 1, -1" if self.random.random() < 0.3 else f"{begin}, {end}"

    def element(self, array: str, offsets: list[int]) -> str:
        places = zip(self.subscripts, offsets, strict=True)
        return f"{array}[{', '.join(f'{variable} + {MARGIN + offset}' for variable, offset in places)}]"

    def near(self, array: str, reach: int = 2) -> str:
        return self.element(array, [self.random.randint(-reach, reach) for _ in self.subscripts])

    def statement(self, number: int) -> list[str]:
        pick = self.random.choice
        target = pick("AAB")
        own = self.element(target, [0] * self.rank)
        reads = [self.near(pick("ABC")) for _ in range(self.random.randint(0, 3))]
        for axis in range(self.rank):  # in every direction, so that each loop carries a dependence
            offsets = [pick((0, 0, 1, -1)) for _ in self.subscripts]
            offsets[axis] = pick((1, -1, -2))
            reads.append(self.element(target, offsets))
        value = pick((" + ".join(reads), f"max({', '.join([*reads, '1'])})", f"min({reads[0]}, {own}) + {reads[-1]}"))
        value = pick((f"({value}) % 97", value, value))
        place = pick((own, own, self.near(target)))
        variable = pick(self.variables)
        return pick(
            (
                [f"{place} = {value}"],
                [f"{place} = {value}"],
                [f"p{number} = {value}", f"{place} = p{number} - 1"],
                [f"if {variable} % 2 == 0:", f"    {own} = {value}"],
                [f"for q in range({variable}):", f"    {own} = max({own}, {value})"],
            )
        )

    def arguments(self) -> tuple[np.ndarray | int, ...]:
        rng = np.random.default_rng(self.random.randrange(10**9))
        shape = (LARGEST + 2 * MARGIN + 3,) * self.rank
        arrays = [rng.integers(-50, 50, shape).astype(self.dtype) for _ in "ABC"]
        sizes = [self.random.choice((0, 1, 2, 3, 6, 7, 7, 8, 8, 8, 9, 9, 9)) for _ in "nm"]
        return (*arrays, *sizes)


def loops_of_waves(explanation: parpy.explain) -> list[str]:
    """The variables of the loops whose iterations in a wave are independent; empty without waves."""
    found = re.search(r"waves: iterations with the same (.*?) are independent", " ".join(str(explanation).split()))
    terms = re.findall(r"(\d\*)?(\w+)", found.group(1)) if found else []
    replaced = [name for factor, name in terms if not factor][-1:]
    return [name for _, name in terms if name not in replaced]


@pytest.mark.parametrize("first", range(0, 10 * PER_TEST, PER_TEST))
def test_random_nests(first, monkeypatch):
    monkeypatch.setenv("PARPY_WAVES", "2")
    waves = 0
    for seed in range(first, first + PER_TEST):
        nest = Nest(seed)
        given = nest.arguments()
        want = copies(given)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            nest.function(*want)

        def check(got, way, nest=nest, want=want):
            for a, b in zip(want[:3], got[:3], strict=True):
                np.testing.assert_array_equal(a, b, f"{way}\n{nest.text}")

        got = copies(given)
        parpy.calls.jit.interpret(nest.function, got, parpy.auto(backend=SIM), "collapse-loops")
        check(got, "interpreted")
        got = copies(given)
        parpy.jit(nest.function)(*got, opts=parpy.auto(backend=SIM))
        check(got, "mapped by the automatic mode")
        independent = loops_of_waves(
            parpy.explain(parpy.jit(nest.function), *copies(given), opts=parpy.auto(backend=SIM))
        )
        if not independent:
            continue
        waves += 1
        # Legality judges the loops in the waves like any loops that are mapped by hand.
        loops = {name: parpy.threads(32) for name in independent if name != "q"}
        opts = parpy.CompileOptions(parallelize=loops, backend=SIM, restructure=True, legality="strict")
        got = copies(given)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", parpy.PerformanceWarning)
            parpy.jit(nest.function)(*got, opts=opts)
        check(got, f"mapped by hand: {loops}")
    assert waves >= 2
