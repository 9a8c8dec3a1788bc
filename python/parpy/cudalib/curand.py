"""Random numbers and low-discrepancy sequences, by cuRAND for arrays on a GPU and by NumPy for other arrays.

``PRNG(seed=1).normal(x, 0, 1)`` fills an array in place; ``uniform normal lognormal poisson quasi`` make new arrays.
Numbers have the same distributions everywhere, but not the same bits: on the CPU they come from NumPy's Philox and
SciPy's Sobol sequences.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import threading
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from .. import _native
from ..arrays.libraries import (
    device_at,
    dtype_of,
    is_c_contiguous,
    is_on_device,
    library_of,
    on_device,
    reshaped,
    shape_of,
    stream_of,
)
from ..cuda import device_array, external_stream
from ..cuda._arrays import DeviceNDArray
from ._libraries import LibraryError, MissingLibraryError, open_library
from ._operands import address_of
from ._places import host_view, require_writable, runs_on_gpu
from ._plans import Plans, how_of

__all__ = ["PRNG", "QRNG", "lognormal", "normal", "poisson", "quasi", "uniform"]


_DYNAMIC = 104  # CURAND_ORDERING_PSEUDO_DYNAMIC
_DEFAULTS = {100: 161}  # the kinds of cuRAND that ParPy's default ones stand for


class _Generator:
    """A generator of cuRAND, for device arrays or for host arrays."""

    def __init__(self, kind: int, on_host: bool) -> None:
        self._library = open_library("curand")
        self._stream = 0
        self.device: int | None = None  # the GPU of the first array
        self.pointer = ctypes.c_void_p()
        function = "curandCreateGeneratorHost" if on_host else "curandCreateGenerator"
        self._library.call(function, ctypes.byref(self.pointer), ctypes.c_int(kind))

    def call(self, function: str, *arguments: Any) -> None:
        self._library.call(function, self.pointer, *arguments)

    def order_for_speed(self) -> None:
        """Selects the order of numbers that is fastest on the GPU, if this version and kind has such an order. GPUs of
        one model have the same order for a seed; other models may have another order."""
        with contextlib.suppress(LibraryError):
            self.call("curandSetGeneratorOrdering", ctypes.c_int(_DYNAMIC))

    def use(self, stream: int) -> None:
        """Makes later calls use this stream."""
        if stream != self._stream:
            self.call("curandSetStream", ctypes.c_void_p(stream))
            self._stream = stream

    def __del__(self) -> None:
        if getattr(self, "pointer", None):
            self._library.call("curandDestroyGenerator", self.pointer)


class _Source:
    """The common part of both sorts of generators: the choice of the place and the filling of arrays."""

    KINDS: ClassVar[dict[str, int]] = {}

    def __init__(self, rndtype: int | None, offset: int | None, stream: Any, host: bool) -> None:
        self.rndtype = self.KINDS["DEFAULT"] if rndtype is None else rndtype
        if self.rndtype not in self.KINDS.values():
            names = ", ".join(f"{type(self).__name__}.{each}" for each in self.KINDS)
            raise ValueError(f"the kinds of generators are {names}, not {rndtype!r}")
        self.stream, self.host = stream, host
        self._offset = _count("offset", 0 if offset is None else offset)
        self._in_any_order = offset is None and not host
        self._lock = threading.Lock()
        self._generators: dict[bool, _Generator] = {}

    @property
    def offset(self) -> int:
        """The number of elements of the sequence that are skipped; an assignment begins the sequence anew."""
        return self._offset

    @offset.setter
    def offset(self, value: int) -> None:
        self._offset = _count("offset", value)
        self._in_any_order = False
        self._generators.clear()
        self._restart()

    def _restart(self) -> None:
        """Begins the sequence of the CPU's generator anew."""

    def _set_up(self, generator: _Generator) -> None:
        """Sets the offset and, in subclasses, the seed or the dimensions of a new generator."""
        if self._offset:
            generator.call("curandSetGeneratorOffset", ctypes.c_ulonglong(self._offset))

    def _generator(self, on_host: bool) -> _Generator:
        found = self._generators.get(on_host)
        if found is None:
            found = _Generator(_DEFAULTS.get(self.rndtype, self.rndtype), on_host)
            self._set_up(found)
            self._generators[on_host] = found
        return found

    def _fill(
        self, ary: Any, size: int | None, kinds: str, run: Callable[..., None], host: Callable[[int], Any]
    ) -> Any:
        """Fills the first ``size`` elements by ``run(generator, array, address, count, code)``, where ``code`` is that
        of the elements' type among ``kinds``, or from the array ``host(count)``."""
        how = how_of(ary) if size is None else None
        key = None if how is None else (kinds, how[0])
        known = None if key is None else _counts.get(key)
        if how is not None and known is not None:
            count, code = known
            self._fill_on_device(ary, how[1], count, code, run)
            return ary
        if library_of(ary) is None:
            raise TypeError(f"a generator fills an array, not an object of type {type(ary).__name__}")
        code = f"{dtype_of(ary).kind}{dtype_of(ary).itemsize}"
        if code not in kinds.split():
            shown = ", ".join(str(np.dtype(each)) for each in kinds.split())
            raise TypeError(f"numbers of this sort fill arrays of {shown}, not of {dtype_of(ary)}")
        count = math.prod(shape_of(ary)) if size is None else _count("size", size)
        if count > math.prod(shape_of(ary)):
            raise ValueError(f"an array of {math.prod(shape_of(ary))} elements has no room for {count}")
        require_writable(ary)
        if not is_c_contiguous(ary):
            raise ValueError("a generator fills arrays whose elements follow each other; give it a contiguous one")
        if count == 0:
            return ary
        there = runs_on_gpu(ary)
        if there and is_on_device(ary):
            self._fill_on_device(ary, address_of(ary), count, code, run)
            if key is not None:
                _counts.keep(key, (count, code))
            return ary
        with self._lock:
            if there or (self.host and _has_library()):
                run(self._generator(True), ary, address_of(ary), count, code)
            else:
                view = host_view(ary).reshape(-1)
                view[:count] = host(count)
        return ary

    def _fill_on_device(self, ary: Any, address: int, count: int, code: str, run: Callable[..., None]) -> None:
        stream, device = stream_of((ary,), self.stream), device_at(address)
        with self._lock, on_device(device):
            generator = self._generator(False)
            if generator.device is None:
                generator.device = device
            elif generator.device != device:
                raise ValueError(
                    f"the generator works on GPU {generator.device}, and the array is on GPU {device}; make a "
                    "generator for each GPU"
                )
            generator.use(stream)
            run(generator, ary, address, count, code)
        if stream:
            _native.note_stream(stream, device)


