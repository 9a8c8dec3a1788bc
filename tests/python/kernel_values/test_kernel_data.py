"""Device arrays, records, streams and events of parpy.cuda, on the simulator and, if there is one, on the GPU."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
import weakref

import numpy as np
import pytest

import kernel_places
import parpy
from backends import ON_GPU
from nvrtc import cubin
from parpy import cuda
from parpy.cuda import types

backend = kernel_places.backend
rng = np.random.default_rng(5)


@cuda.jit
def doubled(x):
    i = cuda.grid(1)
    if i < x.shape[0]:
        x[i] *= 2


# ---------------------------------------------------------------- arrays


def test_making_and_copying():
    host = rng.random((3, 4))
    device = cuda.to_device(host)
    assert (device.shape, device.dtype, device.ndim, device.size, device.nbytes) == ((3, 4), host.dtype, 2, 12, 96)
    np.testing.assert_array_equal(device.copy_to_host(), host)
    out = np.empty_like(host)
    assert device.copy_to_host(out) is out
    np.testing.assert_array_equal(out, host)
    other = cuda.device_array_like(device)
    other.copy_to_device(device)
    np.testing.assert_array_equal(other.copy_to_host(), host)
    fortran = cuda.to_device(np.asfortranarray(host))
    assert fortran.is_f_contiguous() and not fortran.is_c_contiguous()
    np.testing.assert_array_equal(fortran.copy_to_host(), host)
    assert cuda.device_array(5).dtype == np.float64 and cuda.device_array((2, 0)).copy_to_host().shape == (2, 0)
    filled = cuda.to_device(np.zeros((3, 4)), to=other)
    assert filled is other and not other.copy_to_host().any()
    assert cuda.is_cuda_array(device) and not cuda.is_cuda_array(host)
    assert cuda.as_cuda_array(device) is device


def test_to_host_fills_the_array_that_to_device_was_given():
    host, stream = np.arange(6.0).reshape(2, 3), cuda.stream()
    device = cuda.to_device(host, stream)
    doubled.forall(6, stream=stream)(device.ravel())
    assert host[1, 2] == 5
    filled = device.to_host(stream)
    stream.synchronize()
    assert filled is host
    np.testing.assert_array_equal(host, 2 * np.arange(6.0).reshape(2, 3))
    part = cuda.to_device(host[:, ::2], copy=False)  # a view without another reference
    gc.collect()
    part.copy_to_device(np.ones((2, 2)))
    part.to_host()
    np.testing.assert_array_equal(host, [[1, 2, 1], [1, 8, 1]])
    assert cuda.to_device(np.arange(3)).to_host().tolist() == [0, 1, 2]  # the source has no other reference
    for made in (cuda.device_array(3), device[0], cuda.to_device([1, 2]), cuda.device_array_like(host)):
        with pytest.raises(ValueError, match=r"not made of a NumPy array by to_device; write a\.copy_to_host\(\)"):
            made.to_host()


def test_host_arrays_do_not_live_as_long_as_their_copies():
    host = np.zeros(10)
    gone = weakref.ref(host)
    device = cuda.to_device(host)
    del host
    gc.collect()
    assert gone() is None and device.to_host().tolist() == [0] * 10


def test_products_of_narrow_integers_wrap_as_documented():
    @cuda.jit("void(int32, int64[:])")
    def squares(n, out):
        out[0] = n * n
        out[1] = cuda.types.int64(n) * n

    out = np.zeros(2, np.int64)
    squares[1, 1](65537, out)
    assert out.tolist() == [np.int64(65537**2).astype(np.int32), 65537**2]


def test_views():
    host = np.arange(24.0).reshape(4, 6)
    device = cuda.to_device(host)
    for index in (1, slice(1, 3), (slice(None), 2), (slice(None, None, 2), slice(4, None, -1)), (..., 0), (None, 1)):
        np.testing.assert_array_equal(device[index].copy_to_host(), host[index])
    assert device[2, 3] == host[2, 3] and device[-1, -1] == host[-1, -1]
    np.testing.assert_array_equal(device.T.copy_to_host(), host.T)
    np.testing.assert_array_equal(device.reshape(2, -1).copy_to_host(), host.reshape(2, -1))
    np.testing.assert_array_equal(device.ravel().copy_to_host(), host.ravel())
    np.testing.assert_array_equal(device.view(np.int64).copy_to_host(), host.view(np.int64))
    assert [part.copy_to_host().tolist() for part in device.ravel().split(10)] == [
        part.tolist() for part in np.split(host.ravel(), [10, 20])
    ]
    device[1] = 7
    device[:, 2] = np.arange(4)
    device[3, 3] = -1
    host[1], host[:, 2], host[3, 3] = 7, np.arange(4), -1
    np.testing.assert_array_equal(device.copy_to_host(), host)
    doubled.forall(4)(device[:, 1])
    host[:, 1] *= 2
    np.testing.assert_array_equal(device.copy_to_host(), host)


def test_views_outlive_their_array():
    view = cuda.to_device(np.arange(1000.0))[500:]
    gc.collect()
    doubled.forall(500)(view)
    np.testing.assert_array_equal(view.copy_to_host(), 2 * np.arange(500.0, 1000.0))


def test_mistakes_with_arrays():
    device = cuda.to_device(np.zeros((2, 3)))
    with pytest.raises(
        ValueError, match=r"shape \(2, 3\) and type float64 cannot be copied into one of shape \(3, 2\)"
    ):
        device.copy_to_host(np.zeros((3, 2)))
    for wrong in (np.zeros((2, 3), np.float32), np.zeros((2, 3), np.complex128), np.zeros((2, 3), "M8[s]")):
        with pytest.raises(ValueError, match="and type"):
            device.copy_to_host(wrong)
    with pytest.raises(TypeError, match="fills a NumPy array, not list"):
        device.copy_to_host([])
    with pytest.raises(ValueError, match="no view of shape"):
        device.T.reshape(6)
    with pytest.raises(ValueError, match="cannot be copied into one of shape"):
        device.copy_to_device(np.zeros(7))
    with pytest.raises(ValueError, match="becomes a NumPy array only by a copy"):
        np.array(device, copy=False)
    with pytest.raises(TypeError, match="indexed by integers and slices"):
        device[[0, 1]]
    for wrong in (5, (1, 3), (-3, 0)):
        with pytest.raises(IndexError, match="is out of bounds for axis"):
            device[wrong]
    with pytest.raises(IndexError, match="index 7 is out of bounds for axis 1 with size 3"):
        device[0, 7] = 1
    with pytest.raises(TypeError, match=r"argument 'n' must fit an int64, 1\d* does not"):
        shifted_by[1, 1](cuda.to_device(np.zeros(1, np.float32)), 2**70)
    with pytest.raises(TypeError, match="elements of type object"):
        cuda.to_device(np.array([None]))
    with pytest.raises(ValueError, match="'C' or 'F'"):
        cuda.device_array(3, order="X")
    for wrong in ([1, 2], "text", None):
        with pytest.raises(parpy.CompileError, match=r"argument 'x'|'x' is (None|the string|a tuple)"):
            doubled[1, 2](wrong)


def test_arrays_of_the_other_place(backend):
    if not ON_GPU:
        pytest.skip("needs a GPU")
    device = cuda.to_device(np.ones(4))
    cuda.sim.enabled = backend == "cuda"
    if backend == "cuda":
        with pytest.raises(ValueError, match="lies on a CUDA device"):
            doubled[1, 4](device)
    else:
        doubled[1, 4](device)  # the simulator's arrays are host arrays
        np.testing.assert_array_equal(device.copy_to_host(), [2] * 4)


def test_pinned_and_mapped():
    pinned = cuda.pinned_array(100)
    pinned[:] = 3
    device = cuda.to_device(pinned)
    mapped = cuda.mapped_array((10,), np.int32)
    mapped.copy_to_device(np.arange(10, dtype=np.int32))
    doubled.forall(10)(mapped)
    doubled.forall(100)(device)
    cuda.synchronize()
    assert (device.copy_to_host() == 6).all()
    assert mapped.copy_to_host().tolist() == list(range(0, 20, 2))
    assert cuda.pinned_array_like(pinned).shape == (100,) and cuda.mapped_array_like(pinned).shape == (100,)
    with cuda.pinned(pinned):
        pass


# ---------------------------------------------------------------- streams, events, devices


def test_streams_and_events():
    stream, begin, end = cuda.stream(), cuda.event(), cuda.event()
    host, out = np.arange(1000.0), np.zeros(1000)
    device = cuda.to_device(host, stream)
    begin.record(stream)
    with stream.auto_synchronize():
        for _ in range(3):
            doubled[8, 128, stream](device)
        end.record(stream)
        device.copy_to_host(out, stream)
    np.testing.assert_array_equal(out, 8 * host)
    assert end.query()
    assert cuda.event_elapsed_time(begin, end) == begin.elapsed_time(end) >= 0
    end.wait(cuda.default_stream())
    end.synchronize()
    with pytest.raises(ValueError, match="not recorded"):
        cuda.event().elapsed_time(end)
    with pytest.raises(TypeError, match="is not a stream"):
        doubled[1, 1, "s"](device)


def test_devices(backend):
    assert len(cuda.gpus) == len(cuda.list_devices()) >= 1
    device = cuda.get_current_device()
    assert device == cuda.gpus[0] == cuda.gpus.current and device.id == 0
    assert device.WARP_SIZE == 32 and device.MAX_THREADS_PER_BLOCK == 1024 and device.compute_capability >= (7, 0)
    assert cuda.select_device(0) == device
    with device:
        assert cuda.current_context().device == device
    free, total = cuda.current_context().get_memory_info()
    assert 0 < free <= total
    with pytest.raises(IndexError, match="there is no device 99"):
        cuda.select_device(99)
    with pytest.raises(AttributeError, match="no attribute 'WARPS'"):
        _ = device.WARPS
    assert (device.name == b"simulator") == (backend == "sim")


def test_needs_of_a_kernel(backend):
    x = cuda.to_device(np.ones(64))
    facts = doubled.facts((x,))
    assert facts["most_threads"] <= 1024 and facts["best_block"] % 32 == 0
    assert (doubled.get_regs_per_thread(x) > 0) == (backend == "cuda")
    assert doubled.max_cooperative_grid_blocks(64, x) > 0
    assert doubled.get_shared_mem_per_block(x) == 0 and doubled.get_max_threads_per_block(x) <= 1024
    assert doubled.suggest_block(x) == facts["best_block"]


def test_no_leak():
    """Memory of the process, and on a GPU of the device, does not grow between few and many rounds."""
    import resource

    def rounds(count):
        for _ in range(count):
            array = cuda.device_array(1 << 18)
            doubled[1, 32](array)
            del array
        cuda.synchronize()

    rounds(300)
    free = cuda.current_context().get_memory_info().free
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rounds(3000)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - most < 32 << 10
    if cuda.get_current_device().name != b"simulator":
        for _ in range(20):  # other processes use the device too; lost arrays would be 6 GiB
            if free - cuda.current_context().get_memory_info().free < 4 << 30:
                return
            time.sleep(1)
        pytest.fail("memory of the device was lost")


# ---------------------------------------------------------------- types, records, complex, halves


@cuda.jit(types.void(types.float32[:], types.int64))
def shifted_by(x, n):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += n


def test_types_as_objects():
    x = np.zeros(4, np.float32)
    shifted_by[1, 32](x, 3)
    assert (x == 3).all()
    assert "float*" in shifted_by.inspect_source()
    assert str(types.float32[:, ::1]) == "float32[:, ::1]" and str(types.CPointer(types.int8)) == "CPointer(int8)"


def test_names_of_types():
    for name, want in [
        ("bool_", "boolean"), ("b1", "boolean"), ("intp", "int64"), ("longlong", "int64"), ("uintp", "uint64"),
        ("float_", "float32"), ("double", "float64"), ("f4", "float32"), ("byte", "uint8"), ("size_t", "uint64"),
    ]:  # fmt: skip
        assert getattr(types, name) is getattr(types, want)
    text = "none(bool_[:], longlong, bfloat16[:, ::1], uintp, bool, int, float, complex)"
    want = "void(boolean[:], int64, bfloat16[:, ::1], uint64, boolean, int64, float64, complex128)"
    (made,) = cuda.jit(text)(lambda_of_eight).signatures
    assert str(types.void(*made)) == want
    assert types.Array(types.float32, 2, "C") == types.float32[:, ::1]
    for wrong in ((int, 1), (types.float32, 0), (types.float32, 1, "Q")):
        with pytest.raises(TypeError):
            types.Array(*wrong)


def lambda_of_eight(a, b, c, d, e, f, g, h):
    a[0] = b > 0


COEFFICIENTS = np.arange(4, dtype=np.float32)
TEXT = "i2"


@cuda.jit
def element_types(out):
    a = cuda.shared.array(1, "f4")
    b = cuda.local.array(1, np.dtype("uint8"))
    c = cuda.local.array(1, dtype=int)
    d = cuda.local.array(1, dtype=float)
    e = cuda.local.array(1, COEFFICIENTS.dtype)
    f = cuda.local.array(1, b.dtype)
    g = cuda.local.array(1, TEXT)
    h = cuda.local.array(1, types.intp)
    i = cuda.local.array(1, bool)
    j = cuda.local.array(1, complex)
    k = cuda.local.array(1, types.bfloat16)
    tenth = 0.1
    a[0] = d[0] = e[0] = k[0] = tenth
    b[0] = f[0] = 255
    c[0] = h[0] = 2**40
    g[0] = i[0] = 1
    j[0] = 1
    out[0], out[1], out[2], out[3], out[4] = a[0], b[0] + np.uint8(1), c[0], d[0], e[0]
    out[5], out[6], out[7], out[8], out[9] = f[0] + np.uint8(1), g[0] << 15, h[0], i[0], k[0]
    out[10] = j[0].real


def test_element_types_of_arrays_of_a_kernel():
    out = np.zeros(11)
    element_types[1, 1](out)
    single = float(np.float32(0.1))
    np.testing.assert_array_equal(out, [single, 0, 2**40, 0.1, single, 0, -(2**15), 2**40, 1, 0.10009765625, 1])
    for wrong in ("nope", 3, types.float32[:]):
        with pytest.raises(parpy.CompileError, match="element type must be known here"):
            of_elements(wrong)[1, 1](out)


@cuda.jit
def of_parameters(x, y):
    s = cuda.shared.array(32, x.dtype)
    t = cuda.local.array(2, dtype=y.dtype)
    i = cuda.threadIdx.x
    s[i] = x[i]
    t[0] = 2.75
    cuda.syncthreads()
    y[i] = s[31 - i] + t[0]


def test_element_types_of_parameters():
    for of_x in (np.float32, np.int8, np.complex64):
        for of_y in (np.float64, np.int32, np.complex128):
            x, y = np.arange(32).astype(of_x), np.zeros(32, of_y)
            if of_x is np.complex64 and of_y is not np.complex128:
                continue
            for given in (x, cuda.to_device(x)):
                y[:] = 0
                of_parameters[1, 32](given, y)
                np.testing.assert_array_equal(y, x[::-1] + of_y(2.75))
    x, y = np.zeros(32, np.float32), np.zeros(32)
    assert "__shared__ float s[32]" in of_parameters.inspect_source(x, y)
    assert of_parameters.get_shared_mem_per_block(x, y) == 128
    of_parameters.forall(32, tpb=32)(x.astype(np.uint8), y)
    assert (y == 2.75).all()
    cubin(of_parameters.inspect_source(x, y))
    with pytest.raises(TypeError, match="argument 'x' must be an array: the kernel uses the type of its elements"):
        of_parameters[1, 32](3, y)
    with pytest.raises(TypeError, match="positional argument"):
        of_parameters[1, 32](x)


def of_elements(kind):
    @cuda.jit
    def kernel(x):
        s = cuda.shared.array(4, kind)
        x[0] = s[0]

    return kernel


@cuda.jit
def rotated(z, angle):
    i = cuda.grid(1)
    z[i] = z[i] * complex(angle[i].real, -angle[i].imag) + z[i].real


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex(dtype):
    z, angle = (rng.random(32) + 1j * rng.random(32)).astype(dtype), rng.random(32).astype(dtype)
    want = z * angle.conj() + z.real
    rotated[1, 32](z, angle)
    np.testing.assert_allclose(z, want, rtol=1e-5)


@cuda.jit
def halves(x, out):
    s = cuda.shared.array(64, np.float16)
    i = cuda.threadIdx.x
    s[i] = x[i] * x[i] + np.float16(0.5)
    cuda.syncthreads()
    out[i] = s[63 - i]


def test_halves():
    x = rng.random(64).astype(np.float16)
    out = np.zeros(64, np.float16)
    halves[1, 64](x, out)
    np.testing.assert_array_equal(out, (x * x + np.float16(0.5))[::-1])


def test_bfloat16():
    torch = pytest.importorskip("ml_dtypes")
    x = np.arange(8).astype(torch.bfloat16)
    doubled[1, 8](x)
    assert x.astype(float).tolist() == list(range(0, 16, 2))


# ---------------------------------------------------------------- checks


@cuda.jit(debug=True)
def careless(x, k):
    i = cuda.grid(1)
    assert k[0] == 0, "k begins with 0"
    x[k[i]] = i


def test_checked_kernels_everywhere():
    x = np.zeros(8)
    careless[1, 8](x, np.arange(8))
    np.testing.assert_array_equal(x, np.arange(8))
    with pytest.raises(IndexError, match="subscript 9 is out of bounds for axis 0 of 'x', whose size is 8"):
        careless[1, 8](x, np.array([0, 1, 2, 3, 4, 5, 6, 9]))
    with pytest.raises(AssertionError, match="k begins with 0"):
        careless[1, 8](x, np.arange(8)[::-1].copy())
    careless[1, 8](x, np.arange(8))
    cubin(careless.inspect_source(x, np.arange(8)))


@cuda.jit
def too_much_shared(x):
    s = cuda.shared.array(0, np.float64)
    s[cuda.threadIdx.x] = 1
    x[0] = s[0]


@cuda.jit
def incremented(x):
    x[cuda.grid(1)] += 1


def test_no_leak_in_many_rounds():
    """Allocates, launches and frees 1e5 times 64 KiB. test_gpu_kernels.py has the test for the GPU."""
    import resource

    def rounds(count):
        for _ in range(count):
            incremented[1, 8](cuda.device_array(1 << 13))

    rounds(1000)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rounds(100_000 if cuda.sim.enabled else 1000)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - most < 16 << 10


def test_device_arrays_through_dlpack(backend):
    if backend == "cuda":
        pytest.skip("test_gpu_kernels.py has it")
    device = cuda.to_device(np.arange(12.0).reshape(3, 4))
    assert device.__dlpack_device__() == (1, 0)  # the simulator's memory is the host's
    shared = np.from_dlpack(device[1:, ::2])
    np.testing.assert_array_equal(shared, [[4, 6], [8, 10]])
    device[1, 0] = -1
    assert shared[0, 0] == -1
    view = device[0]
    del device
    gc.collect()
    assert np.from_dlpack(view)[3] == 3
    with pytest.raises(BufferError, match="copy_to_host"):
        view.__dlpack__(copy=True)
    with pytest.raises(BufferError):
        view.__dlpack__(dl_device=(2, 0))


def test_launches_that_do_not_fit():
    x = np.zeros(4)
    with pytest.raises(parpy.BackendError, match="shared memory"):
        too_much_shared[1, 32, 0, 1 << 20](x)
    too_much_shared[1, 32, 0, 32 * 8](x)
    assert x[0] == 1


def test_a_second_process_compiles_nothing(tmp_path):
    script = tmp_path / "twice.py"
    script.write_text("""
