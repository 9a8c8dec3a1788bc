"""Shared code for tests of random numbers: generators, a program that draws, and the bounds of statistics."""

from __future__ import annotations

import math

import numpy as np

import parpy

N = 40_000


def generator(seed=1):
    return np.random.default_rng(seed)


def is_likely(counts, probabilities=None):
    """Chi-square test: whether the counts fit these probabilities of the categories, or by default equal ones."""
    counts = np.asarray(counts, float).ravel()
    expected = counts.sum() * (np.full(counts.size, 1 / counts.size) if probabilities is None else probabilities)
    found = ((counts - expected) ** 2 / expected).sum()
    free = counts.size - 1
    return abs(found - free) < 4 * math.sqrt(2 * free)


def are_uncorrelated(a, b):
    return abs(np.corrcoef(a.ravel(), b.ravel())[0, 1]) < 4 / math.sqrt(a.size)


@parpy.jit
def filled(x, rng):
    for i in range(x.shape[0]):
        x[i] = rng.random()
