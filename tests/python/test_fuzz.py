"""A few random programs and expressions of tests/fuzz, compiled and interpreted; `python tests/fuzz/programs.py` and
`python tests/fuzz/expressions.py` run more."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzz"))
import expressions
import programs


@pytest.mark.parametrize("first", range(0, 60, 15))
def test_random_programs_agree_with_the_interpreter(first, tmp_path):
    for seed in range(first, first + 15):
        assert (found := programs.difference(seed, tmp_path)) is None, found


@pytest.mark.parametrize("first", range(0, 60, 15))
def test_random_expressions_have_the_interpreters_values_and_types(first, tmp_path):
    for seed in range(first, first + 15):
        assert (found := expressions.difference(seed, tmp_path)) is None, found
