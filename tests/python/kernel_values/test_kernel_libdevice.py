"""``cuda.libdevice``: every function runs on the simulator, is compiled by NVRTC, and gives the right number."""

from __future__ import annotations

import math

import numpy as np
import pytest

import kernel_places
from nvrtc import cubin
from parpy import cuda
from parpy.cuda import libdevice
from parpy.vocabulary.libdevice import LIBDEVICE

backend = kernel_places.backend

DTYPES = {"f64": np.float64, "f32": np.float32, "i32": np.int32, "u32": np.uint32, "i64": np.int64, "u64": np.uint64}
SAMPLES = {"f64": (0.6, 1.75, 0.5), "f32": (0.6, 1.75, 0.5), "i32": (11, 3, 5), "u32": (11, 3, 5),
           "i64": (11, 3, 5), "u64": (11, 3, 5)}  # fmt: skip


def kernel_of(names):
    """A kernel that stores the value of each function for its samples."""
    lines = ["def kernel(out):"]
    for place, name in enumerate(names):
        given = [f"{t}({SAMPLES[t][i]!r})" for i, t in enumerate(LIBDEVICE[name].types)]
        lines.append(f"    out[{place}] = libdevice.{name}({', '.join(given)})")
    space = {"libdevice": libdevice, **DTYPES}
    text = "\n".join(lines) + "\n"
    exec(compile(text, "<libdevice>", "exec"), space)
    return space["kernel"], text


@pytest.fixture
def run(monkeypatch):
    import linecache

    def run(names):
        function, text = kernel_of(names)
        linecache.cache["<libdevice>"] = (len(text), None, text.splitlines(keepends=True), "<libdevice>")
        kernel, out = cuda.jit(function), np.zeros(len(names))
        kernel[1, 1](out)
        cubin(kernel.inspect_source(out)) if cuda.sim.enabled else None
        return dict(zip(names, out, strict=True))

    return run


def gauss(x):
    return 0.5 * math.erfc(-x / math.sqrt(2))


X, Y, Z = SAMPLES["f64"]
VALUES = {
    "acos": math.acos(X), "acosh": math.nan, "asin": math.asin(X), "asinh": math.asinh(X), "atan": math.atan(X),
    "atanh": math.atanh(X), "cbrt": math.cbrt(X), "ceil": 1, "cos": math.cos(X), "cosh": math.cosh(X),
    "cospi": math.cos(math.pi * X), "erf": math.erf(X), "erfc": math.erfc(X), "erfcx": math.exp(X * X) * math.erfc(X),
    "exp": math.exp(X), "exp10": 10**X, "exp2": 2**X, "expm1": math.expm1(X), "fabs": X, "floor": 0,
    "lgamma": math.lgamma(X), "log": math.log(X), "log10": math.log10(X), "log1p": math.log1p(X), "log2": math.log2(X),
    "logb": -1, "nearbyint": 1, "normcdf": gauss(X), "rcbrt": 1 / math.cbrt(X), "rint": 1, "round": 1,
    "rsqrt": X**-0.5, "sin": math.sin(X), "sinh": math.sinh(X), "sinpi": math.sin(math.pi * X), "sqrt": math.sqrt(X),
    "tan": math.tan(X), "tanh": math.tanh(X), "tgamma": math.gamma(X), "trunc": 0, "atan2": math.atan2(X, Y),
    "copysign": X, "fdim": 0, "fmax": Y, "fmin": X, "fmod": X, "hypot": math.hypot(X, Y),
    "nextafter": math.nextafter(X, Y), "pow": X**Y, "remainder": math.remainder(X, Y), "fma": X * Y + Z,
}  # fmt: skip


def test_real_functions(run):
    found = run([*VALUES, *(f"{name}f" for name in VALUES)])
    for name, value in VALUES.items():
        assert found[name] == pytest.approx(value, rel=1e-12, nan_ok=True), name
        assert found[f"{name}f"] == pytest.approx(value, rel=2e-6, nan_ok=True), name


def test_inverse_functions(run):
    found = run(["erfinv", "erfcinv", "normcdfinv"])
    assert math.erf(found["erfinv"]) == pytest.approx(X, rel=1e-12)
    assert math.erfc(found["erfcinv"]) == pytest.approx(X, rel=1e-12)
    assert gauss(found["normcdfinv"]) == pytest.approx(X, rel=1e-12)


