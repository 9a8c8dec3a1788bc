"""The picture of parpy.explain: each nest on the grid of the GPU, or on the workers and lanes of the CPU, as SVG.

The SVG has no scripts or style sheets and loads nothing. Text has the colour of the page around it, over translucent
colours of the levels, so that it is legible on light and on dark pages. The iterations that are named in a thread or
lane are those that it runs: on a GPU iterations with a stride, on the CPU consecutive ones. Below each nest are the
lines of memory that neighbouring iterations touch and, on the CPU, the share of a core for several numbers of cores.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import Any

from .explain_text import Loop, applies, shown_text

_COLOURS = {
    "blocks": "#2a7fd4",
    "threads": "#2e9e4f",
    "workers": "#2a7fd4",
    "vector": "#2e9e4f",
    "sequential": "#888888",
}
_SIZE = 12  # font size
_WIDE = 7.3  # width of a character
_LINE = 18  # distance of two lines
_WARP = 32
_NARROW = 600  # pixels below which a picture is not shrunk, so that its text is legible
_LANES = 8  # number of lanes that are drawn
_CORES = (2, 4, 8, 16, 32, 64, 128)  # numbers of cores that are drawn, beside that of this machine
_PIECES = 4  # the pieces for each thread in a loop of enough work (kChunksPerWorker of thread_pool.cpp)
_MOST_ACCESSES = 8
_OTHER_SPLITS = ("contraction", "steps", "waves", "time_tiles", "flattened")  # the split is not that of one loop
_BAR = 120  # the length of the bar of all iterations


class _Canvas:
    """The shapes and their extent. `y` is the position of the next line."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self.width, self.y = 0.0, 4.0

    def _reach(self, x: float) -> None:
        self.width = max(self.width, x)

    def text(self, x: float, y: float, text: str, size: float = _SIZE, weight: str = "", middle: bool = False) -> float:
        """Adds text at `y`; returns the x coordinate of its end."""
        wide = len(text) * _WIDE * size / _SIZE
        extra = f' font-weight="{weight}"' if weight else ""
        extra += ' text-anchor="middle"' if middle else ""
        extra += f' font-size="{size}"' if size != _SIZE else ""
        self._parts.append(f'<text x="{x:g}" y="{y + 0.8 * _SIZE:g}"{extra}>{html.escape(text)}</text>')
        end = x + wide / (2 if middle else 1)
        self._reach(end)
        return end

    def line_of_text(self, x: float, text: str, weight: str = "") -> None:
        self.text(x, self.y, text, weight=weight)
        self.y += _LINE

    def box(self, x: float, y: float, wide: float, high: float, level: str, idle: bool = False) -> None:
        colour = _COLOURS[level]
        fill = 'fill="none" stroke-dasharray="2 2"' if idle else f'fill="{colour}" fill-opacity="0.25"'
        shape = f'<rect x="{x:g}" y="{y:g}" width="{wide:g}" height="{high:g}" rx="2" {fill} stroke="{colour}"/>'
        self._parts.append(shape)
        self._reach(x + wide)

    def svg(self, title: str) -> str:
        wide, high = self.width + 4, self.y + 4
        label = html.escape(title, quote=True)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{label}" viewBox="0 0 {wide:g} {high:g}" '
            f'width="{wide:g}" style="max-width:100%;min-width:{min(wide, _NARROW):g}px;height:auto" '
            f'font-family="monospace" font-size="{_SIZE}" '
            f'fill="currentColor"><title>{label}</title>{"".join(self._parts)}</svg>'
        )


# ---------------------------------------------------------------- iterations


def _value(loop: Loop, number: int) -> str:
    """The value of the variable in the iteration of this number, from 0."""
    if loop["first"] is None or loop["step"] is None:
        return f"{loop['variable']} no. {number}"
    return f"{loop['variable']}={loop['first'] + loop['step'] * number}"


def _count(loop: Loop) -> int | None:
    return int(loop["trips"]) if loop["exact"] else None


def _times(loop: Loop) -> str:
    return f"{'' if loop['exact'] else '~'}{loop['trips']:.0f}"


