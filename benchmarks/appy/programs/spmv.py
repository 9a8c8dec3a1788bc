"""A sparse matrix, its rows compressed, times a vector."""

import parpy.appy as appy


@appy.jit
def loops(row, col, val, x, y, M):
    #pragma parallel for
    for i in range(M):
        y[i] = 0.0
        #pragma simd
        for j in range(row[i], row[1 + i]):
            cols = col[j]
            y[i] += val[j] * x[cols]


@appy.jit(auto_simd=True)
def tensors(row, col, val, x, y, M):
    #pragma parallel for
    for i in range(M):
        y[i] = sum(val[row[i] : row[i + 1]] * x[col[row[i] : row[i + 1]]])
