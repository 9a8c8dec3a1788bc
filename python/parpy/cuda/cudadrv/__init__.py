"""The modules below ``numba.cuda.cudadrv`` that programs import from: device arrays, devices and errors."""

from . import devicearray, devices, driver, error

__all__ = ["devicearray", "devices", "driver", "error"]
