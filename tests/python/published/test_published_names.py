"""Programs written for the published ParPy, 0.1 and 0.3, find the names and defaults that they use."""

from __future__ import annotations

import importlib
import pickle
import subprocess
import sys

import numpy as np
import pytest

import parpy
from backends import TARGETS, options
from parpy import CompileBackend, buffer
from parpy.calls.misfits import in_their_place


class Index:
    def __index__(self):
        return 7


@pytest.mark.parametrize("count", [np.array(7), np.int16(7), np.array(7, np.uint64), Index()])
def test_thread_counts_are_whatever_stands_for_an_integer(count):
    assert parpy.threads(count) == parpy.LoopPar().threads(count) == parpy.threads(7)
    assert parpy.threads(8).tpb(count) == parpy.threads(8).tpb(7)
    assert type(parpy.threads(count)._threads) is int


@pytest.mark.parametrize("count", [True, 7.0, "7", None, np.array(7.0), np.array([7, 8])])
def test_what_is_no_thread_count(count):
    with pytest.raises(TypeError, match="the number of threads must be an int"):
        parpy.threads(count)


def test_loops_that_are_parallel():
    assert parpy.threads(1).is_parallel() and parpy.threads(32).reduce().is_parallel()
    assert not parpy.LoopPar().is_parallel() and not parpy.reduce().tpb(64).is_parallel()


@pytest.mark.parametrize("place", [CompileBackend.Cpu, CompileBackend.Sim])
def test_the_back_end_of_a_buffer_is_a_method_too(place):
    x = buffer.zeros(3, np.float32, place)
    assert x.backend() is x.backend is place and x.reshape(3, 1).backend() is place


def test_sizes_of_buffers_are_bytes():
    assert buffer.zeros((3, 4), np.float32).size() == 48 and buffer.zeros((3, 0)).size() == 0
    assert buffer.zeros(3, bool, CompileBackend.Sim).size() == 3
    assert buffer.zeros((4, 6), np.int16, CompileBackend.Cpu)[::2].size() == 24


def test_buffers_of_one_integer_are_integers():
    n = buffer.from_array(np.array(3))
    assert list(range(n)) == [0, 1, 2] and [4, 5, 6, 7][n] == 7 and parpy.threads(n) == parpy.threads(3)
    assert range(buffer.from_array(np.array([5], np.uint8)))[-1] == 4
    for no in (np.array(3.0), np.array([1, 2]), np.zeros(0, np.int64), np.array(True)):
        with pytest.raises(TypeError, match="is not a single integer"):
            range(buffer.from_array(no))


def test_buffers_of_one_number_are_numbers():
    assert int(buffer.from_array(np.array([7], np.int16))) == 7 == float(buffer.from_array(np.array([[7.0]])))
    assert int(buffer.from_array(np.array(2.5))) == 2 and float(buffer.from_array(np.array(3))) == 3.0
    for convert in (int, float):
        with pytest.raises(TypeError, match="is not a single number"):
            convert(buffer.zeros(2))


@pytest.mark.parametrize("sync", [parpy.sync, buffer.sync])
def test_waiting_for_a_back_end(sync):
    sync()
    for place in CompileBackend:
        sync(place)
    sync(buffer.zeros(2).backend())
    with pytest.raises(TypeError, match=r"expected a parpy\.CompileBackend, not 'cuda'"):
        sync("cuda")


given = []


@parpy.callback
def take(step, x, row=None):
    given.append((step, x, row))
    x[0] += 1
    return float(x.numpy().sum())


@parpy.jit
def stepped(x, m, n):
    total = 0.0
    for t in range(n):
        parpy.label("i")
        for i in range(x.shape[0]):
            x[i] += t
        total += take(t, x, row=m[1])
    return total


@pytest.mark.parametrize("backend", [*TARGETS, "seq"])
def test_callbacks_get_buffers(backend):
    given.clear()
    x, m = np.zeros(4), np.ones((2, 3), np.float32)
    total = stepped(x, m, 3, seq=True) if backend == "seq" else stepped(x, m, 3, opts=options(backend, {"i": 4}))
    assert total == 1 + 6 + 15 and x.tolist() == [6, 3, 3, 3]
    assert [step for step, _, _ in given] == [0, 1, 2]
    for _, y, row in given:
        assert isinstance(y, buffer.Buffer) and y.numpy() is x and y.shape == (4,) and y.dtype is parpy.types.F64
        assert isinstance(row, buffer.Buffer) and row.shape == (3,) and row.dtype is parpy.types.F32
    b = buffer.from_array(x)
    assert take(5, b) == 16 and given[-1][1] is b


