"""``opts.devices``: several devices share the iterations of a call, each with its blocks of the arrays.

On the CPU and the simulator, devices are virtual: threads with separate memory that exchange rows as devices do. The
module `gpus` runs calls on GPUs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _native
from ..calls.caller import refuse_call
from ..calls.options import CompileBackend, CompileOptions
from ..calls.tracebacks import hides_frames
from .exchanges import Exchanges, Meeting
from .given import GivenArray, given
from .partitioned import Partitioned, partitioned
from .plan import Plan
from .plans import backend_of, is_array, part_of, plain, plan_of, refuse
from .threads import run_parts

_Array = np.ndarray[Any, Any]


def _bounds(value: Any) -> tuple[int, int]:
    low, high = np.lib.array_utils.byte_bounds(value)
    return int(low), int(high)


class _Arguments:
    """The arguments of a call and of its parts."""

    def __init__(self, values: tuple[Any, ...], plan: Plan) -> None:
        self.values, self._plan = values, plan
        self._names = {number: name for name, number in plan.arguments.items()}
        self._copies = {number: self._split(number) for number, value in enumerate(values) if is_array(value)}

    def _split(self, number: int) -> Partitioned | list[_Array]:
        """The argument in blocks, or a copy of it for each part."""
        value = self.values[number]
        cut = self._plan.cut.get(self._names.get(number, ""))
        if cut is None:
            whole = value.numpy() if isinstance(value, Partitioned) else value
            return [np.array(whole, order="C", copy=True) for _ in range(self._plan.parts)]
        cuts = tuple(min(each, cut.extent) for each in cut.cuts)
        if isinstance(value, Partitioned) and (value.axis, value.cuts) == (cut.axis, cuts):
            blocks = value
        else:
            blocks = partitioned(value.numpy() if isinstance(value, Partitioned) else value, cut.axis, cuts)
        for part, mine in enumerate(blocks.parts):
            for source, first, last in cut.missing(part, cut.low, cut.high, cut.periodic):
                at = (slice(None),) * cut.axis + (slice(first, last),)
                mine[at] = blocks.parts[source][at]
        return blocks

    def of(self, part: int) -> tuple[Any, ...]:
        """The arguments of one part."""
        return tuple(self._own(number, part) for number in range(len(self.values)))

    def _own(self, number: int, part: int) -> Any:
        copies = self._copies.get(number)
        if copies is None:
            return self.values[number]
        return copies.parts[part] if isinstance(copies, Partitioned) else copies[part]

    def arrays(self, part: int) -> dict[str, _Array]:
        return {name: self._own(number, part) for number, name in self._names.items()}

    def give_back(self) -> None:
        """Copies the results of the parts to the arguments of the call."""
        for number, copies in self._copies.items():
            value = self.values[number]
            if copies is value or self._names.get(number, "") not in self._plan.written:
                continue
            result = copies.numpy() if isinstance(copies, Partitioned) else copies[0]
            if isinstance(value, Partitioned):
                value.copy_from(result)
            else:
                value[...] = result


def check(function: _native.JitFunction, values: tuple[Any, ...], plan: Plan) -> None:
    """Refuses arguments that cannot be split."""
    for value in values:
        if not is_array(value) and not isinstance(value, bool | int | float | complex | np.generic):
            refuse(function, f"an argument is a {type(value).__name__}; numbers and arrays can be split")
    arrays = {number: value for number, value in enumerate(values) if is_array(value)}
    for name, number in plan.arguments.items():
        if number not in arrays:
            refuse(function, f"'{name}' is an array that it returns, or that is no argument of the call")
    for name in plan.written:
        number = plan.arguments.get(name, -1)
        if number < 0:
            continue
        for other, value in arrays.items():
            if other != number and _overlap(arrays[number], value):
                refuse(function, f"'{name}' shares memory with another argument")


def _overlap(a: Any, b: Any) -> bool:
    if isinstance(a, Partitioned) or isinstance(b, Partitioned):
        return a is b
    one, other = (each.view if isinstance(each, GivenArray) else each for each in (a, b))
    (low, high), (first, last) = _bounds(one), _bounds(other)
    return low < last and first < high and one.size > 0 and other.size > 0


@hides_frames
def call(function: _native.JitFunction, values: tuple[Any, ...], opts: CompileOptions) -> Any:
    """Makes a call with ``opts.devices``."""
    backend = backend_of(opts)
    if backend not in (CompileBackend.Cpu, CompileBackend.Sim, CompileBackend.Cuda):
        refuse_call("P560", f"several devices do not share a call on {backend.name}", "use CUDA, or the CPU")
    values = tuple(map(given, values))
    plan = plan_of(function, values, opts, len(opts.devices or ()))
    check(function, values, plan)
    if backend is not CompileBackend.Cuda and any(isinstance(value, GivenArray) for value in values):
        refuse(function, "an argument is in the memory of a GPU", "use backend=parpy.CompileBackend.Cuda")
    if backend is CompileBackend.Cuda:
        from . import gpus

        results = gpus.call(function, values, opts, plan)
    else:
        results = _on_virtual_devices(function, values, opts, plan)
    if returns_array(results[0]):
        refuse(function, "it returns an array")
    return results[0]


def _on_virtual_devices(
    function: _native.JitFunction, values: tuple[Any, ...], opts: CompileOptions, plan: Plan
) -> list[Any]:
    arguments = _Arguments(values, plan)
    meeting, options = Meeting(plan.parts), plain(opts)

    def run(part: int) -> Any:
        own = arguments.of(part)
        program = part_of(function, plan, part, own)
        hook = Exchanges(plan, part, meeting, arguments.arrays(part))
        return _native.run_part(lambda: program(*own, opts=options), hook)

    results = run_parts(plan.parts, run, meeting.fail)
    if not returns_array(results[0]):
        arguments.give_back()
    return results


def returns_array(value: Any) -> bool:
    """Whether a result is or contains an array, of which each part would have only its own rows."""
    if isinstance(value, tuple):
        return any(map(returns_array, value))
    return value is not None and not isinstance(value, bool | int | float | complex | np.generic)
