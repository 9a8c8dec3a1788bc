"""Functions in text that `exec` or `python -c` runs."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import parpy

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


def test_text_of_the_command_line():
    text = TEXT.format(3) + "import numpy\nx = numpy.zeros(2)\nf(x)\nprint(x)"
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, env=dict(os.environ), check=False
    )
    assert done.stdout == "[3. 3.]\n", done.stderr
