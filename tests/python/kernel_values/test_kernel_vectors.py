"""Short vectors in kernels, and loads and stores with cache hints."""

from __future__ import annotations

import numpy as np
import pytest

import kernel_places
import parpy
from nvrtc import ptx
from parpy import cuda
from parpy.vocabulary.vectors import FUNCTIONS, VECTORS

backend = kernel_places.backend


@cuda.jit(device=True)
def cross(a, b):
    return cuda.float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)


@cuda.jit
def products(x, y, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        v, w = cuda.float32x3(x[i, 0], x[i, 1], x[i, 2]), cuda.float3(y[i, 0], y[i, 1], y[i, 2])
        u = cross(v, w)
        out[i, 0], out[i, 1], out[i, 2] = u.x, u.y, u.z


def test_cross_product():
    x, y = np.random.default_rng(3).integers(-9, 9, (2, 40, 3)).astype(np.float32)
    out = np.zeros_like(x)
    products.forall(40)(x, y, out)
    np.testing.assert_array_equal(out, np.cross(x, y))


@cuda.jit
def made(out):
    v = cuda.float3(1.5, 2, 3)
    q = cuda.float4(v, 4)
    out[0] = q.x + 10 * q.w
    p = cuda.int2(1.9, -1.9)
    out[1], out[2] = p.x, p.y
    r = cuda.int4(p, cuda.int2(3, 4))
    out[3] = r.z * 10 + r.w
    c = cuda.double3(v)
    out[4] = c.z
    s = cuda.float32x1(7)
    out[5] = s.x
    for _ in range(3):
        v = cuda.float3(v.x + 1, v.y, v.z)
    out[6] = v.x
    n = cuda.ulonglong2(np.uint64(2**63), 1)
    out[7] = n.x // 2**60
    out[8] = cuda.float2(5, 6).y + cross(v, v).x


def test_vectors_are_made():
    out = np.zeros(9)
    made[1, 1](out)
    assert out.tolist() == [41.5, 1, -1, 34, 3, 7, 4.5, 8, 6]


def test_names_of_vectors():
    assert len(VECTORS) == 40
    for name in ("float3", "double2", "uchar4", "char1", "short2", "ushort3", "int4", "uint4", "long2", "ulong2",
                 "longlong1", "ulonglong4", "float64x4", "uint8x2"):  # fmt: skip
        assert getattr(cuda, name) is FUNCTIONS[name]
    with pytest.raises(TypeError, match=r"parpy\.cuda\.float32x3 can only be called in a kernel"):
        cuda.float3(1, 2, 3)


def test_mistakes_with_vectors():
    @cuda.jit
    def too_few(out):
        out[0] = cuda.float3(1.0, 2.0).x

    with pytest.raises(parpy.CompileError, match=r"'cuda\.float32x3' is made of 3 numbers, or of vectors"):
        too_few[1, 1](np.zeros(1))


HINTS = ("ldca", "ldcg", "ldcs", "ldlu", "ldcv", "stcg", "stcs", "stwb", "stwt")


@cuda.jit
def hinted(x, m, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        total = cuda.ldca(x, i) + cuda.ldcg(x, i) + cuda.ldcs(x, i) + cuda.ldlu(x, i) + cuda.ldcv(x, i)
        cuda.stcg(out, (0, i), total)
        cuda.stcs(out, (1, i), cuda.ldcg(m, (i, 1)))
        cuda.stwb(out, (2, i), 3)
        cuda.stwt(out, (3, i), cuda.ldcg(m, (i, -1)))


@pytest.mark.parametrize(
    "dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.float32, np.float64]
)
def test_hints(dtype):
    x, m = np.arange(10, dtype=dtype), np.arange(30, dtype=dtype).reshape(10, 3)
    out = np.zeros((4, 10), dtype)
    hinted.forall(10)(x, m, out)
    np.testing.assert_array_equal(out, np.array([5 * x, m[:, 1], np.full(10, 3), m[:, 2]], dtype))


def test_hints_are_in_the_code():
    if not cuda.sim.enabled:
        pytest.skip("the text is the same")
    text = ptx(hinted.inspect_source(np.zeros(4), np.zeros((4, 3)), np.zeros((4, 4))))
    for hint in HINTS:
        way = "ld.global" if hint.startswith("ld") else "st.global"
        kind = "wb" if hint == "stwb" else "lu" if hint == "ldlu" else hint[2:]
        assert f"{way}.{kind}." in text or (hint == "ldlu" and "ld.global" in text), hint


def test_hints_of_other_types():
    @cuda.jit
    def kernel(x):
        x[0] = cuda.ldcg(x, 1)

    with pytest.raises(parpy.CompileError, match="takes arrays of integers, float32 and float64"):
        kernel[1, 1](np.zeros(2, np.complex64))
