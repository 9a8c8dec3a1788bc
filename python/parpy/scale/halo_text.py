"""The text of a halo: nests with the offsets of their loops, then the axes of the arrays."""

from __future__ import annotations

from .facts import LoopHalo, Step, Touched, span
from .halo import AxisHalo, Halo


def _accesses(each: Touched) -> str:
    """The accesses that determine the reaches, in the notation of the program."""
    found: dict[str, None] = {}
    for reach in each.reaches:
        decisive = (reach.lowest, reach.highest) if reach.bounded and reach.kind == "block" else (reach.access,)
        for access in decisive:
            found[f"'{access.text}'"] = None
    return ", ".join(found)


def _touched(each: Touched) -> str:
    parts = [f"{name} {reach}" for name, reach in (("reads", each.reads), ("writes", each.writes)) if reach is not None]
    return f"{each.array}, axis {each.axis}: {', '.join(parts)}  ({_accesses(each)})"


def _loop(loop: LoopHalo) -> list[str]:
    verdict = "proved" if loop.proved else "reduction"
    trips = "" if loop.trips is None else f", {loop.trips} iterations"
    reduced = "".join(f", {each.op} of '{each.name}'" for each in loop.reduced)
    head = f"line {loop.line}, loop '{loop.variable}': {verdict}{trips}{reduced}"
    return [head, *(f"  {_touched(each)}" for each in loop.touched)]


def _steps(steps: tuple[Step, ...]) -> list[str]:
    lines: list[str] = []
    for step in steps:
        if step.kind == "nest":
            lines += (line for loop in step.loops for line in ("  " * loop.depth + each for each in _loop(loop)))
        elif step.kind == "serial":
            lines += [f"line {step.line}: not partitioned, {step.why}"]
        else:
            times = "an unknown number of times" if step.trips is None else f"{step.trips} times"
            lines.append(f"line {step.line}: " + (f"{times}" if step.kind == "repeat" else "if"))
            lines += ("  " + line for line in _steps(step.inside))
            if step.otherwise:
                lines += ["else", *("  " + line for line in _steps(step.otherwise))]
    return lines


def offsets(low: int | None, high: int | None) -> str:
    """The text of a range of offsets, such as "-1 … +1"."""
    if low is None or high is None:
        return "an unknown number of rows"
    return span(low, high) if low or high else "no halo"


def axis_text(each: AxisHalo) -> str:
    """A sentence about one axis."""
    head = f"{each.array}, axis {each.axis}: "
    if not each.partitionable:
        gathered = f"; in blocks if {', '.join(each.gathered)} may be gathered" if each.gathered else ""
        return head + "not in blocks, " + each.why + gathered
    beside = {name: axis for name, axis in each.along.items() if name != each.array}
    along = ", with " + ", ".join(f"{name} along {axis}" for name, axis in beside.items()) if beside else ""
    whole = f"; each block reads all of {', '.join(each.whole)}" if each.whole else ""
    periodic = ", periodic" if each.periodic else ""
    return f"{head}blocks, {offsets(each.low, each.high)} for the call{periodic}{along}{whole}"


def summary(halo: Halo) -> list[str]:
    """A line for each group of axes that are cut together, with the offsets of the nests beyond their blocks."""
    lines: dict[frozenset[tuple[str, int]], str] = {}
    for first in (each for each in halo.axes if each.partitionable):
        parts = []
        for name, axis in first.along.items():
            each = halo.of(name, axis)
            reach = each.reads or each.writes or (0, 0)
            periodic = ", periodic" if each.periodic else ""
            parts.append(f"{name} along axis {axis} ({offsets(*reach)}{periodic})")
        lines.setdefault(frozenset(first.along.items()), "blocks: " + ", ".join(parts))
    return list(lines.values())


def text_of(halo: Halo) -> str:
    axes = [axis_text(each) for each in halo.axes]
    rest = [] if halo.complete else ["Python runs a part of the function: no depth is known for the call"]
    return "\n".join([f"halo of {halo.function}", *_steps(halo.steps), *axes, *rest])
