"""Horizontal diffusion with limited fluxes."""

import numpy as np

import parpy.appy as appy


@appy.jit
def loops(in_field, coeff, out_field, I, J, K):
    #pragma parallel for
    for i in range(I):
        #pragma parallel for
        for j in range(J):
            #pragma simd
            for k in range(K):
                v = in_field[i + 2, j + 2, k]
                north = in_field[i + 1, j + 2, k]
                south = in_field[i + 3, j + 2, k]
                west = in_field[i + 2, j + 1, k]
                east = in_field[i + 2, j + 3, k]
                centre = 4.0 * v - (south + north + east + west)
                up = 4.0 * north - (v + in_field[i, j + 2, k] + in_field[i + 1, j + 3, k] + in_field[i + 1, j + 1, k])
                down = 4.0 * south - (
                    in_field[i + 4, j + 2, k] + v + in_field[i + 3, j + 3, k] + in_field[i + 3, j + 1, k]
                )
                left = 4.0 * west - (in_field[i + 3, j + 1, k] + in_field[i + 1, j + 1, k] + v + in_field[i + 2, j, k])
                right = 4.0 * east - (
                    in_field[i + 3, j + 3, k] + in_field[i + 1, j + 3, k] + in_field[i + 2, j + 4, k] + v
                )
                lower = centre - up
                upper = down - centre
                before = centre - left
                behind = right - centre
                lower = 0.0 if lower * (v - north) > 0 else lower
                upper = 0.0 if upper * (south - v) > 0 else upper
                before = 0.0 if before * (v - west) > 0 else before
                behind = 0.0 if behind * (east - v) > 0 else behind
                out_field[i, j, k] = v - coeff[i, j, k] * (upper - lower + behind - before)


@appy.jit(auto_simd=True)
def tensors(in_field, coeff, out_field, I, J, K):
    lap = np.empty((I + 2, J + 2, K))
    fx = np.empty((I + 1, J, K))
    fy = np.empty((I, J + 1, K))
    #pragma :I+2=>parallel :J+2=>parallel :K=>simd
    lap[: I + 2, : J + 2, :K] = 4.0 * in_field[1 : I + 3, 1 : J + 3, :K] - (
        in_field[2 : I + 4, 1 : J + 3, :K]
        + in_field[: I + 2, 1 : J + 3, :K]
        + in_field[1 : I + 3, 2 : J + 4, :K]
        + in_field[1 : I + 3, : J + 2, :K]
    )
    #pragma :I+1=>parallel :J=>parallel :K=>simd
    fx[: I + 1, :J, :K] = np.where(
        (lap[1 : I + 2, 1 : J + 1, :K] - lap[: I + 1, 1 : J + 1, :K])
        * (in_field[2 : I + 3, 2 : J + 2, :K] - in_field[1 : I + 2, 2 : J + 2, :K])
        > 0,
        0.0,
        lap[1 : I + 2, 1 : J + 1, :K] - lap[: I + 1, 1 : J + 1, :K],
    )
    #pragma :I=>parallel :J+1=>parallel :K=>simd
    fy[:I, : J + 1, :K] = np.where(
        (lap[1 : I + 1, 1 : J + 2, :K] - lap[1 : I + 1, : J + 1, :K])
        * (in_field[2 : I + 2, 2 : J + 3, :K] - in_field[2 : I + 2, 1 : J + 2, :K])
        > 0,
        0.0,
        lap[1 : I + 1, 1 : J + 2, :K] - lap[1 : I + 1, : J + 1, :K],
    )
    #pragma :I=>parallel :J=>parallel :K=>simd
    out_field[:I, :J, :K] = in_field[2 : I + 2, 2 : J + 2, :K] - coeff[:I, :J, :K] * (
        fx[1 : I + 1, :J, :K] - fx[:I, :J, :K] + fy[:I, 1 : J + 1, :K] - fy[:I, :J, :K]
    )
