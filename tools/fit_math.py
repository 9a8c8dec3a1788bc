"""Fits the polynomials of src/dialects/prelude/math_*.inc and prints their coefficients.

Each fit minimises the largest weighted error over an interval (Remez exchange in 45 digits). The
coefficients are then rounded to the target's precision; the error shown is that after rounding.
Needs mpmath.

    python tools/fit_math.py [NAME …]
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass

import mpmath as mp

mp.mp.dps = 45

Real = Callable[[mp.mpf], mp.mpf]


@dataclass
class Fit:
    """The polynomial sum of c[i] * x**i, i < terms, close to `target` where `weight` is large."""

    name: str
    target: Real
    weight: Real
    low: mp.mpf
    high: mp.mpf
    terms: int
    single: bool


def rounded(value: mp.mpf, single: bool) -> mp.mpf:
    """`value` in the precision of float or double."""
    if single:
        nearest = struct.unpack("f", struct.pack("f", float(value)))[0]
        return mp.mpf(nearest)
    return mp.mpf(float(value))


def spelled(value: mp.mpf, single: bool) -> str:
    """The shortest decimal that reads back as the same float or double."""
    if not single:
        return repr(float(value))
    for digits in range(6, 10):
        text = f"{float(value):.{digits}g}"
        if struct.pack("f", float(text)) == struct.pack("f", float(value)):
            return text + "f"
    raise AssertionError


def remez(fit: Fit) -> list[mp.mpf]:
    """The best coefficients before rounding."""
    count = fit.terms
    middle, half = (fit.low + fit.high) / 2, (fit.high - fit.low) / 2
    size = max(abs(fit.low), abs(fit.high))  # scales the system, as `heavy` does
    points = [middle - half * mp.cos(mp.pi * (2 * i + 1) / (2 * count + 2)) for i in range(count + 1)]
    grid = [middle - half * mp.cos(mp.pi * (2 * i + 1) / 1200) for i in range(600)]
    heavy = max(fit.weight(x) for x in grid)
    coefficients: list[mp.mpf] = []
    for _ in range(15):
        matrix = mp.matrix(count + 1, count + 1)
        right = mp.matrix(count + 1, 1)
        for row, x in enumerate(points):
            for column in range(count):
                matrix[row, column] = (x / size) ** column
            matrix[row, count] = (-1) ** row / fit.weight(x) * heavy
            right[row] = fit.target(x)
        solution = mp.lu_solve(matrix, right)
        coefficients = [solution[i] / size**i for i in range(count)]
        errors = [weighted_error(fit, coefficients, x) for x in grid]
        runs: list[int] = []  # the largest error between two changes of sign
        for i, error in enumerate(errors):
            if runs and (errors[runs[-1]] > 0) == (error > 0):
                if abs(error) > abs(errors[runs[-1]]):
                    runs[-1] = i
            else:
                runs.append(i)
        while len(runs) > count + 1:
            runs.pop(0 if abs(errors[runs[0]]) < abs(errors[runs[-1]]) else -1)
        worst = max(abs(e) for e in errors)
        if len(runs) < count + 1 or worst < abs(solution[count]) * heavy * mp.mpf("1.01"):
            break
        points = [grid[i] for i in runs]
    return coefficients


def weighted_error(fit: Fit, coefficients: list[mp.mpf], x: mp.mpf) -> mp.mpf:
    """The polynomial's distance from its target at x, weighted."""
    return fit.weight(x) * (fit.target(x) - mp.polyval(coefficients[::-1], x))


def solve(fit: Fit) -> None:
    """Prints the rounded coefficients of one fit, highest power first, and its error."""
    coefficients = [rounded(c, fit.single) for c in remez(fit)]
    grid = [fit.low + (fit.high - fit.low) * (2 * i + 1) / 2000 for i in range(1000)]
    worst = max(abs(weighted_error(fit, coefficients, x)) for x in grid)
    print(f"{fit.name}  (weighted error 2^{mp.nstr(mp.log(worst, 2), 4)})")
    for value in reversed(coefficients):
        print("    " + spelled(value, fit.single))


def flat(limit: float) -> mp.mpf:
    """The size of x below which a weight stays constant: errors very near zero do not matter."""
    return mp.mpf(limit) / 20


def series(f: Real, at_zero: float) -> Real:
    """`f` with its limit at 0 filled in."""
    return lambda x: f(x) if abs(x) > mp.mpf("1e-25") else mp.mpf(at_zero)


