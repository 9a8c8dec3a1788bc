"""parpy.explain shows the facts and decisions of the compiler about a call, in a terminal, a notebook or a tool."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from typing import Any

from .. import _native
from ..calls.argument_lists import arguments_of
from ..calls.compiling import driver_behind, looked_at
from ..calls.jit import _as_jit
from ..calls.options import CompileBackend, CompileOptions, LoopPar
from ..calls.tracebacks import hides_frames
from ..host.driver import Driver
from ..host.structures import Structures
from ..scale.halo import halo_found
from ..scale.halo_text import summary
from .explain_accesses import accesses_of
from .explain_library import hide_memory, mark_library
from .explain_picture import picture
from .explain_pragmas import pragmas_of
from .explain_text import in_turns, page, remarks_of, shortened, shown_text, table, width, wrapped
from .tune_arguments import time_of_call

# Nominal bytes and float64 operations per second of the machine that estimates assume (Metal: float32 operations).
_ROOFLINES = {
    "Cpu": ("8 cores of a server", 100e9, 200e9),
    "Cuda": ("one NVIDIA H200", 4.2e12, 30e12),
    "Metal": ("one Apple M2 Max", 400e9, 13e12),
}

_CACHED = 32e6  # bytes that the caches of 8 cores of a server may keep

# Colours of the marks beside the verdicts, visible on white and on black.
_COLOURS = {"proved": "#2e9e4f", "reduction": "#2a7fd4", "refuted": "#d64545", "unknown": "#b8860b"}


def _amount(value: float, unit: str) -> str:
    """1234567, "B" → "1.23 MB"."""
    for factor, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{value / factor:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _duration(seconds: float) -> str:
    for factor, unit in ((1, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= factor:
            return f"{seconds / factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


class Explanation:
    """The result of `explain`. ``str()`` gives a text, a notebook shows a tree, `json` and `facts` serve programs."""

    def __init__(self, facts: dict[str, Any]) -> None:
        self.facts = facts
        """All facts, as dicts, lists, strings and numbers: the ``loops`` in the order in which they run, the
        ``kernels``, the bytes of each of the ``arrays``, the ``accesses`` to arguments, ``flops``, ``notes``, the lines
        that ``python`` runs, and others."""

    @property
    def mapping(self) -> dict[str, LoopPar]:
        """The mapping of the call. ``opts=parpy.par(mapping)`` reproduces it under the same ``restructure=``."""
        loops = {
            loop["key"]: LoopPar()._set(loop["threads"], loop["reduce"], loop["tpb"])
            for loop in self.facts["loops"]
            if loop["threads"]
        }
        return {**loops, "gpu": LoopPar()._set(1, False, 1024)} if self.facts["gpu"] else loops

    @property
    def opts(self) -> CompileOptions:
        """The mapping as options, with the order of the loops and the other fields that parpy.tune varied."""
        backend = CompileBackend[self.facts["backend"] or "Auto"]
        restructure = self.facts["restructured"]
        return CompileOptions(
            parallelize=self.mapping, restructure=restructure, backend=backend, **self.facts["beside"]
        )

    @property
    def pragmas(self) -> list[tuple[int, str]]:
        """The mapping as pragmas: pairs of a line of the program and the pragma to insert before it. Statements over
        slices get one only if the program writes the upper bounds of the slices."""
        return pragmas_of([loop for loop in self.facts["loops"] if not loop["library"]])

    @property
    def bytes(self) -> float:
        """The number of bytes that the call reads or writes, each counted once."""
        return float(sum(array["read"] + array["written"] for array in self.facts["arrays"]))

    def json(self, **options: Any) -> str:
        """The facts and the estimate as JSON; ``options`` are those of ``json.dumps``."""
        return json.dumps({**self.facts, "bytes": self.bytes, "seconds": self.seconds}, **options)

    @property
    def seconds(self) -> float:
        """A lower bound of the time on a typical machine: the roofline model, with every byte moved once."""
        _, bandwidth, rate = _ROOFLINES[self._machine]
        return float(max(self.bytes / bandwidth, self.facts["flops"] / rate))

    @property
    def _machine(self) -> str:
        found = self.facts["backend"] or "Cpu"
        return found if found in _ROOFLINES else "Cuda"

    # ---------------------------------------------------------------- text

    def _head(self) -> str:
        mode = "automatic mapping" if self.facts["automatic"] else "mapping by hand"
        if self.facts["tuned"]:
            mode = "mapping that parpy.tune found"
        refused = ", refused" if self.facts["refused"] else ""
        if self._runs_nothing_compiled:
            return f"{self.facts['function']}, run by Python"
        return f"{self.facts['function']} on {self.facts['backend']}, {mode}{refused}"

    @property
    def _runs_nothing_compiled(self) -> bool:
        return not self.facts["loops"] and not self.facts["backend"]

    def _rows(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = []
        for index, loop, _ in in_turns(self.facts["loops"]):
            trips = f"{'' if loop['exact'] else '~'}{loop['trips']:.0f}"
            verdict = loop["verdict"] + (", atomic" if loop["atomic"] else "")
            level = loop["level"] + (f" ({loop['threads']}{self._shape(index)})" if loop["threads"] > 1 else "")
            line = "" if loop["library"] else str(loop["line"])
            rows.append((line, "  " * loop["depth"] + shown_text(loop), trips, verdict, level))
        return rows

    def _shape(self, index: int) -> str:
        """The blocks and threads in the kernels of a loop; '' unless several blocks run it or should have run it."""
        shapes = {}
        for kernel in self.facts["kernels"]:
            for placed in kernel["loops"]:
                if placed["loop"] == index and placed["level"] == "threads":
                    block = kernel["block"][0]
                    confined = self.facts["loops"][index]["threads"] > max(block, 32)
                    shapes[f"{_counted(placed['blocks'], 'block')} of {block}"] = placed["blocks"] > 1 or confined
        return ": " + " and ".join(shapes) if any(shapes.values()) else ""

    def _summary(self) -> list[str]:
        arrays = self.facts["arrays"]
        read, written = sum(a["read"] for a in arrays), sum(a["written"] for a in arrays)
        if self._runs_nothing_compiled:
            return self._measured()
        machine = _ROOFLINES[self._machine][0]
        lines = [
            f"memory: {_amount(read, 'B')} read, {_amount(written, 'B')} written; "
            f"{_amount(self.facts['flops'], 'flop')}; at least {_duration(self.seconds)} on {machine}",
            *self._inlined(),
            *self._measured(),
            *self.facts.get("halo", []),
            f"mapping: {self.mapping!r}" + (", restructure=True" if self.facts["restructured"] else ""),
        ]
        for kernel in self.facts["kernels"]:
            grid = " × ".join("?" if n == 0 else str(n) for n in kernel["grid"] if n != 1) or "1"
            block = " × ".join(str(n) for n in kernel["block"] if n != 1) or "1"
            cluster = " × ".join(str(n) for n in kernel["cluster"] if n != 1)
            together = f", {cluster} blocks a cluster" if cluster else ""
            blocks = f"{grid} block{'' if grid == '1' else 's'} of {block} thread{'' if block == '1' else 's'}"
            lines.append(f"kernel {kernel['name']}: {blocks}{together}")
        return lines

    def _inlined(self) -> list[str]:
        names = ", ".join(dict.fromkeys(self.facts["inlined"]))
        return [f"computed where they are used, not stored: {names}"] if names else []

    def _measured(self) -> list[str]:
        found = self.facts.get("measured")
        if found is None:
            return []
        runs = _counted(found["runs"], "run")
        return [f"measured: {_duration(found['seconds'])} a call, the median of {runs} on copies of the arrays"]

    def _python(self) -> list[str]:
        """The lines of the program that Python runs, with their numbers."""
        found = self.facts.get("python", [])
        wide = max((len(str(line)) for line, _ in found), default=0)
        return [f"  {line:>{wide}}  {text}" for line, text in found]

    def __str__(self) -> str:
        """A text that fits the terminal."""
        most = width()
        head = ("line", "loop", "iterations", "verdict", "runs on")
        remarks = [remarks_of(loop, count) for _, loop, count in in_turns(self.facts["loops"])]
        lines = [self._head()]
        if not self._runs_nothing_compiled:
            lines += table(head, self._rows(), remarks, most)
        told = self.pragmas if self.facts.get("pragmas") else []
        rest = [*self._summary(), *(f"line {line}: {text}" for line, text in told)]
        if python := self._python():
            rest += ["Python runs:", *(shortened(line, most) for line in python)]
        rest += [note.rstrip("\n") for note in self.facts["notes"]]
        return "\n".join([*lines, *(line for text in rest for line in wrapped(text, most))])

    __repr__ = __str__

    # ---------------------------------------------------------------- picture

    def svg(self) -> str:
        """A picture of the nests as they run, as SVG: blocks and threads of a GPU, threads and lanes of the CPU, the
        lines of memory that neighbouring iterations touch, and the shares of several numbers of cores."""
        return picture(self.facts, self._head(), self._limit())

    def _limit(self) -> str:
        """Tells from how many cores on memory limits a call; '' if its arrays fit into caches."""
        if self._machine != "Cpu" or self.bytes < _CACHED:
            return ""
        _, bandwidth, rate = _ROOFLINES["Cpu"]
        cores = max(8, round(8 * self.facts["flops"] / rate * bandwidth / self.bytes))
        return f"from about {cores} cores on, memory traffic limits the call (at {_amount(bandwidth, 'B')} a second)"

    # ---------------------------------------------------------------- HTML

    def _repr_html_(self) -> str:
        """The loops as a collapsible tree. Only marks are coloured; text has the page's colours, light or dark."""
        lines = "".join(f"<div>{html.escape(line)}</div>" for line in self._summary())
        notes = "".join(f"<pre>{html.escape(note)}</pre>" for note in self.facts["notes"])
        python = "\n".join(self._python())
        if python:
            python = f"<div>Python runs:</div><pre>{html.escape(python)}</pre>"
        picture = f'<div style="overflow-x:auto">{self.svg()}</div>'
        return f"<div><b>{html.escape(self._head())}</b>{self._tree()}{picture}{lines}{python}{notes}</div>"

    def html(self) -> str:
        """A complete HTML page: it loads no other files, and follows the reader's light or dark mode."""
        return page(self._head(), self._repr_html_())

    def _tree(self) -> str:
        out: list[str] = []
        depths: list[int] = []  # the depths of the branches that are still open
        loops = in_turns(self.facts["loops"])
        for (line, text, trips, verdict, level), (_, loop, count) in zip(self._rows(), loops, strict=True):
            while depths and depths[-1] >= loop["depth"]:
                depths.pop()
                out.append("</details>")
            depths.append(loop["depth"])
            colour = _COLOURS[loop["verdict"]]
            where = f"{f'line {line}, ' if line else ''}iterations: {trips}, {level}"
            out.append(
                '<details open style="margin-left:1.2em"><summary style="cursor:pointer;display:list-item">'
                f'<span style="font-family:monospace;white-space:pre">{html.escape(text.strip())}</span> '
                f'<b style="border-left:.5em solid {colour};padding-left:.3em">{html.escape(verdict)}</b> '
                f"<span>{html.escape(where)}</span></summary>"
            )
            for remark in remarks_of(loop, count):
                out.append(f'<div style="margin-left:1.2em">{html.escape(remark)}</div>')
        return "".join(out) + "</details>" * len(depths)


