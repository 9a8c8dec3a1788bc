"""Programs written for the published ParPy, 0.1 and 0.3, find the names and defaults that they use."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from parpy import CompileBackend, buffer


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


@pytest.mark.parametrize("place", [CompileBackend.Cpu, CompileBackend.Sim])
def test_the_back_end_of_a_buffer_is_a_method_too(place):
    x = buffer.zeros(3, np.float32, place)
    assert x.backend() is x.backend is place and x.reshape(3, 1).backend() is place


def test_sizes_of_buffers_are_bytes():
    assert buffer.zeros((3, 4), np.float32).size() == 48 and buffer.zeros((3, 0)).size() == 0
    assert buffer.zeros(3, bool, CompileBackend.Sim).size() == 3
    assert buffer.zeros((4, 6), np.int16, CompileBackend.Cpu)[::2].size() == 24


def test_buffers_of_one_integer_are_integers():
    n = buffer.from_array(np.array(3))
    assert list(range(n)) == [0, 1, 2] and [4, 5, 6, 7][n] == 7 and parpy.threads(n) == parpy.threads(3)
    assert range(buffer.from_array(np.array([5], np.uint8)))[-1] == 4
    for no in (np.array(3.0), np.array([1, 2]), np.zeros(0, np.int64), np.array(True)):
        with pytest.raises(TypeError, match="is no single integer"):
            range(buffer.from_array(no))


@pytest.mark.parametrize("sync", [parpy.sync, buffer.sync])
def test_waiting_for_a_back_end(sync):
    sync()
    for place in CompileBackend:
        sync(place)
    sync(buffer.zeros(2).backend())
    with pytest.raises(TypeError, match=r"expected a parpy\.CompileBackend, not 'cuda'"):
        sync("cuda")
