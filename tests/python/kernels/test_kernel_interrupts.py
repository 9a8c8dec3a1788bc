"""Ctrl-C ends kernels on the simulator, and the next launch works."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

import places

PROGRAM = """
import signal, sys
import numpy as np
from parpy import cuda

signal.signal(signal.SIGINT, signal.default_int_handler)  # shells ignore it for what runs in the background
signal.alarm(900)  # hangs; so in all that follow

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
try:
    print("started", flush=True)
    kernel[16, 32](x)
except KeyboardInterrupt:
    filled[16, 32](x)
    assert (x == 7).all()
    x[:] = -1
    if sys.argv[1] != "spins":
        kernel[16, 32](x)
try:
    print("interrupted", flush=True)
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
try:
    child = os.fork()
    if child == 0:
        signal.alarm(900)
        endless[1, 1](np.ones(1))
except KeyboardInterrupt:
    os._exit(7)
time.sleep(1)  # of its running
os.kill(child, signal.SIGINT)
_, status = os.waitpid(child, 0)
os._exit(os.waitstatus_to_exitcode(status) % 256)
"""


CALM_FORKS = FORKS.replace("signal.default_int_handler", "raises").replace("KeyboardInterrupt", "Stop")
CALM_FORKS = CALM_FORKS.replace(
    "@cuda.jit", "class Stop(Exception):\n    pass\n\ndef raises(*_):\n    raise Stop\n\n@cuda.jit"
)


THREAD_FORKS = """
import os, signal, threading, time
import numpy as np
from parpy import cuda

@cuda.jit
def endless(x):
    while x[0] >= 0:
        x[0] = 0 if x[0] > 1e9 else x[0] + 1

def interrupt():
    time.sleep(1)
    os.kill(os.getpid(), signal.SIGINT)

def fork():
    endless[1, 1](-np.ones(1))  # here it is no main thread
    time.sleep(1)
    child = os.fork()
    if child == 0:
        signal.alarm(900)
        try:
            threading.Thread(target=interrupt, daemon=True).start()
            endless[1, 1](np.ones(1))
        except KeyboardInterrupt:
            os._exit(7)
    _, status = os.waitpid(child, 0)
    os._exit(os.waitstatus_to_exitcode(status) % 256)

signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Thread(target=fork).start()
endless[1, 1](np.ones(1))
"""

HANDLERS = """
import os, signal, threading, time
import numpy as np
from parpy import cuda

@cuda.jit
def endless(x):
    while x[0] >= 0:
        x[0] = 0 if x[0] > 1e9 else x[0] + 1

class Stop(Exception):
    pass

def one(*_):
    raise Stop

def other(*_):
    raise Stop

def interrupt():
    while not ready:
        time.sleep(0.01)
    time.sleep(0.3)
    os.kill(os.getpid(), signal.SIGINT)

signal.alarm(900)
signal.signal(signal.SIGINT, signal.default_int_handler)
none, x = -np.ones(1), np.ones(1)
for k in range(10):
    ready = []
    thread = threading.Thread(target=interrupt)
    thread.start()
    launch, set_handler, allow = endless[1, 1], signal.signal, ready.append
    for _ in range(5):
        launch(none)
    set_handler(signal.SIGINT, (one, other)[k % 2])
    try:
        allow(True)
        launch(x)
    except Stop:
        thread.join()
os._exit(7)
"""


CALMS = """
import os, signal, threading, time
import numpy as np
from parpy import cuda

# `calls[0]` says that the kernel runs, `calls[1]` how often its handler was called, which it waits for.
@cuda.jit
def counts(x, calls, n):
    calls[0] = 1
    while calls[1] < n:
        cuda.threadfence()
    x[cuda.grid(1)] = 5

@cuda.jit
def meets(x, calls, n):
    shared = cuda.shared.array(1, np.float64)
    calls[0] = 1
    while True:
        if cuda.threadIdx.x == 0:
            shared[0] = calls[1]
        cuda.syncthreads()
        enough = shared[0] >= n
        cuda.syncthreads()
        if enough:
            break
        x[cuda.grid(1)] += 1
    x[cuda.grid(1)] = 5

@cuda.jit
def filled(x):
    x[cuda.grid(1)] = 7

def interrupt(times):
    for already in range(times):
        while calls[0] == 0 or len(noted) < already:
            time.sleep(0.01)
        time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGINT)

class Stop(Exception):
    pass

def note(*_):
    assert threading.current_thread() is threading.main_thread()
    noted.append(0)
    calls[1] += 1

def launch_another(*_):
    filled[4, 8](other)
    noted.append(other.sum())
    calls[1] += 1

def note_once(*_):
    noted.append(0)
    signal.signal(signal.SIGINT, signal.default_int_handler)

def stop(*_):
    raise Stop

signal.alarm(900)
filled[1, 1](np.zeros(1))
for kernel in (counts, meets):
    threads = (2, 32) if kernel is meets else (2, 1)
    kernel[threads](np.zeros(64), np.zeros(2), 0)
    for handler, expected, count in ((note, None, 1), (note, None, 2), (launch_another, None, 1),
                                     (note_once, KeyboardInterrupt, 2), (stop, Stop, 1)):
        signal.signal(signal.SIGINT, handler)
        noted, x, other, calls = [], np.zeros(64), np.zeros(32), np.zeros(2)
        thread = threading.Thread(target=interrupt, args=(count,))
        thread.start()
        try:
            kernel[threads](x, calls, count if expected is None else 1e300)
            found = None
        except (Stop, KeyboardInterrupt) as error:
            found = type(error)
        thread.join()
        size = threads[0] * threads[1]
        assert found is expected, (kernel, handler, found)
        assert expected or (x[:size] == 5).all() and not x[size:].any()
        if handler is note:
            assert len(noted) == count
        elif handler is launch_another:
            assert noted == [7 * 32]
        elif handler is note_once:
            assert noted == [0]
        filled[2, 32](x)
        assert (x == 7).all()
