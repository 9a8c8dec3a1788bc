"""The back ends of this machine, and the back end that ``CompileBackend.Auto`` means."""

from __future__ import annotations

from typing import Final

from . import _native
from .calls.options import CompileBackend

__all__ = ["available", "backends", "is_enabled", "set_default"]


class Backends(list[CompileBackend]):
    """A list of back ends. Calling the list returns a copy: ``available()`` equals ``available``."""

    def __call__(self) -> list[CompileBackend]:
        return list(self)


backends: Final = Backends([CompileBackend.Cpu, CompileBackend.Cuda, CompileBackend.Metal, CompileBackend.Sim])
"""The back ends that this version of ParPy generates code for, whether or not their hardware is here."""

available: Backends
"""The back ends whose code can run on this machine, which is found out when it is read for the first time."""


def is_enabled(backend: CompileBackend, verbose: bool = False) -> bool:
    """Returns whether code for ``backend`` can run on this machine. ``verbose`` prints the reason if it cannot."""
    if not isinstance(backend, CompileBackend):
        raise TypeError(f"expected a parpy.CompileBackend, not {backend!r}")
    if backend in (CompileBackend.Cpu, CompileBackend.Sim, CompileBackend.Auto):
        return True
    reason = {
        CompileBackend.Metal: "this version of ParPy generates its source and does not run it",
        CompileBackend.Triton: "ParPy compiles CUDA C++ instead, for the back end Cuda",
    }.get(backend) or _native.cuda_unavailable()
    if reason and verbose:
        print(f"{backend.name} is disabled: {reason}")
    return not reason


def __getattr__(name: str) -> Backends:
    if name != "available":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()["available"] = Backends(each for each in backends if is_enabled(each))
    return found


def set_default(backend: CompileBackend) -> None:
    """Sets the back end that ``CompileBackend.Auto`` means. ``set_default(CompileBackend.Auto)`` restores the choice by
    the hardware.
    """
    if not isinstance(backend, CompileBackend):
        raise TypeError(f"expected a parpy.CompileBackend, not {backend!r}")
    _native.set_default_backend(backend.value)
