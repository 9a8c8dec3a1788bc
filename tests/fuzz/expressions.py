"""Random expressions of Python's and NumPy's numbers and of elements of arrays: compares the values and types of
compiled code with those of the interpreter.

    python tests/fuzz/expressions.py [first seed] [how many]
"""

from __future__ import annotations

import math
import random
import re
import sys
import tempfile
import textwrap
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import parpy

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]
TYPES = ["bool_", *INTEGERS, *FLOATS, "complex64", "complex128"]
BINARY = ["+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>", "<", "<=", "==", "!="]
NUMPY_UNARY = [
    "negative", "positive", "absolute", "fabs", "conjugate", "sign", "square", "reciprocal", "invert", "logical_not",
    "floor", "ceil", "trunc", "rint", "round", "isnan", "isinf", "isfinite", "signbit", "real", "imag", "fix",
    "bitwise_count", "spacing",
]  # fmt: skip
NUMPY_ROUGH = [
    "sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin", "arctan",
    "sinh", "cosh", "tanh", "arcsinh", "degrees", "radians",
]  # fmt: skip
NUMPY_BINARY = [
    "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "power", "fmod", "minimum", "maximum", "fmin",
    "fmax", "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "equal", "less", "greater_equal",
    "logical_and", "logical_or", "logical_xor", "gcd", "lcm", "copysign", "nextafter", "heaviside", "ldexp",
]  # fmt: skip
NUMPY_BINARY_ROUGH = ["arctan2", "hypot", "logaddexp", "logaddexp2", "float_power"]
MATH = ["floor", "ceil", "trunc", "fabs", "isnan", "isinf", "isfinite", "isqrt", "ulp"]
MATH_ROUGH = ["sqrt", "exp", "log", "log2", "log1p", "sin", "cos", "atan", "tanh", "erf", "degrees", "exp2", "cbrt"]
MATH_BINARY = ["fmod", "remainder", "copysign", "nextafter", "gcd", "lcm", "isclose", "comb", "perm"]
MATH_BINARY_ROUGH = ["atan2", "hypot", "pow"]
LITERALS = ["0", "1", "2", "3", "-1", "7", "100", "200", "-300", "0.0", "0.5", "2.0", "-1.5", "3.7", "True", "False"]
VALUES = [0, 1, 2, 3, 5, 7, 13, -1, -2, -7, 100, 127, 200]
REALS = [0.0, -0.0, 0.5, 1.0, 1.5, 2.5, -0.5, -3.25, 0.1, 7.7, 100.25, 1e-3, math.inf, math.nan]


class Unfit(Exception):
    """An expression that Python refuses, or whose value has a type that compiled code lacks."""


class Node:
    """An expression: its text and its subexpressions."""

    def __init__(self, text: str, *parts: Node, rough: bool = False) -> None:
        self.text = text
        self.parts = parts
        self.rough = rough or any(part.rough for part in parts)

    def value(self, names: dict[str, object], whole: bool = False) -> object:
        """Python's value, an array if `whole`. Raises Unfit if compiled code has no type for the value of some part."""
        for part in self.parts:
            part.value(names)
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                found = eval(self.text, names)
        except (ZeroDivisionError, OverflowError, ValueError, TypeError, AttributeError) as error:
            raise Unfit(str(error)) from error
        if whole != (isinstance(found, np.ndarray) and found.ndim == 1):
            raise Unfit("not an array")
        if isinstance(found, np.ndarray):
            found = found[()]
        if isinstance(found, int) and not -(2**63) <= found < 2**63:
            raise Unfit("beyond 64 bits")
        return found


