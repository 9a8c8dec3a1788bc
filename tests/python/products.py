"""Programs with sums of products that tests check and benchmarks/contractions.py times: six spellings of the product of
two matrices, and its relatives."""

from __future__ import annotations


def scalar(alpha, beta, c, a, b):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            t = 0.0
            for k in range(a.shape[1]):
                t += a[i, k] * b[k, j]
            c[i, j] = alpha * t + beta * c[i, j]


def zeroed(alpha, beta, c, a, b):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] = 0.0
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def updated(alpha, beta, c, a, b):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def rows(alpha, beta, c, a, b):
    for i in range(c.shape[0]):
        c[i, :] *= beta
        for k in range(a.shape[1]):
            c[i, :] += alpha * a[i, k] * b[k, :]


def expression(alpha, beta, c, a, b):
    c[:] = alpha * a @ b + beta * c


def operator(alpha, beta, c, a, b):
    c[:] = a @ b


SPELLINGS = [scalar, zeroed, updated, rows, expression, operator]


def syrk(alpha, beta, c, a):
    for i in range(a.shape[0]):
        for j in range(i + 1):
            total = 0.0
            for k in range(a.shape[1]):
                total += a[i, k] * a[j, k]
            c[i, j] = beta * c[i, j] + alpha * total


def syr2k(alpha, beta, c, a, b):
    for i in range(a.shape[0]):
        for j in range(i + 1):
            total = 0.0
            for k in range(a.shape[1]):
                total += a[i, k] * b[j, k] + b[i, k] * a[j, k]
            c[i, j] = beta * c[i, j] + alpha * total


def trmm(alpha, a, b):
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            total = b[i, j]
            for k in range(i + 1, b.shape[0]):
                total += a[k, i] * b[k, j]
            b[i, j] = alpha * total


def symm(alpha, beta, c, a, b):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            total = 0.0
            for k in range(i + 1):
                total += a[i, k] * b[k, j]
            for k in range(i + 1, c.shape[0]):
                total += a[k, i] * b[k, j]
            c[i, j] = beta * c[i, j] + alpha * total


def covariance(c, data):
    for i in range(data.shape[1]):
        for j in range(i, data.shape[1]):
            total = 0.0
            for k in range(data.shape[0]):
                total += data[k, i] * data[k, j]
            total /= data.shape[0] - 1.0
            c[i, j] = total
            c[j, i] = total


def convolution(y, x, w):
    for n in range(y.shape[0]):
        for h in range(y.shape[1]):
            for v in range(y.shape[2]):
                for o in range(y.shape[3]):
                    total = 0.0
                    for kh in range(w.shape[0]):
                        for kw in range(w.shape[1]):
                            for ci in range(w.shape[2]):
                                total += x[n, h + kh, v + kw, ci] * w[kh, kw, ci, o]
                    y[n, h, v, o] = max(total, 0.0)


def batched(c, a, b):
    for g in range(c.shape[0]):
        for i in range(c.shape[1]):
            for j in range(c.shape[2]):
                total = 0.0
                for k in range(a.shape[2]):
                    total += a[g, i, k] * b[g, k, j]
                c[g, i, j] = total


def over_batches(c, a, b):
    for r in range(a.shape[0]):
        for q in range(a.shape[1]):
            for p in range(b.shape[1]):
                total = 0.0
                for s in range(b.shape[0]):
                    total += a[r, q, s] * b[s, p]
                c[r, q, p] = total
