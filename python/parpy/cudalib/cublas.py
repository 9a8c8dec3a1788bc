"""The routines of BLAS, computed by cuBLAS for arrays on a GPU and by NumPy for other arrays.

``Blas().gemm("N", "N", m, n, k, alpha, A, B, beta, C)`` has the arguments of cuBLAS in its order, but without leading
dimensions and strides, which are those of the arrays, and stores to the last array. Matrices are read in Fortran order:
cuBLAS sees the transpose of a matrix in C order, so that such matrices need the option ``"T"``. ``matmul`` and ``dot``
read arrays in NumPy's order. All arrays of a call have one type: float32, float64, complex64 or complex128. Numbers and
options are the same for all types.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..arrays.libraries import (
    HOST,
    Library,
    as_operand,
    device_of_all,
    dtype_of,
    is_on_device,
    library_of,
    memory_of,
    on_device,
    shape_of,
    stream_of,
)
from ..cuda import external_stream, to_device
from ._checks import batch, check_columns, checked, checked_shapes, checked_vector, same_size
from ._host_blas import REDUCTIONS as HOST_REDUCTIONS
from ._host_blas import run_on_host
from ._operands import (
    KINDS,
    OnGpu,
    address_of,
    columns_of,
    handle_of_device,
    is_turned,
    letter_of,
    number_of,
    real_of,
    vector_of,
)
from ._places import address, host_view, require_writable, runs_on_gpu
from ._plans import At, Call, Number, Plans, how_of, key_of
from ._rotations import modified_rotation, rotation
from ._routines import (
    ARRAYS,
    MATRICES,
    MEANINGS,
    NUMBERS,
    OPTIONS,
    ROUTINES,
    SIZES,
    VECTORS,
    Routine,
    extents,
    places_of,
)

__all__ = ["Blas", "dot", "matmul"]

_plans = Plans()


class Blas:
    """The routines of BLAS. All calls of this object use ``stream`` or, if it is None, the current stream of the
    library of their arrays.

    Level 1: ``nrm2 asum amax amin dot dotc dotu scal axpy copy swap rot rotg rotm rotmg``. Level 2: ``gbmv gemv trmv
    tbmv tpmv trsv tpsv tbsv symv hemv sbmv hbmv spmv hpmv ger geru gerc syr her spr hpr syr2 her2 spr2 hpr2``. Level 3:
    ``gemm syrk herk syr2k her2k symm hemm trsm trmm``, and cuBLAS's ``dgmm geam gemm_batched gemm_strided_batched``.

    The routines are those of BLAS (Lawson et al., 1979; Dongarra et al., 1988 and 1990) as cuBLAS has them. Arrays have
    float32, float64, complex64 or complex128, one type in a call. Options are ``"N" "T" "C"`` (trans), ``"L" "U"``
    (uplo: which triangle of a matrix is read and stored), ``"N" "U"`` (diag: ``"U"`` means a diagonal of ones) and
    ``"L" "R"`` (side). Routines of levels 2 and 3 return None. All raise TypeError for arrays of several or other
    types, and ValueError for sizes and options that do not fit; they write nothing before such an error.
    """

    def __init__(self, stream: Any = None) -> None:
        self.stream = None if stream == 0 else stream

    # ------------------------------------------------------------ level 1

    def nrm2(self, x: Any) -> float:
        """Returns the Euclidean norm of the vector ``x``, the root of the sum of the squares of the magnitudes, as a
        float."""
        return float(self._reduced("nrm2", x))

    def asum(self, x: Any) -> float:
        """Returns the sum of the magnitudes of the elements of the vector ``x`` as a float. The magnitude of a complex
        number is here that of its real part plus that of its imaginary part."""
        return float(self._reduced("asum", x))

    def amax(self, x: Any) -> int:
        """Returns the index, counted from 0, of the first element of the vector ``x`` with the largest magnitude; -1
        for an empty vector. Magnitudes are those of ``asum``."""
        return int(self._reduced("amax", x)) - 1

    def amin(self, x: Any) -> int:
        """Returns the index, counted from 0, of the first element of the vector ``x`` with the smallest magnitude; -1
        for an empty vector. Magnitudes are those of ``asum``."""
        return int(self._reduced("amin", x)) - 1

    def _reduced(self, name: str, x: Any) -> Any:
        def plan(arrays: dict[str, Any]) -> tuple[Call, str]:
            letter = letter_of([x])
            offset, size, step = vector_of(arrays["x"], "x")
            of_index = name in ("amax", "amin")
            prefix = f"I{letter}" if of_index else {"c": "Sc", "z": "Dz"}.get(letter, letter.upper())
            kind = "i4" if of_index else "f4" if letter in "sc" else "f8"
            return Call(_names(f"{prefix}{name}"), [size, At(0, offset), step]), kind

        def host(views: dict[str, Any]) -> Any:
            return HOST_REDUCTIONS[name](views["x"])

        return self._computed(name, {"x": x}, plan, host)

    def dot(self, x: Any, y: Any) -> Any:
        """Returns the sum of the products of the elements of two vectors of one size, as a number of their type.
        Complex numbers are not conjugated."""
        return self._product("dot", x, y)

    def dotu(self, x: Any, y: Any) -> Any:
        """Returns the same as ``dot``, under the name that BLAS has for complex vectors."""
        return self._product("dot", x, y)

    def dotc(self, x: Any, y: Any) -> Any:
        """Returns the sum of the products of the conjugated elements of the vector ``x`` with those of ``y``, as a
        number of their type."""
        return self._product("dotc", x, y)

    def _product(self, name: str, x: Any, y: Any) -> Any:
        def plan(arrays: dict[str, Any]) -> tuple[Call, str]:
            letter = letter_of([x, y])
            (first, size, sx), (second, _, sy) = (vector_of(arrays[each], each) for each in "xy")
            spelled = "dot" if letter in "sd" else "dotc" if name == "dotc" else "dotu"
            arguments = [size, At(0, first), sx, At(1, second), sy]
            return Call(_names(f"{letter.upper()}{spelled}"), arguments), KINDS[letter]

        def host(views: dict[str, Any]) -> Any:
            return (np.vdot if name == "dotc" else np.dot)(views["x"], views["y"])

        return self._computed(name, {"x": x, "y": y}, plan, host)

    def _computed(
        self,
        name: str,
        given: dict[str, Any],
        plan: Callable[[dict[str, Any]], tuple[Call, str]],
        host: Callable[[dict[str, Any]], Any],
    ) -> Any:
        """A number computed from vectors, by a cuBLAS call whose result has a type, or by ``host``."""
        key = key_of(name, given.values())
        found = None if key is None else _plans.get(key[0])
        if key is None or found is None:
            letter_of([*given.values()])
            same_size(*given.values())
            if not runs_on_gpu(*given.values()):
                return host({word: checked_vector(each) for word, each in given.items()})
            there = OnGpu(given, (), self.stream)
            found, stream = plan(there.arrays), there.stream
            addresses = [*map(address_of, there.arrays.values())]
            if key is not None:
                _plans.keep(key[0], found)
        else:
            addresses, stream = key[1], stream_of(given.values(), self.stream)
        call, kind = found
        result = ctypes.create_string_buffer(np.dtype(kind).itemsize)
        call.run(stream, addresses, (), result)
        return np.frombuffer(result.raw, kind)[0]

    def scal(self, alpha: Any, x: Any) -> None:
        """Multiplies the elements of the vector ``x`` by the number ``alpha``, in place."""
        self._level1("scal", {"x": x}, ("x",), [alpha], lambda v: {"x": alpha * v["x"]})

    def axpy(self, alpha: Any, x: Any, y: Any) -> None:
        """Adds ``alpha * x`` to the vector ``y``, in place. ``x`` and ``y`` have one size."""
        self._level1("axpy", {"x": x, "y": y}, ("y",), [alpha], lambda v: {"y": alpha * v["x"] + v["y"]})

    def copy(self, x: Any, y: Any) -> None:
        """Copies the elements of the vector ``x`` to the vector ``y`` of the same size."""
        self._level1("copy", {"x": x, "y": y}, ("y",), [], lambda v: {"y": v["x"]})

    def swap(self, x: Any, y: Any) -> None:
        """Exchanges the elements of two vectors of one size."""
        self._level1("swap", {"x": x, "y": y}, ("x", "y"), [], lambda v: {"x": v["y"].copy(), "y": v["x"].copy()})

    def rot(self, x: Any, y: Any, c: Any, s: Any) -> None:
        """Rotates the points (x[i], y[i]) in place: ``x`` becomes ``c * x + s * y``, and ``y`` becomes ``c * y -
        conj(s) * x``. ``c`` is a real number, and ``s`` has the type of the vectors."""

        def host(v: dict[str, Any]) -> dict[str, Any]:
            return {"x": c * v["x"] + s * v["y"], "y": c * v["y"] - np.conj(s) * v["x"]}

        self._level1("rot", {"x": x, "y": y}, ("x", "y"), [c, s], host, behind=True, real=(True, False))

    def rotg(self, a: float, b: float) -> tuple[float, float, float, float]:
        """Returns (r, z, c, s) of the Givens rotation that takes the real numbers (a, b) to (r, 0), with z as BLAS
        defines it (Lawson et al., ACM Transactions on Mathematical Software 5, 1979)."""
        return rotation(a, b)

    def rotm(self, x: Any, y: Any, param: Any) -> None:
        """Applies the modified Givens rotation ``param``, an array of the five numbers that ``rotmg`` returns, to the
        points (x[i], y[i]) of two real vectors, in place."""
        flag, h11, h21, h12, h22 = (float(each) for each in np.asarray(host_view(param)))
        if flag == -2:
            return
        if flag == 0:
            h11 = h22 = 1.0
        if flag == 1:
            h12, h21 = 1.0, -1.0

        def host(v: dict[str, Any]) -> dict[str, Any]:
            return {"x": h11 * v["x"] + h12 * v["y"], "y": h21 * v["x"] + h22 * v["y"]}

        raw = np.asarray(host_view(param)).astype(dtype_of(x))
        self._level1("rotm", {"x": x, "y": y}, ("x", "y"), [], host, more=[raw.ctypes.data_as(ctypes.c_void_p)])

    def rotmg(self, d1: float, d2: float, x1: float, y1: float) -> tuple[float, float, float, Any]:
        """Returns (d1, d2, x1, param) of the modified Givens rotation that takes (sqrt(d1) * x1, sqrt(d2) * y1) to a
        point whose second coordinate is 0: the new d1, d2 and x1, and the array of five numbers that ``rotm`` takes
        (Lawson et al., ACM Transactions on Mathematical Software 5, 1979)."""
        return modified_rotation(d1, d2, x1, y1)

    def _level1(
        self,
        name: str,
        given: dict[str, Any],
        stored: Sequence[str],
        numbers: Sequence[Any],
        host: Callable[[dict[str, Any]], dict[str, Any]],
        behind: bool = False,
        real: Sequence[bool] = (),
        more: Sequence[Any] = (),
    ) -> None:
        key = None if more else key_of(name, given.values())
        call = None if key is None else _plans.get(key[0])
        if key is not None and call is not None:
            call.run(stream_of(given.values(), self.stream), key[1], numbers)
            return
        letter = letter_of(list(given.values()))
        same_size(*given.values())
        require_writable(*(given[each] for each in stored))
        if not runs_on_gpu(*given.values()):
            views = {word: checked_vector(value) for word, value in given.items()}
            for word, value in host(views).items():
                views[word][...] = value
            return
        there = OnGpu(given, stored, self.stream)
        arguments: list[Any] = []
        size = 0
        for place, (word, value) in enumerate(there.arrays.items()):
            offset, size, step = vector_of(value, word)
            arguments += [At(place, offset), step]
        flags = list(real) or [False] * len(numbers)
        values = [Number(place, real_of(letter) if flag else letter) for place, flag in enumerate(flags)]
        arguments = [*arguments, *values, *more] if behind else [*values, *arguments, *more]
        call = Call(_names(f"{letter.upper()}{name}"), [size, *arguments])
        if key is not None:
            _plans.keep(key[0], call)
        call.run(there.stream, [*map(address_of, there.arrays.values())], numbers)
        there.give_back()

    # ------------------------------------------------------------ levels 2 and 3

    def _routine(self, name: str, *arguments: Any) -> None:
        row, key = ROUTINES[name], key_of(name, arguments)
        call = None if key is None else _plans.get(key[0])
        if key is not None and call is not None:
            of_arrays, of_numbers = places_of(name)
            stream = stream_of([arguments[each] for each in of_arrays], self.stream)
            call.run(stream, key[1], [arguments[each] for each in of_numbers])
            return
        given = checked(name, row, arguments)
        arrays = {word: given[word] for word in row.arguments if word in ARRAYS}
        letter = letter_of(list(arrays.values()))
        if letter not in row.types:
            kind = "complex" if row.types == "cz" else "real"
            raise TypeError(f"{name} is for {kind} numbers, not for {np.dtype(KINDS[letter])}")
        require_writable(*(arrays[word] for word in row.stored))
        shapes = checked_shapes(name, given, arrays)
        if not runs_on_gpu(*arrays.values()):
            run_on_host(name, row, given, arrays, shapes)
            return
        there = OnGpu(arrays, row.stored, self.stream)
        call = _spelled(name, row, letter, given, there.arrays)
        if key is not None:
            _plans.keep(key[0], call)
        addresses = [*map(address_of, there.arrays.values())]
        call.run(there.stream, addresses, [given[word] for word in row.arguments if word in NUMBERS])
        there.give_back()

    def gemm_strided_batched(
        self, transa: str, transb: str, m: int, n: int, k: int, alpha: Any, A: Any, B: Any, beta: Any, C: Any
    ) -> None:
        """Stores ``alpha * op(A[i]) @ op(B[i]) + beta * C[i]`` to ``C[i]`` for each i.

        ``A``, ``B`` and ``C`` are arrays of three dimensions whose first one numbers the matrices; ``A`` or ``B`` may
        be one matrix, with two dimensions, for all i. The other arguments, orders and errors are those of ``gemm``.
        ValueError is raised if the first dimensions differ.
        """
        row, arguments = ROUTINES["gemm"], (transa, transb, m, n, k, alpha, A, B, beta, C)
        key = key_of("gemm_strided_batched", arguments)
        call = None if key is None else _plans.get(key[0])
        if key is not None and call is not None:
            call.run(stream_of((A, B, C), self.stream), key[1], [alpha, beta])
            return
        given = checked("gemm", row, arguments)
        arrays = {"A": A, "B": B, "C": C}
        letter = letter_of(list(arrays.values()))
        require_writable(C)
        count = batch(arrays)
        if not runs_on_gpu(*arrays.values()):
            views = {key: host_view(value) for key, value in arrays.items()}
            for i in range(count):
                each = {key: value[i] if value.ndim == 3 else value for key, value in views.items()}
                self._routine("gemm", *(each[w] if w in MATRICES else given[w] for w in row.arguments))
            return
        there = OnGpu(arrays, ("C",), self.stream)
        spelled: list[Any] = [OPTIONS["transa"][given["transa"]], OPTIONS["transb"][given["transb"]], m, n, k]
        spelled.append(Number(0, letter))
        for place, (word, array) in enumerate(there.arrays.items()):
            if word == "C":
                spelled.append(Number(1, letter))
            found = memory_of(array)
            assert found is not None
            first = array[0] if len(found.shape) == 3 else array
            columns = columns_of(first, word)
            check_columns(word, columns, extents("gemm", given)[word])
            stride = found.strides[0] // found.size if len(found.shape) == 3 else 0
            spelled += [At(place), columns.leading, ctypes.c_longlong(stride)]
        call = Call([f"cublas{letter.upper()}gemmStridedBatched"], [*spelled, count])
        if key is not None:
            _plans.keep(key[0], call)
        call.run(there.stream, [*map(address_of, there.arrays.values())], [alpha, beta])
        there.give_back()

    def gemm_batched(
        self,
        transa: str,
        transb: str,
        m: int,
        n: int,
        k: int,
        alpha: Any,
        A: Sequence[Any],
        B: Sequence[Any],
        beta: Any,
        C: Sequence[Any],
    ) -> None:
        """Stores ``alpha * op(A[i]) @ op(B[i]) + beta * C[i]`` to ``C[i]`` for each i, where ``A``, ``B`` and ``C`` are
        lists of matrices of one length. The other arguments, orders and errors are those of ``gemm``. ValueError is
        raised if the lengths differ."""
        if not len(A) == len(B) == len(C):
            raise ValueError(f"the lists have {len(A)}, {len(B)} and {len(C)} matrices; they have the same number")
        everything = [*A, *B, *C]
        if not everything:
            return
        row = ROUTINES["gemm"]
        letter = letter_of(everything)
        for a, b, c in zip(A, B, C, strict=True):
            given = checked("gemm", row, (transa, transb, m, n, k, alpha, a, b, beta, c))
            checked_shapes("gemm", given, {"A": a, "B": b, "C": c})
        require_writable(*C)
        leading = [[columns_of(each, word).leading for each in of] for word, of in (("A", A), ("B", B), ("C", C))]
        same = all(len(set(each)) == 1 for each in leading)
        if not same or not runs_on_gpu(*everything) or not all(map(is_on_device, everything)):
            for a, b, c in zip(A, B, C, strict=True):
                self._routine("gemm", transa, transb, m, n, k, alpha, a, b, beta, c)
            return
        stream = stream_of(everything, self.stream)
        device = device_of_all([address_of(each) for each in everything])
        with on_device(device):
            lists = [to_device(np.array([address_of(each) for each in of], np.uint64)) for of in (A, B, C)]
            spelled: list[Any] = [
                OPTIONS["transa"][transa],
                OPTIONS["transb"][transb],
                m,
                n,
                k,
                number_of(letter, alpha),
            ]
            spelled += [address(lists[0]), leading[0][0], address(lists[1]), leading[1][0], number_of(letter, beta)]
            spelled += [address(lists[2]), leading[2][0], len(A)]
            handle_of_device(device).call([f"cublas{letter.upper()}gemmBatched"], stream, spelled)


def _names(function: str) -> list[str]:
    """The names of a function in the versions of cuBLAS."""
    return [f"cublas{function}_v2", f"cublas{function}"]


def _spelled(name: str, row: Routine, letter: str, given: dict[str, Any], arrays: dict[str, Any]) -> Call:
    """The cuBLAS call of a routine with arrays on the GPU."""
    spelled: list[Any] = []
    places = {word: place for place, word in enumerate(arrays)}
    numbers = [word for word in row.arguments if word in NUMBERS]
    for word in row.arguments:
        if word in SIZES:
            spelled.append(given[word])
        elif word in OPTIONS:
            spelled.append(OPTIONS[word][given[word]])
        elif word in NUMBERS:
            spelled.append(Number(numbers.index(word), real_of(letter) if word in row.real else letter))
        elif word in VECTORS:
            offset, _, step = vector_of(arrays[word], word)
            spelled += [At(places[word], offset), step]
        elif word == "AP":
            spelled.append(At(places[word]))
        else:
            spelled += [At(places[word]), columns_of(arrays[word], word).leading]
    return Call(_names(f"{letter.upper()}{name}"), spelled)


def _method(name: str) -> Callable[..., None]:
    words = ROUTINES[name].arguments

    def run(self: Blas, *arguments: Any, **named: Any) -> None:
        if named:
            unknown = [each for each in named if each not in words]
            if unknown:
                raise TypeError(f"{name} takes no argument '{unknown[0]}'; its arguments are {', '.join(words)}")
            arguments = (*arguments, *(named[each] for each in words[len(arguments) :] if each in named))
        self._routine(name, *arguments)

    run.__name__ = name
    meaning = MEANINGS[name]
    run.__doc__ = f"``{name}({', '.join(words)})``: {meaning}."
    return run


for _name in ROUTINES:
    setattr(Blas, _name, _method(_name))


# ---------------------------------------------------------------- in the order of NumPy's arrays


def matmul(a: Any, b: Any, out: Any = None, stream: Any = None) -> Any:
    """Returns the product of two matrices as ``numpy.matmul`` defines it. In arrays of three dimensions the first one
    numbers the matrices; a matrix with two dimensions is then multiplied with all of the other array.

    ``a`` has the shape (…, m, k) and ``b`` the shape (…, k, n), both of float32, float64, complex64 or complex128. The
    result has the shape (…, m, n), the same type and the library of the arguments; ``out`` is an array for it.
    ``stream`` is the stream of the work on a GPU. The method is cuBLAS's ``gemm`` on a GPU and NumPy's product
    elsewhere. Raises ValueError for shapes that do not fit, and TypeError for other or different types.
    """
    first, second = how_of(a), how_of(b)
    third = (None, 0) if out is None else how_of(out)
    key = None
    if first is not None and second is not None and third is not None:
        key = "matmul", first[0], second[0], third[0]
        product = _plans.get(key)
        if product is not None:
            address = third[1]
            if out is None:
                out = product.library.empty(product.shape, product.dtype, a, stream)
                address = address_of(out)
            of_a, of_b = first[1], second[1]
            addresses = (of_b, of_a, address) if product.swapped else (of_a, of_b, address)
            product.call.run(stream_of((a, b, out), stream), addresses, _ONE_AND_ZERO)
            return out
    a, b = _by_matrices(as_operand(a)), _by_matrices(as_operand(b))
    shape = _shape_of_product(a, b)
    if out is None:
        out = _empty_like(a if is_on_device(a) or not is_on_device(b) else b, shape, stream)
    elif tuple(shape_of(out)) != shape:
        raise ValueError(f"'out' has shape {shape}, not {tuple(shape_of(out))}")
    if not runs_on_gpu(a, b, out):
        require_writable(out)
        host_view(out)[...] = np.matmul(host_view(a), host_view(b))
        return out
    rows, columns, inner = shape[-2], shape[-1], shape_of(a)[-1]
    turned = is_turned(out)
    given: tuple[Any, ...]
    if turned:
        # cuBLAS sees the transpose of the result, which is the product of the transposes in reverse order.
        given = (_option(b, "N"), _option(a, "N"), columns, rows, inner, 1.0, b, a, 0.0, out)
    else:
        given = (_option(a, "T"), _option(b, "T"), rows, columns, inner, 1.0, a, b, 0.0, out)
    name = "gemm_strided_batched" if len(shape) == 3 else "gemm"
    getattr(Blas(external_stream(stream_of((a, b, out), stream))), name)(*given)
    made = key_of(name, given)
    if key is not None and made is not None:
        library = library_of(a)
        assert library is not None
        _plans.keep(key, _Product(_plans.get(made[0]), turned, shape, dtype_of(out), library))
    return out


_ONE_AND_ZERO = 1.0, 0.0


class _Product(NamedTuple):
    """The plan of a product of two matrices in NumPy's order."""

    call: Call
    swapped: bool  # whether b comes before a in the call
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    library: Library  # that of the results


