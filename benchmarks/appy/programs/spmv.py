"""A sparse matrix, its rows compressed, times a vector."""

import parpy.appy as appy


@appy.jit
def loops(A_row, A_col, A_val, x, y, M):
    #pragma parallel for
    for i in range(M):
        y[i] = 0.0
        #pragma simd
        for j in range(A_row[i], A_row[1 + i]):
            cols = A_col[j]
            y[i] += A_val[j] * x[cols]


@appy.jit(auto_simd=True)
def tensors(A_row, A_col, A_val, x, y, M):
    #pragma parallel for
    for i in range(M):
        y[i] = sum(A_val[A_row[i] : A_row[i + 1]] * x[A_col[A_row[i] : A_row[i + 1]]])
