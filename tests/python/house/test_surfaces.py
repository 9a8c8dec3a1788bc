"""The frontend's programs for the test suite's functions do not change. `python tests/python/surfaces.py`
writes the golden files anew."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import surfaces


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """The texts, made in a process of its own: tests change captured values."""
    folder = tmp_path_factory.mktemp("surfaces")
    subprocess.run([sys.executable, "-W", "ignore", surfaces.__file__, str(folder)], check=True)
    return folder


@pytest.mark.parametrize("module", surfaces.modules())
def test_surface_programs(module, made):
    got, want = made / f"{module}.txt", surfaces.GOLDEN / f"{module}.txt"
    assert (got.read_text() if got.exists() else "") == (want.read_text() if want.exists() else "")


def test_no_golden_is_left_over():
    assert {p.stem for p in surfaces.GOLDEN.glob("*.txt")} <= set(surfaces.modules())
