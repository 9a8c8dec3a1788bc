"""benchmarks/npbench/ turns times into results: runs, tables, plots and notes."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import time

import pytest

import places

sys.path.insert(0, str(places.ROOT / "benchmarks"))

import npbench
from npbench import floor, plots, report
from npbench.run import apart

BENCHMARKS = places.ROOT / "benchmarks"
RECORDED = sorted(path.name for path in (BENCHMARKS / "results").glob("npbench_c*.json"))


def times(**by_framework):
    return {
        name.replace("_", "-"): {"ms": value} if isinstance(value, float) else value
        for name, value in by_framework.items()
    }


RESULT = {
    "machine": "a machine",
    "backend": "cpu",
    "preset": "S",
    "rows": [
        {"kernel": "gemm", **times(loops=1.0, as_numpy=2.0, hand=4.0, numpy=8.0, numba=3.0, jax={})},
        {"kernel": "lu", **times(loops=0.5, as_numpy={"failure": "refused"}, numpy=1.0, numba={"failure": "late"})},
        {"kernel": "crc16", **times(loops={"failure": "wrong"}, numba=1.0), "numpy_once": {"ms": 2.0}},
    ],
}
GEMM, LU, CRC16 = RESULT["rows"]


def test_speedups():
    assert report.automatic(GEMM) == 1.0
    assert report.best_peer(GEMM, RESULT) == ("Numba", 3.0)
    assert report.best_peer(LU, RESULT) == ("NumPy", 1.0)
    assert report.automatic(CRC16) is None
    assert report.ms(CRC16, "numpy") == 2.0
    assert report.mean([2.0, None, 8.0]) == pytest.approx(4.0)
    grid = plots.speedups(RESULT)
    assert list(grid) == ["gemm", "lu", "crc16", "geometric mean"]
    assert grid["gemm"] == {"automatic": 8.0, "hand": 2.0, "loops": 8.0, "as-numpy": 4.0, "numba": pytest.approx(8 / 3)}
    assert grid["geometric mean"]["loops"] == grid["geometric mean"]["automatic"] == pytest.approx(4.0)
    assert grid["geometric mean"]["numba"] == pytest.approx((8 / 3 * 2) ** 0.5)
    assert plots.over_best_peer(RESULT) == [("lu", 2.0, "NumPy"), ("gemm", 3.0, "Numba")]


def test_table():
    lines = report.table(RESULT)
    assert [" ".join(line.split()) for line in lines[1:5]] == [
        "kernel hand loops as-numpy numba numpy best peer auto x hand x",
        "gemm 4 1 2 3 8 Numba 3 0.75",
        "lu 0.5 refused late 1 NumPy 2 –",
        "crc16 wrong 1 2 Numba – –",
    ]
    assert lines[5:] == [
        "automatic: 2.45 x the best peer of each (geometric mean of 2); below 0.95: none",
        "by hand: 0.75 x the best peer of each (geometric mean of 1); below 0.95: gemm 0.75",
        "without a valid automatic time: crc16",
    ]


def test_peers_that_are_recorded():
    result = {**RESULT, "machine": "NVIDIA H200", "backend": "cuda", "preset": "paper"}
    assert report.best_peer({"kernel": "trmm"}, result) == ("JAX", 0.485)
    assert report.best_peer({"kernel": "trmm", "jax": {"ms": 9.0}}, result) == ("ParPy 0.3.3", 8.38)
    assert report.best_peer({"kernel": "trmm"}, {**result, "preset": "L"}) == ("", None)


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_results(name):
    result = json.loads((BENCHMARKS / "results" / name).read_text())
    lines = report.table(result)
    assert [line.split()[0] for line in lines[2 : 2 + len(result["rows"])]] == [row["kernel"] for row in result["rows"]]
    for row in result["rows"]:
        kernel = npbench.load(row["kernel"])
        assert row["sizes"] == kernel.presets[result["preset"]]
        assert all(row[each].get("failure") != "wrong" for each in report.OURS if each in row)


def test_texts_of_plots():
    assert [plots.speed_text(each) for each in (2.345, 0.5, 1.0, 12345.6)] == ["↑2.35", "↓2", "↑1", "↑12346"]
    assert [plots.time_text(each) for each in (None, 0.0125, 12.5, 12500.0)] == ["–", "12.5 µs", "12.5 ms", "12.5 s"]


@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="no matplotlib")
def test_plots(tmp_path):
    import matplotlib

    with matplotlib.rc_context({"svg.fonttype": "none"}):
        written = plots.draw(RESULT, tmp_path / "times.json")
    assert [path.name for path in written] == ["times.png", "times.svg", "times_peers.png", "times_peers.svg"]
    heat, bars = (written[n].read_text() for n in (1, 3))
    for text in ("gemm", "crc16", "geometric mean", "↑8", "refused", "late", "NumPy", "ParPy by hand", "a machine"):
        assert text in heat
    assert "3 × Numba" in bars
    assert all(path.stat().st_size > 5000 for path in written)
    again = plots.draw(RESULT, tmp_path / "again.json")
    assert written[0].read_bytes() == again[0].read_bytes()


def test_processes_that_end():
    def tells(tell):
        tell(1)
        tell({"ms": 2.0})

    assert list(apart(60.0, tells)) == [1, {"ms": 2.0}]


def test_processes_that_hang():
    def hangs(tell):
        tell(1)
        time.sleep(1000)

    told = list(apart(0.5, hangs, first=60.0))
    assert told[0] == 1 and told[1]["failure"] == "late"
    assert [each["failure"] for each in apart(60.0, lambda tell: time.sleep(1000), first=0.1)] == ["late"]


def test_processes_that_die():
    told = list(apart(60.0, lambda tell: os.kill(os.getpid(), 9)))
    assert told == [{"failure": "died", "why": ["status -9"]}]


def run(*options):
    command = [
        sys.executable,
        "-W",
        "ignore",
        str(BENCHMARKS / "npbench" / "run.py"),
        "--preset",
        "tiny",
        "--seconds",
        "0.01",
    ]
    return subprocess.run([*command, *options], capture_output=True, text=True, timeout=300, check=False)


def test_a_run(tmp_path):
    out = tmp_path / "times.json"
    done = run("bicg", "nbody", "--framework", "loops", "as-numpy", "numpy", "--out", str(out))
    assert done.returncode == 0, done.stderr
    result = json.loads(out.read_text())
    bicg, nbody = result["rows"]
    assert bicg["kernel"] == "bicg" and bicg["sizes"] == {"M": 17, "N": 19}
    assert all(0 < bicg[name]["best_ms"] <= bicg[name]["ms"] for name in ("loops", "as-numpy", "numpy"))
    assert all(nbody[name]["ms"] > 0 for name in ("loops", "as-numpy", "numpy"))
    assert nbody["numpy_once"]["ms"] > 0
    assert "bicg" in done.stdout and "x the best peer" in done.stdout
    again = run("lu", "--framework", "loops", "--resume", "--out", str(out))
    assert again.returncode == 0, again.stderr
    merged = json.loads(out.read_text())["rows"]
    assert [row["kernel"] for row in merged] == ["bicg", "lu", "nbody"]
    assert merged[0] == bicg and set(merged[1]) >= {"loops", "numpy_once"}


def test_floors():
    gemm = npbench.load("gemm")
    least = floor.floor(gemm, gemm.presets["paper"])
    assert least.compute == pytest.approx(1e3 * 2 * 2000 * 2300 * 2600 / 60e12)
    assert least.bound == "compute" and least.ms == least.compute
    mvt = npbench.load("mvt")
    assert floor.floor(mvt, mvt.presets["paper"]).ms == pytest.approx(1e3 * 8 * 16_000**2 / 4e12)


def test_notes():
    """`python benchmarks/npbench/floor.py` updates the table."""
    notes = (BENCHMARKS / "npbench" / "NOTES.md").read_text()
    assert notes == floor.with_table(notes)
    assert [name for name in npbench.NAMES if f"**{name}**" not in notes] == []
