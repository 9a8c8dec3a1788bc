"""Fields on grids, step by step in time or along an axis."""

from __future__ import annotations

import jax.numpy as jnp
from jax.lax import fori_loop, scan, while_loop


def adi(TSTEPS, N, u):
    mul1, mul2 = 2.0 * N * N / TSTEPS, 1.0 * N * N / TSTEPS
    a, b, d, e = -mul1 / 2.0, 1.0 + mul1, -mul2 / 2.0, 1.0 + mul2
    ones, zeros = jnp.ones(N - 2), jnp.zeros(N - 2)

    def solve(right, a, b):
        """Solves tridiagonal systems (a, b, a); `right` has a row for every unknown; both ends are 1."""

        def eliminate(state, value):
            p, q = state
            pivot = a * p + b
            state = -a / pivot, (value - a * q) / pivot
            return state, state

        _, (p, q) = scan(eliminate, (zeros, ones), right)

        def substitute(x, pair):
            x = pair[0] * x + pair[1]
            return x, x

        return scan(substitute, ones, (p, q), reverse=True)[1]

    def step(_, u):
        v = solve(-d * u[1:-1, :-2] + (1.0 + 2.0 * d) * u[1:-1, 1:-1] - d * u[1:-1, 2:], a, b)
        v = jnp.concatenate([ones[None], v, ones[None]])
        inner = solve((-a * v[:-2] + (1.0 + 2.0 * a) * v[1:-1] - a * v[2:]).T, d, e).T
        return u.at[1:-1, 1:-1].set(inner).at[1:-1, 0].set(1.0).at[1:-1, -1].set(1.0)

    return (fori_loop(0, TSTEPS, step, u),)


def source(u, v, uw, ue, vw, ve, dt, dx, dy, rho):
    """The right-hand side of the pressure's equation, from velocities and those to the west and east."""
    ux, uy = (ue - uw) / (2 * dx), (u[2:] - u[:-2]) / (2 * dy)
    vx, vy = (ve - vw) / (2 * dx), (v[2:] - v[:-2]) / (2 * dy)
    return rho * ((ux + vy) / dt - ux**2 - 2 * uy * vx - vy**2)


def moved(f, fw, fe, u, v, dt, dx, dy, nu):
    """A velocity after a step without pressures; rows 1 to -1, and those to the west and east."""
    middle = f[1:-1]
    return (
        middle
        - u * dt / dx * (middle - fw)
        - v * dt / dy * (middle - f[:-2])
        + nu * (dt / dx**2 * (fe - 2 * middle + fw) + dt / dy**2 * (f[2:] - 2 * middle + f[:-2]))
    )


def cavity_flow(nt, nit, u, v, dt, dx, dy, p, rho, nu):
    square = 2 * (dx**2 + dy**2)

    def sides(f):
        return f[1:-1, :-2], f[1:-1, 2:]

    def step(_, state):
        u, v, p = state
        inner_u, inner_v = u[:, 1:-1], v[:, 1:-1]
        b = source(inner_u, inner_v, *sides(u), *sides(v), dt, dx, dy, rho)

        def relax(_, p):
            west, east = sides(p)
            rest = (p[2:, 1:-1] + p[:-2, 1:-1]) * dx**2 - dx**2 * dy**2 * b
            p = p.at[1:-1, 1:-1].set(((east + west) * dy**2 + rest) / square)
            p = p.at[:, -1].set(p[:, -2])
            p = p.at[0].set(p[1])
            p = p.at[:, 0].set(p[:, 1])
            return p.at[-1].set(0.0)

        p = fori_loop(0, nit, relax, p)
        west, east = sides(p)
        speeds = u[1:-1, 1:-1], v[1:-1, 1:-1]
        new_u = moved(inner_u, *sides(u), *speeds, dt, dx, dy, nu) - dt / (2 * rho * dx) * (east - west)
        new_v = moved(inner_v, *sides(v), *speeds, dt, dx, dy, nu)
        new_v -= dt / (2 * rho * dy) * (p[2:, 1:-1] - p[:-2, 1:-1])
        u, v = (jnp.pad(new, 1) for new in (new_u, new_v))
        return u.at[-1].set(1.0), v, p

    return fori_loop(0, nt, step, (u, v, p))


def channel_flow(nit, u, v, dt, dx, dy, p, rho, nu, F):
    square = 2 * (dx**2 + dy**2)

    def sides(f):
        return jnp.roll(f, 1, axis=1)[1:-1], jnp.roll(f, -1, axis=1)[1:-1]

    def step(state):
        u, v, p, _, count = state
        b = source(u, v, *sides(u), *sides(v), dt, dx, dy, rho)

        def relax(_, p):
            west, east = sides(p)
            rest = (p[2:] + p[:-2]) * dx**2 - dx**2 * dy**2 * b
            inner = ((east + west) * dy**2 + rest) / square
            return jnp.concatenate([inner[:1], inner, inner[-1:]])

        p = fori_loop(0, nit, relax, p)
        west, east = sides(p)
        new_u = moved(u, *sides(u), u[1:-1], v[1:-1], dt, dx, dy, nu) - dt / (2 * rho * dx) * (east - west) + F * dt
        new_v = moved(v, *sides(v), u[1:-1], v[1:-1], dt, dx, dy, nu) - dt / (2 * rho * dy) * (p[2:] - p[:-2])
        before = jnp.sum(u)
        u, v = (jnp.pad(new, ((1, 1), (0, 0))) for new in (new_u, new_v))
        return u, v, p, (jnp.sum(u) - before) / jnp.sum(u), count + 1

    u, _, p, _, count = while_loop(lambda state: state[3] > 0.001, step, (u, v, p, jnp.ones(()), 0))
    return u, p, count


