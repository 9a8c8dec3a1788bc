"""Chooses the engine for a call whose iterations several parts share."""

from __future__ import annotations

from typing import Any

from .. import _native
from ..calls.options import CompileOptions
from ..calls.tracebacks import hides_frames


@hides_frames
def call(function: _native.JitFunction, values: tuple[Any, ...], opts: CompileOptions) -> Any:
    """Makes a call with ``opts.devices`` or ``opts.comm``."""
    if opts.comm is None:
        from . import devices

        return devices.call(function, values, opts)
    if opts.devices is not None:
        raise ValueError("options 'devices' and 'comm' cannot be used together: ranks have one device each")
    from . import ranks

    return ranks.call(function, values, opts)
