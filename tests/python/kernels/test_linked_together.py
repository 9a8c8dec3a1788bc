"""Foreign device code in memory, files that call each other, the conventions for results, pointers of cffi."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

import parpy
from nvrtc import cubin
from parpy import cuda

pytestmark = pytest.mark.usefixtures("simulator")


def ran(kernel, *arguments):
    """Runs the kernel, and compiles it with NVRTC."""
    kernel[1, 1](*arguments)
    cubin(kernel.inspect_source(*arguments))


RESULTS = cuda.CUSource(
    """
    extern "C" __device__ int status_first(int* result, int a) { *result = a + 1; return 0; }
    extern "C" __device__ void behind(int a, int* result) { *result = a + 2; }
    extern "C" __device__ int plain(int a) { return a + 3; }
    extern "C" __device__ int of_pointer(int* p) { return *p; }
    extern "C" __device__ int no_parameters(float* result) { *result = 5; return 0; }
    """,
    name="results.cu",
)


def test_the_text_says_how_results_are_given():
    first = cuda.declare_device("status_first", "int32(int32)", link=RESULTS)
    behind = cuda.declare_device("behind", "int32(int32)", link=RESULTS)
    plain = cuda.declare_device("plain", "int32(int32)", link=RESULTS)
    of_pointer = cuda.declare_device("of_pointer", "int32(CPointer(int32))", link=RESULTS)
    none = cuda.declare_device("no_parameters", "float32()", link=RESULTS)

    @cuda.jit
    def kernel(out):
        out[0], out[1], out[2] = first(1), behind(1), plain(1)
        out[3], out[4] = of_pointer(out[2:]), none()

    out = np.zeros(5, np.int32)
    ran(kernel, out)
    assert out.tolist() == [2, 3, 4, 4, 5]


def test_what_is_said_counts():
    wrong = cuda.declare_device("status_first", "int32(int32)", link=RESULTS, abi="c")

    @cuda.jit
    def kernel(out):
        out[0] = wrong(1)

    with pytest.raises(parpy.BackendError):
        kernel[1, 1](np.zeros(1, np.int32))
    with pytest.raises(ValueError, match="the abi of a function is 'c', 'numba' or 'out', not 'd'"):
        cuda.declare_device("f", "int32()", abi="d")


INNER = 'extern "C" __device__ int inner(int x) { return 2 * x; }'
OUTER = 'extern "C" __device__ int inner(int);\nextern "C" __device__ int outer(int x) { return inner(x) + 1; }'


@pytest.mark.parametrize("order", [1, -1])
def test_files_call_each_other(tmp_path, order):
    for name, text in (("inner.cu", INNER), ("outer.cu", OUTER)):
        (tmp_path / name).write_text(text)
    files = [tmp_path / "inner.cu", tmp_path / "outer.cu"][::order]
    outer = cuda.declare_device("outer", "int32(int32)")

    @cuda.jit(link=files)
    def kernel(x):
        x[0] = outer(x[0])

    x = np.full(1, 4, np.int32)
    ran(kernel, x)
    assert x[0] == 9
    of_itself = cuda.declare_device("outer", "int32(int32)", link=[cuda.CUSource(OUTER), cuda.CUSource(INNER)])

    @cuda.jit
    def other(x):
        x[0] = of_itself(4)

    ran(other, x)
    assert x[0] == 9


def test_code_in_memory():
    source = cuda.CUSource(io.StringIO(INNER), name="mine.cu")
    assert repr(source) == f"<parpy.cuda.CUSource 'mine.cu', {len(INNER)} bytes>"
    assert Path(source.path).read_text() == INNER and source.path == cuda.CUSource(INNER.encode(), "mine.cu").path
    kinds = {
        cuda.PTXSource: ".ptx", cuda.Cubin: ".cubin", cuda.Fatbin: ".fatbin", cuda.Object: ".o", cuda.Archive: ".a",
        cuda.LTOIR: ".ltoir",
    }  # fmt: skip
    for kind, ending in kinds.items():
        path = kind(b"\x7fELF").path
        assert path.endswith(ending) and Path(path).read_bytes() == b"\x7fELF"
        assert cuda.declare_device("f", "int32()", link=kind(b"\x7fELF")).link == (path,)
    with pytest.raises(TypeError, match="linked code is bytes or a text, not int"):
        cuda.CUSource(3)
    with pytest.raises(TypeError, match="linked code is a CUSource, PTXSource"):
        cuda.LinkableCode("")
    with pytest.raises(NotImplementedError, match="gets no callbacks"):
        cuda.CUSource("", setup_callback=print)


class FFI:
    """Replaces cffi's class."""

    def from_buffer(self, array):
        return array


FFI.__module__ = "cffi.api"
ffi = FFI()


def test_pointers_of_cffi():
    total = cuda.declare_device(
        "total",
        "float32(CPointer(float32), int32)",
        link=cuda.CUSource(
            'extern "C" __device__ int total(float* result, float* p, int n)\n'
            "{ float sum = 0; for (int i = 0; i < n; ++i) sum += p[i]; *result = sum; return 0; }"
        ),
    )

    @cuda.jit
    def kernel(out, x):
        pointer = ffi.from_buffer(x)
        out[0], out[1] = total(pointer, len(x)), total(ffi.from_buffer(x[1:]), 2)

    out = np.zeros(2, np.float32)
    ran(kernel, out, np.arange(1, 5, dtype=np.float32))
    assert out.tolist() == [10, 5]
