"""parpy.guvectorize: layouts, broadcasting of loops, several outputs, inputs with stores, errors."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

import parpy
from parpy.syntax.names import source_of
from parpy.ufuncs.element_kernels import compiled
from parpy.ufuncs.prototypes import core_call
from ufunc_targets import HOSTS, TARGETS, check_same, on_device, on_host

SHAPES = [(), (3,), (1, 3), (2, 1), (2, 3), (4, 1, 3)]
PRODUCT = ["void(float32[:,:], float32[:,:], float32[:,:])", "void(float64[:,:], float64[:,:], float64[:,:])"]


def product(A, B, C):
    m, n = A.shape
    n, p = B.shape
    for i in range(m):
        for j in range(p):
            C[i, j] = 0
            for k in range(n):
                C[i, j] += A[i, k] * B[k, j]


def row_sum(row, result):
    total = 0.0
    for each in row:
        total += each
    result[0] = total


@pytest.mark.parametrize("target", TARGETS)
def test_products_of_the_slides(target):
    ufunc = parpy.guvectorize(PRODUCT[:1], "(m, n), (n, p) -> (m, p)", target=target)(product)
    a = np.arange(1000 * 2 * 4, dtype=np.float32).reshape(1000, 2, 4)
    b = np.arange(1000 * 4 * 5, dtype=np.float32).reshape(1000, 4, 5)
    check_same(on_host(ufunc(a, b)), np.matmul(a, b))
    assert ufunc.signature == "(m,n),(n,p)->(m,p)"
    assert (type(ufunc) is np.ufunc) == (target in HOSTS)


@pytest.mark.parametrize("target", TARGETS)
def test_loops_broadcast(target):
    ufunc = parpy.guvectorize(PRODUCT, "(m,n),(n,p)->(m,p)", target=target)(product)
    for first, second in itertools.product(SHAPES, SHAPES):
        a, b = np.random.rand(*first, 2, 4), np.random.rand(*second, 4, 5)
        check_same(on_host(ufunc(a, b)), np.matmul(a, b))
    a, b = np.random.rand(3, 2, 4), np.random.rand(3, 5, 4)
    check_same(on_host(ufunc(a[::-1], np.swapaxes(b, 1, 2))), np.matmul(a[::-1], np.swapaxes(b, 1, 2)))
    check_same(on_host(ufunc(np.empty((0, 2, 4)), b[0].T)), np.empty((0, 2, 5)))
    check_same(on_host(ufunc(np.empty((3, 2, 0)), np.empty((0, 5)))), np.zeros((3, 2, 5)))


@pytest.mark.parametrize("target", [each for each in TARGETS if each not in HOSTS])
def test_arrays_on_the_device(target):
    ufunc = parpy.guvectorize(PRODUCT, "(m,n),(n,p)->(m,p)", target=target)(product)
    a, b = np.random.rand(3, 2, 4), np.random.rand(4, 5)
    there = on_device(a)
    found = ufunc(there, b)
    assert type(found) is type(there)
    np.testing.assert_allclose(on_host(found), a @ b)
    out = on_device(np.zeros((3, 2, 5)))
    assert ufunc(there, on_device(b), out=out) is out
    np.testing.assert_allclose(on_host(out), a @ b)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "keywords",
    [{}, {"axis": 0}, {"axis": 1, "keepdims": True}, {"keepdims": True}, {"axes": [(0,)]}, {"axes": [1, ()]}],
)
def test_axes(target, keywords):
    ufunc = parpy.guvectorize(["void(float64[:], float64[:])"], "(n)->()", target=target)(row_sum)
    x = np.random.rand(3, 4, 5)
    axis = keywords.get("axis", -1) if "axes" not in keywords else [0, 1][len(keywords["axes"]) - 1]
    check_same(on_host(ufunc(x, **keywords)), x.sum(axis=axis, keepdims=keywords.get("keepdims", False)))


@pytest.mark.parametrize("target", TARGETS)
def test_numbers_and_several_outputs(target):
    def scaled(row, factor, result, most):
        largest = -1e300
        for i in range(row.shape[0]):
            result[i] = row[i] * factor
            largest = max(largest, result[i])
        most[0] = largest

    for signatures in (["void(float64[:], float64, float64[:], float64[:])"], None):
        given = ([signatures] if signatures else []) + ["(n),()->(n),()"]
        ufunc = parpy.guvectorize(*given, target=target)(scaled)
        x, factors = np.random.rand(3, 4), np.array([1.0, 2.0, 3.0])
        check_same(on_host(ufunc(x, 2.0)), (x * 2, (x * 2).max(axis=1)))
        check_same(on_host(ufunc(x, factors)), (x * factors[:, None], (x * factors[:, None]).max(axis=1)))
        check_same(on_host(ufunc(x[0], factors)), (x[0] * factors[:, None], (x[0] * factors[:, None]).max(axis=1)))
        out = np.empty((3, 4)), np.empty(3)
        assert ufunc(x, 2.0, out=out)[0] is out[0]
        check_same(out, (x * 2, (x * 2).max(axis=1)))

    def first(number, row, result):
        result[0] = number[0] + row[0]

    ufunc = parpy.guvectorize(["void(float64[:], float64[:], float64[:])"], "(),(n)->()", target=target)(first)
    check_same(on_host(ufunc(1.0, x)), x[:, 0] + 1)
    check_same(on_host(ufunc(factors, x)), x[:, 0] + factors)


@pytest.mark.parametrize("target", TARGETS)
def test_fixed_and_optional_dimensions(target):
    @parpy.guvectorize("(3),(3)->(3)", target=target)
    def cross(a, b, c):
        c[0] = a[1] * b[2] - a[2] * b[1]
        c[1] = a[2] * b[0] - a[0] * b[2]
        c[2] = a[0] * b[1] - a[1] * b[0]

    check_same(on_host(cross(np.array([1.0, 0, 0]), np.eye(3))), np.cross([1.0, 0, 0], np.eye(3)))
    with pytest.raises(ValueError, match=r"mismatch in its core dimension 0.*size 4 is different from 3"):
        cross(np.arange(4.0), np.arange(4.0))

    matmul = parpy.guvectorize("(m?,n),(n,p?)->(m?,p?)", target=target)(product)
    for first, second in [((2, 3), (3,)), ((3,), (3,)), ((2, 3), (3, 2)), ((3,), (3, 2)), ((5, 2, 3), (3, 2))]:
        a, b = np.random.rand(*first), np.random.rand(*second)
        check_same(on_host(matmul(a, b)), np.matmul(a, b))


@pytest.mark.parametrize("target", TARGETS)
def test_inputs_that_are_stored_to(target):
    @parpy.guvectorize(["void(float64[:], float64[:])"], "(n)->()", writable_args=("row",), target=target)
    def take(row, result):
        result[0] = row[0]
        row[0] = -1

    x = np.arange(6.0).reshape(2, 3)
    check_same(on_host(take(x)), np.array([0.0, 3.0]))
    np.testing.assert_array_equal(x, [[-1, 1, 2], [-1, 4, 5]])
    x = np.arange(12.0).reshape(4, 3)[::2]
    check_same(on_host(take(x)), np.array([0.0, 6.0]))
    np.testing.assert_array_equal(x[:, 0], [-1, -1])
    fixed = np.arange(3.0)
    fixed.flags.writeable = False
    with pytest.raises((TypeError, ValueError)):
        take(fixed)


@pytest.mark.parametrize("target", TARGETS)
def test_outputs_and_types(target):
    ufunc = parpy.guvectorize(["void(float64[:], float64[:])"], "(n)->()", target=target)(row_sum)
    x = np.random.rand(3, 4)
    check_same(on_host(ufunc(x[0])), x[0].sum())
    check_same(on_host(ufunc(np.arange(4))), np.float64(6))
    out = np.empty(3, "f4")
    assert ufunc(x, out=out) is out
    np.testing.assert_allclose(out, x.sum(axis=1), rtol=1e-6)
    inside = x.copy()
    ufunc(inside, out=inside[:, 0])
    np.testing.assert_allclose(inside[:, 0], x.sum(axis=1))
    for bad, error in [
        (lambda: ufunc(1j * x), TypeError),
        (lambda: ufunc(x, out=np.empty(3, int)), TypeError),
        (lambda: ufunc(x, out=np.empty(4)), ValueError),
        (lambda: ufunc(x, out=np.broadcast_to(0.0, 3)), ValueError),
        (lambda: ufunc(1.0), ValueError),
        (lambda: ufunc(), TypeError),
    ]:
        with pytest.raises(error):
            bad()


@pytest.mark.parametrize("target", TARGETS)
def test_sizes_that_disagree(target):
    ufunc = parpy.guvectorize(PRODUCT, "(m,n),(n,p)->(m,p)", target=target)(product)
    for a, b, text in [
        ((2, 3), (4, 5), r"core: Input operand 1 has a mismatch in its core dimension 0.*\(m,n\),\(n,p\)->\(m,p\)"),
        ((3,), (3, 3), "does not have enough dimensions"),
        ((2, 2, 2), (3, 2, 2), "could not be broadcast"),
    ]:
        with pytest.raises(ValueError, match=text.replace("core:", "product:")):
            ufunc(np.ones(a), np.ones(b))


@pytest.mark.parametrize(
    "layout",
    [
        "(m->n)",
        "(m)->(n",
        "(m),->(n)",
        "(1a)->()",
        "(m?),(m)->()",
        "m->n",
        "->(n)",
        "(m)(n)->()",
        "(m)->",
        "(m)->(n)->()",
        "(0)->()",
    ],
)
def test_layouts_that_do_not_parse(layout):
    with pytest.raises(ValueError, match="cannot be read"):
        parpy.guvectorize(layout)


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (
            lambda: parpy.guvectorize(["float64(float64[:], float64[:])"], "(n)->()")(row_sum),
            TypeError,
            "cannot return values",
        ),
        (lambda: parpy.guvectorize(["void(float64[:,:], float64[:])"], "(n)->()")(row_sum), TypeError, "1 dimensions"),
        (
            lambda: parpy.guvectorize(["void(float64[:], float64)"], "(n)->()")(row_sum),
            TypeError,
            "array of one element",
        ),
        (lambda: parpy.guvectorize(["void(float64[:])"], "(n)->()")(row_sum), TypeError, "2 operands"),
        (lambda: parpy.guvectorize("(n),(n)->()")(row_sum), TypeError, "3 operands"),
        (lambda: parpy.guvectorize("(n)->()", writable_args=("other",))(row_sum), ValueError, "writable_args"),
        (lambda: parpy.guvectorize(["void(float64[:], float64[:])"]), TypeError, "a layout"),
    ],
)
def test_decorators_that_mean_nothing(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_one_large_product_runs_on_all_threads_of_a_device():
    """The function's loops are mapped together with the broadcast loops, not one thread for a product."""
    call = core_call(source_of(product), "x0[i0], x1[i0], y0[i0]")
    text = f"def gufunc_cores(x0, x1, y0, n0):\n    for i0 in range(n0):\n        {call}\n"
    function = compiled(text, "gufunc_cores", source_of(product))
    a, b, c = np.ones((3, 1, 512, 512), np.float32)
    shown = parpy.print_compiled(function, (a, b, c, 1), parpy.auto(backend=parpy.CompileBackend.Cuda))
    threads = [int(each) for each in re.findall(r"__launch_bounds__\((\d+)", shown)]
    assert threads and min(threads) >= 64
