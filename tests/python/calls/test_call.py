"""The call path: the binding of arguments, and its visible effects."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from fresh_functions import CPU, fresh, increment

# ---------------------------------------------------------------- binding


@parpy.jit
def defaults(x, a, b=10, *, c=100):
    x[0] = a + b + c


@pytest.mark.parametrize(
    ("call", "want"),
    [
        (lambda x: defaults(x, 1, opts=CPU), 111),
        (lambda x: defaults(x, 1, 2, opts=CPU), 103),
        (lambda x: defaults(x, a=1, b=2, opts=CPU), 103),
        (lambda x: defaults(b=2, x=x, a=1, c=3, opts=CPU), 6),
        (lambda x: defaults(x, 1, seq=True), 111),
        (lambda x: defaults(x, 1, c=5, seq=True), 16),
    ],
)
def test_arguments_bind_as_in_python(call, want):
    x = np.zeros(1)
    assert call(x) is None
    assert x[0] == want


@pytest.mark.parametrize(
    "call",
    [
        lambda f, x: f(),
        lambda f, x: f(x),
        lambda f, x: f(x, 1, 2, 3),
        lambda f, x: f(x, 1, d=3),
        lambda f, x: f(x, 1, a=3),
    ],
)
def test_wrong_arguments_are_worded_by_python(call):
    x = np.zeros(1)
    with pytest.raises(TypeError) as ours:
        call(defaults, x)
    with pytest.raises(TypeError) as pythons:
        call(defaults.__wrapped__, x)
    assert str(ours.value) == str(pythons.value)


def test_positional_only_parameters(tmp_path):
    f = fresh(
        """
        @parpy.jit
        def f(x, /, a):
            x[0] = a
        """,
        tmp_path,
    )
    x = np.zeros(1)
    f(x, a=3, opts=CPU)
    assert x[0] == 3
    with pytest.raises(TypeError, match="positional-only arguments passed as keyword arguments: 'x'"):
        f(x=x, a=3, opts=CPU)


def test_jit_functions_run_by_python_call_each_other_in_python(tmp_path):
    space = fresh(
        """
        @parpy.jit
        def g(a):
            return a, 'anything'

        @parpy.jit
        def f(x, a=1):
            x[0] = len(g(a))
        """,
        tmp_path,
        "__dict__",
    )
    x = np.zeros(1)
    space["f"](x, seq=True)
    assert x[0] == 2


def test_a_parameter_called_opts_wins(tmp_path):
    f = fresh(
        """
        @parpy.jit
        def f(x, seq):
            x[0] = seq
        """,
        tmp_path,
    )
    x = np.zeros(1)
    f(x, seq=7)
    assert x[0] == 7


def test_it_looks_like_the_function():
    def plain(x):
        """Says what it does."""
        x[0] = 1

    f = parpy.jit(plain)
    assert (f.__name__, f.__doc__, f.__module__) == (
        "plain",
        "Says what it does.",
        __name__,
    )
    assert f.__qualname__ == plain.__qualname__
    assert f.__wrapped__ is plain
    assert parpy.jit(f) is f
    assert "plain" in repr(f)


def test_it_is_a_method_where_functions_are():
    class Owner:
        @staticmethod
        @parpy.jit
        def on(x):
            x[0] = 3

        @parpy.jit
        def on_self(self, x):
            x[0] += self[0]

        @parpy.jit
        def unread(self, x):
            x[0] += 1

    x = np.zeros(1)
    Owner().on(x, opts=CPU)
    assert x[0] == 3
    Owner().unread(x, opts=CPU)
    assert x[0] == 4
    with pytest.raises(TypeError, match="argument 'self' is of type 'Owner'"):
        Owner().on_self(x)


def test_opts_must_be_options():
    with pytest.raises(
        TypeError,
        match=r"opts must be a parpy.CompileOptions, not dict; write opts=parpy.par",
    ):
        defaults(np.zeros(1), 1, opts={})


# ---------------------------------------------------------------- looking inside


def test_debug_prints_the_stages(capsys):
    x = np.zeros(2)
    increment(x, 2, opts=CPU, debug=True)
    shown = capsys.readouterr().out
    assert "// ---- infer-types (" in shown
    assert " ms) ----" in shown
    assert x.tolist() == [1, 1]
    increment(x, 2, opts=CPU)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("backend", [parpy.CompileBackend.Cpu, parpy.CompileBackend.Cuda])
def test_print_compiled(backend):
    def plain(x, n):
        parpy.label("i")
        for i in range(n):
            x[i] = 1.0

    opts = parpy.CompileOptions(parallelize={"i": parpy.threads(64)}, backend=backend)
    texts = [parpy.print_compiled(f, [np.zeros(64), 64], opts) for f in (plain, parpy.jit(plain))]
    assert texts[0] == texts[1]
    assert "// ---- host code ----" in texts[0]
    assert ("// ---- device code ----" in texts[0]) == (backend is parpy.CompileBackend.Cuda)
    assert "x[i] = 1.0" in texts[0]


def test_the_interpreter_agrees():
    x = np.arange(4.0)
    parpy.calls.jit.interpret(increment, (x, 4), CPU)
    assert x.tolist() == [1, 2, 3, 4]
