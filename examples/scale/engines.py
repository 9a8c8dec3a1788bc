"""Runs a program on the engine that the command line names, and draws what it computes.

python heat.py                      one call on this CPU
python heat.py dask                 on the chunks of dask arrays
python heat.py devices              on four virtual devices
mpiexec -n 4 python heat.py mpi     on four ranks
"""

import sys

import numpy as np

import parpy

CPU = parpy.CompileBackend.Cpu


def one_call(function, arrays, *numbers):
    """The arrays after a call."""
    made = [np.array(array) for array in arrays]
    function(*made, *numbers, opts=parpy.auto(backend=CPU))
    return made


def on_devices(function, arrays, *numbers):
    made = [np.array(array) for array in arrays]
    function(*made, *numbers, opts=parpy.auto(backend=CPU, devices=range(4)))
    return made


def on_ranks(function, arrays, *numbers):
    """Every rank gets all rows of the results."""
    from mpi4py import MPI

    made = [np.array(array) for array in arrays]
    function(*made, *numbers, opts=parpy.auto(backend=CPU, comm=MPI.COMM_WORLD))
    return made


def on_dask(function, arrays, *numbers, chunks=100):
    import dask.array as da

    import parpy.dask

    given = [da.from_array(array, chunks=chunks) for array in arrays]
    return [each.compute() for each in parpy.dask.map_overlap(function, *given, *numbers)]


ENGINES = {"cpu": one_call, "dask": on_dask, "devices": on_devices, "mpi": on_ranks}


def main(name, function, arrays, *numbers, **drawn):
    """Runs the engine, compares its arrays with those of one call, and draws the first one to ``name.png``."""
    engine = sys.argv[1] if len(sys.argv) > 1 else "cpu"
    found = ENGINES[engine](function, arrays, *numbers)
    expected = one_call(function, arrays, *numbers)
    same = all(np.array_equal(one, other) for one, other in zip(found, expected, strict=True))
    print(f"{name} on {engine}: {'the bits of one call' if same else 'OTHER RESULTS'}")
    if not same:
        sys.exit(1)
    if engine != "mpi" or _is_first():
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        plt.imsave(f"{name}.png", found[0], **drawn)


def _is_first():
    from mpi4py import MPI

    return MPI.COMM_WORLD.rank == 0
