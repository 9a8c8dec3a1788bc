"""cuda.reduce beside cupy.sum: microseconds of a whole call, and bytes read in a second.

    python benchmarks/gpu_reduce.py [--out FILE]

Needs a GPU and CuPy. Sums of 10^5 to 10^8 numbers on the device, the result on the host; the median of 50 calls that
alternate. "kernels": the time between two events around cuda.reduce with its result left on the device. Writes
benchmarks/results/gpu_reduce.json.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np

from parpy import cuda

HERE = Path(__file__).parent
CALLS = 50


@cuda.reduce
def added(a, b):
    return a + b


def seconds(call: Callable[[], Any]) -> float:
    cuda.synchronize()
    start = time.perf_counter()
    call()
    cuda.synchronize()
    return time.perf_counter() - start


def kernel_seconds(x: Any) -> float:
    result = cuda.device_array(1, x.dtype)
    begin, end = cuda.event(), cuda.event()
    begin.record()
    added(x, res=result)
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / 1000


def measured(count: int, dtype: type) -> dict[str, float]:
    host = np.random.default_rng(0).random(count).astype(dtype)
    ours, theirs = cuda.to_device(host), cp.asarray(host)
    np.testing.assert_allclose(added(ours), float(cp.sum(theirs)), rtol=1e-3 if dtype is np.float32 else 1e-10)
    pairs = [(seconds(lambda: added(ours)), seconds(lambda: float(cp.sum(theirs)))) for _ in range(CALLS)]
    times = {
        "parpy": statistics.median(pair[0] for pair in pairs),
        "cupy": statistics.median(pair[1] for pair in pairs),
        "kernels": statistics.median(kernel_seconds(ours) for _ in range(CALLS)),
    }
    return {**{name: 1e6 * each for name, each in times.items()}, "TB/s": host.nbytes / times["kernels"] / 1e12}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=HERE / "results/gpu_reduce.json")
    arguments = parser.parse_args()
    results: dict[str, dict[str, float]] = {}
    print(f"{'sum of':<22} {'parpy us':>9} {'cupy us':>9} {'kernels':>9} {'TB/s':>6}")
    for dtype in (np.float32, np.float64):
        for count in (10**5, 10**6, 10**7, 10**8):
            name = f"{count:.0e} {dtype.__name__}"
            found = results[name] = measured(count, dtype)
            numbers = f"{found['parpy']:>9.1f} {found['cupy']:>9.1f} {found['kernels']:>9.1f} {found['TB/s']:>6.2f}"
            print(f"{name:<22} {numbers}")
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(
        json.dumps({"device": cuda.get_current_device().name.decode(), "us": results}, indent=1) + "\n"
    )


if __name__ == "__main__":
    main()
