"""Foreign device code: the kinds that are linked, and the errors for those that cannot be."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest

import parpy
from nvrtc import cubin, device_part, why_missing, why_not_linked
from parpy import _native, cuda

pytestmark = pytest.mark.usefixtures("simulator")

SOURCE = 'extern "C" __device__ int bar(int a) { return 2 * a + 1; }\n'
RELOCATABLE = ["--relocatable-device-code=true"]
NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
ON_GPU = cuda.is_available()


def machine_code(folder, ending):
    """`bar` in a file of this kind."""
    if why_not_linked():
        pytest.skip(why_not_linked())
    major, minor = 9, 0
    if ON_GPU:
        cuda.sim.enabled = False
        major, minor = cuda.get_current_device().compute_capability
    place = folder / f"bar{ending}"
    if ending in (".cubin", ".ptx", ".ltoir"):
        image = _native.compile_cuda(
            SOURCE, "bar.cu", f"sm_{major}{minor}", False, RELOCATABLE, ending == ".ptx", ending == ".ltoir"
        )
        place.write_bytes(image.rstrip(b"\0") if ending == ".ptx" else image)
        return place
    if NVCC is None:
        pytest.skip("no nvcc to make the file with")
    source = folder / "bar.cu"
    source.write_text(SOURCE)
    target = f"arch=compute_{major}{minor},code=sm_{major}{minor}"
    wanted = ["-fatbin"] if ending == ".fatbin" else []
    made = folder / "bar.o" if ending == ".a" else place
    subprocess.run([NVCC, "-gencode", target, *wanted, "-dc", str(source), "-o", str(made)], check=True)
    if ending == ".a":
        subprocess.run([NVCC, "-lib", str(made), "-o", str(place)], check=True)
    return place


@pytest.mark.gpu
@pytest.mark.parametrize("ending", [".cubin", ".ptx", ".fatbin", ".o", ".a", ".ltoir"])
def test_machine_code(tmp_path, ending):
    path = machine_code(tmp_path, ending)
    bar = cuda.declare_device("bar", "int32(int32)", link=path)

    @cuda.jit
    def apply(x):
        i = cuda.grid(1)
        x[i] = bar(x[i])

    x = np.arange(4, dtype=np.int32)
    if ON_GPU:
        apply[1, 4](x)
        assert x.tolist() == [1, 3, 5, 7]
        return
    text = device_part(apply.inspect_source(x))
    image = _native.compile_cuda(text, "apply.cu", extra_flags=RELOCATABLE)
    assert _native.link_device_code(image, [str(path)]).startswith(b"\x7fELF")
    with pytest.raises(parpy.BackendError, match="the simulator cannot run") as caught:
        apply[1, 4](x)
    assert "link its CUDA C++ source" in str(caught.value)


def test_missing_symbols(tmp_path):
    path = machine_code(tmp_path, ".cubin")
    image = _native.compile_cuda(
        'extern "C" __device__ int foo(int); __global__ void k(int* x) { *x = foo(*x); }', extra_flags=RELOCATABLE
    )
    cuda.sim.enabled = True
    with pytest.raises(parpy.BackendError, match="Undefined reference to 'foo'"):
        _native.link_device_code(image, [str(path)])
    broken = tmp_path / "broken.o"
    broken.write_text("no object")
    with pytest.raises(parpy.BackendError, match=r"does not link '.*broken\.o'"):
        _native.link_device_code(image, [str(broken)])


def test_missing_files_and_functions(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no file 'nowhere\.cu' to link"):
        cuda.declare_device("f", "int32()", link="nowhere.cu")
    with pytest.raises(ValueError, match=r"files end in \.cu, \.ptx"):
        cuda.jit(link=["code.c"])
    nowhere = cuda.declare_device("nowhere", "int32(int32)")
    source = tmp_path / "bar.cu"
    source.write_text(SOURCE)
    elsewhere = cuda.declare_device("elsewhere", "int32(int32)", link=source)

    @cuda.jit
    def calls_nowhere(x):
        x[0] = nowhere(x[0])

    @cuda.jit
    def calls_elsewhere(x):
        x[0] = elsewhere(x[0])

    with pytest.raises(parpy.CompileError, match="'nowhere' is declared, but no file is linked that defines it"):
        calls_nowhere[1, 1](np.zeros(1, np.int32))
    with pytest.raises(parpy.CompileError, match=r"no function 'elsewhere' is defined in 'bar\.cu'"):
        calls_elsewhere[1, 1](np.zeros(1, np.int32))


def test_lines_behind_a_foreign_source(tmp_path):
    """The simulator's messages name lines of the kernel, not of the file that is linked before it."""
    source = tmp_path / "bar.cu"
    source.write_text("\n\n" + SOURCE + "\n" * 5)
    bar = cuda.declare_device("bar", "int32(int32)", link=source)

    @cuda.jit(debug=True)
    def races(x):
        s = cuda.shared.array(32, np.int32)
        t = cuda.threadIdx.x
        s[t] = bar(t)
        x[t] = s[31 - t]

    with pytest.raises(parpy.ParallelError, match=r"\(s\[t\] = bar\(t\)\).*\(x\[t\] = s\[31 - t\]\)"):
        races[1, 32](np.zeros(32, np.int32))
    cubin(races.inspect_source(np.zeros(32, np.int32)))


