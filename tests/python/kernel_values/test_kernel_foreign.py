"""Foreign CUDA C++ on the simulator: the names that NVRTC predefines exist, with CUDA's values."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nvrtc import why_missing
from parpy import cuda

pytestmark = pytest.mark.usefixtures("simulator")


def values_of(folder, expressions, threads=1, head=""):
    """The values of CUDA C++ expressions of `double x`, which is 0.25."""
    lines = "\n".join(f"    case {i}: return (double)({text});" for i, text in enumerate(expressions))
    place = folder / "values.cu"
    place.write_text(
        f'{head}\nextern "C" __device__ double value(int which, double x) {{\n    switch (which) {{\n{lines}\n    }}\n'
        "    return 0;\n}\n"
    )
    value = cuda.declare_device("value", "float64(int32, float64)", link=str(place))

    @cuda.jit
    def kernel(out):
        i = cuda.threadIdx.x
        for which in range(len(out)):
            found = value(which, 0.25)
            if i == 0:
                out[which] = found

    out = np.zeros(len(expressions))
    kernel[1, threads](out)
    if not why_missing():
        assert kernel.inspect_asm(out)  # NVRTC knows them too
    return out


f32 = np.float32
MATHS = {
    "min(3, 4) + max(3u, 4u)": 7,
    'min(2.0f, nanf(""))': 2,
    "max(-1, 2u)": 2**32 - 1,
    "abs(-3) + abs(-4ll)": 7,
    "abs(-0.5f) + abs(-0.5)": 1,
    "umin(3u, 4u) + llmax(5ll, 6ll)": 9,
    "sizeof(sin(1.0f)) + sizeof(fabs(1.0))": 12,
    "sin((float)x) == sinf((float)x)": 1,
    "isnan(x) + 2 * isinf(1.0f / 0.0f) + 4 * signbit(-0.0) + 8 * isfinite(x)": 14,
    "[&] { double s, c; sincos(x, &s, &c); return s + c; }()": math.sin(0.25) + math.cos(0.25),
    "[&] { int e; double m = frexp(x, &e); return m + e; }()": -0.5,
    "[&] { double whole; double rest = modf(x + 3, &whole); return rest + 10 * whole; }()": 30.25,
    "scalbn(x, 3) + ilogb(8.0)": 5,
    "normcdf(x)": 0.5 * math.erfc(-0.25 / math.sqrt(2)),
    "normcdfinv(x)": -0.6744897501960817,
    "cyl_bessel_i0(x) - 1": 0.0156861412,
    "cyl_bessel_i1(-x)": -0.1259791086,
    "j0(x)": 0.9844359292958527,
    "norm3d(1.0, 2.0, 2.0) + norm4df(1, 1, 1, 1)": 5,
    "rhypot(3.0, 4.0)": 0.2,
    "__expf(0.0f) + __powf(2.0f, 3.0f) + __fdividef(1.0f, 4.0f)": 9.25,
    "__saturatef(1.5f) + __saturatef(-1.0f) + __saturatef(0.5f)": 1.5,
    "__fmaf_rn(2, 3, 4) + __dadd_rn(1, 2) + __frcp_rn(4) + __fsqrt_rn(9)": 16.25,
}
BITS = {
    "__float2int_rn(2.5f) + 10 * __float2int_rz(-2.5f) + 100 * __double2int_rd(-2.5)": -318,
    "__double2int_ru(2.5)": 3,
    "__float2int_rn(1e20f)": 2**31 - 1,
    "__double2ll_rn(x + 7) + __uint2float_rn(3u) + __ll2double_rn(-4ll)": 6,
    "__hiloint2double(__double2hiint(x), __double2loint(x))": 0.25,
    "__byte_perm(0x33221100, 0x77665544, 0x5140)": 0x55114400,
    "__mul24(-3, 4) + __umul24(0xff000003u, 4u)": 0,
    "__mul64hi(1ll << 62, 8ll) + __umul64hi(1ull << 63, 2ull)": 3,
    "__sad(1, 5, 2u) + __usad(5u, 1u, 2u)": 12,
    "__hadd(-3, 4) + __rhadd(3, 6) + __uhadd(~0u, ~0u)": 4,
    "__funnelshift_l(0x80000000u, 1u, 1u) + __funnelshift_rc(1u, 2u, 40u)": 5,
    "__dp4a(0x01ff0203, 0x01020304, 10)": 10 + 1 - 2 + 6 + 12,
}
TYPES = {
    "[&] { float4 v = make_float4(1, 2, 3, 4); return v.x + v.w; }()": 5,
    "[&] { int2 v = {1, 2}; uchar3 u = make_uchar3(1, 2, 255); return v.y + u.z; }()": 257,
    "sizeof(float3) + 100 * alignof(float4) + 10000 * sizeof(double2)": 161612,
    "[&] { dim3 d(2, 3); uint3 u = d; return u.x + u.y + u.z; }()": 6,
    "[&] { size_t n = 3; ptrdiff_t d = -1; return (double)n + d; }()": 2,
    "[&] { int a = 3, b; memcpy(&b, &a, sizeof a); memset(&a, 0, sizeof a); return a + b; }()": 3,
    "[&] { int* p = (int*)malloc(8); p[1] = 3; int r = p[1]; free(p); return r; }()": 3,
    "__CUDA_ARCH__ >= 700": 1,
    "clock() * 0": 0,
    "[&] { int a = 3; atomicAdd_block(&a, 2); atomicMax_system(&a, 4); return __ldcg(&a); }()": 5,
}
WARPS = {
    "__reduce_add_sync(0xffffffffu, threadIdx.x)": 496,
    "__reduce_max_sync(0xffffffffu, (int)threadIdx.x) + __reduce_min_sync(0xffffffffu, 3 - (int)threadIdx.x)": 3,
    "__reduce_xor_sync(0xffffffffu, threadIdx.x) + __reduce_or_sync(0xffffffffu, threadIdx.x)": 31,
}


@pytest.mark.parametrize("table", [MATHS, BITS, TYPES], ids=["maths", "bits", "types"])
def test_names_of_cuda(tmp_path, table):
    for text, found, expected in zip(table, values_of(tmp_path, table), table.values(), strict=True):
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-12), text


def test_reductions_of_a_warp(tmp_path):
    assert values_of(tmp_path, WARPS, threads=32).tolist() == list(WARPS.values())


def test_a_file_beside_it(tmp_path):
    (tmp_path / "beside.h").write_text("static __device__ double twice(double x) { return 2 * x; }\n")
    assert values_of(tmp_path, ["twice(x)"], head='#include "beside.h"').tolist() == [0.5]


HEADERS = {
    "math.h": ("sin(x) + isnan(x) + M_PI + (INFINITY > x)", math.sin(0.25) + math.pi + 1),
    "cmath": ("std::sqrt(x) + std::isfinite(x) + M_PI_2", 1.5 + math.pi / 2),
    "stdint.h": ("sizeof(uint64_t) + (int8_t)200 + INT32_MAX", 8 - 56 + 2**31 - 1),
    "cstdint": ("sizeof(std::uint16_t)", 2),
    "limits.h": ("INT_MIN + CHAR_BIT", 8 - 2**31),
    "float.h": ("FLT_MAX + DBL_EPSILON", float(np.finfo(np.float32).max)),
    "stdio.h": ("x", 0.25),
    "stdlib.h": ("abs(-3)", 3),
    "cstring": ("[&] { int a = 3, b; std::memcpy(&b, &a, 4); return b; }()", 3),
    "assert.h": ("[&] { assert(x > 0); return x; }()", 0.25),
    "cuda_runtime.h": ("make_float2(1, 2).y", 2),
    "math_constants.h": ("CUDART_PI + (CUDART_INF_F > 1)", math.pi + 1),
}


@pytest.mark.parametrize("header", HEADERS)
def test_headers_that_nvcc_has(tmp_path, header):
    text, expected = HEADERS[header]
    assert values_of(tmp_path, [text], head=f"#include <{header}>") == pytest.approx([expected])


def test_other_headers_of_the_system(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "why_missing", lambda: "NVRTC has no such headers")
    assert values_of(tmp_path, ["std::max(x, 2.0) + min(3, 4)"], head="#include <algorithm>").tolist() == [5]


def test_headers_of_the_user_come_first(tmp_path):
    (tmp_path / "math_constants.h").write_text("#define CUDART_PI 3\n")
    assert values_of(tmp_path, ["CUDART_PI"], head='#include "math_constants.h"').tolist() == [3]


def test_declarations_of_what_cuda_has(tmp_path):
    head = 'extern "C" __device__ double exp10(double);\nextern "C" __device__ void sincos(double, double*, double*);'
    assert values_of(tmp_path, ["exp10(x + 1.75)"], head=head) == pytest.approx([100])


# ---------------------------------------------------------------- complex numbers


def test_votes_on_complex_numbers():
    @cuda.jit
    def kernel(x, out):
        i = cuda.threadIdx.x
        z = x[i] + 1j
        out[0] = cuda.syncthreads_count(z - 1j)
        out[1] = cuda.syncthreads_or(x[0] * z) + 2 * cuda.syncthreads_and(z)
        out[2] = cuda.ballot_sync(-1, z == 1j)
        out[3] = cuda.all_sync(-1, z != 1j) + 2 * cuda.any_sync(-1, z == 1j)

    out = np.zeros(4, np.int64)
    kernel[1, 32](np.arange(32.0), out)
    assert out.tolist() == [31, 2, 1, 2]


def test_atomics_exchange_complex_numbers():
    @cuda.jit
    def kernel(x):
        x[1] = cuda.atomic.exch(x, 0, 2 + 1j)
        x[2] = cuda.atomic.cas(x, 0, 2 + 1j, 5)
        x[3] = cuda.atomic.cas(x, 0, 7, 9)

    x = np.zeros(5, np.complex64)
    x[0] = 3
    kernel[1, 1](x)
    assert x.tolist() == [5, 3, 2 + 1j, 5, 0]
    kernel[1, 1](x[1:])
    assert x.tolist() == [5, 5, 3, 2 + 1j, 5]
