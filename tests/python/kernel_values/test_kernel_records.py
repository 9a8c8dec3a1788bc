"""Records in kernels: arrays of them, elements under a name, by value, in each other, and of kernels' own arrays."""

from __future__ import annotations

import numpy as np
import pytest

import kernel_places
import parpy
from nvrtc import cubin
from parpy import cuda

backend = kernel_places.backend
rng = np.random.default_rng(31)

PARTICLE = np.dtype([("x", np.float32), ("n", np.int32), ("mass", np.float64)], align=True)
POINT = np.dtype([("x", np.float32), ("y", np.float32)])
BODY = np.dtype([("pos", POINT), ("v", np.float32, 3), ("id", np.int32), ("ends", POINT, 2)])


def particles(count):
    made = np.zeros(count, PARTICLE)
    made["x"], made["n"], made["mass"] = rng.random(count), rng.integers(0, 9, count), rng.random(count)
    return made


def bodies(count):
    made = np.zeros(count, BODY)
    made["pos"]["x"], made["pos"]["y"], made["id"] = rng.random(count), rng.random(count), np.arange(count)
    made["v"], made["ends"]["x"] = rng.random((count, 3)), rng.random((count, 2))
    return made


def results(kernel, threads, records, *others):
    """The records after a launch on a host array; a launch on a device array must give the same."""
    device, host = cuda.to_device(records.copy()), records.copy()
    kernel[1, threads](device, *others)
    kernel[1, threads](host, *others)
    np.testing.assert_array_equal(device.copy_to_host(), host)
    return host


@cuda.jit
def moved(particles, dt, heaviest):
    i = cuda.grid(1)
    if i < len(particles) and i < particles.shape[0]:
        particles[i].x += dt * particles[i]["n"]
        particles[i]["mass"] *= 2
        cuda.atomic.max(heaviest, len(heaviest) - 1, particles[i].mass)
        cuda.atomic.add(particles["n"], 0, 1)


def test_records():
    given = np.zeros(50, PARTICLE)
    given["x"], given["n"], given["mass"] = rng.random(50), rng.integers(0, 9, 50), rng.random(50)
    want = given.copy()
    want["x"][1:] += np.float32(0.5) * want["n"][1:]
    want["mass"] *= 2
    heaviest = np.zeros(1)
    for particles in (given.copy(), cuda.to_device(given)):
        moved.forall(50)(particles, np.float32(0.5), heaviest)
        got = particles if isinstance(particles, np.ndarray) else particles.copy_to_host()
        for name in ("x", "n"):
            np.testing.assert_allclose(got[name][1:], want[name][1:])
        np.testing.assert_array_equal(got["mass"], want["mass"])
        assert got["n"][0] == want["n"][0] + 50 and heaviest[0] == want["mass"].max()
    field = cuda.to_device(given)["mass"]
    np.testing.assert_array_equal(field.copy_to_host(), given["mass"])
    cubin(moved.inspect_source(given, np.float32(1), heaviest))


def test_fields_that_are_not_there():
    with pytest.raises(TypeError, match=r"error(.|\n)*is not a field(.|\n)*help: their fields are 'x', 'n'"):
        moved.forall(3)(np.zeros(3, np.dtype([("x", np.float32), ("n", np.int32)])), np.float32(1), np.zeros(1))


# ---------------------------------------------------------------- elements


@cuda.jit
def named(r, out):
    i = cuda.grid(1)
    if i < len(r):
        p = r[i]
        i += 1  # the record stays what it was
        if p.n > 4:
            p.x = -p.x
        p.n += 10
        p["mass"] *= 2
        out[cuda.grid(1)] = p.x if p.mass > 1 else p.n


def test_an_element_has_a_name():
    given, out = particles(20), np.zeros(20)
    want = given.copy()
    want["x"] = np.where(given["n"] > 4, -given["x"], given["x"])
    want["n"] += 10
    want["mass"] *= 2
    np.testing.assert_array_equal(results(named, 32, given, out), want)
    np.testing.assert_array_equal(out, np.where(want["mass"] > 1, want["x"], want["n"]))
    cubin(named.inspect_source(given, out))


@cuda.jit
def renamed(r):
    p, q = r[0], r[1]
    p.x, q.x = q.x, p.x
    p = q
    p.n = 70
    for i in range(2, 4):
        each = r[i]
        each.n = i
    line = r[4:][0].mass
    r[-1].mass = line


@cuda.jit
def of_planes(r, out):
    row = r[1]
    row[2].x = 3
    p = row[0]
    p.n = 9
    out[0] = len(row) + r.shape[0] * 10 + r.ndim * 100


