"""Messages of the frontend about programs that it cannot compile: first lines and places. The full texts for each code
are goldens (test_diagnostics.py)."""

from __future__ import annotations

import linecache
import re
from typing import Any

import numpy as np
import pytest

import parpy
from parpy import _native
from parpy.calls import errors as _errors
from parpy.frontend.parse import parse


def messages(statements: str, params: str = "x, n") -> list[str]:
    """The first lines of the errors in these statements, as `line:column: code: message`."""
    lines = [f"def f({params}):", *("    " + line for line in statements.split("\n"))]
    name = "case.py"
    text = "\n".join(lines) + "\n"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace: dict[str, Any] = {"parpy": parpy, "np": np}
    exec(compile(text, name, "exec"), namespace)
    try:
        parse(namespace["f"])
    except _errors.CompileError as error:
        found = re.findall(r"^case\.py:(.*?): error\[(P\d+)\]: (.*)$", str(error), re.M)
        return [": ".join(match) for match in found]
    return []


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        ("import no_such_module", ["2:5: P010: an import cannot be compiled"]),
        ("from math import no_such_name", ["2:5: P010: an import cannot be compiled"]),
        ("class A:\n    pass", ["2:5: P010: a class cannot be compiled"]),
        ("async def g():\n    pass", ["2:5: P010: an asynchronous function cannot be compiled"]),
        ("nonlocal_ = 1\nglobal k\nk = 1", ["3:5: P010: 'global' cannot be compiled"]),
        ("raise", ["2:5: P010: 'raise' without an exception cannot be compiled"]),
        ("raise n", ["2:11: P010: only classes of exceptions can be raised here"]),
        ("raise ValueError('a', n)", ["2:11: P010: an exception with these arguments cannot be compiled"]),
        ("try:\n    x[0] = 1\nfinally:\n    pass", ["2:5: P010: 'try' cannot be compiled"]),
        ("yield n", ["2:5: P011: 'yield' cannot be compiled"]),
        ("yield from n", ["2:5: P011: 'yield from' cannot be compiled"]),
        ("x[0] = {1: 2}", ["2:12: P011: a dict cannot be compiled"]),
        ("x[0] = {1, 2}", ["2:12: P011: a set cannot be compiled"]),
        ("x[0] = {k for k in n}", ["2:12: P011: a set comprehension cannot be compiled"]),
        ("x[0] = {k: 1 for k in n}", ["2:12: P011: a dict comprehension cannot be compiled"]),
        ("x[0] = 0 < n in x", ["2:12: P011: 'in' is part of a chain of comparisons"]),
        ("x[0] = n in {1: 2}", ["2:17: P011: a dict cannot be compiled"]),
        ("x @= n", ["2:5: P011: the update '@=' cannot be compiled"]),
        ("x[0] = 1 + range(n)", ["2:16: P011: 'range' is used outside the head of a for loop"]),
        ("for v in sorted(x):\n    n += v",
         ["2:14: P013: a for loop must run over a range, an array, a tuple of numbers, "
          "or enumerate, zip and reversed of them"]),
        ("for i in range(*x):\n    pass",
         ["2:20: P014: 'range' takes no starred argument in compiled code"]),
        ("a = (b, c) = 1, 2",
         ["2:5: P016: a chained assignment to a tuple cannot be compiled"]),
        ("a, b = divmod(n)", ["2:12: P023: 'divmod' takes 2 arguments, not 1"]),
        ("x[0] = ...", ["2:12: P018: Ellipsis has no value in compiled code"]),
        ("x[:], n = x[1:], m = n, 1", ["2:5: P016: a chained assignment to a tuple cannot be compiled"]),
        ("x[0] = parpy.sum(x[:], axis=n)",
         ["2:33: P023: 'axis' must be an integer constant or a tuple of them"]),
        ("x[0] = x[:].sum(keepdims=n)", ["2:30: P023: 'keepdims' must be True or False itself"]),
        ("x[0] = np.sum(x[:], dtype=int)",
         ["2:25: P023: 'np.sum' takes no keyword argument 'dtype' in compiled code"]),
        ("x[0] = parpy.max(x[:], 0, axis=0)", ["2:31: P023: 'max' gets two values for 'axis'"]),
        ("x[0] = (n, n).shape[0]", ["2:12: P026: only whole arrays have a shape"]),
        ("x[0] = (n, n).ndim", ["2:12: P026: only whole arrays have a shape"]),
        ("with parpy.gpu, open(n):\n    pass",
         ["2:21: P021: only 'with parpy.gpu' can be compiled"]),
        ("x[0] = np.round(n, decimals=n)",
         ["2:33: P023: 'np.round' takes an integer constant as its number of digits in compiled code, from -22 to 22"]),
        ("x[0] = round(n, ndigits=23)",
         ["2:29: P023: 'round' takes an integer constant as its number of digits in compiled code, from -22 to 22"]),
        ("x[0] = round(n, 1, ndigits=2)", ["2:12: P023: 'round' gets two values for 'ndigits'"]),
        ("x[0] = round(n, 1, 2)", ["2:12: P023: 'round' takes 1 to 2 arguments, not 3"]),
        ("x[0] = max(*x)", ["2:16: P023: 'max' cannot take a starred argument"]),
        ("x[0] = x.astype(n, copy=False)", ["2:12: P022: the method 'astype' cannot be compiled"]),
        ("x[0] = nothing.here", ["2:12: P101: name 'nothing' is not defined"]),
        ("x[0] = nothing.here(1)", ["2:12: P101: name 'nothing' is not defined"]),
        ("x[0] = math.exp(1)", ["2:12: P101: name 'math' is not defined"]),
        ("nothing[0] = 1", ["2:5: P101: name 'nothing' is not defined"]),
        ("a = a + 1", ["2:9: P102: variable 'a' is used before it is assigned"]),
        ("if n:\n    a = 1\nelse:\n    x[0] = a",
         ["5:16: P102: variable 'a' is used before it is assigned"]),
        ("while n < 3:\n    n = b\n    b = 1",
         ["3:13: P102: variable 'b' is used before it is assigned"]),
        ("x[0] = parpy.label", ["2:12: P103: 'parpy.label' is the function 'label', not a value"]),
        ("x[0] = np", ["2:12: P103: 'np' is the module 'numpy', which compiled code cannot use"]),
        ("x[0] = parpy['k']",
         ["2:12: P104: only a dict argument or a global dict has a string subscript"]),
    ],
)  # fmt: skip
def test_message(statements: str, expected: list[str]) -> None:
    assert messages(statements) == expected


