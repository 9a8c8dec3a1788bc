"""Arguments for every program: random, from a generator, never zeros. The sizes are small unless others are given."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

Arguments = tuple[Any, ...]


def uniform(rng: np.random.Generator, *shape: int, dtype: type = np.float64) -> np.ndarray:
    return (rng.random(shape) + 0.1).astype(dtype)


def complex_numbers(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return uniform(rng, *shape) + 1j * uniform(rng, *shape)


def positive_definite(rng: np.random.Generator, n: int) -> np.ndarray:
    a = uniform(rng, n, n)
    return a @ a.T + n * np.eye(n)


def dominant(rng: np.random.Generator, n: int) -> np.ndarray:
    return uniform(rng, n, n) + n * np.eye(n)


def adi(rng, steps=2, n=12):
    return steps, n, uniform(rng, n, n)


def arc_distance(rng, n=50):
    return tuple(uniform(rng, n) for _ in range(4))


def atax(rng, m=7, n=9):
    return uniform(rng, m, n), uniform(rng, n)


def azimint(rng, n=400, npt=10):
    return uniform(rng, n), uniform(rng, n), npt


def bicg(rng, n=9, m=7):
    return uniform(rng, n, m), uniform(rng, m), uniform(rng, n)


def cavity_flow(rng, n=11, nt=3, nit=4):
    u, v, p = (0.1 * uniform(rng, n, n) for _ in range(3))
    return n, n, nt, nit, u, v, 0.1 / ((n - 1) * (n - 1)), 2 / (n - 1), 2 / (n - 1), p, 1.0, 0.1


def channel_flow(rng, n=11, nit=4):
    u, v, p = (0.01 * uniform(rng, n, n) for _ in range(3))
    # Slow enough to take tens of steps.
    return nit, u, v, 0.01 * (10 / (n - 1)) ** 2, 2 / (n - 1), 2 / (n - 1), p, 1.0, 0.1, 1.0


def cholesky(rng, n=10):
    return (positive_definite(rng, n),)


def compute(rng, m=6, n=8):
    a, b = (rng.integers(1, 1000, (m, n)) for _ in range(2))
    return a, b, np.int64(4), np.int64(3), np.int64(9)


def contour_integral(rng, nr=5, nm=7, points=6):
    z = np.exp(2j * np.pi * (np.arange(points) + 0.3) / points) * np.where(np.arange(points) % 2, 0.7, 1.4)
    ham = complex_numbers(rng, 3, nr, nr)
    ham[1] += 10 * np.eye(nr)
    return nr, nm, 2, ham, z, complex_numbers(rng, nr, nm)


def conv2d_bias(rng, n=2, ci=3, co=4, k=2, h=6, w=5):
    return (
        uniform(rng, n, h, w, ci, dtype=np.float32),
        uniform(rng, k, k, ci, co, dtype=np.float32),
        uniform(rng, co, dtype=np.float32),
    )


def correlation(rng, m=7, n=9):
    data = uniform(rng, n, m)
    data[:, 2] = 0.5 + 0.01 * data[:, 2]  # a column with a small deviation
    return m, np.float64(n), data


def covariance(rng, m=7, n=9):
    return m, np.float64(n), uniform(rng, n, m)


def covariance2(rng, m=7, n=9):
    return (uniform(rng, n, m),)


def crc16(rng, n=60):
    return (rng.integers(1, 256, n).astype(np.uint8),)


def deriche(rng, w=9, h=8):
    return 0.25, uniform(rng, w, h)


def doitgen(rng, nr=4, nq=5, np_=6):
    return nr, nq, np_, uniform(rng, nr, nq, np_), uniform(rng, np_, np_)


def durbin(rng, n=12):
    return (uniform(rng, n) / (4 * n),)


def fdtd_2d(rng, steps=3, nx=8, ny=9):
    return steps, uniform(rng, nx, ny), uniform(rng, nx, ny), uniform(rng, nx, ny), uniform(rng, steps)


def floyd_warshall(rng, n=9):
    return (rng.integers(1, 100, (n, n)).astype(np.int32),)


def gemm(rng, ni=6, nj=7, nk=8):
    return 1.5, 1.2, uniform(rng, ni, nj), uniform(rng, ni, nk), uniform(rng, nk, nj)


def gemver(rng, n=9):
    return 1.5, 1.2, uniform(rng, n, n), *(uniform(rng, n) for _ in range(8))


def gesummv(rng, n=9):
    return 1.5, 1.2, uniform(rng, n, n), uniform(rng, n, n), uniform(rng, n)


def go_fast(rng, n=9):
    return (uniform(rng, n, n),)


def gramschmidt(rng, m=9, n=7):
    return (uniform(rng, m, n) + np.eye(m, n),)


def hdiff(rng, i=6, j=7, k=5):
    return rng.normal(size=(i + 4, j + 4, k)), uniform(rng, i, j, k), uniform(rng, i, j, k)


def heat_3d(rng, steps=3, n=7):
    return steps, uniform(rng, n, n, n), uniform(rng, n, n, n)


def jacobi_1d(rng, steps=4, n=20):
    return steps, uniform(rng, n), uniform(rng, n)


def jacobi_2d(rng, steps=4, n=9):
    return steps, uniform(rng, n, n), uniform(rng, n, n)


def k2mm(rng, ni=5, nj=6, nk=7, nl=8):
    return 1.5, 1.2, uniform(rng, ni, nk), uniform(rng, nk, nj), uniform(rng, nj, nl), uniform(rng, ni, nl)


def k3mm(rng, ni=5, nj=6, nk=7, nl=8, nm=9):
    return uniform(rng, ni, nk), uniform(rng, nk, nj), uniform(rng, nj, nl), uniform(rng, nl, nm)


def lenet(rng, n=2, h=16, w=16, c1=4, c2=6, f1=20, f2=12):
    h2, w2 = ((h - 4) // 2 - 4) // 2, ((w - 4) // 2 - 4) // 2
    before = c2 * h2 * w2

    def f32(*shape):
        return (rng.random(shape) - 0.4).astype(np.float32)

    layers = f32(before, f1), f32(f1), f32(f1, f2), f32(f2), f32(f2, 10), f32(10)
    return f32(n, h, w, 1), f32(5, 5, 1, c1), f32(c1), f32(5, 5, c1, c2), f32(c2), *layers, n, before


def lu(rng, n=10):
    return (dominant(rng, n),)


def ludcmp(rng, n=10):
    return dominant(rng, n), uniform(rng, n)


def mandelbrot1(rng, xn=12, yn=11, steps=12):
    return -1.75 + 0.01 * rng.random(), 0.25, -1.0, 1.0, xn, yn, steps


def mandelbrot2(rng, xn=12, yn=11, steps=12):
    return mandelbrot1(rng, xn, yn, steps)


def mlp(rng, c=3, n=4, s0=10, s1=8, s2=6):
    def f32(*shape):
        return (rng.random(shape) - 0.4).astype(np.float32)

    # Deviations stay near 1 from layer to layer, or softmax would find one winner.
    w2, w3 = f32(s0, s1) / np.float32(s0) ** 0.5, f32(s1, s2) / np.float32(s1) ** 0.5
    return f32(n, c), f32(c, s0), f32(s0), w2, f32(s1), w3, f32(s2)


def mvt(rng, n=9):
    return *(uniform(rng, n) for _ in range(4)), uniform(rng, n, n)


def nbody(rng, n=6, nt=4):
    mass = 20.0 / n * np.ones((n, 1)) + 0.1 * uniform(rng, n, 1)
    return mass, rng.normal(size=(n, 3)), rng.normal(size=(n, 3)), n, nt, 0.05, 1.0, 0.1


def nussinov(rng, n=11):
    return n, rng.integers(0, 4, n).astype(np.int32)


def resnet(rng, n=3, w=5, h=4, c1=6, c2=3):
    def f32(*shape):
        return (rng.random(shape) - 0.4).astype(np.float32)

    return f32(n, h, w, c1), f32(1, 1, c1, c2), f32(3, 3, c2, c2), f32(1, 1, c2, c1)


def scattering_self_energies(rng, nkz=2, ne=3, nqz=2, nw=2, n3d=2, na=3, nb=2, norb=2):
    return (
        rng.integers(0, na, (na, nb)).astype(np.int32),
        complex_numbers(rng, na, nb, n3d, norb, norb),
        complex_numbers(rng, nkz, ne, na, norb, norb),
        complex_numbers(rng, nqz, nw, na, nb, n3d, n3d),
        complex_numbers(rng, nkz, ne, na, norb, norb),
    )


def seidel_2d(rng, steps=3, n=9):
    return steps, n, uniform(rng, n, n)


def softmax(rng, n=2, h=3, s=5):
    return (rng.normal(size=(n, h, s, s)).astype(np.float32),)


def spmv(rng, m=12, n=10, nnz=30):
    rows = np.sort(rng.integers(0, m, nnz))
    start = np.searchsorted(rows, np.arange(m + 1)).astype(np.uint32)
    return start, rng.integers(0, n, nnz).astype(np.uint32), uniform(rng, nnz), uniform(rng, n)


def stockham_fft(rng, r=2, k=5):
    n = r**k
    return n, r, k, complex_numbers(rng, n), complex_numbers(rng, n)


def symm(rng, m=7, n=9):
    return 1.5, 1.2, uniform(rng, m, n), uniform(rng, m, m), uniform(rng, m, n)


def syr2k(rng, m=7, n=9):
    return 1.5, 1.2, uniform(rng, n, n), uniform(rng, n, m), uniform(rng, n, m)


def syrk(rng, m=7, n=9):
    return 1.5, 1.2, uniform(rng, n, n), uniform(rng, n, m)


def trisolv(rng, n=12):
    return dominant(rng, n), uniform(rng, n), uniform(rng, n)


def trmm(rng, m=7, n=9):
    return 1.5, uniform(rng, m, m), uniform(rng, m, n)


def vadv(rng, i=4, j=5, k=6):
    a, u, p, t = (uniform(rng, i, j, k) for _ in range(4))
    return a, u, uniform(rng, i + 1, j, k), p, t, 3.0 / 20.0


# The functions that make the arguments of a program. Sizes are keywords.
PROGRAMS: dict[str, Callable[..., Arguments]] = {
    "adi": adi,
    "arc_distance": arc_distance,
    "atax": atax,
    "azimint_hist": azimint,
    "azimint_naive": azimint,
    "bicg": bicg,
    "cavity_flow": cavity_flow,
    "channel_flow": channel_flow,
    "cholesky": cholesky,
    "cholesky2": cholesky,
    "compute": compute,
    "contour_integral": contour_integral,
    "conv2d_bias": conv2d_bias,
    "correlation": correlation,
    "covariance": covariance,
    "covariance2": covariance2,
    "crc16": crc16,
    "deriche": deriche,
    "doitgen": doitgen,
    "durbin": durbin,
    "fdtd_2d": fdtd_2d,
    "floyd_warshall": floyd_warshall,
    "gemm": gemm,
    "gemver": gemver,
    "gesummv": gesummv,
    "go_fast": go_fast,
    "gramschmidt": gramschmidt,
    "hdiff": hdiff,
    "heat_3d": heat_3d,
    "jacobi_1d": jacobi_1d,
    "jacobi_2d": jacobi_2d,
    "k2mm": k2mm,
    "k3mm": k3mm,
    "lenet": lenet,
    "lu": lu,
    "ludcmp": ludcmp,
    "mandelbrot1": mandelbrot1,
    "mandelbrot2": mandelbrot2,
    "mlp": mlp,
    "mvt": mvt,
    "nbody": nbody,
    "nussinov": nussinov,
    "resnet": resnet,
    "scattering_self_energies": scattering_self_energies,
    "seidel_2d": seidel_2d,
    "softmax": softmax,
    "spmv": spmv,
    "stockham_fft": stockham_fft,
    "symm": symm,
    "syr2k": syr2k,
    "syrk": syrk,
    "trisolv": trisolv,
    "trmm": trmm,
    "vadv": vadv,
}


def initialize(name: str, seed: int = 0, **sizes: int) -> Arguments:
    """The arguments of a program, in the order of its parameters."""
    return PROGRAMS[name](np.random.default_rng(seed + math.prod(map(ord, name[:4]))), **sizes)
