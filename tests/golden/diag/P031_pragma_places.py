import parpy


@parpy.jit
def f(a, n, s, total):
    #pragma simd
    s = 0.0
    for i in range(n):
        s += a[i]
        #pragma parallel for
    #pragma parallel for
    while n > 0:
        n -= 1
    #pragma parallel for
    a[:n] = 1
    #pragma :n=>parallel
    for i in range(n):
        a[i] = 1
    #pragma atomic
    for i in range(n):
        a[i] = 1
    #pragma atomic
    a[0] = s
    for i in range(n):  #pragma parallel for
        a[i] = 1
    a[0] = (
        #pragma parallel for
        s
    )
    #pragma parallel for shared(a)
    for i in range(n):
        a[i] = 1
    #pragma parallel for shared(totl)
    for i in range(n):
        total += a[i]
    #pragma parallel for reduction(+:s)
    for i in range(n):
        total += a[i]
    #pragma parallel for reduction(+:a)
    for i in range(n):
        a[i] = 2 * i
    #pragma parallel for
