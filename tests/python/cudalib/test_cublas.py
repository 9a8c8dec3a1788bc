"""parpy.cudalib.cublas on the CPU: every routine against its definition by BLAS."""

from __future__ import annotations

import numpy as np
import pytest

from parpy.cudalib import cublas
from parpy.cudalib._routines import ROUTINES

BLAS = cublas.Blas()
TYPES = {"s": "f4", "d": "f8", "c": "c8", "z": "c16"}
M, N, K = 5, 4, 3
RNG = np.random.default_rng(3)


def numbers(shape, letter):
    found = RNG.standard_normal(shape)
    if letter in "cz":
        found = found + 1j * RNG.standard_normal(shape)
    return np.asfortranarray(found.astype(TYPES[letter]))


def op(a, trans):
    return {"N": a, "T": a.T, "C": a.conj().T}[trans]


def half(a, uplo, diag="N"):
    found = np.triu(a) if uplo == "U" else np.tril(a)
    if diag == "U":
        found = found - np.diag(np.diag(found)) + np.eye(len(a))
    return found


def whole(a, uplo, hermitian):
    strict = half(a, uplo) - np.diag(np.diag(a))
    return strict + (strict.conj().T if hermitian else strict.T) + np.diag(np.diag(a).real if hermitian else np.diag(a))


def in_packed(a, uplo):
    """The columns of a triangle, one after the other."""
    columns = [a[: j + 1, j] if uplo == "U" else a[j:, j] for j in range(len(a))]
    return np.concatenate(columns)


def in_band(a, k, uplo):
    """The diagonals of a triangle as rows, the main one last (upper) or first (lower)."""
    n = len(a)
    found = np.zeros((k + 1, n), a.dtype, order="F")
    for j in range(n):
        for i in range(n):
            d = j - i if uplo == "U" else i - j
            if 0 <= d <= k:
                found[k - d if uplo == "U" else d, j] = a[i, j]
    return found


def only_band(a, k):
    i, j = np.indices(a.shape)
    return np.where(abs(i - j) <= k, a, 0)


def well(a):
    """A matrix far from singular, from `a`."""
    return np.asfortranarray(a + 5 * np.eye(len(a), dtype=a.dtype))


def close(found, wanted, letter):
    tolerance = 2e-4 if letter in "sc" else 1e-10
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


def letters(name):
    return [pytest.param(each, id=f"{name}-{each}") for each in ROUTINES[name].types]


OPTIONS = [(uplo, trans, diag) for uplo in "UL" for trans in "NTC" for diag in "NU"]


@pytest.mark.parametrize("letter", "sdcz")
def test_level_1(letter):
    x, y = numbers(7, letter), numbers(7, letter)
    close(BLAS.nrm2(x), np.sqrt((abs(x) ** 2).sum()), letter)
    close(BLAS.asum(x), (abs(x.real) + abs(x.imag)).sum(), letter)
    assert BLAS.amax(x) == np.argmax(abs(x.real) + abs(x.imag)) and BLAS.amin(x) == np.argmin(abs(x.real) + abs(x.imag))
    close(BLAS.dot(x, y), (x * y).sum(), letter)
    close(BLAS.dotu(x, y), (x * y).sum(), letter)
    close(BLAS.dotc(x, y), (x.conj() * y).sum(), letter)
    a, b = x.copy(), y.copy()
    BLAS.axpy(2, a, b)
    close(b, 2 * x + y, letter)
    BLAS.scal(-1, b[::2])
    close(b[::2], -(2 * x + y)[::2], letter)
    BLAS.copy(x, b)
    BLAS.swap(a, b)
    BLAS.rot(a, y, 0.6, 0.8)
    close(a, 0.6 * x + 0.8 * numbers_before(y, x), letter)


def numbers_before(y, x):
    """The y for which a rotation of (x, y) by (0.6, 0.8) gives the new `y`."""
    return (y + 0.8 * x) / 0.6


