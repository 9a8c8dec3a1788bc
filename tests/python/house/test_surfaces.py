"""The frontend's programs for the test suite's functions do not change. `python tests/python/surfaces.py`
writes the golden files anew."""

from __future__ import annotations

import difflib
import subprocess
import sys

import surfaces


def test_surface_programs(tmp_path):
    """One test for all modules: their texts are made in one process of its own, because tests change captured
    values."""
    subprocess.run([sys.executable, "-W", "ignore", surfaces.__file__, str(tmp_path)], check=True)
    different = {}
    for module in surfaces.modules():
        got, want = (
            path.read_text() if path.exists() else ""
            for path in (tmp_path / f"{module}.txt", surfaces.GOLDEN / f"{module}.txt")
        )
        if got != want:
            different[module] = "\n".join(difflib.unified_diff(want.splitlines(), got.splitlines(), lineterm="", n=1))
    assert not different, "\n".join(f"==== {module}\n{lines}" for module, lines in different.items())


def test_no_golden_is_left_over():
    assert {p.stem for p in surfaces.GOLDEN.glob("*.txt")} <= set(surfaces.modules())
