"""Mistakes with kernels written by hand: in launches, signatures, calls of parpy.cuda, and in the kernels."""

from __future__ import annotations

import numpy as np
import pytest

import kernel_places
import parpy
from parpy import cuda
from parpy.cuda import types
from test_kernels import saxpy

backend = kernel_places.backend


def refused(function, *arguments):
    with pytest.raises(parpy.CompileError) as caught:
        function[1, 32](*arguments)
    return str(caught.value)


# ---------------------------------------------------------------- launches


def test_launches_are_checked():
    x = np.ones(4)
    for wrong in (5, (1,), (1, 2, 3, 4, 5)):
        with pytest.raises(ValueError, match="configured"):
            saxpy[wrong]
    with pytest.raises(ValueError, match="at most 1024 threads, not 2048"):
        saxpy[1, (64, 32)]
    with pytest.raises(ValueError, match="size in z is 1 to 64, not 65"):
        saxpy[1, (1, 1, 65)]
    with pytest.raises(ValueError, match="0 to 65535, not 65536"):
        saxpy[(1, 65536), 32]
    with pytest.raises(TypeError, match="tuple of up to three"):
        saxpy["x", 32]
    with pytest.raises(ValueError, match=r"saxpy\[grid, block\]"):
        saxpy(1.0, x, x)
    with pytest.raises(TypeError, match="positional argument"):
        saxpy[1, 32](1.0, x)
    saxpy[0, 32](1.0, x, x)
    assert (x == 1).all()


def test_wrong_signatures():
    for wrong, message in [
        ("void(float31)", "did you mean 'float32'"),
        ("float32(int32)", "returns nothing"),
        ("void(float32[0])", "not a dimension"),
        ("void(", "cannot be read"),
    ]:
        with pytest.raises(TypeError, match=message):

            @cuda.jit(wrong)
            def bad(x):
                pass


def test_arguments_of_jit_and_declare_device():
    for wrong in ("a", -1, 1.5, True):
        with pytest.raises(ValueError, match="max_registers is how many registers a thread may use"):
            cuda.jit(max_registers=wrong)
    with pytest.raises(TypeError, match="a path or a list of paths, not 5"):
        cuda.jit(link=5)
    for wrong in ("int32", types.int32, (types.int32,), "int32[:]", "void", 5):
        with pytest.raises(TypeError, match=r"no result and arguments; write for example 'int32\(float32, int32\)'"):
            cuda.declare_device("f", wrong)
    with pytest.raises(ValueError, match="5 is not the name of a function"):
        cuda.declare_device(5, "int32()")


# ---------------------------------------------------------------- arrays, streams, settings


@pytest.mark.parametrize("wrong", ["x", 1.5, object()])
def test_streams_are_checked_everywhere(wrong):
    host, device = np.zeros(3), cuda.to_device(np.zeros(3))
    for call in (
        lambda: cuda.to_device(host, stream=wrong),
        lambda: cuda.device_array(3, stream=wrong),
        lambda: cuda.mapped_array(3, stream=wrong),
        lambda: device.copy_to_host(stream=wrong),
        lambda: device.copy_to_device(host, stream=wrong),
        lambda: device.getitem(0, stream=wrong),
        lambda: device.setitem(0, 1, stream=wrong),
        lambda: cuda.event().record(wrong),
        lambda: cuda.event().wait(wrong),
        lambda: saxpy[1, 1, wrong],
    ):
        with pytest.raises(TypeError, match="is not a stream"):
            call()
    assert cuda.to_device(host, stream=None).copy_to_host(stream=None).tolist() == [0, 0, 0]
    with pytest.raises(TypeError, match="handle of a stream is an int"):
        cuda.external_stream("x")
    with pytest.raises(TypeError, match="measured to another event"):
        cuda.event().elapsed_time(3)
    with pytest.raises(TypeError, match="measured from an event"):
        cuda.event_elapsed_time(1, 2)


@pytest.mark.parametrize("wrong", [12345, -7, True, 1.5, np.int64(3), object(), cuda.stream])
def test_what_is_no_stream(wrong):
    @cuda.jit
    def store(x):
        x[0] = 1

    with pytest.raises(TypeError, match="is not a stream; 0 and None are the default stream"):
        store[1, 1, wrong](np.zeros(1))
    with pytest.raises(TypeError, match="is not a stream"):
        store.forall(1, stream=wrong)(np.zeros(1))


def test_streams_of_other_libraries():
    class Ours:
        def __cuda_stream__(self):
            return 0, 0

    class Handle:
        value = 0

    class Numbas:
        handle = Handle

    @cuda.jit
    def store(x):
        x[0] += 1

    x = np.zeros(1)
    for stream in (0, None, Ours(), Numbas(), cuda.default_stream(), cuda.stream()):
        store[1, 1, stream](x)
    assert x[0] == 6
    with pytest.raises(ValueError, match="the handle of a stream is an address, not -7"):
        cuda.external_stream(-7)