LN2 = mp.log(2) / 2 * mp.mpf("1.001")
SQRT2 = mp.sqrt(2)
PI4 = mp.pi / 4 * mp.mpf("1.0001")
S_MAX = ((SQRT2 - 1) / (SQRT2 + 1)) ** 2 * mp.mpf("1.001")
T_MAX = (SQRT2 - 1) ** 2 * mp.mpf("1.001")


def root(f: Real) -> Real:
    """Turns a function of x into a function of x*x."""
    return lambda z: f(mp.sqrt(z))


# e^r = 1 + r + r^2 q(r);   2^r = 1 + r ln2 + r^2 q(r)
def exp_rest(r: mp.mpf) -> mp.mpf:
    return (mp.exp(r) - 1 - r) / r**2


def exp2_rest(r: mp.mpf) -> mp.mpf:
    return (mp.power(2, r) - 1 - r * mp.log(2)) / r**2


# log(1 + f) = f - f^2/2 + f^3 q(f)
def log_rest(f: mp.mpf) -> mp.mpf:
    return (mp.log1p(f) - f + f * f / 2) / f**3


# log((1 + s) / (1 - s)) = 2s + 2 s^3 q(s^2)
def log_odd(z: mp.mpf) -> mp.mpf:
    s = mp.sqrt(z)
    return (mp.log((1 + s) / (1 - s)) - 2 * s) / (2 * s**3)


# the same from the fifth power on: 2s + 2/3 s^3 + 2 s^5 q(s^2)
def log_odd5(z: mp.mpf) -> mp.mpf:
    s = mp.sqrt(z)
    return (mp.log((1 + s) / (1 - s)) - 2 * s - 2 * s**3 / 3) / (2 * s**5)


# sin r = r + r^3 q(r^2);  cos r = 1 - r^2/2 + r^4 q(r^2);  tan r = r + r^3 q(r^2)
def sin_rest(z: mp.mpf) -> mp.mpf:
    r = mp.sqrt(z)
    return (mp.sin(r) - r) / r**3


def cos_rest(z: mp.mpf) -> mp.mpf:
    return (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2


# atan t = t + t^3 q(t^2);  asin t = t + t^3 q(t^2)
def atan_rest(z: mp.mpf) -> mp.mpf:
    t = mp.sqrt(z)
    return (mp.atan(t) - t) / t**3


def asin_rest(z: mp.mpf) -> mp.mpf:
    t = mp.sqrt(z)
    return (mp.asin(t) - t) / t**3


def fits() -> list[Fit]:
    out = []
    for single in (True, False):
        suffix = "f32" if single else "f64"

        def add(
            name: str,
            f: Real,
            limit: float,
            weight: Real,
            low: mp.mpf,
            high: mp.mpf,
            terms: tuple[int, int],
            single: bool = single,
            suffix: str = suffix,
        ) -> None:
            out.append(
                Fit(
                    f"{name}_{suffix}",
                    series(f, limit),
                    weight,
                    mp.mpf(low),
                    mp.mpf(high),
                    terms[0] if single else terms[1],
                    single,
                )
            )

        add("exp", exp_rest, 0.5, lambda r: max(r * r, flat(LN2) ** 2) / mp.exp(r), -LN2, LN2, (5, 10))
        add(
            "exp2",
            exp2_rest,
            float(mp.log(2) ** 2 / 2),
            lambda r: max(r * r, flat(0.5) ** 2),
            mp.mpf(-0.5),
            mp.mpf(0.5),
            (5, 10),
        )
        if single:
            add("log", log_rest, 1 / 3, lambda f: max(f * f, flat(0.4) ** 2), 1 / SQRT2 - 1, SQRT2 - 1, (10, 0))
        add("log_odd", log_odd, 1 / 3, lambda z: max(z, flat(S_MAX)), mp.mpf(0), S_MAX, (3, 7))
        add("log_odd5", log_odd5, 1 / 5, lambda z: max(z, flat(S_MAX)) ** 2, mp.mpf(0), S_MAX, (3, 8))
        add("sin", sin_rest, -1 / 6, lambda z: max(z, flat(0.6)), mp.mpf(0), PI4**2, (3, 6))
        add("cos", cos_rest, 1 / 24, lambda z: max(z, flat(0.6)) ** 2, mp.mpf(0), PI4**2, (3, 6))
        add("atan", atan_rest, -1 / 3, lambda z: max(z, flat(T_MAX)), mp.mpf(0), T_MAX, (5, 11))
        add("asin", asin_rest, 1 / 6, lambda z: max(z, flat(0.25)), mp.mpf(0), mp.mpf(0.25), (5, 12))
    return out


def main() -> None:
    wanted = sys.argv[1:]
    for fit in fits():
        if not wanted or fit.name in wanted:
            solve(fit)


if __name__ == "__main__":
    main()
