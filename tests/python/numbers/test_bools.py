"""Arrays of bool whose bytes are not 0 or 1, as np.empty and views of other arrays have: any byte but 0 is true."""

from __future__ import annotations

import numpy as np
import pytest

import backends
import parpy

BYTES = np.array([0, 1, 2, 3, 127, 128, 254, 255] * 9, np.uint8)


@parpy.jit
def logic(b, c, out, count):
    parpy.label("i")
    for i in range(len(b)):
        out[i] = (b[i] and not c[i]) or b[i] == c[i]
    parpy.label("j")
    for j in range(len(b)):
        if b[j]:
            count[0] += 1
        count[1] += b[j]
        count[2] += b[j] * 3 + (b[j] < c[j])
        count[3] += int(b[j]) if c[j] else 5


@pytest.mark.parametrize(
    ("backend", "mapping"), [("eval", {}), ("cpu", {}), ("cpu", {"i": 2, "j": 2}), ("sim", {"i": 32, "j": 32})]
)
def test_any_byte_but_zero_is_true(backend, mapping):
    b, c = BYTES.view(bool), np.roll(BYTES, 3).view(bool)
    got = [b.copy(), c.copy(), np.zeros(len(b), bool), np.zeros(4, np.int64)]
    want = [(b.view(np.uint8) != 0), (c.view(np.uint8) != 0), got[2].copy(), got[3].copy()]
    logic(*want, seq=True)
    backends.run(backend, logic, got, mapping)
    np.testing.assert_array_equal(got[2].view(np.uint8), want[2].view(np.uint8))
    assert got[3].tolist() == want[3].tolist()


def test_a_scalar_taken_from_such_an_array():
    @parpy.jit
    def number(flag, out):
        out[0] = 7 if flag else 1
        out[1] = 3 if not flag else 4

    flag = np.array(2, np.uint8).view(bool)
    out = np.zeros(2, np.int64)
    for _ in range(2):
        number(flag, out, opts=parpy.CompileOptions(backend=parpy.CompileBackend.Cpu))
        assert out.tolist() == [7, 4]


@parpy.jit
def scalars(out, a, b):
    out[0] = a + b
    out[1] = a * 3
    out[2] = a + 1.5
    out[3] = (a + b) * 2
    out[4] = a and b


def test_numpy_bools_are_no_python_bools():
    """True + True is 2, np.True_ + np.True_ is np.True_, and so is the sum of 0-d arrays."""
    for make in (bool, np.bool_, lambda v: np.array(v)):
        for other in (bool, np.bool_):
            for a, b in ((True, True), (True, False), (False, False)):
                got, want = np.zeros(5), np.zeros(5)
                scalars(want, make(a), other(b), seq=True)
                scalars(got, make(a), other(b))
                assert got.tolist() == want.tolist(), (make, other, a, b)
