"""Tests for NumPy's generators of random numbers and the members of numpy.random. They do not load numpy.random, which
is slow; a program with a generator has loaded it already."""

from __future__ import annotations

import sys
from typing import TypeGuard

import numpy as np

OF_GENERATORS = frozenset((
    "beta", "binomial", "bit_generator", "bytes", "chisquare", "choice", "dirichlet", "exponential", "f", "gamma",
    "geometric", "get_state", "gumbel", "hypergeometric", "integers", "laplace", "logistic", "lognormal",
    "logseries", "multinomial", "multivariate_hypergeometric", "multivariate_normal", "negative_binomial",
    "noncentral_chisquare", "noncentral_f", "normal", "pareto", "permutation", "permuted", "poisson", "power",
    "rand", "randint", "randn", "random", "random_integers", "random_sample", "rayleigh", "seed", "set_state",
    "shuffle", "spawn", "standard_cauchy", "standard_exponential", "standard_gamma", "standard_normal",
    "standard_t", "tomaxint", "triangular", "uniform", "vonmises", "wald", "weibull", "zipf",
))  # fmt: skip
"""The public names of ``Generator`` and ``RandomState`` in NumPy 2."""


def is_global_state(found: object) -> bool:
    """Whether the object is NumPy's global state, from which the functions of ``np.random`` draw."""
    return found is np.random.mtrand._rand


def is_generator(found: object) -> TypeGuard[np.random.Generator | np.random.RandomState]:
    """Whether the object is a NumPy generator, from which calls of compiled code can draw a key."""
    return "numpy.random" in sys.modules and isinstance(found, np.random.Generator | np.random.RandomState)


def is_generator_type(kind: type) -> bool:
    """Whether objects of the type are generators."""
    return "numpy.random" in sys.modules and issubclass(kind, np.random.Generator | np.random.RandomState)


def is_of_random(found: object, *names: str) -> bool:
    """Whether the object is one of the members of ``np.random`` with these names."""
    return "numpy.random" in sys.modules and any(found is getattr(np.random, name) for name in names)