def test_rotations():
    r, z, c, s = BLAS.rotg(3.0, 4.0)
    np.testing.assert_allclose((r, c, s), (5, 0.6, 0.8))
    np.testing.assert_allclose(z, 1 / 0.6)
    assert BLAS.rotg(0.0, 0.0) == (0, 0, 1, 0)
    for d1, d2, x1, y1 in [(1.0, 2.0, 3.0, 4.0), (2.0, 1.0, 4.0, 1.0), (1e-9, 1.0, 2.0, 1.0), (1.0, 0.0, 1.0, 1.0)]:
        e1, _, x, param = BLAS.rotmg(d1, d2, x1, y1)
        a, b = np.array([x1]), np.array([y1])
        BLAS.rotm(a, b, param)
        if d2 != 0:
            np.testing.assert_allclose(b, 0, atol=1e-12)
            np.testing.assert_allclose(a, x)
            np.testing.assert_allclose(e1 * x * x, d1 * x1 * x1 + d2 * y1 * y1)


@pytest.mark.parametrize("letter", "sdcz")
@pytest.mark.parametrize("trans", "NTC")
def test_general_vectors(letter, trans):
    a = numbers((M, N), letter)
    x, y = (numbers(n, letter) for n in ((N, M) if trans == "N" else (M, N)))
    found = y.copy()
    BLAS.gemv(trans, M, N, 2, a, x, 3, found)
    close(found, 2 * op(a, trans) @ x + 3 * y, letter)
    kl, ku = 1, 2
    i, j = np.indices((M, N))
    dense = np.where((i - j <= kl) & (j - i <= ku), a, 0)
    band = np.zeros((kl + ku + 1, N), a.dtype, order="F")
    for row in range(M):
        for column in range(N):
            if dense[row, column] != 0:
                band[ku + row - column, column] = dense[row, column]
    found = y.copy()
    BLAS.gbmv(trans, M, N, kl, ku, 2, band, x, 3, found)
    close(found, 2 * op(dense, trans) @ x + 3 * y, letter)


@pytest.mark.parametrize("letter", "sdcz")
@pytest.mark.parametrize(("uplo", "trans", "diag"), OPTIONS)
def test_triangles(letter, uplo, trans, diag):
    a, x = well(numbers((N, N), letter)), numbers(N, letter)
    triangle = op(half(a, uplo, diag), trans)
    for product, solved, given, matrix in [
        ("trmv", "trsv", (a,), triangle),
        ("tpmv", "tpsv", (in_packed(a, uplo),), triangle),
        ("tbmv", "tbsv", (2, in_band(a, 2, uplo)), op(half(only_band(a, 2), uplo, diag), trans)),
    ]:
        found = x.copy()
        getattr(BLAS, product)(uplo, trans, diag, N, *given, found)
        close(found, matrix @ x, letter)
        getattr(BLAS, solved)(uplo, trans, diag, N, *given, found)
        close(found, x, letter)
    b = numbers((N, K), letter)
    for side, c in (("L", b), ("R", np.asfortranarray(b.T))):
        matrix = op(half(a, uplo, diag), trans)
        found = np.zeros_like(c)
        BLAS.trmm(side, uplo, trans, diag, *c.shape, 2, a, c, found)
        close(found, 2 * (matrix @ c if side == "L" else c @ matrix), letter)
        BLAS.trsm(side, uplo, trans, diag, *c.shape, 0.5, a, found)
        close(found, c, letter)


@pytest.mark.parametrize("uplo", "UL")
@pytest.mark.parametrize(
    ("name", "letter"), [(n, t) for n in ("symv", "hemv", "sbmv", "hbmv", "spmv", "hpmv") for t in ROUTINES[n].types]
)
def test_mirrored_vectors(name, letter, uplo):
    a, x, y = numbers((N, N), letter), numbers(N, letter), numbers(N, letter)
    matrix = whole(only_band(a, 2) if name[1] == "b" else a, uplo, name[0] == "h")
    given = {"b": (2, 0, in_band(a, 2, uplo)), "p": (0, in_packed(a, uplo))}.get(name[1], (0, a))
    given = (*given[:-2], 2, given[-1]) if len(given) == 3 else (2, given[-1])
    found = y.copy()
    getattr(BLAS, name)(uplo, N, *given, x, 3, found)
    close(found, 2 * matrix @ x + 3 * y, letter)


