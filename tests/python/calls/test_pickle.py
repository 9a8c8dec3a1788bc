"""Pickling functions and kernels: by reference as Python's functions, by value through cloudpickle and joblib."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path

import cloudpickle
import joblib
import numpy as np
import pytest

import parpy
import places
from parpy import cuda, cudapy

PYTHON = places.ROOT / "python"


@parpy.jit
def doubled(x):
    for i in range(x.shape[0]):
        x[i] *= 2


class Model:
    @parpy.jit
    def step(x):
        for i in range(x.shape[0]):
            x[i] += 1


def plain(x):
    for i in range(x.shape[0]):
        x[i] -= 3


under_another_name = parpy.jit(plain)


@parpy.jit
def fibonacci(n: int) -> int:
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


@cuda.jit
def filled(x, v):
    i = cuda.grid(1)
    if i < x.shape[0]:
        x[i] = v


@cuda.jit(device=True)
def squared(v):
    return v * v


@cuda.jit("void(float64[:], float64)")
def squares(x, v):
    i = cuda.grid(1)
    if i < x.shape[0]:
        x[i] = squared(v)


# scaled : void (float* x, float a)
@cudapy.kernel
def scaled(x, a):
    x[idx] = x[idx] * a  # noqa: F821


# cube : float (float v)
def cube(v):
    return v * v * v


# cubes : void (float* x)
def cubes(x):
    x[idx] = cube(x[idx])  # noqa: F821


all_cubes = cudapy.compile([cubes, cube])
BY_REFERENCE = [doubled, Model.step, fibonacci, filled, squared, squares, scaled]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("function", BY_REFERENCE, ids=lambda each: type(each).__name__)
def test_what_its_name_leads_to_is_pickled_by_reference(function, protocol):
    if protocol < 2 and function is Model.step:
        return  # these protocols know no dotted names, of functions neither
    if isinstance(function, cudapy._compile.Launcher) and protocol < 4:
        return
    pickled = pickle.dumps(function, protocol)
    assert len(pickled) < 200
    assert pickle.loads(pickled) is function
    assert pickle._loads(pickle._dumps(function, protocol)) is function


def test_cloudpickle_refers_to_functions_of_modules():
    for function in BY_REFERENCE:
        pickled = cloudpickle.dumps(function)
        assert len(pickled) < 200 and pickle.loads(pickled) is function


def test_copies_are_the_function():
    def local(x):
        x[0] = 1

    for function in (*BY_REFERENCE, parpy.jit(local), cuda.jit(local)):
        assert copy.copy(function) is function and copy.deepcopy([function])[0] is function


def test_a_function_under_another_name_takes_its_python_function_along():
    made = pickle.loads(pickle.dumps(under_another_name))
    assert made is not under_another_name and made.__wrapped__ is plain
    x = np.array([5.0, 7.0])
    made(x)
    assert x.tolist() == [2.0, 4.0]
    launch = pickle.loads(pickle.dumps(all_cubes))
    y = np.array([2.0, 3.0], np.float32)
    launch(2)(y)
    assert y.tolist() == [8.0, 27.0]


def test_plain_pickle_refuses_functions_of_functions_as_python_does():
    @parpy.jit
    def local(x):
        x[0] = 1

    with pytest.raises((AttributeError, pickle.PicklingError), match="local"):
        pickle.dumps(local)
    with pytest.raises((AttributeError, pickle.PicklingError), match="local"):
        pickle.dumps(local.__wrapped__)


def test_a_closure_goes_by_value_with_its_values():
    step = 3.0

    @parpy.jit
    def helper(v):
        return v + step

    @parpy.jit
    def local(x: parpy.types.buffer(parpy.types.F64, [parpy.types.symbol("N")])):
        for i in range(x.shape[0]):
            x[i] = helper(x[i])

    made = pickle.loads(cloudpickle.dumps(local))
    assert made is not local and made.__name__ == "local"
    x = np.zeros(3)
    made(x)
    assert x.tolist() == [3.0, 3.0, 3.0]
    with pytest.raises(TypeError):
        made(np.zeros(3, np.float32))
    assert "x[i] = helper(x[i])" in made.__parpy_source__.text


def test_a_closure_that_calls_itself_goes_by_value():
    @parpy.jit
    def down(n: int) -> int:
        if n == 0:
            return 0
        return up(n - 1) + 1

    @parpy.jit
    def up(n: int) -> int:
        if n == 0:
            return 0
        return down(n - 1) + 1

    made, other = pickle.loads(cloudpickle.dumps((down, up)))
    assert made(9) == 9 and other(8) == 8
    assert made.__wrapped__.__closure__[0].cell_contents is other
    again = pickle.loads(cloudpickle.dumps(made))
    assert again(7) == 7


def test_kernels_go_by_value():
    factor = 4.0

    @cuda.jit(device=True)
    def helper(v):
        return v * factor

    @cuda.jit("void(float64[:], float64)", fastmath=True)
    def kernel(x, v):
        i = cuda.grid(1)
        if i < x.shape[0]:
            x[i] = helper(v)

    made = pickle.loads(cloudpickle.dumps(kernel))
    assert made.signatures == kernel.signatures and made._options == kernel._options
    x = np.zeros(5)
    made[1, 32](x, 2.0)
    assert x.tolist() == [8.0] * 5
    nameless = cuda.jit(device=True)(lambda v: v + 1)

    @cuda.jit
    def other(x):
        x[0] = nameless(x[0])

    pickle.loads(cloudpickle.dumps(other))[1, 1](x)
    assert x[0] == 9.0


def test_processes_that_are_spawned_call_functions_by_reference():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(fibonacci, [5, 10]) == [5, 55]


MAIN = """
    import sys
    sys.path.insert(0, {path!r})
    import numpy as np, parpy, joblib, cloudpickle
    from parpy import cuda, cudapy

    offset = 10.0

    @parpy.jit
    def added(v):
        return v + offset

    def plain_part(v):
        return v / 1

    def plain(v):
        return plain_part(v)

    @parpy.jit(fastmath=True)
    def total(x: "parpy.types.buffer(parpy.types.F64, [N])") -> float:
        s = 0.0
        for i in range(x.shape[0]):
            s += added(plain(x[i]))
        return s

    @parpy.jit
    def fibonacci(n: int) -> int:
        if n < 2:
            return n
        return fibonacci(n - 1) + fibonacci(n - 2)

    @cuda.jit
    def kernel(x):
        i = cuda.grid(1)
        if i < x.shape[0]:
            x[i] += offset

    # twice : void (double* x)
    @cudapy.kernel
    def twice(x):
        x[idx] = 2.0 * x[idx]

    N = parpy.types.symbol("N")

    def launched(n):
        x = np.arange(float(n))
        kernel[1, 32](x)
        twice(n)(x)
        return x.tolist()

    if __name__ == "__main__":
        {body}
