"""Every operator and type of the matrix prints as CUDA text that NVRTC compiles; needs no GPU."""

from __future__ import annotations

import linecache
import math
from collections import defaultdict

import numpy as np
import pytest

import parpy
from nvrtc import cubin
from operators import Case, cases, edge_values, quiet

BY_TYPES: dict[tuple[str, ...], list[Case]] = defaultdict(list)
for _case in cases():
    BY_TYPES[_case.dtypes].append(_case)


def text_of(types: tuple[str, ...], group: list[Case]) -> str:
    """One kernel that evaluates every case of the group."""
    names = ["x", "y", "z"][: len(types)]
    outs = [f"out{k}" for k in range(len(group))]
    lines = [f"        {out}[i] = {case.expression}" for out, case in zip(outs, group, strict=True)]
    source = "\n".join(
        [
            f"@parpy.jit\ndef kernel({', '.join([*names, *outs])}, n):",
            "    parpy.label('n')",
            "    for i in range(n):",
            *lines,
            "",
        ]
    )
    filename = f"<cuda {'-'.join(types)}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace: dict = {"parpy": parpy, "np": np, "math": math}
    exec(compile(source, filename, "exec"), namespace)
    arrays = [np.resize(edge_values(t), 64) for t in types]
    results = [np.zeros(64, quiet(case.reference, *arrays).dtype) for case in group]
    options = parpy.par({"n": parpy.threads(64)})
    options.backend = parpy.CompileBackend.Cuda
    return parpy.print_compiled(namespace["kernel"], [*arrays, *results, 64], options)


@pytest.mark.parametrize("types", BY_TYPES, ids="-".join)
def test_operators_compile(types):
    text = text_of(types, BY_TYPES[types])
    assert text == text_of(types, BY_TYPES[types])
    assert b"kernel_i" in cubin(text) or b"kernel_n" in cubin(text)