@pytest.mark.parametrize("uplo", "UL")
@pytest.mark.parametrize(
    ("name", "letter"),
    [(n, t) for n in ("syr", "her", "spr", "hpr", "syr2", "her2", "spr2", "hpr2") for t in ROUTINES[n].types],
)
def test_updates(name, letter, uplo):
    a, x, y = numbers((N, N), letter), numbers(N, letter), numbers(N, letter)
    hermitian, two = name[0] == "h", name.endswith("2")
    if hermitian:
        a[np.diag_indices(N)] = a.diagonal().real
    turned = np.conj if hermitian else np.asarray
    alpha = 2 + 1j if two and letter in "cz" else 2
    if two:
        beta = np.conj(alpha) if hermitian else alpha
        change = alpha * np.outer(x, turned(y)) + beta * np.outer(y, turned(x))
    else:
        change = alpha * np.outer(x, turned(x))
    vectors = (x, y) if two else (x,)
    if name[1] == "p":
        found = in_packed(a, uplo)
        getattr(BLAS, name)(uplo, N, alpha, *vectors, found)
        close(found, in_packed(a + change, uplo), letter)
        return
    found = a.copy(order="F")
    getattr(BLAS, name)(uplo, N, alpha, *vectors, found)
    close(half(found, uplo), half(a + change, uplo), letter)
    other = "L" if uplo == "U" else "U"
    close(half(found, other) - np.diag(found.diagonal()), half(a, other) - np.diag(a.diagonal()), letter)


@pytest.mark.parametrize(("name", "letter"), [(n, t) for n in ("ger", "geru", "gerc") for t in ROUTINES[n].types])
def test_outer_products(name, letter):
    a, x, y = numbers((M, N), letter), numbers(M, letter), numbers(N, letter)
    found = a.copy(order="F")
    getattr(BLAS, name)(M, N, 2, x, y, found)
    close(found, a + 2 * np.outer(x, y.conj() if name == "gerc" else y), letter)


@pytest.mark.parametrize("letter", "sdcz")
@pytest.mark.parametrize("transa", "NTC")
@pytest.mark.parametrize("transb", "NTC")
def test_products(letter, transa, transb):
    a, b = numbers((M, K) if transa == "N" else (K, M), letter), numbers((K, N) if transb == "N" else (N, K), letter)
    c = numbers((M, N), letter)
    found = c.copy(order="F")
    BLAS.gemm(transa, transb, M, N, K, 2, a, b, 3, found)
    close(found, 2 * op(a, transa) @ op(b, transb) + 3 * c, letter)
    found[...] = np.nan
    BLAS.gemm(transa, transb, M, N, K, 1, a, b, 0, found)  # beta = 0: `found` is not read
    close(found, op(a, transa) @ op(b, transb), letter)
    d, e = numbers((M, N) if transa == "N" else (N, M), letter), numbers((M, N) if transb == "N" else (N, M), letter)
    BLAS.geam(transa, transb, M, N, 2, d, 3, e, found)
    close(found, 2 * op(d, transa) + 3 * op(e, transb), letter)
    batch = np.stack([a, 2 * a]), np.stack([b, b]), np.zeros((2, N, M), a.dtype)
    fortran = [np.swapaxes(np.ascontiguousarray(np.swapaxes(each, 1, 2)), 1, 2) for each in batch[:2]]
    out = np.swapaxes(batch[2], 1, 2)
    BLAS.gemm_strided_batched(transa, transb, M, N, K, 1, *fortran, 0, out)
    close(out[1], 2 * op(a, transa) @ op(b, transb), letter)
    lists = [[*each] for each in (*fortran, out)]
    BLAS.gemm_batched(transa, transb, M, N, K, 3, lists[0], lists[1], 0, lists[2])
    close(out[0], 3 * op(a, transa) @ op(b, transb), letter)


@pytest.mark.parametrize("uplo", "UL")
@pytest.mark.parametrize("trans", "NT")
@pytest.mark.parametrize(
    ("name", "letter"), [(n, t) for n in ("syrk", "herk", "syr2k", "her2k") for t in ROUTINES[n].types]
)
def test_rank_k(name, letter, uplo, trans):
    hermitian, two = name[0] == "h", "2" in name
    trans = "C" if hermitian and trans == "T" else trans
    a, b = (numbers((N, K) if trans == "N" else (K, N), letter) for _ in range(2))
    c = numbers((N, N), letter)
    if hermitian:
        c[np.diag_indices(N)] = c.diagonal().real
    turn = "C" if hermitian else "T"
    left, right = (op(each, "N" if trans == "N" else turn) for each in (a, b))
    product = left @ op(right, turn) + right @ op(left, turn) if two else left @ op(left, turn)
    found = c.copy(order="F")
    getattr(BLAS, name)(uplo, trans, N, K, 2, a, *((b,) if two else ()), 3, found)
    close(half(found, uplo), half(2 * product + 3 * c, uplo), letter)


