import parpy


@parpy.jit
def f(a, n, s):
    #pragma parallel for simd simd
    for i in range(n):
        a[i] = 1
    #pragma parallel sequential for
    for i in range(n):
        a[i] = 1
    #pragma sequential for simd
    for i in range(n):
        a[i] = 1
    #pragma parallel for simd(64) block(128)
    for i in range(n):
        a[i] = 1
    #pragma simd num_warps(2)
    for i in range(n):
        a[i] = 1
    #pragma parallel for shared(s, s)
    for i in range(n):
        s += a[i]
    #pragma parallel for reduction(max:s)
    for i in range(n):
        s += a[i]
    #pragma parallel for
    #pragma simd
    for i in range(n):
        a[i] = 1
    #pragma :n=>parallel,parallel
    a[:n] = 1
    #pragma :n=>parallel,reduce(sum)
    a[:n] = 1
    #pragma :n=>reduce(sum),reduction(sum)
    a[0] = sum(a[:n])
    #pragma :n=>single_block
    a[:n] = 1
    #pragma :n=>block(64),le(32)
    a[:n] = 1
