"""Mean of `data` in each of npt rings of equal width around the origin."""

import numpy as np

import parpy.appy as appy


@appy.jit
def loops(data, radius, res, N, npt):
    rmax = radius[0]
    #pragma parallel for simd reduction(max:rmax)
    for j in range(N):
        rmax = max(rmax, radius[j])
    #pragma parallel for
    for i in range(npt):
        r1 = rmax * i / npt
        r2 = rmax * (i + 1) / npt
        s = 0.0
        count = 0
        #pragma simd
        for j in range(N):
            inside = (r1 <= radius[j]) & (radius[j] < r2)
            s += data[j] if inside else 0.0
            count += 1 if inside else 0
        res[i] = s / count


@appy.jit(auto_simd=True)
def tensors(data, radius, res, N, npt):
    rmax = max(radius[:N])
    #pragma parallel for
    for i in range(npt):
        r1 = rmax * i / npt
        r2 = rmax * (i + 1) / npt
        s = sum(np.where((r1 <= radius[:N]) & (radius[:N] < r2), data[:N], 0.0))
        count = sum(np.where((r1 <= radius[:N]) & (radius[:N] < r2), 1, 0))
        res[i] = s / count
