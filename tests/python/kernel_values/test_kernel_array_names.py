"""Names of arrays in kernels, beyond rows and slices of one array: reversed slices, new axes, updates in place, names
for several parts, small arrays of values, arrays that device functions return."""

from __future__ import annotations

import numpy as np
import pytest

import kernel_places
import parpy
from nvrtc import cubin
from parpy import cuda

backend = kernel_places.backend
rng = np.random.default_rng(5)


def grid_of(rows, columns):
    return np.arange(float(rows * columns)).reshape(rows, columns).copy()


# ---------------------------------------------------------------- parts


@cuda.jit
def parts(x, out):
    back = x[::-1]
    back[0, 0] = -1
    third = back[:, ::-2][1]
    out[0], out[1] = third[0], len(third)
    column = x[:, 1][:, None]
    column[2, 0] = -2
    row = x[0]
    row += 10
    row *= 2
    row = 3
    out[2] = row
    for row in range(4):
        out[3] += row
    plane = x[1:, 1:]
    plane[:, 0] = plane[:, 1] + plane.shape[1]
    out[4] = plane.ndim + back.size
    corner = plane[-1:, -1:]
    corner[:] = 0


def parts_in_numpy(x, out):
    parts.py_func(x, out)


def test_parts_are_numpys():
    x, out = grid_of(4, 5), np.zeros(5)
    want, want_out = x.copy(), out.copy()
    parts[1, 1](x, out)
    parts_in_numpy(want, want_out)
    np.testing.assert_array_equal(x, want)
    np.testing.assert_array_equal(out, want_out)
    cubin(parts.inspect_source(x, out))


@cuda.jit
def moving(x, out, k):
    part = x[k:]
    for i in range(3):
        part = part[1:] if len(part) > 1 and part[0] < 20 else part[:-2]
        out[i] = len(part)
        if len(part) > 0:
            part[-1] += 1
    rest = x[2:4]
    if k > 1:
        rest = x[k:]
    out[3] = len(rest)
    rest[:] = -1
    step = x[::3]
    if k == 1:
        step = x[1::2]
    step[1] = 100 + len(step)
    whole = x
    if k == 2:
        whole = x[1:]
    whole[0] = len(whole)


@pytest.mark.parametrize("k", [0, 1, 2, 5])
def test_a_name_stands_for_parts_of_any_size(k):
    x, out = np.arange(12.0) * 3, np.zeros(4)
    want, want_out = x.copy(), out.copy()
    moving[1, 1](x, out, k)
    moving.py_func(want, want_out, k)
    np.testing.assert_array_equal(x, want)
    np.testing.assert_array_equal(out, want_out)


@cuda.jit(device=True)
def shrunk(v, k):
    if k > 0:
        v = v[k:]
    while len(v) > 3:
        v = v[1:-1]
    return v[0] * 100 + len(v)


@cuda.jit
def shrinks(x, out):
    for k in range(3):
        out[k] = shrunk(x[0], k)
        out[3 + k] = shrunk(x[1, ::2], k)


def test_parameters_become_names_of_parts():
    x, out = grid_of(2, 10), np.zeros(6)
    shrinks[1, 1](x, out)
    want = [shrunk.py_func(v, k) for v in (x[0], x[1, ::2]) for k in range(3)]
    np.testing.assert_array_equal(out, want)


@cuda.jit
def tiles(x, out):
    tile = cuda.shared.array((2, 32), np.float64)
    t = cuda.threadIdx.x
    mine, other = tile[0], tile[1]
    mine[t] = x[t]
    cuda.syncthreads()
    for _ in range(3):
        other[t] = mine[(t + 1) % 32] + 1
        cuda.syncthreads()
        mine = other if mine[0] < 0 else tile[1]
        other = tile[0]
        mine[t] = mine[t]
        cuda.syncthreads()
    out[t] = mine[t]