def test_what_no_buffer_holds_is_given_to_callbacks_as_it_is():
    same = parpy.callback(lambda value: value)
    for value in (np.array(["a"]), np.array(3.0), np.float32(2), 7, None, "text", [np.zeros(2)]):
        assert same(value) is value
    assert isinstance(same(np.zeros(2)), buffer.Buffer)


def test_debug_callbacks(capsys):
    opts = options("cpu", {"i": 4})
    stepped(np.zeros(4), np.ones((2, 3)), 2, opts=opts)
    assert capsys.readouterr().out == ""
    opts.debug_callbacks = True
    stepped(np.zeros(4), np.ones((2, 3)), 1, opts=opts)
    shown = "<parpy.buffer.Buffer (4,) of F64 for Cpu>, row=<parpy.buffer.Buffer (3,) of F64 for Cpu>"
    assert capsys.readouterr().out == f"callback take(0, {shown})\ncallback take returned 1.0\n"
    take(0, np.zeros(1))
    assert capsys.readouterr().out == "" and not parpy.CompileOptions().debug_callbacks


def test_reductions_have_a_module():
    import parpy.reduce
    from parpy import reduce
    from parpy.reduce import sum as total

    assert reduce is parpy.reduce and total is parpy.sum and reduce.max is parpy.max
    assert reduce() == parpy.reduce() == parpy.par_reduction()

    @parpy.jit
    def sums(x, y):
        parpy.label("i")
        for i in range(x.shape[0]):
            y[i] = total(x[i, :]) + parpy.reduce.max(x[i, :]) + reduce.min(x[i, :])

    x, y = np.random.default_rng(0).random((5, 40)), np.zeros(5)
    sums(x, y, opts=options("cpu", {"i": 5}))
    np.testing.assert_allclose(y, x.sum(1) + x.max(1) + x.min(1))
    sums(x, y, seq=True)
    np.testing.assert_allclose(y, x.sum(1) + x.max(1) + x.min(1))


@pytest.mark.parametrize("name", ["backend", "buffer", "builtin", "math", "reduce", "types"])
def test_published_modules(name):
    assert importlib.import_module(f"parpy.{name}") is getattr(parpy, name)


def test_lists_of_back_ends_can_be_called():
    for listed in (parpy.backend.backends, parpy.backend.available):
        assert isinstance(listed, list) and listed() == listed == [*listed] and CompileBackend.Cpu in listed
    assert parpy.backend.backends == parpy.backend.backends() != parpy.backend.available
    from parpy.backend import available

    assert available == [each for each in parpy.backend.backends if parpy.backend.is_enabled(each)]
    with pytest.raises(AttributeError, match="has no attribute 'enabled'"):
        parpy.backend.enabled  # noqa: B018


def test_importing_parpy_does_not_look_for_gpus():
    code = "import parpy; print('available' in vars(parpy.backend)); parpy.backend.available"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "False\n"


@parpy.jit
def one_more(x):
    parpy.label("i")
    for i in range(x.shape[0]):
        if parpy.builtin.static_backend_eq(CompileBackend.Triton):
            parpy.builtin.static_fail("no code of Triton")
        x[i] += 1


@pytest.mark.parametrize("backend", [*TARGETS, "seq"])
def test_triton_is_another_back_end(backend):
    x = np.zeros(5)
    one_more(x, seq=True) if backend == "seq" else one_more(x, opts=options(backend, {"i": 5}))
    assert (x == 1).all()


@pytest.mark.parametrize(
    "use",
    [
        lambda x, opts: one_more(x, opts=opts),
        lambda x, opts: parpy.print_compiled(one_more, [x], opts),
        lambda x, opts: parpy.explain(one_more, x, opts=opts),
        lambda x, opts: parpy.compile_string("one_more", parpy.print_compiled(one_more, [x]), opts),
        lambda x, opts: parpy.backend.set_default(opts.backend),
    ],
)
def test_nothing_is_compiled_for_triton(use):
    opts = parpy.par({"i": parpy.threads(5)}, backend=CompileBackend.Triton)
    with pytest.raises(parpy.BackendError, match=r"P560.*the back end 'Triton' is not part of ParPy") as caught:
        use(np.zeros(5), opts)
    assert __file__ in str(caught.value)


def test_triton_is_a_name(capsys):
    assert pickle.loads(pickle.dumps(CompileBackend.Triton)) is CompileBackend("triton") is CompileBackend.Triton
    assert not parpy.backend.is_enabled(CompileBackend.Triton, verbose=True)
    assert "Triton is disabled: ParPy compiles CUDA C++ instead" in capsys.readouterr().out
    assert CompileBackend.Triton not in parpy.backend.backends
    with pytest.raises(ValueError, match="buffers of Triton are not part of this version"):
        buffer.zeros(3, parpy.types.F32, CompileBackend.Triton)


