"""The cost of one GPU call on the host, and of compiling one.

    python benchmarks/gpu_launch.py [--out FILE]

Needs a GPU and CuPy; PyTorch, cuda-bindings and a C compiler add rows if they are installed. The kernel is
z = a * x + y on 128 doubles on the device. Enqueue: median ns of a call without synchronisation,
all ways alternating in one process; the raw ways launch the machine code of ParPy's own kernel
with prepared arguments. Cold: from the first call of a new axpy to its end, NVRTC loaded, disk
cache off. Writes benchmarks/results/gpu_launch.json.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib.util
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["PARPY_CACHE"] = "0"

import cupy as cp
import numpy as np

import parpy
from parpy import _native, threads

HERE = Path(__file__).parent
COUNT = 128
CUDA = parpy.CompileBackend.Cuda
FACTOR = 2.5


@parpy.jit
def triad(a, x, y, z, N):
    parpy.label("i")
    for i in range(N):
        z[i] = a * x[i] + y[i]


OPTIONS = parpy.CompileOptions(parallelize={"i": threads(COUNT)}, backend=CUDA)


# ------------------------------------------------------------------ enqueue


def raw_launches(x: Any, y: Any, z: Any) -> dict[str, Callable[[], object]]:
    """The same machine code through the driver alone: ctypes, cuda-bindings, and a loop in C."""
    text = parpy.print_compiled(triad, [FACTOR, x, y, z, COUNT], OPTIONS)
    device = text.split("// ---- device code ----")[-1].split("// ---- host code ----")[0]
    image = _native.compile_cuda(device, "triad.cu", f"sm_{cp.cuda.Device().compute_capability}")
    name, parameters = re.findall(r"__global__ void (?:__launch_bounds__\([^)]*\) )?(\w+)\(([^)]*)\)", device)[0]
    values = {
        "x": ctypes.c_uint64(x.data.ptr),
        "y": ctypes.c_uint64(y.data.ptr),
        "z": ctypes.c_uint64(z.data.ptr),
        "a": ctypes.c_double(FACTOR),
    }
    kept = [values.get(re.findall(r"\w+", p)[-1], ctypes.c_int64(COUNT)) for p in parameters.split(",")]
    packed = (ctypes.c_void_p * len(kept))(*[ctypes.addressof(v) for v in kept])
    driver, module, function = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(), ctypes.c_void_p()
    if driver.cuModuleLoadData(ctypes.byref(module), image) or driver.cuModuleGetFunction(
        ctypes.byref(function), module, name.encode()
    ):
        raise RuntimeError("the driver does not load the kernel")
    handle = function.value or 0

    launch = driver.cuLaunchKernel
    launch.argtypes = [ctypes.c_void_p, *[ctypes.c_uint] * 7, *[ctypes.c_void_p] * 3]
    where, pointer = ctypes.c_void_p(handle), ctypes.cast(packed, ctypes.c_void_p)
    none = ctypes.c_void_p(None)
    ways: dict[str, Callable[[], object]] = {
        "raw cuLaunchKernel, ctypes": lambda: launch(where, 1, 1, 1, COUNT, 1, 1, 0, none, pointer, none),
    }
    try:
        from cuda.bindings import driver as bindings
    except ImportError:
        pass
    else:
        cu_function, cu_stream, at = (
            bindings.CUfunction(handle),
            bindings.CUstream(0),
            ctypes.addressof(packed),
        )
        ways["raw cuLaunchKernel, cuda-bindings"] = lambda: bindings.cuLaunchKernel(
            cu_function, 1, 1, 1, COUNT, 1, 1, 0, cu_stream, at, 0
        )
    ways["_keep"] = lambda: (kept, packed)
    if compiler := shutil.which("cc"):
        loop = build_c_loop(compiler)
        ways["_c"] = lambda: loop(ctypes.cast(launch, ctypes.c_void_p), where, COUNT, pointer)
    return ways


def build_c_loop(compiler: str) -> Any:
    """LOOP raw launches in C: the cost of the driver itself."""
    folder = Path(tempfile.mkdtemp())
    (folder / "loop.c").write_text("""
        typedef unsigned U;
        typedef int (*Launch)(void*, U, U, U, U, U, U, U, void*, void**, void**);
        int loop(Launch launch, void* f, int block, void** arguments) {
            int result = 0;
            for (int i = 0; i < 100; ++i)
                result |= launch(f, 1, 1, 1, block, 1, 1, 0, 0, arguments, 0);
            return result;
        }""")
    subprocess.run(
        [
            compiler,
            "-O2",
            "-shared",
            "-fPIC",
            str(folder / "loop.c"),
            "-o",
            str(folder / "loop.so"),
        ],
        check=True,
    )
    loop = ctypes.CDLL(str(folder / "loop.so")).loop
    loop.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p]
    return loop


def enqueue_ns(ways: dict[str, Callable[[], object]], rounds: int = 60, batch: int = 100) -> dict[str, float]:
    """Median ns of a call. The GPU is idle when a batch begins and its queue never full."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, run in ways.items():
            repeats = range(1 if name == "_c" else batch)
            for _ in range(3):
                run()
            cp.cuda.Device().synchronize()
            begin = time.perf_counter_ns()
            for _ in repeats:
                run()
            times[name].append((time.perf_counter_ns() - begin) / batch)
            cp.cuda.Device().synchronize()
    return {name: statistics.median(collected) for name, collected in times.items()}


