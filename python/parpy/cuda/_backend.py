"""Whether kernels and arrays are on a GPU or on the simulator."""

from __future__ import annotations

import os

from .. import _native
from ..calls.warnings import warn

_VARIABLES = ("PARPY_CUDA_SIM", "NUMBA_ENABLE_CUDASIM")  # of the environment: the simulator in any case
_simulated: bool | None = True if any(os.environ.get(name, "0") not in ("", "0") for name in _VARIABLES) else None


def on_gpu() -> bool:
    """Whether there is a GPU to use. Where there is none the simulator takes its place, and says so once."""
    global _simulated
    if _simulated is None:
        reason = _native.cuda_unavailable()
        _simulated = bool(reason)
        if reason:
            warn(f"kernels run on the simulator, on the CPU: {reason}")
    return not _simulated


def has_gpu() -> bool:
    """The same, without a word: for calls that are as good on the CPU."""
    return not _native.cuda_unavailable() if _simulated is None else not _simulated


def set_simulated(simulated: bool) -> None:
    """``False``: the GPU from now on, if there is one."""
    global _simulated
    _simulated = True if simulated else None
