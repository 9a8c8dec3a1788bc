"""`parpy.halo` computes the distances that blocks of iterations reach beyond their own rows."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .. import _native
from ..calls.argument_lists import arguments_of
from ..calls.compiling import driver_behind, looked_at
from ..calls.jit import _as_jit
from ..calls.options import CompileOptions
from ..calls.tracebacks import hides_frames
from ..host.driver import Driver
from ..host.structures import Structures
from .facts import Reach, Step, flat, steps_of
from .groups import group_of, loops_along, touched_by
from .growth import growth


@dataclass(frozen=True)
class AxisHalo:
    """The facts about one axis of one array over the whole call.

    ``partitionable`` tells that arrays may be cut into blocks along this axis: all nests that touch them run blockwise,
    and besides their own rows blocks access only rows of a halo. ``along`` has the axis of every array that is cut
    together with this one. If it is False, ``why`` is the obstacle, with the access and its line. Without exchanges
    between nests or time steps, the block of rows ``first … last`` is computed for the whole call if the rows ``first +
    low … last + high`` of this array are present at its start (low <= 0 <= high); these bounds are never too small.
    They are None if the axis is not partitionable, or if a loop runs an unknown number of times. ``reads`` and
    ``writes`` are the least and the greatest offset in any single nest, which are needed if rows are exchanged between
    nests, or None. ``periodic`` tells that offsets are counted modulo the extent. ``whole`` names arrays that are never
    written and that each block reads as a whole. ``gathered`` names arrays that are cut, but that the blocks of some
    nests read as a whole: if it is not empty, the axis would be partitionable if these arrays were gathered before
    those nests.
    """

    array: str
    axis: int
    extent: int
    partitionable: bool
    why: str = ""
    low: int | None = None
    high: int | None = None
    reads: tuple[int, int] | None = None
    writes: tuple[int, int] | None = None
    periodic: bool = False
    along: Mapping[str, int] = field(default_factory=dict)
    whole: tuple[str, ...] = ()
    gathered: tuple[str, ...] = ()


@dataclass(frozen=True)
class Halo:
    """The result of `parpy.halo`. ``str()`` returns a description.

    ``steps`` are the parts of the call in the order of the text; a repetition contains the repeated steps (`Step`).
    ``nests`` are only the nests and serial statements. ``axes`` has an `AxisHalo` for each axis of each array.
    ``complete`` is False if Python runs loops around the compiled parts, or makes aliases of arrays: the facts then
    hold for each compiled part, and no depth is known for the call. ``forms`` has a text for each compiled part: calls
    with equal forms compute the same values for equal rows, for all extents, unless a loop has a `LoopHalo.position`.
    """

    function: str
    steps: tuple[Step, ...]
    axes: tuple[AxisHalo, ...]
    complete: bool = True
    forms: tuple[str, ...] = field(default=(), repr=False)

    @property
    def nests(self) -> tuple[Step, ...]:
        return tuple(flat(self.steps))

    @property
    def arrays(self) -> tuple[str, ...]:
        """The names of all arrays that the call touches."""
        return tuple(dict.fromkeys(each.array for each in self.axes))

    def of(self, array: str, axis: int = 0) -> AxisHalo:
        """The facts about one axis. Raises KeyError if the call touches no such array, or it has no such axis."""
        for each in self.axes:
            if (each.array, each.axis) == (array, axis):
                return each
        raise KeyError(f"{self.function} touches no axis {axis} of an array '{array}'")

    def depth(self, array: str, calls: int = 1) -> dict[int, tuple[int, int]]:
        """Returns, for each axis along which the array may be cut, the numbers of rows that a block needs before
        and after its own rows for ``calls`` successive calls without exchanges. This is the ``depth`` of the array
        for ``dask.array.map_overlap``. Axes without a known number are left out."""
        found: dict[int, tuple[int, int]] = {}
        if not self.complete:
            return found
        for each in (each for each in self.axes if each.array == array and each.partitionable):
            loops = loops_along(self.steps, each.along)
            sides = [growth(self.steps, each.along, loops, below) for below in (True, False)]
            if sides[0] is None or sides[1] is None:
                continue
            place = list(each.along).index(array)
            before, behind = (side.times(calls).needed()[place] for side in sides if side is not None)
            found[each.axis] = (before, behind)
        return found

    def __str__(self) -> str:
        from .halo_text import text_of

        return text_of(self)


# ---------------------------------------------------------------- the whole call


def _axis(steps: tuple[Step, ...], array: str, axis: int, extent: int, complete: bool) -> AxisHalo:
    group = group_of(steps, array, axis)
    if group.why:
        gathering = group_of(steps, array, axis, gather=True)
        helps = not gathering.why and not gathering.axes.keys() <= gathering.gathered.keys()
        gathered = tuple(gathering.gathered) if helps else ()
        return AxisHalo(array, axis, extent, False, group.why, gathered=gathered)
    loops = loops_along(steps, group.axes)
    offsets: dict[str, tuple[int, int] | None] = {"reads": None, "writes": None}
    periodic = False
    for loop in (each for found in loops.values() for each in found):
        for each in (each for each in loop.touched if (each.array, each.axis) == (array, axis)):
            for name in offsets:
                reach: Reach | None = getattr(each, name)
                if reach is None or reach.low is None or reach.high is None:
                    continue
                least, most = offsets[name] or (reach.low, reach.high)
                offsets[name] = (min(least, reach.low), max(most, reach.high))
                periodic = periodic or reach.kind == "periodic"
    place = list(group.axes).index(array)
    sides = [growth(steps, group.axes, loops, below) if complete else None for below in (True, False)]
    before, behind = (None if side is None else side.needed()[place] for side in sides)
    return AxisHalo(
        array,
        axis,
        extent,
        True,
        "",
        None if before is None else -before,
        behind,
        offsets["reads"],
        offsets["writes"],
        periodic,
        group.axes,
        group.whole,
    )


def halo_of(function: str, steps: tuple[Step, ...], complete: bool = True, forms: tuple[str, ...] = ()) -> Halo:
    """The halo of a sequence of steps."""
    found: dict[tuple[str, int], int] = {}
    for step in flat(steps):
        for each in touched_by(step):
            found.setdefault((each.array, each.axis), each.extent)
    axes = tuple(_axis(steps, array, axis, extent, complete) for (array, axis), extent in found.items())
    return Halo(function, steps, axes, complete, forms)


_MAKERS = {"ndarray", *(made + like for made in ("empty", "zeros", "ones") for like in ("", "_like"))}


def _makes_array(value: ast.expr) -> bool:
    """Whether the value is a new array that depends only on the shapes of other arrays."""
    if not isinstance(value, ast.Call):
        return False
    function = value.func
    return (function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")) in _MAKERS


def _is_sequence(driver: Driver | Structures, found: int) -> bool:
    """Whether the ``found`` compiled parts are all parts and run in sequence, since Python only makes arrays, each
    under a name of its own, and returns arrays."""
    if not isinstance(driver, Driver):
        return found == 1
    made: set[str] = set()
    for node in driver.by_python():
        if isinstance(node, ast.Return):
            continue
        if not isinstance(node, ast.Assign) or not _makes_array(node.value):
            return False
        for target in node.targets:
            if not isinstance(target, ast.Name) or target.id in made:
                return False
            made.add(target.id)
    return found == len(driver.regions)


def halo_found(
    compiled: _native.JitFunction, opts: CompileOptions | None, args: tuple[Any, ...], refused: bool = False
) -> Halo:
    """The result of `halo` for a jit function and its positional arguments; `refused` as in `driver_behind`."""
    driver = driver_behind(compiled, args, refused)
    parts = [_native.halo(compiled, args, opts)] if driver is None else driver.inspect(args, opts, _native.halo)
    steps = tuple(step for part in parts for step in steps_of(part["nodes"]))
    forms = tuple(part["form"] for part in parts)
    return halo_of(compiled.__name__, steps, driver is None or _is_sequence(driver, len(parts)), forms)


@hides_frames
def halo(function: Callable[..., Any], *args: Any, opts: CompileOptions | None = None) -> Halo:
    """Returns the distances that blocks of iterations of a call ``function(*args)`` reach beyond their own rows.

    The call is not run. The blocks are those of the outermost loop of each nest that may run in parallel, and of the
    loops inside of it that are proved to be independent. For each loop and each axis of each array, the result has the
    least and the greatest offset at which a block reads and writes beyond its own rows, and the values that blocks
    reduce together. For each axis it tells whether arrays may be cut along it, with the depth that a block needs for
    the whole call, or with the access that forbids it. The offsets are exact: they are derived from the subscripts,
    bounds and conditions of the loops, for the extents and numbers of these arguments. The arguments are given as in
    the call, or as one list or tuple. If Python runs a part of the function, the compiled parts count as one sequence,
    and the number of its repetitions is unknown.

    >>> @parpy.jit
    ... def smooth(x, y):
    ...     for i in range(1, len(x) - 1):
    ...         y[i] = x[i - 1] + x[i] + x[i + 1]
    >>> parpy.halo(smooth, x, y).depth("x")
    {0: (1, 1)}

    Raises CompileError if the call cannot be compiled.
    """
    compiled = _as_jit(function)
    args, opts = arguments_of(compiled, args, opts)
    found: Halo = looked_at(compiled, opts, args, halo_found)
    return found
