"""Packed records: a GPU cannot read their unaligned fields, so each field is copied to an array of its own there."""

from __future__ import annotations

import numpy as np
import pytest

from parpy import cuda
from parpy.cuda.arguments import packed as _packed

pytestmark = pytest.mark.usefixtures("simulator")

PACKED = np.dtype([("tag", np.uint8), ("x", np.float32), ("v", np.int16, 3), ("z", np.complex64), ("w", np.float64)])


def filled(shape):
    records = np.zeros(shape, PACKED)
    count = records.size
    records["tag"] = np.arange(count).reshape(shape)
    records["x"] = np.arange(count).reshape(shape) / 2
    records["v"] = np.arange(3 * count).reshape(*records.shape, 3)
    records["z"] = records["x"] + 1j
    return records


@pytest.mark.parametrize("part", [np.s_[:], np.s_[::2], np.s_[5:5]])
@pytest.mark.parametrize("shape", [(300,), (6, 7), (6, 3, 2)])
def test_fields_are_taken_out_and_back(shape, part):
    whole = cuda.to_device(filled(shape))
    records = whole[part]
    taken, moved = _packed.aligned([records, 3], [["tag", "v", "x", "z"], []], cuda.default_stream())
    assert taken == [moved[0], 3]
    fields = taken[0]
    for key in ("tag", "v", "x", "z"):
        assert _packed.is_aligned(fields[key])
        np.testing.assert_array_equal(fields[key].copy_to_host(), filled(shape)[part][key])
    fields["x"].copy_to_device(fields["x"].copy_to_host() + 1)
    fields.store()
    expected = filled(shape)
    expected[part]["x"] += 1
    np.testing.assert_array_equal(whole.copy_to_host(), expected)


def test_what_is_aligned_stays_where_it_is():
    records = cuda.to_device(np.zeros(4, np.dtype([("x", np.float32), ("n", np.int32)], align=True)))
    assert _packed.aligned([records], [["n", "x"]], cuda.default_stream()) == ([records], [])


def test_records_given_twice_are_one():
    records = cuda.to_device(filled((4,)))
    taken, moved = _packed.aligned([records, records], [["x"], ["w"]], cuda.default_stream())
    assert taken[0] is taken[1] and len(moved) == 1 and set(taken[0]) == {"w", "x"}
    with pytest.raises(TypeError, match="parts of the same packed records"):
        _packed.aligned([records[:3], records[1:]], [["x"], ["x"]], cuda.default_stream())


@cuda.jit
def moved_on(r):
    i = cuda.grid(1)
    if i < len(r):
        r[i].x += r[i].v[1]


def test_a_launch_on_packed_records(monkeypatch):
    """The simulator copies packed records as for a GPU."""
    monkeypatch.setattr("parpy.cuda._kernel._places_records", lambda options: True)
    for records in (cuda.to_device(filled((5,))), filled((5,))):
        moved_on[1, 8](np.zeros(5, PACKED))  # determines the fields that it uses
        moved_on.launch((1, 1, 1, 8, 1, 1, 0), (records,), moved_on.options(0))
        found = records if isinstance(records, np.ndarray) else records.copy_to_host()
        np.testing.assert_array_equal(found["x"], filled((5,))["x"] + filled((5,))["v"][:, 1])
