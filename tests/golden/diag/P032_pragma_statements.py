import numpy as np

import parpy


@parpy.jit
def f(x, y, A, M, N):
    #pragma :M=>parallel :N=>reduction(sum:x)
    y[:M] = A[:M, :N] @ x[:N]
    #pragma :M=>parallel :N=>reduction(max:y)
    y[:M] = A[:M, :N] @ x[:N]
    #pragma :M=>parallel :N=>parallel
    y[:M] = A[:M, :N] @ x[:N]
    #pragma :M=>parallel :N=>reduce(sum)
    y[:M] = np.sum(A[:M, :N] * x[:N])
