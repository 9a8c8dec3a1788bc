"""Ctrl-C ends kernels on the simulator, and the next launch works."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PROGRAM = """
import signal, sys
import numpy as np
from parpy import cuda

signal.signal(signal.SIGINT, signal.default_int_handler)  # shells ignore it for what runs in the background
signal.alarm(120)

@cuda.jit(debug="checked" in sys.argv)
def endless(x):
    i = cuda.grid(1)
    while x[i] >= 0:
        x[i] = 0 if x[i] > 1e9 else x[i] + 1

@cuda.jit
def waits(x):
    shared = cuda.shared.array(32, np.float64)
    while True:
        shared[cuda.threadIdx.x] = x[cuda.grid(1)]
        cuda.syncthreads()
        if shared[0] < 0:
            break
        x[cuda.grid(1)] += 1

@cuda.jit
def spins(x):
    while cuda.atomic.add(x, 0, 1) >= 0:
        x[1] += 1

@cuda.jit
def computes(x):
    i = cuda.grid(1)
    while x[i] >= 0:
        x[i] = np.sin(x[i] * 1e6) ** 2

@cuda.jit
def filled(x):
    x[cuda.grid(1)] = 7

kernel = {"checked": endless}.get(sys.argv[1]) or globals()[sys.argv[1]]
filled[1, 1](np.zeros(1))
x = np.zeros(512)
print("started", flush=True)
try:
    kernel[16, 32](x)
except KeyboardInterrupt:
    filled[16, 32](x)
    assert (x == 7).all()
    x[:] = -1
    if sys.argv[1] != "spins":
        kernel[16, 32](x)
    print("interrupted", flush=True)
try:
    kernel[16, 32](np.zeros(512))
except KeyboardInterrupt:
    print("again", flush=True)
"""


FORKS = """
import os, signal, time
import numpy as np
from parpy import cuda

@cuda.jit
def endless(x):
    while x[0] >= 0:
        x[0] = 0 if x[0] > 1e9 else x[0] + 1

signal.signal(signal.SIGINT, signal.default_int_handler)
endless[1, 1](-np.ones(1))
child = os.fork()
if child == 0:
    try:
        endless[1, 1](np.ones(1))
    except KeyboardInterrupt:
        os._exit(7)
for _ in range(60):
    time.sleep(1)
    if os.waitpid(child, os.WNOHANG) == (0, 0):
        os.kill(child, signal.SIGINT)
        time.sleep(1)
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            os._exit(os.waitstatus_to_exitcode(status))
os.kill(child, signal.SIGKILL)
"""


@pytest.mark.parametrize("kernel", ["endless", "checked", "waits", "spins", "computes"])
def test_control_c_ends_a_kernel(kernel, tmp_path):
    python = str(Path(__file__).parents[2] / "python")
    environment = {**os.environ, "PARPY_CUDA_SIM": "1", "PYTHONPATH": python, "PYTHONUNBUFFERED": "1"}
    file = tmp_path / "kernels.py"
    file.write_text(PROGRAM)
    with subprocess.Popen([sys.executable, file, kernel], stdout=subprocess.PIPE, env=environment, text=True) as child:
        try:
            for expected in ("started", "interrupted"):
                assert child.stdout.readline().strip() == expected
                time.sleep(1)  # of its running
                child.send_signal(signal.SIGINT)
            assert child.communicate(timeout=60)[0].strip() == "again"
            assert child.returncode == 0
        finally:
            child.kill()


def test_control_c_ends_a_kernel_of_a_forked_process(tmp_path):
    file = tmp_path / "forks.py"
    file.write_text(FORKS)
    python = str(Path(__file__).parents[2] / "python")
    environment = {**os.environ, "PARPY_CUDA_SIM": "1", "PYTHONPATH": python}
    made = subprocess.run([sys.executable, file], env=environment, timeout=120, capture_output=True, text=True)
    assert made.returncode == 7, made.stderr