@hides_frames
def explain(
    function: Callable[..., Any], *args: Any, opts: CompileOptions | None = None, measured: bool = False
) -> Explanation:
    """Explains how a call ``function(*args, opts=opts)`` would run, without running it.

    The arguments are given as in a call, or as one list or tuple, ``explain(f, [x, n])``. The result shows for each
    loop whether it may run in parallel, with the reason or with two iterations that conflict, and where it runs. It
    also has the mapping in the form that ``opts`` takes, the kernels, the memory traffic in bytes, the arithmetic
    operations, and performance notes. A mapping that a call would refuse is explained and not raised. If Python runs a
    part of the function, the compiled parts are explained together and the lines of Python are listed. The estimated
    time is the roofline of Williams, Waterman and Patterson (2009). ``measured=True`` also runs the function on copies
    of the arrays and adds the time of a call.

    Raises CompileError if the call cannot be compiled. With ``measured`` it raises TypeError for arguments that cannot
    be copied, and every exception that the call itself raises.
    """
    compiled = _as_jit(function)
    args, opts = arguments_of(compiled, args, opts)
    explanation: Explanation = looked_at(compiled, opts, args, _explained)
    mark_library(explanation.facts["loops"], compiled.__parpy_source__.function.__code__.co_filename)
    explanation.facts["cores"] = int(str(_native.configuration()["threads"]))
    explanation.facts["accesses"] = _accesses(compiled, args, explanation.facts["loops"])
    explanation.facts["pragmas"] = bool(compiled.__parpy_source__.pragmas)
    explanation.facts["halo"] = summary(looked_at(compiled, opts, args, halo_found))
    if measured:
        seconds, runs = time_of_call(compiled, args, opts)
        explanation.facts["measured"] = {"seconds": seconds, "runs": runs}
    return explanation


