"""The time of a call from a program of JAX: parpy.jax.call beside jax.pure_callback of the same jit function.

    python benchmarks/jax_call.py [--out FILE]

The program doubles a vector of float32 under jax.jit, on JAX's first device. Both ways alternate in one process, and
figures are medians in microseconds. Writes benchmarks/results/jax_call.json.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import parpy

SIZES = (1000, 100_000, 1_000_000)
ROUNDS, CALLS = 5, 100


@parpy.jit
def doubled(x, out):
    for i in range(len(x)):
        out[i] = x[i] * 2


def programs(size: int) -> dict[str, Callable[[Any], Any]]:
    shape = jax.ShapeDtypeStruct((size,), jnp.float32)

    def on_host(x: Any) -> np.ndarray:
        out = np.zeros(size, np.float32)
        doubled(np.asarray(x), out)
        return out

    return {
        "parpy.jax.call": jax.jit(lambda x: parpy.jax.call(doubled, x, result=shape)),
        "jax.pure_callback": jax.jit(lambda x: jax.pure_callback(on_host, shape, x)),
    }


def measured(size: int) -> dict[str, float]:
    x = jnp.asarray(np.random.default_rng(0).random(size), jnp.float32)
    chosen = programs(size)
    times: dict[str, list[float]] = {name: [] for name in chosen}
    for program in chosen.values():
        np.testing.assert_array_equal(program(x), np.asarray(x) * 2)
    for _ in range(ROUNDS):
        for name, program in chosen.items():
            for _ in range(CALLS):
                begin = time.perf_counter()
                program(x).block_until_ready()
                times[name].append(time.perf_counter() - begin)
    return {name: statistics.median(each) * 1e6 for name, each in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "jax_call.json")
    out = parser.parse_args().out
    found = {"device": str(jax.devices()[0]), "jax": jax.__version__, "microseconds": {}}
    for size in SIZES:
        times = found["microseconds"][size] = measured(size)
        print(f"{size:>9}  " + "  ".join(f"{name} {each:8.1f} us" for name, each in times.items()))
    out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
