"""The least time of any program on an H200: the time for a kernel's least traffic, or for its operations.

    python benchmarks/npbench/floor.py

updates the table in NOTES.md, from the costs of the kernels and the results of the last run on an H200.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent))

from npbench import NAMES, load  # noqa: E402
from npbench.kernel import Kernel  # noqa: E402
from npbench.report import automatic, best_peer  # noqa: E402

MEMORY = 4.0e12  # bytes per second: 4.29e12 were measured for copies, the card's data sheet says 4.8e12
PEAKS = {  # operations per second
    "f64": 30e12,
    "f64 tensor": 60e12,  # on tensor cores, which products of matrices use
    "f32": 60e12,
    "int32": 16e12,
    "int64": 8e12,
}
BEGIN, END = "<!-- made by floor.py: begin -->", "<!-- end -->"


class Floor(NamedTuple):
    memory: float  # both in milliseconds
    compute: float

    @property
    def ms(self) -> float:
        return max(self)

    @property
    def bound(self) -> str:
        return "memory" if self.memory >= self.compute else "compute"


def floor(kernel: Kernel, sizes: Mapping[str, int]) -> Floor:
    return Floor(1e3 * kernel.bytes(**sizes) / MEMORY, 1e3 * kernel.flops(**sizes) / PEAKS[kernel.unit])


def amount(value: float) -> str:
    """The number with a prefix, as in "23.9 G"."""
    for power, letter in ((12, "T"), (9, "G"), (6, "M"), (3, "k")):
        if value >= 10**power:
            return f"{value / 10**power:.3g} {letter}"
    return f"{value:.3g} "


def number(value: float | None) -> str:
    return f"{value:.3g}" if value else "–"


def lines(results: Mapping[str, Any]) -> list[str]:
    measured = {row["kernel"]: row for row in results["rows"]}
    heads = ["kernel", "bytes", "operations", "unit", "memory ms", "compute ms", "bound"]
    heads += ["automatic ms", "best peer ms"]
    found = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for name in NAMES:
        kernel = load(name)
        sizes = kernel.presets["paper"]
        least, row = floor(kernel, sizes), measured.get(name, {"kernel": name})
        peer, theirs = best_peer(row, results)
        cells = [name, amount(kernel.bytes(**sizes)) + "B", amount(kernel.flops(**sizes)), kernel.unit]
        cells += [number(least.memory), number(least.compute), least.bound]
        cells += [number(automatic(row)), f"{theirs:.3g} {peer}" if theirs else "–"]
        found.append(f"| {' | '.join(cell.strip() for cell in cells)} |")
    return found


def generated() -> str:
    results = json.loads((HERE.parent / "results" / "npbench_h200_paper.json").read_text())
    return "\n".join([BEGIN, *lines(results), END])


def with_table(text: str) -> str:
    """The notes with the new table in the place of the old one."""
    start, end = text.index(BEGIN), text.index(END) + len(END)
    return text[:start] + generated() + text[end:]


if __name__ == "__main__":
    notes = HERE / "NOTES.md"
    notes.write_text(with_table(notes.read_text()))
