"""Kernels written by hand: parpy.cuda beside the same CUDA C++ as a RawKernel of CuPy, and beside numba-cuda.

    python benchmarks/kernels_by_hand.py [--out FILE] [--small]

Needs a GPU and CuPy; numba-cuda adds a column if it is installed. Kernel time between two events, the best of ten: a
matrix product in tiles (4096², float32 and float64), a tree reduction (10^8), a 2-D stencil (8192²), a histogram with
shared atomics (10^8), the forces of an N-body step (32768 bodies), exact and with fastmath. The CUDA C++ is built with
the flags that ParPy uses: by default CuPy adds -ftz=true (subnormal numbers are zero), which makes rsqrtf cheaper.
Enqueue: median ns of a launch of z = a * x + y on 128 doubles without synchronisation, alternating. Cold: from a
new kernel to the end of its first launch, disk cache off. All results are the same, which is checked. Writes
benchmarks/results/kernels_by_hand.json.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["PARPY_CACHE"] = "0"

import cupy as cp
import numpy as np
from cupy.cuda import nvrtc
from gpu.tiled_product import T, tiled_product
from gpu_launch import raw_launches

from parpy import cuda

if not hasattr(np, "row_stack"):  # numba-cuda uses it; NumPy 2.5 has removed it
    np.row_stack = np.vstack
try:
    from numba import cuda as numba_cuda
except ImportError:
    numba_cuda = None

HERE = Path(__file__).parent
BINS, BODIES = 256, 256

# ------------------------------------------------------------------ in CUDA C++

RAW = r"""
template <class E> __device__ void matmul(const E* a, const E* b, E* c, int n) {
    __shared__ E sa[16][16], sb[16][16];
    const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
    E total = 0;
    for (int i = 0; i < n / 16; ++i) {
        sa[ty][tx] = a[(long long)y * n + tx + i * 16];
        sb[ty][tx] = b[(long long)(ty + i * 16) * n + x];
        __syncthreads();
        for (int k = 0; k < 16; ++k) total += sa[ty][k] * sb[k][tx];
        __syncthreads();
    }
    c[(long long)y * n + x] = total;
}
extern "C" __global__ void matmul_f32(const float* a, const float* b, float* c, int n) { matmul(a, b, c, n); }
extern "C" __global__ void matmul_f64(const double* a, const double* b, double* c, int n) { matmul(a, b, c, n); }
extern "C" __global__ void tree_sum(const float* x, float* out, int n) {
    __shared__ float s[256];
    const int t = threadIdx.x;
    float own = 0;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) own += x[i];
    s[t] = own;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (t < step) s[t] += s[t + step];
        __syncthreads();
    }
    if (t == 0) atomicAdd(out, s[0]);
}
extern "C" __global__ void stencil(const float* a, float* b, int n) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && x < n - 1 && y > 0 && y < n - 1) {
        const long long at = (long long)y * n + x;
        b[at] = 0.25f * (a[at - 1] + a[at + 1] + a[at - n] + a[at + n]);
    }
}
extern "C" __global__ void histogram(const unsigned char* x, int* bins, int n) {
    __shared__ int mine[256];
    const int t = threadIdx.x;
    mine[t] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) atomicAdd(&mine[x[i]], 1);
    __syncthreads();
    atomicAdd(&bins[t], mine[t]);
}
extern "C" __global__ void nbody(const float* px, const float* py, const float* pz, float* f, int n) {
    __shared__ float sx[256], sy[256], sz[256];
    const int t = threadIdx.x, i = blockIdx.x * 256 + t;
    const float x = px[i], y = py[i], z = pz[i];
    float fx = 0, fy = 0, fz = 0;
    for (int tile = 0; tile < n / 256; ++tile) {
        sx[t] = px[tile * 256 + t];
        sy[t] = py[tile * 256 + t];
        sz[t] = pz[tile * 256 + t];
        __syncthreads();
        for (int j = 0; j < 256; ++j) {
            const float dx = sx[j] - x, dy = sy[j] - y, dz = sz[j] - z;
            const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            const float weight = inverse * inverse * inverse;
            fx += weight * dx;
            fy += weight * dy;
            fz += weight * dz;
        }
        __syncthreads();
    }
    f[i] = fx;
    f[n + i] = fy;
    f[2 * n + i] = fz;
}
"""

# ------------------------------------------------------------------ in Python, for parpy.cuda and numba.cuda


def kernels(cuda: Any, types: Any) -> dict[str, Any]:
    """The kernels under one of the two `cuda` modules; `types` has its number types."""
    rsqrt = cuda.rsqrt if hasattr(cuda, "rsqrt") else cuda.libdevice.rsqrtf

    float32, int32 = types.float32, types.int32

    @cuda.jit
    def tree_sum(x, out):
        s = cuda.shared.array(256, float32)
        t = cuda.threadIdx.x
        own = float32(0)
        for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
            own += x[i]
        s[t] = own
        cuda.syncthreads()
        step = 128
        while step > 0:
            if t < step:
                s[t] += s[t + step]
            cuda.syncthreads()
            step //= 2
        if t == 0:
            cuda.atomic.add(out, 0, s[0])

    @cuda.jit
    def stencil(a, b):
        x, y = cuda.grid(2)
        if x > 0 and x < a.shape[1] - 1 and y > 0 and y < a.shape[0] - 1:
            b[y, x] = float32(0.25) * (a[y, x - 1] + a[y, x + 1] + a[y - 1, x] + a[y + 1, x])

    @cuda.jit
    def histogram(x, bins):
        mine = cuda.shared.array(BINS, int32)
        t = cuda.threadIdx.x
        mine[t] = 0
        cuda.syncthreads()
        for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
            cuda.atomic.add(mine, x[i], 1)
        cuda.syncthreads()
        cuda.atomic.add(bins, t, mine[t])

    def nbody(px, py, pz, f):
        sx = cuda.shared.array(BODIES, float32)
        sy = cuda.shared.array(BODIES, float32)
        sz = cuda.shared.array(BODIES, float32)
        t, i = cuda.threadIdx.x, cuda.grid(1)
        x, y, z = px[i], py[i], pz[i]
        fx, fy, fz = float32(0), float32(0), float32(0)
        for tile in range(px.shape[0] // BODIES):
            sx[t] = px[tile * BODIES + t]
            sy[t] = py[tile * BODIES + t]
            sz[t] = pz[tile * BODIES + t]
            cuda.syncthreads()
            for j in range(BODIES):
                dx, dy, dz = sx[j] - x, sy[j] - y, sz[j] - z
                inverse = rsqrt(dx * dx + dy * dy + dz * dz + float32(0.01))
                weight = inverse * inverse * inverse
                fx += weight * dx
                fy += weight * dy
                fz += weight * dz
            cuda.syncthreads()
        f[0, i], f[1, i], f[2, i] = fx, fy, fz

    return {
        "matmul float32": tiled_product(cuda, types.float32), "matmul float64": tiled_product(cuda, types.float64),
        "tree sum": tree_sum, "stencil": stencil, "histogram": histogram, "n-body": cuda.jit(nbody),
        "n-body, fastmath": cuda.jit(fastmath=True)(nbody),
    }  # fmt: skip


def cases(small: bool) -> dict[str, tuple[str, tuple[Any, Any], list[Any], int, tuple[Any, ...]]]:
    """By name: the CUDA C++ kernel, grid and block, arrays, the index of the result, further C arguments."""
    scale = 16 if small else 1
    n, many, wide, bodies = 4096 // scale, 10**8 // scale**2, 8192 // scale, 32768 // scale
    rng = cp.random.default_rng(0)
    floats = lambda *shape: rng.random(shape, cp.float32)  # noqa: E731
    found: dict[str, Any] = {}
    for name, kind in (("f32", cp.float32), ("f64", cp.float64)):
        a, b = (rng.random((n, n)).astype(kind) for _ in range(2))
        found[f"matmul float{name[1:]}"] = (
            f"matmul_{name}", ((n // T, n // T), (T, T)), [a, b, cp.zeros((n, n), kind)], 2, (np.int32(n),),
        )  # fmt: skip
    blocks = 8 * cuda.get_current_device().MULTIPROCESSOR_COUNT
    found["tree sum"] = ("tree_sum", (blocks, 256), [floats(many), cp.zeros(1, cp.float32)], 1, (np.int32(many),))
    found["stencil"] = (
        "stencil", ((wide // 32, wide // 8), (32, 8)), [floats(wide, wide), cp.zeros((wide, wide), cp.float32)], 1,
        (np.int32(wide),),
    )  # fmt: skip
    data = rng.integers(0, BINS, many, cp.uint8)
    found["histogram"] = ("histogram", (blocks, BINS), [data, cp.zeros(BINS, cp.int32)], 1, (np.int32(many),))
    found["n-body"] = found["n-body, fastmath"] = (
        "nbody", (bodies // BODIES, BODIES), [*(floats(bodies) for _ in range(3)), cp.zeros((3, bodies), cp.float32)],
        3, (np.int32(bodies),),
    )  # fmt: skip
    return found


# ------------------------------------------------------------------ measuring


def best_ms(launch: Callable[[], object]) -> float:
    begin, end = cp.cuda.Event(), cp.cuda.Event()
    launch()
    best = math.inf
    for _ in range(10):
        begin.record()
        launch()
        end.record()
        end.synchronize()
        best = min(best, cp.cuda.get_elapsed_time(begin, end))
    return best


def as_tuple(size: Any) -> tuple[int, ...]:
    return size if isinstance(size, tuple) else (size,)


def raw_module(folder: str, *flags: str) -> Any:
    """RAW compiled by NVRTC with these flags only (and without its cache, which ignores them)."""
    program = nvrtc.createProgram(RAW, "raw.cu", (), ())
    major, minor = cuda.get_current_device().compute_capability
    nvrtc.compileProgram(program, [f"-arch=sm_{major}{minor}", "--std=c++17", "--no-cache", *flags])
    path = Path(folder) / f"raw{len(flags)}.cubin"
    path.write_bytes(nvrtc.getCUBIN(program))
    return cp.RawModule(path=str(path))


def kernel_times(small: bool, folder: str) -> list[dict[str, Any]]:
    exact, fast = raw_module(folder), raw_module(folder, "--use_fast_math")
    ours = kernels(cuda, cuda.types)
    theirs = None
    if numba_cuda is not None:
        import numba

        theirs = kernels(numba_cuda, numba)
    rows = []
    for name, (symbol, (grid, block), arrays, result, more) in cases(small).items():
        function = (fast if name.endswith("fastmath") else exact).get_function(symbol)
        ways: dict[str, Callable[[], object]] = {
            "RawKernel": lambda f=function, g=grid, b=block, a=arrays, m=more: f(as_tuple(g), as_tuple(b), (*a, *m)),
            "parpy": lambda k=ours[name][grid, block], a=arrays: k(*a),
        }
        if theirs is not None:
            views = [numba_cuda.as_cuda_array(a) for a in arrays]
            ways["numba-cuda"] = lambda k=theirs[name][grid, block], a=views: k(*a)
        outcomes = {}
        for way, launch in ways.items():
            arrays[result].fill(0)
            launch()
            outcomes[way] = arrays[result].get()
        for way in ways:
            np.testing.assert_allclose(outcomes[way], outcomes["RawKernel"], rtol=2e-3, err_msg=f"{name}: {way}")
        rows.append({"kernel": name, **{way: best_ms(launch) for way, launch in ways.items()}})
    return rows


def enqueue_times() -> dict[str, float]:
    x, y, z = (cp.ones(128) for _ in range(3))

    @cuda.jit
    def triad(a, x, y, z):
        i = cuda.grid(1)
        if i < z.shape[0]:
            z[i] = a * x[i] + y[i]

    mine = [cuda.as_cuda_array(array) for array in (x, y, z)]
    launch = triad[1, 128]
    drivers = raw_launches(x, y, z)
    ways: dict[str, Callable[[], object]] = {name: way for name, way in drivers.items() if not name.startswith("_")}
    code = (
        'extern "C" __global__ void t(double a, const double* x, const double* y, double* z, int n)'
        "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) z[i] = a * x[i] + y[i]; }"
    )
    function = cp.RawKernel(code, "t")
    ways["CuPy RawKernel"] = lambda: function((1,), (128,), (2.5, x, y, z, np.int32(128)))
    ways["parpy, device arrays"] = lambda: launch(2.5, *mine)
    ways["parpy, CuPy arrays"] = lambda: launch(2.5, x, y, z)
    ways["parpy, k[grid, block] each time"] = lambda: triad[1, 128](2.5, *mine)
    if numba_cuda is not None:

        @numba_cuda.jit
        def numba_triad(a, x, y, z):
            i = numba_cuda.grid(1)
            if i < z.shape[0]:
                z[i] = a * x[i] + y[i]

        views = [numba_cuda.as_cuda_array(array) for array in (x, y, z)]
        configured = numba_triad[1, 128]
        ways["numba-cuda"] = lambda: configured(2.5, *views)
    samples: dict[str, list[int]] = {name: [] for name in ways}
    for round_ in range(2200):
        for name, way in ways.items():
            start = time.perf_counter_ns()
            way()
            taken = time.perf_counter_ns() - start
            if round_ >= 200:
                samples[name].append(taken)
        if round_ % 50 == 0:
            cp.cuda.Device().synchronize()
    return {name: statistics.median(taken) for name, taken in samples.items()}


COLD = """
@{module}.jit
def kernel(a, x, y, z):
    i = {module}.grid(1)
    if i < z.shape[0]:
        z[i] = a * x[i] + y[i] + {salt}
