"""Checks an installed ParPy, in an environment that has only the wheel and its dependencies; runs the tutorial there.

python tests/installed/check.py
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

import numpy as np

import parpy


@parpy.jit
def sum_rows(x, y, n, m):
    for i in range(n):
        for j in range(m):
            y[i] += x[i, j]


@parpy.jit
def shifted(a, n):
    parpy.label("i")
    for i in range(1, n):
        a[i] = a[i - 1] + 1


@parpy.vectorize(["float64(float64, float64)"])
def squares(a, b):
    return a * a + b * b


@parpy.cuda.jit
def fill(x):
    i = parpy.cuda.grid(1)
    if i < x.size:
        x[i] = i


def check_files() -> None:
    files = [str(each) for each in metadata.files("parpy") or []]
    for name in ("LICENSE", "THIRD_PARTY_NOTICES.txt", "parpy/py.typed", "parpy/libtbb.so.12"):
        assert any(each.endswith(name) for each in files), f"the wheel has no {name}"
    facts = metadata.metadata("parpy")
    assert facts["Author"] == "ParPy developers" and facts["License-Expression"].startswith("BSD-3-Clause")
    assert metadata.version("parpy") == parpy.__version__
    assert "site-packages" in Path(parpy.__file__).parts


def check_platform() -> None:
    """The page about the installation names the glibc that the tag of the wheel requires."""
    tag = re.search(r"manylinux_(\d+_\d+)_", metadata.distribution("parpy").read_text("WHEEL") or "")
    page = Path(__file__).parents[2] / "docs" / "tutorial" / "install.md"
    if tag is not None:
        wanted = f"glibc {tag[1].replace('_', '.')} or later"
        assert wanted in page.read_text(encoding="utf-8"), f"{page} does not say {wanted!r}"


def check_programs() -> None:
    x = np.random.default_rng(0).random((300, 200))
    for opts in (None, parpy.auto(backend=parpy.CompileBackend.Sim)):
        y = np.zeros(300)
        sum_rows(x, y, 300, 200, opts=opts)
        np.testing.assert_allclose(y, x.sum(1))
    try:
        shifted(np.zeros(9), 9, opts=parpy.par({"i": parpy.threads(8)}))
    except parpy.ParallelError as error:
        assert "iteration i=1 writes a[1], iteration i=2 reads a[1]" in str(error)
    else:
        raise AssertionError("a race was not refused")
    np.testing.assert_array_equal(squares(np.arange(3.0), 2.0), [4, 5, 8])
    values = np.zeros(10)
    fill[1, 32](values)
    np.testing.assert_array_equal(values, np.arange(10))
    text = parpy.print_compiled(sum_rows, x, y, 300, 200)
    again = np.zeros(300)
    parpy.compile_string("sum_rows", text)(x, again, 300, 200)
    np.testing.assert_allclose(again, x.sum(1))
    assert "proved" in str(parpy.explain(sum_rows, x, y, 300, 200))


def check_tutorial() -> None:
    """Runs the Python blocks of the tutorial in order; other lines are blank, so that errors have the page's lines."""
    page = Path(__file__).parents[2] / "docs" / "tutorial" / "ten_minutes.md"
    lines, inside = [], False
    for line in page.read_text(encoding="utf-8").splitlines():
        fence = line.startswith("```")
        lines.append(line if inside and not fence else "")
        inside = line == "```python" if fence else inside
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "ten_minutes.py")
        program.write_text("\n".join(lines) + "\n", encoding="utf-8")
        subprocess.run([sys.executable, program], check=True, stdout=subprocess.DEVNULL, cwd=folder)


def check_module() -> None:
    run = subprocess.run([sys.executable, "-m", "parpy"], capture_output=True, text=True, check=True)
    assert f"version: {parpy.__version__}" in run.stdout


if __name__ == "__main__":
    check_files()
    check_platform()
    check_programs()
    check_tutorial()
    check_module()
    print(f"parpy {parpy.__version__} works under Python {sys.version.split()[0]}")
