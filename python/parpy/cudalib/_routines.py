"""The routines of cuBLAS as a table: each row has the arguments of a routine in cuBLAS's order."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple


class Routine(NamedTuple):
    """``types`` has the letters of the element types. ``arguments`` are words: sizes (``m n k kl ku``), options
    (``trans uplo diag side``), numbers (``alpha beta``), matrices (``A B C``, each with its leading dimension), packed
    matrices (``AP``) and vectors (``x y``, each with its stride). ``real`` names the numbers that are real for complex
    types as well. ``stored`` names the arguments that the call stores to."""

    types: str
    arguments: tuple[str, ...]
    stored: tuple[str, ...]
    real: tuple[str, ...] = ()


def _row(types: str, arguments: str, stored: str, real: str = "") -> Routine:
    return Routine(types, tuple(arguments.split()), tuple(stored.split()), tuple(real.split()))


ROUTINES = {
    # Level 2.
    "gbmv": _row("sdcz", "trans m n kl ku alpha A x beta y", "y"),
    "gemv": _row("sdcz", "trans m n alpha A x beta y", "y"),
    "trmv": _row("sdcz", "uplo trans diag n A x", "x"),
    "tbmv": _row("sdcz", "uplo trans diag n k A x", "x"),
    "tpmv": _row("sdcz", "uplo trans diag n AP x", "x"),
    "trsv": _row("sdcz", "uplo trans diag n A x", "x"),
    "tpsv": _row("sdcz", "uplo trans diag n AP x", "x"),
    "tbsv": _row("sdcz", "uplo trans diag n k A x", "x"),
    "symv": _row("sdcz", "uplo n alpha A x beta y", "y"),
    "hemv": _row("cz", "uplo n alpha A x beta y", "y"),
    "sbmv": _row("sd", "uplo n k alpha A x beta y", "y"),
    "hbmv": _row("cz", "uplo n k alpha A x beta y", "y"),
    "spmv": _row("sd", "uplo n alpha AP x beta y", "y"),
    "hpmv": _row("cz", "uplo n alpha AP x beta y", "y"),
    "ger": _row("sd", "m n alpha x y A", "A"),
    "geru": _row("cz", "m n alpha x y A", "A"),
    "gerc": _row("cz", "m n alpha x y A", "A"),
    "syr": _row("sdcz", "uplo n alpha x A", "A"),
    "her": _row("cz", "uplo n alpha x A", "A", "alpha"),
    "spr": _row("sd", "uplo n alpha x AP", "AP"),
    "hpr": _row("cz", "uplo n alpha x AP", "AP", "alpha"),
    "syr2": _row("sdcz", "uplo n alpha x y A", "A"),
    "her2": _row("cz", "uplo n alpha x y A", "A"),
    "spr2": _row("sd", "uplo n alpha x y AP", "AP"),
    "hpr2": _row("cz", "uplo n alpha x y AP", "AP"),
    # Level 3.
    "gemm": _row("sdcz", "transa transb m n k alpha A B beta C", "C"),
    "syrk": _row("sdcz", "uplo trans n k alpha A beta C", "C"),
    "herk": _row("cz", "uplo trans n k alpha A beta C", "C", "alpha beta"),
    "syr2k": _row("sdcz", "uplo trans n k alpha A B beta C", "C"),
    "her2k": _row("cz", "uplo trans n k alpha A B beta C", "C", "beta"),
    "symm": _row("sdcz", "side uplo m n alpha A B beta C", "C"),
    "hemm": _row("cz", "side uplo m n alpha A B beta C", "C"),
    "trsm": _row("sdcz", "side uplo trans diag m n alpha A B", "B"),
    "trmm": _row("sdcz", "side uplo trans diag m n alpha A B C", "C"),
    # Beyond BLAS.
    "dgmm": _row("sdcz", "side m n A x C", "C"),
    "geam": _row("sdcz", "transa transb m n alpha A beta B C", "C"),
}

# The effect of each routine on matrices in Fortran order. The option of `op` selects the matrix itself ("N"), its
# transpose ("T") or its conjugate transpose ("C"). A band matrix is stored with one row for each of its diagonals.
MEANINGS = {
    "gbmv": "y becomes alpha * op(A) @ x + beta * y, for a band matrix of kl diagonals below and ku above the main one",
    "gemv": "y becomes alpha * op(A) @ x + beta * y, for a matrix of m rows and n columns",
    "trmv": "x becomes op(A) @ x, for a triangular matrix",
    "tbmv": "x becomes op(A) @ x, for a triangular band matrix of k diagonals beside the main one",
    "tpmv": "x becomes op(A) @ x, for a packed triangular matrix",
    "trsv": "x becomes the solution z of op(A) @ z = x, for a triangular matrix",
    "tbsv": "x becomes the solution z of op(A) @ z = x, for a triangular band matrix of k diagonals beside the main",
    "tpsv": "x becomes the solution z of op(A) @ z = x, for a packed triangular matrix",
    "symv": "y becomes alpha * A @ x + beta * y, for a symmetric matrix",
    "hemv": "y becomes alpha * A @ x + beta * y, for a Hermitian matrix",
    "sbmv": "y becomes alpha * A @ x + beta * y, for a symmetric band matrix of k diagonals beside the main one",
    "hbmv": "y becomes alpha * A @ x + beta * y, for a Hermitian band matrix of k diagonals beside the main one",
    "spmv": "y becomes alpha * A @ x + beta * y, for a packed symmetric matrix",
    "hpmv": "y becomes alpha * A @ x + beta * y, for a packed Hermitian matrix",
    "ger": "A becomes alpha * outer(x, y) + A",
    "geru": "A becomes alpha * outer(x, y) + A",
    "gerc": "A becomes alpha * outer(x, conj(y)) + A",
    "syr": "a triangle of A becomes that of alpha * outer(x, x) + A",
    "her": "a triangle of A becomes that of alpha * outer(x, conj(x)) + A",
    "spr": "the packed matrix becomes alpha * outer(x, x) + A",
    "hpr": "the packed matrix becomes alpha * outer(x, conj(x)) + A",
    "syr2": "a triangle of A becomes that of alpha * (outer(x, y) + outer(y, x)) + A",
    "her2": "a triangle of A becomes that of alpha * outer(x, conj(y)) + conj(alpha) * outer(y, conj(x)) + A",
    "spr2": "the packed matrix becomes alpha * (outer(x, y) + outer(y, x)) + A",
    "hpr2": "the packed matrix becomes alpha * outer(x, conj(y)) + conj(alpha) * outer(y, conj(x)) + A",
    "gemm": "C becomes alpha * op(A) @ op(B) + beta * C, of m rows and n columns, with sums of k products",
    "syrk": "a triangle of C becomes that of alpha * op(A) @ op(A).T + beta * C",
    "herk": "a triangle of C becomes that of alpha * op(A) @ conj(op(A)).T + beta * C",
    "syr2k": "a triangle of C becomes that of alpha * (op(A) @ op(B).T + op(B) @ op(A).T) + beta * C",
    "her2k": "a triangle of C becomes that of alpha * op(A) @ conj(op(B)).T + its conjugate transpose + beta * C",
    "symm": "C becomes alpha * A @ B + beta * C (side 'L'), or alpha * B @ A + beta * C ('R'), for a symmetric A",
    "hemm": "C becomes alpha * A @ B + beta * C (side 'L'), or alpha * B @ A + beta * C ('R'), for a Hermitian A",
    "trsm": "B becomes the solution X of op(A) @ X = alpha * B (side 'L'), or X @ op(A) = alpha * B ('R')",
    "trmm": "C becomes alpha * op(A) @ B (side 'L'), or alpha * B @ op(A) ('R'), for a triangular A",
    "dgmm": "C becomes diag(x) @ A (side 'L'), or A @ diag(x) ('R')",
    "geam": "C becomes alpha * op(A) + beta * op(B)",
}

# The words by their sort.
SIZES = frozenset(["m", "n", "k", "kl", "ku"])
OPTIONS = {
    "trans": {"N": 0, "T": 1, "C": 2},
    "transa": {"N": 0, "T": 1, "C": 2},
    "transb": {"N": 0, "T": 1, "C": 2},
    "uplo": {"L": 0, "U": 1},
    "diag": {"N": 0, "U": 1},
    "side": {"L": 0, "R": 1},
}
NUMBERS = frozenset(("alpha", "beta"))
MATRICES = frozenset("ABC")
VECTORS = frozenset("xy")
ARRAYS = MATRICES | VECTORS | {"AP"}


@cache
def places_of(name: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The places of the arrays and of the numbers among the arguments of a routine."""
    words = list(enumerate(ROUTINES[name].arguments))
    return tuple(i for i, word in words if word in ARRAYS), tuple(i for i, word in words if word in NUMBERS)


