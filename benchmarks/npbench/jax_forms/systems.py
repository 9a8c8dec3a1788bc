"""Linear systems and factors of matrices."""

from __future__ import annotations

import jax.numpy as jnp
from jax.lax import fori_loop
from jax.scipy.linalg import solve_triangular


def cholesky(A):
    return (jnp.tril(jnp.linalg.cholesky(A)) + jnp.triu(A, 1),)


cholesky2 = cholesky


def contour_integral(slab_per_bc, Ham, int_pts, Y):
    powers = int_pts[:, None] ** (slab_per_bc / 2 - jnp.arange(slab_per_bc + 1))
    T = jnp.einsum("pn,nij->pij", powers, Ham)
    X = jnp.linalg.solve(T, jnp.broadcast_to(Y, (len(int_pts), *Y.shape)))
    sign = jnp.where(abs(int_pts) < 1.0, -1.0, 1.0)
    return jnp.einsum("p,pim->im", sign, X), jnp.einsum("p,pim->im", sign * int_pts, X)


def durbin(r):
    n = r.shape[0]
    places = jnp.arange(n)

    def step(k, state):
        y, alpha, beta = state
        beta *= 1.0 - alpha * alpha
        # The first k elements in reverse order, then elements that the mask drops.
        total = jnp.sum(jnp.where(places < k, jnp.roll(jnp.flip(r), k) * y, 0.0))
        alpha = -(r[k] + total) / beta
        y = jnp.where(places < k, y + alpha * jnp.roll(jnp.flip(y), k), y)
        return y.at[k].set(alpha), alpha, beta

    y = jnp.zeros_like(r).at[0].set(-r[0])
    return (fori_loop(1, n, step, (y, -r[0], jnp.ones((), r.dtype)))[0],)


def gramschmidt(A):
    n = A.shape[1]
    columns = jnp.arange(n)

    def step(k, state):
        A, Q, R = state
        norm = jnp.sqrt(A[:, k] @ A[:, k])
        q = A[:, k] / norm
        row = jnp.where(columns > k, q @ A, 0.0)
        return A - jnp.outer(q, row), Q.at[:, k].set(q), R.at[k].set(row.at[k].set(norm))

    return fori_loop(0, n, step, (A, jnp.zeros_like(A), jnp.zeros((n, n), A.dtype)))[1:]


def lu(A):
    places = jnp.arange(A.shape[0])

    def step(k, A):
        column = jnp.where(places > k, A[:, k] / A[k, k], 0.0)
        A = A.at[:, k].set(jnp.where(places > k, column, A[:, k]))
        return A - jnp.outer(column, jnp.where(places > k, A[k], 0.0))

    return (fori_loop(0, A.shape[0], step, A),)


def ludcmp(A, b):
    (A,) = lu(A)
    y = solve_triangular(A, b, lower=True, unit_diagonal=True)
    return solve_triangular(A, y), y, A


def trisolv(L, b):
    return (solve_triangular(L, b, lower=True),)
