"""The kernels for JAX: functions without side effects that return the kernel's outputs, in its order.

A function has the name of its kernel, and its parameters those of the kernel's data; whole numbers are static. Kernels
that are missing here have no short form in JAX.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def form(name: str) -> Callable[..., Any] | None:
    """The function of a kernel, undecorated. Imports JAX."""
    from . import fields, networks, pointwise, products, systems

    modules = (fields, networks, pointwise, products, systems)
    return next((getattr(module, name) for module in modules if hasattr(module, name)), None)
