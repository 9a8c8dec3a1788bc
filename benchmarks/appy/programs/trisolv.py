"""Solves L x = b for a lower triangle: the sum of each step runs in parallel."""

import parpy.appy as appy
from parpy.appy import dot


@appy.jit
def loops(L, x, b, N):
    for i in range(N):
        total = 0.0
        #pragma parallel for simd reduction(+:total)
        for j in range(i):
            total += L[i, j] * x[j]
        x[i] = (b[i] - total) / L[i, i]


@appy.jit(auto_simd=True)
def tensors(L, x, b, N):
    for i in range(N):
        x[i] = (b[i] - dot(L[i, :i], x[:i])) / L[i, i]
