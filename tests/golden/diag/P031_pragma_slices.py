import parpy


@parpy.jit
def f(x, y, A, M, N):
    #pragma :K=>parallel
    y[:M] = x[:M]
    #pragma 1:M=>parallel
    y[:M] = x[:M]
    #pragma :M=>parallel :N=>reduce(sum)
    y[:M] = x[:M]
    #pragma :M=>parallel
    y[0] = 1
    for i in parpy.appy.range(M, parallel=N):
        y[i] = 1
    #pragma :M=>parallel :N=>simd
    t = A[:M, :N] * 2
    A[0, 0] = t[0, 0]
