"""NumbaPro's compute units, which run a function of the thread's number for each thread on a device or on all cores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..builtin import label
from ..calls.jit import jit_of_source
from ..calls.options import CompileBackend, CompileOptions, LoopPar
from ..cuda import device_array, to_device
from ..cuda._arrays import DeviceNDArray
from ..cuda._backend import on_gpu
from ..library.texts import function_of
from ..syntax.names import source_of

_MOST_THREADS = 1 << 20


class CU:
    """A compute unit, ``'gpu'`` or ``'cpu'``::

    unit = CU("gpu")
    a, result = unit.input(A), unit.output(R)
    unit.enqueue(kernel, ntid=R.size, args=(a, result))   # kernel(tid, a, result) for each tid
    unit.wait()                                           # R has the result
    """

    def __init__(self, target: str = "gpu") -> None:
        if target not in ("gpu", "cuda", "cpu"):
            raise ValueError(f"compute units are 'gpu' and 'cpu', not {target!r}")
        self._on_device = target != "cpu"
        self._outputs: list[tuple[Any, DeviceNDArray]] = []
        self._kernels: dict[Any, Any] = {}

    def input(self, array: Any) -> Any:
        """Returns the array for kernels that read it: a copy on the device, or on ``'cpu'`` a NumPy array of the same
        elements."""
        return to_device(np.asarray(array)) if self._on_device else np.asarray(array)

    def output(self, array: Any) -> Any:
        """Returns an array of the same shape and type for kernels that store to it. ``array`` gets its elements by
        ``wait``."""
        return self._returned(array, device_array(array.shape, array.dtype) if self._on_device else array)

    def inout(self, array: Any) -> Any:
        """Returns the array for kernels that read it and store to it. ``array`` gets the new elements by ``wait``."""
        return self._returned(array, to_device(array) if self._on_device else array)

    def scratch(self, shape: Any, dtype: Any = np.float64) -> Any:
        """Returns a new array of arbitrary contents for the kernels of this unit, of ``shape``, an int or a tuple, and
        ``dtype``."""
        return device_array(shape, dtype) if self._on_device else np.empty(shape, dtype)

    def scratch_like(self, array: Any) -> Any:
        """Returns a new array of arbitrary contents with the shape and the type of ``array``."""
        return self.scratch(array.shape, array.dtype)

    def _returned(self, host: Any, there: Any) -> Any:
        if self._on_device:
            self._outputs.append((host, there))
        return there

    def enqueue(self, kernel: Callable[..., Any], ntid: int, args: Sequence[Any] = ()) -> None:
        """Runs ``kernel(tid, *args)`` for each ``tid`` from 0 to ``ntid - 1``, in any order and in parallel. Kernels of
        one unit run one after the other. Raises ValueError if ``ntid`` is no int from 0, and CompileError for kernels
        that cannot be compiled."""
        if isinstance(ntid, bool) or not isinstance(ntid, int | np.integer) or ntid < 0:
            raise ValueError(f"'ntid' is a number of threads from 0, not {ntid!r}")
        key = kernel, len(args)
        function = self._kernels.get(key)
        if function is None:
            source = source_of(kernel)
            names = [f"a{k}" for k in range(len(args))]
            text = (
                f"def unit_kernel({', '.join(['count', *names])}):\n"
                "    label('tid')\n"
                "    for tid in range(count):\n"
                f"        function({', '.join(['tid', *names])})\n"
            )
            file, jitted = f"<kernel {source.function.__name__}>", jit_of_source(source)
            made = function_of(text, "unit_kernel", file, function=jitted, label=label)
            function = self._kernels[key] = jit_of_source(source_of(made))
        if ntid == 0:
            return
        place = CompileBackend.Cpu if not self._on_device else CompileBackend.Cuda if on_gpu() else CompileBackend.Sim
        threads = LoopPar().threads(min(int(ntid), _MOST_THREADS))
        function(int(ntid), *args, opts=CompileOptions(parallelize={"tid": threads}, backend=place))

    def wait(self) -> None:
        """Waits for the kernels, and copies the arrays of ``output`` and ``inout`` back."""
        for host, there in self._outputs:
            there.copy_to_host(host)

    def close(self) -> None:
        """Waits as ``wait`` does, and releases the arrays. A ``with`` statement closes the unit at its end."""
        self.wait()
        self._outputs.clear()

    def __enter__(self) -> CU:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