"""


def cold_ms(folder: Path, module: Any, arrays: list[Any], count: int = 9) -> float:
    """The median over new kernels, each from its definition to the end of its first launch."""
    taken = []
    for salt in range(count):
        path = folder / f"cold_{module.__name__.split('.')[0]}_{salt}.py"
        path.write_text(
            f"from {module.__name__.rsplit('.', 1)[0]} import cuda\n" + COLD.format(module="cuda", salt=salt)
        )
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None
        made = importlib.util.module_from_spec(spec)
        start = time.perf_counter()
        spec.loader.exec_module(made)
        made.kernel[1, 128](2.5, *arrays)
        cp.cuda.Device().synchronize()
        taken.append(1e3 * (time.perf_counter() - start))
    return statistics.median(taken[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=HERE / "results/kernels_by_hand.json")
    parser.add_argument("--small", action="store_true", help="a sixteenth of each extent")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = kernel_times(arguments.small, folder)
    for row in rows:
        ratio = row["parpy"] / row["RawKernel"]
        numba = f"   numba-cuda {row['numba-cuda']:8.3f}" if "numba-cuda" in row else ""
        print(
            f"{row['kernel']:16} RawKernel {row['RawKernel']:8.3f} ms   parpy {row['parpy']:8.3f} = {ratio:.3f}{numba}"
        )
    enqueue = enqueue_times()
    for name, taken in enqueue.items():
        print(f"enqueue: {name:34} {taken:8.0f} ns")
    arrays = [cp.ones(128) for _ in range(3)]
    with tempfile.TemporaryDirectory() as folder:
        cold = {"parpy": cold_ms(Path(folder), cuda, arrays)}
        if numba_cuda is not None:
            cold["numba-cuda"] = cold_ms(Path(folder), numba_cuda, [numba_cuda.as_cuda_array(a) for a in arrays])
    print("cold: " + ", ".join(f"{name} {taken:.1f} ms" for name, taken in cold.items()))
    result = {"kernels_ms": rows, "enqueue_ns": enqueue, "cold_ms": cold}
    arguments.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
