import parpy


@parpy.jit
def f(a, b, M, N):
    #pragma :=>parallel
    a[:M] = b[:M]
    #pragma 1:=>parallel
    a[1:] = b[1:]
    #pragma :M:2=>parallel
    a[:M:2] = b[:M:2]
    #pragma M=>parallel
    a[:M] = b[:M]
    #pragma :M parallel
    a[:M] = b[:M]
    #pragma :M=>paralel
    a[:M] = b[:M]
    #pragma :M=>block(1.5)
    a[:M] = b[:M]
    #pragma :M=>parallel,
    a[:M] = b[:M]
    #pragma :M=>parallel :N=>reduction(+:a)
    a[:M] = b[:M]
    #pragma :M-=>parallel
    a[:M] = b[:M]
    #pragma :M->parallel
    a[:M] = b[:M]
    #pragma :M=parallel,block(4)
    a[:M] = b[:M]
    #pragma :M=>parallel simd
    a[:M] = b[:M]
    #pragma :M => parallel
    a[:M] = b[:M]
    #pragma :M=>parallel(4)
    a[:M] = b[:M]
    #pragma :M=>le(0)
    a[:M] = b[:M]
