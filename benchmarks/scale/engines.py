"""One program on the engines of one machine: a plain call, virtual devices, ranks of MPI, chunks of Dask.

    python benchmarks/scale/engines.py [--out FILE] [--megabytes 64] [--steps 20] [--rounds 5]

The heat equation in the plane, on arrays of `--megabytes`. Each engine uses all cores of this machine: there are
two virtual devices, two and four ranks of MPI (mpi4py), and chunks of Dask, by threads: four, or one of the whole
array. Milliseconds are medians; `share` is the time of the plain call over that of the engine.
Writes benchmarks/results/scale_engines.json, or FILE.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from timing import median

import parpy

HERE = Path(__file__).parent
CPU = parpy.CompileBackend.Cpu


@parpy.jit
def heat(now, after, steps):
    for t in range(steps):
        for i in range(1, now.shape[0] - 1):
            for j in range(1, now.shape[1] - 1):
                around = now[i - 1, j] + now[i + 1, j] + now[i, j - 1] + now[i, j + 1]
                after[i, j] = now[i, j] + 0.2 * (around - 4 * now[i, j])
        for i in range(1, now.shape[0] - 1):
            for j in range(1, now.shape[1] - 1):
                now[i, j] = after[i, j]


def arrays(megabytes: int) -> list[Any]:
    columns = 2000
    rows = max(megabytes * 1_000_000 // (8 * columns), 8)
    now = np.random.default_rng(1).random((rows, columns))
    return [now, np.zeros_like(now)]


def on_ranks(options: argparse.Namespace) -> None:
    """The program of each rank; the first one prints the time."""
    from mpi4py import MPI

    now, after = arrays(options.megabytes)
    opts = parpy.auto(backend=CPU, comm=MPI.COMM_WORLD)
    found = median(lambda: heat(now, after, options.steps, opts=opts), options.rounds)
    if MPI.COMM_WORLD.rank == 0:
        print(json.dumps(found))


def of_ranks(count: int, options: argparse.Namespace) -> float | None:
    mpiexec = Path(sys.executable).with_name("mpiexec")
    command = [str(mpiexec if mpiexec.exists() else "mpiexec"), "-n", str(count), sys.executable, __file__, "--rank"]
    for name in ("megabytes", "steps", "rounds"):
        command += [f"--{name}", str(getattr(options, name))]
    threads = max((os.cpu_count() or 1) // count, 1)
    environment = {**os.environ, "PARPY_NUM_THREADS": str(threads)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        print(done.stderr[-1000:])
        return None
    return float(json.loads(done.stdout.splitlines()[-1]))


def of_dask(chunks: int, options: argparse.Namespace) -> float:
    import dask.array as da

    import parpy.dask

    now, after = arrays(options.megabytes)
    size = -(-len(now) // chunks)
    lazy = parpy.dask.map_overlap(
        heat, da.from_array(now, chunks=(size, -1)), da.from_array(after, chunks=(size, -1)), options.steps
    )[0]
    return median(lambda: lazy.compute(scheduler="threads"), options.rounds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--out", type=Path, default=HERE.parent / "results" / "scale_engines.json")
    parser.add_argument("--megabytes", type=int, default=64)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rank", action="store_true", help="as one rank of MPI, for this script itself")
    options = parser.parse_args()
    if options.rank:
        on_ranks(options)
        return
    now, after = arrays(options.megabytes)
    plain = parpy.auto(backend=CPU)
    parts = [parpy.buffer.from_array(each, devices=range(2)) for each in (now, after)]
    shared = parpy.auto(backend=CPU, devices=range(2))
    rows: dict[str, float | None] = {
        "one call": median(lambda: heat(now, after, options.steps, opts=plain), options.rounds),
        "2 virtual devices": median(lambda: heat(*parts, options.steps, opts=shared), options.rounds),
        "2 ranks": of_ranks(2, options),
        "4 ranks": of_ranks(4, options),
        "dask, 1 chunk": of_dask(1, options),
        "dask, 4 chunks": of_dask(4, options),
    }
    first = rows["one call"] or 0.0
    table = {
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "megabytes": options.megabytes,
        "steps": options.steps,
        "engines": {
            name: None if found is None else {"ms": round(found, 2), "share": round(first / found, 3)}
            for name, found in rows.items()
        },
    }
    for name, found in rows.items():
        print(f"{name:20} " + ("not run" if found is None else f"{found:9.2f} ms   {first / found:5.2f}"))
    options.out.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
