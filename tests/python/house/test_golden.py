"""Every golden case under tests/golden as one test (tests/golden/run.py describes the format)."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

import places

_RUNNER = places.TESTS / "golden" / "run.py"
_SPEC = importlib.util.spec_from_file_location("golden_run", _RUNNER)
assert _SPEC is not None and _SPEC.loader is not None
golden = importlib.util.module_from_spec(_SPEC)
sys.modules["golden_run"] = golden
_SPEC.loader.exec_module(golden)


def _name(case: Path) -> str:
    return str(case.relative_to(golden.GOLDEN))


@pytest.mark.parametrize("case", golden.collect(), ids=_name)
def test_golden(case: Path) -> None:
    binary = golden.find_parpy_opt()
    if binary is None:
        pytest.skip("parpy-opt is not built")
    result = golden.check(binary, case)
    assert result.passed, "\n" + result.diff(_name(case))