_counts = Plans()  # the number of elements and the type of arrays that were filled, by the arrays' layouts


def _has_library() -> bool:
    try:
        open_library("curand")
    except MissingLibraryError:
        return False
    return True


class PRNG(_Source):
    """A generator of pseudo-random numbers.

    ``rndtype`` is the method: ``PRNG.PHILOX4_32_10`` (Salmon et al., 2011), which is also ``PRNG.DEFAULT``, ``XORWOW``
    (Marsaglia, 2003), ``MRG32K3A`` (L'Ecuyer, 1999), ``MTGP32`` (Saito and Matsumoto, 2010) or ``MT19937`` (Matsumoto
    and Nishimura, 1998).
    ``seed`` is an int from 0 that chooses the sequence; without it each generator has a sequence of its own. ``offset``
    is the number of elements of the sequence that are skipped. ``stream`` is the stream of the work on a GPU.

    Without an ``offset`` the numbers come in the order that is fastest on the GPU: GPUs of one model produce equal
    numbers for a seed, and others may not. With ``offset=0`` or ``host=True`` they have cuRAND's fixed order.
    ``host=True`` fills host arrays by cuRAND's host generator if cuRAND is installed. Otherwise host arrays, and all
    arrays without a GPU, are filled by NumPy's Philox generator whatever ``rndtype`` is, so that distributions agree
    and bits do not.

    Raises ValueError for another ``rndtype``, ``seed`` or ``offset``. The methods raise TypeError for arrays of other
    types, ValueError for arrays that are read-only, not contiguous or too small, and they return the array.
    """

    TEST, DEFAULT, XORWOW, MRG32K3A, MTGP32, MT19937, PHILOX4_32_10 = 100, 100, 101, 121, 141, 142, 161
    KINDS: ClassVar = {
        "DEFAULT": 100, "XORWOW": 101, "MRG32K3A": 121, "MTGP32": 141, "MT19937": 142, "PHILOX4_32_10": 161,
    }  # fmt: skip

    def __init__(
        self,
        rndtype: int | None = None,
        seed: int | None = None,
        offset: int | None = None,
        stream: Any = None,
        host: bool = False,
    ) -> None:
        super().__init__(rndtype, offset, stream, host)
        self._seed = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else _count("seed", seed)
        self._restart()

    @property
    def seed(self) -> int:
        """The int that chooses the sequence; an assignment begins the sequence anew."""
        return self._seed

    @seed.setter
    def seed(self, value: int) -> None:
        self._seed = _count("seed", value)
        for each in self._generators.values():
            each.call("curandSetPseudoRandomGeneratorSeed", ctypes.c_ulonglong(value))
        self._restart()

    def _restart(self) -> None:
        if hasattr(self, "_seed"):
            bits = np.random.Philox(self._seed)
            bits.advance(self._offset // 4)  # advance() counts blocks of four numbers
            bits.random_raw(self._offset % 4)
            self._numpy = np.random.Generator(bits)

    def _set_up(self, generator: _Generator) -> None:
        if self._in_any_order:
            generator.order_for_speed()
        generator.call("curandSetPseudoRandomGeneratorSeed", ctypes.c_ulonglong(self._seed))
        super()._set_up(generator)

    def uniform(self, ary: Any, size: int | None = None) -> Any:
        """Fills ``ary``, an array of float32 or float64, or its first ``size`` elements in C order, with uniformly
        distributed numbers from the interval (0, 1], and returns it."""

        def run(generator: _Generator, array: Any, address: int, count: int, code: str) -> None:
            function = "curandGenerateUniformDouble" if code == "f8" else "curandGenerateUniform"
            generator.call(function, ctypes.c_void_p(address), ctypes.c_size_t(count))

        return self._fill(ary, size, "f4 f8", run, lambda n: 1 - self._numpy.random(n, _float_of(ary)))

    def normal(self, ary: Any, mean: float, sigma: float, size: int | None = None) -> Any:
        """Fills ``ary``, an array of float32 or float64, or its first ``size`` elements, with normally distributed
        numbers, and returns it. ``mean`` is their expected value and ``sigma`` their standard deviation, a number above
        0."""
        mean, sigma = float(mean), _positive("sigma", sigma)
        run = self._of_pairs("Normal", mean, sigma)
        return self._fill(
            ary, size, "f4 f8", run, lambda n: self._numpy.standard_normal(n, _float_of(ary)) * sigma + mean
        )

    def lognormal(self, ary: Any, mean: float, sigma: float, size: int | None = None) -> Any:
        """Fills ``ary``, an array of float32 or float64, or its first ``size`` elements, with numbers whose natural
        logarithms are normally distributed, and returns it. ``mean`` and ``sigma`` are the expected value and the
        standard deviation, above 0, of the logarithms."""
        mean, sigma = float(mean), _positive("sigma", sigma)
        run = self._of_pairs("LogNormal", mean, sigma)
        return self._fill(
            ary, size, "f4 f8", run, lambda n: np.exp(self._numpy.standard_normal(n, _float_of(ary)) * sigma + mean)
        )

    def _of_pairs(self, name: str, mean: float, sigma: float) -> Callable[..., None]:
        """Calls a cuRAND function that makes pairs of numbers. For an odd count the last pair goes to a buffer."""

        def run(generator: _Generator, array: Any, address: int, count: int, code: str) -> None:
            function = f"curandGenerate{name}{'Double' if code == 'f8' else ''}"
            number = ctypes.c_double if code == "f8" else ctypes.c_float
            given = number(mean), number(sigma)
            pairs = count // 2 * 2
            if pairs:
                generator.call(function, ctypes.c_void_p(address), ctypes.c_size_t(pairs), *given)
            if pairs == count:
                return
            library = library_of(array)
            assert library is not None
            pair = library.empty((2,), dtype_of(array), array, self.stream)
            generator.call(function, ctypes.c_void_p(address_of(pair)), ctypes.c_size_t(2), *given)
            flat, last = reshaped(array, (math.prod(shape_of(array)),)), slice(count - 1, count)
            if isinstance(flat, DeviceNDArray):
                flat.setitem(last, pair[:1], external_stream(stream_of((array,), self.stream)))
            else:
                flat[last] = pair[:1]

        return run

    def poisson(self, ary: Any, lmbd: float, size: int | None = None) -> Any:
        """Fills ``ary``, an array of uint32 or int32, or its first ``size`` elements, with numbers of a Poisson
        distribution, and returns it. ``lmbd`` is the expected value, a number above 0."""
        expected = _positive("lmbd", lmbd)

        def run(generator: _Generator, array: Any, address: int, count: int, code: str) -> None:
            place = ctypes.c_void_p(address)
            generator.call("curandGeneratePoisson", place, ctypes.c_size_t(count), ctypes.c_double(expected))

        return self._fill(ary, size, "u4 i4", run, lambda n: self._numpy.poisson(expected, n))


class QRNG(_Source):
    """A generator of the points of a low-discrepancy sequence.

    ``rndtype`` is ``QRNG.SOBOL32`` (the default), ``SCRAMBLED_SOBOL32``, ``SOBOL64`` or ``SCRAMBLED_SOBOL64``: Sobol's
    sequence with the direction numbers of Joe and Kuo (2008), of 32 or 64 bits. ``ndim`` is the number of dimensions, 1
    to 20000. ``offset`` is the number of points that are skipped. ``stream`` and ``host`` are those of ``PRNG``.
    Without a GPU the points are those of ``scipy.stats.qmc.Sobol``.

    Raises ValueError for other arguments, and MissingLibraryError without a GPU and without SciPy.
    """

    TEST, DEFAULT, SOBOL32, SCRAMBLED_SOBOL32, SOBOL64, SCRAMBLED_SOBOL64 = 200, 200, 201, 202, 203, 204
    KINDS: ClassVar = {
        "DEFAULT": 200,
        "SOBOL32": 201,
        "SCRAMBLED_SOBOL32": 202,
        "SOBOL64": 203,
        "SCRAMBLED_SOBOL64": 204,
    }

    def __init__(
        self,
        rndtype: int | None = None,
        ndim: int = 1,
        offset: int | None = None,
        stream: Any = None,
        host: bool = False,
    ) -> None:
        super().__init__(rndtype, offset, stream, host)
        self._ndim = 1
        self._engine: Any = None
        self.ndim = ndim

    @property
    def ndim(self) -> int:
        """The number of dimensions of a point; an assignment begins the sequence anew. Raises ValueError for numbers
        that are not from 1 to 20000."""
        return self._ndim

    @ndim.setter
    def ndim(self, value: int) -> None:
        if not isinstance(value, int) or not 1 <= value <= 20000:
            raise ValueError(f"a sequence has 1 to 20000 dimensions, not {value!r}")
        self._ndim = value
        for each in self._generators.values():
            each.call("curandSetQuasiRandomGeneratorDimensions", ctypes.c_uint(value))
        self._restart()

    def _restart(self) -> None:
        self._engine = None

    def _set_up(self, generator: _Generator) -> None:
        generator.call("curandSetQuasiRandomGeneratorDimensions", ctypes.c_uint(self._ndim))
        super()._set_up(generator)

    @property
    def _bits(self) -> int:
        return 64 if self.rndtype in (self.SOBOL64, self.SCRAMBLED_SOBOL64) else 32

    def generate(self, ary: Any, size: int | None = None) -> Any:
        """Fills ``ary``, or its first ``size`` elements, with the next points, and returns it: first the coordinates of
        all points in the first dimension, then those in the second, and so on.

        Arrays of uint32 (of uint64 for methods of 64 bits) receive all bits, and arrays of float32 or float64 numbers
        from the interval (0, 1]. Raises ValueError if the number of elements is no multiple of ``ndim``, and as the
        methods of ``PRNG`` do.
        """
        integer = f"u{self._bits // 8}"
        count = size if size is not None else math.prod(shape_of(ary)) if library_of(ary) is not None else 0
        if count % self._ndim:
            raise ValueError(f"{count} numbers are not points of {self._ndim} dimensions: a multiple of it is needed")

        def run(generator: _Generator, array: Any, address: int, n: int, code: str) -> None:
            functions = {"u4": "curandGenerate", "u8": "curandGenerateLongLong", "f4": "curandGenerateUniform"}
            function = functions.get(code, "curandGenerateUniformDouble")
            generator.call(function, ctypes.c_void_p(address), ctypes.c_size_t(n))

        return self._fill(ary, size, f"{integer} f4 f8", run, lambda n: self._of_scipy(ary, n))

    def _of_scipy(self, ary: Any, count: int) -> Any:
        if self._engine is None:
            try:
                from scipy.stats import qmc  # type: ignore[import-not-found, import-untyped, unused-ignore]
            except ImportError:
                raise MissingLibraryError(
                    "low-discrepancy sequences on the CPU are SciPy's: 'pip install scipy' brings it"
                ) from None
            scrambled = self.rndtype in (self.SCRAMBLED_SOBOL32, self.SCRAMBLED_SOBOL64)
            self._engine = qmc.Sobol(
                self._ndim, scramble=scrambled, bits=self._bits if self._bits == 32 else 62, seed=0
            )
            if self._offset:
                self._engine.fast_forward(self._offset)
        points = self._engine.random(count // self._ndim).T.reshape(-1)
        if dtype_of(ary).kind == "f":
            return np.where(points == 0, 1.0, points)
        return (points * 2.0**32).astype(np.uint64) << np.uint64(self._bits - 32)


def _count(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 0 <= value < 2**64:
        raise ValueError(f"'{name}' is an int from 0, not {value!r}")
    return int(value)


def _float_of(array: Any) -> Any:
    """The type of the elements, float32 or float64, for NumPy's generators."""
    return dtype_of(array)


def _positive(name: str, value: Any) -> float:
    if not float(value) > 0:
        raise ValueError(f"'{name}' is a number above 0, not {value!r}")
    return float(value)


# ---------------------------------------------------------------- new arrays

_own = threading.local()


def _prng() -> PRNG:
    """The generator of the module's functions, one for each thread."""
    if not hasattr(_own, "prng"):
        _own.prng = PRNG()
    found: PRNG = _own.prng
    return found


def _new(size: Any, dtype: Any, device: bool) -> Any:
    shape = (size,) if isinstance(size, int | np.integer) else tuple(size)
    return device_array(shape, dtype) if device else np.empty(shape, dtype)


def uniform(size: Any, dtype: Any = np.float64, device: bool = False) -> Any:
    """Returns a new array of uniformly distributed numbers from the interval (0, 1]. ``size`` is an int or a shape,
    ``dtype`` float32 or float64, and ``device=True`` makes an array on the device. The method is the default one of
    ``PRNG``."""
    return _prng().uniform(_new(size, dtype, device))


def normal(mean: float, sigma: float, size: Any, dtype: Any = np.float64, device: bool = False) -> Any:
    """Returns a new array of normally distributed numbers with the expected value ``mean`` and the standard deviation
    ``sigma``, above 0. The other arguments are those of ``uniform``."""
    return _prng().normal(_new(size, dtype, device), mean, sigma)


def lognormal(mean: float, sigma: float, size: Any, dtype: Any = np.float64, device: bool = False) -> Any:
    """Returns a new array of numbers whose natural logarithms are normally distributed with the expected value ``mean``
    and the standard deviation ``sigma``, above 0. The other arguments are those of ``uniform``."""
    return _prng().lognormal(_new(size, dtype, device), mean, sigma)


def poisson(lmbd: float, size: Any, device: bool = False) -> Any:
    """Returns a new array of uint32 with numbers of a Poisson distribution of the expected value ``lmbd``, above 0.
    ``size`` and ``device`` are those of ``uniform``."""
    return _prng().poisson(_new(size, np.uint32, device), lmbd)


def quasi(size: int, bits: int = 32, nd: int = 1, scrambled: bool = False, device: bool = False) -> Any:
    """Returns a new array of ``size`` numbers of Sobol's sequence of ``nd`` dimensions, as ``QRNG.generate`` orders
    them: uint32 for ``bits=32`` and uint64 for ``bits=64``. ``scrambled=True`` scrambles the sequence, and
    ``device=True`` makes an array on the device. Raises ValueError for other ``bits``, for a ``size`` that is no
    multiple of ``nd``, and as ``QRNG`` does."""
    if bits not in (32, 64):
        raise ValueError(f"sequences have 32 or 64 bits, not {bits!r}")
    kinds = {(32, False): QRNG.SOBOL32, (32, True): QRNG.SCRAMBLED_SOBOL32, (64, False): QRNG.SOBOL64}
    made = QRNG(kinds.get((bits, scrambled), QRNG.SCRAMBLED_SOBOL64), nd)
    return made.generate(_new(size, np.uint32 if bits == 32 else np.uint64, device))
