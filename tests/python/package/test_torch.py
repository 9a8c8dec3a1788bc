"""Jit functions as operators of PyTorch."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

import parpy

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore")  # PyTorch's compiler emits them


@parpy.jit
def scaled(x, a: float):
    return x * a


@parpy.jit
def add_to(y, x, a: float):
    for i in range(len(x)):
        y[i] += a * x[i]


@parpy.jit
def both(x):
    return x + 1, x.sum(axis=1)


@parpy.jit
def total(x) -> float:
    s = 0.0
    for i in range(len(x)):
        s += x[i]
    return s


def square(x):
    out = np.empty_like(x)
    for i in range(len(x)):
        out[i] = x[i] * x[i]
    return out


def of_square(ctx, gradient):
    (x,) = ctx.saved_tensors
    return 2 * x * gradient


def of_scaled(ctx, gradient):
    return gradient * ctx.numbers["a"], None


scaled_op = parpy.torch.op(scaled, name="parpy_tests::scaled", like="x", backward=of_scaled)
add_op = parpy.torch.op(add_to, name="parpy_tests::add_to")
total_op = parpy.torch.op(total, name="parpy_tests::total")
square_op = parpy.torch.op(square, name="parpy_tests::square", like="x", backward=of_square)


@parpy.torch.op(name="parpy_tests::both", fake=lambda x: (torch.empty_like(x), torch.empty(x.shape[0], dtype=x.dtype)))
@parpy.jit
def both_op(x):
    return x + 1, x.sum(axis=1)


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
def test_results_are_tensors(kind):
    x = torch.arange(5, dtype=kind)
    found = scaled_op(x, 2.5)
    assert isinstance(found, torch.Tensor) and found.dtype == kind
    assert torch.equal(found, x * 2.5) and torch.equal(x, torch.arange(5, dtype=kind))


def test_what_is_stored_to_is_found_in_the_text():
    x, y = torch.arange(5.0), torch.ones(5)
    assert add_op(y, x, 3.0) is None
    assert torch.equal(y, 1 + 3 * x)
    assert "Tensor(a!) y, Tensor x, float a" in str(add_op._opoverload._schema)


def test_numbers_are_results():
    assert total_op(torch.arange(5.0)) == 10.0


def test_several_results():
    x = torch.arange(6.0).reshape(2, 3)
    one, sums = both_op(x)
    assert torch.equal(one, x + 1) and torch.equal(sums, x.sum(1))


def test_checks_of_pytorch_pass():
    torch.library.opcheck(scaled_op, (torch.ones(4), 2.0))
    torch.library.opcheck(add_op, (torch.ones(4), torch.ones(4), 2.0))
    torch.library.opcheck(both_op, (torch.ones(4, 3),))
    torch.library.opcheck(square_op, (torch.ones(4, dtype=torch.float64, requires_grad=True),))


def test_gradients():
    x = torch.arange(4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(square_op, (x,))
    assert torch.autograd.gradcheck(lambda t: scaled_op(t, 3.0), (x,))
    (scaled_op(square_op(x), 3.0)).sum().backward()
    assert torch.equal(x.grad, 6 * x.detach())


def test_fake_tensors():
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        assert scaled_op(torch.empty(7), 2.0).shape == (7,)
        assert [each.shape for each in both_op(torch.empty(4, 3))] == [(4, 3), (4,)]


@pytest.mark.parametrize("dynamic", [False, True])
def test_under_torch_compile(dynamic):
    @torch.compile(backend="aot_eager", fullgraph=True, dynamic=dynamic)
    def model(x, y):
        z = scaled_op(torch.sin(x), 2.0)
        add_op(y, z, 3.0)
        return square_op(z) + y

    def plain(x, y):
        z = torch.sin(x) * 2.0
        y += 3.0 * z
        return z * z + y

    for size in (5, 9):
        x, y = torch.arange(float(size)), torch.ones(size)
        want_y = y.clone()
        assert torch.allclose(model(x, y), plain(x, want_y)) and torch.allclose(y, want_y)


def test_misuse_says_what_to_write():
    with pytest.raises(TypeError, match="like='x'"):
        parpy.torch.op(scaled, name="parpy_tests::unknown")
    with pytest.raises(ValueError, match="'z' is not a tensor among the parameters of 'scaled'"):
        parpy.torch.op(scaled, name="parpy_tests::unknown", like="z")


def test_torch_is_not_loaded_by_the_package():
    assert find_spec("torch") is not None and parpy.torch.__name__ == "parpy.torch"