def test_what_there_is_under_a_name():
    @cuda.jit
    def unknown(x):
        cuda.atomic.foo(x, 0, 1)

    with pytest.raises(parpy.CompileError, match=r"'cuda.atomic' has no attribute 'foo'(.|\n)*it has: add, sub, min"):
        unknown[1, 1](np.zeros(1))
    with pytest.raises(AttributeError, match=r"cuda.shared has no 'zeros'; it has: array"):
        cuda.shared.zeros((3,))


def test_elements_and_shapes_of_device_arrays():
    for make in (cuda.device_array, cuda.pinned_array, cuda.mapped_array):
        for wrong in (object, "U4", [("name", "U3")]):
            with pytest.raises(TypeError, match="cannot be on the device"):
                make(3, wrong)
        for wrong in (-1, 1.5, "3", None, (2, 1.5), True):
            with pytest.raises(ValueError, match="a shape is an int that is not negative"):
                make(wrong)
        with pytest.raises(ValueError, match="'C' or 'F'"):
            make(3, order="X")
    for like in (cuda.device_array_like, cuda.pinned_array_like, cuda.mapped_array_like):
        with pytest.raises(TypeError, match="to make another one like it, not 5"):
            like(5)
    for wrong in ((1,), 8, (8, "a")):
        with pytest.raises(ValueError, match="a number of bytes for each of 2 dimensions"):
            cuda.device_array((2, 3), strides=wrong)
    with pytest.raises(TypeError, match="fills a device array, not ndarray"):
        cuda.to_device(np.ones(3), to=np.ones(3))
    for wrong in (np.ones(3), 5):
        with pytest.raises(TypeError, match=r"is not an array on the GPU; to_device"):
            cuda.as_cuda_array(wrong)
    device = cuda.to_device(np.zeros(3))
    with pytest.raises(TypeError, match="no field 'a'"):
        device["a"]
    with pytest.raises(TypeError, match="not by True"):
        device[True]
    with pytest.raises(TypeError, match="elements of type object"):
        device.view(object)
    with pytest.raises(ValueError, match="a number of elements from 1"):
        next(device.split(0))
    with pytest.raises(TypeError, match="the number of a device must be an int"):
        cuda.select_device("a")


def test_settings_of_the_simulator():
    for wrong in (None, -1, 2**64, 1.5, True):
        with pytest.raises(ValueError, match="from 0, which is the default, to"):
            cuda.sim.seed = wrong
    cuda.sim.seed = np.int64(3)
    assert cuda.sim.seed == 3
    for wrong in ("a", 8.0, True, 64):
        with pytest.raises(ValueError, match="1, 2, 4, 8, 16 or 32 threads"):
            cuda.sim.warp_size = wrong


# ---------------------------------------------------------------- in kernels


@cuda.jit("void(float64[:])")
def called(x):
    x[0] = 1


def test_kernels_are_not_called_by_compiled_code():
    @cuda.jit
    def calls(x):
        called(x)

    @cuda.jit
    def launches(x):
        called[1, 1](x)

    @parpy.jit
    def loop(x):
        called(x)

    x = np.zeros(3)
    message = refused(calls, x)
    assert "'called' is a kernel, which compiled code can neither call nor launch" in message
    assert "@cuda.jit(device=True), or launch it from Python: called[grid, block](…)" in message and "P022" in message
    assert "launch it from Python after this function" in refused(launches, x)
    with pytest.raises(parpy.CompileError, match="can neither call nor launch"):
        loop(x)
    assert (x == 0).all()


def test_errors_in_kernels():
    @cuda.jit
    def no_name(x):
        x[0] = cuda.shared.array(3, np.int32)

    @cuda.jit
    def varying(x, n):
        s = cuda.shared.array(n, np.int32)
        x[0] = s[0]

    @cuda.jit
    def endless(x):
        s = cuda.shared.array(10**10**9, np.int32)
        x[0] = s[0]

    @cuda.jit
    def no_value(x):
        x[0] = cuda.syncthreads()

    @cuda.jit
    def grid_value(x):
        x[0] = cuda.grid(2)

    @cuda.jit
    def float_bits(x):
        cuda.atomic.or_(x, 0, 1)

    @cuda.jit
    def returns(x):
        return x[0]

    x = np.ones(4)
    assert "needs a name of its own" in refused(no_name, x)
    assert "must be constant" in refused(varying, x, 3)
    assert "must be constant" in refused(endless, x)
    assert "gives no value" in refused(no_value, x)
    assert "a tuple of 2 elements is used as a number" in refused(grid_value, x)
    message = refused(float_bits, x)
    assert "there is no atomic 'or' on elements of type float64" in message and "P229" in message
    assert "returns" in refused(returns, x)


