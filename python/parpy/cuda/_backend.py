"""Whether kernels and arrays are on a GPU or on the simulator."""

from __future__ import annotations

import os
import sys
import warnings

from .. import _native

_PACKAGE = __name__.partition(".")[0]
_simulated: bool | None = True if os.environ.get("PARPY_CUDA_SIM", "0") not in ("", "0") else None


def on_gpu() -> bool:
    """Whether there is a GPU to use. Where there is none the simulator takes its place, and says so once."""
    global _simulated
    if _simulated is None:
        reason = _native.cuda_unavailable()
        _simulated = bool(reason)
        if reason:
            warnings.warn(f"kernels run on the simulator, on the CPU: {reason}", RuntimeWarning, stacklevel=_depth())
    return not _simulated


def _depth() -> int:
    """How many calls on the stack are the package's, from the caller on, and that of the user."""
    frame, count = sys._getframe(1), 1
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == _PACKAGE:
        frame, count = frame.f_back, count + 1
    return count


def set_simulated(simulated: bool) -> None:
    """``False``: the GPU from now on, if there is one."""
    global _simulated
    _simulated = True if simulated else None
