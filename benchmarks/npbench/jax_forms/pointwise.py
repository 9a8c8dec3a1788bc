"""Kernels that compute a value for every point, pair or bin."""

from __future__ import annotations

import jax.numpy as jnp
from jax.lax import fori_loop


def arc_distance(theta_1, phi_1, theta_2, phi_2):
    temp = jnp.sin((theta_2 - theta_1) / 2) ** 2
    temp += jnp.cos(theta_1) * jnp.cos(theta_2) * jnp.sin((phi_2 - phi_1) / 2) ** 2
    return (2 * jnp.arctan2(jnp.sqrt(temp), jnp.sqrt(1 - temp)),)


def azimint_hist(data, radius, npt):
    return (jnp.histogram(radius, npt, weights=data)[0] / jnp.histogram(radius, npt)[0],)


def azimint_naive(data, radius, npt):
    largest = radius.max()

    def ring(i, res):
        inside = (largest * i / npt <= radius) & (radius < largest * (i + 1) / npt)
        return res.at[i].set(jnp.sum(jnp.where(inside, data, 0.0)) / jnp.sum(inside))

    return (fori_loop(0, npt, ring, jnp.zeros(npt)),)


def compute(array_1, array_2, a, b, c):
    return (jnp.clip(array_1, 2, 10) * a + array_2 * b + c,)


def crc16(data):
    def byte(i, crc):
        rest = data[i].astype(jnp.int32)
        for _ in range(8):
            crc = jnp.where((crc ^ rest) & 1, (crc >> 1) ^ 0x8408, crc >> 1)
            rest >>= 1
        return crc

    crc = ~fori_loop(0, data.shape[0], byte, jnp.int32(0xFFFF)) & 0xFFFF
    return (((crc << 8) | (crc >> 8)) & 0xFFFF,)


def floyd_warshall(path):
    return (fori_loop(0, len(path), lambda k, path: jnp.minimum(path, path[:, k, None] + path[None, k]), path),)


def go_fast(a):
    return (a + jnp.tanh(jnp.diagonal(a)).sum(),)


def plane(xmin, xmax, ymin, ymax, xn, yn):
    return jnp.linspace(xmin, xmax, xn) + jnp.linspace(ymin, ymax, yn)[:, None] * 1j


def mandelbrot1(xmin, xmax, ymin, ymax, xn, yn, maxiter):
    C = plane(xmin, xmax, ymin, ymax, xn, yn)

    def step(n, state):
        Z, N = state
        live = abs(Z) < 2.0
        return jnp.where(live, Z**2 + C, Z), jnp.where(live, n, N)

    Z, N = fori_loop(0, maxiter, step, (jnp.zeros_like(C), jnp.zeros(C.shape, jnp.int64)))
    return Z, jnp.where(maxiter - 1 == N, 0, N)


def mandelbrot2(xmin, xmax, ymin, ymax, xn, yn, itermax):
    C = plane(xmin, xmax, ymin, ymax, xn, yn)

    def step(n, state):
        z, live, Z, N = state
        z = jnp.where(live, z * z + C, z)
        leaves = live & (abs(z) > 2.0)
        return z, live & ~leaves, jnp.where(leaves, z, Z), jnp.where(leaves, n + 1, N)

    nothing = jnp.zeros_like(C)
    start = (nothing, jnp.ones(C.shape, bool), nothing, jnp.zeros(C.shape, jnp.int64))
    return fori_loop(0, itermax, step, start)[2:]


def nbody(mass, pos, vel, Nt, dt, G, softening):
    def differences(pos):
        return pos[None] - pos[:, None]

    def accelerations(pos):
        d = differences(pos)
        pull = (jnp.sum(d**2, axis=-1) + softening**2) ** -1.5
        return G * jnp.einsum("ijc,ij,j->ic", d, pull, mass[:, 0])

    def energies(pos, vel):
        distance = jnp.sqrt(jnp.sum(differences(pos) ** 2, axis=-1))
        inverse = jnp.where(distance > 0, 1.0 / distance, 0.0)
        return 0.5 * jnp.sum(mass * vel**2), -G * jnp.sum(jnp.triu(mass * mass.T * inverse, 1))

    def step(t, state):
        pos, vel, acc, KE, PE = state
        vel = vel + acc * dt / 2.0
        pos = pos + vel * dt
        acc = accelerations(pos)
        vel = vel + acc * dt / 2.0
        kinetic, potential = energies(pos, vel)
        return pos, vel, acc, KE.at[t + 1].set(kinetic), PE.at[t + 1].set(potential)

    vel = vel - jnp.mean(mass * vel, axis=0) / jnp.mean(mass)
    kinetic, potential = energies(pos, vel)
    KE, PE = jnp.zeros(Nt + 1).at[0].set(kinetic), jnp.zeros(Nt + 1).at[0].set(potential)
    pos, vel, _, KE, PE = fori_loop(0, Nt, step, (pos, vel, accelerations(pos), KE, PE))
    return KE, PE, pos, vel


def stockham_fft(R, K, x):
    rows = jnp.arange(R)[:, None]
    transform = jnp.exp(-2j * jnp.pi * rows * rows.T / R)
    y = x
    for i in range(K):
        twiddles = jnp.exp(-2j * jnp.pi * rows * jnp.arange(R**i) / R ** (i + 1))
        permuted = jnp.transpose(y.reshape(R**i, R, R ** (K - i - 1)), (1, 0, 2))
        y = (transform @ (permuted * twiddles[:, :, None]).reshape(R, R ** (K - 1))).reshape(-1)
    return (y,)
