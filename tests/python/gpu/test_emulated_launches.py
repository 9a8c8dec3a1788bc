"""Python's part of launches on a GPU, on the emulated driver: directions of arguments, callbacks, futures, default
streams, single records."""

from __future__ import annotations

import pytest

import fake_driver

pytestmark = pytest.mark.skipif(not fake_driver.LIBRARY.exists(), reason="the emulated driver is not built")

SCRIPT = """
import asyncio
import numpy as np
import fake_driver
import parpy
import parpy.cuda as cuda

assert cuda.is_available() and not cuda.sim.enabled


@cuda.jit
def shifted(x, y):
    i = cuda.grid(1)
    if i < x.shape[0]:
        y[i] = x[i] + 1
        x[i] = 9


x, y = np.zeros(1, np.float32), np.zeros(1, np.float32)
shifted[1, 1](cuda.In(x), cuda.Out(y))
assert x[0] == 0 and y[0] == 1
shifted[1, 1](cuda.InOut(x), y)
assert x[0] == 9
kinds = (cuda.types.float32[::1],) * 2
assert [*shifted.overloads] == [kinds] and [*shifted.get_regs_per_thread()] == [kinds]

got, stream = [], cuda.stream()
stream.add_callback(lambda *given: got.append(given), 7)
stream.synchronize()
assert got == [(stream, 0, 7)]


async def done():
    return await stream.async_done()


assert asyncio.run(done()) is stream
for number, make in ((1, cuda.legacy_default_stream), (2, cuda.per_thread_default_stream)):
    given = make()
    shifted[1, 1, given](cuda.to_device(x, stream=given), cuda.to_device(y, stream=given))
    given.synchronize()
    assert fake_driver.state().last_launch.stream == number

record = np.dtype([("a", "f4"), ("b", "i4")], align=True)


@cuda.jit
def fills(r, out):
    r.a = 3
    out[0] = r.b


records = np.zeros(2, record)
fills[1, 1](records[0], x)
assert records["a"].tolist() == [3, 0]


@cuda.jit
def total(out, *given):
    out[0] = given[0] + given[1]


total[1, 1](x, 1, 2)
assert x[0] == 3
with cuda.mapped(x, y) as (first, second):
    shifted[1, 1](first, second)
assert x[0] == 9 and y[0] == 4

fake_driver.set_up("cuEventSynchronize 700")
stream.add_callback(lambda stream, status, arg: got.append((status, arg)), "failed")
for thread in stream._waiting:
    thread.join()
assert got[1] == (999, "failed")
try:
    asyncio.run(done())
except parpy.BackendError as error:
    print("raised", str(error).splitlines()[0])
"""


def test_on_the_emulated_gpu():
    done = fake_driver.run_emulated(SCRIPT)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "raised error[P530]" in done.stdout
