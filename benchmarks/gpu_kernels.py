"""GPU speed of five loop nests at NPBench's `paper` sizes, and the copy bandwidth of the same run.

    python benchmarks/gpu_kernels.py [--quick] [--sweep] [--only NAME ...] [--out FILE]

Needs a GPU and CuPy, which makes the data and the events. `gpu ms` is the time on the device, from
events around a batch of queued calls; `call ms` is what NPBench times: one call and a
synchronisation, seen from Python. `TB/s` is the least traffic of the computation over `gpu ms`, `of
copy` its share of the copy bandwidth; `upstream` is the time of ParPy 0.3.3 on an H200
(npbench/peers_h200.json). Results are checked against NumPy. `--sweep` times several mappings of each
kernel. Writes benchmarks/results/gpu_kernels.json.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np

import parpy
from parpy import threads

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from gpu import kernels  # noqa: E402

PEERS = json.loads((HERE / "npbench/peers_h200.json").read_text())
SPIN = cp.RawKernel(
    """extern "C" __global__ void spin(long long cycles) {
    long long begin = clock64();
    while (clock64() - begin < cycles) { }
}""",
    "spin",
)

Mapping = dict[str, parpy.LoopPar]


@dataclass
class Case:
    """One kernel with its data. `bytes`: the least memory traffic; 0 if latency decides."""

    name: str
    size: str
    function: Callable[..., None]
    arguments: tuple[Any, ...]
    bytes: float
    mapping: Mapping
    variants: list[Mapping]
    check: Callable[[], None]


HEAD = f"{'kernel':<10} {'size':<28} {'gpu ms':>9} {'call ms':>9} {'TB/s':>6} {'of copy':>8} {'upstream':>9} {'x':>6}"


@dataclass
class Row:
    kernel: str
    size: str
    mapping: str
    gpu_ms: float
    call_ms: float
    bandwidth_tb_s: float | None
    share_of_copy: float | None
    upstream_ms: float | None
    speedup_over_upstream: float | None

    def text(self) -> str:
        def show(value: float | None, form: str) -> str:
            return "-" if value is None else format(value, form)

        return (
            f"{self.kernel:<10} {self.size:<28} {self.gpu_ms:>9.4f} {self.call_ms:>9.4f} "
            f"{show(self.bandwidth_tb_s, '.2f'):>6} {show(self.share_of_copy, '.0%'):>8} "
            f"{show(self.upstream_ms, '.3f'):>9} {show(self.speedup_over_upstream, '.2f'):>6}"
        )


def gpu_ms(run: Callable[[], object], seconds: float) -> float:
    """Median device time of one call. Calls queue behind a spinning kernel, which hides launches."""
    run()
    cp.cuda.Device().synchronize()
    begin = time.perf_counter()
    run()
    enqueue = time.perf_counter() - begin
    cp.cuda.Device().synchronize()
    once = max(time.perf_counter() - begin, 1e-6)
    batch = max(1, min(100, int(2e-3 / once)))
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    times = []
    end = time.perf_counter() + seconds
    while len(times) < 5 or (time.perf_counter() < end and len(times) < 200):
        SPIN((1,), (1,), (np.int64(2e9 * min(batch * enqueue * 1.5, 0.05)),))
        start.record()
        for _ in range(batch):
            run()
        stop.record()
        stop.synchronize()
        times.append(cp.cuda.get_elapsed_time(start, stop) / batch)
    return statistics.median(times)


def call_ms(run: Callable[[], object], repeats: int = 11) -> float:
    times = []
    for _ in range(repeats):
        cp.cuda.Device().synchronize()
        begin = time.perf_counter()
        run()
        cp.cuda.get_current_stream().synchronize()
        times.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(times)


def copy_bandwidth(seconds: float) -> float:
    """Bytes read and written per second by a large device-to-device copy."""
    source = cp.random.default_rng(0).random(1 << 28)
    target = cp.empty_like(source)
    return 2 * source.nbytes / (1e-3 * gpu_ms(lambda: cp.copyto(target, source), seconds))


def close(got: Any, want: Any, tolerance: float) -> None:
    np.testing.assert_allclose(cp.asnumpy(got), want, rtol=tolerance, atol=tolerance)


Generator = Any  # cupy.random.Generator


def axpy_case(rng: Generator, small: bool) -> Case:
    n = 1_000_003 if small else 100_000_000
    x, y = rng.random(n), rng.random(n)

    def check() -> None:
        want = 1.5 * x + y
        kernels.axpy(1.5, x, y, n, opts=options({"i": threads(n)}))
        close(cp.abs(y - want).max(), 0.0, 1e-15)

    variants = [{"i": threads(n).tpb(t)} for t in (128, 256, 512, 1024)]
    return Case(
        "axpy",
        f"{n} f64",
        kernels.axpy,
        (1e-9, x, y, n),
        24.0 * n,
        {"i": threads(n).tpb(256)},
        [*variants, {"i": threads(132 * 2048)}],
        check,
    )


def row_sums_case(rng: Generator, small: bool) -> Case:
    rows, columns = (1000, 1003) if small else (16_384, 16_384)
    matrix, sums = rng.random((rows, columns)), cp.empty(rows)

    def mapping(count: int) -> Mapping:
        return {"i": threads(rows), "j": threads(count).reduce()}

    return Case(
        "row_sums",
        f"{rows} x {columns} f64",
        kernels.row_sums,
        (matrix, sums, rows, columns),
        8.0 * rows * columns,
        mapping(256),
        [mapping(t) for t in (32, 64, 128, 256, 512, 1024)],
        lambda: close(sums, cp.asnumpy(matrix.sum(axis=1)), 1e-11),
    )


def softmax_case(rng: Generator, small: bool) -> Case:
    N, H, SM = (4, 3, 100) if small else (64, 16, 512)
    x = rng.standard_normal((N, H, SM, SM), dtype=np.float32)
    out = cp.empty_like(x)

    def check() -> None:
        e = cp.exp(x[-1].astype(np.float64) - x[-1].max(axis=-1, keepdims=True))
        close(out[-1], cp.asnumpy(e / e.sum(axis=-1, keepdims=True)), 5e-6)

    def mapping(count: int) -> Mapping:
        outer = {"n": threads(N), "h": threads(H), "i": threads(SM)}
        return {**outer, "j": threads(count)}

    return Case(
        "softmax",
        f"({N}, {H}, {SM}, {SM}) f32",
        kernels.softmax,
        (x, out, N, H, SM),
        8.0 * x.size,
        mapping(32),
        [mapping(t) for t in (32, 64, 128, 256, 512)],
        check,
    )


def jacobi_2d_case(rng: Generator, small: bool) -> Case:
    steps, side = (20, 300) if small else (1000, 2800)
    A, B = rng.random((side, side)), rng.random((side, side))

    def mapping(rows: int, columns: int = side - 2, block: int = 256) -> Mapping:
        """A mapping with `rows` rows for each block, which loads the elements that they share once."""
        return {"i": threads(-(-(side - 2) // rows)), "j": threads(columns).tpb(block)}

    def check() -> None:
        a, b = A.copy(), B.copy()
        host_a, host_b = cp.asnumpy(a), cp.asnumpy(b)
        kernels.jacobi_2d(4, a, b, side, opts=options(mapping(4)))
        for _ in range(3):
            for p, q in ((host_a, host_b), (host_b, host_a)):
                around = p[1:-1, :-2] + p[1:-1, 2:] + p[2:, 1:-1] + p[:-2, 1:-1]
                q[1:-1, 1:-1] = 0.2 * (p[1:-1, 1:-1] + around)
        close(a, host_a, 1e-14)

    variants = [mapping(1, t, 1024) for t in (64, 128, 256, 512, 1024)]
    return Case(
        "jacobi_2d",
        f"TSTEPS={steps} N={side} f64",
        kernels.jacobi_2d,
        (steps, A, B, side),
        32.0 * side * side * (steps - 1),
        mapping(4),
        [*variants, *(mapping(rows, block=block) for rows in (1, 2, 4, 8) for block in (128, 256, 512))],
        check,
    )


def spmv_case(_: Generator, small: bool) -> Case:
    M, nnz = (4096, 8192) if small else (131_072, 262_144)
    rng = np.random.default_rng(42)
    places = rng.integers(0, M * M, nnz)  # a few coincide
    places = np.unique(places)
    row = np.searchsorted(places // M, np.arange(M + 1)).astype(np.uint32)
    col, val, x = (places % M).astype(np.uint32), rng.random(places.size), rng.random(M)
    y = cp.full(M, np.nan)
    want = np.bincount(places // M, val * x[col], M)
    return Case(
        "spmv",
        f"M=N={M} nnz={places.size} f64",
        kernels.spmv,
        (*map(cp.asarray, (row, col, val, x)), y, M),
        0.0,
        {"i": threads(M).tpb(128)},
        [{"i": threads(M).tpb(t)} for t in (32, 64, 128, 256, 1024)],
        lambda: close(y, want, 1e-13),
    )


CASES = {
    "axpy": axpy_case,
    "row_sums": row_sums_case,
    "softmax": softmax_case,
    "jacobi_2d": jacobi_2d_case,
    "spmv": spmv_case,
}


def options(mapping: Mapping) -> parpy.CompileOptions:
    return parpy.CompileOptions(parallelize=mapping, backend=parpy.CompileBackend.Cuda)


def describe(mapping: Mapping) -> str:
    return ", ".join(f"{label}={loop!r}".replace("parpy.", "") for label, loop in mapping.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="less time per figure")
    parser.add_argument("--small", action="store_true", help="small sizes: checks that everything runs")
    parser.add_argument("--sweep", action="store_true", help="time several mappings of each kernel")
    parser.add_argument("--only", nargs="*", choices=CASES, help="names of kernels")
    parser.add_argument("--out", type=Path, default=HERE / "results/gpu_kernels.json")
    arguments = parser.parse_args()
    seconds = 0.2 if arguments.quick else 1.0

    device = cp.cuda.runtime.getDeviceProperties(0)["name"].decode()
    copy = copy_bandwidth(seconds)
    result: dict[str, Any] = {
        "device": device,
        "copy_bandwidth_tb_s": copy / 1e12,
        "rows": [],
        "sweep": [],
    }
    print(f"{device}, copy {copy / 1e12:.2f} TB/s")
    print(HEAD, flush=True)
    for name, make in CASES.items():
        if arguments.only and name not in arguments.only:
            continue
        case = make(cp.random.default_rng(42), arguments.small)
        for mapping in case.variants if arguments.sweep else []:
            opts = options(mapping)
            ms = gpu_ms(lambda: case.function(*case.arguments, opts=opts), seconds / 5)  # noqa: B023
            result["sweep"].append({"kernel": case.name, "mapping": describe(mapping), "gpu_ms": ms})
            print(f"  {case.name:<10} {describe(mapping):<70} {ms:>9.4f}", flush=True)
        opts = options(case.mapping)

        def run(case: Case = case, opts: parpy.CompileOptions = opts) -> None:
            case.function(*case.arguments, opts=opts)

        run()
        case.check()
        ms, wall = gpu_ms(run, seconds), call_ms(run)
        rate = case.bytes / (1e-3 * ms) if case.bytes else None
        upstream = None if arguments.small else PEERS.get(case.name, {}).get("upstream parpy")
        row = Row(
            case.name,
            case.size,
            describe(case.mapping),
            ms,
            wall,
            rate and rate / 1e12,
            rate and rate / copy,
            upstream,
            upstream and upstream / wall,
        )
        result["rows"].append(asdict(row))

        print(row.text(), flush=True)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
