"""Random programs of the language, as Python text: a compiled program must leave the results that
the interpreter leaves.

    python tests/fuzz/programs.py [--seed N] [--count N]

runs COUNT programs both ways and prints the first that differs. tests/python/house/test_fuzz.py runs a few.
Values stay small and subscripts in bounds, so that a difference is a fault of the compiler.
"""

from __future__ import annotations

import argparse
import importlib.util
import random
import sys
import tempfile
import warnings
from pathlib import Path
from types import ModuleType

import numpy as np

SIZE = 8
ARRAYS = {"f": np.float32, "d": np.float64, "i": np.int32, "l": np.int64, "b": np.int8, "u": np.uint16}


class Generator:
    """One random function `kernel(f, d, i, l, b, u, n, r)`: six arrays, a Python int and a float."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.names: list[str] = []  # scalars that hold a value here
        self.loops: list[str] = []
        self.fresh = 0

    def text(self) -> str:
        self.lines = ["import math", "import numpy as np", "import parpy", "", "", "@parpy.jit"]
        self.lines += ["def kernel(f, d, i, l, b, u, n, r):"]
        self.names = ["n", "r"]
        self.block(1, 6)
        return "\n".join(self.lines) + "\n"

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    # ---- statements

    def emit(self, depth: int, line: str) -> None:
        self.lines.append("    " * depth + line)

    def block(self, depth: int, statements: int) -> None:
        for _ in range(statements):
            self.statement(depth)

    def statement(self, depth: int) -> None:
        kinds = ["assign", "assign", "update", "store", "store", "store_update"]
        if depth < 4:
            kinds += ["for", "for", "if", "if", "while"]
        if self.loops and depth > 2:
            kinds += ["leave"]
        getattr(self, self.random.choice(kinds))(depth)

    def assign(self, depth: int) -> None:
        name = self.pick("s", "t", "v")
        self.emit(depth, f"{name} = {self.number()}")
        if name not in self.names:
            self.names.append(name)

    def update(self, depth: int) -> None:
        known = [name for name in self.names if name in ("s", "t", "v")]
        if not known:
            return self.assign(depth)
        self.emit(depth, f"{self.random.choice(known)} {self.pick('+', '-', '*')}= {self.leaf()}")

    def store(self, depth: int) -> None:
        array = self.random.choice(list(ARRAYS))
        value = self.number() if array in "fd" else self.integer_of(array)
        if array in "fd" and self.random.random() < 0.2:
            value = f"{self.pick('math.sqrt', 'float')}(-abs({self.leaf()}) + 20) * {self.leaf()}"
        self.emit(depth, f"{array}[{self.subscript()}] = {value}")

    def store_update(self, depth: int) -> None:
        self.emit(depth, f"{self.pick('f', 'd')}[{self.subscript()}] {self.pick('+', '-', '*')}= {self.leaf()}")

    def scoped(self, depth: int, statements: int) -> None:
        """A block that may not run: variables that it assigns first are unset after it."""
        names = list(self.names)
        self.block(depth, statements)
        self.names = names

    def for_(self, depth: int, name: str, bounds: str) -> None:
        self.emit(depth, f"for {name} in range({bounds}):")
        known = name in self.names
        self.names += [] if known else [name]
        self.loops.append(name)
        self.scoped(depth + 1, self.random.randint(1, 3))
        self.loops.pop()
        if not known:
            self.names.remove(name)

    def for_loop(self, depth: int) -> None:
        name = next(name for name in ("j", "k", "m", "p", "q") if name not in self.loops)
        self.for_(depth, name, self.pick("3", "1, 5", "n", "6, 0, -2", "n - 2, n + 1", "0"))

    def while_(self, depth: int) -> None:
        self.fresh += 1
        name = f"w{self.fresh}"
        self.emit(depth, f"{name} = 0")
        self.emit(depth, f"while {name} < {self.pick('2', '3')} and ({self.condition()}):")
        self.emit(depth + 1, f"{name} += 1")
        self.loops.append(name)
        self.scoped(depth + 1, 2)
        self.loops.pop()

    def if_(self, depth: int) -> None:
        self.emit(depth, f"if {self.condition()}:")
        self.scoped(depth + 1, self.random.randint(1, 2))
        if self.random.random() < 0.5:
            self.emit(depth, "else:")
            self.scoped(depth + 1, self.random.randint(1, 2))

    def leave(self, depth: int) -> None:
        self.emit(depth, f"if {self.condition()}:")
        self.emit(depth + 1, self.pick("break", "continue"))

    # ---- expressions. The operands of `a or b`, min(a, b) and `a if c else b` are of one type: the
    # interpreter's result has the type of the operand that is chosen, the compiled one the type of both.

    def subscript(self) -> str:
        return self.pick(str(self.random.randint(-SIZE, SIZE - 1)), "n", "-n", "n - 4", *self.loops[:1])

    def leaf(self) -> str:
        array = self.random.choice(list(ARRAYS))
        return self.pick(
            "1", "2", "0.5", "3", f"{array}[{self.subscript()}]", f"{array}[{self.subscript()}]",
            f"d[{self.subscript()}]", f"f[{self.subscript()}]", self.random.choice(self.names),
        )  # fmt: skip

    def number(self, depth: int = 0) -> str:
        if depth > 2 or self.random.random() < 0.25:
            return self.leaf()
        a, b = self.number(depth + 1), self.number(depth + 1)
        array = self.random.choice(list(ARRAYS))
        x, y = (f"{array}[{self.subscript()}]" for _ in "xy")
        return self.pick(
            f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"{a} / 4", f"min({x}, {y})",
            f"max({x}, {y})", f"({x} if {self.condition()} else {y})", f"abs({a})", f"({x} or {y})",
            f"({x} and {y})", f"np.maximum({a}, {b})", f"np.sqrt(abs({a}))", f"({a} < {b})",
            f"np.float32({a})", f"({a} // 3)", f"({a} % 3)", f"(-{a} * 2)",
        )  # fmt: skip

    def integer_of(self, array: str) -> str:
        """An expression whose values the elements of the array can hold."""
        a, b = (f"{array}[{self.subscript()}]" for _ in "ab")
        return self.pick(
            f"({a} + {b}) % 5", f"{a} // 2", f"min({a}, {b})", f"({a} & {b}) | 1", f"{a} ^ {b}", "3",
            f"({a} if {self.condition()} else 2)", f"({a} << 1) % 7", f"({a} > {b}) + {a} % 2", f"abs({a}) % 9",
        )  # fmt: skip

    def condition(self) -> str:
        a, b = self.leaf(), self.leaf()
        return self.pick(
            f"{a} < {b}", f"{a} >= {b}", f"{a} == {b}", f"not {a} != {b}", f"{a} > 1 or {b} < 2",
            f"{a} and {b} > 0", f"0 <= {a} < 3", a,
        )  # fmt: skip


for _name in ("for", "while", "if"):
    setattr(Generator, _name, {"for": Generator.for_loop, "while": Generator.while_, "if": Generator.if_}[_name])


def load(text: str, folder: Path, seed: int) -> ModuleType:
    path = folder / f"program_{seed}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def arguments(seed: int) -> list:
    values = np.random.default_rng(seed)
    arrays = [values.integers(0, 6, SIZE).astype(dtype) for dtype in ARRAYS.values()]
    return [*arrays, int(values.integers(0, SIZE)), float(values.integers(-4, 5) / 2)]


def difference(seed: int, folder: Path) -> str | None:
    """The difference between the two runs of program `seed`; None if there is none.

    A program that the interpreter ends with an exception (an integer out of range, a NaN stored in
    an integer array) counts as equal.
    """
    import parpy

    text = Generator(seed).text()
    kernel = load(text, folder, seed).kernel
    expected, actual = arguments(seed), arguments(seed)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            kernel(*expected, seq=True)
        except Exception:
            return None
    try:
        kernel(*actual, opts=parpy.par({}))
    except parpy.CompileError as error:
        if any(code in str(error) for code in ("P201", "P110", "P102", "P200")):
            return None  # rules of the compiler that the run did not reach
        return f"{text}\n{error}"
    for name, ours, numpys in zip(ARRAYS, actual, expected, strict=False):
        if not np.array_equal(ours, numpys, equal_nan=ours.dtype.kind == "f"):
            return f"{text}\n{name}: compiled {ours}, interpreted {numpys}"
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.seed, options.seed + options.count):
            if found := difference(seed, Path(folder)):
                print(f"program {seed}\n{found}")
                return 1
    print(f"{options.count} programs agree")
    return 0


if __name__ == "__main__":
    sys.exit(main())
