"""Programs written for the published ParPy, 0.1 and 0.3, find the names and defaults that they use."""

from __future__ import annotations

import numpy as np
import pytest

import parpy


class Index:
    def __index__(self):
        return 7


@pytest.mark.parametrize("count", [np.array(7), np.int16(7), np.array(7, np.uint64), Index()])
def test_thread_counts_are_whatever_stands_for_an_integer(count):
    assert parpy.threads(count) == parpy.LoopPar().threads(count) == parpy.threads(7)
    assert parpy.threads(8).tpb(count) == parpy.threads(8).tpb(7)
    assert type(parpy.threads(count)._threads) is int


@pytest.mark.parametrize("count", [True, 7.0, "7", None, np.array(7.0), np.array([7, 8])])
def test_what_is_no_thread_count(count):
    with pytest.raises(TypeError, match="the number of threads must be an int"):
        parpy.threads(count)


def test_loops_that_are_parallel():
    assert parpy.threads(1).is_parallel() and parpy.threads(32).reduce().is_parallel()
    assert not parpy.LoopPar().is_parallel() and not parpy.reduce().tpb(64).is_parallel()
