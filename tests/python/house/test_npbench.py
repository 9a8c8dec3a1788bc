"""Every kernel of benchmarks/npbench/, at its smallest preset: ParPy's forms compute NumPy's results.

Loops with mappings by hand run in parallel only after a proof: a loop that ParPy cannot prove would fail.
"""

from __future__ import annotations

import copy
import sys
import warnings

import numpy as np
import pytest

import backends
import nvrtc
import parpy
import places

sys.path.insert(0, str(places.ROOT / "benchmarks"))

import npbench
from npbench import texts
from npbench.frameworks import FRAMEWORKS, Target
from npbench.kernel import arguments, check, error, expected, results
from npbench.measure import compare, prepare
from npbench.places import Host
from npbench.published import PORTS

BY_HAND = [name for name in npbench.NAMES if npbench.load(name).by_hand]
# The refused forms and kernels, with the code of the diagnostic. Remove an entry when it compiles.
REFUSED: dict[tuple[str, str], str] = {}


@pytest.fixture(params=BY_HAND)
def kernel(request):
    return npbench.load(request.param)


def data_and_result(kernel):
    data = kernel.data(kernel.presets["tiny"])
    want = expected(kernel, copy.deepcopy(data))
    stored = [name for name in kernel.outputs if name in data]
    assert all(error(data[name], want[name]) > 0.01 for name in stored), "nothing happens"
    return data, want


def compare_call(kernel, backend, opts):
    data, want = data_and_result(kernel)
    function = kernel.on(backend)
    returned = function(*arguments(function, data), opts=opts)
    check(kernel, results(kernel, returned, data), want)


def test_all_programs_are_kernels():
    assert list(npbench.NAMES) == sorted(texts.program_data.PROGRAMS)
    assert len(npbench.NAMES) == 54 and len(BY_HAND) == 21


def forms():
    for name in npbench.NAMES:
        for form in ("loops", "as-numpy", "as-numba"):
            code = REFUSED.get((form, name))
            marks = [pytest.mark.xfail(raises=parpy.CompileError, strict=True, reason=code)] if code else []
            yield pytest.param(name, form, marks=marks, id=f"{name}-{form}")


@pytest.mark.parametrize(("name", "form"), list(forms()))
def test_automatic(name, form):
    kernel = npbench.load(name)
    versions = list(FRAMEWORKS[form].versions(kernel, Target("cpu", {})))
    if not versions:
        pytest.skip("the loops are the text for Numba")
    job = prepare(kernel, "tiny", 0)
    for version in versions:
        compare(Host(), job, version)


@pytest.mark.filterwarnings("ignore::parpy.PerformanceWarning")
@pytest.mark.parametrize("backend", ["cpu", "sim"])
@pytest.mark.parametrize("name", list(PORTS))
def test_published_ports(name, backend):
    kernel = npbench.load(name)
    data, want = data_and_result(kernel)
    returned = PORTS[name](*arguments(PORTS[name], data), backend=parpy.CompileBackend(backend))
    got = results(kernel, returned, data)
    check(kernel, {output: np.asarray(value) for output, value in got.items()}, want)


def test_checks_may_be_cut():
    """Data of fewer steps, and NumPy's results for them; NumPy's time is scaled."""
    job = prepare(npbench.load("jacobi_2d"), "tiny", 2)
    assert (job.sizes["TSTEPS"], job.checked_sizes["TSTEPS"]) == (5, 2)
    assert job.numpy["estimated"] == "from 2 steps"
    whole = prepare(npbench.load("jacobi_2d"), "tiny", 0)
    assert error(job.want["A"], whole.want["A"]) > 1e-3
    for version in FRAMEWORKS["loops"].versions(job.kernel, Target("cpu", {})):
        compare(Host(), job, version)


@pytest.mark.parametrize(
    "name", ["atax", "channel_flow", "contour_integral", "durbin", "lenet", "lu", "resnet", "vadv"]
)
def test_automatic_on_the_simulator(name):
    kernel = npbench.load(name)
    compare_call(kernel, "cuda", parpy.auto(backend=parpy.CompileBackend.Sim))


def test_cpu(kernel):
    compare_call(kernel, "cpu", kernel.options("cpu", kernel.presets["tiny"], legality="strict"))


@pytest.mark.gpu
@pytest.mark.skipif(not backends.ON_GPU, reason="no GPU")
def test_gpu(kernel):
    compare_call(kernel, "cuda", kernel.options("cuda", kernel.presets["tiny"], legality="strict"))


@pytest.mark.gpu
@pytest.mark.skipif(not backends.ON_GPU, reason="no GPU")
@pytest.mark.parametrize("name", npbench.NAMES)
def test_automatic_on_a_gpu(name):
    compare_call(npbench.load(name), "cuda", parpy.auto(backend=parpy.CompileBackend.Cuda))


def test_cuda_text(kernel):
    """Needs no GPU: NVRTC compiles the text, and the simulator runs it."""
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


@pytest.mark.parametrize("name", npbench.NAMES)
def test_metadata(name):
    kernel = npbench.load(name)
    assert kernel.name == name
    assert set(kernel.presets) == {"tiny", "S", "M", "L", "paper"}
    for sizes in kernel.presets.values():
        assert kernel.bytes(**sizes) > 0
        assert kernel.flops(**sizes) > 0
        assert not kernel.by_hand or kernel.mapping("cuda", sizes)
        assert not kernel.steps or kernel.steps in sizes
    assert set(kernel.returns) <= set(kernel.outputs)
    data = kernel.data(kernel.presets["tiny"])
    for function in (kernel.function, kernel.oracle, texts.numpy_style(name), texts.numba_style(name)):
        assert set(texts.parameters(function)) <= data.keys()


@pytest.mark.parametrize("name", npbench.NAMES)
def test_jax_forms(name):
    pytest.importorskip("jax")
    kernel = npbench.load(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        job = prepare(kernel, "tiny", 0)
        place = FRAMEWORKS["jax"].places["cpu"]()
        for version in FRAMEWORKS["jax"].versions(kernel, Target("cpu", {})):
            compare(place, job, version)


def test_wrong_results_are_found():
    job = prepare(npbench.load("gemm"), "tiny", 0)
    for change in (1e-9, np.nan):
        want = {"C": job.want["C"] + change * job.want["C"]}
        with pytest.raises(AssertionError, match="C is off"):
            check(job.kernel, want, job.want)
    with pytest.raises(AssertionError, match="C is off"):
        check(job.kernel, {"C": job.want["C"][1:]}, job.want)
