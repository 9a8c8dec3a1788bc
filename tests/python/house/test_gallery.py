"""The programs of examples/gallery: each result has a numerical property that is known independently of the program."""

from __future__ import annotations

import math
import runpy
from types import SimpleNamespace

import numpy as np
import pytest

import places

GALLERY = places.ROOT / "examples" / "gallery"


def program(name):
    """The names that a program defines; its picture is not drawn."""
    return SimpleNamespace(**runpy.run_path(str(GALLERY / f"{name}.py"), run_name=f"gallery_{name}"))


def check_mandelbrot(it):
    image = it.compute(60, 90, 50)
    y, x = np.mgrid[:60, :90]
    c = -2.2 + 3.2 * x / 90 + 1j * (-1.6 * 60 / 90 + 3.2 * y / 90)
    assert (image[np.abs(c) > 2] == 0).all()
    assert (image[np.abs(1 - np.sqrt(1 - 4 * c)) < 0.99] == 50).all()  # the heart of the set
    assert (image[1:] == image[:0:-1]).mean() > 0.99


def check_heat(it):
    begin, end = it.compute(60, 0), it.compute(60, 300)
    assert math.isclose(begin.sum(), end.sum(), rel_tol=1e-12)
    assert end.min() >= 0 and end.max() < begin.max() and end.std() < begin.std()


def check_waves(it):
    height = it.compute(81, 120, 100)
    assert np.allclose(height, height[::-1])
    assert np.abs(height[:, 60:90]).max() > 0.01 and not height[:, 102:].any()  # a step reaches one place further
    assert not height[:10, 30:34].any()


def check_galaxies(it):
    def energy(place, velocity, mass):
        apart = np.sqrt(((place[:, None] - place) ** 2).sum(axis=2) + 0.01)
        pairs = mass[:, None] * mass / apart
        return 0.5 * (mass * (velocity**2).sum(axis=1)).sum() - 0.5 * (pairs.sum() - np.trace(pairs))

    (p, v, mass), (q, w, _) = it.compute(80, 0), it.compute(80, 60)
    assert np.allclose(mass @ v, mass @ w, atol=1e-12)
    assert math.isclose(energy(p, v, mass), energy(q, w, mass), rel_tol=0.01)


def check_fluid(it):
    still = it.WEIGHT[:, None, None] * np.ones((20, 30))
    after, nowhere = np.empty_like(still), np.zeros((20, 30), bool)
    it.step(still, after, nowhere, 1.9, 0.0, np.zeros((20, 30)), np.zeros((20, 30)))
    assert np.allclose(after, still, atol=1e-15)
    density, ux, uy, solid = it.compute(40, 100, 300)
    assert not ux[solid].any() and np.abs(density[~solid] - 1).max() < 0.3
    assert np.allclose(ux[:, 0], 0.12) and 0.05 < ux[~solid].mean() < 0.2 and np.abs(uy).max() > 0.01


def check_reaction_diffusion(it):
    u, v = it.compute(100, 2000)
    assert min(u.min(), v.min()) >= 0 and max(u.max(), v.max()) <= 1
    assert v.std() > 0.05
    u, v = np.ones((2, 8, 8)) * np.array([1.0, 0.0])[:, None, None]
    it.step(u, v, u_after := np.empty_like(u), v_after := np.empty_like(v), 0.035, 0.062)
    assert (u_after == 1).all() and not v_after.any()


def check_ray_marching(it):
    image, depth = it.compute(60, 90)
    assert image.min() >= 0 and image.max() < 1.4 and (depth[0] >= 20).all()
    dx, dy = -45 / 60, (30 - 59) / 60  # the lowest pixel on the left sees the floor
    assert math.isclose(depth[59, 0], math.sqrt(dx * dx + dy * dy + 1) / -dy, rel_tol=1e-3)
    assert 2.5 < depth[30, 45] < 3.1  # the front of the ball in the middle


