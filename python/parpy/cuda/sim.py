"""Settings of the simulator that runs CUDA kernels on the CPU: ``parpy.cuda.sim``."""

from __future__ import annotations

from .. import _native
from ..arrays.device_arrays import is_int
from ._backend import on_gpu, set_simulated


class Simulator:
    """The settings of the simulator for later launches, in all threads.

    ``seed``: 0 (the default) runs the threads of a block in the same order at each launch, and blocks in parallel, so
    only results that depend on the order of blocks may vary. Any other number selects a random order of blocks and
    threads, the same at each launch, and fills shared memory with rubbish: a missing barrier gives a wrong result.

    ``warp_size``: the number of threads of a warp in kernels written by hand: 1, 2, 4, 8, 16 or 32. Loops that the
    compiler maps always use 32, as on the GPU.

    ``enabled``: whether the kernels and arrays of ``parpy.cuda`` are on the simulator. They are if there is no GPU. To
    choose it on a machine with a GPU, set this or the environment variable PARPY_CUDA_SIM=1 or NUMBA_ENABLE_CUDASIM=1.
    """

    __slots__ = ("_seed", "_warp_size")

    def __init__(self) -> None:
        self._seed, self._warp_size = 0, 32

    @property
    def enabled(self) -> bool:
        return not on_gpu()

    @enabled.setter
    def enabled(self, value: bool) -> None:
        set_simulated(bool(value))

    @property
    def seed(self) -> int:
        return self._seed

    @seed.setter
    def seed(self, value: int) -> None:
        if not is_int(value) or not 0 <= value < 2**64:
            raise ValueError(f"a seed is an int from 0, which is the default, to 2**64 - 1, not {value!r}")
        self._seed = int(value)
        _native.set_simulator(self._warp_size, self._seed)

    @property
    def warp_size(self) -> int:
        return self._warp_size

    @warp_size.setter
    def warp_size(self, value: int) -> None:
        if type(value) is not int or value not in (1, 2, 4, 8, 16, 32):
            raise ValueError(f"a warp has 1, 2, 4, 8, 16 or 32 threads, not {value!r}")
        self._warp_size = value
        _native.set_simulator(self._warp_size, self._seed)

    def __repr__(self) -> str:
        return f"parpy.cuda.sim(warp_size={self._warp_size}, seed={self._seed})"
