"""Runs the matrix of operators.py on every back end of this machine."""

from __future__ import annotations

import numpy as np
import pytest

from backends import BACKENDS, run
from operators import Case, cases, check, composed_cases, edge_values, function, pairs, quiet

CASES = [*cases(), *composed_cases()]


def operands_of(case: Case) -> tuple[np.ndarray, ...]:
    arrays = [edge_values(d) for d in case.dtypes]
    return pairs(*arrays) if len(arrays) == 2 else tuple(arrays)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_operator(case: Case, backend: str) -> None:
    operands = operands_of(case)
    want = quiet(case.reference, *operands)
    got = np.empty(want.shape, want.dtype)
    got.view(np.uint8)[...] = 0xA5
    run(backend, function(case.expression, len(operands)), (*operands, got, want.size), {"n": 64})
    wrong = check(case, got, operands, want)
    assert wrong is None, wrong