def measure_enqueue() -> dict[str, float]:
    x, y, z = (cp.random.default_rng(i).random(COUNT) for i in range(3))
    want = cp.asnumpy(FACTOR * x + y)

    def parpy_cupy() -> None:
        triad(FACTOR, x, y, z, COUNT, opts=OPTIONS)

    ways: dict[str, Callable[[], object]] = {"parpy, cupy arrays": parpy_cupy}
    parpy_cupy()
    np.testing.assert_array_equal(cp.asnumpy(z), want)
    ways.update(raw_launches(x, y, z))
    for name in [n for n in ways if n.startswith("raw")]:
        z.fill(np.nan)
        ways[name]()
        np.testing.assert_array_equal(cp.asnumpy(z), want)
    keep = ways.pop("_keep")
    raw = cp.RawKernel(
        """extern "C" __global__
        void triad(double a, const double* x, const double* y, double* z, long n) {
            long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
            if (i < n) z[i] = a * x[i] + y[i];
        }""",
        "triad",
    )
    ways["cupy RawKernel"] = lambda: raw((1,), (COUNT,), (FACTOR, x, y, z, COUNT))
    if importlib.util.find_spec("torch"):
        import torch

        tensors = [torch.from_dlpack(a) for a in (x, y, z)]
        ways["parpy, torch tensors"] = lambda: triad(FACTOR, *tensors, COUNT, opts=OPTIONS)
        ways["torch.add(y, x, alpha=a, out=z)"] = lambda: torch.add(
            tensors[1], tensors[0], alpha=FACTOR, out=tensors[2]
        )
    times = enqueue_ns(ways)
    keep()
    if "_c" in times:
        times["raw cuLaunchKernel, C loop"] = times.pop("_c")
    return times


# ------------------------------------------------------------------ cold compile


def measure_cold(count: int = 11) -> list[float]:
    """Times of functions that are each new and have a constant of their own: nothing can be reused."""
    folder = Path(tempfile.mkdtemp())
    x, y = cp.random.default_rng(0).random(1000), cp.zeros(1000)
    opts = parpy.CompileOptions(parallelize={"i": threads(1000)}, backend=CUDA)
    times = []
    for k in range(count):
        file = folder / f"cold{k}.py"
        file.write_text(
            "import parpy\n\n@parpy.jit\ndef axpy(a, x, y, N):\n    parpy.label('i')\n"
            f"    for i in range(N):\n        y[i] = a * x[i] + y[i] + {k}.0\n"
        )
        spec = importlib.util.spec_from_file_location(f"cold{k}", file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        cp.cuda.Device().synchronize()
        begin = time.perf_counter()
        module.axpy(0.5, x, y, 1000, opts=opts)
        cp.cuda.Device().synchronize()
        times.append(1e3 * (time.perf_counter() - begin))
    return times[1:]  # the first includes loading NVRTC


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=HERE / "results/gpu_launch.json")
    arguments = parser.parse_args()
    times = measure_enqueue()
    cold = measure_cold()
    best_raw = min(ns for name, ns in times.items() if name.startswith("raw") and "C loop" not in name)
    print(f"{'one call of z = a x + y, 128 f64':<38} {'ns':>8} {'/ raw':>7}")
    for name, ns in sorted(times.items(), key=lambda item: item[1]):
        print(f"{name:<38} {ns:>8.0f} {ns / best_raw:>7.2f}")
    median = statistics.median(cold)
    print(f"cold compile of axpy: median {median:.1f} ms, min {min(cold):.1f} (target 60)")
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(
        json.dumps(
            {
                "device": cp.cuda.runtime.getDeviceProperties(0)["name"].decode(),
                "python": sys.version.split()[0],
                "enqueue_ns": times,
                "best_raw_ns": best_raw,
                "ratio_to_raw": {name: ns / best_raw for name, ns in times.items() if name.startswith("parpy")},
                "cold_compile_ms": {
                    "median": statistics.median(cold),
                    "min": min(cold),
                    "all": cold,
                },
            },
            indent=1,
        )
        + "\n"
    )


if __name__ == "__main__":
    main()