class Expressions:
    """Makes expressions of the parameters of one function."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def leaf(self) -> Node:
        r = self.rng.random()
        if r < 0.2:
            return Node(self.rng.choice(LITERALS))
        if r < 0.45:
            return Node(self.rng.choice("snb"))
        kind = self.rng.choice(TYPES if self.rng.random() < 0.9 else ["complex64", "complex128"])
        return Node(f"g_{kind}" if r < 0.65 else f"x_{kind}[0]")

    def make(self, depth: int) -> Node:
        rng = self.rng
        if depth == 0 or rng.random() < 0.1:
            return self.leaf()
        a, b = self.make(depth - 1), self.make(depth - 1)
        r = rng.random()
        if r < 0.3:
            return Node(f"({a.text} {rng.choice(BINARY)} {b.text})", a, b)
        if r < 0.38:
            return Node(f"({rng.choice(['-', '+', '~', 'not '])}{a.text})", a)
        if r < 0.5:
            return Node(f"np.{rng.choice(NUMPY_UNARY)}({a.text})", a)
        if r < 0.56:
            return Node(f"np.{rng.choice(NUMPY_ROUGH)}({a.text})", a, rough=True)
        if r < 0.72:
            return Node(f"np.{rng.choice(NUMPY_BINARY)}({a.text}, {b.text})", a, b)
        if r < 0.75:
            return Node(f"np.{rng.choice(NUMPY_BINARY_ROUGH)}({a.text}, {b.text})", a, b, rough=True)
        if r < 0.79:
            return Node(f"math.{rng.choice(MATH)}({a.text})", a)
        if r < 0.82:
            return Node(f"math.{rng.choice(MATH_ROUGH)}({a.text})", a, rough=True)
        if r < 0.85:
            return Node(f"math.{rng.choice(MATH_BINARY)}({a.text}, {b.text})", a, b)
        if r < 0.86:
            return Node(f"math.{rng.choice(MATH_BINARY_ROUGH)}({a.text}, {b.text})", a, b, rough=True)
        if r < 0.9:
            return Node(f"{rng.choice(['int', 'float', 'bool', 'abs', 'round'])}({a.text})", a)
        if r < 0.92:
            return Node(f"{rng.choice(['round', 'np.round'])}({a.text}, {rng.randint(-2, 3)})", a)
        if r < 0.95:
            c = self.make(depth - 1)
            return Node(f"np.where({c.text}, {a.text}, {b.text})", a, b, c)
        if r < 0.96:
            c = self.make(depth - 1)
            return Node(f"np.clip({a.text}, {b.text}, {c.text})", a, b, c)
        return Node(f"np.{rng.choice(TYPES)}({a.text})", a)


PARAMETERS = ["s", "n", "b", *(f"g_{kind}" for kind in TYPES), *(f"x_{kind}" for kind in TYPES)]


def arguments(rng: random.Random) -> dict[str, object]:
    """Random values for the parameters."""

    def number(kind: str) -> np.generic:
        scalar = getattr(np, kind)
        if kind == "bool_":
            return scalar(rng.random() < 0.5)
        if kind in INTEGERS:
            limits = np.iinfo(scalar)
            value = rng.choice([*VALUES, int(limits.max), int(limits.min)])
            return scalar(value if limits.min <= value <= limits.max else 3)
        if kind in FLOATS:
            return scalar(rng.choice(REALS))
        return scalar(complex(rng.choice(REALS[:10]), rng.choice(REALS[:10])))

    found: dict[str, object] = {"s": rng.choice(REALS), "n": rng.choice(VALUES), "b": rng.random() < 0.5}
    for kind in TYPES:
        found[f"g_{kind}"] = number(kind)
        found[f"x_{kind}"] = np.array([number(kind)])
    return found


def tolerance(node: Node) -> float:
    """The largest relative difference allowed, for the narrowest type in which parts may be computed."""
    if not node.rough:
        return 0.0
    if re.search(r"int8|float16|bool|True|False|\bb\b", node.text):
        return 2e-2
    return 1e-4 if re.search(r"int16|float32|complex64", node.text) else 1e-12


def close(found: object, expected: object, node: Node) -> bool:
    """Whether both are equal, but for the rounding of elementary functions."""
    a, b = np.asarray(found), np.asarray(expected)
    if a.dtype != b.dtype:
        return False
    if a == b or (a != a and b != b):
        return True
    if a.dtype.kind not in "fc":
        return node.rough
    limit = max(tolerance(node), (4 if a.dtype.kind == "f" else 64) * np.finfo(a.dtype).eps)  # complex powers
    with np.errstate(all="ignore"):
        return bool(abs(complex(a) - complex(b)) <= limit * max(abs(complex(b)), 1e-3 if node.rough else 0.0))


REFUSED = (" complex", "convert it first: int(", "of the real part")  # documented, though Python computes a value
USES = ("{}", "({}) * x_float32[1]", "({}) + x_int8[1]", "({}) * x_float16[1]")


def used(text: str) -> list[str]:
    """The parameters that the text names."""
    return [name for name in dict.fromkeys(re.findall(r"\b([snb]|[gx]_\w+)\b", text)) if name in PARAMETERS]


def function_of(text: str, place: Path, name: str, stores: bool = False) -> Any:
    """A jit function that returns the expression's value, or stores it to its first argument."""
    parameters = ["y"] * stores + used(text)
    statement = f"y[:] = {text}" if stores else f"return {text}"
    text = f"@parpy.jit\ndef f({', '.join(parameters)}):\n    {statement}\n"
    file = place / f"{name}.py"
    file.write_text(text)
    space: dict[str, object] = {"parpy": parpy, "np": np, "math": math}
    exec(compile(text, str(file), "exec"), space)
    return space["f"]


