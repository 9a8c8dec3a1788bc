"""The cell magic ``%%parpy`` in IPython."""

from __future__ import annotations

import re

import pytest

import parpy

CELL = """
import numpy as np, parpy

@parpy.jit
def doubled(x, n):
    for i in range(n):
        x[i] *= 2

x = np.ones(1000)
doubled(x, 1000)
y = int(x.sum())
"""


@pytest.fixture
def shell():
    InteractiveShell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell

    made = InteractiveShell.instance()
    made.run_line_magic("load_ext", "parpy")
    yield made
    made.run_line_magic("unload_ext", "parpy")
    InteractiveShell.clear_instance()


@pytest.fixture
def displayed(monkeypatch):
    found = []
    monkeypatch.setattr("parpy.studies.cell_magic._display", found.append)
    return found


def test_code_and_times_are_shown(shell, displayed):
    shell.run_cell_magic("parpy", "", CELL)
    assert shell.user_ns["y"] == 2000 and (shell.user_ns["x"] == 2).all()  # times are measured on copies
    (call,) = displayed
    text = repr(call)
    assert re.match(r"doubled: [\d.]+ \S+, including compilation; then [\d.]+ \S+ \(median of \d+ runs", text)
    assert "for i in range(n):" in text and "x[i] *= 2" in text
    page = call._repr_html_()
    assert page.startswith("<div><b>doubled</b>") and "<details open><summary>generated code</summary>" in page
    assert "__parpy_seen_call__" not in shell.user_ns


def test_options_of_the_magic(shell, displayed):
    shell.run_cell_magic("parpy", "--no-code --explain --once", CELL)
    (call,) = displayed
    assert call.code == "" and "then" not in call.times and "proved" in repr(call) and "proved" in call._repr_html_()
    with pytest.raises(ValueError, match="%%parpy has no option '--fast'"):
        shell.run_cell_magic("parpy", "--fast", "1")


def test_calls_in_loops_and_expressions_are_seen(shell, displayed):
    shell.run_cell_magic(
        "parpy", "--once", CELL + "for n in (3, 4):\n    doubled(x, n=n)\nfirst = [doubled(x, 1), x[0]][1]"
    )
    assert [each.title for each in displayed] == ["doubled"] * 4
    assert shell.user_ns["first"] == 16


METHODS = """
class Clock:
    def __init__(self):
        self.times = np.zeros(5)

    @parpy.jit
    def tick(self, n):
        for i in range(n):
            self.times[i] += 1

clock = Clock()
clock.tick(5)
"""


def test_methods_are_seen(shell, displayed):
    shell.run_cell("import numpy as np, parpy")
    shell.run_cell_magic("parpy", "--no-code --explain", METHODS)
    (call,) = displayed
    assert call.title == "tick" and "'self' cannot be copied" in call.times and "proved" in repr(call)
    assert (shell.user_ns["clock"].times == 1).all()


def test_errors_are_those_of_the_cell(shell, displayed, capsys):
    shell.run_cell_magic("parpy", "", CELL + "doubled(x)")
    assert not displayed
    assert "missing 1 required positional argument" in capsys.readouterr().out
    assert not [each for each in shell.ast_transformers if type(each).__module__.startswith("parpy")]


def test_the_extension_is_loaded_by_its_name():
    assert callable(parpy.load_ipython_extension) and callable(parpy.unload_ipython_extension)