@pytest.fixture
def first_three(tmp_path):
    source = tmp_path / "sum.cu"
    source.write_text('extern "C" __device__ float sum(const float* x) { return x[0] + x[1] + x[2]; }\n')
    return cuda.declare_device("sum", "float32(CPointer(float32))", link=source)


def test_pointers_to_elements_side_by_side(first_three):
    @cuda.jit(device=True)
    def inner(x):
        return first_three(x)

    @cuda.jit
    def direct(x, out):
        out[0] = first_three(x)

    @cuda.jit
    def through_a_function(x, out):
        out[0] = inner(x)

    @cuda.jit
    def own_arrays(x, out):
        shared = cuda.shared.array(4, np.float32)
        own = cuda.local.array((2, 2), np.float32)
        dynamic = cuda.shared.array(0, np.float32)
        for i in range(3):
            shared[i], own[i // 2, i % 2] = i, 10 * i
        out[0] = first_three(shared) + inner(own)
        cuda.syncthreads()
        for i in range(3):
            dynamic[i] = 100 * i
        out[0] += first_three(dynamic) + inner(dynamic)

    @cuda.jit
    def rows(x, out):
        row = x[1]
        out[0] = first_three(x[0]) + first_three(row)

    x, out = np.arange(24, dtype=np.float32), np.zeros(1)
    rows[1, 1](x.reshape(4, 6), out)
    assert out[0] == 3 + 21
    with pytest.raises(TypeError, match=r"the elements of this row of 'x' do not lie side by side"):
        rows[1, 1](x.reshape(6, 4).T, out)
    for kernel in (direct, through_a_function):
        for good in (x, x.reshape(2, 3, 4), x.reshape(1, 24)[:, :5], x.reshape(24, 1)):
            kernel[1, 1](good, out)
            assert out[0] == 3
        for bad in (x[::2], x[::-1], x.reshape(6, 4).T, x.reshape(6, 4)[:, :3], x.reshape(24, 1)[::2]):
            with pytest.raises(TypeError, match=r"gets a pointer.*do not lie side by side[^$]*np.ascontiguousarray"):
                kernel[1, 1](bad, out)
    own_arrays[1, 1, 0, 64](x, out)
    assert out[0] == 3 + 30 + 600


FLAT = np.arange(24, dtype=np.float32)


@pytest.mark.parametrize(
    ("array", "fits"),
    [
        (FLAT, True),
        (FLAT[3:9], True),
        (FLAT.reshape(4, 6), True),
        (FLAT.reshape(1, 24)[:, :5], True),
        (FLAT.reshape(24, 1), True),
        (FLAT[::2], False),
        (FLAT[::-1], False),
        (np.asfortranarray(FLAT.reshape(4, 6)), False),
        (FLAT.reshape(4, 6)[:, :3], False),
    ],
)
def test_pointers_to_captured_arrays(first_three, array, fits):
    class Settings:
        weights = array

    @cuda.jit(device=True)
    def inner(x):
        return first_three(x)

    @cuda.jit
    def by_name(out):
        out[0] = first_three(array)

    @cuda.jit
    def by_attribute(out):
        out[0] = first_three(Settings.weights)

    @cuda.jit
    def through_a_function(out):
        out[0] = inner(array)

    out = np.zeros(1)
    for kernel in (by_name, by_attribute, through_a_function):
        if fits:
            kernel[1, 1](out)
            assert out[0] == array.ravel()[:3].sum()
        else:
            with pytest.raises(TypeError, match=r"gets a pointer.*do not lie side by side"):
                kernel[1, 1](out)


@pytest.mark.parametrize("begin", [-20, -3, 0, 1, 3])
@pytest.mark.parametrize("debug", [False, True])
def test_pointers_to_parts(first_three, begin, debug):
    @cuda.jit(debug=debug)
    def parts(x, begin, out):
        part = x[1, begin:]
        out[0] = first_three(x[0, begin:])
        out[1] = first_three(part)
        out[2] = first_three(x[1:][0])
        out[3] = first_three(x[begin : x.shape[0]])
        out[4] = first_three(part[1:])

    x, out = np.arange(24, dtype=np.float32).reshape(4, 6), np.zeros(5)
    parts[1, 1](x, begin, out)
    flat = x.ravel()
    first = [x[0, begin:][0], x[1, begin:][0], 6, x[begin:][0, 0], x[1, begin:][1]]
    assert out.tolist() == [flat[int(at) : int(at) + 3].sum() for at in first]


def test_a_pointer_to_nothing(tmp_path):
    source = tmp_path / "count.cu"
    source.write_text('extern "C" __device__ int count(const float* x, int n) { return x == nullptr ? -1 : n; }\n')
    count = cuda.declare_device("count", "int32(CPointer(float32), int32)", link=source)

    @cuda.jit
    def empty(x, out):
        out[0] = count(x[4:], len(x[4:]))

    out = np.ones(1)
    empty[1, 1](np.zeros(4, np.float32), out)
    assert out[0] == 0


def test_parts_that_are_no_pointers(first_three):
    @cuda.jit
    def column(x, out):
        out[0] = first_three(x[:, 1])

    @cuda.jit
    def stepped(x, out):
        out[0] = first_three(x[0, ::2])

    for kernel in (column, stepped):
        with pytest.raises(TypeError, match=r"do not lie side by side in memory(.|\n)*help: pass a row, x\[i\]"):
            kernel[1, 1](np.zeros((4, 6), np.float32), np.zeros(1))


def test_functions_that_a_linked_file_calls_are_named(tmp_path):
    (tmp_path / "calls.cu").write_text(
        "__device__ int helper(int);\n"
        'extern "C" __device__ int other(int);\n'
        'extern "C" __device__ int gone(int a) { return helper(a) + other(a); }\n'
    )
    gone = cuda.declare_device("gone", "int32(int32)", link=tmp_path / "calls.cu")

    @cuda.jit
    def calls(x):
        x[0] = gone(1)

    with pytest.raises(parpy.BackendError, match=r"P512.*not defined in 'calls\.cu'") as caught:
        calls[1, 1](np.zeros(1, np.int32))
    text = str(caught.value)
    assert "'helper(int)'" in text and "'other'" in text and "cuda.jit(link=[…])" in text and "opts.libs" not in text


def test_kernels_are_no_device_functions(tmp_path):
    (tmp_path / "kernel.cu").write_text('extern "C" __global__ void\nlaunched (int* x) { *x = 1; }\n')
    launched = cuda.declare_device("launched", "void(CPointer(int32))", link=tmp_path / "kernel.cu")

    @cuda.jit
    def calls(x):
        launched(x)

    with pytest.raises(
        TypeError, match=r"test_kernel_link\.py:\d+:9: .*'launched' is a kernel, __global__, in 'kernel\.cu'"
    ):
        calls[1, 1](np.zeros(1, np.int32))


def test_wild_accesses_of_a_foreign_source(tmp_path):
    source = tmp_path / "wild.cu"
    source.write_text('extern "C" __device__ int wild(int a) { return *(int*)((long long)a << 40); }\n')
    wild = cuda.declare_device("wild", "int32(int32)", link=source)

    def apply(x):
        t = cuda.threadIdx.x
        x[t] += 1
        x[t] = wild(x[t])

    x = np.full(8, 5, np.int32)
    with pytest.raises(parpy.BackendError, match=r"thread \(0, 0, 0\) of block .*x\[t\] = wild\(x\[t\]\)"):
        cuda.jit(debug=True)(apply)[1, 8](x)
    with pytest.raises(parpy.BackendError, match=r"which belongs to no array\n.*cuda.jit\(debug=True\) names the line"):
        cuda.jit(apply)[1, 8](x)


def test_a_faulty_source(tmp_path):
    source = tmp_path / "bar.cu"
    source.write_text('extern "C" __device__ int bar(int a) { return b; }\n')
    bar = cuda.declare_device("bar", "int32(int32)", link=source)

    @cuda.jit
    def apply(x):
        x[0] = bar(x[0])

    with pytest.raises(parpy.BackendError, match=r"bar\.cu:1.*undeclared identifier 'b'"):
        apply[1, 1](np.zeros(1, np.int32))


@pytest.mark.parametrize(
    "text",
    [
        "struct S { int a; }\n" + SOURCE,
        SOURCE + 'extern "C" __device__ int more(int a) {\n    if (a) {\n        return 1;\n}\n',
        SOURCE.replace(";", " "),
        '#include "nowhere.h"\n' + SOURCE,
    ],
)
def test_a_faulty_source_has_the_messages_to_itself(tmp_path, text):
    source = tmp_path / "bar.cu"
    source.write_text(text)
    bar = cuda.declare_device("bar", "int32(int32)", link=source)

    @cuda.jit
    def apply(x):
        x[0] = bar(x[0])

    x = np.zeros(1, np.int32)
    with pytest.raises(parpy.BackendError) as simulated:
        apply[1, 1](x)
    messages = [str(simulated.value)]
    if not why_missing():
        with pytest.raises(parpy.BackendError) as compiled:
            _native.compile_cuda(device_part(apply.inspect_source(x)), "apply.cu", "sm_90", False, [], True)
        messages.append(str(compiled.value))
    for message in messages:
        assert "bar.cu" in message and "this is in 'bar.cu', which the kernel links" in message
        assert "prelude" not in message and "apply.cu" not in message and "report it" not in message


FAULTY = 'extern "C" __device__ int {}(int a) {{ return {} * a; }}\n'


@pytest.mark.parametrize(
    ("first", "second", "blamed"),
    [
        ("first.cu", "second.cu", "second.cu"),
        ('fi"rst.cu', 'sec"o\\nd.cu', 'sec"o\\nd.cu'),
        ("first.cu", "second line.cu", "second line.cu"),
    ],
)
def test_the_faulty_one_of_several_sources(tmp_path, first, second, blamed):
    (tmp_path / first).write_text("__device__ int base() { return 3; }\n" + FAULTY.format("one", "base()"))
    (tmp_path / second).write_text('#line 1 "made.h"\n' + FAULTY.format("two", "base() * bsae()"))
    one = cuda.declare_device("one", "int32(int32)", link=tmp_path / first)
    two = cuda.declare_device("two", "int32(int32)", link=tmp_path / second)

    @cuda.jit
    def apply(x):
        x[0] = one(x[0]) + two(x[0])

    x = np.ones(1, np.int32)
    with pytest.raises(parpy.BackendError) as simulated:
        apply[1, 1](x)
    messages = [str(simulated.value)]
    text = device_part(apply.inspect_source(x))
    if not why_missing():
        with pytest.raises(parpy.BackendError) as compiled:
            _native.compile_cuda(text, "apply.cu", "sm_90", False, [], True)
        messages.append(str(compiled.value))
    for message in messages:
        assert "bsae" in message and "made.h" in message
        assert f"this is in '{blamed}', which the kernel links" in message
        assert "first" not in message
    (tmp_path / second).write_text(FAULTY.format("two", "base() * 2"))

    @cuda.jit
    def right(x):
        x[0] = one(x[0]) + two(x[0])

    right[1, 1](x)
    assert x[0] == 9
    if not why_missing():
        _native.compile_cuda(device_part(right.inspect_source(x)), "right.cu", "sm_90", False, [], True)
