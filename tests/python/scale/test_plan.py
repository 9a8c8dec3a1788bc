"""Plans without an engine: the owners of rows, and the rows that are exchanged, against a count of each row."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from parpy.scale.cuts import Cut
from parpy.scale.plan import Action, Refused, make_plan


def _even(extent, parts):
    return tuple(part * extent // parts for part in range(parts + 1))


@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize(("extent", "parts"), [(10, 1), (10, 3), (17, 5), (5, 8), (40, 4)])
def test_every_missing_row_comes_from_its_owner(extent, parts, periodic):
    cut = Cut(0, extent, _even(extent, parts))
    owners = [part for part in range(parts) for _ in range(*cut.own(part))]
    assert len(owners) == extent
    for low, high in [(0, 0), (-1, 1), (-2, 0), (0, 3), (-4, 4)]:
        action = Action("halo", "x", cut, low, high, periodic)
        for part in range(parts):
            first, last = cut.own(part)
            needed = set()
            if first < last:
                rows = range(first + low, last + high)
                needed = {row % extent for row in rows} if periodic else {row for row in rows if 0 <= row < extent}
            needed -= set(range(first, last))
            found = [(row, source) for source, begin, end in action.transfers(part) for row in range(begin, end)]
            assert {row for row, _ in found} == needed
            assert all(owners[row] == source for row, source in found)


def test_rows_that_others_have_written_come_back():
    cut = Cut(0, 20, _even(20, 3))
    for offset in (-8, -2, -1, 1, 3, 9):
        action = Action("return", "x", cut, offset)
        for part in range(3):
            first, last = cut.own(part)
            found = {row: source for source, begin, end in action.transfers(part) for row in range(begin, end)}
            for row in range(first, last):
                writer = next((p for p in range(3) if cut.cuts[p] <= row - offset < cut.cuts[p + 1]), part)
                assert found.get(row, part) == writer


def test_a_plan_names_arrays_rows_and_actions():
    @parpy.jit
    def step(x, y, w):
        s = 0.0
        for i in range(1, len(x) - 1):
            y[i] = x[i - 1] * w[0] + x[i + 1] * w[1]
        for i in range(len(x)):
            s += y[i]
            x[i] = y[i]
        return s

    steps = parpy.halo(step, np.ones(10), np.ones(10), np.ones(2)).steps
    plan = make_plan(steps, 3)
    assert plan.cut["x"].cuts == plan.cut["y"].cuts == (0, 3, 6, 10)
    assert (plan.cut["x"].low, plan.cut["x"].high) == (-1, 1)
    assert plan.everywhere == {"w"}
    assert plan.written == {"x", "y"}
    assert plan.arguments == {"x": 0, "y": 1, "w": 2}
    assert [(each.kind, each.name) for each in plan.actions] == [("halo", "x"), ("start", "s"), ("combine", "s")]
    assert plan.text(0) == ":3 +0:0;:3 #0:1:2"
    assert plan.text(1) == "3:6 +0:0;3:6 #0:1:2"
    assert plan.text(2) == "6: +0:0;6: #0:1:2"


def test_what_cannot_be_planned_is_refused():
    @parpy.jit
    def transposed(x, y):
        for i in range(len(x)):
            for j in range(len(x)):
                y[i, j] = x[j, i]
        for i in range(len(x)):
            for j in range(len(x)):
                x[i, j] = y[i, j]

    steps = parpy.halo(transposed, np.ones((6, 6)), np.ones((6, 6))).steps
    with pytest.raises(Refused, match="is cut by"):
        make_plan(steps, 2)
    plan = make_plan(steps, 2, gather=True)
    assert [(each.kind, each.name) for each in plan.actions] == [("gather", "x")]
