"""The programs of benchmarks/appy/, as loops and as tensor expressions, compute NumPy's results, and so do the
programs that `dump_final_appy` prints for them."""

from __future__ import annotations

import copy
import sys

import pytest

import backends
import nvrtc
import parpy
import places
from parpy.appy import jit
from parpy.appy._strip_mine import strip_mined

sys.path.insert(0, str(places.ROOT / "benchmarks"))

import appy
import npbench
from npbench.kernel import arguments, check, expected


@pytest.fixture(params=[(name, form) for name in appy.NAMES for form in appy.FORMS], ids="-".join)
def program(request):
    """The function, its data, and the data with the results."""
    name, form = request.param
    kernel = npbench.load(name)
    data = kernel.data(kernel.presets["tiny"])
    return kernel, appy.load(name, form), data, expected(kernel, copy.deepcopy(data))


def test_there_are_all():
    assert len(appy.NAMES) == 21 and set(appy.NAMES) <= set(npbench.NAMES)


def test_in_python(program):
    kernel, function, data, want = program
    function.py_func(*arguments(function, data))
    check(kernel, data, want)


@pytest.mark.parametrize("backend", backends.BACKENDS)
def test_compiled(program, backend):
    kernel, function, data, want = program
    if backend == "eval" and "lap" in function.py_func.__code__.co_varnames:
        pytest.skip("Python makes its arrays")
    backends.run(backend, function, arguments(function, data), {})
    check(kernel, data, want)


def test_cuda_text(program):
    _, function, data, _ = program
    text = backends.cuda_text(function, arguments(function, data), {})
    assert "__global__" in text
    nvrtc.cubin(text.split("// ---- device code ----")[1])


def test_strip_mined(program, tmp_path):
    """The printed text is a valid program, in Python and compiled."""
    kernel, function, data, want = program
    text = strip_mined(function.__parpy_source__)
    file = tmp_path / "mined.py"
    file.write_text(text)
    space = {}
    exec(compile(text, str(file), "exec"), space)
    made = space[function.__name__]
    compiled = copy.deepcopy(data)
    made.py_func(*arguments(made, data))
    check(kernel, data, want)
    made(*arguments(made, compiled))
    check(kernel, compiled, want)


def test_only_pragmas(program):
    """Results are the same if Python runs all statements without a pragma."""
    kernel, function, data, want = program
    only = jit(function.py_func, auto=False)
    only(*arguments(only, data), opts=parpy.CompileOptions(backend=parpy.CompileBackend.Cpu))
    check(kernel, data, want)
