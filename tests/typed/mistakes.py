"""Mistakes that a checker finds: each line with a mistake ends in `# wrong`, and no other line has any."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import parpy
import parpy.cuda as cuda


@parpy.jit
def scale(x: npt.NDArray[np.float64], a: float) -> float:
    return float(x[0]) * a


@cuda.jit(device=True)
def third(a: float) -> float:
    return a / 3


x = np.ones(3)
scale(x)  # wrong
scale(x, "2")  # wrong
text: str = scale(x, 2.0)  # wrong
text = scale(x, 2.0, seq=True)  # wrong
third("3")  # wrong
parpy.par({"i": 3})  # wrong
parpy.par({}, backnd=parpy.CompileBackend.Cpu)  # wrong
parpy.auto(backend="cpu")  # wrong
parpy.CompileOptions(legality="lax")  # wrong
parpy.CompileOptions(deterministic=1.5)  # wrong
parpy.seq().max_unroll_count = "many"  # wrong
parpy.threads(3).tbp(64)  # wrong
parpy.label(3)  # wrong
parpy.explain(scale, x, 2.0, options=None)  # wrong
parpy.tune(scale, x, 2.0, seconds="long")  # wrong
parpy.nothing()  # wrong
