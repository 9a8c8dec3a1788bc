"""Every kernel of benchmarks/npbench/, at its smallest preset: what its mappings make of it is what NumPy computes.

Nothing but proofs lets these loops run in parallel: a kernel that ParPy can only run unproved would fail here.
"""

from __future__ import annotations

import copy
import sys

import pytest

import backends
import nvrtc
import parpy
import places

sys.path.insert(0, str(places.ROOT / "benchmarks"))

import npbench
from npbench.kernel import arguments, check, error


@pytest.fixture(params=npbench.NAMES)
def kernel(request):
    return npbench.load(request.param)


def data_and_result(kernel):
    data = kernel.data(kernel.presets["tiny"])
    want = copy.deepcopy(data)
    kernel.reference(*arguments(kernel.reference, want))
    assert all(error(want[name], data[name]) > 0.01 for name in kernel.outputs), "nothing happens"
    return data, want


def compare_call(kernel, backend, opts):
    data, want = data_and_result(kernel)
    function = kernel.on(backend)
    function(*arguments(function, data), opts=opts)
    check(kernel, data, want)


def test_cpu(kernel):
    compare_call(kernel, "cpu", kernel.options("cpu", kernel.presets["tiny"], legality="strict"))


def test_auto(kernel):
    compare_call(kernel, "cpu", parpy.auto(backend=parpy.CompileBackend.Cpu))


@pytest.mark.gpu
@pytest.mark.skipif(not backends.ON_GPU, reason="no GPU")
def test_gpu(kernel):
    compare_call(kernel, "cuda", kernel.options("cuda", kernel.presets["tiny"], legality="strict"))
    compare_call(kernel, "cuda", parpy.auto(backend=parpy.CompileBackend.Cuda))


def test_cuda_text(kernel):
    """Without a GPU: NVRTC compiles the text, and the simulator runs it."""
    data, want = data_and_result(kernel)
    function, sizes = kernel.on("cuda"), kernel.presets["tiny"]
    mapping = kernel.mapping("cuda", sizes)
    backends.run("sim", function, arguments(function, data), mapping)
    check(kernel, data, want)
    nvrtc.cubin(backends.cuda_text(function, arguments(function, data), mapping))


@pytest.mark.parametrize("backend", [parpy.CompileBackend.Cpu, parpy.CompileBackend.Sim], ids=str)
def test_explained_mappings_are_taken_back(kernel, backend):
    data, want = data_and_result(kernel)
    function = kernel.on("cpu" if backend == parpy.CompileBackend.Cpu else "cuda")
    found = parpy.explain(function, *arguments(function, data), opts=parpy.auto(backend=backend))
    if not found.mapping:
        return
    opts = found.opts
    again = parpy.explain(function, *arguments(function, data), opts=opts)
    assert not again.facts["refused"], again
    assert again.mapping == found.mapping
    function(*arguments(function, data), opts=opts)
    check(kernel, data, want)


def test_metadata(kernel):
    assert set(kernel.presets) == {"tiny", "S", "M", "L", "paper"}
    for sizes in kernel.presets.values():
        assert kernel.bytes(**sizes) > 0
        assert kernel.flops(**sizes) > 0
        assert kernel.mapping("cuda", sizes)
        assert not kernel.steps or kernel.steps in sizes
