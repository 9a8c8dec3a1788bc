"""Every operator on every pair of operand types has the result type that NumPy gives it.

One program per operator assigns `t = a op b` for all pairs; parpy-opt prints the inferred type of
each t, and the lines on which it refuses an operand. NumPy computes the same expressions.
"""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest

import places

sys.path.insert(0, str(places.TESTS / "golden"))
from run import find_parpy_opt

PARPY_OPT = find_parpy_opt()
pytestmark = pytest.mark.skipif(PARPY_OPT is None, reason="parpy-opt is not built")

SCALARS = {
    "bool": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "u8": np.uint8,
    "u16": np.uint16,
    "u32": np.uint32,
    "u64": np.uint64,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "c64": np.complex64,
    "c128": np.complex128,
}
# The operands in the program's spelling, and their value in NumPy.
OPERANDS = {f"x_{name}[0]": scalar(1) for name, scalar in SCALARS.items()}
OPERANDS |= {"1": 1, "1.5": 1.5, "True": True, "complex{1.0, 2.0}": 1 + 2j}

BINARY = {
    "{} + {}": np.add,
    "{} - {}": np.subtract,
    "{} * {}": np.multiply,
    "{} / {}": np.true_divide,
    "{} // {}": np.floor_divide,
    "{} % {}": np.remainder,
    "{} ** {}": np.power,
    "{} & {}": np.bitwise_and,
    "{} | {}": np.bitwise_or,
    "{} ^ {}": np.bitwise_xor,
    "{} << {}": np.left_shift,
    "{} >> {}": np.right_shift,
    "{} == {}": np.equal,
    "numpy(minimum({}, {}))": np.minimum,
    "numpy(maximum({}, {}))": np.maximum,
    "numpy(fmin({}, {}))": np.fmin,
    "numpy(fmod({}, {}))": np.fmod,
    "numpy(atan2({}, {}))": np.arctan2,
    "numpy(hypot({}, {}))": np.hypot,
    "numpy(copysign({}, {}))": np.copysign,
    "numpy(nextafter({}, {}))": np.nextafter,
}
# The operators as functions of NumPy: these treat Python numbers alone as NumPy's.
BINARY |= {f"numpy({pattern})": function for pattern, function in BINARY.items() if not pattern.startswith("numpy")}
UNARY = {
    "-{}": np.negative,
    "abs({})": np.abs,
    "~{}": np.invert,
    "numpy(sqrt({}))": np.sqrt,
    "numpy(exp({}))": np.exp,
    "numpy(sin({}))": np.sin,
    "numpy(cbrt({}))": np.cbrt,
    "numpy(expm1({}))": np.expm1,
    "numpy(degrees({}))": np.degrees,
    "numpy(floor({}))": np.floor,
    "numpy(trunc({}))": np.trunc,
    "numpy(sign({}))": np.sign,
    "numpy(square({}))": np.square,
    "numpy(isnan({}))": np.isnan,
    "numpy(signbit({}))": np.signbit,
    "real({})": np.real,
    "numpy(conj({}))": np.conj,
    "numpy(rint({}))": np.rint,
    "numpy(abs({}))": np.absolute,
    "numpy(-{})": np.negative,
    "numpy(~{})": np.invert,
    "numpy(not {})": np.logical_not,
}


def numpy_type(function, pattern: str, values: tuple) -> str | None:
    """The IR name of NumPy's result type; None if NumPy refuses the operands."""
    if pattern.startswith("abs"):
        function = abs  # Python's: the type of abs(True) differs
    python = all(isinstance(v, (bool, int, float, complex)) for v in values)
    python = python and not any(isinstance(v, np.generic) for v in values)
    with np.errstate(all="ignore"):
        try:
            if python and not pattern[0].isalpha():
                result = eval(pattern.format(*(f"({v!r})" for v in values)))
            else:
                result = function(*values)
        except TypeError:
            return None
    names = {np.dtype(scalar): name for name, scalar in SCALARS.items()}
    return names[np.asarray(result).dtype]


def inferred_types(expressions: list[str]) -> list[str | None]:
    arrays = ", ".join(f"x_{name}: {name}[1]" for name in SCALARS)
    lines = [f"    t{i} = {expression}" for i, expression in enumerate(expressions)]
    program = "\n".join(["surface", f"entry f({arrays}):", *lines])

    def run(text: str) -> str:
        done = subprocess.run(
            [str(PARPY_OPT), "--pass", "infer-types"],
            input=text,
            capture_output=True,
            text=True,
            timeout=900,
        )
        assert done.returncode in (0, 1), done.stderr
        return done.stdout

    # The lines with errors come first, then the types of the others.
    wrong = {int(line) for line in re.findall(r"^[^\s:]*:(\d+):\d+: error\[P200\]", run(program), re.M)}
    kept = [line for number, line in enumerate(program.split("\n"), 1) if number not in wrong]
    found = dict(re.findall(r"^    (t\d+): (\w+) = ", run("\n".join(kept)), re.M))
    return [found.get(f"t{i}") for i in range(len(expressions))]


@pytest.mark.parametrize("pattern", BINARY)
def test_binary(pattern):
    pairs = [(a, b) for a in OPERANDS for b in OPERANDS]
    found = inferred_types([pattern.format(a, b) for a, b in pairs])
    for (a, b), actual in zip(pairs, found, strict=True):
        values = OPERANDS[a], OPERANDS[b]
        assert actual == numpy_type(BINARY[pattern], pattern, values), pattern.format(a, b)


@pytest.mark.parametrize("pattern", UNARY)
def test_unary(pattern):
    found = inferred_types([pattern.format(a) for a in OPERANDS])
    for a, actual in zip(OPERANDS, found, strict=True):
        assert actual == numpy_type(UNARY[pattern], pattern, (OPERANDS[a],)), pattern.format(a)


def test_what_helpers_demand_is_asked_once_of_many_paths():
    levels = [f"helper h{d}(y, i, v):\n" + f"    h{d - 1}(y[...], i, v)\n" * 2 for d in range(1, 40)]
    entry = "surface\nentry f(y: u8[4], n: int, v: int):\n    h39(y[...], n, v)\n"
    program = "\n".join([entry, *levels, "helper h0(y, i, v):\n    y[i] = v\n"])
    done = subprocess.run(
        [str(PARPY_OPT), "--pass", "infer-types"], input=program, capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stdout + done.stderr
