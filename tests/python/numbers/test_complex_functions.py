"""`cmath` and the methods of complex numbers, in loops and in kernels, against Python's results."""

from __future__ import annotations

import cmath
import math

import numpy as np
import pytest

import kernel_places
import parpy
from backends import NAMES as NAMES_OF_BACK_ENDS
from backends import run
from fresh_functions import fresh
from nvrtc import cubin
from parpy import cuda

backend = kernel_places.backend
PARTS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.25, 2.0, -3.75, 1e-8, 30.0, -700.0]
NUMBERS = np.array([complex(x, y) for x in PARTS for y in PARTS])
FAR = np.array([complex(x, y) for x in (1e160, -1e160, 2.0) for y in (3e170, -3e170, 1.0)])
NAMES = ["exp", "sqrt", "log", "log10", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan", "asinh"]
NAMES += ["acosh", "atanh", "phase", "isnan", "isinf", "isfinite"]


def made(name):
    space = {"cmath": cmath, "cuda": cuda}
    text = f"def kernel(z, out):\n    i = cuda.grid(1)\n    if i < len(z):\n        out[i] = cmath.{name}(z[i])\n"
    import linecache

    file = f"<cmath {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), space)
    return cuda.jit(space["kernel"])


def by_python(name, z):
    try:
        return getattr(cmath, name)(z)
    except (ValueError, OverflowError):  # mathematical errors: compiled code returns infinities
        return None


@pytest.mark.parametrize("name", NAMES)
def test_functions_of_cmath(name):
    given = np.concatenate([NUMBERS, FAR]) if name in ("asin", "acos", "asinh", "acosh", "atan", "atanh") else NUMBERS
    out = np.zeros(len(given), complex)
    kernel = made(name)
    kernel.forall(len(given))(given, out)
    for z, got in zip(given, out, strict=True):
        want = by_python(name, complex(z))
        if want is not None:
            np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-300, err_msg=f"{name}({z})")
            assert math.copysign(1, got.imag) == math.copysign(1, complex(want).imag) or want.imag == got.imag == 0
    cubin(kernel.inspect_source(given, out))


@cuda.jit
def of_numbers(z, n, out):
    w = z[1] * 2
    out[0], out[1] = w.conjugate(), (z[0] + 1).conjugate()
    out[2], out[3] = w.real + z[0].imag, abs(z[1]) + abs(w)
    r, phi = cmath.polar(z[1])
    out[4] = cmath.rect(r, phi)
    pair = cmath.polar(w)
    out[5] = pair[0] + pair[1]
    out[6] = cmath.log(z[1], 2) + cmath.exp(n) + cmath.sqrt(-1)
    out[7] = n.conjugate() + cmath.rect(3, 0)


def test_numbers_and_their_methods():
    z, out = np.array([1 - 2j, 3 + 4j]), np.zeros(8, complex)
    of_numbers[1, 1](z, 2, out)
    w = 2 * z[1]
    want = [w.conjugate(), (z[0] + 1).conjugate(), w.real + z[0].imag, abs(z[1]) + abs(w), z[1]]
    want += [abs(w) + cmath.phase(w), cmath.log(z[1], 2) + cmath.exp(2) + 1j, 5]
    np.testing.assert_allclose(out, want, rtol=1e-14)
    cubin(of_numbers.inspect_source(z, 2, out))


@parpy.jit
def in_loops(z, out):
    for i in range(len(z)):
        r, phi = cmath.polar(z[i])
        out[i] = cmath.acosh(z[i]).conjugate() + r * cmath.exp(phi)


def test_loops():
    out = np.zeros(len(NUMBERS), complex)
    in_loops(NUMBERS, out)
    want = [cmath.acosh(z).conjugate() + abs(z) * cmath.exp(cmath.phase(z)) for z in NUMBERS]
    np.testing.assert_allclose(out, want, rtol=1e-13)


def test_single_precision_stays_single():
    z, out = np.array([1 + 2j], np.complex64), np.zeros(1, np.complex64)
    made("exp")[1, 1](z, out)
    np.testing.assert_allclose(out, np.exp(z), rtol=1e-6)


SPECIAL = [complex(x, y) for x in (0.0, 2.5, -math.inf, math.inf, math.nan) for y in (-0.5, math.inf, -math.inf)]
OF_NUMPY = ["exp2", "expm1", "log2", "log1p", "sign", "rint"]


@pytest.mark.parametrize("name", OF_NUMPY)
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_functions_of_numpy(name, dtype, tmp_path):
    text = f"@parpy.jit\ndef f(z, out):\n    for i in range(len(z)):\n        out[i] = np.{name}(z[i])\n"
    f = fresh(text, tmp_path)
    most = 600 if dtype is np.complex128 else 3  # NumPy's arguments of sines have 24 bits
    numbers = np.concatenate([NUMBERS, SPECIAL]) if name in ("sign", "rint") else NUMBERS[abs(NUMBERS) < most]
    z = numbers.astype(dtype)
    with np.errstate(all="ignore"):
        want = getattr(np, name)(z)
    for place in NAMES_OF_BACK_ENDS:
        out = np.zeros_like(z)
        run(place, f, (z, out), {})
        rtol, atol = (1e-5, 1e-7) if dtype is np.complex64 else (1e-12, 1e-12)
        for part in ("real", "imag"):
            np.testing.assert_allclose(getattr(out, part), getattr(want, part), rtol=rtol, atol=atol)


def test_whole_arrays_in_kernels():
    @cuda.jit
    def kernel(z, x, n, a, b):
        np.log2(z, a)
        np.ldexp(x, n, b)
        own = x[1:] * 2
        b[1:] += np.ldexp(own, n[1:])

    z, x, n = NUMBERS[:4] + 2, np.arange(4.0), np.arange(4)
    a, b = np.zeros(4, complex), np.zeros(4)
    kernel[1, 1](z, x, n, a, b)
    want = np.ldexp(x, n)
    want[1:] += np.ldexp(2 * x[1:], n[1:])
    np.testing.assert_allclose(a, np.log2(z), rtol=1e-13)
    np.testing.assert_array_equal(b, want)
