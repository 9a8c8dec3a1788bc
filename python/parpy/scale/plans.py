"""Caches the plans of calls and the programs of their parts for calls with arguments of the same kinds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from .. import _native
from ..calls.caller import refuse_call
from ..calls.compiling import driver_behind, jit_of_part
from ..calls.options import CompileBackend, CompileOptions
from ..frontend.parse import Surface, parse
from ..syntax.names import Capture
from .given import GivenArray
from .halo import halo_found
from .partitioned import Partitioned
from .plan import Plan, Refused, make_plan
from .spacing import Speed

_MOST_KEPT = 256  # the most plans, and the most parts, of one function


@dataclass
class _Kept:
    """The cached plans and parts of one function, valid while the values that it captures do not change."""

    surface: Surface
    captured: tuple[Any, ...]
    plans: dict[Any, Plan]
    parts: dict[Any, _native.JitFunction]

    def holds(self) -> bool:
        return all(guard.holds() for guard in self.surface.guards) and _values(self.surface.captures) == self.captured


_kept: WeakKeyDictionary[_native.JitFunction, _Kept] = WeakKeyDictionary()


def _values(captures: tuple[Capture, ...]) -> tuple[Any, ...]:
    """A key of the captured values: programs for equal keys are equal."""
    return tuple(_identity(each.read()) for each in captures)


def _identity(value: Any) -> Any:
    if isinstance(value, bool | int | float | complex | str):
        return type(value), value
    return (id(value), value.shape) if isinstance(value, np.ndarray) else object()


def _kept_of(function: _native.JitFunction) -> _Kept:
    found = _kept.get(function)
    if found is None or not found.holds():
        surface = parse(function.__parpy_source__)
        found = _kept[function] = _Kept(surface, _values(surface.captures), {}, {})
    if len(found.plans) > _MOST_KEPT or len(found.parts) > _MOST_KEPT:
        found.plans.clear()
        found.parts.clear()
    return found


def refuse(
    function: _native.JitFunction,
    message: str,
    help_text: str = "parpy.halo(f, *args) shows the elements that each nest touches",
) -> None:
    name = function.__name__
    refuse_call("P401", f"'{name}' cannot be shared by several devices: {message}", help_text)


def is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray | Partitioned | GivenArray)


def plain(opts: CompileOptions) -> CompileOptions:
    """The options without the fields by which parts share a call."""
    return CompileOptions(**{**opts._values, "devices": None, "gather": False, "comm": None})


def _kinds(values: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(
        (each.shape, getattr(each, "strides", None), each.dtype.str, _writeable(each)) if is_array(each) else repr(each)
        for each in values
    )


def _writeable(value: Any) -> bool:
    return bool(value.flags.writeable if isinstance(value, np.ndarray) else getattr(value, "writeable", True))


def _stand_in(value: Any) -> Any:
    """An array of the type and shape of the argument, or the argument itself."""
    return value.stand_in if isinstance(value, Partitioned | GivenArray) else value


def part_of(function: _native.JitFunction, plan: Plan, part: int, values: tuple[Any, ...]) -> _native.JitFunction:
    """The jit function that runs one part of a call; ``values`` are the arguments of the whole call."""
    text = plan.text(part)
    made = _kept_of(function).parts
    key = (text, _kinds(values))
    found = made.get(key)
    if found is None:
        found = made[key] = jit_of_part(function.__parpy_source__, text)
    return found


_GPU = Speed(exchange=25e-6, bytes=4e12, gain=3.0, restart=1.5, beside=10e-6, whole=20)
_HOST = Speed(exchange=60e-6, bytes=1e10, gain=2.0, restart=0.5, beside=40e-6)
"""The speeds of GPUs that access each other's memory, and of threads or ranks on the cores of a machine."""


def backend_of(opts: CompileOptions) -> CompileBackend:
    """The back end that a call with these options uses."""
    if opts.backend is not CompileBackend.Auto:
        return opts.backend
    from ..backend import is_enabled

    return CompileBackend.Cuda if is_enabled(CompileBackend.Cuda) else CompileBackend.Cpu


def plan_of(function: _native.JitFunction, values: tuple[Any, ...], opts: CompileOptions, parts: int) -> Plan:
    """The plan by which this number of parts share the call. Raises ParallelError if they cannot share it."""
    kept = _kept_of(function)
    options = {name: value for name, value in opts._values.items() if name not in ("devices", "comm", "stream")}
    key = (_kinds(values), parts, repr(options))
    found = kept.plans.get(key)
    if found is None:
        found = _made(function, kept.surface, values, opts, parts)
        kept.plans[key] = found
    return found


def _made(
    function: _native.JitFunction, surface: Surface, values: tuple[Any, ...], opts: CompileOptions, parts: int
) -> Plan:
    stand_ins = tuple(map(_stand_in, values))
    if driver_behind(function, stand_ins) is not None:
        refuse(
            function,
            "Python runs a part of it",
            "parpy.explain shows which; 'u, v = a, b' before a loop gives it names that it may exchange",
        )
    if any(capture.generator for capture in surface.captures):
        refuse(function, "it draws random numbers, of which each device would have its own")
    try:
        steps = halo_found(function, plain(opts), stand_ins).steps
        speed = _GPU if backend_of(opts) is CompileBackend.Cuda else _HOST
        return make_plan(steps, parts, opts.gather, opts.deterministic, speed)
    except Refused as reason:
        refuse(function, str(reason))
        raise
