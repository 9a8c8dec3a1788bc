"""Runs a program on the engine that the command line names, and draws its result.

python heat.py                      one call on this CPU
python heat.py dask                 on the chunks of dask arrays
python heat.py devices              on four virtual devices
python heat.py gpus                 on all GPUs of this machine
mpiexec -n 4 python heat.py mpi     on four ranks
"""

import sys

import numpy as np

import parpy
import parpy.cuda

CPU = parpy.CompileBackend.Cpu


def _called(function, arrays, numbers, **options):
    """The arrays after a call. Sums have the same bits on all engines."""
    made = [np.array(array) for array in arrays]
    function(*made, *numbers, opts=parpy.auto(deterministic=True, **options))
    return made


def one_call(function, arrays, *numbers, gather=False):
    return _called(function, arrays, numbers, backend=CPU)


def on_devices(function, arrays, *numbers, gather=False):
    return _called(function, arrays, numbers, backend=CPU, devices=range(4), gather=gather)


def on_gpus(function, arrays, *numbers, gather=False):
    devices = range(len(parpy.cuda.list_devices()))
    return _called(function, arrays, numbers, backend=parpy.CompileBackend.Cuda, devices=devices, gather=gather)


def on_ranks(function, arrays, *numbers, gather=False):
    """Computes on MPI's ranks; every rank gets all rows of the results."""
    from mpi4py import MPI

    return _called(function, arrays, numbers, backend=CPU, comm=MPI.COMM_WORLD, gather=gather)


def on_dask(function, arrays, *numbers, gather=False, chunks=100):
    """Computes on chunks, for programs that need only a halo of other chunks."""
    import dask.array as da

    import parpy.dask

    given = [da.from_array(array, chunks=chunks) for array in arrays]
    return [each.compute() for each in parpy.dask.map_overlap(function, *given, *numbers)]


ENGINES = {"cpu": one_call, "dask": on_dask, "devices": on_devices, "gpus": on_gpus, "mpi": on_ranks}


def main(name, function, arrays, *numbers, gather=False, picture=None, **drawn):
    """Runs the engine, compares its arrays with those of one call, and draws the first array, or the result of
    ``picture(arrays)``, to ``name.png``. ``gather``: parts may gather arrays that they need as a whole."""
    engine = sys.argv[1] if len(sys.argv) > 1 else "cpu"
    found = ENGINES[engine](function, arrays, *numbers, gather=gather)
    expected = one_call(function, arrays, *numbers)
    same = all(np.array_equal(one, other) for one, other in zip(found, expected, strict=True))
    print(f"{name} on {engine}: {'the bits of one call' if same else 'OTHER RESULTS'}")
    if not same:
        sys.exit(1)
    if engine != "mpi" or _is_first():
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        plt.imsave(f"{name}.png", found[0] if picture is None else picture(found), **drawn)


def _is_first():
    from mpi4py import MPI

    return MPI.COMM_WORLD.rank == 0
