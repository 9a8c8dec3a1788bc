"""Products of matrices and their relatives, from plain loops, beside NumPy's OpenBLAS.

    python benchmarks/contractions.py [--threads 1 2] [--quick] [--only NAME …] [--out FILE]

Each number of threads has a process of its own, on as many cores, in which ParPy and NumPy alternate on random data
with which ParPy's result is checked. A turn lasts a tenth of a second, after a pause and an untimed call: idle
threads of either spin for a while and would use a core that the other needs. Figures are medians of calls in ms
and the ratio of medians (above 1: ParPy is faster). OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE are unset for the peer.
Sizes are constants of the programs unless the name says otherwise. `gemm` is timed in six spellings, each
beside np.dot alone (`scalar` and `expression` compute more). NumPy runs its fastest form: if ParPy reads half of a
matrix, the peer multiplies by the whole matrix. Writes benchmarks/results/contractions.json, with the time of
first calls (which compile) of a contraction and of loops.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import parpy

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "python"))

import products  # noqa: E402
from products import SPELLINGS, rows, scalar, updated  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results" / "contractions.json"

TURN, ASLEEP = 0.1, 0.05  # seconds of a turn, and until idle threads are asleep


syrk, syr2k, trmm = (parpy.jit(each) for each in (products.syrk, products.syr2k, products.trmm))


@parpy.jit
def k2mm(alpha, beta, A, B, C, D):
    D[:] = alpha * A @ B @ C + beta * D


@parpy.jit
def row_times_matrix(x, A, y):
    y[:] = x @ A


@parpy.jit
def matrix_times_column(x, A, y):
    y[:] = A @ x


def windows(x: Any, kh: int, kw: int) -> Any:
    n, h, w, c = x.shape
    shape = (n, h - kh + 1, w - kw + 1, kh, kw, c)
    strides = (*x.strides[:3], *x.strides[1:])
    return np.lib.stride_tricks.as_strided(x, shape, strides)


Call = Callable[[], Any]


def with_changing_sizes(function: Call, arguments: Callable[[int], Any]) -> Any:
    """The function after so many changes of size that sizes are arguments of its program, not constants."""
    compiled = parpy.jit(function)
    for n in (3, 5, 8, 300, 400, 500, 600, 700):
        compiled(*arguments(n), opts=parpy.auto(backend=parpy.CompileBackend.Cpu))
    return compiled


def cases(quick: bool) -> Iterator[tuple[str, Call, Call, Callable[[], bool], float]]:
    """Name, ParPy, NumPy, whether the last results agree, and floating-point operations."""
    rng = np.random.default_rng(0)

    def arrays(dtype: str, *shapes: tuple[int, ...]) -> list[Any]:
        return [rng.uniform(-1, 1, shape).astype(dtype) for shape in shapes]

    def close(a: Any, b: Any) -> Callable[[], bool]:
        tolerance = 1e-3 if a.dtype == np.float32 else 1e-10
        return lambda: bool(np.allclose(a, b, rtol=tolerance, atol=tolerance))

    opts = parpy.auto(backend=parpy.CompileBackend.Cpu)
    for dtype in ("f8", "f4"):
        for n in (64, 500, 1000) if quick else (64, 500, 1000, 2000):
            A, B, C = arrays(dtype, (n, n), (n, n), (n, n))
            out, zero = np.empty_like(A), np.zeros_like(A)
            for function in SPELLINGS:
                compiled = parpy.jit(function)
                # `updated` and `rows` start from the result of the call before.
                target = C if function in (updated, rows) else zero

                def ours(f: Any = compiled, c: Any = target, a: Any = A, b: Any = B) -> None:
                    f(1.0, 0.0, c, a, b, opts=opts)

                def check(c: Any = target, o: Any = out, f: Any = function) -> bool:
                    return f is updated or close(c, o)()

                yield (
                    f"gemm {function.__name__} {n} {dtype}",
                    ours,
                    lambda a=A, b=B, o=out: np.dot(a, b, out=o),
                    check,
                    2 * n**3,
                )
    symm, covariance, doitgen, conv2d = (
        parpy.jit(each) for each in (products.symm, products.covariance, products.over_batches, products.convolution)
    )
    any_size = with_changing_sizes(scalar, lambda n: (1.0, 0.0, *np.zeros((3, n, n))))
    for n in (64, 500, 1000) if quick else (64, 500, 1000, 2000):
        A, B, C = arrays("f8", (n, n), (n, n), (n, n))
        out = np.empty_like(A)
        yield (
            f"gemm scalar {n} f8, sizes at run time",
            lambda a=A, b=B, c=C: any_size(1.0, 0.0, c, a, b, opts=opts),
            lambda a=A, b=B, o=out: np.dot(a, b, out=o),
            close(C, out),
            2 * n**3,
        )
    changing = with_changing_sizes(products.batched, lambda n: np.zeros((3, n, n, n)))
    for kind in ("", ", sizes at run time"):
        for n in (8, 16, 32, 64, 100):
            function = changing if kind else parpy.jit(products.batched)
            count = max(8, 4_000_000 // n**3)
            A, B = arrays("f8", (count, n, n), (count, n, n))
            C, out = np.empty_like(A), np.empty_like(A)
            yield (
                f"batches of {n} f8{kind}",
                lambda f=function, a=A, b=B, c=C: f(c, a, b, opts=opts),
                lambda a=A, b=B, o=out: np.matmul(a, b, out=o),
                close(C, out),
                2 * count * n**3,
            )

    n = 500 if quick else 1000
    A, B, S, D = arrays("f8", (n, n), (n, n), (n, n), (n, n))
    C = np.zeros((n, n))
    lower = np.tri(n, dtype=bool)
    got: dict[str, Any] = {}

    def peer(name: str, function: Call) -> Call:
        def run() -> None:
            got[name] = function()

        return run

    yield (
        f"syrk {n} f8",
        lambda: syrk(1.5, 0.0, C, A, opts=opts),
        peer("syrk", lambda: 1.5 * (A @ A.T)),
        lambda: bool(np.allclose(C[lower], got["syrk"][lower])),
        n**3,
    )
    yield (
        f"syr2k {n} f8",
        lambda: syr2k(1.5, 0.0, C, A, B, opts=opts),
        peer("syr2k", lambda: 1.5 * (A @ B.T + B @ A.T)),
        lambda: bool(np.allclose(C[lower], got["syr2k"][lower])),
        2 * n**3,
    )
    full = np.tril(S) + np.tril(S, -1).T
    yield (
        f"symm {n} f8",
        lambda: symm(1.5, 0.0, C, S, B, opts=opts),
        peer("symm", lambda: 1.5 * (full @ B)),
        lambda: bool(np.allclose(C, got["symm"])),
        2 * n**3,
    )
    begin, target = D.copy(), D.copy()
    upper = np.triu(S.T, 1) + np.eye(n)

    def ours_trmm() -> None:
        target[:] = begin
        trmm(1.5, S, target, opts=opts)

    def numpy_trmm() -> Any:
        copy = begin.copy()
        return 1.5 * (upper @ copy)

    yield f"trmm {n} f8", ours_trmm, peer("trmm", numpy_trmm), lambda: bool(np.allclose(target, got["trmm"])), n**3
    yield (
        f"covariance {n} f8",
        lambda: covariance(C, A, opts=opts),
        peer("covariance", lambda: (A.T @ A) / (n - 1.0)),
        lambda: bool(np.allclose(C, got["covariance"])),
        n**3,
    )
    E = np.zeros((n, n))
    yield (
        f"k2mm {n} f8",
        lambda: k2mm(1.5, 0.0, A, B, D, E, opts=opts),
        peer("k2mm", lambda: 1.5 * A @ B @ D + 0.0 * E),
        lambda: bool(np.allclose(E, got["k2mm"])),
        4 * n**3,
    )
    X, W = arrays("f8", (60, 60, 128), (128, 128))
    Y = np.empty_like(X)
    yield (
        "doitgen 60 60 128 f8",
        lambda: doitgen(Y, X, W, opts=opts),
        peer("doitgen", lambda: (X.reshape(-1, 128) @ W).reshape(X.shape)),
        lambda: bool(np.allclose(Y, got["doitgen"])),
        2 * 60 * 60 * 128**2,
    )
    for channels, filters in ((3, 16), (32, 64)):
        image, kernel = arrays("f4", (8, 66, 66, channels), (3, 3, channels, filters))
        made = np.empty((8, 64, 64, filters), np.float32)
        yield (
            f"conv2d {channels} to {filters} channels f4",
            lambda x=image, w=kernel, y=made: conv2d(y, x, w, opts=opts),
            peer("conv2d", lambda x=image, w=kernel: np.maximum(np.tensordot(windows(x, 3, 3), w, 3), 0)),
            lambda y=made: bool(np.allclose(y, got["conv2d"], rtol=1e-3, atol=1e-3)),
            2 * 8 * 64 * 64 * 9 * channels * filters,
        )
    n = 2000
    M, x = arrays("f8", (n, n), (n,))
    y = np.empty(n)
    for function, product in ((row_times_matrix, lambda: x @ M), (matrix_times_column, lambda: M @ x)):
        yield (
            f"{function.__name__} {n} f8",
            lambda f=function: f(x, M, y, opts=opts),
            peer("vector", product),
            lambda: bool(np.allclose(y, got["vector"])),
            2 * n**2,
        )


def measure(ours: Call, theirs: Call, check: Callable[[], bool], seconds: float) -> tuple[float, float, bool]:
    """Milliseconds of both, and whether their results agree."""
    ours()
    theirs()
    good = check()
    times: tuple[list[float], list[float]] = ([], [])
    end = time.perf_counter() + seconds
    while len(times[0]) < 7 or time.perf_counter() < end:
        for run, taken in zip((ours, theirs), times, strict=True):
            time.sleep(ASLEEP)
            run()
            turn = time.perf_counter() + TURN
            for _ in range(500):
                begin = time.perf_counter()
                run()
                taken.append(time.perf_counter() - begin)
                if time.perf_counter() > turn:
                    break
    first, second = (1000 * statistics.median(taken) for taken in times)
    return first, second, good


def compile_times() -> dict[str, float]:
    """Milliseconds of first calls: of a contraction, and of the same text with so few columns that it stays loops."""
    opts = parpy.auto(backend=parpy.CompileBackend.Cpu)
    times: dict[str, list[float]] = {"contraction": [], "loops": []}
    for n in range(300, 307):
        for kind, columns in (("contraction", n), ("loops", 3)):
            A, B, C = np.ones((n, n)), np.ones((n, columns)), np.zeros((n, columns))
            begin = time.perf_counter()
            parpy.jit(scalar)(1.0, 0.0, C, A, B, opts=opts)
            times[kind].append(time.perf_counter() - begin)
    return {kind: round(1000 * statistics.median(taken), 1) for kind, taken in times.items()}


def worker(options: argparse.Namespace) -> None:
    if options.compile:
        return print(json.dumps(compile_times()), flush=True)
    for name, ours, theirs, check, operations in cases(options.quick):
        if options.only and not any(word in name for word in options.only):
            continue
        first, second, good = measure(ours, theirs, check, 0.5 if options.quick else 2.0)
        row = {
            "ms": round(first, 4),
            "numpy ms": round(second, 4),
            "ratio": round(second / first, 3),
            "Gflop/s": round(operations / first / 1e6, 1),
        }
        print(json.dumps([name, row if good else "wrong"]), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Products of matrices from plain loops, beside NumPy's OpenBLAS.")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--quick", action="store_true", help="fewer sizes, shorter")
    parser.add_argument("--only", nargs="+", default=[], help="cases whose names hold one of these words")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--compile", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return worker(options)
    cores = sorted(os.sched_getaffinity(0))
    load = os.getloadavg()[0]
    results: dict[str, dict[str, Any]] = {}
    if not options.only:
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, __file__, "--worker", "--compile"],
                stdout=subprocess.PIPE,
                check=True,
                env=os.environ | {"PARPY_CACHE_DIR": folder},
            )
        results["ms of a first call"] = json.loads(done.stdout)
        print("ms of a first call", results["ms of a first call"], flush=True)
    wrong = False
    for threads in options.threads:
        if threads > len(cores):
            continue
        env = {k: v for k, v in os.environ.items() if k not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")}
        env |= {"OPENBLAS_NUM_THREADS": str(threads), "PARPY_NUM_THREADS": str(threads)}
        command = [sys.executable, __file__, "--worker", *(["--quick"] if options.quick else [])]
        command += ["--only", *options.only] if options.only else []
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            text=True,
            env=env,
            preexec_fn=lambda n=threads: os.sched_setaffinity(0, cores[-n:]),
        )
        assert process.stdout is not None
        rows_of = results.setdefault(f"{threads} threads", {})
        for line in process.stdout:
            name, row = json.loads(line)
            rows_of[name] = row
            wrong = wrong or row == "wrong"
            shown = (
                row
                if isinstance(row, str)
                else f"{row['ms']:10.3f} {row['numpy ms']:10.3f} {row['ratio']:7.2f} {row['Gflop/s']:8.1f}"
            )
            print(f"{threads} threads  {name:38}{shown}", flush=True)
        wrong = process.wait() != 0 or wrong
    machine = f"{platform.processor() or platform.machine()}, {len(cores)} cores, load {load:.1f} before"
    options.out.write_text(json.dumps({"machine": machine, "numpy": np.__version__, **results}, indent=1) + "\n")
    if wrong:
        sys.exit(1)


if __name__ == "__main__":
    main()
