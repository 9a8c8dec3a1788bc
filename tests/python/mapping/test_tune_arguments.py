"""parpy.tune measures on copies: arguments, memory that they share and captured values do not change."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import fake_driver
import parpy
from backends import ON_GPU
from parpy.studies.tune_arguments import Copies
from tuned_functions import FACTORS, into_global_here, rows, smooth_here, smoothed, sum_rows_here, tune

pytestmark = pytest.mark.usefixtures("tuning_time")

CPU = parpy.CompileBackend.Cpu


@parpy.jit
def shifted_here(a, b, n):
    for i in range(n):
        b[i] = 2 * a[i]


@parpy.jit
def of_dict_here(d, n):
    for i in range(n):
        d["y"][i] = 2 * d["x"][i]


@parpy.jit
def of_records_here(r, n):
    for i in range(n):
        r["y"][i] = 2 * r["x"][i]


def test_arguments_are_not_changed():
    x, y, n, m = rows()
    x.flags.writeable = False
    before = x.copy()
    tune(sum_rows_here, x, y, n, m, seconds=0.2, opts=parpy.auto(backend=CPU))
    assert not y.any()
    np.testing.assert_array_equal(x, before)
    a, b, t, n = smoothed()
    tune(smooth_here, a, b, t, n, seconds=0.2, opts=parpy.auto(backend=CPU))
    assert not b.any()
    np.testing.assert_array_equal(a, smoothed()[0])


def test_dicts_records_and_buffers_are_copied():
    d = {"x": np.ones(8), "y": np.zeros(8)}
    tune(of_dict_here, d, 8, seconds=0.2, opts=parpy.auto(backend=CPU))
    assert not d["y"].any()
    r = np.zeros(8, [("x", "f8"), ("y", "f8")])
    r["x"] = 1
    tune(of_records_here, r, 8, seconds=0.2, opts=parpy.auto(backend=CPU))
    assert not r["y"].any()
    y = parpy.buffer.zeros(30, backend=CPU)
    x = rows()[0]
    tune(sum_rows_here, x, y, 30, 40, seconds=0.2, opts=parpy.auto(backend=CPU))
    assert not y.numpy().any()


def test_captured_arrays_are_put_back():
    best = tune(into_global_here, np.ones(4), 4, seconds=0.2, opts=parpy.auto(backend=CPU))
    assert not FACTORS.any()
    assert best.tuning.trials[0].runs > 0


def copies_of(*values, written):
    return Copies(values, [f"x{i}" for i in range(len(values))], {(i, None) for i in written}, [])


def test_copies_have_the_layout_of_the_originals():
    memory = np.arange(64.0)
    views = [memory[40:8:-2], memory[8:40].reshape(4, 8).T, memory[1:9][::3], np.broadcast_to(memory[0], (3, 3))]
    for view in views:
        given = copies_of(view, written=[0]).given[0]
        assert given.strides == view.strides
        assert given.flags.writeable == view.flags.writeable
        addresses = [each.__array_interface__["data"][0] for each in (view, given)]
        assert (addresses[0] - addresses[1]) % 64 == 0
        assert not np.shares_memory(given, view)
    copies = copies_of(*views, written=[1])
    copies.restore()
    for given, view in zip(copies.given, views, strict=True):
        np.testing.assert_array_equal(given, view)


def test_what_is_only_read_is_not_copied():
    x, y = np.ones(5), np.ones(5)
    copies = copies_of(x, y, 3, written=[1])
    assert copies.given[0] is x
    assert copies.given[1] is not y
    assert copies.given[2] == 3


def test_arrays_that_share_memory_still_do():
    memory = np.arange(10.0)
    apart = np.ones(3)
    copies = copies_of(memory[:-1], memory[1:], apart, memory[:0], written=[0])
    a, b, c, d = copies.given
    copies.restore()
    assert np.shares_memory(a, b)
    assert b.__array_interface__["data"][0] - a.__array_interface__["data"][0] == 8
    assert not np.shares_memory(a, memory)
    assert c is apart
    assert d.shape == (0,)
    a[:] = 7
    copies.restore()
    np.testing.assert_array_equal(b, memory[1:])


def test_overlapping_arguments_are_tuned_as_such():
    memory = np.arange(1000.0)
    best = tune(shifted_here, memory[:-1], memory[1:], 999, seconds=0.2, opts=parpy.auto(backend=CPU))
    assert not any(trial.opts.parallelize for trial in best.tuning.trials)
    np.testing.assert_array_equal(memory, np.arange(1000.0))


ON_DEVICE = """
import numpy as np
import parpy

CUDA = parpy.CompileBackend.Cuda


class Foreign:
    def __init__(self, buffer):
        self.buffer = buffer
        self.__cuda_array_interface__ = {**buffer.__cuda_array_interface__, "stream": None}


@parpy.jit
def shifted_here(a, b, n):
    for i in range(n):
        b[i] = a[i] + i


memory = parpy.buffer.from_array(np.arange(96.0), CUDA)
host = np.arange(96.0)
for a, b in ((memory[:40], memory[50:90]), (Foreign(memory[:60]), Foreign(memory[30:])), (host[:40], host[50:90])):
    tuning = parpy.tune(shifted_here, a, b, 40, seconds=8, opts=parpy.auto(backend=CUDA), force=True).tuning
    assert tuning.backend == "Cuda", tuning.backend
    assert len([trial for trial in tuning.trials if trial.runs]) > 1, tuning
    assert not any(trial.outcome in ("refused", "differs") for trial in tuning.trials), tuning.trials
    np.testing.assert_array_equal(memory.numpy(), np.arange(96.0))
    np.testing.assert_array_equal(host, np.arange(96.0))
"""


@pytest.mark.parametrize("real", [False, pytest.param(True, marks=pytest.mark.gpu)], ids=["emulated", "real"])
def test_arrays_on_a_gpu(real, tmp_path):
    if not (ON_GPU if real else fake_driver.LIBRARY.exists()):
        pytest.skip("no GPU" if real else "no emulated driver")
    script = tmp_path / "device.py"
    script.write_text(ON_DEVICE)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    if not real:
        environment |= {"FAKE_CUDA_EMULATE": "1", **fake_driver.ENVIRONMENT}
    run = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
