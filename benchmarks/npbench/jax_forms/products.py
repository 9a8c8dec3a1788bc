"""Products of matrices and vectors."""

from __future__ import annotations

import jax
import jax.numpy as jnp


def atax(A, x):
    return ((A @ x) @ A,)


def bicg(A, p, r):
    return r @ A, A @ p


def correlation(M, float_n, data):
    deviation = jnp.std(data, axis=0)
    deviation = jnp.where(deviation <= 0.1, 1.0, deviation)
    data = (data - jnp.mean(data, axis=0)) / (jnp.sqrt(float_n) * deviation)
    return (jnp.fill_diagonal(data.T @ data, 1.0, inplace=False),)


def covariance(float_n, data):
    data = data - jnp.mean(data, axis=0)
    return (data.T @ data / (float_n - 1.0),)


def covariance2(data):
    return (jnp.cov(data.T),)


def doitgen(A, C4):
    return (A @ C4,)


def gemm(alpha, beta, C, A, B):
    return (alpha * A @ B + beta * C,)


def gemver(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    A = A + jnp.outer(u1, v1) + jnp.outer(u2, v2)
    x = x + beta * y @ A + z
    return A, w + alpha * A @ x, x


def gesummv(alpha, beta, A, B, x):
    return (alpha * A @ x + beta * B @ x,)


def k2mm(alpha, beta, A, B, C, D):
    return (alpha * A @ B @ C + beta * D,)


def k3mm(A, B, C, D):
    return (A @ B @ C @ D,)


def mvt(x1, x2, y_1, y_2, A):
    return x1 + A @ y_1, x2 + y_2 @ A


def scattering_self_energies(neigh_idx, dH, G, D, Sigma):
    left = jnp.einsum("kEabxv,abivz->kEabixz", G[:, :, neigh_idx], dH)
    right = jnp.einsum("wabij,abjzy->wabizy", D.sum(axis=0), dH)
    energies = G.shape[1]
    for w in range(min(D.shape[1], energies)):
        product = jnp.einsum("kEabixz,abizy->kEaxy", left, right[w])
        Sigma = Sigma.at[:, w:].add(product[:, : energies - w])
    return (Sigma,)


def spmv(A_row, A_col, A_val, x):
    rows = jnp.searchsorted(A_row, jnp.arange(A_col.shape[0], dtype=A_row.dtype), side="right") - 1
    return (jax.ops.segment_sum(A_val * x[A_col], rows, A_row.shape[0] - 1, indices_are_sorted=True),)


def symm(alpha, beta, C, A, B):
    return (beta * C + alpha * (jnp.tril(A) + jnp.tril(A, -1).T) @ B,)


def syr2k(alpha, beta, C, A, B):
    product = A @ B.T
    return (jnp.triu(C, 1) + jnp.tril(beta * C + alpha * (product + product.T)),)


def syrk(alpha, beta, C, A):
    return (jnp.triu(C, 1) + jnp.tril(beta * C + alpha * A @ A.T),)


def trmm(alpha, A, B):
    return (alpha * (B + jnp.tril(A, -1).T @ B),)
