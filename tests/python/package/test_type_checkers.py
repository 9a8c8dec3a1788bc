"""Type checkers see the package's types: on a correct program, and on a program with mistakes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import places

PROGRAMS = places.ROOT / "tests/typed"
ENVIRONMENT = {**os.environ, "MYPYPATH": str(places.ROOT / "python"), "PYTHONPATH": str(places.ROOT / "python")}


def mistakes() -> list[int]:
    lines = (PROGRAMS / "mistakes.py").read_text().splitlines()
    return [number for number, line in enumerate(lines, 1) if line.endswith("# wrong")]


def mypy(tmp_path: Path, name: str) -> tuple[list[int], str]:
    """The lines of a program in which mypy finds errors, and its output."""
    if find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", os.devnull, "--cache-dir", tmp_path]
    run = subprocess.run([*command, PROGRAMS / name], capture_output=True, text=True, env=ENVIRONMENT)
    return [int(line) for line in re.findall(rf"{name}:(\d+): error", run.stdout)], run.stdout


def test_mypy_accepts_a_typed_program(tmp_path):
    lines, output = mypy(tmp_path, "client.py")
    assert "Success" in output and not lines, output


def test_mypy_finds_mistakes(tmp_path):
    lines, output = mypy(tmp_path, "mistakes.py")
    assert len(mistakes()) > 12 and lines == mistakes(), output


def pyright(tmp_path: Path, name: str) -> tuple[list[int], str]:
    if shutil.which("pyright") is None:
        pytest.skip("pyright is not installed")
    shutil.copy(PROGRAMS / name, tmp_path)
    settings = {
        "include": [name],
        "extraPaths": [str(places.ROOT / "python")],
        "typeCheckingMode": "standard",
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    command = ["pyright", "-p", tmp_path, "--pythonpath", sys.executable, "--outputjson"]
    run = subprocess.run(command, capture_output=True, text=True)
    report = json.loads(run.stdout)
    assert report["summary"]["filesAnalyzed"] == 1, run.stdout
    found = report["generalDiagnostics"]
    lines = {each["range"]["start"]["line"] + 1 for each in found if each["severity"] == "error"}
    return sorted(lines), run.stdout


def test_pyright_accepts_a_typed_program(tmp_path):
    lines, output = pyright(tmp_path, "client.py")
    assert not lines, output


def test_pyright_finds_mistakes(tmp_path):
    lines, output = pyright(tmp_path, "mistakes.py")
    assert lines == mistakes(), output


@pytest.mark.skipif(shutil.which("pyright") is None, reason="pyright is not installed")
def test_all_public_names_have_types(tmp_path):
    """Pyright knows the type of every name of `parpy` itself."""
    command = ["pyright", "--verifytypes", "parpy", "--ignoreexternal", "--outputjson", "--pythonpath", sys.executable]
    run = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, cwd=tmp_path)
    completeness = json.loads(run.stdout)["typeCompleteness"]
    names = {each["name"]: each for each in completeness["symbols"] if each["name"].count(".") == 1}
    assert {"parpy.jit", "parpy.explain", "parpy.par", "parpy.sum", "parpy.gpu"} <= names.keys()
    assert not [(name, each["diagnostics"]) for name, each in names.items() if not each["isTypeKnown"]]


def test_the_package_says_that_it_has_types():
    assert (places.ROOT / "python/parpy/py.typed").exists()
