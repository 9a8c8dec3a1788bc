"""y = alpha A x + beta B x."""

import parpy.appy as appy
from parpy.appy import mv


@appy.jit
def loops(alpha, beta, A, B, x, y, N):
    #pragma parallel for
    for i in range(N):
        a = 0.0
        b = 0.0
        #pragma simd
        for j in range(N):
            a += A[i, j] * x[j]
            b += B[i, j] * x[j]
        y[i] = alpha * a + beta * b


@appy.jit(auto_simd=True)
def tensors(alpha, beta, A, B, x, y, N):
    #pragma :N=>parallel :N=>reduce(sum)
    y[:N] = mv(alpha * A[:N, :N], x[:N]) + mv(beta * B[:N, :N], x[:N])
