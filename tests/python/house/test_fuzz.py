"""Random programs and expressions of tests/fuzz, compiled and interpreted. The programs of `run.py` change with every
commit; `python tests/fuzz/run.py` runs more, and so do `programs.py` and `expressions.py`."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import places

sys.path.insert(0, str(places.TESTS / "fuzz"))
import expressions
import programs
from random_programs.compare import CopiedFirst

ROOT = places.ROOT


def seed_of_the_commit() -> int:
    """The first program for this commit; PARPY_FUZZ_SEED names another, to repeat a failure."""
    if "PARPY_FUZZ_SEED" in os.environ:
        return int(os.environ["PARPY_FUZZ_SEED"])
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    return 10 * int(commit.stdout[:6] or "0", 16)


@pytest.mark.parametrize(
    ("backend", "part"), [*(("cpu", i) for i in range(5)), ("sim", 5), ("sim", 6), ("eval", 7), ("eval-cuda", 8)]
)
def test_programs_of_this_commit(backend, part):
    """25 programs, each called in many ways."""
    command = [sys.executable, str(ROOT / "tests/fuzz/run.py"), "--backend", backend, "--jobs", "1"]
    command += ["--seed", str(seed_of_the_commit() + 25 * part), "--count", "25"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-6000:]}{done.stderr[-2000:]}"


@pytest.mark.parametrize("first", range(0, 60, 15))
def test_random_programs_agree_with_the_interpreter(first, tmp_path):
    for seed in range(first, first + 15):
        assert (found := programs.difference(seed, tmp_path)) is None, found


@pytest.mark.parametrize("first", range(0, 60, 15))
def test_random_expressions_have_the_interpreters_values_and_types(first, tmp_path):
    for seed in range(first, first + 15):
        assert (found := expressions.difference(seed, tmp_path)) is None, found


def test_numbers_of_the_interpreters_arrays_are_numbers():
    """Else `self.last = self.total; self.total += s` would change both."""
    array = np.array([1.0, 2.0]).view(CopiedFirst)
    for value in (np.any(array[::-1]), array.sum(), np.max(array), array @ array, np.mean(array) + 1):
        assert isinstance(value, np.generic)
    assert isinstance(array.sum(keepdims=True), CopiedFirst)
