import parpy


@parpy.jit
def f(a, n, s):
    #pragma paralel for
    for i in range(n):
        a[i] = 1
    #pragma parallel fro
    for i in range(n):
        a[i] = 1
    #pragma omp parallel for
    for i in range(n):
        a[i] = 1
    #pragma for
    for i in range(n):
        a[i] = 1
    #pragma reduction(+:s)
    for i in range(n):
        s += a[i]
    #pragma sequential
    for i in range(n):
        a[i] = 1
    #pragma parallel for simd(0)
    for i in range(n):
        a[i] = 1
    #pragma parallel for block(n)
    for i in range(n):
        a[i] = 1
    #pragma parallel for num_warps(33)
    for i in range(n):
        a[i] = 1
    #pragma parallel for reduction(sum:s)
    for i in range(n):
        s += a[i]
    #pragma parallel for shared(s
    for i in range(n):
        s += a[i]
    #pragma
    for i in range(n):
        a[i] = 1
    #pragam parallel for
    for i in range(n):
        a[i] = 1
    # pragma paralel is a comment, and so is the next one
    #pragma: no cover
    for i in range(n):
        a[i] = 1
    #pragma parallel for single
    for i in range(n):
        a[i] = 1
    #pragma workshare
    for i in range(n):
        a[i] = 1
    #pragma parallel for collapse(2)
    for i in range(n):
        a[i] = 1