import numpy as np
from parpy import cuda
import parpy.cudapy as cp

@cuda.jit
def kernel(x):
    x[cuda.grid(1)] += 1

# doubled : void (int* X)
def doubled(X):
    X[idx] = 2 * X[idx]

x, X = np.zeros(4), cp.CudaArray([1, 2])
kernel[1, 4](x)
cp.compile(doubled)(2)(X)
assert (x == 1).all() and X.toList() == [2, 4]
""")
    environment = {**os.environ, "PARPY_CACHE_DIR": str(tmp_path / "cache"), "PARPY_CACHE": "1"}
    if cuda.sim.enabled:
        environment["PARPY_CUDA_SIM"] = "1"

    def entries():
        subprocess.run([sys.executable, str(script)], check=True, env=environment)
        return {path: path.read_bytes() for path in (tmp_path / "cache").rglob("*") if path.is_file()}

    first = entries()
    assert len(first) >= 4  # two kernels and their host parts
    assert entries() == first


# ---------------------------------------------------------------- dates


@cuda.jit
def later(dates, others, durations, step, out):
    i = cuda.grid(1)
    if i < dates.shape[0]:
        durations[i] = others[i] - dates[i]
        out[i] = max(dates[i], others[i]) + step


def test_dates_and_durations():
    dates = np.arange("2005-02", "2005-04", dtype="datetime64[D]")
    others = dates + np.arange(dates.size) % 7 - 3
    durations, out = np.zeros(dates.size, "timedelta64[D]"), np.zeros_like(dates)
    later[2, 32](dates, others, durations, np.timedelta64(2, "D"), out)
    np.testing.assert_array_equal(durations, others - dates)
    np.testing.assert_array_equal(out, np.maximum(dates, others) + np.timedelta64(2, "D"))
    others[3] = "NaT"
    later[2, 32](dates, others, durations, np.timedelta64(90000, "s"), out)
    np.testing.assert_array_equal(durations, others - dates)
    wanted = [max(a, b) + np.timedelta64(90000, "s") for a, b in zip(dates, others, strict=True)]
    np.testing.assert_array_equal(out, np.array(wanted).astype("M8[D]"))