def test_several_errors_are_reported_in_order() -> None:
    found = messages("x[0] = y\nimport no_such_module\nx[1] = b''\nx[2] = y")
    assert [line.split(": ")[1] for line in found] == ["P101", "P010", "P018"]


def test_errors_in_called_functions_show_their_own_text() -> None:
    text = "import parpy\n@parpy.jit\ndef g(a):\n    return a.flat\n"
    linecache.cache["other.py"] = (len(text), None, text.splitlines(True), "other.py")
    namespace: dict[str, Any] = {}
    exec(compile(text, "other.py", "exec"), namespace)
    g = namespace["g"]

    def f(x):  # type: ignore[no-untyped-def]
        x[0] = g(1)

    with pytest.raises(_errors.CompileError) as raised:
        parse(f)
    assert "other.py:4:12: error[P024]" in str(raised.value)
    assert "    return a.flat\n" in str(raised.value)


@pytest.mark.parametrize("found", [len, int, 3, None, "f", np.sin, type("C", (), {})])
def test_what_is_no_python_function(found: object) -> None:
    with pytest.raises(TypeError, match=r"error\[P001\]: only Python functions can be compiled"):
        parse(found)


def test_classes_of_exceptions() -> None:
    sink = _native.Diagnostics()
    sink.error("P900", None, "it broke")
    with pytest.raises(_errors.InternalError, match="please report"):
        _errors.raise_for(sink, [])
    assert issubclass(_errors.CompileError, RuntimeError)
    _errors.raise_for(_native.Diagnostics(), [])
