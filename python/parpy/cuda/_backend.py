"""Whether kernels and arrays are on a GPU or on the simulator."""

from __future__ import annotations

import os

from .. import _native
from ..calls.warnings import warn

_VARIABLES = ("PARPY_CUDA_SIM", "NUMBA_ENABLE_CUDASIM")  # environment variables that choose the simulator
_simulated: bool | None = True if any(os.environ.get(name, "0") not in ("", "0") for name in _VARIABLES) else None


def on_gpu() -> bool:
    """Whether kernels run on a GPU. If there is none, they run on the simulator, and a warning says so once."""
    global _simulated
    if _simulated is None:
        reason = _native.cuda_unavailable()
        _simulated = bool(reason)
        if reason:
            warn(f"kernels run on the simulator, on the CPU: {reason}")
    return not _simulated


def has_gpu() -> bool:
    """The answer of `on_gpu` without the warning, for calls that may as well run on the CPU."""
    return not _native.cuda_unavailable() if _simulated is None else not _simulated


def set_simulated(simulated: bool) -> None:
    """Chooses the simulator for later arrays and launches, or with ``False`` the GPU, if there is one."""
    global _simulated
    _simulated = True if simulated else None