@pytest.mark.parametrize("seed", [0, 9])
def test_names_of_shared_memory(seed):
    cuda.sim.seed = seed
    x, out = rng.random(32), np.zeros(32)
    tiles[1, 32](x, out)
    want, other = x.copy(), None
    source = [x.copy(), np.zeros(32)]
    at = 0
    for _ in range(3):
        other = np.roll(source[at], -1) + 1
        if at == 0:
            source[1] = other
        else:
            source[0] = other
        at = 1
    want = source[1]
    np.testing.assert_allclose(out, want)


# ---------------------------------------------------------------- as arguments


@cuda.jit(device=True)
def bump(o):
    o[0] += 1
    return o[0]


@cuda.jit(device=True)
def first(v, b):
    return v[0] * 10 + b


@cuda.jit
def in_conditions(x, o):
    i = 0
    while first(x[i], 0) < 70 and first(x[i + 1, 1:], i) < 100:
        i += 1
    o[1] = i
    o[2] = first(x[i], 1) if i > 1 else first(x[0, 2:], 2)
    if i > 50 or first(x[int(bump(o))], bump(o)) > 3:
        o[3] = bump(o) + first(x[int(o[0])], o[0])
    o[4] = first(x[0], 1) < first(x[0, 1:], 2) < first(x[2], 3)
    o[5] = o[0] + first(x[int(bump(o)) - 3, ::-1], o[0])


def test_arguments_are_evaluated_where_they_stand():
    x, o = grid_of(6, 4), np.zeros(6)
    in_conditions[1, 1](x, o)
    names = {"bump": bump.py_func, "first": first.py_func}
    want = np.zeros(6)
    exec(compile(_body(in_conditions), "<body>", "exec"), {**names, "x": x, "o": want})
    np.testing.assert_array_equal(o, want)


def _body(kernel):
    import ast
    import inspect
    import textwrap

    tree = ast.parse(textwrap.dedent(inspect.getsource(kernel.py_func)))
    return ast.Module(tree.body[0].body, [])


@cuda.jit(device=True)
def middle(v):
    return v[1:-1]


@cuda.jit(device=True)
def doubled(v):
    return v * 2


@cuda.jit
def returned(x, out):
    inner = middle(x[cuda.threadIdx.x])
    inner[0] = -5
    own = cuda.local.array(3, np.float64)
    own[:] = cuda.threadIdx.x
    twice = doubled(own)
    out[cuda.threadIdx.x] = inner[-1] + twice[2] + middle(own)[0]


def test_device_functions_return_arrays():
    x, out = grid_of(4, 5), np.zeros(4)
    want = x.copy()
    returned[1, 4](x, out)
    want[:, 1] = -5
    np.testing.assert_array_equal(x, want)
    np.testing.assert_array_equal(out, want[:, 3] + 3 * np.arange(4))


# ---------------------------------------------------------------- values

WEIGHTS = np.array([0.5, 0.25, 0.125])


@cuda.jit
def values(x, out):
    i = cuda.grid(1)
    own = cuda.local.array(3, np.float64)
    for j in range(3):
        own[j] = x[i, j]
    scaled = own * WEIGHTS + 1
    before = own.copy()
    own[:] = 0
    turned = cuda.local.array((2, 3), np.int32)
    turned[:] = i
    turned[1, 2] = 7
    other = turned.T
    single = x[i, 0].astype(np.float32)
    out[i, 0], out[i, 1] = scaled[0] + scaled[2], before[2] + own[2]
    out[i, 2], out[i, 3], out[i, 4] = other[2, 1], single, scaled[1]


def test_small_arrays_of_values():
    x, out = rng.random((40, 3)), np.zeros((40, 5))
    values[2, 20](x, out)
    scaled = x * WEIGHTS + 1
    want = np.stack([scaled[:, 0] + scaled[:, 2], x[:, 2], np.full(40, 7), x[:, 0].astype(np.float32), scaled[:, 1]], 1)
    np.testing.assert_allclose(out, want)
    cubin(values.inspect_source(x, out))


