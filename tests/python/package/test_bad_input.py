"""Messages about a wrong installation or machine name the fault and the cure."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

import places

PACKAGE = places.ROOT / "python/parpy"
PROGRAM = """
import numpy as np, parpy
@parpy.jit
def f(x):
    for i in range(len(x)):
        x[i] += 1
x = np.zeros(3)
f(x)
print(x)
"""


def run(program: str, path: str = str(PACKAGE.parent), **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": path, **variables}
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, cwd="/")


@pytest.fixture
def copied(tmp_path) -> Path:
    """The Python files of the package, without the core."""
    shutil.copytree(PACKAGE, tmp_path / "parpy", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    return tmp_path


def test_a_package_without_its_core(copied):
    found = run("import parpy", str(copied))
    assert found.returncode == 1
    assert f"ImportError: the compiled core of ParPy is missing in {copied / 'parpy'}\nhelp: " in found.stderr
    assert "pip install" in found.stderr and "another ParPy" not in found.stderr


def test_a_core_for_another_interpreter(copied):
    (copied / "parpy/_native.cpython-399-x86_64-linux-gnu.so").write_bytes(b"")
    found = run("import parpy", str(copied))
    assert "is for another interpreter (_native.cpython-399-x86_64-linux-gnu.so), not for Python 3." in found.stderr
    assert f"help: install ParPy with this one: {sys.executable} -m pip install parpy" in found.stderr


def test_a_core_that_cannot_be_loaded(copied):
    (copied / f"parpy/_native{EXTENSION_SUFFIXES[0]}").write_bytes(b"no library")
    found = run("import parpy", str(copied))
    assert "cannot be loaded: " in found.stderr and "pip install --force-reinstall parpy numpy" in found.stderr


def test_a_platform_without_a_core(copied):
    program = "import platform; platform.system = lambda: 'Darwin'; platform.machine = lambda: 'arm64'; import parpy"
    found = run(program, str(copied))
    assert "ParPy has no compiled core for Python 3." in found.stderr and "on Darwin arm64" in found.stderr
    assert "help: it runs on Linux on x86-64" in found.stderr


def test_a_package_that_hides_another(copied):
    found = run("import parpy", f"{copied}:{PACKAGE.parent}")
    assert f"another ParPy, which has one, is in {PACKAGE}: an earlier folder" in found.stderr


@pytest.mark.parametrize("name, package", [("torch", "torch"), ("jax", "jax"), ("dask", "'dask[array]'")])
def test_a_library_that_is_not_installed(name, package):
    found = run(f"import sys; sys.modules['{name}'] = None; import parpy.{name}")
    assert found.returncode == 1 and f"pip install {package}" in found.stderr
    assert "ModuleNotFoundError: parpy." in found.stderr


def test_no_compiler_is_needed():
    found = run(PROGRAM, PATH="/nonexistent", CC="/nonexistent", CXX="/nonexistent", PARPY_CACHE="0")
    assert found.returncode == 0 and found.stdout == "[1. 1. 1.]\n", found.stderr


@pytest.mark.parametrize("home", ["/proc/no/home", "/dev/null"])
def test_a_home_that_cannot_be_written(home):
    variables = {"HOME": home, "XDG_CACHE_HOME": "", "PARPY_CACHE_DIR": ""}
    found = run(PROGRAM, **variables)
    assert found.returncode == 0 and found.stdout == "[1. 1. 1.]\n"
    assert "ConfigurationWarning: compiled code is not kept in" in found.stderr
    told = run("import parpy; parpy.show_config()", **variables)
    assert "which cannot be written (" in told.stdout and "): set PARPY_CACHE_DIR to a folder that can" in told.stdout


def test_a_driver_that_is_too_old():
    program = "import parpy; parpy.show_config(); print(parpy.backend.is_enabled(parpy.CompileBackend.Cuda))"
    found = run(program, PARPY_CUDA_DRIVER="libm.so.6")
    assert "CUDA: none: the NVIDIA driver is too old: 'libm.so.6' has no function" in found.stdout
    assert found.stdout.endswith("False\n")