os._exit(7)
"""


HANDLER_FORKS = """
import os, signal, threading, time
import numpy as np
import parpy
from parpy import cuda

@cuda.jit
def waits(x, calls):
    calls[0] = 1
    while calls[1] == 0:
        cuda.threadfence()
    x[0] = 5

def interrupt():
    while calls[0] == 0:
        time.sleep(0.01)
    time.sleep(0.1)
    os.kill(parent, signal.SIGINT)

def forks(*_):
    child = os.fork()
    if child:
        children.append(child)
        calls[1] = 1
    else:
        signal.alarm(900)

signal.alarm(900)
signal.signal(signal.SIGINT, forks)
parent, children, x, calls = os.getpid(), [], np.zeros(1), np.zeros(2)
waits[1, 1](x, np.ones(2))
x[0] = 0
threading.Thread(target=interrupt, daemon=True).start()
try:
    waits[1, 1](x, calls)
except parpy.BackendError as error:
    assert os.getpid() != parent and "forked" in str(error), error
    waits[1, 1](np.zeros(1), np.ones(2))
    os._exit(7)
assert os.getpid() == parent and x[0] == 5
_, status = os.waitpid(children[0], 0)
os._exit(os.waitstatus_to_exitcode(status) % 256)
"""


TWO = """
import os, signal, threading, time
import numpy as np
from parpy import cuda

@cuda.jit
def waits(x):
    shared = cuda.shared.array(32, np.float64)
    while True:
        shared[cuda.threadIdx.x] = x[cuda.grid(1)]
        cuda.syncthreads()
        if shared[0] < 0:
            break
        x[cuda.grid(1)] += 1

class Stop(Exception):
    pass

def stop(_, frame):
    while frame is not None:
        if frame.f_code is launch.__code__:
            called.append(frame)
            raise Stop
        frame = frame.f_back

def launch():
    waits[16, 32](np.zeros(512))

def interrupt():  # again and again, also while the launch ends
    time.sleep(0.1)
    more = 20
    while more:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.0005)
        more -= bool(called)

signal.alarm(900)
waits[16, 32](-np.ones(512))
signal.signal(signal.SIGINT, stop)
for _ in range(10):
    called = []
    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        launch()
    except Stop:
        thread.join()
    assert len(called) >= 1
os._exit(7)
"""


COMPILES = """
import os, signal, threading, time
import numpy as np

os.environ["PARPY_CACHE_DIR"] = os.path.dirname(__file__) + "/cache"
import parpy
from parpy import cuda

def interrupt(delay):
    time.sleep(delay)
    os.kill(os.getpid(), signal.SIGINT)

def fresh():
    @cuda.jit
    def endless(x):
        while x[0] >= 0:
            x[0] = 0 if x[0] > 1e9 else x[0] + np.sin(x[0]) ** 2
    return endless

signal.alarm(900)
signal.signal(signal.SIGINT, signal.default_int_handler)
fresh()[1, 1](-np.ones(1))
for delay in range(2, 100, 7):
    parpy.clear_cache()
    thread = threading.Thread(target=interrupt, args=(delay / 1e3,))
    try:
        thread.start()
        fresh()[1, 1](np.ones(1))
    except KeyboardInterrupt:
        thread.join()
os._exit(7)
"""


@pytest.mark.parametrize("kernel", ["endless", "checked", "waits", "spins", "computes"])
def test_control_c_ends_a_kernel(kernel, tmp_path):
    python = str(places.ROOT / "python")
    environment = {**os.environ, "PARPY_CUDA_SIM": "1", "PYTHONPATH": python, "PYTHONUNBUFFERED": "1"}
    file = tmp_path / "kernels.py"
    file.write_text(PROGRAM)
    with subprocess.Popen([sys.executable, file, kernel], stdout=subprocess.PIPE, env=environment, text=True) as child:
        try:
            for expected in ("started", "interrupted"):
                assert child.stdout.readline().strip() == expected
                time.sleep(1)  # while it runs
                child.send_signal(signal.SIGINT)
            assert child.communicate()[0].strip() == "again"
            assert child.returncode == 0
        finally:
            child.kill()


@pytest.mark.parametrize(
    "program",
    [FORKS, CALM_FORKS, THREAD_FORKS, HANDLERS, CALMS, HANDLER_FORKS, TWO, COMPILES],
    ids=["forks", "calm_forks", "thread_forks", "handlers", "calms", "handler_forks", "two", "compiles"],
)
def test_control_c_ends_a_kernel_wherever_it_runs(program, tmp_path):
    file = tmp_path / "forks.py"
    file.write_text(program)
    python = str(places.ROOT / "python")
    environment = {**os.environ, "PARPY_CUDA_SIM": "1", "PYTHONPATH": python}
    made = subprocess.run([sys.executable, file], env=environment, capture_output=True, text=True)
    assert made.returncode == 7, made.stderr