@cuda.jit
def of_several(out, k):
    one = cuda.local.array(4, np.float64)
    two = cuda.local.array(4, np.float64)
    one[:] = 1
    two[:] = 2
    either = one if k > 0 else two
    table = WEIGHTS if k > 0 else WEIGHTS[::-1]
    out[0] = either[3] + table[0]


@pytest.mark.parametrize("k", [0, 1])
def test_names_of_several_arrays_that_nobody_stores_to(k):
    out = np.zeros(1)
    of_several[1, 1](out, k)
    assert out[0] == (1.5 if k else 2.125)


def refused(kernel, *arguments):
    with pytest.raises(parpy.CompileError) as caught:
        kernel[1, 1](*arguments)
    return str(caught.value)


@cuda.jit
def stored_by_others(out, k):
    one = cuda.shared.array(4, np.float64)
    two = cuda.shared.array(4, np.float64)
    either = one if k > 0 else two
    one[cuda.threadIdx.x] = 1
    cuda.syncthreads()
    out[0] = either[3]


@cuda.jit
def of_two_arguments(x, y, out):
    row = x[0] if out[0] > 0 else y[0]
    out[0] = row[0]


@cuda.jit
def many_values(x, y):
    total = x[0] + y[0]
    x[1, 0] = total[3]


def test_what_has_no_place():
    out = np.zeros(4)
    stored_by_others[1, 4](out, 1)
    assert out[0] == 1
    text = refused(of_two_arguments, np.zeros((2, 400)), np.zeros((2, 400)), np.zeros(1))
    assert "the name 'row' refers to several arrays" in text and "choose among subscripts" in text
    text = refused(many_values, np.zeros((4, 400)), np.zeros((4, 400)))
    assert "the number of values of 'total' is not known when the program is compiled" in text
    assert "write a loop over the elements" in text


TABLE = np.arange(300.0)


@cuda.jit(device=True)
def summed(v):
    return v[0] + summed(v[1:]) if len(v) > 1 else v[0]


@cuda.jit
def sums(out):
    out[0] = summed(TABLE[2:])


def test_recursion_makes_few_functions():
    out = np.zeros(1)
    sums[1, 1](out)
    assert out[0] == TABLE[2:].sum()
    assert sums.inspect_source(out).count("double summed") < 20


@cuda.jit
def stepped(first, second, steps, k):
    i = cuda.grid(1)
    if i >= len(first):
        return
    grid = cuda.cg.this_grid()
    for step in range(steps):
        if step % 2 == 0:
            data = first
            following = second
        else:
            data = second
            following = first
        here = data[i]
        if 0 < i < len(data) - 1:
            here += k * (data[i - 1] - 2 * here + data[i + 1])
        following[i] = here
        grid.sync()


def test_buffers_that_take_turns():
    want = rng.random(1001)
    first, second = want.copy(), np.zeros(1001)
    stepped.forall(1001)(cuda.to_device(first), cuda.to_device(second), 1, 0.25)
    device = cuda.to_device(first), cuda.to_device(second)
    stepped.forall(1001)(*device, 5, 0.25)
    for _ in range(5):
        want[1:-1] += 0.25 * (want[:-2] - 2 * want[1:-1] + want[2:])
    np.testing.assert_allclose(device[1].copy_to_host(), want, rtol=1e-12)


@cuda.jit(device=True)
def twice_of(x, i):
    return 2 * x[i] + x.shape[0]


@cuda.jit
def chosen(a, b, out, c):
    i = cuda.grid(1)
    shared = cuda.shared.array(4, np.float64)
    shared[i] = 100 + i
    cuda.syncthreads()
    x = a if (i + c) % 2 else b
    y = shared
    if c > 1:
        y = x
    out[0, i] = x[i] + x[(i + 1) % x.size]
    out[1, i] = twice_of(x, i) + len(x)
    out[2, i] = y[i] if y[0] > 0 else -1
    out[3, i] = cuda.atomic.add(x, i, 1)
    cuda.syncthreads()
    x[i] += 10
    cuda.atomic.sub(x, i, 3)
    y[i], out[4, i] = 7, y[i]
    a, b = b, a
    a[i] *= 2


