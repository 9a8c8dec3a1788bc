"""Functions in texts that `exec` or `python -c` runs."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys

import numpy as np
import pytest

import parpy
from parpy import cuda

TEXT = """
from __future__ import annotations
import parpy

@parpy.jit
def f(x):
    for i in range(len(x)):
        x[i] += {0}  # {0}
"""


@pytest.mark.parametrize("k", [1, 2])
def test_text_in_a_variable(k):
    text = TEXT.format(k)
    space = {}
    exec(text, space)
    x = np.zeros(3)
    space["f"](x)
    assert x.tolist() == [k] * 3
    other = text.replace("+=", "-=")
    exec(compile(other, "made.py", "exec"), space)
    space["f"](x)
    assert x.tolist() == [0] * 3


def test_other_text_of_the_same_function_is_not_taken():
    decoy = TEXT.format(7)  # noqa: F841
    with pytest.raises(parpy.CompileError, match="P002"):
        exec("".join(("import parpy\n@parpy.jit\ndef f(x):\n", "    x[0] = 1\n")))


def test_the_code_that_runs_decides_between_programs():
    def made_inside(space):
        exec("".join(("def f(x):\n", "    for i in range(len(x)):\n", "        x[i] += 1\n")), space)

    outer = """
def f(x):
    x[0] = 7

space = {}
made_inside(space)
compiled = jit(space["f"])
"""
    with pytest.raises(parpy.CompileError, match="P002"):
        exec(outer, {"made_inside": made_inside, "jit": parpy.jit})


COMMENTED = """import parpy
@parpy.jit
def f(x):
    for i in range(len(x)):
        x[i] += one  {0}
{1}
"""


def test_texts_with_other_comments():
    one, other = COMMENTED.format("# one", ""), COMMENTED.format("# other", "")
    space = {"one": 1}
    with pytest.raises(parpy.CompileError, match=r"P002.*several source texts that differ only in their comments"):
        exec(one, space)

    def run(text):
        exec(text, space)

    run(one)  # the nearest text
    x = np.zeros(3)
    space["f"](x)
    assert x.tolist() == [1] * 3
    del space["one"]
    with pytest.raises(NameError, match="# other"):
        run(other)
        space["f"](x)


def test_texts_that_differ_elsewhere():
    one, other = COMMENTED.format("# here", "# end"), COMMENTED.format("# here", "#")  # noqa: F841
    space = {"one": 1}
    exec(one, space)
    x = np.zeros(3)
    space["f"](x)
    assert x.tolist() == [1] * 3


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("odd", ["\u2028", "\x0c", "\x85", "\x1c", "\u2029"])
def test_characters_that_end_lines_elsewhere(odd, end, tmp_path):
    text = TEXT.format(2).replace("# 2", f"# a{odd}b '").replace("@parpy.jit", f"a = '''{odd}(\n'''\n@parpy.jit")
    text = text.replace("\n", end)
    space = {}
    exec(text, space)
    x = np.zeros(3)
    space["f"](x)
    assert x.tolist() == [2] * 3
    file = tmp_path / "odd.py"
    file.write_bytes(text.encode())
    space = runpy.run_path(str(file))
    space["f"](x)
    assert x.tolist() == [4] * 3


TRACED = TEXT.format(1)  # a text of the module: the search finds the traced function first


def traced():
    a = 1
    b = 2
    return a + b


@pytest.mark.parametrize("on", [False, True])
def test_variables_of_functions_that_are_traced_stay(on):
    space, before = {}, sys.gettrace()

    def trace(frame, event, _):
        if frame.f_code is not traced.__code__:
            return None
        if event == "line" and "b" in frame.f_locals:
            if not on:
                sys.settrace(None)
            exec(TRACED, space)
        return trace

    sys.settrace(trace)
    try:
        assert traced() == 3
    finally:
        sys.settrace(before)
    assert "f" in space


def test_variables_that_the_caller_has_asked_for_stay():
    text, space = TEXT.format(1), {}
    mine = locals()
    exec(text, space)
    assert mine["text"] == text and mine["space"] is space


def test_lambdas():
    text = "added = cuda.reduce(lambda a, b: a + b)  # its text is not 'def'"
    space = {"cuda": cuda}
    exec(text, space)
    cuda.sim.enabled = True
    try:
        assert space["added"](np.arange(4)) == 6
    finally:
        cuda.sim.enabled = False


class Variables:
    """The least that exec accepts as local variables."""

    def __init__(self, known):
        self._known = known

    def __getitem__(self, name):
        return self._known[name]

    def __setitem__(self, name, value):
        self._known[name] = value


class OddDict(dict):
    def values(self):
        raise RuntimeError


@pytest.mark.parametrize("make", [Variables, OddDict])
def test_text_in_variables_of_any_kind(make):
    text, space, x = TEXT.format(4), {}, np.zeros(3)
    variables = make({"inner": text, "space": space})
    del text
    exec("exec(inner, space)", {}, variables)
    space["f"](x)
    assert x.tolist() == [4] * 3


@pytest.mark.parametrize("kind", [bytes, bytearray])
def test_text_as_bytes(kind):
    text, space, x = kind(TEXT.format(5).replace("def f", "def   f").encode()), {}, np.zeros(3)
    exec(bytes(text), space)
    space["f"](x)
    assert x.tolist() == [5] * 3


def test_text_of_the_command_line():
    text = TEXT.format(3) + "import numpy\nx = numpy.zeros(2)\nf(x)\nprint(x)"
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, env=dict(os.environ), check=False
    )
    assert done.stdout == "[3. 3.]\n", done.stderr
