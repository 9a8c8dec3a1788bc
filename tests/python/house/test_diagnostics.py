"""The messages for programs that ParPy refuses, that fail while they run, or that run more slowly than they could.

The full texts are goldens. Each tests/golden/diag/<code>_<what>.py is run as a module, whose `f` is parsed or, if it
has one, whose `call()` is called; <code>_<what>.txt holds the class and the message of the exception, or else of the
performance warnings, or the text that `call()` returns. `PARPY_UPDATE=1 pytest tests/python/house/test_diagnostics.py`
rewrites them. Programs that name no back end are for the CPU, kernels written by hand run on the simulator. A case
with such comments at its head runs in a process of its own:

        # environment: NAME=value      with this environment
        # driver: REQUEST              with the unit tests' driver, after this request (fake_driver.py)
"""

from __future__ import annotations

import linecache
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

import fake_driver
import parpy
import places
from parpy import CompileBackend, cuda
from parpy.calls import errors
from parpy.frontend.parse import parse

CASES = sorted((places.TESTS / "golden" / "diag").glob("*.py"))
HEADER = re.compile(r"^# (environment|driver): (.*)$", re.M)


def told(path: Path) -> str:
    """The messages for the program at `path`, run in this process."""
    text = path.read_text(encoding="utf-8")
    linecache.cache[path.name] = (len(text), None, text.splitlines(True), path.name)
    namespace: dict[str, Any] = {"__name__": path.stem}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            exec(compile(text, path.name, "exec"), namespace)
            returned = namespace["call"]() if "call" in namespace else parse(namespace["f"])
        except errors.CompileError as error:
            return f"{type(error).__name__}\n{error}\n"
        except ValueError as error:  # an error of the program itself
            return "\n".join([type(error).__name__, str(error), *error.__notes__]) + "\n"
    if isinstance(returned, str):
        return returned
    slow = [each.message for each in caught if issubclass(each.category, parpy.PerformanceWarning)]
    return "".join(f"{type(each).__name__}\n{each}\n" for each in slow)


def told_elsewhere(path: Path, headers: list[tuple[str, str]]) -> str:
    """The messages for the program at `path`, run in a process of its own."""
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path), PARPY_CACHE="0")
    for kind, value in headers:
        environment |= fake_driver.ENVIRONMENT if kind == "driver" else dict([value.split("=", 1)])
    done = subprocess.run([sys.executable, __file__, str(path)], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.replace(str(fake_driver.LIBRARY), fake_driver.LIBRARY.name)


@pytest.fixture
def alike_everywhere():
    parpy.backend.set_default(CompileBackend.Cpu)
    cuda.sim.enabled = True
    yield
    cuda.sim.enabled = False
    parpy.backend.set_default(CompileBackend.Auto)


@pytest.mark.usefixtures("alike_everywhere")
@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_golden(case: Path) -> None:
    headers = HEADER.findall(case.read_text(encoding="utf-8"))
    if any(kind == "driver" for kind, _ in headers) and not fake_driver.LIBRARY.exists():
        pytest.skip("the fake driver is not built")
    found = told_elsewhere(case, headers) if headers else told(case)
    assert f"[{case.stem.partition('_')[0]}]: " in found
    golden = case.with_suffix(".txt")
    if os.environ.get("PARPY_UPDATE"):
        golden.write_text(found, encoding="utf-8")
    assert found == golden.read_text(encoding="utf-8")


if __name__ == "__main__":
    program = Path(sys.argv[1])
    for kind, value in HEADER.findall(program.read_text(encoding="utf-8")):
        if kind == "driver":
            fake_driver.set_up(value)
    print(told(program), end="")
