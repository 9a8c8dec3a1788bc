"""Plans without an engine: the owners of rows, and the rows that are exchanged, against a count of each row."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from parpy.scale.cuts import Cut
from parpy.scale.plan import Action, Refused, make_plan
from parpy.scale.spacing import Speed


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


@parpy.jit
def smoothed(a, b, steps):
    for t in range(steps):
        for i in range(1, len(a) - 1):
            b[i] = a[i - 1] + a[i + 1]
        for i in range(1, len(a) - 1):
            a[i] = 0.5 * b[i]


@parpy.jit
def smoothed_3d(a, b, steps):
    for t in range(steps):
        for i in range(1, a.shape[0] - 1):
            for j in range(a.shape[1]):
                for k in range(a.shape[2]):
                    b[i, j, k] = a[i - 1, j, k] + a[i + 1, j, k]
        for i in range(1, a.shape[0] - 1):
            for j in range(a.shape[1]):
                for k in range(a.shape[2]):
                    a[i, j, k] = 0.5 * b[i, j, k]


def test_steps_between_exchanges_fill_whole_tiles(monkeypatch):
    monkeypatch.delenv("PARPY_TIME_TILES", raising=False)
    steps = parpy.halo(smoothed, np.ones(4000), np.ones(4000), 500).steps
    assert steps[0].renewed == ("b",)

    def spacing(wanted, whole):
        row = 4 * 8 / 1e9  # 4 accesses of 8 bytes; a step makes 2 more rows incorrect
        speed = Speed(exchange=wanted**2 * row * 2, bytes=1e9, whole=whole)
        words = make_plan(steps, 2, speed=speed).text(0).split()
        return [int(word.split(":")[2].split(";")[0]) for word in words if word.startswith("*")]

    assert spacing(49, 1) == [49]  # the rows of 'b' are not exchanged
    assert [spacing(wanted, 20) for wanted in (7, 20, 25, 49, 61)] == [[7], [20], [21], [41], [61]]


def test_interior_rows_before_an_exchange_ends(monkeypatch):
    monkeypatch.delenv("PARPY_TIME_TILES", raising=False)
    steps = parpy.halo(smoothed_3d, np.ones((60, 4, 4)), np.ones((60, 4, 4)), 50).steps
    plan = make_plan(steps, 3, speed=Speed(exchange=1e-6, bytes=1e9, beside=1e-9))
    assert [(each.kind, each.name, each.begun) for each in plan.actions] == [("post", "a", -1), ("await", "a", 0)]
    assert [plan.text(part).split(";")[0] for part in range(3)] == [
        ":20 *0:0:1 =0:1 ~:19",
        "20:40 *0:0:1 =0:1 ~21:39",
        "40: *0:0:1 =0:1 ~41:",
    ]
    begin, end = plan.copies
    assert begin[-1] == -2 and end[-1] == 0 and begin[:-1] == end[:-1]
    assert [list(each) for each in begin[3]] == [[(1, 20, 21)], [(0, 19, 20), (2, 40, 41)], [(1, 39, 40)]]
    apart = make_plan(steps, 3, speed=Speed(exchange=1e-6, bytes=1e9))
    assert {each.kind for each in apart.actions} == {"halo"} and "~" not in apart.text(1)
    narrow = make_plan(steps, 30, speed=Speed(exchange=1e-6, bytes=1e9, beside=1e-9))
    assert "~" not in narrow.text(1)


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
