"""Random nests that add products to sums, most of them contractions: loops in any order, factors under any subscripts
and in any memory, triangles, ranges side by side, statements before and after the steps.

`case(seed)` gives the same case for the same seed. Values are random floats, so that another order or rounding of sums
changes the bits. If sizes are arguments, a case has calls with several sizes, until the sizes are not constants of the
program any more.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from nests import Nest

SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 11, 12, 13, 15, 16, 17, 23, 24, 25, 31, 33, 47, 48, 49)
STEPS = (0, 1, 2, 7, 8, 9, 15, 16, 31, 32, 33, 40)
LONG = (319, 320, 321, 511, 512, 513, 640, 700)
# The sizes of tiles on a GPU.
LARGE_SIZES = (16, 31, 32, 33, 47, 48, 63, 64, 65, 66, 80, 96, 97, 127, 128, 129)
LARGE_STEPS = (16, 17, 31, 32, 33, 47, 64, 65, 100, 130)
LAYOUTS = ("C", "C", "C", "F", "steps", "reversed", "offset")


@dataclass(frozen=True)
class Case:
    seed: int
    text: str
    calls: tuple[Mapping[str, Any], ...]

    def nest(self) -> Nest:
        return Nest(self.text, self.calls[0])


class _Writer:
    def __init__(self, seed: int, special: bool, large: bool) -> None:
        self.seed = seed
        self.rng = random.Random(seed)
        self.large = large
        self.special = special  # puts infinities and NaNs among the values
        self.type = self.rng.choice([np.float64, np.float64, np.float32])
        self.arrays: dict[str, tuple[tuple[str, ...], str]] = {}
        self.symbolic = self.chance(0.4)
        self.alpha = False

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    # ---- sizes and memory: names of sizes are `rows`, `columns`, `steps`, `batch` and `most`

    def sizes(self) -> dict[str, int]:
        rng = self.rng
        if self.large:
            few = self.symbolic and self.chance(0.3)  # too few for a program of these sizes alone
            rows, columns = rng.choice(SIZES if few else LARGE_SIZES), rng.choice(LARGE_SIZES)
            return {"rows": rows, "columns": columns, "steps": rng.choice(STEPS if few else LARGE_STEPS), "batch": 2}
        rows, columns, steps = rng.choice(SIZES), rng.choice(SIZES), rng.choice(STEPS)
        if self.chance(0.12):
            rows, columns, steps = rng.choice(SIZES[:12]), rng.choice(SIZES[:12]), rng.choice(LONG)
        return {"rows": rows, "columns": columns, "steps": steps, "batch": rng.choice([2, 3])}

    def settled(self, sizes: dict[str, int]) -> dict[str, int]:
        if self.triangle:
            sizes["columns"] = sizes["rows"]
        if self.long_enough:
            sizes["steps"] = max(sizes["steps"], sizes["rows"] + 1)
        sizes["most"] = max(sizes["steps"], sizes["rows"])
        return sizes

    def array(self, name: str, *shape: str) -> str:
        """Adds an argument of this shape, in memory of any layout, unless the name exists; returns the name."""
        self.arrays.setdefault(name, (shape, self.rng.choice(LAYOUTS)))
        return name

    def arguments(self, sizes: dict[str, int], data: np.random.Generator) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for name, (shape, layout) in self.arrays.items():
            extents = [eval(extent, {}, dict(sizes)) for extent in shape]
            values = data.uniform(-1, 1, extents).astype(self.type)
            if self.special and name in ("a", "b") and values.size:
                values.flat[data.integers(0, values.size, 2)] = data.choice([np.inf, -np.inf, np.nan], 2)
            result[name] = _laid_out(values, layout)
        if self.alpha:
            result["alpha"] = 1.5
        if self.symbolic:
            result |= {name: sizes[name] for name in ("rows", "columns", "steps", "batch")}
        return result

    # ---- the nest

    def case(self) -> Case:
        rng = self.rng
        first = self.sizes()
        self.batch = self.chance(0.2)
        form = rng.choice(["scalar", "scalar", "zeroed", "updated", "rows", "rows", "outer"])
        self.triangle = rng.choice(["", "", "", "lower", "upper"]) if form != "outer" else ""
        self.long_enough = False
        span = self.steps_of(form)
        head = ["for g in range(batch):"] if self.batch else []
        of_columns = {"": "range(columns)", "lower": "range(i + 1)", "upper": "range(i, columns)"}[self.triangle]
        target = "c[g, i, j]" if self.batch else "c[i, j]"
        self.array("c", *(["batch"] if self.batch else []), "rows", "columns")
        body = self.nest_of(form, target, of_columns, span, self.factors(), rng.choice("++-"))
        text = "\n".join(head + ["    " * len(head) + line for line in body])
        data = np.random.default_rng(self.seed)
        if not self.symbolic:
            sizes = self.settled(first)
            for name, value in sizes.items():
                text = _replaced(text, name, str(value))
            return Case(self.seed, text, (self.arguments(sizes, data),))
        calls = [self.arguments(self.settled(sizes), data) for sizes in [first] + [self.sizes() for _ in range(3)]]
        return Case(self.seed, text, tuple(calls))

    def steps_of(self, form: str) -> list[str]:
        """The ranges of the loops over steps, one after the other."""
        kind = self.rng.choice(["all", "all", "all", "two", "below", "above", "band"])
        if form == "outer" or kind == "all":
            return ["range(steps)"]
        if kind == "two" and self.chance(0.5):
            return ["range(steps // 3)", "range(steps // 3, steps)"]
        self.long_enough = True
        if kind == "two":
            return ["range(i + 1)", "range(i + 1, steps)"]
        if kind == "below":
            return ["range(i)"] if self.chance(0.5) else ["range(i + 1)"]
        if kind == "above":
            return ["range(i + 1, steps)"] if self.chance(0.5) else ["range(i, steps)"]
        return ["range(max(i - 2, 0), min(i + 3, steps))"]

    def factors(self) -> list[tuple[str, str]]:
        return [(self.left("a"), self.right("b"))] + ([(self.left("d"), self.right("e"))] if self.chance(0.2) else [])

    def left(self, name: str) -> str:
        rng = self.rng
        if self.batch and self.chance(0.7):
            element = f"{self.array(name, 'batch', 'rows', 'most')}[g, i, k]"
        elif self.chance(0.3):
            element = f"{self.array(name, 'most', 'rows')}[k, i]"
        elif self.chance(0.15):
            element = f"{self.array(name, 'rows + most')}[i + k]"
        elif self.chance(0.15):
            element = f"{self.array(name, 'rows', '2 * most + 1')}[i, 2 * k + 1]"
        else:
            element = f"{self.array(name, 'rows', 'most')}[i, k]"
        if self.chance(0.3):
            self.alpha = True
            element = rng.choice([f"(alpha * {element})", f"({element} * alpha)"])
        elif self.chance(0.2):
            element = f"({element} - {self.array('mean', 'rows')}[i])"
        elif self.chance(0.1):
            element = f"(-{element})"
        return element

    def right(self, name: str) -> str:
        if self.batch and self.chance(0.4):
            return f"{self.array(name, 'batch', 'most', 'columns')}[g, k, j]"
        if self.chance(0.35):
            return f"{self.array(name, 'columns', 'most')}[j, k]"
        if self.chance(0.1):
            return f"{self.array(name, 'columns + most')}[j + k]"
        element = f"{self.array(name, 'most', 'columns')}[k, j]"
        return f"abs({element})" if self.chance(0.1) else element

    def added(self, target: str, factors: list[tuple[str, str]], sign: str) -> list[str]:
        products = [f"{b} * {a}" if self.chance(0.2) else f"{a} * {b}" for a, b in factors]
        if len(products) > 1 and self.chance(0.5):
            return [f"{target} {sign}= {' + '.join(products)}"]
        return [f"{target} {sign}= {product}" for product in products]

    def nest_of(
        self, form: str, target: str, columns: str, span: list[str], factors: list[tuple[str, str]], sign: str
    ) -> list[str]:
        rng = self.rng
        if form == "outer":
            inner = [("i", "range(rows)"), ("j", columns), ("k", span[0])]
            rng.shuffle(inner)
            lines = [f"{'    ' * n}for {v} in {r}:" for n, (v, r) in enumerate(inner)]
            return lines + ["            " + line for line in self.added(target, factors, sign)]
        if form == "rows":
            lines = ["for i in range(rows):"]
            if self.chance(0.5):
                begin = rng.choice([f"{target} *= 0.5", f"{target} = 0.0"])
                lines += [f"    for j in {columns}:", f"        {begin}"]
            for steps in span:
                lines += [f"    for k in {steps}:", f"        for j in {columns}:"]
                lines += ["            " + line for line in self.added(target, factors, sign)]
            if self.chance(0.3):
                lines += [f"    for j in {columns}:", f"        {target} = max({target}, 0.0)"]
            return lines
        lines = ["for i in range(rows):", f"    for j in {columns}:"]
        if not self.triangle and self.chance(0.15):
            lines = [f"for j in {columns}:", "    for i in range(rows):"]
        sum_of = target
        if form == "scalar":
            sum_of = "t"
            begin = rng.choice(["0.0", "0.0", target, f"{self.array('bias', 'columns')}[j]", "0.25"])
            lines.append(f"        t = {begin}")
        elif form == "zeroed":
            lines.append(f"        {target} = {rng.choice(['0.0', '1.0'])}")
        for steps in span:
            lines.append(f"        for k in {steps}:")
            lines += ["            " + line for line in self.added(sum_of, factors, sign)]
        if form == "scalar":
            last = rng.choice(["t", f"0.5 * {target} + 2.0 * t", "max(t, 0.0)"])
            lines.append(f"        {target} = {last}")
            if self.chance(0.2):
                lines.append(f"        {self.array('other', 'columns', 'rows')}[j, i] = t")
        elif self.chance(0.3):
            lines.append(f"        {target} /= 3.0")
        return lines


def _replaced(text: str, name: str, value: str) -> str:
    return text.replace(f"({name})", f"({value})").replace(f" {name})", f" {value})").replace(f"({name} ", f"({value} ")


def _laid_out(values: np.ndarray, layout: str) -> np.ndarray:
    inner = {"steps": slice(1, None, 2), "offset": slice(3, None)}.get(layout)
    if inner is not None:
        wide = np.zeros([2 * n + 1 if layout == "steps" else n + 3 for n in values.shape], values.dtype)
        wide[(inner,) * values.ndim] = values
        return wide[(inner,) * values.ndim]
    if layout == "reversed":
        return values[::-1].copy()[::-1]
    return np.asfortranarray(values) if layout == "F" else values


def case(seed: int, special: bool = False, large: bool = False) -> Case:
    """A random case. `special`: some factors are infinities or NaNs; `large`: enough products for a GPU's tiles."""
    return _Writer(seed, special, large).case()