def check_ising(it):
    onsager = (1 - math.sinh(2 / 2.0) ** -4) ** 0.125
    spins = it.compute(128, 150, 2.0, ordered=True)
    assert set(np.unique(spins)) == {-1, 1} and abs(spins.mean() - onsager) < 0.03
    assert abs(it.compute(128, 60, 5.0, ordered=True).mean()) < 0.06


def check_denoise(it):
    clean, noisy, filtered = it.compute(80, 130)
    assert (filtered - clean).std() < 0.5 * (noisy - clean).std()
    it.bilateral(flat := np.full((9, 9), 0.5), out := np.empty_like(flat), 2, 1.0, 0.1)
    assert np.allclose(out, 0.5)


def check_kmeans(it):
    cloud, nearest, centres, spreads, true = it.compute(4000, 5, 15)
    assert (np.diff(spreads) <= 1e-9 * spreads[0]).all()
    assert np.abs(true[:, None] - centres).sum(axis=2).min(axis=1).max() < 0.2
    means = [cloud[nearest == k].mean(axis=0) for k in range(5)]
    assert np.allclose(means, centres, atol=1e-2)


def check_radial_average(it):
    image, sums, counts = it.compute(120)
    y, x = np.mgrid[:120, :120]
    ring = np.hypot(y - 0.45 * 120, x - 0.52 * 120).astype(int).ravel()
    assert (counts == np.bincount(ring)[:60]).all()
    assert np.allclose(sums, np.bincount(ring, image.ravel())[:60])


def check_monte_carlo(it):
    paths, price, error, exact = it.compute(8000, 20)
    assert abs(price - exact) < 4 * error < 1.5
    end = paths[:, -1]
    assert abs(end.mean() - 100 * math.exp(0.03)) < 4 * end.std() / math.sqrt(len(end))


def check_forward_algorithm(it):
    dice, throws, chance, log_likelihood = it.compute(20, 60)
    assert np.allclose(chance.sum(axis=2), 1)
    for game in range(3):
        state = np.array([1.0, 0.0]) * it.FACES[:, throws[game, 0]]
        for throw in throws[game, 1:]:
            state = (state @ it.CHANGE) * it.FACES[:, throw]
        assert math.isclose(math.log(state.sum()), log_likelihood[game])
        assert np.allclose(state / state.sum(), chance[game, -1])
    assert ((chance[..., 1] > 0.5) == dice).mean() > 0.7


def check_game_of_life(it):
    glider = it.board(".O. ..O OOO", 12, 12, 2, 2)
    assert (it.run(glider, 4) == np.roll(glider, (1, 1), (0, 1))).all()
    gun = it.board(it.GUN, 60, 60, 3, 3)
    assert it.run(gun, 30).sum() == gun.sum() + 5  # a glider has five cells


def check_bifurcation(it):
    growth, counts = it.compute(40, 200, 300)
    assert (counts.sum(axis=1) == 300).all()
    settles = growth < 2.95
    assert (np.abs(counts[settles].argmax(axis=1) + 0.5 - 200 * (1 - 1 / growth[settles])) < 1).all()
    assert (counts[-1] > 0).sum() > 100


def check_voronoi(it):
    seeds, cell, edge = it.compute(50, 70, 12)
    y, x = np.mgrid[:50, :70]
    far = np.sort(np.hypot(seeds[:, 0, None, None] - y, seeds[:, 1, None, None] - x), axis=0)
    own = np.hypot(seeds[cell, 0] - y, seeds[cell, 1] - x)
    assert np.allclose(own, far[0]) and np.allclose(edge, far[1] - far[0])


def check_sandpile(it):
    sand = it.compute(61, 2000)
    assert sand.max() < 4 and sand.sum() == 2000
    assert (sand == sand.T).all() and (sand == sand[::-1]).all()


CHECKS = {name.removeprefix("check_"): value for name, value in list(globals().items()) if name.startswith("check_")}


def test_every_program_has_a_check():
    assert sorted(CHECKS) == sorted(path.stem for path in GALLERY.glob("*.py"))


@pytest.mark.parametrize("name", sorted(CHECKS))
def test_programs(name):
    CHECKS[name](program(name))