def test_names_of_records_may_change():
    given = particles(6)
    want = given.copy()
    want["x"][:2] = given["x"][1::-1]
    want["n"][1:4] = 70, 2, 3
    want["mass"][-1] = want["mass"][4]
    np.testing.assert_array_equal(results(renamed, 1, given), want)
    given, out = particles(6).reshape(2, 3), np.zeros(1)
    want = given.copy()
    want["x"][1, 2], want["n"][1, 0] = 3, 9
    np.testing.assert_array_equal(results(of_planes, 1, given, out), want)
    assert out[0] == 223


# ---------------------------------------------------------------- arguments of device functions


@cuda.jit(device=True)
def energy(p):
    return p.mass * p.x * p.x + p.n


@cuda.jit(device=True)
def total(r, scale):
    found = 0.0
    for i in range(len(r)):
        q = r[i]
        found += (r[i].mass + energy(q)) * scale
    return found


@cuda.jit(device=True)
def shifted(p, by, count=5):
    p.x += by
    p.n = count


@cuda.jit(device=True)
def scaled(p, by):
    p.mass = 0
    return p.x * by, p.n


@cuda.jit(device=True)
def last_first(r, i):
    if i > 0:
        return last_first(r, i - 1) + r[i].x
    return r[0].x


@cuda.jit
def arguments(r, out):
    out[0] = energy(r[1]) + total(r, 2)
    p = r[0]
    out[1] = energy(p)
    shifted(p, 10)
    shifted(count=7, p=r[2], by=20)
    out[2], out[3] = scaled(r[3], 3)
    out[4] = last_first(r, len(r) - 1)


def test_records_as_arguments_of_device_functions():
    given, out = particles(5), np.zeros(5)
    want = given.copy()
    of = want["mass"] * want["x"] * want["x"] + want["n"]
    first = [of[1] + 2 * (want["mass"] + of).sum(), of[0], 3 * want["x"][3], want["n"][3]]
    want["x"][0] += 10
    want["x"][2] += 20
    want["n"][0], want["n"][2], want["mass"][3] = 5, 7, 0
    arguments[1, 1](given, out)
    np.testing.assert_array_equal(given, want)
    np.testing.assert_allclose(out, [*first, want["x"].sum()], rtol=1e-6)
    cubin(arguments.inspect_source(given, out))


# ---------------------------------------------------------------- by value


@cuda.jit
def by_value(p, out):
    q = p
    out[0], out[1], out[2] = p.x + p.n, p["mass"], energy(p) + q.n


def test_records_by_value():
    given, out = particles(3), np.zeros(3)
    for p in (given[1], given[2], given.view(np.recarray)[0]):
        by_value[1, 1](p, out)
        of = float(p["mass"]) * p["x"] * p["x"] + p["n"]
        np.testing.assert_allclose(out, [p["x"] + p["n"], p["mass"], of + p["n"]], rtol=1e-6)


# ---------------------------------------------------------------- records in records


@cuda.jit(device=True)
def norm(p):
    return p.pos.x + p.pos.y + p.v[2]


@cuda.jit
def inner(r, out):
    i = cuda.grid(1)
    if i < len(r):
        r[i].pos.y += 1
        p = r[i]
        p.v[0] = p.pos["x"]
        p["ends"][1].y = p.id
        r["pos"]["x"][i] *= 2
        cuda.atomic.add(r[i].v, 1, 5)
        out[i] = norm(p) + norm(r[i]) + r[i].ends[0].x + len(r[i].v)


@cuda.jit
def inner_by_value(p, out):
    out[0] = p.pos.x + p.v[1] + p.id + p.ends[1].x


def test_records_in_records():
    given, out = bodies(6), np.zeros(6)
    want = given.copy()
    want["pos"]["y"] += 1
    want["v"][:, 0], want["ends"]["y"][:, 1] = want["pos"]["x"], want["id"]
    want["pos"]["x"] *= 2
    want["v"][:, 1] += 5
    np.testing.assert_array_equal(results(inner, 32, given, out), want)
    twice = 2 * (want["pos"]["x"] + want["pos"]["y"] + want["v"][:, 2])
    np.testing.assert_allclose(out, twice + want["ends"]["x"][:, 0] + 3, rtol=1e-6)
    inner_by_value[1, 1](given[2], out)
    p = given[2]
    np.testing.assert_allclose(out[0], p["pos"]["x"] + p["v"][1] + p["id"] + p["ends"]["x"][1], rtol=1e-6)
    cubin(inner.inspect_source(given, out))


# ---------------------------------------------------------------- arrays of the kernel


