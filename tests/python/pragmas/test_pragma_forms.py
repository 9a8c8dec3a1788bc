"""Every form of a pragma, on every back end: the program gives the results of Python's interpreter, and NVRTC compiles
its CUDA text."""

# ruff: noqa: E501
from __future__ import annotations

import numpy as np
import pytest

import backends
import nvrtc
import parpy
from fresh_functions import fresh

RNG = np.random.default_rng(20)
N = 261  # no multiple of a vector


def given(name):
    """Arguments by name: arrays of N numbers, matrices of 12 × N, labels."""
    kinds = {
        "a": lambda: RNG.random(N),
        "b": lambda: RNG.random(N),
        "A": lambda: RNG.random((12, N)),
        "B": lambda: RNG.random((12, N)),
        "C": lambda: RNG.random((5, 12, N)),
        "D": lambda: RNG.random((5, 12, N)),
        "K": lambda: 5,
        "y": lambda: np.zeros(12),
        "k": lambda: RNG.integers(0, 12, N),
        "count": lambda: np.zeros(12, np.int64),
        "p": lambda: RNG.permutation(N),
        "s": lambda: 0.5,
        "out": lambda: np.zeros(1),
        "M": lambda: 12,
        "N": lambda: N,
    }
    return kinds[name]()


FORMS = {
    # loops
    "parallel_for": ("a b N", "#pragma parallel for\nfor i in range(N):\n    a[i] += 2 * b[i]"),
    "parallel": ("a b N", "#pragma parallel\nfor i in range(N):\n    a[i] += 2 * b[i]"),
    "parallel_for_simd": ("a b N", "#pragma parallel for simd\nfor i in range(N):\n    a[i] += 2 * b[i]"),
    "simd_width": ("a b N", "#pragma parallel for simd(64)\nfor i in range(N):\n    a[i] += 2 * b[i]"),
    "block": ("a b N", "#pragma parallel for block(512)\nfor i in range(N):\n    a[i] += 2 * b[i]"),
    "num_warps": (
        "A y M N",
        "#pragma parallel num_warps(2)\nfor i in range(M):\n    #pragma simd\n    for j in range(N):\n        y[i] += A[i, j]",
    ),
    "step": ("a N", "#pragma parallel for\nfor i in range(1, N, 3):\n    a[i] = i"),
    "two_levels": (
        "A B M N",
        "#pragma parallel for\nfor i in range(M):\n    #pragma simd(32)\n    for j in range(N):\n        A[i, j] *= B[i, j]",
    ),
    "nested_parallel": (
        "A B M N",
        "#pragma parallel for\nfor i in range(M):\n    #pragma parallel for simd\n    for j in range(N):\n"
        "        A[i, j] *= B[i, j]",
    ),
    "memory_cell": (
        "A y M N",
        "#pragma parallel for\nfor i in range(M):\n    y[i] = 0.0\n    #pragma simd\n    for j in range(N):\n"
        "        y[i] += A[i, j] * A[i, j]",
    ),
    "scalar_in_worker": (
        "A y M N",
        "#pragma parallel for\nfor i in range(M):\n    m = float('-inf')\n    #pragma simd\n    for j in range(N):\n"
        "        m = np.maximum(m, A[i, j])\n    y[i] = m",
    ),
    "run_time_bounds": (
        "A y k M",
        "#pragma parallel for\nfor i in range(M):\n    s = 0.0\n    #pragma simd\n    for j in range(k[i], 3 * k[i] + i):\n"
        "        s += A[i, j]\n    y[i] = s",
    ),
    "reduction": (
        "a out N",
        "s = 0.0\n#pragma parallel for simd reduction(+:s)\nfor i in range(N):\n    s += a[i]\nout[0] = s",
    ),
    "reduction_of_two": (
        "a out N",
        "s = 0.0\nt = 0.0\n#pragma parallel for reduction(+:s, t)\nfor i in range(N):\n    s += a[i]\n    t += s * 0 + 1\n"
        "out[0] = s",
    ),
    "reduction_product": (
        "a out N",
        "s = 1.0\n#pragma parallel for reduction(*:s)\nfor i in range(N):\n    s *= 1 + a[i] / N\nout[0] = s",
    ),
    "reduction_max": (
        "a out N",
        "s = 0.0\n#pragma parallel for simd reduction(max:s)\nfor i in range(N):\n    s = max(s, a[i])\nout[0] = s",
    ),
    "reduction_min": (
        "a out N",
        "s = 9.0\n#pragma parallel for simd reduction(min:s)\nfor i in range(N):\n    s = min(s, a[i])\nout[0] = s",
    ),
    "reduction_of_element": (
        "a out N",
        "#pragma parallel for simd reduction(+:out)\nfor i in range(N):\n    out[0] += a[i]",
    ),
    "reduction_bits": (
        "k out N",
        "s = 0\n#pragma parallel for reduction(|:s)\nfor i in range(N):\n    s |= 1 << k[i]\nout[0] = s",
    ),
    "reduction_and": (
        "k out N",
        "s = -1\n#pragma parallel for simd reduction(&:s)\nfor i in range(N):\n    s &= ~(1 << k[i] % 5)\nout[0] = s",
    ),
    "reduction_xor": (
        "k out N",
        "s = 0\n#pragma parallel for simd reduction(^:s)\nfor i in range(N):\n    s ^= k[i] + i\nout[0] = s",
    ),
    "reduction_of_three_operators": (
        "a out N",
        "s, m, n = 0.0, 0.0, 9.0\n#pragma parallel for simd reduction(+:s) reduction(max:m) reduction(min:n)\n"
        "for i in range(N):\n    s += a[i]\n    m = max(m, a[i])\n    n = min(n, a[i])\nout[0] = s + m - n",
    ),
    "reduction_in_worker": (
        "A y M N",
        "#pragma parallel for\nfor i in range(M):\n    s = 0.0\n    #pragma simd reduction(+:s)\n    for j in range(N):\n"
        "        s += A[i, j]\n    y[i] = s",
    ),
    "shared": ("a out N", "s = 0.0\n#pragma parallel for simd shared(s)\nfor i in range(N):\n    s += a[i]\nout[0] = s"),
    "shared_in_order": (
        "a out N",
        "s = 0.0\n#pragma parallel for shared(s)\nfor i in range(N):\n    if a[i] > 0.9:\n        s = a[i]\nout[0] = s",
    ),
    "shared_carried": (
        "a N",
        "s = 0.0\n#pragma parallel for shared(s)\nfor i in range(N):\n    s = 0.5 * s + a[i]\n    a[i] = s",
    ),
    "to_and_from": ("a b N", "#pragma parallel for to(a, b) from(a)\nfor i in range(N):\n    a[i] = b[i]"),
    "to_nothing": ("a b N", "#pragma parallel for to() global(a)\nfor i in range(N):\n    a[i] = b[i]"),
    "sequential_for": ("a N", "#pragma sequential for\nfor i in range(1, N):\n    a[i] += 0.5 * a[i - 1]"),
    "sequential_with_simd": (
        "A y M",
        "#pragma sequential for\nfor i in range(M):\n    s = 0.0\n    #pragma simd\n    for j in range(i):\n"
        "        s += A[i, j] * y[j]\n    y[i] = 1 - s",
    ),
    "simd_alone": ("a b N", "#pragma simd\nfor i in range(N):\n    a[i] = b[i]"),
    "scattered": ("a b p N", "#pragma parallel for\nfor i in range(N):\n    a[p[i]] = b[i]"),
    "atomic": ("count k N", "#pragma parallel for\nfor i in range(N):\n    #pragma atomic\n    count[k[i]] += 1"),
    "atomic_plain": (
        "y a k N",
        "#pragma parallel for simd\nfor i in range(N):\n    #pragma atomic\n    y[k[i]] = y[k[i]] + a[i]",
    ),
    "atomic_max": (
        "y a k N",
        "#pragma parallel for\nfor i in range(N):\n    #pragma atomic\n    y[k[i]] = max(y[k[i]], a[i])",
    ),
    "atomic_min": (
        "y a k N",
        "#pragma parallel for simd\nfor i in range(N):\n    #pragma atomic\n    y[k[i]] = min(y[k[i]], -a[i])",
    ),
    "atomic_reversed": (
        "y a k N",
        "#pragma parallel for\nfor i in range(N):\n    #pragma atomic\n    y[k[i]] = a[i] + y[k[i]]",
    ),
    "atomic_of_rows": (
        "A B k M N",
        "#pragma parallel for\nfor i in range(M):\n    #pragma atomic :N=>le(512)\n    A[k[i], :N] += B[i, :N]",
    ),
    "relaxation": (
        "A M N",
        "for k in range(3):\n    #pragma parallel for\n    for i in range(M):\n        #pragma simd\n"
        "        for j in range(N):\n            A[i, j] = min(A[i, j], A[i, k] + A[k, j])",
    ),
    "prange": ("a b N", "for i in appy.prange(N):\n    a[i] = b[i]"),
    "range_parallel": ("a b N", "for i in appy.range(1, N, parallel=True, simd=True):\n    a[i] = b[i]"),
    "range_simd": (
        "A B M N",
        "for i in appy.range(M, parallel=True):\n    for j in appy.range(N, simd=True):\n        A[i, j] = B[i, j]",
    ),
    "host_loop": (
        "a b N",
        "for t in range(3):\n    #pragma parallel for simd\n    for i in range(1, N - 1):\n        b[i] = a[i - 1] + a[i + 1]\n"
        "    #pragma parallel for simd\n    for i in range(1, N - 1):\n        a[i] = 0.5 * b[i]",
    ),
    "blank_line": ("a b N", "#pragma parallel for\n\n# a remark\nfor i in range(N):\n    a[i] = b[i]"),
    "label_too": ("a b N", "#pragma parallel for\nparpy.label('i')\nfor i in range(N):\n    a[i] = b[i]"),
    "masked": ("a b N", "#pragma parallel for simd\nfor i in range(N):\n    a[i] = b[i] if b[i] > 0.5 else 0.0"),
    # tensor statements
    "tensor_parallel": ("a b N", "#pragma :N=>parallel\na[:N] = 2 * b[:N]"),
    "tensor_three": (
        "C D K M N",
        "#pragma :K=>parallel 1:M-1=>parallel :N=>simd\nC[:K, 1:M-1, :N] = D[:K, 2:M, :N] - D[:K, :M-2, :N]",
    ),
    "tensor_parallel_simd": ("a b N", "#pragma :N=>parallel,simd(64)\na[:N] = 2 * b[:N]"),
    "tensor_two": ("A B M N", "#pragma :M=>parallel :N=>parallel\nA[:M, :N] += B[:M, :N]"),
    "tensor_bounds": (
        "A B M N",
        "#pragma 1:M-1=>parallel 1:N-1=>parallel\n"
        "B[1:M-1, 1:N-1] = A[1:M-1, :N-2] + A[1:M-1, 2:N] + A[2:M, 1:N-1] + A[:M-2, 1:N-1]",
    ),
    "tensor_negative": (
        "A B M N",
        "#pragma 1:M-1=>parallel 1:N-1=>parallel\nB[1:-1, 1:-1] = A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1]",
    ),
    "tensor_reduction": (
        "A a y M N",
        "#pragma :M=>parallel :N=>reduction(sum:y)\ny[:M] = appy.mv(2 * A[:M, :N], a[:N])",
    ),
    "tensor_reduce": ("A a y M N", "#pragma :M=>parallel :N=>reduce(sum)\ny[:M] = A[:M, :N] @ a[:N]"),
    "tensor_reduce_max": ("A y M N", "#pragma :M=>parallel :N=>reduce(max:y)\ny[:M] = np.max(A[:M, :N], axis=1)"),
    "tensor_reduce_min": ("A y M N", "#pragma :M=>parallel :N=>reduce(min)\ny[:M] = A[:M, :N].min(axis=1)"),
    "tensor_reduce_prod": ("A y M N", "#pragma :M=>parallel :N=>reduce(prod)\ny[:M] = np.prod(A[:M, :N] + 0.5, axis=1)"),
    "tensor_reduction_max": ("A y M N", "#pragma :M=>parallel :N=>reduction(max:y)\ny[:M] = np.max(A[:M, :N], axis=1)"),
    "tensor_reduction_of_three": (
        "C y K M N",
        "#pragma :M=>parallel :K=>reduce(sum) :N=>reduce(sum)\ny[:M] = np.sum(C[:K, :M, :N], axis=(0, 2))",
    ),
    "tensor_reduce_all": ("a out N", "#pragma :N=>reduce(sum:out)\nout[0] = sum(a[:N] * a[:N])"),
    "tensor_reduce_name": ("a out N", "#pragma :N=>reduce(max)\nm = max(a[:N])\nout[0] = m"),
    "tensor_block": (
        "A a y M N",
        "#pragma :M=>parallel,block(2) :N=>reduce(sum),block(128)\ny[:M] = appy.dot(A[:M, :N], a[:N])",
    ),
    "tensor_block_name": ("a b N M", "#pragma :N=>parallel,block(M)\na[:N] = b[:N] + 1"),
    "tensor_simd": ("A B M N", "#pragma :M=>parallel :N=>simd(256)\nA[:M, :N] = np.exp(B[:M, :N])"),
    "tensor_bare_simd": ("A B M N", "#pragma :M=>parallel :N=>simd\nA[:M, :N] = np.exp(B[:M, :N])"),
    "tensor_single_block": ("a b N", "#pragma :N=>block(512),single_block\na[:N] = b[:N] + 1"),
    "tensor_le": ("a b N", "#pragma :N=>le(512)\na[:N] = b[:N] + 1"),
    "tensor_empty": ("A B M N", "#pragma :M=>parallel :N=>\nA[:M, :N] = B[:M, :N] + 1"),
    "tensor_matmul": (
        "A B out M N",
        "#pragma :M=>parallel,block(16) :M=>parallel,block(16) :N=>block(32)\nA[:M, :M] = A[:M, :N] @ B[:M, :N].T",
    ),
    "tensor_columns": ("A a M N", "#pragma :M=>parallel :N=>parallel\nA[:M, :N] *= a[:M, None] + a[None, :N]"),
    "tensor_where": ("a b N", "#pragma :N=>parallel\na[:N] = appy.where(b[:N] > 0.5, a[:N], 0.0)"),
    "tensor_held": (
        "A a y M N",
        "#pragma :M=>parallel :N=>reduce(sum)\ny[:M] = (A[:M, :N] @ a[:N]) - np.mean(A[:M, :N] @ a[:N])",
    ),
    "tensor_two_products": ("A a M N", "#pragma :N=>parallel :M=>reduce(sum)\na[:N] = (A[:M, :N] @ a[:N]) @ A[:M, :N]"),
    "tensor_two_reductions": (
        "A B M N",
        "#pragma parallel for\nfor i in range(M):\n    #pragma :N=>reduce(sum)\n"
        "    B[i, :N] = np.exp(A[i, :N] - max(A[i, :N])) / sum(A[i, :N])",
    ),
    "tensor_overlap": ("A M N", "#pragma :M-1=>parallel 1:N-1=>parallel\nA[:M-1, 1:N-1] = 2 * A[1:M, 2:N]"),
    "tensor_overlap_update": ("A M N", "#pragma 1:M=>parallel 1:N=>simd\nA[1:M, 1:N] += A[:M-1, :N-1] - A[:M-1, 1:N]"),
    "overlap_in_workers": (
        "A M N",
        "#pragma parallel for\nfor i in range(M):\n    A[i, 1:N] = A[i, :N-1] + A[i, N-1]\n    #pragma :N-1=>simd\n"
        "    A[i, :N-1] += A[i, 1:N]",
    ),
    "unannotated": (
        "A B M N",
        "#pragma parallel for\nfor i in range(M):\n    m = max(A[i, :N])\n    s = sum(np.exp(A[i, :N] - m))\n"
        "    B[i, :N] = np.exp(A[i, :N] - m) / s",
    ),
    "unannotated_offsets": (
        "A B M N",
        "#pragma parallel for\nfor i in range(M):\n    B[i, 1:] -= A[i, 1:] - A[i, :-1]\n    B[i, 0] = np.sum(A[i, :])",
    ),
    "vector_by_hand": (
        "A a y M N",
        "#pragma parallel for\nfor i in range(0, M, 1):\n    y[i] = 0.0\n    for j in range(0, N, appy.MVL):\n"
        "        v = appy.vidx(j, appy.MVL, N)\n        y[i] += sum(2 * A[i, v] * a[v])",
    ),
    "vector_in_place": (
        "a b N",
        "#pragma parallel for\nfor j in range(0, N, 64):\n    a[appy.vidx(j, 64, N)] = b[appy.vidx(j, 64, N)]",
    ),
}  # fmt: skip


