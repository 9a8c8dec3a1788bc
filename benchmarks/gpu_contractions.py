"""Products of matrices and their relatives, from plain loops, on a GPU, beside CuPy, whose products are cuBLAS's.

    python benchmarks/gpu_contractions.py [--quick] [--only NAME …] [--out FILE]

ParPy and the peer alternate on the same stream, on random data; figures are medians of calls between two events, in
milliseconds, and the ratio of medians (above 1: ParPy is faster). The peer of a product is cupy.matmul alone, into
existing memory; that of its relatives is CuPy's fastest way to the same result, which may compute a whole matrix
instead of half of one. Results are compared; for f64 products the share of elements is printed that have the bits of a
chain of fused multiply-adds. Writes benchmarks/results/gpu_contractions.json.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cupy as cp

import parpy

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "python"))

import products  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results" / "gpu_contractions.json"
OPTS = parpy.auto(backend=parpy.CompileBackend.Cuda)


gemm, product, syrk, syr2k, symm, trmm, covariance = (
    parpy.jit(each)
    for each in (
        products.scalar,
        products.zeroed,
        products.syrk,
        products.syr2k,
        products.symm,
        products.trmm,
        products.covariance,
    )
)

CHAIN = cp.RawKernel(
    r"""extern "C" __global__ void chain(const double* A, const double* B, double* C, int M, int N, int K) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
    if (j >= N) return;
    double c = 0.0;
    for (int k = 0; k < K; ++k) c = __fma_rn(A[(long long)i * K + k], B[(long long)k * N + j], c);
    C[(long long)i * N + j] = c;
}""",
    "chain",
)

Call = Callable[[], Any]


def random(*shape: int, dtype: str = "f8") -> Any:
    return (cp.random.random(shape) - 0.3).astype(dtype)


def close(got: Any, want: Any) -> bool:
    scale = 1e-4 if got.dtype == cp.float32 else 1e-12
    return float(cp.abs(got - want).max()) <= scale * float(cp.abs(want).max())


def cases(quick: bool) -> Iterator[tuple[str, Call, Call, Call, float]]:
    """Name, ParPy, the peer, whether ParPy's result is right, and floating-point operations."""
    sizes = [(2000, 2300, 2600, "f8"), (8192, 8192, 8192, "f8"), (2000, 2300, 2600, "f4"), (8192, 8192, 8192, "f4")]
    sizes += [(512, 512, 512, "f8"), (1023, 1025, 1027, "f8")]
    for m, n, k, dtype in sizes:
        if quick and m > 4000:
            continue
        A, B, C = random(m, k, dtype=dtype), random(k, n, dtype=dtype), cp.zeros((m, n), dtype)
        out = cp.empty_like(C)

        def right(c: Any = C, a: Any = A, b: Any = B) -> bool:
            if c.dtype == cp.float64 and c.shape[0] < 4000:
                want = cp.empty_like(c)
                CHAIN((-(-c.shape[1] // 256), c.shape[0]), (256,), (a, b, want, *map(cp.int32, (*c.shape, a.shape[1]))))
                print(f"    bits of a chain: {float((c == want).mean()) * 100:.4f} %")
            return close(c, a @ b)

        yield (
            f"product {m}x{n}x{k} {dtype}",
            lambda c=C, a=A, b=B: product(1.0, 0.0, c, a, b, opts=OPTS),
            lambda a=A, b=B, o=out: cp.matmul(a, b, out=o),
            right,
            2.0 * m * n * k,
        )
    m, n, k = 2000, 2300, 2600
    A, B, C = random(m, k), random(k, n), random(m, n)
    D = C.copy()

    def gemm_peer() -> None:
        D[:] = 1.5 * (A @ B) + 1.2 * D

    def gemm_right() -> bool:
        c = random(m, n)
        want = 1.5 * (A @ B) + 1.2 * c
        gemm(1.5, 1.2, c, A, B, opts=OPTS)
        return close(c, want)

    yield ("gemm 2000x2300x2600 f8", lambda: gemm(1.5, 0.5, C, A, B, opts=OPTS), gemm_peer, gemm_right, 2.0 * m * n * k)
    n, k = 1200, 1000
    A2, B2, C2 = random(n, k), random(n, k), random(n, n)
    lower = cp.tri(n, dtype=bool)
    for name, function, both in (("syrk", syrk, False), ("syr2k", syr2k, True)):

        def ours(f: Any = function, b: bool = both, c: Any = C2) -> None:
            f(1.5, 0.5, c, A2, *([B2] if b else []), opts=OPTS)

        def peer(b: bool = both) -> Any:
            return 1.5 * (A2 @ B2.T + B2 @ A2.T if b else A2 @ A2.T)

        def right2(f: Any = function, b: bool = both, p: Any = peer) -> bool:
            c = random(n, n)
            want = 0.5 * c + p(b)
            ours(f, b, c)
            return close(c[lower], want[lower])

        yield (f"{name} 1200x1000 f8", ours, peer, right2, (2.0 if both else 1.0) * n * n * k)
    m, n = 1000, 1200
    S, B3, C3 = random(m, m), random(m, n), random(m, n)
    full = cp.tril(S) + cp.tril(S, -1).T

    def symm_right() -> bool:
        c = random(m, n)
        want = 0.5 * c + 1.5 * (full @ B3)
        symm(1.5, 0.5, c, S, B3, opts=OPTS)
        return close(c, want)

    yield (
        "symm 1000x1200 f8",
        lambda: symm(1.5, 0.5, C3, S, B3, opts=OPTS),
        lambda: 1.5 * (full @ B3) + 0.5 * C3,
        symm_right,
        2.0 * m * m * n,
    )
    T = cp.tril(S, -1).T + cp.eye(m)

    def trmm_right() -> bool:
        b = random(m, n)
        want = 1.5 * (T @ b)
        trmm(1.5, S, b, opts=OPTS)
        return close(b, want)

    B4 = random(m, n)
    yield (
        "trmm 1000x1200 f8",
        lambda: trmm(0.01, S, B4, opts=OPTS),
        lambda: 1.5 * (T @ B3),
        trmm_right,
        1.0 * m * m * n,
    )
    data, cov = random(1400, 1200), cp.zeros((1200, 1200))
    yield (
        "covariance 1400x1200 f8",
        lambda: covariance(cov, data, opts=OPTS),
        lambda: (data.T @ data) / 1399.0,
        lambda: close(cov, data.T @ data / 1399.0),
        1.0 * 1200 * 1200 * 1400,
    )


def timed(ways: list[Call]) -> list[float]:
    """Medians of calls that alternate, in milliseconds."""
    taken: list[list[float]] = [[] for _ in ways]
    begin, end = cp.cuda.Event(), cp.cuda.Event()
    for way in ways:
        way()
        way()
    stop = time.monotonic() + 1.5
    while time.monotonic() < stop or len(taken[0]) < 7:
        for times, way in zip(taken, ways, strict=True):
            begin.record()
            way()
            end.record()
            end.synchronize()
            times.append(cp.cuda.get_elapsed_time(begin, end))
    return [statistics.median(times) for times in taken]


def main() -> None:
    parser = argparse.ArgumentParser(description="Contractions on a GPU, beside CuPy.")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    device = cp.cuda.runtime.getDeviceProperties(0)["name"].decode()
    rows: dict[str, Any] = {}
    wrong = []
    for name, ours, peer, right, flops in cases(options.quick):
        if options.only and not any(each in name for each in options.only):
            continue
        begin = time.perf_counter()
        ours()
        cp.cuda.runtime.deviceSynchronize()
        first = (time.perf_counter() - begin) * 1e3
        if not right():
            wrong.append(name)
        a, b = timed([ours, peer])
        rows[name] = {
            "ms": round(a, 4),
            "cupy ms": round(b, 4),
            "ratio": round(b / a, 3),
            "Tflop/s": round(flops / a / 1e9, 1),
            "first call ms": round(first),
        }
        print(f"  {name}: {rows[name]}", flush=True)
    options.out.write_text(json.dumps({"device": device, "cases": rows}, indent=1) + "\n")
    print(f"{device}\n{'':32} {'parpy ms':>9} {'cupy ms':>9} {'ratio':>6} {'Tflop/s':>8} {'first':>6}")
    for name, row in rows.items():
        print(
            f"{name:32} {row['ms']:9.4f} {row['cupy ms']:9.4f} {row['ratio']:6.2f} {row['Tflop/s']:8.1f} "
            f"{row['first call ms']:6d}"
        )
    if wrong:
        print("wrong results: " + ", ".join(wrong))
        sys.exit(1)


if __name__ == "__main__":
    main()
