"""The places where a universal function runs."""

from __future__ import annotations

import enum
from typing import Any

from ..calls.options import CompileBackend, CompileOptions
from ..cuda._backend import on_gpu
from ..cuda._streams import handle_of


class Target(enum.Enum):
    """A target by its name. The name ``'gpu'`` also means CUDA."""

    CPU = "cpu"
    PARALLEL = "parallel"
    CUDA = "cuda"
    SIM = "sim"
    AUTO = "auto"


def target_of(name: object) -> Target:
    """The target of this name. Raises ValueError if there is none."""
    found = {"gpu": Target.CUDA, **{each.value: each for each in Target}}.get(name) if isinstance(name, str) else None
    if found is None:
        raise ValueError(f"the targets are 'cpu', 'parallel', 'gpu' or 'cuda', 'sim' and 'auto', not {name!r}")
    return found


class DeviceOptions:
    """The options of calls of a ufunc on a device, one object for each stream, which later calls reuse."""

    def __init__(self, target: Target, fast: bool) -> None:
        self._target, self._fast = target, fast
        self._found: dict[tuple[bool, int | None], CompileOptions] = {}

    @property
    def simulated(self) -> bool:
        """Whether calls run on the simulator."""
        return self._target is Target.SIM or not on_gpu()

    def on(self, stream: Any = None) -> CompileOptions:
        """The options of a call on a stream; None means the stream of the arrays."""
        simulated = self.simulated
        key = (simulated, None if stream is None else handle_of(stream))
        found = self._found.get(key)
        if found is None:
            place = CompileBackend.Sim if simulated else CompileBackend.Cuda
            more: dict[str, Any] = {} if simulated or key[1] is None else {"stream": key[1]}
            found = CompileOptions(automatic=True, backend=place, fast_math=self._fast, **more)
            self._found[key] = found
        return found
