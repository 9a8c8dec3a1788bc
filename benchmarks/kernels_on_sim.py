"""The speed of CUDA kernels on the CPU in the simulator.

    python benchmarks/kernels_on_sim.py [--out FILE]

The product in tiles of two 256² float32 matrices (threads that wait: fibers), beside numba's simulator, if numba is
installed, on a sixteenth of the blocks, times sixteen. Kernels without barriers (y = a x + y on 10^7 float64, a 5-point
stencil on 2048² float32 in two shapes of blocks, the Mandelbrot set at 1024²) beside the same loops on the CPU back
end. Medians of calls that alternate, in ms. Writes benchmarks/results/kernels_on_sim.json.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from gpu.tiled_product import T, tiled_product

import parpy
from parpy import CompileBackend, CompileOptions, cuda, threads

HERE = Path(__file__).parent
matmul = tiled_product(cuda, np.float32)
NUMBA = """
import inspect, time
import numpy as np
from numba import cuda
from gpu import tiled_product as source

# Its simulator replaces `cuda` where that is a global of the kernel.
T = source.T
exec(inspect.getsource(source.tiled_product).replace("(cuda: Any, kind: Any) -> Any", "(kind)"))
matmul = tiled_product(np.float32)
n = 256
a, b = np.ones((n, n), np.float32), np.ones((n, n), np.float32)
c = np.zeros((n, n), np.float32)
start = time.perf_counter()
matmul[(n // T, 1), (T, T)](a, b, c)
print(16e3 * (time.perf_counter() - start))
assert (c[:T] == n).all()
"""


@cuda.jit
def axpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += a * x[i]


@parpy.jit
def axpy_loop(a, x, y, N):
    parpy.label("i")
    for i in range(N):
        y[i] += a * x[i]


@cuda.jit
def stencil(a, b):
    x, y = cuda.grid(2)
    if x > 0 and x < a.shape[1] - 1 and y > 0 and y < a.shape[0] - 1:
        b[y, x] = np.float32(0.2) * (a[y, x] + a[y, x - 1] + a[y, x + 1] + a[y - 1, x] + a[y + 1, x])


@parpy.jit
def stencil_loop(a, b, N):
    parpy.label("i")
    for y in range(1, N - 1):
        for x in range(1, N - 1):
            b[y, x] = np.float32(0.2) * (a[y, x] + a[y, x - 1] + a[y, x + 1] + a[y - 1, x] + a[y + 1, x])


@cuda.jit
def mandelbrot(image, limit):
    x, y = cuda.grid(2)
    if x < image.shape[1] and y < image.shape[0]:
        re, im = 3.0 * x / image.shape[1] - 2.1, 3.0 * y / image.shape[0] - 1.5
        u, v, steps = 0.0, 0.0, 0
        while steps < limit and u * u + v * v < 4.0:
            u, v = u * u - v * v + re, 2.0 * u * v + im
            steps += 1
        image[y, x] = steps


@parpy.jit
def mandelbrot_loop(image, limit, N):
    parpy.label("i")
    for y in range(N):
        for x in range(N):
            re, im = 3.0 * x / N - 2.1, 3.0 * y / N - 1.5
            u, v, steps = 0.0, 0.0, 0
            while steps < limit and u * u + v * v < 4.0:
                u, v = u * u - v * v + re, 2.0 * u * v + im
                steps += 1
            image[y, x] = steps


def median_ms(*calls: Callable[[], object]) -> list[float]:
    for call in calls:
        call()
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(15):
        for call, taken in zip(calls, times, strict=True):
            start = time.perf_counter()
            call()
            taken.append(1e3 * (time.perf_counter() - start))
    return [statistics.median(taken) for taken in times]


def numba_ms() -> float | None:
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    done = subprocess.run([sys.executable, "-c", NUMBA], capture_output=True, text=True, env=environment, cwd=HERE)
    return float(done.stdout) if done.returncode == 0 else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=HERE / "results/kernels_on_sim.json")
    out = parser.parse_args().out
    cuda.sim.enabled = True
    n = 256
    a, b, c = np.ones((n, n), np.float32), np.ones((n, n), np.float32), np.zeros((n, n), np.float32)
    product = {"parpy": median_ms(lambda: matmul[(n // T, n // T), (T, T)](a, b, c))[0], "numba": numba_ms()}
    assert (c == n).all()
    print(f"tiled product of {n}²: {product['parpy']:.1f} ms", end="")
    print(
        f", numba's simulator {product['numba']:.0f} ms: {product['numba'] / product['parpy']:.0f} x"
        if product["numba"]
        else ""
    )

    loops = CompileOptions(backend=CompileBackend.Cpu, parallelize={"i": threads(os.cpu_count() or 1)})
    x, y, N, S = np.random.default_rng(0).random(10**7), np.zeros(10**7), 2048, 1024
    s, t = np.random.default_rng(0).random((N, N), np.float32), np.zeros((N, N), np.float32)
    seen, same = np.zeros((S, S), np.int32), np.zeros((S, S), np.int32)
    cases = {
        "axpy": (lambda: axpy[x.size // 256 + 1, 256](2.0, x, y), lambda: axpy_loop(2.0, x, y, x.size, opts=loops)),
        "stencil, blocks of 32 x 8": (
            lambda: stencil[(N // 32, N // 8), (32, 8)](s, t), lambda: stencil_loop(s, t, N, opts=loops)
        ),
        "stencil, blocks of 256 x 1": (
            lambda: stencil[(N // 256, N), (256, 1)](s, t), lambda: stencil_loop(s, t, N, opts=loops)
        ),
        "mandelbrot": (
            lambda: mandelbrot[(S // 16, S // 16), (16, 16)](seen, 100),
            lambda: mandelbrot_loop(same, 100, S, opts=loops),
        ),
    }  # fmt: skip
    rows = []
    for name, (kernel, loop) in cases.items():
        simulator, loops_ms = median_ms(kernel, loop)
        rows.append({"kernel": name, "simulator": simulator, "loops": loops_ms})
        print(f"{name:26} {simulator:8.2f} ms, loops {loops_ms:8.2f} ms: {simulator / loops_ms:.2f} x")
    np.testing.assert_array_equal(seen, same)
    out.write_text(json.dumps({"product_ms": product, "without_barriers_ms": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