"""


def _run(tmp_path: Path, body: str) -> str:
    script = tmp_path / "script.py"
    text = textwrap.dedent(MAIN).format(path=str(PYTHON), body=textwrap.indent(textwrap.dedent(body), "    ").strip())
    script.write_text(text)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, cwd=tmp_path, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_functions_of_main_go_to_the_processes_of_joblib(tmp_path):
    out = _run(tmp_path, """
        run = joblib.Parallel(n_jobs=2, backend="loky")
        print(run(joblib.delayed(total)(np.ones(n)) for n in range(4)))
        print(run(joblib.delayed(fibonacci)(n) for n in (10, 12)))
        print(run(joblib.delayed(launched)(n) for n in (2, 4)))
    """)  # fmt: skip
    assert out.splitlines() == ["[0.0, 11.0, 22.0, 33.0]", "[55, 144]", "[[20.0, 22.0], [20.0, 22.0, 24.0, 26.0]]"]


def test_functions_of_main_go_to_spawned_processes(tmp_path):
    out = _run(tmp_path, """
        import multiprocessing
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            print(pool.map(total, [np.ones(2)]), pool.map(fibonacci, [10]))
    """)  # fmt: skip
    assert out.splitlines() == ["[22.0] [55]"]


def test_what_main_pickled_by_value_runs_where_there_is_no_such_main(tmp_path):
    file = tmp_path / "functions.pickle"
    _run(tmp_path, f"""
        open({str(file)!r}, "wb").write(cloudpickle.dumps((total, fibonacci, launched)))
    """)  # fmt: skip
    (tmp_path / "script.py").unlink()  # nor its text
    total, fib, launched = pickle.loads(file.read_bytes())
    assert total(np.ones(3)) == 33.0 and fib(10) == 55 and launched(2) == [20.0, 22.0]
    with pytest.raises(TypeError, match="array of f32"):
        total(np.ones(3, np.float32))
    total.__wrapped__.__globals__["offset"] = 1.0  # read anew at each call, as ever
    assert total(np.ones(3)) == 6.0
    assert total.__parpy_source__.defaults == (True, False)
    again, fib_again = pickle.loads(cloudpickle.dumps((total, fib)))  # to the next process
    assert again(np.ones(2)) == 4.0 and fib_again(10) == 55


def test_joblib_reuses_what_threads_compile():
    out = joblib.Parallel(n_jobs=2, backend="threading")(joblib.delayed(fibonacci)(n) for n in range(8))
    assert out == [0, 1, 1, 2, 3, 5, 8, 13]


# ---------------------------------------------------------------- universal functions


@parpy.vectorize(["float64(float64, float64)"], target="sim")
def ufunc_product(a, b):
    return a * b


@parpy.guvectorize("(n)->()", target="sim")
def ufunc_total(row, found):
    found[0] = 0
    for i in range(row.shape[0]):
        found[0] += row[i]


@parpy.vectorize(["float64(float64)"])
def ufunc_squared(a):
    return a * a


def test_universal_functions_are_sent():
    for each in (ufunc_product, ufunc_total, ufunc_squared):
        assert pickle.loads(pickle.dumps(each)) is each
        assert copy.deepcopy(each) is each
    for each in (ufunc_product, ufunc_total):
        assert pickle.loads(cloudpickle.dumps(each)) is each
    factor = 3

    @parpy.vectorize(target="sim")
    def times(a):
        return a * factor

    made = pickle.loads(cloudpickle.dumps(times))
    np.testing.assert_array_equal(made(np.arange(3.0)), [0, 3, 6])
    assert made is not times and made.__name__ == "times"
