"""Processes that end while daemon threads are inside ParPy end like other processes, and print nothing."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import sys, threading, warnings
import numpy as np, parpy
from parpy import cuda

warnings.simplefilter("ignore")  # that kernels run on the simulator
CPU = parpy.CompileOptions(backend=parpy.CompileBackend.Cpu)
under_way, lock = threading.Semaphore(0), threading.Lock()
lock.acquire()

def add(x):
    for i in range(x.shape[0]):
        x[i] += 1

@parpy.callback
def arrived():
    under_way.release()

@parpy.callback
def waits():
    under_way.release()
    lock.acquire()

@parpy.callback
def computes():
    under_way.release()
    while True:
        sum(range(1000))

@parpy.jit
def calls_and_runs(x, n):
    arrived()
    for i in range(n):
        for j in range(x.shape[0]):
            x[j] = x[j] * 1.0000001 + 1.0

@parpy.jit
def calls_and_waits(x):
    waits()
    for j in range(x.shape[0]):
        x[j] = 1.0

@parpy.jit
def calls_and_computes(x):
    computes()
    for j in range(x.shape[0]):
        x[j] = 1.0

@cuda.jit
def spins(x):
    x[0] = 1
    while x[1] == 0:
        cuda.threadfence()

def again_and_again(act):
    n = 0
    while True:
        n += 1
        act(parpy.jit(add), np.zeros(n))
        if n == 3:
            under_way.release()

def on_the_simulator():
    x = np.zeros(2)
    threading.Thread(target=lambda: spins[1, 32](x), daemon=True).start()
    while x[0] == 0:
        pass
    under_way.release()
    lock.acquire()

WORK = {
    "kernel": lambda: calls_and_runs(np.zeros(100), 10**13, opts=CPU),
    "simulator": on_the_simulator,
    "lock": lambda: (parpy.jit(add)(np.zeros(4), opts=CPU), under_way.release(), lock.acquire()),
    "lock in a callback": lambda: calls_and_waits(np.zeros(100), opts=CPU),
    "Python in a callback": lambda: calls_and_computes(np.zeros(100), opts=CPU),
    "calls": lambda: again_and_again(lambda f, x: [f(x, opts=CPU) for _ in range(100)]),
    "compilation": lambda: again_and_again(lambda f, x: f(x, opts=CPU)),
    "text": lambda: again_and_again(lambda f, x: parpy.print_compiled(f, [x], CPU)),
    "explain": lambda: again_and_again(lambda f, x: str(parpy.explain(f, x, opts=CPU))),
    "compile_string": lambda: again_and_again(
        lambda f, x: parpy.compile_string("add", parpy.print_compiled(f, [x], CPU))(x)
    ),
    "buffers": lambda: again_and_again(lambda f, x: parpy.buffer.from_array(x).numpy()),
    "errors": lambda: again_and_again(lambda f, x: fails(f)),
}

def fails(f):
    try:
        f(None, opts=CPU)
    except TypeError:
        pass

threads = [threading.Thread(target=WORK[sys.argv[1]], daemon=True) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    under_way.acquire()
print(sys.argv[1])
"""

MODES = [line.split('"')[1] for line in PROGRAM.splitlines() if line.startswith('    "') and "lambda" in line] + [
    "simulator"
]


@pytest.mark.parametrize("mode", MODES)
def test_daemon_threads_do_not_disturb_the_end(mode, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    for _ in range(3):
        ended = subprocess.run(
            [sys.executable, str(program), mode],
            env={**os.environ, "PARPY_CACHE": "0"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, mode + "\n", "")


def test_development_builds_tell_of_leaks(tmp_path):
    """If no thread is left, leaks are reported; this shows that the silence of the other tests has a reason."""
    program = tmp_path / "program.py"
    program.write_text("import ctypes, parpy\nctypes.pythonapi.Py_IncRef(ctypes.py_object(parpy._native.Module()))\n")
    ended = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=True)
    assert "leaked instance" in ended.stderr
