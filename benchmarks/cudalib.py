"""The cost of calls of CUDA's libraries: parpy.cudalib beside CuPy on a GPU, beside NumPy on the CPU.

    python benchmarks/cudalib.py

On a GPU: transforms, products of matrices, vectors and random numbers of some sizes, times on the device by events, and
the time of the host for a small call. CuPy's calls are measured if it is installed. Without a GPU the same
calls run on NumPy, and are compared with NumPy's own. Writes benchmarks/results/cudalib.json.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import parpy
from parpy import cuda
from parpy.cudalib import LibraryError, cublas, cufft, curand

HERE = Path(__file__).parent
GPU = parpy.backend.is_enabled(parpy.CompileBackend.Cuda)
TARGET = 0.98  # of CuPy's speed


def milliseconds(run: Callable[[], Any], rounds: int = 30) -> float:
    """The shortest time of a call, on the device if there is one."""
    run()
    found = []
    begin, end = (cuda.event(), cuda.event()) if GPU else (None, None)
    for _ in range(rounds):
        if begin is not None and end is not None:
            begin.record()
            run()
            end.record()
            end.synchronize()
            found.append(begin.elapsed_time(end))
        else:
            start = time.perf_counter()
            run()
            found.append(1e3 * (time.perf_counter() - start))
    return min(found)


def host_microseconds(run: Callable[[], Any], calls: int = 1000) -> float:
    """The time for which the caller waits, over many calls without a synchronisation."""
    run()
    found = []
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(calls):
            run()
        found.append(1e6 * (time.perf_counter() - start) / calls)
        if GPU:
            cuda.synchronize()
    return min(found)


def cases(place: Callable[[Any], Any], other: Any) -> list[tuple[str, Callable[[], Any], Callable[[], Any] | None]]:
    """Names, our calls, and those of ``other``, CuPy or NumPy; None if it is not installed."""
    rng, found = np.random.default_rng(0), []

    def add(name: str, ours: Callable[[], Any], theirs: Callable[[], Any] | None) -> None:
        found.append((name, ours, theirs if other is not None else None))

    for shape, axes in (((1 << 20,), (0,)), ((1024, 1024), (0, 1)), ((128, 128, 128), (0, 1, 2)), ((4096, 256), (1,))):
        host = (rng.random(shape) + 1j * rng.random(shape)).astype(np.complex64)
        x, y = place(host), None if other is None else other.asarray(host)
        named = None if len(axes) == len(shape) else tuple(each - len(shape) for each in axes)
        name = " x ".join(map(str, shape)) + ("" if named is None else ", rows")
        theirs = None if other is None else partial(other.fft.fftn, y, axes=axes)
        add(f"fft c64 {name}", partial(cufft.fft, x, axes=named), theirs)
    for size, dtype in ((256, "f4"), (2048, "f4"), (2048, "f8")):
        hosts = rng.random((2, size, size)).astype(dtype)
        a, b, c = place(hosts[0]), place(hosts[1]), place(np.zeros_like(hosts[0]))
        theirs = None
        if other is not None:
            theirs = partial(other.matmul, other.asarray(hosts[0]), other.asarray(hosts[1]))
        add(f"matmul {dtype} {size}", partial(cublas.matmul, a, b, c), theirs)
    batch = rng.random((1000, 32, 32)).astype("f4")
    a, c = place(batch), place(np.zeros_like(batch))
    theirs = None if other is None else partial(other.matmul, other.asarray(batch), other.asarray(batch))
    add("matmul f4 1000 x 32", partial(cublas.matmul, a, a, c), theirs)
    vector = rng.random(1 << 24).astype("f4")
    x = place(vector)
    theirs = None if other is None else partial(other.dot, other.asarray(vector), other.asarray(vector))
    add("dot f4 2^24", partial(cublas.Blas().dot, x, x), theirs)
    generator = curand.PRNG(seed=1)
    theirs = None
    if other is not None:
        drawn = other.random.default_rng(1)
        theirs = partial(drawn.standard_normal, 1 << 24, dtype=np.float32)
    add("normal f4 2^24", partial(generator.normal, x, 0.0, 1.0), theirs)
    if GPU:  # the methods and orders of cuRAND, beside the default ones
        for kind in ("PHILOX4_32_10", "XORWOW", "MRG32K3A", "MTGP32"):
            for order, offset in (("any order", None), ("fixed order", 0)):
                generator = curand.PRNG(curand.PRNG.KINDS[kind], seed=1, offset=offset)
                add(f"normal f4 2^24 {kind}, {order}", partial(generator.normal, x, 0.0, 1.0), theirs)
    return found


def main() -> None:
    other: Any = np
    if GPU:
        try:
            import cupy as other
        except ImportError:
            other = None
    place = cuda.to_device if GPU else np.copy
    rows: list[dict[str, Any]] = []
    try:
        for name, ours, theirs in cases(place, other):
            row = {"case": name, "parpy ms": milliseconds(ours)}
            if theirs is not None:
                row["other ms"] = milliseconds(theirs)
            rows.append(row)
        x = place(np.ones(64, np.complex64))
        y = place(np.ones(64, np.float32))
        z, square = place(np.ones(64, np.float32)), [place(np.ones((16, 16), np.float32)) for _ in range(3)]
        small = {
            "fft of 64": host_microseconds(partial(cufft.fft_inplace, x)),
            "fft of 64, new result": host_microseconds(partial(cufft.fft, x)),
            "axpy of 64": host_microseconds(partial(cublas.Blas().axpy, 0.0, y, z)),
            "matmul of 16": host_microseconds(partial(cublas.matmul, *square)),
            "normal of 64": host_microseconds(partial(curand.PRNG(seed=1).normal, y, 0.0, 1.0)),
        }
    except LibraryError as error:
        print(error)
        return
    found = {"gpu": GPU, "other": None if other is None else other.__name__, "cases": rows, "host us": small}
    (HERE / "results").mkdir(exist_ok=True)
    (HERE / "results" / "cudalib.json").write_text(json.dumps(found, indent=1) + "\n")
    name = found["other"] or "nothing"
    print(f"{'case':<44}{'parpy ms':>10}  {name} (times as long; at least {TARGET})")
    for row in rows:
        share = f"{row['other ms'] / row['parpy ms']:.2f}" if "other ms" in row else ""
        print(f"{row['case']:<44}{row['parpy ms']:>10.3f}  {share}")
    for case, time_of in small.items():
        print(f"{case}: {time_of:.1f} us of the host a call")


if __name__ == "__main__":
    main()
