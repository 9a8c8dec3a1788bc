"""The table of results: times, and the speed-up of ParPy over the best of its peers.

    python benchmarks/npbench/report.py RESULTS.json

prints it again and draws the plots anew.
"""

from __future__ import annotations

import json
import math
import statistics
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent))

from npbench.frameworks import AUTOMATIC, FRAMEWORKS, OURS  # noqa: E402

Row = Mapping[str, Any]
PEERS = json.loads((HERE / "peers_h200.json").read_text())
RECORDED = {"upstream parpy": "ParPy 0.3.3", "cupy": "CuPy", "jax": "JAX", "numba 16 cores": "Numba"}


def ms(row: Row, name: str) -> float | None:
    """The time of a framework; for NumPy, if it was not timed, that of its validating call."""
    found = row.get(name, {}).get("ms")
    return row.get("numpy_once", {}).get("ms") if found is None and name == "numpy" else found


def automatic(row: Row) -> float | None:
    """The best of ParPy's forms that choose their mappings themselves."""
    return min((each for name in AUTOMATIC if (each := ms(row, name))), default=None)


def recorded(row: Row, result: Row) -> dict[str, float | None]:
    """The times of peers that were measured separately on the same card (peers_h200.json)."""
    if result["backend"] != "cuda" or result["preset"] != "paper" or "H200" not in result["machine"]:
        return {}
    return {RECORDED[name]: value for name, value in PEERS.get(row["kernel"], {}).items()}


def peers(row: Row, result: Row) -> dict[str, float]:
    """The times of all peers by title: those of this run, or else the recorded ones."""
    here = {FRAMEWORKS[name].title: row[name].get("ms") for name in FRAMEWORKS if row.get(name) and name not in OURS}
    here["NumPy"] = ms(row, "numpy")
    return {title: value for title, value in {**recorded(row, result), **here}.items() if value}


def best_peer(row: Row, result: Row) -> tuple[str, float | None]:
    found = peers(row, result)
    name = min(found, key=found.__getitem__, default="")
    return name, found.get(name)


def ratio(theirs: float | None, ours: float | None) -> float | None:
    return theirs / ours if theirs and ours else None


def mean(ratios: Iterable[float | None]) -> float | None:
    """The geometric mean of the ratios that exist."""
    logs = [math.log(each) for each in ratios if each]
    return math.exp(statistics.fmean(logs)) if logs else None


def shown(value: float | None, digits: int = 4) -> str:
    return f"{value:.{digits}g}" if value else "–"


def cell(row: Row, name: str) -> str:
    found = row.get(name, {})
    return f"{found['ms']:.4g}" if "ms" in found else found.get("failure", "")


def columns(kernel: str, cells: Sequence[str], numpy: str, peer: str, ratios: Sequence[str]) -> str:
    middle = " ".join(f"{text:>9}" for text in cells)
    return f"{kernel:<25}{middle} {numpy:>9}  {peer:<12}" + " ".join(f"{text:>7}" for text in ratios)


def others(frameworks: Iterable[str]) -> list[str]:
    return [name for name in frameworks if name != "numpy"]


def head(frameworks: Iterable[str]) -> str:
    return columns("kernel", others(frameworks), "numpy", "best peer", ["auto x", "hand x"])


def line(row: Row, frameworks: Iterable[str], result: Row | None = None) -> str:
    """One row; `x` is the time of the best peer divided by that of ParPy's automatic mode or hand mapping."""
    result = result or {"backend": "", "preset": "", "machine": ""}
    peer, theirs = best_peer(row, result)
    ratios = [shown(ratio(theirs, automatic(row)), 3), shown(ratio(theirs, ms(row, "hand")), 3)]
    cells = [cell(row, name) for name in others(frameworks)]
    return columns(row["kernel"], cells, shown(ms(row, "numpy")), peer, ratios)


def summary(result: Row) -> list[str]:
    """Geometric means, and the kernels that are slower than their best peer, as lines."""
    rows = result["rows"]
    lines = []
    for title, ours in (("automatic", automatic), ("by hand", lambda row: ms(row, "hand"))):
        found = {row["kernel"]: ratio(best_peer(row, result)[1], ours(row)) for row in rows}
        valid = {name: each for name, each in found.items() if each}
        if not valid:
            continue
        slow = ", ".join(
            f"{name} {each:.2f}" for name, each in sorted(valid.items(), key=lambda x: x[1]) if each < 0.95
        )
        text = f"{title}: {mean(valid.values()):.2f} x the best peer of each (geometric mean of {len(valid)})"
        lines.append(f"{text}; below 0.95: {slow or 'none'}")
    missing = [row["kernel"] for row in rows if automatic(row) is None]
    if missing:
        lines.append(f"without a valid automatic time: {', '.join(missing)}")
    return lines


def frameworks_of(result: Row) -> list[str]:
    """The frameworks that were measured, in the order of FRAMEWORKS."""
    return [name for name in FRAMEWORKS if any(row.get(name) for row in result["rows"])]


def table(result: Row) -> list[str]:
    frameworks = frameworks_of(result)
    lines = [f"{result['machine']}; preset {result['preset']}; ms", head(frameworks)]
    return [*lines, *(line(row, frameworks, result) for row in result["rows"]), *summary(result)]


def main() -> None:
    from npbench.plots import draw

    for path in map(Path, sys.argv[1:]):
        result = json.loads(path.read_text())
        print("\n".join(table(result)))
        draw(result, path)


if __name__ == "__main__":
    main()