WHOLE = {
    "abs": 11, "llabs": 11, "max": 11, "min": 3, "umax": 11, "umin": 3, "llmax": 11, "llmin": 3, "ullmax": 11,
    "ullmin": 3, "clz": 28, "ffs": 1, "popc": 3, "brev": 0xD0000000, "clzll": 60, "ffsll": 1, "popcll": 3,
    "brevll": 0xD000000000000000, "mul24": 33, "umul24": 33, "mulhi": 0, "umulhi": 0, "mul64hi": 0, "umul64hi": 0,
    "hadd": 7, "rhadd": 7, "uhadd": 7, "urhadd": 7, "sad": 13, "usad": 13, "float_as_int": np.float32(X).view(np.int32),
    "double_as_longlong": np.float64(X).view(np.int64), "int_as_float": np.int32(11).view(np.float32),
    "longlong_as_double": np.int64(11).view(np.float64), "double2hiint": int(np.float64(X).view(np.int64)) >> 32,
    "double2loint": np.float64(X).view(np.int64).astype(np.int32), "hiloint2double":
    np.int64((11 << 32) + 3).view(np.float64), "ldexp": X * 2**3 / 8 * 2**0 if False else X * 2**3, "scalbn": X * 2**3,
    "ilogb": -1, "llrint": 1, "llround": 1, "isnand": 0, "isinfd": 0, "isfinited": 1, "signbitd": 0, "isnanf": 0,
    "isinff": 0, "finitef": 1, "signbitf": 0, "saturatef": np.float32(X), "powi": X**3,
}  # fmt: skip
WHOLE["ldexp"] = WHOLE["scalbn"]


def test_other_functions(run):
    for name, value in run([*WHOLE]).items():
        assert value == pytest.approx(float(WHOLE[name]), rel=1e-12, abs=0), name


def test_every_function_is_compiled(run):
    found = run([*LIBDEVICE])
    assert len(found) > 300 and all(name in libdevice.__all__ for name in found)
    odd = {name for name, value in found.items() if not math.isfinite(value)}
    assert odd == {"acosh", "acoshf"}
    assert found["fast_sinf"] == pytest.approx(math.sin(X), abs=1e-5)
    assert found["fast_powf"] == pytest.approx(X**Y, abs=1e-5)
    assert "float32" in LIBDEVICE["sinf"].__doc__ or "f32" in LIBDEVICE["sinf"].__doc__


def exact(name, a, b, c):
    """The exact value as a fraction; roots are not supported."""
    from fractions import Fraction

    a, b, c = map(Fraction, (a, b, c))
    return {"add": a + b, "sub": a - b, "mul": a * b, "div": a / b, "rcp": 1 / a, "fma": a * b + c}[name]