def extents(name: str, given: dict[str, object]) -> dict[str, tuple[int, int]]:
    """The least numbers of rows and columns of each array of a call, in column order. Vectors and packed matrices have
    one column."""
    size = {key: value for key, value in given.items() if isinstance(value, int)}
    m, n, k = size.get("m", 0), size.get("n", 0), size.get("k", 0)
    option = {key: value for key, value in given.items() if isinstance(value, str)}

    def turned(key: str, rows: int, columns: int) -> tuple[int, int]:
        return (rows, columns) if option.get(key) == "N" else (columns, rows)

    side = m if option.get("side") == "L" else n
    packed = n * (n + 1) // 2
    match name:
        case "gbmv":
            band = (size["kl"] + size["ku"] + 1, n)
            x, y = (n, m) if option["trans"] == "N" else (m, n)
            return {"A": band, "x": (x, 1), "y": (y, 1)}
        case "gemv":
            x, y = (n, m) if option["trans"] == "N" else (m, n)
            return {"A": (m, n), "x": (x, 1), "y": (y, 1)}
        case "tbmv" | "tbsv" | "sbmv" | "hbmv":
            return {"A": (k + 1, n), "x": (n, 1), "y": (n, 1)}
        case "ger" | "geru" | "gerc":
            return {"A": (m, n), "x": (m, 1), "y": (n, 1)}
        case "gemm":
            return {"A": turned("transa", m, k), "B": turned("transb", k, n), "C": (m, n)}
        case "syrk" | "herk" | "syr2k" | "her2k":
            return {"A": turned("trans", n, k), "B": turned("trans", n, k), "C": (n, n)}
        case "symm" | "hemm" | "trsm" | "trmm":
            return {"A": (side, side), "B": (m, n), "C": (m, n)}
        case "dgmm":
            return {"A": (m, n), "x": (side, 1), "C": (m, n)}
        case "geam":
            return {"A": turned("transa", m, n), "B": turned("transb", m, n), "C": (m, n)}
    return {"A": (n, n), "AP": (packed, 1), "x": (n, 1), "y": (n, 1)}