def chosen_in_python(a, b, out, c):
    y = [100.0, 101.0, 102.0, 103.0]
    arrays = a, b
    for i in range(4):
        x = a if (i + c) % 2 else b
        z = x if c > 1 else y
        out[0, i] = x[i] + x[(i + 1) % 4]
        out[1, i] = 2 * x[i] + 8
        out[2, i] = z[i] if z[0] > 0 else -1
        out[3, i] = x[i]
    for i in range(4):
        x = arrays[0] if (i + c) % 2 else arrays[1]
        z = x if c > 1 else y
        x[i] += 8
        out[4, i] = z[i]
        z[i] = 7
        arrays[1][i] *= 2


@pytest.mark.parametrize("c", [0, 1, 2, 3])
def test_each_thread_chooses_an_array(c):
    found, want = ([np.arange(4.0) + 1, np.arange(4.0) * 3 - 1, np.zeros((5, 4))] for _ in range(2))
    chosen[1, 4](*found, c)
    chosen_in_python(*want, c)
    for a, b in zip(found, want, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_name_for_several_arrays_as_a_whole():
    @cuda.jit
    def kernel(a, b, out, c):
        x = a if c else b
        for i, value in enumerate(x):
            out[0] += value * i

    with pytest.raises(parpy.CompileError, match="P217"):
        kernel[1, 1](np.ones(3), np.ones(4), np.zeros(1), True)


@cuda.jit
def one_after_the_other(a, b, out):
    t = a
    out[0] = t[1]
    t = b
    out[1] = t[1, 1]
    if out[0] > 5:
        u = a
        out[2] = u[0]
    else:
        u = b
        out[2] = u[0, 1]


def test_arrays_of_other_kinds_one_after_the_other():
    out = np.zeros(3)
    one_after_the_other[1, 1](np.arange(3.0), np.arange(4).reshape(2, 2), out)
    assert out.tolist() == [1, 3, 1]


@cuda.jit
def given_or_not(a, b, out):
    x = a
    if b is not None:
        x = b
    for i in range(x.size):
        if x[i] < 0:
            x = a
            break
        out[0] += x[i]
    out[1] = x[0]


@pytest.mark.parametrize(("b", "want"), [(None, [6, 3]), ([5.0, 6.0], [11, 5]), ([4.0, -1.0, 2.0], [4, 3])])
def test_an_array_that_may_be_none(b, want):
    out = np.zeros(2)
    given_or_not[1, 1](np.array([3.0, 2.0, 1.0]), None if b is None else np.array(b), out)
    assert out.tolist() == want


@cuda.jit
def three_in_turn(a, b, c, out, n):
    i = cuda.grid(1)
    x, y = a, b
    z = c
    while n > 0:
        x, y, z = y, z, x
        n -= 1
    out[i] = 100 * x[i] + 10 * y[i] + z[i]


def test_three_arrays_in_turn():
    for n in range(5):
        out = np.zeros(4)
        three_in_turn[1, 4](*(np.full(4, float(k)) for k in (1, 2, 3)), out, n)
        digits = "123"[n % 3 :] + "123"[: n % 3]
        assert (out == int(digits)).all()


@cuda.jit
def walked(a, b, out, c):
    m = a if c else b
    for v in m:
        out[0] += v
    out[1] = m.ravel()[1] + m.T[2]


def test_loops_over_a_chosen_array():
    out = np.zeros(2)
    walked[1, 1](np.arange(3.0), np.arange(5.0), out, False)
    assert out.tolist() == [10, 3]


@cuda.jit
def best_row(x, y, out):
    best = y
    for i in range(x.shape[0]):
        row = x[i]
        if row[0] > best[0]:
            best = row
    out[0] = best[1]


def test_rows_of_a_loop_are_not_taken_for_one_array():
    x, out = np.array([[1.0, 10], [5, 50], [3, 30]]), np.zeros(1)
    with pytest.raises(parpy.CompileError, match="P217"):
        best_row[1, 1](x, x[0].copy(), out)
