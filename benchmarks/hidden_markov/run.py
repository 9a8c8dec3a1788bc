"""The forward algorithm of a hidden Markov model on a GPU, or on the cores of the CPU.

    python benchmarks/hidden_markov/run.py [--quick] [--bases 3 7] [--backend cuda|cpu] [--out FILE]

3-mers and 7-mers, 16 layers; 100 to 1000 signals of 2000 samples, the shortest of half that length. Arrays are in the
memory of the back end; the median of three calls, each with its synchronisation. Mappings: that of published ParPy (a
thread for each state in blocks of 1024, plain launches, and the same in a CUDA graph), by hand (kernels.mapping, in a
graph), the automatic mode, and a thread for each k-mer. Results are checked against
NumPy for a few signals. Writes benchmarks/results/hidden_markov_<backend>.json.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import parpy  # noqa: E402
from hidden_markov.kernels import forward, forward_by_kmers, mapping, mapping_by_kmers, one_thread_each  # noqa: E402
from hidden_markov.model import random_model, random_signals, reference  # noqa: E402

SAMPLES, CHECKED = 2000, 2


def ways(backend: parpy.CompileBackend, count: int, states: int) -> dict[str, parpy.CompileOptions]:
    if backend is parpy.CompileBackend.Cpu:
        cores = {"signals": parpy.threads(len(os.sched_getaffinity(0))), "states": parpy.threads(64)}
        by_hand = parpy.CompileOptions(parallelize=cores, backend=backend)
        return {"by hand": by_hand, "automatic": parpy.auto(backend=backend)}
    published = one_thread_each(count, states)

    def made(loops: dict[str, parpy.LoopPar], graphs: bool) -> parpy.CompileOptions:
        return parpy.CompileOptions(parallelize=loops, backend=backend, use_cuda_graphs=graphs)

    return {
        "published": made(published, False),
        "published, graph": made(published, True),
        "by hand": made(mapping(count, states), True),
        "automatic": parpy.auto(backend=backend, use_cuda_graphs=True),
    }


def ways_by_kmers(backend: parpy.CompileBackend, count: int, kmers: int) -> dict[str, parpy.CompileOptions]:
    if backend is parpy.CompileBackend.Cpu:
        return {"k-mers, automatic": parpy.auto(backend=backend)}
    by_hand = parpy.CompileOptions(parallelize=mapping_by_kmers(count, kmers), backend=backend, use_cuda_graphs=True)
    return {"k-mers": by_hand, "k-mers, automatic": parpy.auto(backend=backend, use_cuda_graphs=True)}


def seconds(call: Callable[[], object], repeats: int = 3) -> float:
    call()
    parpy.sync()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        parpy.sync()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def measure(backend: parpy.CompileBackend, bases: int, count: int, samples: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    model = random_model(rng, bases)
    signals, lengths = random_signals(rng, count, samples)
    states = model["kmers"] * model["layers"]
    want = reference(model, signals[:CHECKED], lengths[:CHECKED])
    found: dict[str, Any] = {"bases": bases, "states": states, "signals": count, "samples": samples}
    alphas = [np.empty((count, states), np.float32) for _ in range(2)]
    arrays = [signals, lengths, *alphas, np.empty(count, np.float32)]
    if backend is parpy.CompileBackend.Cuda:
        arrays = [parpy.buffer.from_array(each, backend) for each in arrays]
        model = {
            key: parpy.buffer.from_array(value, backend) if isinstance(value, np.ndarray) else value
            for key, value in model.items()
        }
    kmers = model["kmers"]
    by_kmers = [each.reshape(count, -1, kmers) if n in (2, 3) else each for n, each in enumerate(arrays)]
    calls = {name: partial(forward, model, *arrays, opts=opts) for name, opts in ways(backend, count, states).items()}
    for name, opts in ways_by_kmers(backend, count, kmers).items():
        calls[name] = partial(forward_by_kmers, model, *by_kmers, opts=opts)
    for name, call in calls.items():
        found[name] = seconds(call)
        likelihoods = np.asarray(arrays[-1] if backend is parpy.CompileBackend.Cpu else arrays[-1].numpy())
        np.testing.assert_allclose(likelihoods[:CHECKED], want, rtol=1e-4)
        print(f"{bases}-mers, {count} signals, {name}: {found[name] * 1e3:.3g} ms", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer and shorter signals")
    parser.add_argument("--bases", type=int, nargs="+", default=[3, 7], help="bases of a k-mer")
    parser.add_argument("--backend", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    backend = parpy.CompileBackend(arguments.backend)
    counts = (8,) if arguments.quick else (100, 1000)
    samples = 50 if arguments.quick else SAMPLES
    rows = [measure(backend, bases, count, samples) for bases in arguments.bases for count in counts]
    facts = {"machine": platform.processor() or platform.machine(), "backend": arguments.backend, "rows": rows}
    out = arguments.out or HERE.parent / f"results/hidden_markov_{arguments.backend}.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