def with_more(given: dict[str, object]) -> dict[str, object]:
    more = dict(given)
    for kind, second in (("float32", 0.7), ("int8", 3), ("float16", 0.3)):
        x = given[f"x_{kind}"]
        assert isinstance(x, np.ndarray)
        more[f"x_{kind}"] = np.array([x[0], second], x.dtype)
    return more


def difference(seed: int, place: Path) -> str | None:
    """A message about the first use of this seed's expression whose compiled value differs; None if all agree."""
    rng = random.Random(seed)
    expressions = Expressions(rng)
    node, sets = None, []
    while not sets:
        node = expressions.make(rng.choice([1, 1, 2, 2, 3]))
        for _ in range(12):
            given = with_more(arguments(rng))
            try:
                node.value({"np": np, "math": math, **given})
                sets.append(given)
            except Unfit:
                if len(sets) == 0 and _ > 3:
                    break
    assert node is not None
    for use in USES:
        text = use.format(node.text)
        f = function_of(text, place, f"f{seed}_{USES.index(use)}")
        for given in sets[:4]:
            try:
                expected = Node(text).value({"np": np, "math": math, **given})
            except Unfit:
                continue
            shown = {name: given[name] for name in used(text)}
            try:
                found = f(*shown.values())
            except Exception as error:
                if any(part in str(error) for part in REFUSED):
                    return None
                return f"{seed}: {text} of {shown}: {expected!r}, but {type(error).__name__}: {str(error)[:300]}"
            if not close(found, expected, node):
                return f"{seed}: {text} of {shown}: {expected!r}, but {found!r}"
    return of_slices(node, sets[0], place, seed)


def of_slices(node: Node, given: dict[str, object], place: Path, seed: int) -> str | None:
    """The same with whole arrays, if all functions of the expression are NumPy's."""
    if "x_" not in node.text or re.search(r"math\.|(?<![.\w])(int|float|bool|round|not)\b", node.text):
        return None
    text = node.text.replace("[0]", "[:]")
    arrays = dict(given)
    for name in used(text):
        if name.startswith("x_"):
            array = given[name]
            assert isinstance(array, np.ndarray)
            arrays[name] = np.resize(array, 9)
    try:
        expected = Node(text).value({"np": np, "math": math, **arrays}, whole=True)
    except Unfit:
        return None
    assert isinstance(expected, np.ndarray)
    f = function_of(text, place, f"f{seed}_slices", True)
    found = np.zeros_like(expected)
    try:
        f(found, *(arrays[name] for name in used(text)))
    except Exception as error:
        refused = any(part in str(error) for part in REFUSED)
        return None if refused else f"{seed}: {text}: {type(error).__name__}: {str(error)[:300]}"
    if all(close(a, b, node) for a, b in zip(found, expected, strict=True)):
        return None
    return f"{seed}: {text} of { {name: given[name] for name in used(text)} }: {expected[0]!r}, but {found[0]!r}"


if __name__ == "__main__":
    first, count = (int(word) for word in [*sys.argv[1:], "0", "200"][:2])
    with tempfile.TemporaryDirectory() as folder:
        wrong = 0
        for each in range(first, first + count):
            found_one = difference(each, Path(folder))
            if found_one is not None:
                wrong += 1
                print(textwrap.shorten(found_one, 600), flush=True)
        print(f"{count} expressions, {wrong} differ")
