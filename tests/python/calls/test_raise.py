"""`raise` in compiled code: the user's exception, with Python's text or with numbers, and a note with its place."""

from __future__ import annotations

import linecache

import numpy as np
import pytest

import parpy
from backends import BACKENDS, TARGETS, options, run
from fresh_functions import plain_function
from parpy import cuda


class Bad(Exception):
    pass


class Custom(ValueError):
    def __init__(self, number=0, other=1.0):
        super().__init__(f"{number} and {other}")


PLACE = "the array"
raised_class: type[Exception] = ValueError


def formatted(x, out, n):
    for i in range(x.shape[0]):
        if x[i] < 0:
            raise ValueError(f"{PLACE} {{{n}}}: element {i:>3} is {x[i]:.3f}, not {x[i] * 2!s} {i > 0} {n:{n}d}%")
        out[i] = np.sqrt(x[i])


def by_value(x, out, n):
    for i in range(x.shape[0]):
        if x[i] == -1:
            raise Bad
        if x[i] == -2:
            raise Bad("plain {braces} \u00e9\n'quotes'\"")
        if x[i] == -3:
            raise KeyError(i, x[i])
        if x[i] == -4:
            raise Custom(i, x[i] * 0.5)
        if x[i] == -5:
            raise IndexError(PLACE) from None
        out[i] = x[i]


def checked(v):
    if v < 0:
        raise ArithmeticError(f"{v}")
    elif v > 100:
        return 1.0
    return np.sqrt(v)


checked = parpy.jit(checked)


def through_helper(x, out, n):
    for i in range(x.shape[0]):
        out[i] = checked(x[i])


def of_while(x, out, n):
    k = 0
    while True:
        if k == x.shape[0]:
            raise StopIteration(k)
        out[k] = x[k]
        k += 1


PROGRAMS = {f.__name__: f for f in (formatted, by_value, through_helper, of_while)}


def outcome(call):
    try:
        call()
    except Exception as error:
        return type(error), error.args, [type(each) for each in error.args]
    return None


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_the_exception_is_that_of_python(backend, name):
    function = PROGRAMS[name]
    compiled = parpy.jit(function)
    for wrong in (-1, -2, -3, -4, -5, -0.5, 7):
        for at in (0, 3):
            x = np.arange(1.0, 6.0)
            x[at] = wrong
            want, got = np.zeros(5), np.zeros(5)
            python = outcome(lambda want=want, x=x: function(x, want, 4))
            ours = outcome(lambda got=got, x=x: run(backend, compiled, (x, got, 4), {}))
            assert (ours is None) == (python is None)
            if python is not None:
                assert ours[0] is python[0]
                assert [str(a) for a in ours[1]] == [str(a) for a in python[1]]
            assert np.array_equal(got, want)  # earlier stores stay


def of_types(a, b, c, d, e, out):
    if a[0] >= 0:
        raise Bad(f"{a[0]} {b[0]} {c[0]} {d[0]} {e[0]} {a[0]!r:>4} {c[0]:.2e}")
    out[0] = 1


@pytest.mark.parametrize("backend", BACKENDS)
def test_numbers_of_every_type_are_shown_as_numpy_shows_them(backend):
    compiled = parpy.jit(of_types)
    for kinds in (("i1", "u8", "f4", "f2", "?"), ("i8", "u4", "f8", "f4", "i2")):
        for fill in (0, 1, 3.3, 1e10, 255):
            arrays = [np.full(1, 1 if kind == "?" else fill).astype(kind) for kind in kinds]
            if kinds[1] == "u8":
                arrays[1][0] = 2**64 - 1
            arrays[0][0] = 5
            arguments = (*arrays, np.zeros(1))
            python = outcome(lambda arguments=arguments: of_types(*arguments))
            ours = outcome(lambda arguments=arguments: run(backend, compiled, arguments, {}))
            assert python is not None and ours is not None
            text = python[1][0].replace("np.int64(5)", "   5")  # as for a Python int
            assert ours[1][0].split() == text.split()


@pytest.mark.parametrize("threads", [2, 64, 100_000])
@pytest.mark.parametrize("backend", ["eval", "cpu"])
def test_the_first_iteration_wins(backend, threads):
    """On the CPU earlier iterations run, however the loop is divided, so their results are stored."""

    @parpy.jit
    def f(x, out):
        parpy.label("i")
        for i in range(x.shape[0]):
            if x[i] < 0:
                raise Bad(i)
            out[i] = x[i] + 1

    rng = np.random.default_rng(threads)
    size = 3_000 if backend == "eval" else 100_000
    for _ in range(3 if backend == "eval" else 20):
        x = np.ones(size)
        wrong = np.sort(rng.integers(0, size, 5))
        x[wrong] = -1
        out = np.zeros(size)
        with pytest.raises(Bad) as caught:
            run(backend, f, (x, out), {"i": threads})
        assert caught.value.args == (wrong[0],)
        assert (out[: wrong[0]] == 2).all()


@pytest.mark.parametrize("backend", TARGETS)
def test_some_iteration_raises_in_parallel(backend):
    @parpy.jit
    def f(x, out):
        parpy.label("i")
        for i in range(x.shape[0]):
            if x[i] < 0:
                raise Bad(f"{i}: {x[i]}")
            out[i] = x[i] + 1

    x, out = np.ones(5000), np.zeros(5000)
    x[[70, 4000]] = -1.5
    with pytest.raises(Bad, match=r"^(70|4000): -1.5\n"):
        run(backend, f, (x, out), {"i": 256})
    x[:] = 2
    run(backend, f, (x, out), {"i": 256})
    assert (out == 3).all()


