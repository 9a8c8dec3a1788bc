"""Exceptions end at the user's line, and name the place in the user's text."""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
from pathlib import Path

import numpy as np
import pytest

import parpy
import parpy.cuda as cuda
import places

HERE = Path(__file__)


@parpy.jit
def add(x, k):
    for i in range(len(x)):
        x[i] += k


@parpy.jit
def follows(x):
    parpy.label("i")
    for i in range(1, len(x)):
        x[i] = x[i - 1] + 1


@parpy.jit
def by_python(x, call):
    for i in range(len(x)):
        x[i] = 1
    y = call(x)
    return np.linalg.inv(y)


@parpy.jit
def inverse(x, k):
    for i in range(len(x)):
        x[i] += k
    return np.linalg.inv(x)


@parpy.callback
def fails(x):
    raise KeyError("of the user")


@parpy.jit
def calls_back(x):
    for i in range(len(x)):
        x[i] += 1
    fails(x)


@cuda.jit
def kernel(x):
    x[cuda.grid(1)] = 1


def opts_of_a_race():
    return parpy.par({"i": parpy.threads(4)}, backend=parpy.CompileBackend.Cpu)


def wrong_decorator():
    @parpy.jit(nonsense=True)
    def f(x):
        pass


CASES = {
    "arguments": lambda: add(np.ones(3)),
    "type": lambda: add(np.ones(3), object),
    "race": lambda: follows(np.ones(5), opts=opts_of_a_race()),
    "opts": lambda: add(np.ones(3), 1, opts=3),
    "par": lambda: parpy.par({"i": 3}),
    "option": lambda: parpy.CompileOptions(backend="cpu"),
    "assignment": lambda: setattr(parpy.seq(), "check", "all of it"),
    "threads": lambda: parpy.threads("four"),
    "explain": lambda: parpy.explain(add, np.ones(3)),
    "tune": lambda: parpy.tune(add, np.ones(3), seconds=-1),
    "print_compiled": lambda: parpy.print_compiled(add, np.ones(3)),
    "compile_string": lambda: parpy.compile_string("f", "no text of ours"),
    "external": lambda: parpy.external("f", 3, 4),
    "decorator": wrong_decorator,
    "vectorize": lambda: parpy.vectorize(["no signature"]),
    "launch": lambda: kernel["many", 32](np.ones(3)),
    "launch arguments": lambda: kernel[1, 1](np.ones(3), 4),
}


def frames(call) -> list[traceback.FrameSummary]:
    """The frames of the traceback with which a call ends, without that of this function."""
    try:
        call()
    except Exception as error:
        return traceback.extract_tb(error.__traceback__)[1:]
    raise AssertionError("it did not fail")


@pytest.mark.parametrize("case", CASES)
def test_no_frame_of_the_package_is_shown(case):
    found = frames(CASES[case])
    assert found and {Path(each.filename) for each in found} == {HERE}


def test_frames_of_the_user_within_are_kept():
    found = frames(lambda: calls_back(np.ones(3)))
    assert found[-1].name == "fails" and found[-1].line == 'raise KeyError("of the user")'
    assert {Path(each.filename) for each in found} == {HERE}


def test_parts_that_python_runs_have_the_lines_of_the_file():
    def first_row(x):
        return x[0]

    found = frames(lambda: by_python(np.ones(3), first_row))
    assert "return np.linalg.inv(y)" in [each.line for each in found]


def test_errors_that_led_to_one_are_cut_too():
    with pytest.raises(parpy.CompileError) as info, pytest.warns(parpy.PerformanceWarning):
        inverse(np.ones(3), object())
    error: BaseException | None = info.value
    while error is not None:
        names = [each.filename for each in traceback.extract_tb(error.__traceback__)]
        assert not [name for name in names if Path(name).is_relative_to(Path(parpy.__file__).parent)]
        shown = None if error.__suppress_context__ else error.__context__
        assert shown is None or shown.__traceback__ is not None
        error = error.__cause__ or shown


def test_a_variable_shows_them(monkeypatch):
    monkeypatch.setenv("PARPY_TRACEBACK", "full")
    found = frames(lambda: add(np.ones(3), object))
    assert Path(parpy.__file__).parent in [parent for each in found for parent in Path(each.filename).parents]


PROGRAM = """
import parpy
@parpy.jit
def f(x):
    y = x + undefined_name
f(3)
"""


def test_what_a_program_prints(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    environment = {**os.environ, "PYTHONPATH": str(places.ROOT / "python")}
    run = subprocess.run([sys.executable, "program.py"], capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert run.returncode == 1
    head, _, rest = run.stderr.partition("parpy.calls.errors.")
    assert head.count("File ") == 1 and "program.py" in head and rest.startswith("CompileNameError: ")


@pytest.mark.parametrize(
    "call",
    [
        lambda: parpy.buffer.empty("wide", parpy.types.F32),
        lambda: parpy.buffer.from_array("no array"),
        lambda: cuda.to_device("no array"),
        lambda: parpy.cudapy.compile(3),
        lambda: parpy.numbapro.jit(3)(4),
    ],
)
def test_nor_of_functions_that_make_things(call):
    found = frames(call)
    assert {Path(each.filename) for each in found} == {HERE}
