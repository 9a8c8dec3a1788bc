"""Names of compiled functions for profilers, and lines of compiled functions for coverage."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import places

PROGRAM = """
import os
import numpy as np, parpy

@parpy.jit
def counted(x):
    for i in range(len(x)):
        if x[i] > 0:
            x[i] += 1
        else:
            x[i] -= 1

def by_python(x):
    return x + 1

@parpy.jit
def partly(x):
    for i in range(len(x)):
        x[i] = 2.0
    y = np.linalg.inv(x)
    return y

counted(np.ones(100000), opts=parpy.par({}))
partly(np.ones((2, 2)) + np.eye(2)) if False else None
print(os.getpid())
"""


def run(tmp_path: Path, *arguments: str, **variables: str) -> str:
    (tmp_path / "program.py").write_text(PROGRAM)
    environment = {**os.environ, "PYTHONPATH": str(places.ROOT / "python"), **variables}
    found = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert found.returncode == 0, found.stderr
    return found.stdout


def test_perf_knows_compiled_functions(tmp_path):
    number = run(tmp_path, "program.py", PARPY_PERF_MAP="1").split()[-1]
    written = Path(f"/tmp/perf-{number}.map")
    try:
        lines = [line.split(maxsplit=2) for line in written.read_text().splitlines()]
    finally:
        written.unlink(missing_ok=True)
    assert any(name.startswith("parpy:counted") for _, _, name in lines)
    spans = sorted((int(begin, 16), int(begin, 16) + int(size, 16)) for begin, size, _ in lines)
    assert spans and all(a < b for a, b in spans)
    assert all(first[1] <= second[0] for first, second in itertools.pairwise(spans))


def test_without_the_variable_nothing_is_written(tmp_path):
    number = run(tmp_path, "program.py").split()[-1]
    assert not Path(f"/tmp/perf-{number}.map").exists()


RANGES = """
#include <cstdio>
extern "C" int nvtxRangePushA(const char* name) { return std::printf("push %s\\n", name), std::fflush(stdout); }
extern "C" int nvtxRangePop() { return std::printf("pop\\n"), std::fflush(stdout); }
"""


def test_calls_are_ranges_of_nvtx(tmp_path):
    compiler = next(filter(None, map(shutil.which, ("clang++-19", "clang++", "g++"))), None)
    if compiler is None:
        pytest.skip("needs a C++ compiler for a library that stands in for NVIDIA's")
    (tmp_path / "ranges.cpp").write_text(RANGES)
    library = tmp_path / "libranges.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, tmp_path / "ranges.cpp"], check=True)
    lines = run(tmp_path, "program.py", PARPY_NVTX=str(library)).split("\n")
    assert lines[:2] == ["push counted", "pop"]
    assert "push" not in run(tmp_path, "program.py", PARPY_NVTX=str(tmp_path / "nothing.so"))


@pytest.mark.skipif(find_spec("coverage") is None, reason="needs coverage")
@pytest.mark.parametrize("branch", [False, True])
@pytest.mark.parametrize("core", ["ctrace", "pytrace"])
def test_lines_of_compiled_functions_are_covered(tmp_path, branch, core):
    flags = ["--source=.", *(["--branch"] if branch else [])]
    run(tmp_path, "-m", "coverage", "run", *flags, "program.py", COVERAGE_CORE=core)
    run(tmp_path, "-m", "coverage", "json", "-o", "found.json")
    found = json.loads((tmp_path / "found.json").read_text())["files"]
    assert [*found] == ["program.py"]
    source = PROGRAM.split("\n")
    missing = {source[number - 1].strip() for number in found["program.py"]["missing_lines"]}
    assert missing == {"return x + 1", "x[i] = 2.0", "y = np.linalg.inv(x)", "return y", "for i in range(len(x)):"}