class Foreign:
    """An array of another library, unknown to NumPy, whose functions would call its methods."""

    device = "cpu"

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **keywords):
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __getitem__(self, index):
        return Foreign(np.asarray(self.array[index]))

    def __setitem__(self, index, value):
        assert isinstance(value, Foreign)
        self.array[index] = value.array

    def sum(self, dim):
        raise AssertionError("its own methods have other parameters")

    def to(self, device):
        assert device == self.device
        return self


def from_dlpack(array):  # the library's own function
    return Foreign(np.from_dlpack(array))


@parpy.jit
def reduced(x, y):
    y[:] = parpy.sum(x[:, :], axis=1)
    y[0] = parpy.reduce.max(x[:, :])
    y[1] = parpy.min(x[1, :], keepdims=False)


def test_plain_python_reduces_arrays_of_other_libraries():
    x, y = np.random.default_rng(0).random((3, 4)), np.zeros(3)
    reduced(Foreign(x), Foreign(y), seq=True)
    np.testing.assert_allclose(y, [x.max(), x[1].min(), x[2].sum()])
    reduced(buffer.from_array(x), b := buffer.zeros(3), seq=True)
    assert np.array_equal(b.numpy(), y)


def test_plain_python_reduces_tensors():
    torch = pytest.importorskip("torch")
    x, y = torch.rand((3, 4)), torch.zeros(3)
    reduced(x, y, seq=True)
    assert torch.allclose(y, torch.stack([x.max(), x[1].min(), x[2].sum()]))


F32, I32 = parpy.types.F32, parpy.types.I32
N, T = parpy.types.symbol(), parpy.types.type_var()


@parpy.jit
def scaled(x: parpy.types.buffer(T, [N]), float_n: T, n: I32 = 1, *, m: N = 4):
    parpy.label("i")
    for i in range(N):
        x[i] = float_n * n + m


@pytest.mark.parametrize("backend", [*TARGETS, "seq"])
@pytest.mark.parametrize("kind", [np.float64, np.float16, np.int64, np.uint8])
def test_numbers_of_numpy_of_another_type_are_numbers(backend, kind):
    how = {"seq": True} if backend == "seq" else {"opts": options(backend, {"i": 4})}
    for value in (kind(3), np.array(3, kind)):
        x = np.zeros(4, np.float32)
        scaled(x, value, np.int64(2), m=np.int16(4), **how)
        assert x.tolist() == [10] * 4
    if backend != "seq":
        opts = options(backend, {"i": 4})
        given, same = (x, value, np.int64(2)), (x, value.item(), 2)
        assert parpy.print_compiled(scaled, given, opts) == parpy.print_compiled(scaled, same, opts)
        assert str(parpy.explain(scaled, *given, opts=opts)) == str(parpy.explain(scaled, *same, opts=opts))


def test_numbers_of_numpy_that_do_not_fit():
    x = np.zeros(4, np.float32)
    for given, message in [
        ((x, 1.0, np.int64(1 << 40)), "1099511627776 does not fit int32"),
        ((x, 1.0, np.float64(2)), "'n' is a number of type float, but its annotation says"),
        ((x, np.bool_(True)), "'float_n' is a number of type bool"),
        ((x, np.arange(2.0)), "'float_n' is an array of f64"),
    ]:
        with pytest.raises(TypeError, match=message):
            scaled(*given)


class OnDevice:
    """A GPU array without dimensions."""

    @property
    def __cuda_array_interface__(self):
        return {"shape": (), "typestr": "<f4", "data": (16, False), "version": 3}

    def item(self):
        return 1.5


def test_arrays_of_a_gpu_without_dimensions_are_numbers():
    if not parpy.backend.is_enabled(CompileBackend.Cuda):
        error = parpy.CompileError("an array without dimensions")
        error.facts = (frozenset({"in place"}),)
        (x, n), _ = in_their_place(lambda x, n: None, error, {"x": 3, "n": OnDevice()})
        assert x == 3 and type(n) is np.float32 and n == 1.5
        return

    @parpy.jit
    def divided(x, n):
        parpy.label("i")
        for i in range(x.shape[0]):
            x[i] /= n

    x = buffer.full(4, 3.0, np.float32)
    divided(x, buffer.full((), 1.5, np.float64), opts=options("cuda", {"i": 4}))
    assert x.numpy().tolist() == [2] * 4
