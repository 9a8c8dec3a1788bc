"""The gain of parpy.tune over the automatic mode on kernels of NPBench (npbench/).

    python benchmarks/tuning.py [--backend cpu|cuda|sim] [--preset S] [--seconds 10] [KERNEL …]

Random data, on the device for CUDA, so that no copies are timed. Both times are medians, of alternating runs if
another mapping than the automatic one is the best. Each search starts anew (force=True).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

import parpy

sys.path.insert(0, str(Path(__file__).parent))

import npbench
from npbench.kernel import arguments as arguments_of

DEFAULT = ("softmax", "gemm", "gesummv", "covariance", "jacobi_2d", "spmv", "syrk", "azimint_naive")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("kernels", nargs="*", metavar="KERNEL", default=list(DEFAULT), help=", ".join(npbench.NAMES))
    parser.add_argument("--backend", default="cpu", choices=["cpu", "cuda", "sim"])
    parser.add_argument("--preset", default="S", choices=["tiny", "S", "M", "L", "paper"])
    parser.add_argument("--seconds", type=float, default=10.0, help="of each search")
    parser.add_argument("--tables", action="store_true", help="every mapping that was timed")
    options = parser.parse_args()
    opts = parpy.auto(backend=parpy.CompileBackend(options.backend))
    print(f"{'kernel':16}{'automatic':>12}{'tuned':>12}{'gain':>7}{'timed':>7}  mapping")
    for name in options.kernels:
        kernel = npbench.load(name)
        data = kernel.data(kernel.presets[options.preset])
        if options.backend == "cuda":
            data = {
                key: parpy.buffer.from_array(value, parpy.CompileBackend.Cuda)
                if isinstance(value, np.ndarray)
                else value
                for key, value in data.items()
            }
        function = kernel.on(options.backend)
        tuning = parpy.tune(
            function, *arguments_of(function, data), seconds=options.seconds, opts=opts, force=True
        ).tuning
        automatic, best = (f"{1e6 * trial.seconds:.1f} µs" for trial in (tuning.automatic, tuning.best))
        timed = sum(trial.outcome == "tried" for trial in tuning.trials)
        print(f"{name:16}{automatic:>12}{best:>12}{tuning.speedup:7.2f}{timed:7}  {tuning.best.describe()}", flush=True)
        if options.tables:
            print(tuning)


if __name__ == "__main__":
    main()
