"""a + the sum of tanh of its diagonal."""

import numpy as np

import parpy.appy as appy


@appy.jit
def loops(a, out, N):
    trace = 0.0
    #pragma parallel for simd reduction(+:trace)
    for i in range(N):
        trace += np.tanh(a[i, i])
    #pragma parallel for
    for i in range(N):
        #pragma simd
        for j in range(N):
            out[i, j] = a[i, j] + trace


@appy.jit(auto_simd=True)
def tensors(a, out, N):
    trace = 0.0
    #pragma parallel for simd shared(trace)
    for i in range(N):
        trace += np.tanh(a[i, i])
    #pragma :N=>parallel :N=>parallel
    out[:N, :N] = a[:N, :N] + trace
