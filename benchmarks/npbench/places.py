"""Where data live and calls run: in NumPy's arrays, in CuPy's on a GPU, or in JAX's on the device of its choice."""

from __future__ import annotations

import copy
import os
import platform
from collections.abc import Mapping
from typing import Any

import numpy as np

Data = dict[str, Any]


def is_array(value: Any) -> bool:
    return getattr(value, "shape", ()) != ()


class Host:
    """NumPy's arrays."""

    def take(self, data: Mapping[str, Any]) -> Data:
        return copy.deepcopy(dict(data))

    def restore(self, work: Data, pristine: Data) -> None:
        for name, value in work.items():
            if is_array(value):
                value[...] = pristine[name]

    def give(self, value: Any) -> Any:
        """The value for NumPy."""
        return value

    def synchronize(self, returned: Any) -> None:
        pass


class Device(Host):
    """CuPy's arrays; calls may also return buffers of ParPy."""

    def __init__(self) -> None:
        import cupy

        self.cupy = cupy

    def take(self, data: Mapping[str, Any]) -> Data:
        return {name: self.cupy.array(value) if is_array(value) else value for name, value in data.items()}

    def give(self, value: Any) -> Any:
        if isinstance(value, self.cupy.ndarray):
            return self.cupy.asnumpy(value)
        return value.numpy() if hasattr(value, "numpy") else value

    def synchronize(self, returned: Any) -> None:
        self.cupy.cuda.Device().synchronize()


class Jax(Host):
    """JAX's arrays, which cannot be modified, in double precision if the data are."""

    def __init__(self) -> None:
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        import jax

        jax.config.update("jax_enable_x64", True)
        jax.config.update("jax_default_matmul_precision", "highest")
        self.jax = jax

    def take(self, data: Mapping[str, Any]) -> Data:
        array = self.jax.numpy.asarray
        return {
            name: array(value) if isinstance(value, np.ndarray | np.generic) else value for name, value in data.items()
        }

    def restore(self, work: Data, pristine: Data) -> None:
        pass

    def give(self, value: Any) -> Any:
        return np.asarray(value)

    def synchronize(self, returned: Any) -> None:
        self.jax.block_until_ready(returned)


def processor() -> str:
    """The CPU and how many cores of it this process may use."""
    name = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo") as file:
            name = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), name)
    except OSError:
        pass
    return f"{name}, {len(os.sched_getaffinity(0))} cores"


def graphics_card() -> str:
    """The first GPU that CuPy sees. Its context stays in this process, so call this in a process of its own."""
    import cupy

    return cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
