"""The options of ``cuda.jit``: their effects, those of numba.cuda that are ignored, and those that are refused."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import kernel_places
import parpy
from nvrtc import ptx
from parpy import cuda

backend = kernel_places.backend


def filled(x):
    i = cuda.grid(1)
    if i < x.shape[0]:
        x[i] = i


WITHOUT_EFFECT = [
    {"inline": True}, {"inline": "always"}, {"forceinline": True}, {"opt": False}, {"lto": True}, {"cache": True},
    {"nopython": True}, {"shared_memory_carveout": "maxl1"}, {"shared_memory_carveout": 50},
    {"shared_memory_carveout": -1}, {"launch_bounds": 256}, {"launch_bounds": (128, 2)}, {"launch_bounds": (128, 2, 1)},
    {"max_registers": 32}, {"lineinfo": True}, {"fastmath": True}, {"debug": True, "opt": False},
    {"boundscheck": True}, {"extensions": []},
]  # fmt: skip


@pytest.mark.parametrize("options", WITHOUT_EFFECT, ids=str)
def test_options(options):
    kernel, x = cuda.jit(**options)(filled), np.zeros(100)
    kernel.forall(100, tpb=64)(x)
    assert x.tolist() == list(range(100))


def test_device_functions_take_them_too():
    @cuda.jit(device=True, forceinline=True, inline="always", lto=True, fastmath=True)
    def double(x):
        return 2 * x

    @cuda.jit
    def kernel(x):
        x[0] = double(x[0])

    x = np.ones(1)
    kernel[1, 1](x)
    assert x[0] == 2


def test_launch_bounds():
    kernel = cuda.jit(launch_bounds=(64, 2))(filled)
    x = np.zeros(200)
    kernel[4, 64](x)
    assert x[199] == 199
    with pytest.raises(ValueError, match="by its launch_bounds 'filled' has blocks of at most 64 threads, not 96"):
        kernel[2, (32, 3)](x)
    assert kernel.get_max_threads_per_block() == 64
    x[:] = 0
    kernel.forall(200)(x)
    assert x[199] == 199
    for wrong in (0, -1, (64, 0), (1, 2, 3, 4), 2.5, (2048,), True):
        with pytest.raises(ValueError, match="launch_bounds"):
            cuda.jit(launch_bounds=wrong)


def test_registers_of_launch_bounds():
    flags = {
        bounds: cuda.jit(launch_bounds=bounds)(filled).options_for_gpu().extra_flags
        for bounds in (256, (256, 1), (1024, 1), (1024, 2), (256, 4))
    }
    assert not any("maxrregcount" in flag for flag in flags[256])
    wanted = {(256, 1): 255, (1024, 1): 64, (1024, 2): 32, (256, 4): 64}
    for bounds, count in wanted.items():
        assert f"--maxrregcount={count}" in flags[bounds]
    both = cuda.jit(launch_bounds=(1024, 1), max_registers=40)(filled).options_for_gpu().extra_flags
    assert "--maxrregcount=40" in both


def test_the_bound_of_checks_is_the_same_as_debug():
    @cuda.jit(boundscheck=True)
    def outside(x):
        x[cuda.grid(1) + 3] = 1

    with pytest.raises(IndexError, match="out of bounds for axis 0 of 'x'"):
        outside[1, 4](np.zeros(4))


def test_wrong_options():
    with pytest.raises(TypeError, match=r"cuda\.jit takes no argument 'fastmth'"):
        cuda.jit(fastmth=True)
    for wrong in ("most", 101, -2, 0.5):
        with pytest.raises(ValueError, match="shared_memory_carveout is 'default'"):
            cuda.jit(shared_memory_carveout=wrong)
    with pytest.raises(ValueError, match="max_registers is how many registers"):
        cuda.jit(max_registers=0)


def test_fma():
    def product(x):
        x[0] = x[0] * x[1] + x[2]

    if cuda.sim.enabled:
        text = cuda.compile_ptx(product, (cuda.types.float32[::1],))[0]
        assert "fma.rn.f32" in text
        assert "fma.rn.f32" not in cuda.compile_ptx(product, (cuda.types.float32[::1],), fma=False)[0]
        assert ".visible .entry" in ptx(cuda.jit(product).inspect_source(np.zeros(3, np.float32)))


@pytest.mark.parametrize("variable", ["PARPY_CUDA_SIM", "NUMBA_ENABLE_CUDASIM"])
def test_the_environment_asks_for_the_simulator(variable):
    environment = {**os.environ, variable: "1"}
    text = "from parpy import cuda; assert cuda.sim.enabled and cuda.get_current_device().name == b'simulator'"
    subprocess.run([sys.executable, "-W", "error", "-c", text], check=True, env=environment)


@pytest.mark.parametrize("inline", ["maybe", 3, None, "Always"])
def test_wrong_values_of_inline(inline):
    with pytest.raises(ValueError, match="inline is 'never', 'always' or a function"):
        cuda.jit(device=True, inline=inline)(lambda x: x)


ALIGNMENT = 16


def test_alignments():
    @cuda.jit
    def aligned(out):
        own = cuda.local.array(4, np.float32, alignment=ALIGNMENT)
        common = cuda.shared.array(4, np.float32, 2 * ALIGNMENT)
        dynamic = cuda.shared.array(0, np.float32, alignment=None)
        own[1], common[2] = 1, 2
        out[0] = own[1] + common[2] + dynamic.size

    out = np.zeros(1)
    aligned[1, 1, 0, 16](out)
    assert out[0] == 7


@pytest.mark.parametrize("alignment", [3, 0, -8, 1.5, "16"])
def test_wrong_alignments(alignment):
    @cuda.jit
    def kernel(out):
        own = cuda.local.array(4, np.float32, alignment=alignment)
        own[0] = 1
        out[0] = own[0]

    with pytest.raises(parpy.CompileError, match="an alignment is a power of two"):
        kernel[1, 1](np.zeros(1))
