"""``opts.devices`` on GPUs: each GPU runs a part of the call, which a separate thread enqueues.

Rows are exchanged by device-to-device copies that the run-time system enqueues between the kernels
(src/runtime/parts/device_team.h), so that no thread waits for a GPU. Reduced numbers are on the host anyway and are
combined there, as for virtual devices; so are reduced arrays.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from .. import _native
from ..arrays.device_arrays import DeviceArray, device_of, fetch, store
from ..calls.caller import refuse_call
from ..calls.options import CompileOptions
from .cuts import Cut
from .exchanges import Exchanges, Meeting
from .given import GivenArray
from .gpu_blocks import GpuArray, GpuBlocks
from .partitioned import Partitioned
from .plan import Action, Plan
from .plans import is_array, part_of, plain
from .threads import run_parts

_Array = np.ndarray[Any, Any]


_teams: dict[tuple[int, ...], _native.DeviceTeam] = {}
"""The idle teams by the devices of their parts."""
_running = threading.Lock()
"""Held by a running call: a program whose kernels may fail runs once at a time on each device, so that parts of
two calls would wait for each other."""


class _Arguments:
    """The arguments of a call and of its parts."""

    def __init__(self, values: tuple[Any, ...], plan: Plan, devices: tuple[int, ...]) -> None:
        self.values, self._plan, self._devices = values, plan, devices
        self._names = {number: name for name, number in plan.arguments.items()}
        self._held = {number: self._split(number) for number, value in enumerate(values) if is_array(value)}

    def _split(self, number: int) -> GpuBlocks | list[GpuArray]:
        """The argument in blocks, or a copy of it for each part."""
        value = self.values[number]
        cut = self._plan.cut.get(self._names.get(number, ""))
        if cut is None:
            return self._everywhere(value)
        cuts = tuple(min(each, cut.extent) for each in cut.cuts)
        if isinstance(value, GpuBlocks) and (value.axis, value.cuts, value.devices) == (cut.axis, cuts, self._devices):
            blocks, host = value, None
        else:
            host = value if isinstance(value, GivenArray) else np.asarray(value)
            blocks = GpuBlocks(host.shape, host.dtype, cut.axis, cuts, self._devices)
            blocks.copy_from(host)
        for part, array in enumerate(blocks.arrays):
            for _, first, last in cut.missing(part, cut.low, cut.high, cut.periodic):
                array.cover(first, last)
                if host is not None:
                    array.upload(first, last, host)
            for action in self._plan.actions:
                if action.name == self._names[number] and action.kind == "gather":
                    array.cover(0, cut.extent)
        return blocks

    def _everywhere(self, value: Any) -> GpuBlocks | list[GpuArray]:
        if isinstance(value, GpuBlocks) and value.devices == self._devices:
            for array in value.arrays:
                array.cover(0, value.shape[value.axis])
            return value
        copies, host = [], value if isinstance(value, GivenArray) else np.asarray(value)
        for device in self._devices:
            copies.append(GpuArray(host.shape, host.dtype, 0, device, self._devices))
            copies[-1].upload(0, host.shape[0], host)
        return copies

    def of(self, part: int) -> tuple[Any, ...]:
        """The arguments of one part."""
        return tuple(
            DeviceArray(self._array(number, part).view, True) if number in self._held else value
            for number, value in enumerate(self.values)
        )

    def _array(self, number: int, part: int) -> GpuArray:
        held = self._held[number]
        return held.arrays[part] if isinstance(held, GpuBlocks) else held[part]

    def fills(self) -> list[tuple[int, Action]]:
        """The exchanges before the call between arrays that stayed on the devices, by number: rows of halos, or all
        rows."""
        found = []
        for number, held in self._held.items():
            if held is not self.values[number] or not isinstance(held, GpuBlocks):
                continue
            name = self._names.get(number, "")
            cut = self._plan.cut.get(name)
            if cut is None and held.whole:
                continue
            if cut is None:
                whole = Cut(held.axis, held.shape[held.axis], held.cuts)
                found.append((number, Action("gather", name, whole)))
            elif cut.low or cut.high:
                found.append((number, Action("halo", name, cut, cut.low, cut.high, cut.periodic)))
        return found

    def begin(self) -> None:
        """To be called before the parts run."""
        for number, held in self._held.items():
            if isinstance(held, GpuBlocks) and self._names.get(number, "") in self._plan.written:
                held.whole = False

    def pointer(self, number: int, part: int) -> int:
        return self._array(number, part).pointer

    def give_back(self) -> None:
        """Copies the results of the parts to the arguments of the call."""
        for number, held in self._held.items():
            value, name = self.values[number], self._names.get(number, "")
            if isinstance(held, GpuBlocks) and name not in self._plan.cut and name not in self._plan.written:
                held.whole = True
            if held is value or name not in self._plan.written:
                continue
            if isinstance(value, GivenArray):
                self._give_back_on_gpu(held, value)
                continue
            if isinstance(held, GpuBlocks):
                result = held.numpy()
            else:
                result = np.empty(value.shape, value.dtype)
                held[0].download(0, value.shape[0], result)
            if isinstance(value, Partitioned):
                value.copy_from(result)
            else:
                value[...] = result

    @staticmethod
    def _give_back_on_gpu(held: GpuBlocks | list[GpuArray], value: GivenArray) -> None:
        if isinstance(held, GpuBlocks):
            for array, first, last in zip(held.arrays, held.cuts, held.cuts[1:], strict=False):
                array.give(first, last, value)
        else:
            held[0].give(0, value.shape[0], value)
        value.settle()


class _GpuExchanges(Exchanges):
    """The hook for exchanges that Python carries out, which are reductions."""

    def __init__(self, plan: Plan, part: int, meeting: Meeting, stream: int) -> None:
        super().__init__(plan, part, meeting, {})
        self._stream = stream

    def reduce(self, action: Action, array: _Array) -> None:
        _native.synchronize_stream(self._stream, device_of(array))
        host = np.empty(array.shape, array.dtype)
        fetch(host, array)
        super().reduce(action, host)
        store(array, host)


def call(function: _native.JitFunction, values: tuple[Any, ...], opts: CompileOptions, plan: Plan) -> list[Any]:
    """Runs a call with ``opts.devices`` on these GPUs, and returns the results of the parts."""
    devices = opts.devices or ()
    count = _native.device_count()
    if max(devices) >= count:
        refuse_call(
            "P560",
            f"there is no GPU {max(devices)} for opts.devices: this machine has {count}",
            "parpy.show_config() lists them",
        )
    arguments = _Arguments(values, plan, devices)
    with _running:
        results = _run(function, values, opts, plan, arguments)
        arguments.give_back()
    return results


def _run(
    function: _native.JitFunction, values: tuple[Any, ...], opts: CompileOptions, plan: Plan, arguments: _Arguments
) -> list[Any]:
    devices = opts.devices or ()
    team = _teams.pop(devices, None) or _native.DeviceTeam(list(devices))
    fills = arguments.fills()
    arguments.begin()
    team.begin([*plan.copies, *(plan.copy(action) for _, action in fills)])
    meeting = Meeting(plan.parts)

    def run(part: int) -> Any:
        own = arguments.of(part)
        program = part_of(function, plan, part, values)
        options = plain(opts)
        options.stream = team.stream(part)
        for place, (number, _) in enumerate(fills):
            team.exchange(part, len(plan.actions) + place, arguments.pointer(number, part))
        hook = _GpuExchanges(plan, part, meeting, options.stream)
        return _native.run_device_part(lambda: program(*own, opts=options), hook, team, part)

    def fail() -> None:
        team.fail()
        meeting.fail()

    try:
        results = run_parts(plan.parts, run, fail)
    finally:
        team.synchronize()
    _teams[devices] = team
    return results
