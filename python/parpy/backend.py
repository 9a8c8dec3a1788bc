"""Which back ends this machine has, and which one ``CompileBackend.Auto`` stands for."""

from __future__ import annotations

from . import _native
from .calls.options import CompileBackend

__all__ = ["available", "backends", "is_enabled", "set_default"]


def backends() -> list[CompileBackend]:
    """The back ends that this version of ParPy generates code for, whether or not their hardware is here."""
    return [CompileBackend.Cpu, CompileBackend.Cuda, CompileBackend.Metal, CompileBackend.Sim]


def is_enabled(backend: CompileBackend, verbose: bool = False) -> bool:
    """Whether code for ``backend`` can run on this machine. ``verbose`` prints why not."""
    if not isinstance(backend, CompileBackend):
        raise TypeError(f"expected a parpy.CompileBackend, not {backend!r}")
    if backend in (CompileBackend.Cpu, CompileBackend.Sim, CompileBackend.Auto):
        return True
    reason = (
        _native.cuda_unavailable()
        if backend is CompileBackend.Cuda
        else "this version of ParPy generates its source and does not run it"
    )
    if reason and verbose:
        print(f"{backend.name} is disabled: {reason}")
    return not reason


def available() -> list[CompileBackend]:
    """The back ends whose code can run on this machine."""
    return [b for b in backends() if is_enabled(b)]


def set_default(backend: CompileBackend) -> None:
    """Makes ``CompileBackend.Auto`` stand for ``backend``; Auto restores the choice by the hardware."""
    if not isinstance(backend, CompileBackend):
        raise TypeError(f"expected a parpy.CompileBackend, not {backend!r}")
    _native.set_default_backend(backend.value)
