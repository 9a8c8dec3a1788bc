"""``opts.devices``: the iterations of a call shared by several devices, each with its blocks of the arrays.

On the CPU devices are virtual: threads of their own, with memory of their own, that exchange rows as devices do.
"""

from __future__ import annotations

import threading
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from .. import _native
from ..calls.caller import refuse_call
from ..calls.compiling import driver_behind, jit_of_part
from ..calls.options import CompileBackend, CompileOptions
from ..calls.tracebacks import hides_frames
from ..frontend.parse import parse
from .exchanges import Exchanges, Meeting
from .halo import halo_found
from .partitioned import Partitioned, partitioned
from .plan import Plan, Refused, make_plan

_Array = np.ndarray[Any, Any]


def _refuse(
    function: _native.JitFunction, message: str, help_text: str = "parpy.halo(f, *args) shows what each nest touches"
) -> None:
    name = function.__name__
    refuse_call("P401", f"'{name}' cannot be shared by several devices: {message}", help_text)


def _representative(value: Any) -> Any:
    """An array of the type and shape of the argument, or the argument itself."""
    return value.parts[0] if isinstance(value, Partitioned) else value


def _bounds(value: Any) -> tuple[int, int]:
    low, high = np.lib.array_utils.byte_bounds(value)
    return int(low), int(high)


class _Arguments:
    """The arguments of a call, and those of its parts."""

    def __init__(self, values: tuple[Any, ...], plan: Plan) -> None:
        self.values, self._plan = values, plan
        self._names = {number: name for name, number in plan.arguments.items()}
        self._copies = {number: self._split(number) for number, value in enumerate(values) if _is_array(value)}

    def _split(self, number: int) -> Partitioned | list[_Array]:
        """In blocks, or a copy for each part."""
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
        """Stores what the parts have written to the arguments of the call."""
        for number, copies in self._copies.items():
            value = self.values[number]
            if copies is value or self._names.get(number, "") not in self._plan.written:
                continue
            result = copies.numpy() if isinstance(copies, Partitioned) else copies[0]
            if isinstance(value, Partitioned):
                value.copy_from(result)
            else:
                value[...] = result


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray | Partitioned)


def check(function: _native.JitFunction, values: tuple[Any, ...], plan: Plan) -> None:
    """Refuses arguments that cannot be split."""
    for value in values:
        if not _is_array(value) and not isinstance(value, bool | int | float | complex | np.generic):
            _refuse(function, f"an argument is a {type(value).__name__}; numbers and arrays of NumPy can be split")
    given = {number: value for number, value in enumerate(values) if _is_array(value)}
    for name, number in plan.arguments.items():
        if number not in given:
            _refuse(function, f"'{name}' is an array that it returns, or that is no argument of the call")
    for name in plan.written:
        number = plan.arguments.get(name, -1)
        if number < 0:
            continue
        for other, value in given.items():
            if other != number and _overlap(given[number], value):
                _refuse(function, f"'{name}' shares memory with another argument")


def _overlap(a: Any, b: Any) -> bool:
    if isinstance(a, Partitioned) or isinstance(b, Partitioned):
        return a is b
    (low, high), (first, last) = _bounds(a), _bounds(b)
    return low < last and first < high and a.size > 0 and b.size > 0


def backend_of(opts: CompileOptions) -> CompileBackend:
    if opts.backend is not CompileBackend.Auto:
        return opts.backend
    from ..backend import is_enabled

    return CompileBackend.Cuda if is_enabled(CompileBackend.Cuda) else CompileBackend.Cpu


def plain(opts: CompileOptions) -> CompileOptions:
    return CompileOptions(**{**opts._values, "devices": None, "gather": False, "comm": None})


_MOST_MADE = 256  # parts of one function that are kept
_made: WeakKeyDictionary[_native.JitFunction, dict[Any, _native.JitFunction]] = WeakKeyDictionary()


def part_of(function: _native.JitFunction, plan: Plan, part: int, values: tuple[Any, ...]) -> _native.JitFunction:
    """The function as one part of a call of these arguments: a jit function of its own."""
    text = plan.text(part)
    kinds = tuple((each.shape, each.strides, each.dtype.str) if _is_array(each) else repr(each) for each in values)
    mine = _made.setdefault(function, {})
    found = mine.get((text, kinds))
    if found is None:
        if len(mine) >= _MOST_MADE:
            mine.clear()
        found = mine[text, kinds] = jit_of_part(function.__parpy_source__, text)
    return found


def plan_of(function: _native.JitFunction, values: tuple[Any, ...], opts: CompileOptions, parts: int) -> Plan:
    """How so many parts share a call of these arguments. Raises ParallelError if they cannot."""
    stand_ins = tuple(map(_representative, values))
    if driver_behind(function, stand_ins) is not None:
        _refuse(
            function,
            "Python runs a part of it",
            "parpy.explain shows which; 'u, v = a, b' before a loop gives it names that it may exchange",
        )
    if any(capture.generator for capture in parse(function.__parpy_source__).captures):
        _refuse(function, "it draws random numbers, of which each device would have its own")
    try:
        steps = halo_found(function, plain(opts), stand_ins).steps
        return make_plan(steps, parts, opts.gather, opts.deterministic)
    except Refused as reason:
        _refuse(function, str(reason))
        raise


@hides_frames
def call(function: _native.JitFunction, values: tuple[Any, ...], opts: CompileOptions) -> Any:
    """A call with ``opts.devices``."""
    devices = opts.devices or ()
    backend = backend_of(opts)
    if backend is not CompileBackend.Cpu:
        refuse_call(
            "P560",
            f"several devices share a call on the CPU alone so far, not on {backend.name}",
            "use backend=parpy.CompileBackend.Cpu",
        )
    plan = plan_of(function, values, opts, len(devices))
    check(function, values, plan)
    arguments = _Arguments(values, plan)
    meeting, options = Meeting(plan.parts), plain(opts)
    results: list[Any] = [None] * plan.parts
    failures: dict[int, BaseException] = {}

    def run(part: int) -> None:
        own = arguments.of(part)
        program = part_of(function, plan, part, own)
        hook = Exchanges(plan, part, meeting, arguments.arrays(part))
        try:
            results[part] = _native.run_part(lambda: program(*own, opts=options), hook)
        except BaseException as failure:
            failures[part] = failure
            meeting.fail()

    threads = [threading.Thread(target=run, args=(part,), name=f"parpy part {part}") for part in range(plan.parts)]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except BaseException:  # Ctrl-C: the parts end where they meet next
        meeting.fail()
        raise
    if failures:
        raise _first(failures)
    if returns_array(results[0]):
        _refuse(function, "it returns an array")
    arguments.give_back()
    return results[0]


def returns_array(value: Any) -> bool:
    """Whether a result is, or contains, an array, of which each part has its rows alone."""
    if isinstance(value, tuple):
        return any(map(returns_array, value))
    return value is not None and not isinstance(value, bool | int | float | complex | np.generic)


def _first(failures: dict[int, BaseException]) -> BaseException:
    """The failure that is none of waiting for another part."""
    own = [failures[part] for part in sorted(failures)]
    return next((each for each in own if not isinstance(each, threading.BrokenBarrierError)), own[0])
