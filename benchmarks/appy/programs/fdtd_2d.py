"""Electric and magnetic fields in two dimensions."""

import parpy.appy as appy


@appy.jit
def loops(ex, ey, hz, _fict_, TMAX, NX, NY):
    for t in range(TMAX):
        #pragma parallel for simd
        for j in range(NY):
            ey[0, j] = _fict_[t]
        #pragma parallel for
        for i in range(1, NX):
            #pragma simd
            for j in range(NY):
                ey[i, j] -= 0.5 * (hz[i, j] - hz[i - 1, j])
        #pragma parallel for
        for i in range(NX):
            #pragma simd
            for j in range(1, NY):
                ex[i, j] -= 0.5 * (hz[i, j] - hz[i, j - 1])
        #pragma parallel for
        for i in range(NX - 1):
            #pragma simd
            for j in range(NY - 1):
                hz[i, j] -= 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])


@appy.jit(auto_simd=True)
def tensors(ex, ey, hz, _fict_, TMAX, NX, NY):
    for t in range(TMAX):
        #pragma :NY=>parallel
        ey[0, :NY] = _fict_[t]
        #pragma 1:NX=>parallel :NY=>parallel
        ey[1:NX, :NY] -= 0.5 * (hz[1:NX, :NY] - hz[: NX - 1, :NY])
        #pragma :NX=>parallel 1:NY=>parallel
        ex[:NX, 1:NY] -= 0.5 * (hz[:NX, 1:NY] - hz[:NX, : NY - 1])
        #pragma :NX-1=>parallel :NY-1=>parallel
        hz[: NX - 1, : NY - 1] -= 0.7 * (
            ex[: NX - 1, 1:NY] - ex[: NX - 1, : NY - 1] + ey[1:NX, : NY - 1] - ey[: NX - 1, : NY - 1]
        )