@cuda.jit
def rounded64(x, y, z, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        a, b, c = x[i], y[i], z[i]
        out[0, 0, i], out[0, 1, i] = libdevice.dadd_rd(a, b), libdevice.dadd_ru(a, b)
        out[1, 0, i], out[1, 1, i] = libdevice.dsub_rd(a, b), libdevice.dsub_ru(a, b)
        out[2, 0, i], out[2, 1, i] = libdevice.dmul_rd(a, b), libdevice.dmul_ru(a, b)
        out[3, 0, i], out[3, 1, i] = libdevice.ddiv_rd(a, b), libdevice.ddiv_ru(a, b)
        out[4, 0, i], out[4, 1, i] = libdevice.drcp_rd(a), libdevice.drcp_ru(a)
        out[5, 0, i], out[5, 1, i] = libdevice.fma_rd(a, b, c), libdevice.fma_ru(a, b, c)
        out[6, 0, i], out[6, 1, i] = libdevice.dadd_rz(a, b), libdevice.dmul_rz(a, b)


@cuda.jit
def rounded32(x, y, z, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        a, b, c = x[i], y[i], z[i]
        out[0, 0, i], out[0, 1, i] = libdevice.fadd_rd(a, b), libdevice.fadd_ru(a, b)
        out[1, 0, i], out[1, 1, i] = libdevice.fsub_rd(a, b), libdevice.fsub_ru(a, b)
        out[2, 0, i], out[2, 1, i] = libdevice.fmul_rd(a, b), libdevice.fmul_ru(a, b)
        out[3, 0, i], out[3, 1, i] = libdevice.fdiv_rd(a, b), libdevice.fdiv_ru(a, b)
        out[4, 0, i], out[4, 1, i] = libdevice.frcp_rd(a), libdevice.frcp_ru(a)
        out[5, 0, i], out[5, 1, i] = libdevice.fmaf_rd(a, b, c), libdevice.fmaf_ru(a, b, c)
        out[6, 0, i], out[6, 1, i] = libdevice.fadd_rz(a, b), libdevice.fmul_rz(a, b)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_directed_rounding(dtype):
    rng = np.random.default_rng(7)
    x, y, z = (
        (rng.uniform(0.5, 1, 200) * 2.0 ** rng.integers(-20, 20, 200) * rng.choice([-1, 1], 200)).astype(dtype)
        for _ in range(3)
    )
    y[:10], z[:10] = 0.5, -0.5 * x[:10]
    out = np.zeros((7, 2, 200), dtype)
    (rounded64 if dtype == np.float64 else rounded32).forall(200)(x, y, z, out)
    for row, name in enumerate(("add", "sub", "mul", "div", "rcp", "fma")):
        for i in range(200):
            wanted, (below, above) = exact(name, *map(float, (x[i], y[i], z[i]))), map(float, out[row, :, i])
            assert below <= wanted <= above, (name, x[i], y[i])
            assert above == below or dtype(above) == np.nextafter(dtype(below), dtype(np.inf)), (name, x[i], y[i])
            assert (above == below) == (wanted == below), (name, x[i], y[i])
    for row, name in ((0, "add"), (2, "mul")):
        toward_zero = out[6, 0 if name == "add" else 1]
        smaller = np.where(np.abs(out[row, 0]) < np.abs(out[row, 1]), out[row, 0], out[row, 1])
        np.testing.assert_array_equal(toward_zero, smaller)


@cuda.jit
def converted(x, n, out, whole):
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[0, i], out[1, i] = libdevice.double2float_rd(x[i]), libdevice.double2float_ru(x[i])
        out[2, i], out[3, i] = libdevice.ll2float_rd(n[i]), libdevice.ll2float_ru(n[i])
        whole[0, i], whole[1, i] = libdevice.double2int_rd(x[i]), libdevice.double2int_ru(x[i])
        whole[2, i], whole[3, i] = libdevice.double2int_rz(x[i]), libdevice.double2int_rn(x[i])


def test_conversions():
    x = np.array([0.1, -0.1, 2.5, -2.5, 1e6 + 0.3, 3.5])
    n = np.array([2**53 + 1, -(2**53) - 1, 2**62 + 1, 3, -5, 2**24 + 1])
    out, whole = np.zeros((4, 6), np.float32), np.zeros((4, 6), np.int32)
    converted.forall(6)(x, n, out, whole)
    for row, given in ((0, x), (2, n)):
        for i in range(6):
            below, above, value = float(out[row, i]), float(out[row + 1, i]), given[i].item()
            assert below <= value <= above
            assert below == above or np.float32(above) == np.nextafter(np.float32(below), np.float32(np.inf))
    assert whole.tolist() == [
        [math.floor(v) for v in x], [math.ceil(v) for v in x], [math.trunc(v) for v in x], [round(v) for v in x],
    ]  # fmt: skip


@cuda.jit
def several(x, out):
    out[0], out[1] = libdevice.sincos(x[0])
    out[2], out[3] = libdevice.sincospi(x[0])
    out[4], out[5] = libdevice.modf(-x[1])
    out[6], out[7] = libdevice.frexp(x[1])
    out[8], out[9] = libdevice.remquo(x[2], x[3])
    out[10], out[11] = libdevice.sincosf(x[0])
    out[12], out[13] = libdevice.fast_sincosf(x[0])
    out[14], out[15] = libdevice.modff(x[1])
    out[16], out[17] = libdevice.frexpf(x[1])
    out[18], out[19] = libdevice.remquof(-x[2], x[3])
    out[20], out[21] = libdevice.sincospif(x[0])


def test_functions_with_several_results():
    x, out = np.array([0.3, 2.75, 17.0, 3.0]), np.zeros(22)
    several[1, 1](x, out)
    turn = math.pi * 0.3
    wanted = [math.sin(0.3), math.cos(0.3), math.sin(turn), math.cos(turn), -0.75, -2, 0.6875, 2, -1, 6]
    wanted += [math.sin(0.3), math.cos(0.3)] * 2 + [0.75, 2, 0.6875, 2, 1, -6, math.sin(turn), math.cos(turn)]
    np.testing.assert_allclose(out, wanted, rtol=1e-5)


def test_outside_of_kernels():
    with pytest.raises(TypeError, match="'sinf' is device code: kernels call it"):
        libdevice.sinf(1.0)