def deriche(alpha, imgIn):
    decay = jnp.exp(-alpha)
    k = (1.0 - decay) * (1.0 - decay) / (1.0 + alpha * decay - jnp.exp(2.0 * alpha))
    a1, a2, a3, a4 = k, k * decay * (alpha - 1.0), k * decay * (alpha + 1.0), -k * decay**2
    b1, b2 = 2.0 ** (-alpha), -(decay**2)

    def recur(values, reverse):
        def step(state, value):
            y = value + b1 * state[0] + b2 * state[1]
            return (y, state[0]), y

        nothing = jnp.zeros_like(values[0])
        return scan(step, (nothing, nothing), values, reverse=reverse)[1]

    def along_rows(x):
        before = jnp.pad(x, ((1, 0), (0, 0)))[:-1]
        behind = jnp.pad(x, ((0, 2), (0, 0)))
        return recur(a1 * x + a2 * before, False) + recur(a3 * behind[1:-1] + a4 * behind[2:], True)

    return (along_rows(along_rows(imgIn.T).T),)


def fdtd_2d(TMAX, ex, ey, hz, _fict_):
    def step(t, state):
        ex, ey, hz = state
        ey = ey.at[0].set(_fict_[t])
        ey = ey.at[1:].add(-0.5 * (hz[1:] - hz[:-1]))
        ex = ex.at[:, 1:].add(-0.5 * (hz[:, 1:] - hz[:, :-1]))
        hz = hz.at[:-1, :-1].add(-0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1]))
        return ex, ey, hz

    return fori_loop(0, TMAX, step, (ex, ey, hz))


def hdiff(in_field, coeff):
    x = in_field
    lap = 4.0 * x[1:-1, 1:-1] - (x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2])
    flux = lap[1:, 1:-1] - lap[:-1, 1:-1]
    fx = jnp.where(flux * (x[2:-1, 2:-2] - x[1:-2, 2:-2]) > 0, 0.0, flux)
    flux = lap[1:-1, 1:] - lap[1:-1, :-1]
    fy = jnp.where(flux * (x[2:-2, 2:-1] - x[2:-2, 1:-2]) > 0, 0.0, flux)
    return (x[2:-2, 2:-2] - coeff * (fx[1:] - fx[:-1] + fy[:, 1:] - fy[:, :-1]),)


def back_and_forth(steps, sweep, A, B):
    def step(_, state):
        A, B = state
        B = sweep(A, B)
        return sweep(B, A), B

    return fori_loop(1, steps, step, (A, B))


def heat_3d(TSTEPS, A, B):
    def sweep(A, B):
        middle = A[1:-1, 1:-1, 1:-1]
        total = 0.125 * (A[2:, 1:-1, 1:-1] - 2.0 * middle + A[:-2, 1:-1, 1:-1])
        total += 0.125 * (A[1:-1, 2:, 1:-1] - 2.0 * middle + A[1:-1, :-2, 1:-1])
        total += 0.125 * (A[1:-1, 1:-1, 2:] - 2.0 * middle + A[1:-1, 1:-1, :-2])
        return B.at[1:-1, 1:-1, 1:-1].set(total + middle)

    return back_and_forth(TSTEPS, sweep, A, B)


def jacobi_1d(TSTEPS, A, B):
    return back_and_forth(TSTEPS, lambda A, B: B.at[1:-1].set(0.33333 * (A[:-2] + A[1:-1] + A[2:])), A, B)


def jacobi_2d(TSTEPS, A, B):
    def sweep(A, B):
        total = A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1]
        return B.at[1:-1, 1:-1].set(0.2 * total)

    return back_and_forth(TSTEPS, sweep, A, B)


def seidel_2d(TSTEPS, N, A):
    def row(i, A):
        above, here, below = A[i - 1], A[i], A[i + 1]
        known = above[:-2] + above[1:-1] + above[2:] + here[1:-1] + here[2:] + below[:-2] + below[1:-1] + below[2:]

        def element(west, value):
            west = (value + west) / 9.0
            return west, west

        return A.at[i, 1:-1].set(scan(element, here[0], known)[1])

    return (fori_loop(0, TSTEPS - 1, lambda t, A: fori_loop(1, N - 1, row, A), A),)


def vadv(utens_stage, u_stage, wcon, u_pos, utens, dtr_stage):
    def by_level(x):
        return jnp.moveaxis(x, -1, 0)

    u, position = by_level(u_stage), by_level(u_pos)
    flow = 0.125 * by_level(wcon[1:] + wcon[:-1])
    nothing = jnp.zeros_like(u[:1])
    above, below = jnp.concatenate([nothing, -flow[1:]]), jnp.concatenate([flow[1:], nothing])
    difference = u[1:] - u[:-1]
    value = dtr_stage * position + by_level(utens) + by_level(utens_stage)
    value += above * jnp.concatenate([nothing, difference]) - below * jnp.concatenate([difference, nothing])

    def eliminate(state, level):
        upper, right = state
        above, below, value = level
        pivot = dtr_stage - above - below - upper * above
        state = below / pivot, (value - right * above) / pivot
        return state, state

    _, (upper, right) = scan(eliminate, (nothing[0], nothing[0]), (above, below, value))

    def substitute(solved, level):
        solved = level[1] - level[0] * solved
        return solved, solved

    solved = scan(substitute, nothing[0], (upper, right), reverse=True)[1]
    return (jnp.moveaxis(dtr_stage * (solved - position), 0, -1),)
