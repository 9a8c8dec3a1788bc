"""Elementary functions of the CPU backend: errors in units in the last place, and special values.

This file measures the figures of docs/reference/math.md; run as a program it prints the table.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable

import numpy as np
import pytest

import parpy

# Largest error allowed, in units in the last place: for float32, for float64.
BOUNDS = {
    "exp": (1, 1),
    "exp2": (1, 1),
    "expm1": (1.3, 2),
    "log": (0.8, 0.8),
    "log2": (0.51, 0.6),
    "log10": (0.51, 0.6),
    "log1p": (0.51, 0.8),
    "sin": (1.5, 1.5),
    "cos": (1.5, 1.5),
    "tan": (1.6, 2.6),
    "arcsin": (0.51, 1.8),
    "arccos": (0.51, 1.3),
    "arctan": (1.6, 1.7),
    "sinh": (0.51, 2),
    "cosh": (0.51, 1.4),
    "tanh": (2, 2),
    "arcsinh": (0.51, 1.5),
    "arccosh": (0.51, 1.8),
    "arctanh": (0.51, 1.8),
    "cbrt": (0.51, 0.51),
    "arctan2": (0.51, 1.9),
    "hypot": (0.51, 0.51),
    "power": (0.51, 0.8),
}
TWO = {"arctan2", "hypot", "power"}
RANGES = {
    "exp": ((-104, 88), (-745, 709)),
    "exp2": ((-150, 127), (-1075, 1023)),
    "expm1": ((-20, 88), (-40, 709)),
    "arcsin": ((-1, 1),) * 2,
    "arccos": ((-1, 1),) * 2,
    "arctanh": ((-1, 1),) * 2,
    "tanh": ((-12, 12),) * 2,
    "sinh": ((-89, 89), (-710, 710)),
    "cosh": ((-89, 89), (-710, 710)),
    "sin": ((-1e4, 1e4),) * 2,
    "cos": ((-1e4, 1e4),) * 2,
    "tan": ((-1e4, 1e4),) * 2,
}
SPECIAL = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.0,
    -2.0,
    3.0,
    -3.0,
    np.inf,
    -np.inf,
    np.nan,
    1e-40,
    -1e-40,
    5e-324,
    2.0**31,
    -(2.0**63),
    1e22,
    1e300,
    -1e308,
    1e-300,
    88.8,
    -104.5,
    709.9,
    -746.0,
    1.0 + 2**-52,
    1.0 - 2**-53,
]
DTYPES = [np.float32, np.float64]


def compiled(name: str) -> Callable[..., None]:
    """A function that computes `out[i] = np.<name>(x[i])`, or the same of x[i] and y[i]."""
    arguments = "x, y" if name in TWO else "x"
    operands = "x[i], y[i]" if name in TWO else "x[i]"
    source = f"@parpy.jit\ndef f({arguments}, out, n):\n    parpy.label('n')\n    for i in range(n):\n"
    source += f"        out[i] = np.{name}({operands})\n"
    filename = f"<math {name}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace: dict = {"parpy": parpy, "np": np}
    exec(compile(source, filename, "exec"), namespace)
    return namespace["f"]


def evaluate(name: str, *arguments: np.ndarray) -> np.ndarray:
    out = np.empty_like(arguments[0])
    options = parpy.par({"n": parpy.threads(2)})
    options.backend = parpy.CompileBackend.Cpu
    compiled(name)(*arguments, out, len(out), opts=options)
    return out


def points(name: str, dtype: type, count: int = 4000) -> list[np.ndarray]:
    """Random points of the range of interest, of all magnitudes, and close to 0 and to 1."""
    rng = np.random.default_rng(7)
    low, high = RANGES.get(name, ((-50, 50),) * 2)[dtype is np.float64]
    widest = 38 if dtype is np.float32 else 307

    def one() -> np.ndarray:
        sign = rng.choice([-1, 1], count)
        near = sign * 10.0 ** rng.uniform(-12, 0.5, count)
        parts = [
            rng.uniform(low, high, count),
            sign * 10.0 ** rng.uniform(-widest, widest, count),
            near,
            1 + near * 1e-3,
        ]
        return np.concatenate(parts).astype(dtype)

    if name not in TWO:
        return [one()]
    x, y = one(), one()
    if name == "power":
        x[: 3 * count] = np.abs(x[: 3 * count])
        with np.errstate(all="ignore"):  # results of all magnitudes
            reach = rng.uniform(low * 2, high * 2, 2 * count) * (7 if dtype is np.float64 else 0.8)
            y[: 2 * count] = reach / np.log(x[: 2 * count].astype(np.float64))
    return [x, y]


def errors(name: str, dtype: type) -> np.ndarray:
    arguments = points(name, dtype)
    got = evaluate(name, *arguments)
    wide = np.float64 if dtype is np.float32 else np.longdouble
    with np.errstate(all="ignore"):
        want = getattr(np, name)(*[a.astype(wide) for a in arguments])
        rounded = want.astype(dtype)
        known = np.isfinite(rounded) & np.isfinite(got)
        assert np.array_equal(np.isnan(rounded), np.isnan(got))
        return np.abs(got[known].astype(wide) - want[known]) / np.spacing(np.abs(rounded[known])).astype(wide)


@pytest.mark.parametrize("dtype", DTYPES, ids=["f32", "f64"])
@pytest.mark.parametrize("name", BOUNDS)
def test_error(name, dtype):
    assert errors(name, dtype).max() <= BOUNDS[name][dtype is np.float64]


@pytest.mark.parametrize("dtype", DTYPES, ids=["f32", "f64"])
@pytest.mark.parametrize("name", BOUNDS)
def test_special_values(name, dtype):
    with np.errstate(all="ignore"):
        one = np.array(SPECIAL).astype(dtype)
        arguments = [a.ravel().copy() for a in np.meshgrid(one, one)] if name in TWO else [one]
        want = getattr(np, name)(*[a.astype(np.float64) for a in arguments]).astype(dtype)
    got = evaluate(name, *arguments)
    special = ~np.isfinite(want) | (want == 0)
    np.testing.assert_array_equal(got[special], want[special])
    same_sign = np.signbit(got) == np.signbit(want)
    assert np.all(same_sign | np.isnan(want))
    assert np.all(np.isfinite(got[~special]))


def test_functions_vectorise_or_say_why():
    """The helpers are straight-line code: loops over them must be vectorised, without a call for each element."""
    text = parpy.print_compiled(compiled("exp"), [np.zeros(8), np.zeros(8), 8], parpy.par({"n": parpy.threads(2)}))
    assert "__builtin_exp(" not in text and "mul_add" in text


def main() -> None:
    print("| function | f32 | f64 |\n|---|---|---|")
    for name in BOUNDS:
        worst = [float(errors(name, dtype).max()) for dtype in DTYPES]
        print(f"| `{name}` | {worst[0]:.2f} | {worst[1]:.2f} |")


if __name__ == "__main__":
    main()