def _shape_of_product(a: Any, b: Any) -> tuple[int, ...]:
    letter_of([a, b])
    shapes = tuple(shape_of(a)), tuple(shape_of(b))
    if not all(2 <= len(each) <= 3 for each in shapes) or shapes[0][-1] != shapes[1][-2]:
        raise ValueError(f"arrays of shapes {shapes[0]} and {shapes[1]} have no product")
    batches = {each[0] for each in shapes if len(each) == 3}
    if len(batches) > 1:
        raise ValueError(f"arrays of shapes {shapes[0]} and {shapes[1]} have batches of different sizes")
    return (*batches, shapes[0][-2], shapes[1][-1])


def _empty_like(array: Any, shape: tuple[int, ...], stream: Any) -> Any:
    """A new array with the type, library and device of this array."""
    return (library_of(array) or HOST).empty(shape, dtype_of(array), array, stream)


def _by_matrices(array: Any) -> Any:
    """A host array whose matrices have contiguous rows or columns: the array itself or a copy in C order."""
    apart = isinstance(array, np.ndarray) and array.ndim == 3 and array.itemsize not in array.strides[1:]
    return np.ascontiguousarray(array) if apart else array


def _option(array: Any, if_turned: str) -> str:
    """The option ``if_turned`` for an array that cuBLAS reads as its transpose, and else the opposite option."""
    return if_turned if is_turned(array) else "T" if if_turned == "N" else "N"


def dot(a: Any, b: Any, out: Any = None, stream: Any = None) -> Any:
    """Returns the product of two vectors as a number, of a matrix of shape (m, n) and a vector of n elements as a
    vector of m elements, or of two matrices as ``matmul`` does. Types, ``out``, ``stream`` and errors are those of
    ``matmul``."""
    a, b = as_operand(a), as_operand(b)
    ranks = len(shape_of(a)), len(shape_of(b))
    if ranks == (1, 1):
        return Blas(stream).dot(a, b)
    if ranks == (2, 1):
        m, n = shape_of(a)
        if shape_of(b)[0] != n:
            raise ValueError(f"arrays of shapes {tuple(shape_of(a))} and {tuple(shape_of(b))} have no product")
        if out is None:
            out = _empty_like(a if is_on_device(a) else b, (m,), stream)
        turned = columns_of(a, "a").turned
        sizes = (n, m) if turned else (m, n)
        Blas(stream).gemv("T" if turned else "N", *sizes, 1, a, b, 0, out)  # type: ignore[attr-defined]
        return out
    return matmul(a, b, out, stream)
