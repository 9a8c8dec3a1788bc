"""Softmax along the last of four dimensions."""

import numpy as np

import parpy.appy as appy
from parpy.appy import exp, maximum


@appy.jit
def loops(x, out, N, H, SM):
    #pragma parallel for
    for n in range(N):
        #pragma parallel for
        for h in range(H):
            #pragma parallel for
            for i in range(SM):
                m = x[n, h, i, 0]
                #pragma simd
                for j in range(SM):
                    m = maximum(m, x[n, h, i, j])
                s = np.float32(0.0)
                #pragma simd
                for j in range(SM):
                    s += exp(x[n, h, i, j] - m)
                #pragma simd
                for j in range(SM):
                    out[n, h, i, j] = exp(x[n, h, i, j] - m) / s


@appy.jit(auto_simd=True)
def tensors(x, out, N, H, SM):
    #pragma parallel for
    for n in range(N):
        #pragma parallel for
        for h in range(H):
            #pragma parallel for
            for i in range(SM):
                m = max(x[n, h, i, :SM])
                s = sum(exp(x[n, h, i, :SM] - m))
                out[n, h, i, :SM] = exp(x[n, h, i, :SM] - m) / s