@cuda.jit
def own_arrays(r, out):
    shared = cuda.shared.array(8, PARTICLE)
    own = cuda.local.array((2, 2), BODY)
    t = cuda.threadIdx.x
    shared[t].x, shared[t].n, shared[t].mass = r[t].x, t, 2
    mine = own[0, 1]
    mine.pos.x = t
    mine.v[2] = 3
    own[1, 1].ends[1].y = 4
    cuda.syncthreads()
    other = shared[len(shared) - 1 - t]
    out[t] = energy(other) + own[0, 1].pos.x + mine.v[2] + own[1, 1].ends[1].y


@pytest.mark.parametrize("seed", [0, 7])
def test_records_of_a_kernels_own(seed):
    cuda.sim.seed = seed
    given, out = particles(8), np.zeros(8)
    own_arrays[1, 8](given, out)
    back = given["x"][::-1].astype(float)
    np.testing.assert_allclose(out, 2 * back**2 + np.arange(8)[::-1] + np.arange(8) + 7, rtol=1e-6)
    cubin(own_arrays.inspect_source(given, out))


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("p = r[0]\nx[0] = p + p.x", "the record 'p' is used as a number"),
        ("p = r[0]\np.x = 1\np = 3", "'p' is a record elsewhere"),
        ("p = 3\nfor i in range(2):\n    p = r[i]\n    p.x = 1", "'p' is something else elsewhere"),
        ("p = r[0]\nif x[0] > 0:\n    p = r[0, 0]\np.x = 1", "'p' is something else elsewhere"),
        ("p = r[None]\np[0, 0].x = 1", "records are subscripted by integers and slices"),
        ("s = cuda.shared.array(4, PARTICLE)\ns[0].nope = 1", "the records of 's' have no field 'nope'"),
        ("s = cuda.shared.array(4, BODY)\ns[0].pos = 1", "the records of 's' have no field 'pos' that is a number"),
        ("s = cuda.shared.array(0, PARTICLE)\ns[0].x = 1", "the dynamic shared memory of a launch, shape 0, cannot"),
        ("p = r[0].pos\np.nope = 1", "r['pos.nope'] is not a field of the records"),
        ("r[0].pos.nope = 1", "r['pos.nope'] is not a field of the records"),
        ("r[0] = x[0]\nr[0].x = 2", "records and other values are assigned to each other"),
        ("r[0].x = x[0]\nr[1:3] = r[0:2]", "records are copied one by one"),
        ("r[0, 1].x = 3\nr[0, 1] = r[0]", "more subscripts than dimensions"),
        ("r[0] += r[1]", "the records 'r' are used as numbers"),
        ("p = r[0] if x[0] > 0 else r[1:]\np.x = 1", "'p' is something else elsewhere"),
    ],
)
def test_what_records_are_not(body, message):
    import linecache

    lines = "".join(f"    {line}\n" for line in body.splitlines())
    text, name = f"@cuda.jit\ndef kernel(r, x):\n{lines}", f"<record {abs(hash(body))}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    names = dict(globals())
    exec(compile(text, name, "exec"), names)
    with pytest.raises(parpy.CompileError) as caught:
        names["kernel"][1, 1](particles(4), np.zeros(4))
    assert message in str(caught.value)


FIELD, FIELDS = "x", ("x", "n")


def test_names_for_fields():
    around = "mass"

    @cuda.jit
    def kernel(r, out):
        i = cuda.grid(1)
        field = "n"
        r[i][field] = i
        out[i] = r[i][FIELD] + r[i][FIELDS[1]] + r[i][around] + r[field][i]

    global FIELD
    records, out = particles(4), np.zeros(4)
    for FIELD in ("x", "mass"):
        kernel[1, 4](records, out)
        want = records[FIELD] + 2 * records["n"] + records["mass"]
        np.testing.assert_allclose(out, want, rtol=1e-6)
        assert records["n"].tolist() == [0, 1, 2, 3]
    FIELD = "x"


def test_loops_over_fields():
    @cuda.jit
    def kernel(r, out):
        i = cuda.grid(1)
        for field in FIELDS:
            r[i][field] += 1
            for other in ("x", "mass"):
                out[i] += r[i][field] * r[i][other]

    records, out = particles(4), np.zeros(4)
    given = records.copy()
    kernel[1, 4](records, out)
    x, n, mass = given["x"] + np.float32(1), given["n"] + 1, given["mass"]
    np.testing.assert_allclose(out, x * x + x * mass + n * x + n * mass, rtol=1e-6)
    assert (records["x"] == x).all() and (records["n"] == n).all()
