"""opts.comm: a call on the ranks of an MPI communicator, under mpiexec with two and four ranks."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fake_driver
import parpy
import places
from backends import ON_GPU

pytest.importorskip("mpi4py")
HERE = Path(__file__).parent
LIMIT = 240  # seconds


def _mpiexec():
    found = shutil.which("mpiexec", path=str(Path(sys.executable).parent)) or shutil.which("mpiexec")
    if found is None:
        pytest.skip("there is no mpiexec")
    version = subprocess.run([found, "--version"], capture_output=True, text=True, timeout=60).stdout
    return [found, *(["--allow-run-as-root", "--oversubscribe"] if "Open" in version else [])]


def _run(ranks, program, *arguments, cwd=None, **environment):
    environment = {**os.environ, "PYTHONPATH": str(Path(parpy.__file__).parents[1]), **environment}
    command = [*_mpiexec(), "-n", str(ranks), sys.executable, str(program), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, env=environment, cwd=cwd)


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_ranks(ranks):
    parts = ["bits", "own_rows", "split", "many_communicators", *(["unequal", "one_fails"] if ranks > 1 else [])]
    done = _run(ranks, HERE / "rank_program.py", *parts)
    assert done.returncode == 0, done.stdout + done.stderr
    for part in parts:
        for rank in range(ranks):
            assert f"{part} holds on rank {rank} of {ranks}" in done.stdout


@pytest.mark.skipif(ON_GPU or not fake_driver.LIBRARY.exists(), reason="the emulated driver is not built")
@pytest.mark.parametrize("ranks", [1, 3])
def test_ranks_on_emulated_gpus(ranks):
    done = _run(ranks, HERE / "rank_program.py", "on_gpus", FAKE_CUDA_EMULATE="1", **fake_driver.ENVIRONMENT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"on_gpus holds on rank {ranks - 1} of {ranks}" in done.stdout


@pytest.mark.gpu
@pytest.mark.skipif(not ON_GPU, reason="no GPU")
def test_ranks_on_gpus():
    done = _run(2, HERE / "rank_program.py", "on_gpus")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "on_gpus holds on rank 1 of 2" in done.stdout


@pytest.mark.parametrize("ranks", [2, 4])
def test_a_rank_that_dies(ranks):
    done = _run(ranks, HERE / "rank_program.py", "dies", PARPY_MPI_TIMEOUT="60")
    assert done.returncode != 0
    assert "dies holds" not in done.stdout


def test_a_rank_that_makes_no_call():
    done = _run(2, HERE / "rank_program.py", "stays_away", PARPY_MPI_TIMEOUT="2")
    assert "stays_away holds on rank 0 of 2" in done.stdout, done.stdout + done.stderr
    assert done.returncode != 0


def test_other_values_of_the_option():
    with pytest.raises(TypeError, match="option 'comm' must be a communicator of mpi4py"):
        parpy.auto(comm=3)


_WITH_HALOS, _OTHERS = ["heat", "wave", "life"], ["nbody", "histogram", "product", "power"]


@pytest.mark.parametrize(
    ("name", "engine"),
    [
        *((name, engine) for name in _WITH_HALOS for engine in ("cpu", "dask", "devices", "mpi")),
        *((name, engine) for name in _OTHERS for engine in ("devices", "mpi")),
    ],
)
def test_examples(name, engine, tmp_path):
    pytest.importorskip("matplotlib")
    program = places.ROOT / "examples" / "scale" / f"{name}.py"
    if engine == "dask":
        pytest.importorskip("dask")
    if engine == "mpi":
        done = _run(4, program, engine, cwd=tmp_path)
    else:
        environment = {**os.environ, "PYTHONPATH": str(places.ROOT / "python")}
        command = [sys.executable, str(program), engine]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{name} on {engine}: the bits of one call" in done.stdout
    assert (tmp_path / f"{name}.png").stat().st_size > 500