def test_the_note_says_where():
    @parpy.jit
    def f(x):
        if x > 1:
            raise Bad
        return x

    with pytest.raises(Bad) as caught:
        f(3)
    line = f.__wrapped__.__code__.co_firstlineno + 3
    assert caught.value.__notes__ == [f"{__file__}:{line}:13: note[P431]: raised in compiled code"]
    assert f(1) == 1


def test_a_class_is_looked_up_like_any_global():
    @parpy.jit
    def f(x):
        if x > 1:
            raise raised_class(x)
        return x

    global raised_class
    try:
        with pytest.raises(ValueError):
            f(2)
        raised_class = Bad
        with pytest.raises(Bad):
            f(2)
    finally:
        raised_class = ValueError


def test_classes_of_one_name_stay_apart():
    def make():
        class Local(Exception):
            pass

        @parpy.jit
        def f(x):
            if x > 1:
                raise Local(x)
            return x

        return Local, f

    first, second = make(), make()
    for found, f in (first, second, first):
        with pytest.raises(found) as caught:
            f(2)
        assert type(caught.value) is found


@pytest.mark.parametrize(
    "text",
    ["raise", "raise x", "raise ValueError('a') from KeyError()", "raise ValueError('a', x)", "raise ValueError(a=1)",
     "raise ValueError(*x)", "raise int"],
)  # fmt: skip
def test_other_forms_are_refused(text):

    source, name = f"def f(x):\n    {text}\n", f"<{text}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    space: dict = {}
    exec(compile(source, name, "exec"), space)
    with pytest.raises(parpy.CompileError, match=r"raise ValueError\(f'element \{i\} is \{x\[i\]\}'\)|error\[P"):
        parpy.jit(space["f"])(3)


def test_complex_numbers_are_refused():
    @parpy.jit
    def f(x):
        raise ValueError(f"{x}")

    with pytest.raises(parpy.CompileError, match=r"give its parts: x\.real and x\.imag"):
        f(1 + 2j)


@pytest.mark.parametrize("backend", TARGETS)
def test_the_library_raises(backend):
    opts = options(backend, {})
    empty = np.zeros(0)
    for text, function, message in (
        ("argmax", parpy.jit(lambda_argmax), "attempt to get argmax of an empty sequence"),
        ("quantile", parpy.jit(lambda_quantile), "has no quantile"),
        ("gradient", parpy.jit(lambda_gradient), "2 or more elements"),
    ):
        with pytest.raises((ValueError, IndexError), match=message):
            function(empty, opts=opts)
        assert text
    with pytest.raises(ValueError, match=r"range \[0, 1\]"):
        parpy.jit(beyond)(np.ones(3), opts=opts)
    with pytest.raises(ValueError, match="arrays of 3 elements"):
        parpy.jit(crossed)(np.ones(4), opts=opts)


def lambda_argmax(x):
    return np.argmax(x)


def lambda_quantile(x):
    return np.quantile(x, 0.5)


def lambda_gradient(x):
    return np.gradient(x)


def beyond(x):
    return np.quantile(x, 1.5)


def crossed(x):
    return np.cross(x, x)


@pytest.mark.parametrize("name", ["sim", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_threads_of_kernels_by_hand_raise(name, monkeypatch):
    if name == "cuda" and not parpy.backend.is_enabled(parpy.CompileBackend.Cuda):
        pytest.skip("there is no GPU")
    monkeypatch.setattr(cuda.sim, "enabled", name == "sim")

    @cuda.jit
    def k(x, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            if x[i] < 0:
                raise Bad(f"{i}: {x[i]:.2f} of {x.shape[0]}")
            out[i] = x[i] + 1

    x, out = np.ones(100, np.float32), np.zeros(100, np.float32)
    k[4, 32](x, out)
    assert (out == 2).all()
    x[55] = -1.5
    with pytest.raises(Bad, match=r"55: -1\.50 of 100"):
        k[4, 32](x, out)
        cuda.synchronize()
    x[55] = 3
    k[4, 32](x, out)
    assert out[55] == 4


def of_a_mode(x, kind):
    if kind == "twice":
        return x * 2
    raise KeyError(f"no {kind} {x}")


@pytest.mark.parametrize(
    "exception",
    [
        "ValueError(f'bad {kind} at {x}')", "ValueError('bad %s of %d' % (kind, 3))", "ValueError('bad ' + kind)",
        "ValueError(kind)", "ValueError('unknown kind: ' + str(kind) + '!')", "ValueError(f'{{x}} {kind!r} {x:.2f}')",
    ],
)  # fmt: skip
def test_texts_that_are_arguments(exception):
    text = f"def f(x, kind='twice'):\n    if kind == 'twice':\n        return x * 2\n    raise {exception}\n"
    function = plain_function(text, exception)
    f = parpy.jit(function)
    assert f(1.5) == 3
    for kind in ("b", "{0}", "x}"):
        with pytest.raises(ValueError) as want:
            function(1.5, kind)
        with pytest.raises(ValueError) as got:
            f(1.5, kind)
        assert got.value.args == want.value.args


@parpy.jit
def of_modes(x, kind):
    s = 0.0
    for i in range(3):
        s += of_a_mode(x + i, kind)
    return s


def test_functions_that_always_raise():
    assert of_modes(1.0, "twice") == 12
    with pytest.raises(KeyError, match=r"no b 1\.5"):
        of_modes(1.5, "b")