def _accesses(compiled: _native.JitFunction, args: tuple[Any, ...], loops: list[Any]) -> list[dict[str, Any]]:
    source = compiled.__parpy_source__
    return [] if source.unparsed else accesses_of(source.written(), args, loops, source.line_shift)


_NOTHING_COMPILED = {
    "backend": "",
    "automatic": True,
    "tuned": False,
    "refused": False,
    "restructured": False,
    "gpu": False,
    "flops": 0.0,
    "beside": {},
}


def _explained(
    compiled: _native.JitFunction, opts: CompileOptions | None, args: tuple[Any, ...], refused: bool = False
) -> Explanation:
    driver = driver_behind(compiled, args, refused)
    if driver is None:
        return Explanation(_native.explain(compiled, args, opts))
    found = driver.inspect(args, opts, _native.explain)
    lists: dict[str, Any] = {name: [] for name in ("loops", "kernels", "arrays", "inlined", "notes")}
    facts, *others = found or [{**_NOTHING_COMPILED, **lists, "function": compiled.__name__}]
    for more in others:
        for kernel in more["kernels"]:
            for placed in kernel["loops"]:
                placed["loop"] += len(facts["loops"])
        for name, value in more.items():
            if isinstance(value, list) or name == "flops":
                facts[name] += value
            elif isinstance(value, bool):
                facts[name] = facts[name] or value
    facts["function"] = compiled.__name__
    facts["python"] = _run_by_python(compiled, driver, found)
    if isinstance(driver, Driver):
        hide_memory(facts, driver.grown())
    return Explanation(facts)


def _run_by_python(compiled: _native.JitFunction, driver: Driver | Structures, found: list[Any]) -> list[list[Any]]:
    """The lines of the function that Python runs, with their text."""
    source = compiled.__parpy_source__
    lines = source.text.splitlines()
    if isinstance(driver, Driver):
        numbers = sorted({node.lineno + source.line_shift for node in driver.by_python()})
    else:  # either all of it is compiled, or nothing
        numbers = [] if found else [*range(source.first_line, source.first_line + len(lines))]
    inside = [number for number in numbers if 0 <= number - source.first_line < len(lines)]
    return [[number, lines[number - source.first_line].rstrip()] for number in inside]
