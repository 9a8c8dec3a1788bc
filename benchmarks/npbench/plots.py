"""Plots of results like NPBench's: a heat map of speed-ups over NumPy, and ParPy over the best of its peers.

Each is written as PNG and SVG beside the results, which needs matplotlib; without it nothing is drawn.
"""

from __future__ import annotations

import importlib.util
import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .frameworks import FRAMEWORKS
from .report import automatic, best_peer, frameworks_of, mean, ms, ratio

Row = Mapping[str, Any]
MEAN, BEST = "geometric mean", "automatic"
TITLES = {BEST: "ParPy, best automatic", **{name: each.title for name, each in FRAMEWORKS.items()}}


def speedups(result: Row) -> dict[str, dict[str, float | None]]:
    """The speed-up over NumPy by kernel and framework, and that of the best automatic form of ParPy.

    The last row has the geometric means."""
    frameworks = [name for name in frameworks_of(result) if name != "numpy"]
    grid: dict[str, dict[str, float | None]] = {}
    for row in result["rows"]:
        numpy = ms(row, "numpy")
        best = {BEST: ratio(numpy, automatic(row))}
        grid[row["kernel"]] = best | {name: ratio(numpy, ms(row, name)) for name in frameworks}
    grid[MEAN] = {name: mean(row[name] for row in grid.values()) for name in (BEST, *frameworks)}
    return grid


def over_best_peer(result: Row) -> list[tuple[str, float, str]]:
    """(kernel, speed-up over the best peer, the name of this peer), the slowest first."""
    found = []
    for row in result["rows"]:
        peer, theirs = best_peer(row, result)
        speed = ratio(theirs, automatic(row))
        if speed:
            found.append((row["kernel"], speed, peer))
    return sorted(found, key=lambda each: each[1])


def time_text(value: float | None) -> str:
    if not value:
        return "–"
    return f"{value / 1e3:.3g} s" if value >= 1e3 else f"{value:.3g} ms" if value >= 1 else f"{1e3 * value:.3g} µs"


def speed_text(value: float) -> str:
    """NPBench's form: an arrow and the factor, inverted for slower ones."""
    arrow, factor = ("↑", value) if value >= 1 else ("↓", 1 / value)
    return f"{arrow}{factor:.3g}" if factor < 1000 else f"{arrow}{factor:.0f}"


def heat_map(result: Row, pyplot: Any) -> Any:
    grid = speedups(result)
    rows, names = list(grid), list(grid[MEAN])
    by_name = {row["kernel"]: row for row in result["rows"]}
    figure, axes = pyplot.subplots(
        figsize=(2.2 + 0.95 * (len(names) + 1), 1.2 + 0.235 * len(rows)), layout="constrained"
    )
    # Colours follow the logarithm, and do not change beyond a factor of 100.
    colours = [
        [float("nan"), *(math.log10(value) if (value := grid[row][name]) else float("nan") for name in names)]
        for row in rows
    ]
    map_of_colours = pyplot.get_cmap("RdYlGn").with_extremes(bad="white")
    image = axes.imshow(colours, cmap=map_of_colours, vmin=-2, vmax=2, aspect="auto")
    for y, row in enumerate(rows):
        weight = "bold" if row == MEAN else "normal"
        texts = ["" if row == MEAN else time_text(ms(by_name[row], "numpy"))]
        for name in names:
            value = grid[row][name]
            texts.append(speed_text(value) if value else by_name.get(row, {}).get(name, {}).get("failure", ""))
        for x, text in enumerate(texts):
            dark = abs(colours[y][x]) > 1.4  # the background colour
            colour = "white" if dark else "black"
            axes.text(x, y, text, ha="center", va="center", fontsize=7, weight=weight, color=colour)
    axes.set_xticks(range(len(names) + 1), ["NumPy", *(TITLES[name] for name in names)], rotation=30, ha="left")
    axes.xaxis.tick_top()
    axes.set_yticks(range(len(rows)), rows)
    axes.tick_params(labelsize=8, length=0)
    axes.axhline(len(rows) - 1.5, color="black", linewidth=1)
    axes.axvline(0.5, color="black", linewidth=1)
    scale = figure.colorbar(image, ax=axes, fraction=0.03, pad=0.01)
    scale.set_ticks([-2, -1, 0, 1, 2], labels=["≤ 0.01", "0.1", "1", "10", "≥ 100"])
    scale.set_label("speed-up over NumPy", fontsize=8)
    scale.ax.tick_params(labelsize=7)
    figure.suptitle(f"NPBench, preset {result['preset']}: {result['machine']}", fontsize=9)
    return figure


def bars(result: Row, pyplot: Any) -> Any:
    found = over_best_peer(result)
    figure, axes = pyplot.subplots(figsize=(7.0, 1.2 + 0.2 * len(found)), layout="constrained")
    speeds = [speed for _, speed, _ in found]
    colours = ["tab:green" if speed >= 1 else "tab:orange" for speed in speeds]
    # A bar begins at 1: neither faster nor slower.
    axes.barh(range(len(found)), [speed - 1 for speed in speeds], left=1, color=colours, height=0.7)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.tick_params(axis="x", labelsize=8)
    for y, (_, speed, peer) in enumerate(found):
        axes.annotate(
            f"{speed:.3g} × {peer}", (max(speed, 1), y), (3, 0), textcoords="offset points", va="center", fontsize=6
        )
    axes.set_yticks(range(len(found)), [kernel for kernel, _, _ in found], fontsize=7)
    axes.axvline(1, color="black", linewidth=0.8)
    average = mean(speeds)
    if average:
        axes.axvline(average, color="tab:blue", linestyle="--", linewidth=0.8)
    axes.set_xlabel(f"ParPy, automatic, over the best peer of each (geometric mean {average or 0:.2f})", fontsize=8)
    axes.margins(x=0.25, y=0.01)
    figure.suptitle(f"NPBench, preset {result['preset']}: {result['machine']}", fontsize=9)
    return figure


def draw(result: Row, beside: Path) -> list[Path]:
    """Writes <beside>.png, .svg and <beside>_peers.png, .svg; returns their paths."""
    if importlib.util.find_spec("matplotlib") is None:
        print("no plots: matplotlib is not installed", file=sys.stderr)
        return []
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "npbench"  # equal results make equal files
    from matplotlib import pyplot

    written = []
    for suffix, make in (("", heat_map), ("_peers", bars)):
        if suffix and not over_best_peer(result):
            continue
        figure = make(result, pyplot)
        for ending, metadata in (("png", {"Software": None}), ("svg", {"Date": None})):
            path = beside.with_name(f"{beside.stem}{suffix}.{ending}")
            figure.savefig(path, dpi=150, metadata=metadata)
            written.append(path)
        pyplot.close(figure)
    return written