@pytest.mark.parametrize("side", "LR")
@pytest.mark.parametrize("letter", "sdcz")
def test_symmetric_and_diagonal_products(side, letter):
    b, c = numbers((M, N), letter), numbers((M, N), letter)
    size = M if side == "L" else N
    a, x = numbers((size, size), letter), numbers(size, letter)
    for name in ("symm", "hemm") if letter in "cz" else ("symm",):
        for uplo in "UL":
            matrix, found = whole(a, uplo, name == "hemm"), c.copy(order="F")
            getattr(BLAS, name)(side, uplo, M, N, 2, a, b, 3, found)
            close(found, 2 * (matrix @ b if side == "L" else b @ matrix) + 3 * c, letter)
    BLAS.dgmm(side, M, N, b, x, c)
    close(c, np.diag(x) @ b if side == "L" else b @ np.diag(x), letter)


def test_matrices_in_c_order_are_transposes():
    """cuBLAS reads memory in Fortran order, so C order needs "T", as in the seed's examples."""
    a, b = RNG.random((6, 6)), RNG.random((6, 6))
    found = np.zeros((6, 6), order="F")
    BLAS.gemm("T", "T", 6, 6, 6, 1.0, a, b, 1.0, found)
    np.testing.assert_allclose(found, a @ b)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((4, 3), (3, 5)),
        ((1, 3), (3, 5)),
        ((4, 3), (3, 1)),
        ((4, 1), (1, 5)),
        ((1, 1), (1, 1)),
        ((2, 4, 3), (2, 3, 5)),
        ((2, 4, 3), (3, 5)),
        ((4, 3), (2, 3, 5)),
    ],
)
def test_matmul(first, second):
    for change in (np.ascontiguousarray, np.asfortranarray):
        a, b = change(RNG.random(first)), RNG.random(second)
        np.testing.assert_allclose(cublas.matmul(a, b), np.matmul(a, b))
    out = np.empty(np.matmul(a, b).shape)
    assert cublas.matmul(a, b, out) is out
    np.testing.assert_allclose(out, np.matmul(a, b))


def test_dot():
    a, x = RNG.random((4, 3)), RNG.random(3)
    np.testing.assert_allclose(cublas.dot(x, x), x @ x)
    np.testing.assert_allclose(cublas.dot(a, x), a @ x)
    np.testing.assert_allclose(cublas.dot(np.asfortranarray(a), x), a @ x)
    np.testing.assert_allclose(cublas.dot(a, a.T), a @ a.T)


F = np.asfortranarray(np.ones((3, 3)))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: BLAS.gemm("N", "N", 3, 3, 3, 1, F, F.astype("f4"), 0, F.copy()), TypeError, "one type, not"),
        (lambda: BLAS.gemm("N", "X", 3, 3, 3, 1, F, F, 0, F.copy()), ValueError, "'transb' is one of N, T, C"),
        (lambda: BLAS.gemm("N", "N", 3, 4, 3, 1, F, F, 0, F.copy()), ValueError, "the call takes 3 x 4"),
        (lambda: BLAS.gemm("N", "N", 3, 3), TypeError, "gemm takes transa, transb"),
        (lambda: BLAS.gemm("N", "N", -1, 3, 3, 1, F, F, 0, F.copy()), ValueError, "'m' is a size"),
        (lambda: BLAS.gemv("N", 3, 3, 1, F, np.ones(2), 0, np.ones(3)), ValueError, "'x' has 2 elements"),
        (lambda: BLAS.gemv("N", 3, 3, 1, F, np.ones(3), 0, np.broadcast_to(1.0, 3)), ValueError, "read-only"),
        (
            lambda: BLAS.gemv("N", 3, 3, 1, np.ones((6, 6))[::2, ::2], np.ones(3), 0, np.ones(3)),
            ValueError,
            "follow each other",
        ),
        (lambda: BLAS.herk("U", "N", 3, 3, 1, F, 0, F.copy()), TypeError, "herk is for complex numbers"),
        (lambda: BLAS.axpy(1, np.ones(3), np.ones(4)), ValueError, "the same size"),
        (lambda: BLAS.scal(1, np.ones(3, int)), TypeError, "BLAS is for float32"),
        (lambda: cublas.matmul(np.ones((2, 3)), np.ones((2, 3))), ValueError, "have no product"),
    ],
)
def test_wrong_arguments(call, error, text):
    with pytest.raises(error, match=text):
        call()
