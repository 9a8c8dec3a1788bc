"""Sums of 10 rows of M numbers on the GPU, by mapping, and loops of launches with and without CUDA graphs.

    python benchmarks/gpu_row_sums.py [--quick] [--out FILE]

Needs a GPU and CuPy; PyTorch adds a column if it is installed. Kernel time: the best of five batches of queued calls,
by events; enqueue time: median of one call without synchronisation. Mappings: one thread per row, one block per row,
many blocks per row, a cluster of 16 blocks per row, and that of the automatic mode. A loop of launches: 1000 steps of a
1-D stencil of 128 numbers in one call.
Results are checked against NumPy. Writes benchmarks/results/gpu_row_sums.json.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np

import parpy
from parpy import threads

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from gpu.kernels import row_sums  # noqa: E402

CUDA = parpy.CompileBackend.Cuda
ROWS, STEPS = 10, 1000


@parpy.jit
def steps(x, y, times):
    for _ in range(times):
        parpy.label("i")
        for i in range(1, x.shape[0] - 1):
            y[i] = 0.5 * (x[i - 1] + x[i + 1])
        parpy.label("i")
        for i in range(1, x.shape[0] - 1):
            x[i] = y[i]


def mappings(m: int) -> dict[str, parpy.CompileOptions]:
    blocks = max(2048, min(m // 16, 1 << 18) // 1024 * 1024)
    ways = {
        "thread per row": {"i": threads(ROWS)},
        "block per row": {"i": threads(ROWS), "j": threads(1024).reduce()},
        "blocks per row": {"i": threads(ROWS), "j": threads(blocks).reduce()},
    }
    options = {name: parpy.CompileOptions(parallelize=p, backend=CUDA) for name, p in ways.items()}
    cluster = parpy.CompileOptions(
        parallelize={"i": threads(ROWS), "j": threads(16 * 1024).reduce()},
        backend=CUDA,
        use_cuda_thread_block_clusters=True,
        max_thread_blocks_per_cluster=16,
    )
    return options | {"cluster per row": cluster, "automatic": parpy.auto(backend=CUDA)}


def timed(call: Callable[[], object], budget: float) -> tuple[float, float]:
    """Microseconds on the device, and of the enqueueing alone."""
    call()
    cp.cuda.Device().synchronize()
    begin = time.perf_counter()
    call()
    cp.cuda.Device().synchronize()
    count = max(1, min(100, int(budget / max(time.perf_counter() - begin, 1e-6) / 5)))
    device, enqueue = [], []
    for _ in range(5):
        first, last = cp.cuda.Event(), cp.cuda.Event()
        first.record()
        begin = time.perf_counter()
        for _ in range(count):
            call()
        enqueue.append((time.perf_counter() - begin) / count * 1e6)
        last.record()
        last.synchronize()
        device.append(cp.cuda.get_elapsed_time(first, last) / count * 1e3)
    return min(device), statistics.median(enqueue)


def measure_rows(sizes: list[int]) -> list[dict[str, Any]]:
    rows = []
    for dtype in (np.float32, np.float64):
        for m in sizes:
            x = cp.random.default_rng(0).random((ROWS, m), dtype=dtype)
            y = cp.zeros(ROWS, dtype)
            want = cp.asnumpy(x.sum(axis=1, dtype=np.float64))
            ways: dict[str, Callable[[], object]] = {}
            for name, opts in mappings(m).items():
                if name == "thread per row" and m > 1_000_000:
                    continue
                ways[name] = partial(row_sums, x, y, ROWS, m, opts=opts)
            found: dict[str, Any] = {"type": np.dtype(dtype).name, "M": m}
            for name, call in ways.items():
                call()
                np.testing.assert_allclose(cp.asnumpy(y), want, rtol=1e-3 if dtype == np.float32 else 1e-9)
                found[name] = timed(call, 0.2)
            found["cupy"] = timed(partial(x.sum, axis=1, out=y), 0.2)
            if importlib.util.find_spec("torch"):
                import torch

                a, b = torch.from_dlpack(x), torch.from_dlpack(y)
                found["torch"] = timed(partial(torch.sum, a, 1, out=b), 0.2)
            rows.append(found)
            best = min(found[name][0] for name in ways)
            peer = min(found[name][0] for name in ("cupy", "torch") if name in found)
            shown = "  ".join(f"{name} {found[name][0]:.1f}" for name in [*ways, "cupy", "torch"] if name in found)
            print(f"{found['type']:<8} M = {m:<10} µs: {shown}   best / faster peer = {best / peer:.2f}")
    return rows


def measure_loop() -> dict[str, float]:
    out = {}
    for graphs in (False, True):
        opts = parpy.CompileOptions(parallelize={"i": threads(128)}, backend=CUDA, use_cuda_graphs=graphs)
        x, y = cp.arange(128.0) ** 2, cp.zeros(128)
        want, other = cp.asnumpy(x), np.zeros(128)
        steps(x, y, STEPS // 2, opts=opts)
        for _ in range(STEPS // 2):
            other[1:-1] = 0.5 * (want[:-2] + want[2:])
            want[1:-1] = other[1:-1]
        np.testing.assert_allclose(cp.asnumpy(x), want, rtol=1e-12)
        device, enqueue = timed(partial(steps, x, y, STEPS // 2, opts=opts), 0.2)
        name = "graphs" if graphs else "launches"
        out[name], out[f"{name}, enqueue"] = device / STEPS, enqueue / STEPS
        print(f"1000 launches, {name}: {out[name]:.2f} µs each on the device, {enqueue / STEPS:.2f} to enqueue")
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer sizes")
    parser.add_argument("--out", type=Path, default=HERE / "results/gpu_row_sums.json")
    arguments = parser.parse_args()
    powers = (3, 6, 7) if arguments.quick else range(1, 9)
    facts = {
        "device": cp.cuda.runtime.getDeviceProperties(0)["name"].decode(),
        "loop_us": measure_loop(),
        "rows_us": measure_rows([10**p for p in powers]),
    }
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
