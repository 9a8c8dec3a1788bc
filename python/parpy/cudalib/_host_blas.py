"""The routines of levels 2 and 3 on the CPU, computed by NumPy's matrix products. Matrices are given in column order,
as cuBLAS reads them. Each function returns the new value of the operand that the routine stores to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._operands import columns_of
from ._places import host_view
from ._routines import MATRICES, Routine

Array = Any


def op(a: Array, trans: str) -> Array:
    return a if trans == "N" else a.T if trans == "T" else a.conj().T


def triangle(a: Array, uplo: str, diag: str = "N") -> Array:
    """The upper or lower triangle of a square matrix. ``diag="U"`` sets its diagonal to 1."""
    found = np.triu(a) if uplo == "U" else np.tril(a)
    if diag == "U":
        np.fill_diagonal(found, 1)
    return found


def mirrored(a: Array, uplo: str, hermitian: bool = False) -> Array:
    """The symmetric or hermitian matrix whose triangle ``uplo`` is stored in ``a``."""
    half = triangle(a, uplo)
    other = half.conj().T if hermitian else half.T
    found = half + other
    np.fill_diagonal(found, np.diagonal(a).real if hermitian else np.diagonal(a))
    return found


def _from_band(a: Array, rows: int, columns: int, below: int, above: int) -> Array:
    found = np.zeros((rows, columns), a.dtype)
    for d in range(-below, above + 1):
        for j in range(max(0, d), min(columns, rows + d)):
            found[j - d, j] = a[above - d, j]
    return found


def band(a: Array, n: int, k: int, uplo: str) -> Array:
    """The triangular matrix with ``k`` diagonals beside the main one, from band storage with one row per diagonal."""
    return _from_band(a, n, n, 0, k) if uplo == "U" else _from_band(a, n, n, k, 0)


def packed(ap: Array, n: int, uplo: str) -> Array:
    """The triangular matrix from packed storage, in which the columns of the triangle follow each other."""
    found = np.zeros((n, n), ap.dtype)
    found[_packed_places(n, uplo)] = ap[: n * (n + 1) // 2]
    return found


def _packed_places(n: int, uplo: str) -> tuple[Array, Array]:
    columns, rows = (np.tril_indices if uplo == "U" else np.triu_indices)(n)
    return rows, columns


def _solved(a: Array, b: Array) -> Array:
    """The solution of a triangular system, by NumPy's general solver. A 0 on the diagonal
    raises LinAlgError."""
    return np.linalg.solve(a, b).astype(b.dtype, copy=False)


def _plus(beta: Any, stored: Array, product: Array) -> Array:
    """``product + beta * stored``. If beta is 0, NaN and infinities in ``stored`` have no effect."""
    return product if beta == 0 else product + beta * stored


def _into_triangle(stored: Array, value: Array, uplo: str) -> Array:
    found = stored.copy()
    places = np.triu_indices(len(found)) if uplo == "U" else np.tril_indices(len(found))
    found[places] = value[places]
    return found


def _real_diagonal(a: Array) -> Array:
    found = a.copy()
    np.fill_diagonal(found, np.diagonal(a).real)
    return found


def _outer_update(name: str) -> Callable[..., Array]:
    """The function for one of the routines ``syr her spr hpr syr2 her2 spr2 hpr2``."""
    hermitian, is_packed, two = name[0] == "h", name[1] == "p", name.endswith("2")

    def run(uplo: str, n: int, alpha: Any, x: Array, A: Array = None, y: Array = None, AP: Array = None) -> Array:
        other: Callable[[Array], Array] = np.conj if hermitian else np.asarray
        change = alpha * np.outer(x, other(y if two else x))
        if two:
            change = change + (np.conj(alpha) if hermitian else alpha) * np.outer(y, other(x))
        stored = packed(AP, n, uplo) if is_packed else A
        found = stored + change
        if hermitian:
            found = _real_diagonal(found)
        if is_packed:
            return found[_packed_places(n, uplo)]
        return _into_triangle(stored, found, uplo)

    return run


def gbmv(trans: str, m: int, n: int, kl: int, ku: int, alpha: Any, A: Array, x: Array, beta: Any, y: Array) -> Array:
    return _plus(beta, y, alpha * (op(_from_band(A, m, n, kl, ku), trans) @ x))


def gemv(trans: str, m: int, n: int, alpha: Any, A: Array, x: Array, beta: Any, y: Array) -> Array:
    return _plus(beta, y, alpha * (op(A, trans) @ x))


def _of_triangle(product: bool, form: str) -> Callable[..., Array]:
    def run(uplo: str, trans: str, diag: str, n: int, x: Array, A: Array = None, AP: Array = None, k: int = 0) -> Array:
        whole = packed(AP, n, uplo) if form == "packed" else band(A, n, k, uplo) if form == "band" else A
        matrix = op(triangle(whole, uplo, diag), trans)
        return matrix @ x if product else _solved(matrix, x)

    return run


def _of_mirrored(hermitian: bool, form: str) -> Callable[..., Array]:
    def run(
        uplo: str, n: int, alpha: Any, x: Array, beta: Any, y: Array, A: Array = None, AP: Array = None, k: int = 0
    ) -> Array:
        whole = packed(AP, n, uplo) if form == "packed" else band(A, n, k, uplo) if form == "band" else A
        return _plus(beta, y, alpha * (mirrored(whole, uplo, hermitian) @ x))

    return run


def _ger(conjugated: bool) -> Callable[..., Array]:
    def run(m: int, n: int, alpha: Any, x: Array, y: Array, A: Array) -> Array:
        return A + alpha * np.outer(x, y.conj() if conjugated else y)

    return run


def gemm(
    transa: str, transb: str, m: int, n: int, k: int, alpha: Any, A: Array, B: Array, beta: Any, C: Array
) -> Array:
    return _plus(beta, C, alpha * (op(A, transa) @ op(B, transb)))


def _rank_k(hermitian: bool, two: bool) -> Callable[..., Array]:
    def run(uplo: str, trans: str, n: int, k: int, alpha: Any, A: Array, beta: Any, C: Array, B: Array = None) -> Array:
        turned = "C" if hermitian else "T"
        left = op(A, trans) if trans == "N" else op(A, turned)
        if two:
            right = op(B, trans) if trans == "N" else op(B, turned)
            product = alpha * (left @ op(right, turned))
            product = product + (np.conj(alpha) if hermitian else alpha) * (right @ op(left, turned))
        else:
            product = alpha * (left @ op(left, turned))
        found = _plus(beta, C, product)
        return _into_triangle(C, _real_diagonal(found) if hermitian else found, uplo)

    return run


def _symm(hermitian: bool) -> Callable[..., Array]:
    def run(side: str, uplo: str, m: int, n: int, alpha: Any, A: Array, B: Array, beta: Any, C: Array) -> Array:
        matrix = mirrored(A, uplo, hermitian)
        return _plus(beta, C, alpha * (matrix @ B if side == "L" else B @ matrix))

    return run


def trsm(side: str, uplo: str, trans: str, diag: str, m: int, n: int, alpha: Any, A: Array, B: Array) -> Array:
    matrix = op(triangle(A, uplo, diag), trans)
    return _solved(matrix, alpha * B) if side == "L" else _solved(matrix.T, alpha * B.T).T


def trmm(
    side: str, uplo: str, trans: str, diag: str, m: int, n: int, alpha: Any, A: Array, B: Array, C: Array
) -> Array:
    matrix = op(triangle(A, uplo, diag), trans)
    return alpha * (matrix @ B if side == "L" else B @ matrix)


def dgmm(side: str, m: int, n: int, A: Array, x: Array, C: Array) -> Array:
    return x[:, None] * A if side == "L" else A * x[None, :]


def geam(transa: str, transb: str, m: int, n: int, alpha: Any, A: Array, beta: Any, B: Array, C: Array) -> Array:
    first = 0 if alpha == 0 else alpha * op(A, transa)
    return first + (0 if beta == 0 else beta * op(B, transb)) + np.zeros_like(C)


ROUTINES: dict[str, Callable[..., Array]] = {
    "gbmv": gbmv, "gemv": gemv, "gemm": gemm, "trsm": trsm, "trmm": trmm, "dgmm": dgmm, "geam": geam,
    "trmv": _of_triangle(True, ""), "tbmv": _of_triangle(True, "band"), "tpmv": _of_triangle(True, "packed"),
    "trsv": _of_triangle(False, ""), "tbsv": _of_triangle(False, "band"), "tpsv": _of_triangle(False, "packed"),
    "symv": _of_mirrored(False, ""), "hemv": _of_mirrored(True, ""),
    "sbmv": _of_mirrored(False, "band"), "hbmv": _of_mirrored(True, "band"),
    "spmv": _of_mirrored(False, "packed"), "hpmv": _of_mirrored(True, "packed"),
    "ger": _ger(False), "geru": _ger(False), "gerc": _ger(True),
    "syrk": _rank_k(False, False), "herk": _rank_k(True, False),
    "syr2k": _rank_k(False, True), "her2k": _rank_k(True, True),
    "symm": _symm(False), "hemm": _symm(True),
    **{name: _outer_update(name) for name in ("syr", "her", "spr", "hpr", "syr2", "her2", "spr2", "hpr2")},
}  # fmt: skip


# The indices that `amax` and `amin` return count from 1, as in BLAS.
REDUCTIONS: dict[str, Callable[[Any], Any]] = {
    "nrm2": lambda x: np.linalg.norm(x),
    "asum": lambda x: (np.abs(x.real) + np.abs(x.imag)).sum() if x.dtype.kind == "c" else np.abs(x).sum(),
    "amax": lambda x: 1 + np.argmax(_magnitudes(x)) if x.size else 0,
    "amin": lambda x: 1 + np.argmin(_magnitudes(x)) if x.size else 0,
}


def _magnitudes(x: Any) -> Any:
    return np.abs(x.real) + np.abs(x.imag) if x.dtype.kind == "c" else np.abs(x)


def run_on_host(
    name: str, row: Routine, given: dict[str, Any], arrays: dict[str, Any], shapes: dict[str, tuple[int, int]]
) -> None:
    """Computes a routine for arrays on the host. ``shapes`` has the rows and columns of each array that it uses."""
    views = {}
    for word, array in arrays.items():
        view = host_view(array)
        if word in MATRICES:
            view = view.T if columns_of(view, word).turned else view
            views[word] = view[: shapes[word][0], : shapes[word][1]]
        else:
            views[word] = view[: shapes[word][0]]
    found = ROUTINES[name](**{word: views.get(word, given[word]) for word in row.arguments})
    (stored,) = row.stored
    views[stored][...] = found
