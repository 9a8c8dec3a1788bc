"""Calls that two GPUs share, against one GPU.

    python benchmarks/scale/gpus.py [--out FILE] [--devices 0,1] [--tiny] [--only NAME,...]

Arrays stay on the devices: buffers for one GPU, partitioned arrays for several. Times are medians of wall-clock time
from the call to the end of its work. "strong": the same problem; "weak": work in proportion to the number of devices,
the time of one device with its share divided by that of all. Results are compared with those of one device: "bits" if
they are equal, else the greatest relative difference. "exchange": the extra time of a step of a time loop in which two
devices exchange rows of 22 kB, without time tiles, over one device with half of the rows.
Writes benchmarks/results/scale_gpus.json, or FILE.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from timing import median

import parpy
from parpy import _native

HERE = Path(__file__).parent
CUDA = parpy.CompileBackend.Cuda


@parpy.jit
def heat_3d(A, B, T):
    for t in range(T):
        for i in range(1, A.shape[0] - 1):
            for j in range(1, A.shape[1] - 1):
                for k in range(1, A.shape[2] - 1):
                    B[i, j, k] = (
                        0.125 * (A[i + 1, j, k] - 2.0 * A[i, j, k] + A[i - 1, j, k])
                        + 0.125 * (A[i, j + 1, k] - 2.0 * A[i, j, k] + A[i, j - 1, k])
                        + 0.125 * (A[i, j, k + 1] - 2.0 * A[i, j, k] + A[i, j, k - 1])
                        + A[i, j, k]
                    )
        for i in range(1, A.shape[0] - 1):
            for j in range(1, A.shape[1] - 1):
                for k in range(1, A.shape[2] - 1):
                    A[i, j, k] = (
                        0.125 * (B[i + 1, j, k] - 2.0 * B[i, j, k] + B[i - 1, j, k])
                        + 0.125 * (B[i, j + 1, k] - 2.0 * B[i, j, k] + B[i, j - 1, k])
                        + 0.125 * (B[i, j, k + 1] - 2.0 * B[i, j, k] + B[i, j, k - 1])
                        + B[i, j, k]
                    )


@parpy.jit
def jacobi_2d(A, B, T):
    for t in range(T):
        for i in range(1, A.shape[0] - 1):
            for j in range(1, A.shape[1] - 1):
                B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])
        for i in range(1, A.shape[0] - 1):
            for j in range(1, A.shape[1] - 1):
                A[i, j] = 0.2 * (B[i, j] + B[i, j - 1] + B[i, j + 1] + B[i + 1, j] + B[i - 1, j])


@parpy.jit
def nbody(x, y, z, u, v, w, m, T, dt):
    for t in range(T):
        for i in range(len(x)):
            fx = 0.0
            fy = 0.0
            fz = 0.0
            for j in range(len(x)):
                dx = x[j] - x[i]
                dy = y[j] - y[i]
                dz = z[j] - z[i]
                square = dx * dx + dy * dy + dz * dz + 0.01
                pull = m[j] / (square * np.sqrt(square))
                fx += dx * pull
                fy += dy * pull
                fz += dz * pull
            u[i] += dt * fx
            v[i] += dt * fy
            w[i] += dt * fz
        for i in range(len(x)):
            x[i] += dt * u[i]
            y[i] += dt * v[i]
            z[i] += dt * w[i]


@parpy.jit
def gemm(A, B, C):
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            s = 0.0
            for k in range(A.shape[1]):
                s += A[i, k] * B[k, j]
            C[i, j] = s


class Case(NamedTuple):
    """``make(share)`` makes arrays with ``share`` times the work, and the numbers that follow them in the call."""

    name: str
    function: Any
    make: Callable[[int], tuple[list[Any], tuple[Any, ...]]]
    gather: bool = False
    rounds: int = 5


def cases(tiny: bool) -> list[Case]:
    rng = np.random.default_rng(1)

    def heat(n: int, steps: int) -> Callable[[int], Any]:
        def make(share: int) -> Any:
            a = rng.random((share * (n - 2) + 2, n, n))
            return [a, a.copy()], (steps,)

        return make

    def jacobi(n: int, steps: int) -> Callable[[int], Any]:
        def make(share: int) -> Any:
            return [rng.random((share * (n - 2) + 2, n)) for _ in range(2)], (steps,)

        return make

    def bodies(n: int, steps: int) -> Callable[[int], Any]:
        def make(share: int) -> Any:
            count = round(n * share**0.5 / 256) * 256
            return [rng.random(count) for _ in range(7)], (steps, 1e-6)

        return make

    def matrices(n: int) -> Callable[[int], Any]:
        def make(share: int) -> Any:
            return [rng.random((share * n, n)), rng.random((n, n)), np.zeros((share * n, n))], ()

        return make

    size = (lambda usual, small: small) if tiny else (lambda usual, small: usual)
    return [
        Case("heat_3d", heat_3d, heat(size(240, 14), size(500, 3))),
        Case("heat_3d_paper", heat_3d, heat(size(120, 10), size(500, 3))),
        Case("jacobi_2d", jacobi_2d, jacobi(size(5600, 34), size(1000, 3))),
        Case("jacobi_2d_paper", jacobi_2d, jacobi(size(2800, 26), size(1000, 3))),
        # Bodies for several waves of blocks on each device: a last wave of few blocks would cost as much as a full one.
        Case("nbody", nbody, bodies(size(524288, 512), 2), True, 2),
        Case("gemm", gemm, matrices(size(8192, 64))),
    ]


def on_one(case: Case, arrays: list[Any], numbers: tuple[Any, ...], rounds: int) -> tuple[float, list[Any]]:
    """The time of a call on the first GPU, and the arrays after one call."""
    opts = parpy.auto(backend=CUDA)
    held = [parpy.buffer.from_array(each, CUDA) for each in arrays]

    def call() -> None:
        case.function(*held, *numbers, opts=opts)
        parpy.sync()

    call()
    results = [each.numpy() for each in held]
    for each, given in zip(held, arrays, strict=True):
        each.copy_from(given)
    return median(call, rounds), results


def on_all(
    case: Case, arrays: list[Any], numbers: tuple[Any, ...], devices: tuple[int, ...], rounds: int
) -> tuple[float, list[Any]]:
    opts = parpy.auto(backend=CUDA, devices=devices, gather=case.gather)
    held = [parpy.buffer.from_array(each, CUDA, devices=devices) for each in arrays]

    def call() -> None:
        case.function(*held, *numbers, opts=opts)

    call()
    results = [each.numpy() for each in held]
    for each, given in zip(held, arrays, strict=True):
        each.copy_from(given)
    return median(call, rounds), results


def difference(found: list[Any], expected: list[Any]) -> float:
    """0 if the bits are the same, else the greatest relative difference."""
    worst = 0.0
    for mine, other in zip(found, expected, strict=True):
        if not np.array_equal(mine, other):
            worst = max(worst, float(np.max(np.abs(mine - other) / np.maximum(np.abs(other), 1e-300))))
    return worst


def scaling(case: Case, devices: tuple[int, ...], rounds: int) -> dict[str, Any]:
    rounds = min(rounds, case.rounds)
    arrays, numbers = case.make(1)
    one, expected = on_one(case, arrays, numbers, rounds)
    strong, found = on_all(case, arrays, numbers, devices, rounds)
    apart = difference(found, expected)
    arrays, numbers = case.make(len(devices))
    weak, _ = on_all(case, arrays, numbers, devices, rounds)
    return {
        "one_ms": one,
        "all_ms": strong,
        "strong": one / strong,
        "weak_ms": weak,
        "weak": one / weak,
        "difference": apart,
        "shape": list(case.make(1)[0][0].shape),
    }


def exchange(devices: tuple[int, ...], tiny: bool) -> dict[str, Any]:
    """Microseconds of the exchange in a step of jacobi_2d, for several numbers of rows."""
    width, steps, found = (64, 3, {}) if tiny else (2800, 1000, {})
    for rows in (8,) if tiny else (64, 512, 1400):
        case = Case("jacobi_2d", jacobi_2d, lambda share, rows=rows: (
            [np.ones((share * rows + 2, width)) for _ in range(2)], (steps,)))  # fmt: skip
        one, _ = on_one(case, *case.make(1), 5)
        two, _ = on_all(case, *case.make(len(devices)), devices, 5)
        found[str(rows)] = {"step_us": 1e3 * one / steps, "exchange_us": 1e3 * (two - one) / steps}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--out", type=Path, default=HERE.parent / "results" / "scale_gpus.json")
    parser.add_argument("--devices", default="0,1")
    parser.add_argument("--tiny", action="store_true", help="small arrays, to try the script")
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--exchange", action="store_true", help="the costs of exchanges alone")
    options = parser.parse_args()
    devices = tuple(map(int, options.devices.split(",")))
    if options.exchange:
        print(json.dumps(exchange(devices, options.tiny)))
        return
    peers = [[_native.peer_access(a, b) for b in devices] for a in devices]
    table: dict[str, Any] = {
        "device": _native.device_name(devices[0]),
        "devices": len(set(devices)),
        "peer_access": peers,
        "cases": {},
    }
    print(f"{table['device']}, {table['devices']} of them, peer access {all(map(all, peers))}")
    print(f"{'':18} {'1 ms':>9} {'all ms':>9} {'strong':>7} {'weak ms':>9} {'weak':>6}  results")
    for case in cases(options.tiny):
        if options.only and case.name not in options.only.split(","):
            continue
        row = table["cases"][case.name] = scaling(case, devices, options.rounds)
        same = "bits" if row["difference"] == 0 else f"{row['difference']:.1e}"
        print(
            f"{case.name:18} {row['one_ms']:9.2f} {row['all_ms']:9.2f} {row['strong']:7.2f} {row['weak_ms']:9.2f} "
            f"{row['weak']:6.2f}  {same}",
            flush=True,
        )
    command = [sys.executable, __file__, "--exchange", "--devices", options.devices]
    command += ["--tiny"] if options.tiny else []
    plain = {**os.environ, "PARPY_TIME_TILES": "0"}
    done = subprocess.run(command, env=plain, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        table["exchange"] = json.loads(done.stdout.splitlines()[-1])
        for rows, found in table["exchange"].items():
            print(f"exchange, {rows} rows: {found['exchange_us']:.2f} us beside {found['step_us']:.2f} us of a step")
    else:
        print(done.stderr[-2000:])
    options.out.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