def test_a_signature_is_checked_where_the_kernel_is_decorated():
    def subscripts(x):
        x[0] = x[0, 1]

    def bits(x):
        x[0] = x[0] | 1

    def shapes(x):
        shape = x.shape
        x[0] = shape[1]

    def fields(x):
        x[0].a = 1

    def copies(x):
        own = cuda.shared.array(4, x.dtype)
        own[0] = const_of_globals[0]
        x[200] = own[0] + later(x)  # noqa: F821

    with pytest.raises(IndexError, match="'x' has 1 dimension, but 2 subscripts"):
        cuda.jit("void(float32[:])")(subscripts)
    with pytest.raises(TypeError, match=r"'\|' does not take float32 and int"):
        cuda.jit(["void(int32[:])", "void(float32[:])"])(bits)
    with pytest.raises(parpy.CompileError, match="the tuple 'shape' has no element 1"):
        cuda.jit("void(float32[:])")(shapes)
    with pytest.raises(
        TypeError, match=r"x\['a'\] is read from an object of type 'numpy.ndarray', which is not a dict"
    ):
        cuda.jit("void(float32[:])")(fields)
    cuda.jit("void(int32[:])")(bits)
    with pytest.raises(TypeError, match=r"'\|' does not take float32 and int"):
        cuda.jit("void(float32[:])", device=True)(bits)
    with pytest.raises(TypeError, match="'bits' has 1 parameters, but its signature is"):
        cuda.jit("void(float32[:], int32)", device=True)(bits)
    cuda.jit(["int64(int32[:])", "int64(int64[:, :])"], device=True)(raises_nothing)
    kernel = cuda.jit("void(float32[:])")(copies)  # a name may come later
    with pytest.raises(NameError, match="name 'later' is not defined"):
        kernel[1, 1](np.zeros(3, np.float32))


def raises_nothing(x):
    return len(x) + x.size


const_of_globals = np.ones(3)


def test_arrays_have_no_fields():
    @cuda.jit
    def kernel(x, out):
        out[0] = x[0].T[1]

    message = refused(kernel, np.zeros((2, 2)), np.zeros(1))
    assert "which is not a dict and has no fields" in message and "or to a kernel an array of records" in message


def test_only_kernels_have_threads():
    @parpy.jit
    def loop(x):
        for i in range(4):
            x[i] = cuda.grid(1)

    with pytest.raises(parpy.CompileError, match="P028"):
        loop(np.ones(4))
    with pytest.raises(TypeError, match="only be called in a kernel"):
        cuda.grid(1)


def plain_helper(a):
    return a + 1


@cuda.jit
def calls_a_plain_function(x):
    x[0] = plain_helper(x[0])


def test_plain_functions_are_refused_with_what_to_write():
    with pytest.raises(parpy.CompileError, match=r"decorate 'plain_helper' with @cuda.jit\(device=True\)"):
        calls_a_plain_function[1, 1](np.zeros(1))


BIG_ENDIAN = np.dtype(">f4")


@cuda.jit
def too_few_subscripts(x):
    cuda.atomic.add(x, 0, 1)


@cuda.jit
def unknown_keyword(x):
    s = cuda.shared.array(shape=(2, 2), dtype=np.float32, foo=3)  # type: ignore[call-arg]
    x[0, 0] = s[0, 0]


@cuda.jit
def foreign_text(x):
    s = cuda.shared.array(3, ">f4")
    x[0, 0] = s[0]


@cuda.jit
def foreign_type(x):
    s = cuda.local.array(3, BIG_ENDIAN)
    x[0, 0] = s[0]


@cuda.jit
def type_of_a_parameter(x):
    s = cuda.local.array(3, x.dtype)
    x[0] = s[0]


def test_arrays_in_foreign_byte_order_are_refused_as_such():
    with pytest.raises(TypeError, match="byte order"):
        type_of_a_parameter[1, 1](np.zeros(3, BIG_ENDIAN))


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (too_few_subscripts, r"'x' has 2 dimensions, but 1 subscript(.|\n)*help: give one for each dimension"),
        (unknown_keyword, "takes no keyword argument 'foo'"),
        (foreign_text, "the element type must be known here"),
        (foreign_type, "the element type must be known here"),
    ],
)
def test_messages_name_what_is_wrong(kernel, message):
    with pytest.raises(parpy.CompileError, match=message):
        kernel[1, 1](np.zeros((2, 2)))
