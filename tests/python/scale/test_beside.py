"""Loops over time whose first nest computes its interior rows while rows travel: results are those of one device."""

from __future__ import annotations

import pytest

import parpy
from parpy.scale import exchanges
from parpy.scale.plans import plan_of
from test_devices import SIM, _floats, agree, alone, coupled, jacobi_2d, options, shared, wide


@parpy.jit
def heat_3d(a, b, T):
    for t in range(T):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                for k in range(1, a.shape[2] - 1):
                    b[i, j, k] = 0.1 * (a[i - 1, j, k] + a[i + 1, j - 1, k] + a[i, j, k + 1]) + 0.3 * a[i, j + 1, k]
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                for k in range(1, a.shape[2] - 1):
                    a[i, j, k] = 0.5 * (b[i - 1, j, k - 1] + b[i + 1, j, k])


@parpy.jit
def fields_3d(e, h, T):
    """Each nest writes an array whose rows are exchanged, and reads the other one at one side."""
    for t in range(T):
        for i in range(2, e.shape[0]):
            for j in range(e.shape[1]):
                for k in range(e.shape[2]):
                    e[i, j, k] = e[i, j, k] - 0.4 * (h[i, j, k] - h[i - 2, j, k])
        for i in range(e.shape[0] - 1):
            for j in range(e.shape[1]):
                for k in range(e.shape[2]):
                    h[i, j, k] = h[i, j, k] - 0.3 * (e[i + 1, j, k] - e[i, j, k]) + 0.001 * t


@parpy.jit
def wave_3d(now, before, c, T):
    """The array that the first nest renews is exchanged as well, since a nest before the loop stores to its borders."""
    for i in range(now.shape[0]):
        for j in range(now.shape[1]):
            before[i, j, 0] = 0.25 * i
    for t in range(T):
        for i in range(1, now.shape[0] - 1):
            for j in range(1, now.shape[1] - 1):
                for k in range(1, now.shape[2] - 1):
                    before[i, j, k] = now[i, j, k] + c[i, j, k] * (now[i - 1, j, k] + now[i + 1, j, k])
        for i in range(1, now.shape[0] - 1):
            for j in range(1, now.shape[1] - 1):
                for k in range(1, now.shape[2] - 1):
                    now[i, j, k] = 0.5 * before[i, j, k - 1] + 0.1 * before[i - 1, j, k]


@parpy.jit
def backwards_3d(a, b, T):
    for t in range(T):
        for i in range(a.shape[0] - 2, 0, -1):
            for j in range(a.shape[1]):
                for k in range(a.shape[2]):
                    b[i, j, k] = a[i + 1, j, k] - 0.5 * a[i - 1, j, k]
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                for k in range(a.shape[2]):
                    a[i, j, k] = 0.25 * b[i, j, k]


def _cube(rows):
    return _floats(rows, 5, 6)


CASES = {
    "heat_3d": (heat_3d, (_cube(43), _cube(43)), {"a"}),
    "fields_3d": (fields_3d, (_cube(40), _cube(40)), {"e", "h"}),
    "wave_3d": (wave_3d, (_cube(37), _cube(37), _cube(37)), {"now", "before"}),
    "backwards_3d": (backwards_3d, (_cube(41), _cube(41)), set()),
    "float32": (heat_3d, (_cube(29).astype("f4"), _cube(29).astype("f4")), {"a"}),
    "few_rows": (heat_3d, (_cube(9), _cube(9)), set()),
    "jacobi_2d": (jacobi_2d, (_floats(45, 12), _floats(45, 12)), {"A"}),
    "coupled": (coupled, (_floats(90), _floats(90), _floats(90)), {"c", "e", "h"}),
    "wide": (wide, (_floats(120), _floats(120)), {"x"}),
}
"""Functions, arrays, and the arrays of which rows travel while 3 devices without time tiles compute interior rows."""


@pytest.mark.parametrize("early", [False, True], ids=["late", "early"])
@pytest.mark.parametrize("parts", [2, 3, 5])
@pytest.mark.parametrize("name", CASES)
def test_interior_rows_need_no_rows_of_others(name, parts, early, monkeypatch):
    """Variant `early`: the rows have come before the nest begins; `late`: they are taken after its interior rows."""
    monkeypatch.setenv("PARPY_TIME_TILES", "0")
    if early:
        whole = exchanges.Exchanges.move

        def move(self, action, array):
            swapped = {"post": "await", "await": "post"}.get(action.kind, action.kind)
            whole(self, exchanges.Action(**{**vars(action), "kind": swapped}), array)

        monkeypatch.setattr(exchanges.Exchanges, "move", move)
    function, args, travels = CASES[name]
    for steps in (0, 1, 2, 7, 12):
        agree(shared(function, (*args, steps), parts), alone(function, (*args, steps)))
    if parts == 3:
        plan = plan_of(function, (*args, 12), options(3), 3)
        assert {each.name for each in plan.actions if each.kind == "post"} == travels
        assert (" ~" in plan.text(1)) == bool(travels)


@pytest.mark.parametrize("name", CASES)
def test_the_simulator(name, monkeypatch):
    monkeypatch.setenv("PARPY_TIME_TILES", "0")
    function, args, _ = CASES[name]
    agree(shared(function, (*args, 4), 3, backend=SIM), alone(function, (*args, 4)))