@pytest.fixture(params=FORMS)
def program(request, tmp_path):
    import parpy.appy as appy

    names, body = FORMS[request.param]
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    function = fresh(f"@parpy.jit\ndef f({', '.join(names.split())}):\n{lines}", tmp_path, appy=appy)
    arguments = tuple(map(given, names.split()))
    want = backends.copies(arguments)
    function.__wrapped__(*want)
    assert any(not np.array_equal(a, b) for a, b in zip(arguments, want, strict=True)), "nothing happens"
    return function, arguments, want


@pytest.mark.filterwarnings("ignore::parpy.PerformanceWarning")
@pytest.mark.parametrize("backend", backends.BACKENDS)
def test_gives_what_python_does(program, backend):
    function, arguments, want = program
    got = backends.copies(arguments)
    backends.run(backend, function, got, {})
    for a, b in zip(want, got, strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-12, atol=1e-12)


@pytest.mark.filterwarnings("ignore::parpy.PerformanceWarning")
def test_cuda_text_compiles(program):
    function, arguments, _ = program
    nvrtc.cubin(backends.cuda_text(function, arguments, {}))


@pytest.mark.filterwarnings("ignore::parpy.PerformanceWarning")
def test_runs_on_the_device(program):
    """No form leaves its loop on the host."""
    function, arguments, _ = program
    found = parpy.explain(function, *arguments, opts=parpy.auto(backend=parpy.CompileBackend.Cuda))
    assert found.facts["kernels"], str(found)