def _strided(loop: Loop, position: int, width: int) -> str:
    """The iterations that one of `width` threads or blocks runs: "i=0, 64, 128, … 640"."""
    count = _count(loop)
    if count is not None and position >= count:
        return "idle"
    shown = [_value(loop, position + width * k) for k in range(3) if count is None or position + width * k < count]
    values = [shown[0], *(value.rpartition("=")[2] for value in shown[1:])]
    if count is None or len(shown) < 3:
        return ", ".join(values) + (", …" if count is None else "")
    last = position + (count - 1 - position) // width * width
    if last == position + 2 * width:
        return ", ".join(values)
    return ", ".join([*values[:2], "…", _value(loop, last).rpartition("=")[2]])


def _some(count: int, most: int) -> list[int | None]:
    """The positions to draw, at most `most`: the first positions, None for a gap, the last position."""
    if count <= most:
        return list(range(count))
    return [*range(most - 2), None, count - 1]


def _plural(count: int, what: str) -> str:
    return f"{count} {what}" + ("" if count == 1 else "s")


# ---------------------------------------------------------------- a kernel


class _Kernel:
    """Draws one kernel: its grid and one of its blocks, warp by warp."""

    def __init__(self, canvas: _Canvas, kernel: dict[str, Any], facts: dict[str, Any]) -> None:
        loops: list[Loop] = facts["loops"]
        self._canvas, self._kernel, self._accesses = canvas, kernel, facts.get("accesses", [])
        self._placed = [(loops[each["loop"]], each) for each in kernel["loops"]]
        self._all = loops

    def draw(self) -> None:
        canvas, kernel = self._canvas, self._kernel
        block, blocks, together = (math.prod(kernel[sizes]) for sizes in ("block", "grid", "cluster"))
        sizes = f"{_plural(blocks, 'block') if blocks else '? blocks'} of {_plural(block, 'thread')}"
        cluster = f", {together} blocks a cluster" if together > 1 else ""
        canvas.line_of_text(0, f"kernel {kernel['name']}: {sizes}{cluster}", "bold")
        self._started_by()
        depth = {id(loop): loop["depth"] for loop, _ in self._placed}
        least = min(depth.values(), default=0)
        for loop, placed in self._placed:
            _nest_line(canvas, loop, loop["depth"] - least, placed["level"], self._where(placed))
        self._grid()
        self._block(block)
        inside = {each["loop"] for each in kernel["loops"] if each["level"] == "threads"}
        _memory(canvas, self._all, [each for each in self._accesses if each["loop"] in inside], _WARP)
        canvas.y += _LINE / 2

    def _started_by(self) -> None:
        """Names the loops of the host around the kernel."""
        if self._kernel["loops"] and (around := _around(self._all, self._kernel["loops"][0]["loop"])):
            self._canvas.line_of_text(0, f"launched by the host for each {around}, one launch after the other")

    def _where(self, placed: dict[str, Any]) -> str:
        if placed["level"] == "blocks":
            return _plural(placed["blocks"], "block")
        if placed["level"] == "threads":
            per_block = placed["threads"] // placed["blocks"]
            spread = f" in each of {placed['blocks']} blocks" if placed["blocks"] > 1 else ""
            return f"{_plural(per_block, 'thread')}{spread}"
        return "one after the other"

    def _grid(self) -> None:
        """Draws the blocks: the innermost level along x, the next along y; further levels are named in text."""
        canvas = self._canvas
        levels = [(loop, placed) for loop, placed in self._placed if placed["blocks"] > 1]
        if not levels:
            return
        across = levels[-1]
        down = levels[-2] if len(levels) > 1 else None
        more = levels[:-2]
        wide = 12.0 + _WIDE * 0.85 * max(
            len(self._of_block(*across, position)) for position in (0, across[1]["blocks"] - 1)
        )
        if down:
            wide = max(wide, 12.0 + _WIDE * 0.85 * len(self._of_block(*down, down[1]["blocks"] - 1)))
        high = 36.0 if down else 22.0
        canvas.text(0, canvas.y, "blocks")
        for row in _some(down[1]["blocks"], 4) if down else [0]:
            x = 60.0
            if row is None:
                canvas.text(x + wide / 2, canvas.y, "⋮", middle=True)
                canvas.y += _LINE
                continue
            for column in _some(across[1]["blocks"], 6):
                if column is None:
                    canvas.text(x + 4, canvas.y + high / 2 - 7, "…")
                    x += 20
                    continue
                canvas.box(x, canvas.y, wide, high, "blocks")
                if down:
                    canvas.text(x + wide / 2, canvas.y + 4, self._of_block(*down, row), 10, middle=True)
                text = self._of_block(*across, column)
                canvas.text(x + wide / 2, canvas.y + (19 if down else 5), text, 10, middle=True)
                x += wide + 4
            canvas.y += high + 4
        for loop, placed in more:
            canvas.line_of_text(60, f"the same for each of {placed['blocks']} blocks of {loop['variable']}")

    def _of_block(self, loop: Loop, placed: dict[str, Any], position: int) -> str:
        """The iterations of a loop that a block runs."""
        if placed["level"] == "blocks":
            return _strided(loop, position, placed["threads"])
        per_block = placed["threads"] // placed["blocks"]
        first, last = position * per_block, (position + 1) * per_block - 1
        count = _count(loop)
        if count is not None:
            if first >= count:
                return "idle"
            last = min(last, count - 1)
        again = ", …" if count is None or placed["threads"] < count else ""
        return f"{_value(loop, first)}…{_value(loop, last).rpartition('=')[2]}{again}"

    def _block(self, size: int) -> None:
        """Draws one block: its threads in warps, for each of the loops that they run."""
        canvas = self._canvas
        canvas.text(0, canvas.y, "block")
        runs = [(loop, placed) for loop, placed in self._placed if placed["level"] == "threads"]
        if not runs:
            canvas.box(60, canvas.y, 10, 14, "threads")
            canvas.text(80, canvas.y, "one thread")
            canvas.y += _LINE
        for loop, placed in runs:
            per_block = placed["threads"] // placed["blocks"]
            used = max(1, min(per_block, _count(loop) or per_block))
            for warp in _some((size + _WARP - 1) // _WARP, 3):
                if warp is None:
                    canvas.text(60, canvas.y - 4, "⋮")
                    canvas.y += _LINE - 4
                    continue
                for lane in range(min(_WARP, size - warp * _WARP)):
                    thread = warp * _WARP + lane
                    canvas.box(60 + 10 * lane, canvas.y, 8, 12, "threads", idle=thread >= used)
                canvas.text(60 + 10 * _WARP + 6, canvas.y - 1, f"warp {warp}", 10)
                canvas.y += 16
            which = "of block 0 " if placed["blocks"] > 1 else ""
            canvas.line_of_text(60, f"thread 0 {which}runs {_strided(loop, 0, placed['threads'])}")


# ---------------------------------------------------------------- memory


def _cut(text: str) -> str:
    return text if len(text) <= 24 else text[:23] + "…"


def _memory(canvas: _Canvas, loops: Sequence[Loop], accesses: Sequence[dict[str, Any]], neighbours: int) -> None:
    """Draws for each access the lines of memory that neighbouring iterations touch: lines of 64 bytes, which a CPU
    fetches, for eight lanes, or sectors of 32 bytes, which a GPU fetches, for the threads of a warp."""
    line, noun = (32, "sector") if neighbours == _WARP else (64, "line")
    shown = [(f"{_cut(each['text'])}{' =' if each['stored'] else ''}", each) for each in accesses[:_MOST_ACCESSES]]
    left = 70 + _WIDE * max((len(text) for text, _ in shown), default=0)
    if shown:
        canvas.text(0, canvas.y, "memory")
    for text, access in shown:
        canvas.text(60, canvas.y, text)
        loop, apart, x = loops[access["loop"]], access["apart"], left
        if apart is None:
            canvas.text(x, canvas.y + 1, f"the distance of neighbours in {loop['variable']} is not known", 10)
            canvas.y += _LINE
            continue
        count = min(neighbours, _count(loop) or neighbours)
        touched = sorted({abs(apart) * k for k in range(count)})
        lines = sorted({each // line for each in touched})
        for each in lines[:4]:
            canvas.box(x, canvas.y + 1, line, 11, "sequential", idle=True)
            for at in touched:
                if at // line == each:
                    canvas.box(x + at % line, canvas.y + 1, min(access["size"], line - at % line), 11, "vector")
            x += line + 4
        if len(lines) > 4:
            x = canvas.text(x, canvas.y + 1, "…") + 4
        told = "the same element" if apart == 0 else f"{abs(apart)} bytes apart"
        told = f"{count} neighbours in {loop['variable']}: {told}, in {_plural(len(lines), noun)} of {line} bytes"
        canvas.text(x + 4, canvas.y + 1, told, 10)
        canvas.y += _LINE
    if (rest := len(accesses) - _MOST_ACCESSES) > 0:
        canvas.line_of_text(60, f"and {rest} more")


# ---------------------------------------------------------------- the CPU


def _nest_line(canvas: _Canvas, loop: Loop, depth: int, level: str, where: str) -> None:
    x = 12.0 * depth
    canvas.box(x, canvas.y + 2, 8, 8, level)
    end = canvas.text(x + 14, canvas.y, shown_text(loop))
    canvas.text(end + 12, canvas.y, f"{_times(loop)} iterations: {where}", 10)
    canvas.y += _LINE


def _around(loops: Sequence[Loop], index: int) -> str:
    """The loops around a loop, outermost first: "t (10), k (5)"."""
    return ", ".join(f"{loop['variable']} ({_times(loop)})" for loop in _outside(loops, index))


def _outside(loops: Sequence[Loop], index: int) -> list[Loop]:
    """The loops around a loop, outermost first."""
    found = []
    depth = loops[index]["depth"]
    for loop in reversed(loops[:index]):
        if loop["depth"] < depth:
            found.append(loop)
            depth = loop["depth"]
    return found[::-1]


def _inside(loops: Sequence[Loop], index: int) -> list[Loop]:
    found = []
    for loop in loops[index + 1 :]:
        if loop["depth"] <= loops[index]["depth"]:
            break
        found.append(loop)
    return found


def _lanes(canvas: _Canvas, x: float, loop: Loop, wide: int = _LANES) -> float:
    """Draws consecutive iterations side by side; returns the x coordinate of their end."""
    count = _count(loop)
    shown = [_value(loop, n) for n in range(wide) if count is None or n < count]
    for number, value in enumerate(shown):
        text = value if number == 0 else value.rpartition("=")[2]
        room = _WIDE * 0.85 * len(text) + 6
        canvas.box(x, canvas.y, room, 16, "vector")
        canvas.text(x + room / 2, canvas.y + 2, text, 10, middle=True)
        x += room + 1
    if count is None or count > wide:
        x = canvas.text(x + 3, canvas.y + 2, "…")
    return x


def _on_cpu(canvas: _Canvas, facts: dict[str, Any], index: int) -> None:
    """Draws one nest of parallel loops."""
    loops: list[Loop] = facts["loops"]
    root = loops[index]
    within = range(index, index + 1 + len(_inside(loops, index)))
    accesses = [each for each in facts.get("accesses", []) if each["loop"] in within]
    nest = [root, *_inside(loops, index)]
    vectors = [loop for loop in nest if loop["level"] == "vector"]
    workers = root["level"] == "workers"
    many = min(root["threads"], _count(root) or root["threads"]) if workers else 1
    told = f"cores, at most {_plural(many, 'thread')}" if workers else "the calling thread"
    canvas.line_of_text(0, f"loop {root['key']}: {told}" + (", SIMD lanes" if vectors else ""), "bold")
    if around := _around(loops, index):
        canvas.line_of_text(0, f"started for each {around}, one after the other")
    outside = _outside(loops, index)
    for loop in outside:
        if applies(loop, "time_tiles"):
            canvas.line_of_text(0, loop["time_tiles"])
    words = {
        "workers": "consecutive ones in one thread",
        "vector": "consecutive ones in the lanes of a vector",
        "sequential": "one after the other",
    }
    for loop in nest:
        _nest_line(canvas, loop, loop["depth"] - root["depth"], loop["level"], words[loop["level"]])
    if not workers:
        canvas.text(0, canvas.y + 2, "lanes")
        _lanes(canvas, 60, root)
        canvas.y += _LINE + 6
        _memory(canvas, loops, accesses, _LANES)
        return
    canvas.text(0, canvas.y + 4, "threads")
    for text in _pieces(root, many):
        room = _WIDE * len(text) + 12
        canvas.box(60, canvas.y, room, 20, "workers")
        canvas.text(66, canvas.y + 4, text)
        x = 60 + room + 8
        for loop in vectors:
            canvas.y += 2
            x = _lanes(canvas, x, loop, 4) + 12
            canvas.y -= 2
        canvas.y += 24
    _memory(canvas, loops, accesses, _LANES)
    if not any(applies(loop, kind) for kind in _OTHER_SPLITS for loop in [*outside, *nest]):
        _shares(canvas, root, many, facts.get("cores", 1))
    canvas.y += _LINE / 2


def share(iterations: int, threads: int) -> tuple[int, int]:
    """The pieces of a loop of enough work, and the iterations of the thread that runs most if all pieces last equally
    long for each iteration."""
    pieces = max(1, min(iterations, threads * _PIECES))
    if pieces > threads:
        pieces -= pieces % threads
    each, rest = divmod(iterations, pieces)
    turns = -(-pieces // threads)
    return pieces, each * turns + min(turns, -(-rest // threads))


def _shares(canvas: _Canvas, root: Loop, many: int, here: int) -> None:
    """Draws for several numbers of cores the part of the time of one core that the busiest core still works."""
    count = _count(root)
    if count is None or count < 2 or many < 2:
        return
    canvas.text(0, canvas.y, "cores")
    for cores in sorted({*_CORES, here} - {1}):
        threads = min(cores, many)
        pieces, most = share(count, threads)
        canvas.text(60, canvas.y, f"{cores:>3}")
        canvas.box(92, canvas.y + 2, max(1.0, _BAR * most / count), 10, "workers")
        idle = f", {_plural(cores - pieces, 'core')} without work" if pieces < cores else ""
        machine = " (this machine)" if cores == here else ""
        told = f"{_plural(pieces, 'piece')}, {most} of {count} iterations on the busiest core"
        told += f": at most {count / most:.3g} ×"
        canvas.text(92 + _BAR + 8, canvas.y, told + idle + machine, 10)
        canvas.y += _LINE - 2
        if pieces < cores and cores >= here:
            break


def _pieces(root: Loop, many: int) -> list[str]:
    """The labels of the first, the middle and the last pieces, whose number and size are chosen at run time."""
    count = _count(root)
    first = _value(root, 0)
    if many == 1 or count == 1:
        return [first if count == 1 else f"{first}, …"]
    last = "…" if count is None else f"… {_value(root, count - 1)}"
    return [f"{first}, …", last] if many == 2 else [f"{first}, …", "…", last]


# ---------------------------------------------------------------- the picture


def picture(facts: dict[str, Any], title: str, limit: str) -> str:
    """Draws the nests that run in parallel, and `limit` below them. A call without such nests gets its loops as lines
    of text."""
    canvas = _Canvas()
    loops: list[Loop] = facts["loops"]
    parallel = [loop["level"] != "sequential" for loop in loops]
    if facts["refused"] or not any(parallel):
        what = "the call is refused" if facts["refused"] else "nothing runs in parallel"
        canvas.line_of_text(0, f"{facts['function']}: {what}", "bold")
        for loop in loops:
            _nest_line(canvas, loop, loop["depth"], "sequential", "one after the other")
        return canvas.svg(title)
    if facts["kernels"]:
        for kernel in facts["kernels"]:
            _Kernel(canvas, kernel, facts).draw()
        return canvas.svg(title)
    end = -1  # the end of the nest drawn last
    for index in range(len(loops)):
        if parallel[index] and index > end:
            _on_cpu(canvas, facts, index)
            end = index + len(_inside(loops, index))
    if limit:
        canvas.line_of_text(0, limit)
    return canvas.svg(title)
