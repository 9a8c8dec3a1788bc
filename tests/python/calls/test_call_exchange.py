"""Arrays of other libraries reach the call path: the C exchange API of tensors, CuPy's fields, faulty exporters."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from test_call import CPU, increment


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


BORROW = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(DLTensor))
STREAM = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))


class ExchangeApi(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("previous", ctypes.c_void_p),
        ("allocate", ctypes.c_void_p),
        ("own", ctypes.c_void_p),
        ("wrap", ctypes.c_void_p),
        ("borrow", BORROW),
        ("stream", STREAM),
    ]


def exchanged(device_type: int, queried: list[int]) -> type:
    """A class of tensors with the C exchange API; `queried` counts the queries of a stream."""

    def borrow(tensor, result):
        if tensor.array is None:
            raise BufferError("no memory")
        tensor.dims = (ctypes.c_int64 * 2)(tensor.array.size, tensor.array.strides[0] // 8)
        at = ctypes.cast(tensor.dims, ctypes.POINTER(ctypes.c_int64))
        second = ctypes.cast(ctypes.addressof(tensor.dims) + 8, ctypes.POINTER(ctypes.c_int64))
        result[0] = DLTensor(tensor.array.ctypes.data, device_type, 3, 1, 2, 64, 1, at, second, 0)
        return 0

    def stream(_type, device, _result):
        queried.append(device)
        return 0

    api = ExchangeApi(1, 3, None, None, None, None, BORROW(borrow), STREAM(stream))
    capsule = ctypes.pythonapi.PyCapsule_New
    capsule.restype, capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

    class Tensor:
        kept = api
        __dlpack_c_exchange_api__ = capsule(ctypes.addressof(api), b"dlpack_exchange_api", None)

        def __init__(self, array):
            self.array = array

    return Tensor


def test_tensors_of_the_c_exchange_api():
    queried: list[int] = []
    tensor = exchanged(1, queried)
    x = np.zeros(8)
    increment(tensor(x[::2]), 4, opts=CPU)
    assert x.tolist() == [1, 0] * 4
    assert queried == []


def test_device_tensors_of_the_c_exchange_api():
    queried: list[int] = []
    with pytest.raises(ValueError, match="P559"):
        increment(exchanged(2, queried)(np.zeros(8)), 4, opts=CPU)
    assert queried == [3]


def test_cupy_arrays_are_read_field_by_field():
    class Pointer:
        ptr, device_id = 4096, 0

    base = {"data": Pointer, "dtype": np.dtype("f4"), "shape": (3, 2), "_c_contiguous": True}

    def array(**changes):
        return type("ndarray", (), {"__module__": "cupy", **base, **changes})()

    with pytest.raises(ValueError, match="P559"):
        increment(array(), 1, opts=CPU)
    with pytest.raises(ValueError, match="P559"):
        increment(array(_c_contiguous=False, strides=(4, 12)), 1, opts=CPU)
    with pytest.raises(ValueError, match="not multiples of its element size"):
        increment(array(_c_contiguous=False, strides=(5, 1)), 1, opts=CPU)
    with pytest.raises(ValueError, match="device array without dimensions"):
        increment(array(shape=()), 1, opts=CPU)
    with pytest.raises(TypeError, match="P551"):
        increment(array(dtype=np.dtype("M8[s]")), 1, opts=CPU)


def test_errors_of_an_exporter_name_the_argument():
    class Broken:
        def __dlpack_device__(self):
            return 1, 0

        def __dlpack__(self, **_):
            raise BufferError("not today")

    with pytest.raises(BufferError, match="not today") as caught:
        increment(Broken(), 1, opts=CPU)
    assert caught.value.__notes__ == ["while ParPy read argument 'x'"]
