"""parpy.cudalib.cufft on the CPU and on arrays of the simulator: NumPy's transforms, unscaled."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from parpy import cuda
from parpy.cudalib import cufft

SHAPES = [(8,), (7,), (4, 6), (5, 3), (2, 3, 4)]


@pytest.fixture(params=["host", "device"])
def place(request):
    def moved(array):
        if request.param == "host":
            return array.copy()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return cuda.to_device(array)

    return moved


def values(array):
    return array.copy_to_host() if hasattr(array, "copy_to_host") else array


def numbers(shape, dtype):
    rng = np.random.default_rng(1)
    found = rng.standard_normal(shape)
    return (found + 1j * rng.standard_normal(shape) if np.dtype(dtype).kind == "c" else found).astype(dtype)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["c8", "c16", "f4", "f8", "i4"])
def test_both_directions(place, shape, dtype):
    x = numbers(shape, dtype)
    there = place(x)
    wanted = np.fft.fftn(x.astype("f8") if dtype == "i4" else x)
    tolerance = {"rtol": 1e-4, "atol": 1e-4}
    found = cufft.fft(there)
    assert type(found) is type(there) and values(found).dtype == ("c8" if dtype in ("c8", "f4") else "c16")
    np.testing.assert_allclose(values(found), wanted, **tolerance)
    np.testing.assert_allclose(values(cufft.ifft(found)), x * x.size, **tolerance)
    np.testing.assert_allclose(values(cufft.ifft(found, norm="backward")), x, **tolerance)
    np.testing.assert_allclose(values(cufft.fft(there, norm="ortho")), wanted / np.sqrt(x.size), **tolerance)
    np.testing.assert_allclose(values(cufft.fft(there, norm="forward")), wanted / x.size, **tolerance)
    np.testing.assert_array_equal(values(there), x)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_real_numbers(place, shape, dtype):
    x = numbers(shape, dtype)
    half = cufft.rfft(place(x))
    np.testing.assert_allclose(values(half), np.fft.rfftn(x), rtol=1e-4, atol=1e-4)
    back = cufft.irfft(half, n=shape[-1])
    assert values(back).dtype == dtype
    np.testing.assert_allclose(values(back), x * x.size, rtol=1e-4, atol=1e-4)
    out = place(np.empty(values(half).shape, values(half).dtype))
    assert cufft.fft(place(x), out) is out
    np.testing.assert_allclose(values(out), np.fft.rfftn(x), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_in_place(place, dtype):
    x = numbers((4, 6), dtype)
    there = place(x)
    assert cufft.fft_inplace(there) is there
    np.testing.assert_allclose(values(there), np.fft.fft2(x), rtol=1e-4)
    assert cufft.ifft_inplace(there) is there
    np.testing.assert_allclose(values(there), x * x.size, rtol=1e-4)


def test_batches(place):
    x = numbers((3, 4, 5, 6), "c16")
    there = place(x)
    np.testing.assert_allclose(values(cufft.fft(there, axes=-1)), np.fft.fft(x))
    np.testing.assert_allclose(values(cufft.fft(there, axes=(-2, -1))), np.fft.fft2(x))
    np.testing.assert_allclose(values(cufft.rfft(place(x.real), axes=-1)), np.fft.rfft(x.real))
    with pytest.raises(ValueError, match="1 to 3 axes"):
        cufft.fft(there)
    with pytest.raises(ValueError, match="the last ones"):
        cufft.fft(there, axes=0)


def test_plans(place):
    x = numbers((4, 6), "f8")
    plan = cufft.FFTPlan((4, 6), "f8", "c16")
    half = plan.forward(place(x))
    np.testing.assert_allclose(values(half), np.fft.rfft2(x))
    np.testing.assert_allclose(values(plan.inverse(half)), x * x.size)
    many = cufft.FFTPlan((6,), np.complex64, np.complex64, batch=4)
    z = numbers((4, 6), "c8")
    there = place(z)
    assert many.forward(there, out=there) is there
    np.testing.assert_allclose(values(there), np.fft.fft(z), rtol=1e-4)
    with pytest.raises(ValueError, match=r"the plan is for arrays of shape \(4, 6\)"):
        plan.forward(place(x[:, :5]))
    with pytest.raises(ValueError, match="the plan is for arrays"):
        plan.forward(place(x.astype("f4")))
    with pytest.raises(ValueError, match="Invalid type combination"):
        cufft.FFTPlan((4,), "f4", "c16")
    with pytest.raises(ValueError, match="one to three dimensions"):
        cufft.FFTPlan((4, 4, 4, 4), "c8", "c8")


def test_convolution_of_the_slides(place):
    """Both forward, multiply in place, backward: the circular convolution."""
    import parpy

    @parpy.vectorize(["complex64(complex64, complex64)"], target="auto")
    def product(a, b):
        return a * b

    rng = np.random.default_rng(2)
    image, kernel = rng.random((2, 16, 16)).astype("c8")
    a, b = place(image), place(kernel)
    cufft.fft_inplace(a)
    cufft.fft_inplace(b)
    product(a, b, out=a)
    cufft.ifft_inplace(a)
    wanted = np.zeros((16, 16))
    for i in range(16):
        for j in range(16):
            wanted += image[i, j].real * np.roll(kernel.real, (i, j), (0, 1))
    np.testing.assert_allclose(values(a).real / 256, wanted, rtol=1e-3)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: cufft.fft_inplace(np.zeros(4)), ValueError, "complex numbers are transformed in place"),
        (lambda: cufft.fft_inplace([1, 2]), TypeError, "an array is transformed in place"),
        (lambda: cufft.rfft(np.zeros(4, "c8")), ValueError, "rfft takes real"),
        (lambda: cufft.irfft(np.zeros(4, "c8"), n=9), ValueError, "an inverse transform of size 9 needs 5 elements"),
        (lambda: cufft.fft(np.zeros(4), np.zeros(5, "c16")), ValueError, "'out' is an array of shape"),
        (lambda: cufft.fft(np.zeros(4), np.zeros(4, "c8")), ValueError, "'out' is an array of shape"),
        (lambda: cufft.fft(np.zeros(4, "c8"), np.broadcast_to(np.complex64(0), 4)), ValueError, "read-only"),
        (lambda: cufft.fft(np.zeros(0)), ValueError, "has no transform"),
        (lambda: cufft.fft(np.zeros(4), norm="both"), ValueError, "'norm' is"),
    ],
)
def test_wrong_arguments(call, error, text):
    with pytest.raises(error, match=text):
        call()
