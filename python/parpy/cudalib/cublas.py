"""Linear algebra in the routines of BLAS, on cuBLAS for arrays on a GPU and on NumPy for others.

``Blas().gemm("N", "N", m, n, k, alpha, A, B, beta, C)`` takes the arguments of cuBLAS, in its order, without the
distances between elements, which are those of the arrays, and stores to the last array. Matrices are read in Fortran
order: a matrix in C order is its transpose to cuBLAS, so that such matrices are multiplied with ``"T"``. Functions with
the order of NumPy's arrays are ``matmul`` and ``dot``. Numbers and options are the same for all types: arrays of
float32, float64, complex64 or complex128, all of one type in a call.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..arrays.libraries import HOST, as_operand, dtype_of, is_on_device, library_of, memory_of, shape_of, stream_of
from ..cuda import to_device
from ._host_blas import ROUTINES as HOST_ROUTINES
from ._operands import KINDS, Columns, OnGpu, columns_of, handle_of, is_turned, letter_of, number_of, real_of, vector_of
from ._places import address, host_view, require_writable, runs_on_gpu
from ._rotations import modified_rotation, rotation
from ._routines import MATRICES, NUMBERS, OPTIONS, ROUTINES, SIZES, VECTORS, Routine, extents

__all__ = ["Blas", "dot", "matmul"]


class Blas:
    """The routines of BLAS. ``stream`` is that of all calls of this object; without it, the current one of the library
    that the arrays are of.

    Level 1: ``nrm2 asum amax amin dot dotc dotu scal axpy copy swap rot rotg rotm rotmg``. Level 2: ``gbmv gemv trmv
    tbmv tpmv trsv tpsv tbsv symv hemv sbmv hbmv spmv hpmv ger geru gerc syr her spr hpr syr2 her2 spr2 hpr2``. Level 3:
    ``gemm syrk herk syr2k her2k symm hemm trsm trmm``, and cuBLAS's ``dgmm geam gemm_batched gemm_strided_batched``.

    Options are ``"N" "T" "C"`` (trans), ``"L" "U"`` (uplo), ``"N" "U"`` (diag) and ``"L" "R"`` (side). Raises TypeError
    for arrays of several or other types, and ValueError for sizes and options that do not fit; nothing is written then.
    """

    def __init__(self, stream: Any = None) -> None:
        self.stream = None if stream == 0 else stream

    # ------------------------------------------------------------ level 1

    def nrm2(self, x: Any) -> float:
        """The root of the sum of squares."""
        return float(self._reduced("nrm2", x))

    def asum(self, x: Any) -> float:
        """The sum of magnitudes; of complex numbers, of those of real and imaginary parts."""
        return float(self._reduced("asum", x))

    def amax(self, x: Any) -> int:
        """The index, from 0, of the first element of the largest magnitude."""
        return int(self._reduced("amax", x))

    def amin(self, x: Any) -> int:
        """The index, from 0, of the first element of the smallest magnitude."""
        return int(self._reduced("amin", x))

    def _reduced(self, name: str, x: Any) -> Any:
        letter = letter_of([x])
        if not runs_on_gpu(x):
            return _HOST_REDUCTIONS[name](_checked_vector(x))
        there = OnGpu({"x": x}, (), self.stream)
        pointer, size, step = vector_of(there.arrays["x"], "x")
        capital = letter.upper()
        if name in ("amax", "amin"):
            index = ctypes.c_int()
            names = [f"cublasI{letter}{name}_v2", f"cublasI{letter}{name}"]
            handle_of(there.arrays["x"]).call(names, there.stream, size, pointer, step, ctypes.byref(index))
            return index.value - 1
        prefix = {"c": "Sc", "z": "Dz"}.get(letter, capital)
        result = ctypes.create_string_buffer(8)
        names = [f"cublas{prefix}{name}_v2", f"cublas{prefix}{name}"]
        handle_of(there.arrays["x"]).call(names, there.stream, size, pointer, step, result)
        return np.frombuffer(result.raw, np.float32 if letter in "sc" else np.float64)[0]

    def dot(self, x: Any, y: Any) -> Any:
        """The sum of products; complex numbers are not conjugated."""
        return self._product("dot", x, y)

    def dotu(self, x: Any, y: Any) -> Any:
        """As ``dot``."""
        return self._product("dot", x, y)

    def dotc(self, x: Any, y: Any) -> Any:
        """The sum of products of the conjugates of ``x`` with ``y``."""
        return self._product("dotc", x, y)

    def _product(self, name: str, x: Any, y: Any) -> Any:
        letter = letter_of([x, y])
        _same_size(x, y)
        if not runs_on_gpu(x, y):
            first, second = _checked_vector(x), _checked_vector(y)
            return np.vdot(first, second) if name == "dotc" else np.dot(first, second)
        there = OnGpu({"x": x, "y": y}, (), self.stream)
        (px, size, sx), (py, _, sy) = (vector_of(there.arrays[each], each) for each in "xy")
        kind = dtype_of(there.arrays["x"])
        result = ctypes.create_string_buffer(kind.itemsize)
        spelled = name if letter in "sd" else "dotc" if name == "dotc" else "dotu"
        spelled = "dot" if letter in "sd" else spelled
        names = [f"cublas{letter.upper()}{spelled}_v2", f"cublas{letter.upper()}{spelled}"]
        handle_of(there.arrays["x"]).call(names, there.stream, size, px, sx, py, sy, result)
        return np.frombuffer(result.raw, kind)[0]

    def scal(self, alpha: Any, x: Any) -> None:
        """x = alpha * x"""
        self._level1("scal", {"x": x}, ("x",), [alpha], lambda v: {"x": alpha * v["x"]})

    def axpy(self, alpha: Any, x: Any, y: Any) -> None:
        """y = alpha * x + y"""
        self._level1("axpy", {"x": x, "y": y}, ("y",), [alpha], lambda v: {"y": alpha * v["x"] + v["y"]})

    def copy(self, x: Any, y: Any) -> None:
        """y = x"""
        self._level1("copy", {"x": x, "y": y}, ("y",), [], lambda v: {"y": v["x"]})

    def swap(self, x: Any, y: Any) -> None:
        """x, y = y, x"""
        self._level1("swap", {"x": x, "y": y}, ("x", "y"), [], lambda v: {"x": v["y"].copy(), "y": v["x"].copy()})

    def rot(self, x: Any, y: Any, c: Any, s: Any) -> None:
        """x, y = c * x + s * y, c * y - conj(s) * x"""

        def host(v: dict[str, Any]) -> dict[str, Any]:
            return {"x": c * v["x"] + s * v["y"], "y": c * v["y"] - np.conj(s) * v["x"]}

        self._level1("rot", {"x": x, "y": y}, ("x", "y"), [c, s], host, behind=True, real=(True, False))

    def rotg(self, a: float, b: float) -> tuple[float, float, float, float]:
        """The rotation that makes (a, b) to (r, 0), of real numbers: r, z, c, s as BLAS defines them."""
        return rotation(a, b)

    def rotm(self, x: Any, y: Any, param: Any) -> None:
        """Applies the modified rotation of five numbers that ``rotmg`` makes."""
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
        """The modified rotation that makes (sqrt(d1) * x1, sqrt(d2) * y1) to one with a second component of 0: the new
        d1, d2 and x1, and the five numbers that ``rotm`` takes."""
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
        letter = letter_of(list(given.values()))
        if "y" in given:
            _same_size(given["x"], given["y"])
        require_writable(*(given[each] for each in stored))
        if not runs_on_gpu(*given.values()):
            views = {key: _checked_vector(value) for key, value in given.items()}
            for key, value in host(views).items():
                views[key][...] = value
            return
        there = OnGpu(given, stored, self.stream)
        arguments: list[Any] = []
        size = 0
        for key, value in there.arrays.items():
            pointer, size, step = vector_of(value, key)
            arguments += [pointer, step]
        flags = list(real) or [False] * len(numbers)
        values = [
            number_of(real_of(letter) if flag else letter, each) for flag, each in zip(flags, numbers, strict=True)
        ]
        arguments = [*arguments, *values, *more] if behind else [*values, *arguments, *more]
        names = [f"cublas{letter.upper()}{name}_v2", f"cublas{letter.upper()}{name}"]
        handle_of(there.arrays["x"]).call(names, there.stream, size, *arguments)
        there.give_back()

    # ------------------------------------------------------------ levels 2 and 3

    def _routine(self, name: str, *arguments: Any) -> None:
        row = ROUTINES[name]
        given = _checked(name, row, arguments)
        arrays = {word: given[word] for word in row.arguments if word in MATRICES | VECTORS | {"AP"}}
        letter = letter_of(list(arrays.values()))
        if letter not in row.types:
            kind = "complex" if row.types == "cz" else "real"
            raise TypeError(f"{name} is for {kind} numbers, not for {np.dtype(KINDS[letter])}")
        require_writable(*(arrays[word] for word in row.stored))
        shapes = _checked_shapes(name, given, arrays)
        if not runs_on_gpu(*arrays.values()):
            _run_on_host(name, row, given, arrays, shapes)
            return
        there = OnGpu(arrays, row.stored, self.stream)
        spelled: list[Any] = []
        for word in row.arguments:
            if word in SIZES:
                spelled.append(ctypes.c_int(given[word]))
            elif word in OPTIONS:
                spelled.append(ctypes.c_int(OPTIONS[word][given[word]]))
            elif word in NUMBERS:
                spelled.append(number_of(real_of(letter) if word in row.real else letter, given[word]))
            elif word in VECTORS:
                pointer, _, step = vector_of(there.arrays[word], word)
                spelled += [pointer, ctypes.c_int(step)]
            elif word == "AP":
                spelled.append(address(there.arrays[word]))
            else:
                leading = columns_of(there.arrays[word], word).leading
                spelled += [address(there.arrays[word]), ctypes.c_int(leading)]
        capital = f"cublas{letter.upper()}{name}"
        handle_of(next(iter(there.arrays.values()))).call([f"{capital}_v2", capital], there.stream, *spelled)
        there.give_back()

    def gemm_strided_batched(
        self, transa: str, transb: str, m: int, n: int, k: int, alpha: Any, A: Any, B: Any, beta: Any, C: Any
    ) -> None:
        """``gemm`` of each of the matrices in arrays of three dimensions, the first of which numbers them. One matrix
        (two dimensions) stands for all in ``A`` and ``B``."""
        row = ROUTINES["gemm"]
        given = _checked("gemm", row, (transa, transb, m, n, k, alpha, A, B, beta, C))
        arrays = {"A": A, "B": B, "C": C}
        letter = letter_of(list(arrays.values()))
        require_writable(C)
        count = _batch(arrays)
        if not runs_on_gpu(*arrays.values()):
            views = {key: host_view(value) for key, value in arrays.items()}
            for i in range(count):
                each = {key: value[i] if value.ndim == 3 else value for key, value in views.items()}
                self._routine("gemm", *(each[w] if w in MATRICES else given[w] for w in row.arguments))
            return
        there = OnGpu(arrays, ("C",), self.stream)
        spelled: list[Any] = [
            ctypes.c_int(OPTIONS["transa"][given["transa"]]),
            ctypes.c_int(OPTIONS["transb"][given["transb"]]),
        ]
        spelled += [ctypes.c_int(each) for each in (m, n, k)]
        spelled.append(number_of(letter, alpha))
        for word in ("A", "B", "C"):
            if word == "C":
                spelled.append(number_of(letter, beta))
            array = there.arrays[word]
            found = memory_of(array)
            assert found is not None
            first = array[0] if len(found.shape) == 3 else array
            columns = columns_of(first, word)
            _check_columns(word, columns, extents("gemm", given)[word])
            stride = found.strides[0] // found.size if len(found.shape) == 3 else 0
            spelled += [address(array), ctypes.c_int(columns.leading), ctypes.c_longlong(stride)]
        name = f"cublas{letter.upper()}gemmStridedBatched"
        handle_of(there.arrays["C"]).call([name], there.stream, *spelled, ctypes.c_int(count))
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
        """``gemm`` of each of the matrices in lists of the same length."""
        if not len(A) == len(B) == len(C):
            raise ValueError(f"the lists have {len(A)}, {len(B)} and {len(C)} matrices; they have the same number")
        everything = [*A, *B, *C]
        if not everything:
            return
        row = ROUTINES["gemm"]
        letter = letter_of(everything)
        for a, b, c in zip(A, B, C, strict=True):
            given = _checked("gemm", row, (transa, transb, m, n, k, alpha, a, b, beta, c))
            _checked_shapes("gemm", given, {"A": a, "B": b, "C": c})
        require_writable(*C)
        leading = [[columns_of(each, word).leading for each in of] for word, of in (("A", A), ("B", B), ("C", C))]
        same = all(len(set(each)) == 1 for each in leading)
        if not same or not runs_on_gpu(*everything) or not all(map(is_on_device, everything)):
            for a, b, c in zip(A, B, C, strict=True):
                self._routine("gemm", transa, transb, m, n, k, alpha, a, b, beta, c)
            return
        stream = stream_of(everything, self.stream)
        lists = [to_device(np.array([address(each).value for each in of], np.uint64)) for of in (A, B, C)]
        spelled: list[Any] = [ctypes.c_int(OPTIONS["transa"][transa]), ctypes.c_int(OPTIONS["transb"][transb])]
        spelled += [*map(ctypes.c_int, (m, n, k)), number_of(letter, alpha)]
        spelled += [address(lists[0]), ctypes.c_int(leading[0][0]), address(lists[1]), ctypes.c_int(leading[1][0])]
        spelled += [number_of(letter, beta), address(lists[2]), ctypes.c_int(leading[2][0]), ctypes.c_int(len(A))]
        handle_of(C[0]).call([f"cublas{letter.upper()}gemmBatched"], stream, *spelled)


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
    run.__doc__ = f"cuBLAS's {name}({', '.join(words)}), which stores to {', '.join(ROUTINES[name].stored)}."
    return run


for _name in ROUTINES:
    setattr(Blas, _name, _method(_name))


# ---------------------------------------------------------------- checks


def _checked(name: str, row: Routine, arguments: Sequence[Any]) -> dict[str, Any]:
    if len(arguments) != len(row.arguments):
        raise TypeError(f"{name} takes {', '.join(row.arguments)}, not {len(arguments)} arguments")
    given = dict(zip(row.arguments, arguments, strict=True))
    for word, value in given.items():
        if word in OPTIONS:
            text = value.upper() if isinstance(value, str) else value
            if text not in OPTIONS[word]:
                raise ValueError(f"'{word}' is one of {', '.join(OPTIONS[word])}, not {value!r}")
            given[word] = text
        elif word in SIZES:
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 0 <= value < 2**31:
                raise ValueError(f"'{word}' is a size from 0, not {value!r}")
            given[word] = int(value)
        elif word not in NUMBERS and library_of(value) is None:
            raise TypeError(f"'{word}' is an array, not an object of type {type(value).__name__}")
    return given


def _checked_shapes(name: str, given: dict[str, Any], arrays: dict[str, Any]) -> dict[str, tuple[int, int]]:
    wanted = extents(name, given)
    for word, array in arrays.items():
        if word in VECTORS or word == "AP":
            _, size, step = vector_of(array, word)
            if size < wanted[word][0]:
                raise ValueError(f"'{word}' has {size} elements; {name} takes {wanted[word][0]}")
            if word == "AP" and step != 1:
                raise ValueError("the elements of a packed matrix follow each other")
        else:
            _check_columns(word, columns_of(array, word), wanted[word])
    return wanted


def _check_columns(word: str, found: Columns, wanted: tuple[int, int]) -> None:
    if found.rows < wanted[0] or found.columns < wanted[1]:
        order = "its transpose, as it is in C order, " if found.turned else ""
        raise ValueError(
            f"'{word}' is {order}{found.rows} x {found.columns} in Fortran order; "
            f"the call takes {wanted[0]} x {wanted[1]}"
        )


def _batch(arrays: dict[str, Any]) -> int:
    counts = {word: shape_of(array)[0] for word, array in arrays.items() if len(shape_of(array)) == 3}
    if "C" not in counts or len(set(counts.values())) != 1:
        raise ValueError(
            f"'C' has three dimensions, and the first is the same for all arrays that have three: {counts}"
        )
    return int(counts["C"])


def _same_size(x: Any, y: Any) -> None:
    if shape_of(x) != shape_of(y):
        raise ValueError(f"'x' and 'y' have the same size, not {tuple(shape_of(x))} and {tuple(shape_of(y))}")


def _checked_vector(x: Any) -> Any:
    found = host_view(x)
    if found.ndim != 1:
        raise ValueError(f"a vector has one dimension, not the shape {found.shape}")
    return found


# ---------------------------------------------------------------- on the CPU

_HOST_REDUCTIONS: dict[str, Callable[[Any], Any]] = {
    "nrm2": lambda x: np.linalg.norm(x),
    "asum": lambda x: (np.abs(x.real) + np.abs(x.imag)).sum() if x.dtype.kind == "c" else np.abs(x).sum(),
    "amax": lambda x: np.argmax(_magnitudes(x)) if x.size else -1,
    "amin": lambda x: np.argmin(_magnitudes(x)) if x.size else -1,
}


def _magnitudes(x: Any) -> Any:
    return np.abs(x.real) + np.abs(x.imag) if x.dtype.kind == "c" else np.abs(x)


def _run_on_host(
    name: str, row: Routine, given: dict[str, Any], arrays: dict[str, Any], shapes: dict[str, tuple[int, int]]
) -> None:
    views = {}
    for word, array in arrays.items():
        view = host_view(array)
        if word in MATRICES:
            view = view.T if columns_of(view, word).turned else view
            views[word] = view[: shapes[word][0], : shapes[word][1]]
        else:
            views[word] = view[: shapes[word][0]]
    found = HOST_ROUTINES[name](**{word: views.get(word, given[word]) for word in row.arguments})
    (stored,) = row.stored
    views[stored][...] = found


# ---------------------------------------------------------------- in the order of NumPy's arrays


def matmul(a: Any, b: Any, out: Any = None, stream: Any = None) -> Any:
    """The product of two matrices, or of those in arrays of three dimensions, as ``numpy.matmul`` has it.

    ``out`` takes the result. Raises ValueError for shapes that do not fit, TypeError as routines do.
    """
    a, b = _by_matrices(as_operand(a)), _by_matrices(as_operand(b))
    letter_of([a, b])
    shapes = tuple(shape_of(a)), tuple(shape_of(b))
    if not all(2 <= len(each) <= 3 for each in shapes) or shapes[0][-1] != shapes[1][-2]:
        raise ValueError(f"arrays of shapes {shapes[0]} and {shapes[1]} have no product")
    batches = {each[0] for each in shapes if len(each) == 3}
    if len(batches) > 1:
        raise ValueError(f"arrays of shapes {shapes[0]} and {shapes[1]} have batches of different sizes")
    result = (*batches, shapes[0][-2], shapes[1][-1])
    if out is None:
        anchor = next((each for each in (a, b) if is_on_device(each)), a)
        out = (library_of(anchor) or HOST).empty(result, dtype_of(a), anchor, stream)
    elif tuple(shape_of(out)) != result:
        raise ValueError(f"'out' has shape {result}, not {tuple(shape_of(out))}")
    if not runs_on_gpu(a, b, out):
        require_writable(out)
        host_view(out)[...] = np.matmul(host_view(a), host_view(b))
        return out
    blas, (rows, columns, inner) = Blas(stream), (result[-2], result[-1], shapes[0][-1])
    run = blas.gemm_strided_batched if batches else blas.gemm  # type: ignore[attr-defined]
    if is_turned(out):
        # What cuBLAS reads as the result is its transpose: the product of the transposes, turned round.
        run(_option(b, "N"), _option(a, "N"), columns, rows, inner, 1, b, a, 0, out)
    else:
        run(_option(a, "T"), _option(b, "T"), rows, columns, inner, 1, a, b, 0, out)
    return out


def _by_matrices(array: Any) -> Any:
    """An array of the host in whose matrices rows or columns have their elements side by side."""
    apart = isinstance(array, np.ndarray) and array.ndim == 3 and array.itemsize not in array.strides[1:]
    return np.ascontiguousarray(array) if apart else array


def _option(array: Any, if_turned: str) -> str:
    """The option for an array that is read as its transpose, or the other one."""
    return if_turned if is_turned(array) else "T" if if_turned == "N" else "N"


def dot(a: Any, b: Any, out: Any = None, stream: Any = None) -> Any:
    """The product of two vectors, of a matrix and a vector, or of two matrices."""
    a, b = as_operand(a), as_operand(b)
    ranks = len(shape_of(a)), len(shape_of(b))
    if ranks == (1, 1):
        return Blas(stream).dot(a, b)
    if ranks == (2, 1):
        m, n = shape_of(a)
        if shape_of(b)[0] != n:
            raise ValueError(f"arrays of shapes {tuple(shape_of(a))} and {tuple(shape_of(b))} have no product")
        if out is None:
            anchor = a if is_on_device(a) else b
            out = (library_of(anchor) or HOST).empty((m,), dtype_of(a), anchor, stream)
        turned = columns_of(a, "a").turned
        sizes = (n, m) if turned else (m, n)
        Blas(stream).gemv("T" if turned else "N", *sizes, 1, a, b, 0, out)  # type: ignore[attr-defined]
        return out
    return matmul(a, b, out, stream)
