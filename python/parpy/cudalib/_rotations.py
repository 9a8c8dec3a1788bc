"""The Givens rotations of BLAS, constructed from the coordinates of the points that they rotate."""

from __future__ import annotations

from typing import Any

import numpy as np


def rotation(a: float, b: float) -> tuple[float, float, float, float]:
    """The numbers r, z, c and s of BLAS's ``rotg``: the rotation by c and s takes (a, b) to (r, 0)."""
    if a == 0 and b == 0:
        return 0.0, 0.0, 1.0, 0.0
    sign = np.sign(a) if abs(a) > abs(b) else np.sign(b)
    r = float(sign * np.hypot(a, b))
    c, s = float(a / r), float(b / r)
    z = s if abs(a) > abs(b) else 1 / c if c != 0 else 1.0
    return r, float(z), c, s


def modified_rotation(d1: float, d2: float, x1: float, y1: float) -> tuple[float, float, float, Any]:
    """The results of BLAS's ``rotmg``, by Hammarling's construction with the rescaling of Lawson et al. (1979)."""
    h = {"h11": 0.0, "h21": 0.0, "h12": 0.0, "h22": 0.0}
    if d1 < 0:
        return 0.0, 0.0, 0.0, np.array([-1.0, 0, 0, 0, 0])
    p2 = d2 * y1
    if p2 == 0:
        return d1, d2, x1, np.array([-2.0, 0, 0, 0, 0])
    p1 = d1 * x1
    q1, q2 = p1 * x1, p2 * y1
    if abs(q1) > abs(q2):
        h |= {"h11": 1.0, "h22": 1.0, "h21": -y1 / x1, "h12": p2 / p1}
        u = 1 - h["h12"] * h["h21"]
        if u <= 0:
            return 0.0, 0.0, 0.0, np.array([-1.0, 0, 0, 0, 0])
        d1, d2, x1, flag = d1 / u, d2 / u, x1 * u, 0.0
    elif q2 < 0:
        return 0.0, 0.0, 0.0, np.array([-1.0, 0, 0, 0, 0])
    else:
        h |= {"h11": p1 / p2, "h22": x1 / y1, "h21": -1.0, "h12": 1.0}
        u = 1 + h["h11"] * h["h22"]
        d1, d2, x1, flag = d2 / u, d1 / u, y1 * u, 1.0
    big = 4096.0
    while d1 != 0 and (d1 <= big**-2 or d1 >= big**2):
        factor = big if d1 <= big**-2 else 1 / big
        d1, x1, flag = d1 * factor**2, x1 / factor, -1.0
        h["h11"], h["h12"] = h["h11"] / factor, h["h12"] / factor
    while d2 != 0 and (abs(d2) <= big**-2 or abs(d2) >= big**2):
        factor = big if abs(d2) <= big**-2 else 1 / big
        d2, flag = d2 * factor**2, -1.0
        h["h21"], h["h22"] = h["h21"] / factor, h["h22"] / factor
    values = {
        -1.0: (h["h11"], h["h21"], h["h12"], h["h22"]),
        0.0: (0, h["h21"], h["h12"], 0),
        1.0: (h["h11"], 0, 0, h["h22"]),
    }
    return d1, d2, x1, np.array([flag, *values[flag]])
