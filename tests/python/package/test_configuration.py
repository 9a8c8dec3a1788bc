"""parpy.__version__, show_config, python -m parpy, the logger, and the classes of warnings."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
import tomllib
import warnings
from pathlib import Path

import numpy as np
import pytest

import parpy
import places
from parpy.studies import configuration
from parpy.vocabulary.generators import OF_GENERATORS


def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(places.ROOT / "python"), **variables}
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=environment)


def test_the_version_is_that_of_the_build():
    text = (places.ROOT / "CMakeLists.txt").read_text()
    pattern = tomllib.loads((places.ROOT / "pyproject.toml").read_text())["tool"]["scikit-build"]
    found = re.search(pattern["metadata"]["version"]["regex"], text)
    assert found is not None and parpy.__version__ == found[1]


def test_the_configuration_says_what_a_report_needs(capsys):
    parpy.show_config()
    text = capsys.readouterr().out
    for title in ("parpy", "python", "machine", "compilers", "devices", "cache", "environment"):
        assert f"{title}:\n" in text
    assert f"version: {parpy.__version__}" in text and f"numpy: {np.__version__}" in text
    assert "C++: Clang 19" in text and "oneTBB 20" in text
    assert re.search(r"threads: \d+ of \d+ processors", text)


def test_the_module_prints_it_with_the_settings(tmp_path):
    found = run("-m", "parpy", PARPY_CACHE_DIR=str(tmp_path), PARPY_NUM_THREADS="1")
    assert found.returncode == 0 and "  threads: 1 of" in found.stdout
    assert f"  folder: {tmp_path}" in found.stdout and f"  PARPY_CACHE_DIR: {tmp_path}" in found.stdout


def test_a_second_package_on_the_path_is_named(tmp_path, monkeypatch):
    (tmp_path / "parpy").mkdir()
    (tmp_path / "parpy/__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert configuration.others(Path(parpy.__file__).parent) == [str(tmp_path / "parpy")]


def test_nvrtc_is_named_by_its_file():
    shown = configuration.facts()["compilers"]["CUDA C++"]
    file = re.search(r"\((.+)\)$", shown)
    if "no NVRTC" not in shown:
        assert file is not None and (file[1] == "of the system" or Path(file[1]).is_file()), shown


def test_without_nvrtc_it_says_what_to_install():
    assert "pip install nvidia-cuda-nvrtc" in configuration._nvrtc({"nvrtc": "", "nvrtc_file": ""})


def test_a_folder_that_cannot_be_written_is_said_to_be_so():
    found = configuration._cache({"cache": "/dev/null/folder", "cache_bound": 1 << 20})
    assert "(Not a directory): set PARPY_CACHE_DIR" in found["folder"] and found["size"].startswith(
        "0.0 MiB in 0 files"
    )


def test_compilations_are_logged(caplog):
    @parpy.jit
    def logged(x):
        for i in range(len(x)):
            x[i] = 3

    with caplog.at_level(logging.DEBUG, "parpy"):
        logged(np.ones(4))
        logged(np.ones(4))
    told = [each.getMessage() for each in caplog.records if "'logged'" in each.getMessage()]
    assert len(told) == 1 and re.fullmatch(r"compiled 'logged' for Cpu in [\d.]+ ms", told[0])


def test_tuning_is_logged(caplog):
    @parpy.jit
    def tuned(x):
        for i in range(len(x)):
            x[i] = 3

    with caplog.at_level(logging.DEBUG, "parpy"):
        parpy.tune(tuned, np.ones(1000), seconds=0.05, progress=False, force=True)
    assert [each for each in caplog.records if each.getMessage().startswith("tuned 'tuned': ")]


def test_nothing_is_logged_to_the_screen(capfd):
    program = "import numpy as np, parpy\n@parpy.jit\ndef f(x):\n    for i in range(3): x[i] = 1\nf(np.ones(3))\n"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert found.returncode == 0 and not found.stdout and not found.stderr


def test_warnings_have_classes():
    assert issubclass(parpy.PerformanceWarning, parpy.ParPyWarning)
    assert issubclass(parpy.ConfigurationWarning, parpy.ParPyWarning)
    found = run("-W", "error::parpy.ConfigurationWarning", "-c", "import parpy", PARPY_NUM_THREADS="many")
    text = run("-c", "import parpy", PARPY_NUM_THREADS="many").stderr
    assert found.returncode == 0  # -W accepts no classes of packages that are not imported yet
    assert text.startswith("<string>:1: ConfigurationWarning: the environment variable PARPY_NUM_THREADS is 'many'")


def test_all_of_them_can_be_turned_off():
    @parpy.jit
    def told(x):
        y = x + 1
        for i in range(len(x)):
            x[i] = len(np.linalg.inv(np.eye(2))) + y[i]

    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", parpy.ParPyWarning)
        told(np.ones(3))
    assert not found


@pytest.mark.parametrize("kind", [np.random.Generator, np.random.RandomState])
def test_the_names_of_generators_are_known_without_their_module(kind):
    assert {name for name in dir(kind) if not name.startswith("_")} <= OF_GENERATORS


def test_the_import_loads_only_what_every_program_needs():
    program = "import numpy, sys; before = set(sys.modules); import parpy; print(*(set(sys.modules) - before))"
    loaded = set(run("-c", program).stdout.split())
    assert "parpy.calls.jit" in loaded
    heavy = {"asyncio", "numpy.random", "logging", "concurrent.futures", "tqdm", "ssl", "parpy.cuda.fp16"}
    compiler = ("parpy.frontend", "parpy.host", "parpy.library")  # the first call loads it
    assert not [each for each in loaded if each.startswith(compiler)]
    assert not heavy & loaded and not [each for each in loaded if each.startswith(("parpy.studies", "parpy.appy"))]


def test_names_that_are_loaded_later_are_listed():
    program = "import parpy; assert {*parpy.__all__} <= {*dir(parpy)}; from parpy import *; print(cuda, tune)"
    found = run("-c", program)
    assert found.returncode == 0, found.stderr
