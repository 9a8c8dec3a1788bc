"""Threads and processes that compile and call the same functions."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np

from fresh_functions import ADD, CPU, fresh


def test_eight_threads_compile_a_function_once(tmp_path):
    f = fresh(ADD, tmp_path)
    barrier = threading.Barrier(8)
    results: list[np.ndarray] = [np.zeros(100) for _ in range(8)]
    errors: list[BaseException] = []

    def work(y: np.ndarray) -> None:
        try:
            barrier.wait()
            for _ in range(50):
                f(np.ones(100), y, 100, 1.0, opts=CPU)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(y,)) for y in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert f.cache_info() == (1, 1, ())
    assert all((y == 50).all() for y in results)


def test_eight_threads_with_different_shapes(tmp_path):
    f = fresh(ADD, tmp_path)
    errors: list[BaseException] = []

    def work(k: int) -> None:
        try:
            for n in range(1, 12):
                y = np.zeros(n + k)
                f(np.ones(n + k), y, n + k, 3.0, opts=CPU)
                assert (y == 3).all()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert f.cache_info().compilations < 12


PROGRAM = """
import sys
import numpy as np, parpy
@parpy.jit
def f(x, n):
    parpy.label('i')
    for i in range(n):
        x[i] = 3 * i
x = np.zeros(1000)
f(x, 1000, opts=parpy.CompileOptions(parallelize={'i': parpy.threads(1000)}, backend=parpy.CompileBackend.Cpu))
assert (x == 3 * np.arange(1000)).all()
print(parpy.print_compiled(f, [x, 1000], parpy.CompileOptions(backend=parpy.CompileBackend.Cpu)))
"""


def test_processes_share_the_disk_cache(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    environment = {
        **os.environ,
        "PARPY_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONHASHSEED": "random",
    }
    running = [
        subprocess.Popen(
            [sys.executable, str(program)],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    texts = [process.communicate()[0] for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert texts[0] == texts[1] != ""
    again = subprocess.run(
        [sys.executable, str(program)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert again.stdout == texts[0]


FORKS = """
import os, signal, threading
import numpy as np
import parpy

OPTS = parpy.CompileOptions(parallelize={"i": parpy.threads(2)}, backend=parpy.CompileBackend.Cpu)

@parpy.jit
def scale(x, y, a):
    parpy.label('i')
    for i in range(x.shape[0]):
        y[i] = x[i] * a + 1.0

def compiled_and_run(n):
    x, y = np.full(n, 3.0), np.zeros(n)
    parpy.jit(scale.__wrapped__)(x, y, 2.0, opts=OPTS)
    return (y == 7.0).all()

stop = False
def churn(n):
    while not stop:
        n += 1
        assert compiled_and_run(n)

threads = [threading.Thread(target=churn, args=(1000 * k,)) for k in range(1, 4)]
for thread in threads:
    thread.start()
for n in range(80):
    child = os.fork()
    if child == 0:
        signal.alarm(900)
        os._exit(0 if compiled_and_run(50000 + n) else 1)
    assert os.waitpid(child, 0)[1] == 0, n
stop = True
for thread in threads:
    thread.join()
"""


def test_children_compile_though_others_compiled_when_they_were_forked(tmp_path):
    script = tmp_path / "forks.py"
    script.write_text(FORKS)
    result = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "PARPY_CACHE": "0"},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert result.returncode == 0, result.stderr


BUSY_PARENT = """
import os, signal, threading
from parpy.syntax import deep_stack as _deep_stack
from parpy.syntax.lazy import lazy

started, finish = threading.Event(), threading.Event()

class Slow:
    def __init__(self, waits):
        self.waits = waits

    @lazy
    def value(self):
        if self.waits:
            started.set()
            finish.wait()
        return 7

def nested(depth):
    return 0 if depth == 0 else 1 + nested(depth - 1)

def in_child(work):
    started.clear()
    finish.clear()
    thread = threading.Thread(target=slow[work])
    thread.start()
    started.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        finish.set()
        os._exit(0 if work() else 1)
    ended = os.waitpid(child, 0)[1]
    finish.set()
    thread.join()
    assert ended == 0, (work, ended)

def reads():
    return Slow(False).value == 7

def recurses():
    return _deep_stack.with_deep_stack(lambda: nested(3000)) == 3000

def held():
    with _deep_stack._lock:
        started.set()
        finish.wait()

slow = {reads: lambda: Slow(True).value, recurses: held}
in_child(reads)
in_child(recurses)
"""


def test_children_do_not_wait_for_what_other_threads_computed_when_they_were_forked(tmp_path):
    script = tmp_path / "busy_parent.py"
    script.write_text(BUSY_PARENT)
    result = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=300, check=False)
    assert result.returncode == 0, result.stderr
