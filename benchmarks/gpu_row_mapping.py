"""The quality of the automatic mapping of row sums, for rows of many shapes.

    python benchmarks/gpu_row_mapping.py [--out FILE]

Needs a GPU and CuPy. Sums of the rows of N x M float64: with a block per row of 32 to 1024 threads by hand, in
automatic mode compiled for the sizes, and in automatic mode by a function that has seen many sizes. Microseconds of a
call in a row of calls, medians. Writes benchmarks/results/gpu_row_mapping.json.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable
from functools import partial
from pathlib import Path

import cupy as cp

import parpy

HERE = Path(__file__).parent
CUDA = parpy.CompileBackend.Cuda
AUTOMATIC = parpy.auto(backend=CUDA)


def row_sums(x, y, n, m):
    parpy.label("i")
    for i in range(n):
        parpy.label("j")
        for j in range(m):
            y[i] += x[i, j]


def microseconds(call: Callable[[], object], calls: int = 10) -> float:
    call()
    begin, end = cp.cuda.Event(), cp.cuda.Event()
    times = []
    for _ in range(5):
        begin.record()
        for _ in range(calls):
            call()
        end.record()
        end.synchronize()
        times.append(1e3 * cp.cuda.get_elapsed_time(begin, end) / calls)
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=HERE / "results/gpu_row_mapping.json")
    out = parser.parse_args().out
    general = parpy.jit(row_sums)
    for n, m in ((10, 10), (11, 12), (13, 14), (15, 17), (20, 30)):
        general(cp.random.random((n, m)), cp.zeros(n), n, m, opts=AUTOMATIC)
    rows = []
    for n in (10, 64, 132, 500, 2000, 10_000, 100_000, 1_000_000):
        for m in (10, 100, 1000, 10_000, 100_000, 1_000_000):
            if n * m > 2 * 10**8:
                continue
            x, y = cp.random.random((n, m)), cp.zeros(n)
            by_hand = {}
            for threads in (32, 64, 128, 256, 512, 1024):
                if threads > 32 and threads // 2 >= m:
                    break
                mapping = {"i": parpy.threads(n), "j": parpy.threads(threads).reduce()}
                function, opts = parpy.jit(row_sums), parpy.par(mapping, backend=CUDA)
                by_hand[threads] = microseconds(partial(function, x, y, n, m, opts=opts))
            fixed = parpy.jit(row_sums)
            row = {
                "N": n,
                "M": m,
                "by hand": by_hand,
                "automatic": microseconds(partial(fixed, x, y, n, m, opts=AUTOMATIC)),
                "after many sizes": microseconds(partial(general, x, y, n, m, opts=AUTOMATIC)),
            }
            rows.append(row)
            best = min(by_hand.values())
            print(
                f"{n:8} {m:8}: by hand {best:8.2f}  automatic {row['automatic']:8.2f} = {row['automatic'] / best:.2f}"
                f"  after many sizes {row['after many sizes']:8.2f} = {row['after many sizes'] / best:.2f}"
            )
    device = cp.cuda.runtime.getDeviceProperties(0)["name"].decode()
    out.write_text(json.dumps({"device": device, "us": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
