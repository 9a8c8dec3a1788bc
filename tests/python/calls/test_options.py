"""CompileOptions, LoopPar and the enumerations: defaults, validation, immutability."""

from __future__ import annotations

import copy
import ctypes
import pickle

import numpy as np
import pytest

import parpy
from parpy import CompileBackend, CompileOptions, ElemSize, LoopPar

DEFAULTS = {
    "parallelize": {},
    "verbose_backend_resolution": False,
    "debug_print": False,
    "write_output": False,
    "backend": CompileBackend.Auto,
    "use_cuda_thread_block_clusters": False,
    "max_thread_blocks_per_cluster": 8,
    "use_cuda_graphs": False,
    "force_int_size": None,
    "force_float_size": None,
    "includes": [],
    "libs": [],
    "extra_flags": [],
}


@pytest.mark.parametrize(("name", "value"), DEFAULTS.items())
def test_defaults(name, value):
    assert getattr(CompileOptions(), name) == value


def test_fields_are_keywords_and_attributes():
    opts = CompileOptions(backend=CompileBackend.Cpu, extra_flags=["-O1"])
    opts.max_thread_blocks_per_cluster = 16
    opts.extra_flags += ["-g"]
    opts.parallelize = {"i": parpy.threads(4)}
    assert opts.backend is CompileBackend.Cpu
    assert opts.extra_flags == ["-O1", "-g"]
    assert opts.parallelize == {"i": parpy.threads(4)}
    assert repr(opts) == (
        "CompileOptions(parallelize={'i': parpy.threads(4)}, backend=<CompileBackend.Cpu: 'cpu'>, "
        "max_thread_blocks_per_cluster=16, extra_flags=['-O1', '-g'])"
    )
    assert copy.copy(opts) == copy.deepcopy(opts) == pickle.loads(pickle.dumps(opts)) == opts
    assert opts != CompileOptions()


@pytest.mark.parametrize(
    ("name", "value", "error", "message"),
    [
        (
            "parallelize",
            {"i": 32},
            TypeError,
            "label 'i' is mapped to 32, which is not a parpy.LoopPar",
        ),
        ("parallelize", {"i": 32}, parpy.CompileError, "help: write parpy.threads(32)"),
        ("parallelize", {"rows": None}, TypeError, "label 'rows' is mapped to None"),
        ("parallelize", {1: parpy.threads(2)}, TypeError, "labels must be str, not 1"),
        (
            "parallelize",
            [1],
            TypeError,
            "a dict from labels to parpy.LoopPar, not list",
        ),
        (
            "backend",
            "cuda",
            TypeError,
            "option 'backend' must be a parpy.CompileBackend, not 'cuda'",
        ),
        (
            "debug_print",
            1,
            TypeError,
            "option 'debug_print' must be True or False, not 1",
        ),
        (
            "max_thread_blocks_per_cluster",
            3,
            ValueError,
            "must be a power of two, not 3",
        ),
        ("max_thread_blocks_per_cluster", 0, ValueError, "must be positive"),
        ("max_thread_blocks_per_cluster", 32, ValueError, "must be at most 16, the most that a GPU allows, not 32"),
        (
            "force_int_size",
            ElemSize.F32,
            ValueError,
            "one of the integer sizes, not ElemSize.F32",
        ),
        (
            "force_float_size",
            ElemSize.I32,
            ValueError,
            "one of the floating-point sizes, not ElemSize.I32",
        ),
        ("force_float_size", np.float32, TypeError, "a parpy.ElemSize or None"),
        ("includes", "dir", TypeError, "a list of str, not 'dir'"),
        ("libs", [1], TypeError, "1 is not a str"),
        ("stream", "s", TypeError, "a CUDA stream"),
        ("legality", "lax", ValueError, "must be one of 'check', 'strict', 'trust', not 'lax'"),
        ("check", "most", ValueError, "must be one of None, 'bounds', 'races', 'all', not 'most'"),
        ("implicit_shape_labels", 1, TypeError, "must be True or False, not 1"),
        ("max_unroll_count", -1, ValueError, "must not be negative and fit 64 bits, not -1"),
        ("max_unroll_count", 1.0, TypeError, "must be an int, not float"),
    ],
)
def test_validation(name, value, error, message):
    with pytest.raises(error) as by_keyword:
        CompileOptions(**{name: value})
    opts = CompileOptions()
    with pytest.raises(error) as by_assignment:
        setattr(opts, name, value)
    assert message in str(by_keyword.value)
    assert message in str(by_assignment.value)
    assert type(by_keyword.value) is type(by_assignment.value)
    assert opts == CompileOptions()


def test_unknown_options_are_refused():
    with pytest.raises(
        AttributeError,
        match="CompileOptions has no option 'backnd'; did you mean 'backend'",
    ):
        CompileOptions(backnd=1)
    with pytest.raises(AttributeError, match="no option 'backnd'"):
        _ = CompileOptions().backnd


def test_fields_do_not_change_in_place():
    opts = parpy.par({"i": parpy.threads(2)})
    with pytest.raises(TypeError, match="assign a new dict instead"):
        opts.parallelize["j"] = parpy.threads(2)
    with pytest.raises(TypeError, match="assign a new list instead"):
        opts.includes.append("dir")
    given = {"i": parpy.threads(2)}
    opts.parallelize = given
    given["i"] = parpy.threads(7)
    assert opts.parallelize["i"] == parpy.threads(2)


def test_a_call_leaves_options_alone():
    @parpy.jit
    def f(x):
        x[0] = 1

    opts = CompileOptions()
    before = repr(opts)
    f(np.zeros(1), opts=opts)
    assert repr(opts) == before


def test_symbols_are_labels_of_mappings_by_hand():
    assert CompileOptions().implicit_shape_labels and parpy.par({}).implicit_shape_labels
    opts = parpy.auto()
    assert opts.implicit_shape_labels is False
    opts.automatic = False
    assert opts.implicit_shape_labels and opts == CompileOptions()
    opts.implicit_shape_labels = False
    assert not opts.implicit_shape_labels and opts != CompileOptions()
    assert repr(opts) == "CompileOptions(implicit_shape_labels=False)"


def test_par_and_seq():
    assert parpy.par({"i": parpy.threads(3)}).parallelize == {"i": parpy.threads(3)}
    assert parpy.seq() == CompileOptions()


def test_loop_par():
    loop = LoopPar()
    assert loop.threads(64) == parpy.threads(64) != loop
    assert loop == LoopPar()
    assert loop.reduce() == loop.par_reduction() == parpy.reduce() == parpy.par_reduction()
    assert parpy.threads(64).reduce().tpb(128) == LoopPar().tpb(128).reduce().threads(64)
    assert repr(parpy.threads(64).reduce().tpb(128)) == "parpy.threads(64).reduce().tpb(128)"
    assert hash(parpy.threads(4)) == hash(parpy.threads(4))
    assert pickle.loads(pickle.dumps(parpy.threads(4))) == parpy.threads(4)
    with pytest.raises(AttributeError, match="immutable"):
        loop.anything = 1


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (0, ValueError),
        (-1, ValueError),
        (2**63, ValueError),
        (1.5, TypeError),
        (True, TypeError),
        ("4", TypeError),
    ],
)
def test_thread_counts(value, error):
    with pytest.raises(error, match="number of threads"):
        parpy.threads(value)
    with pytest.raises(error, match="threads per block"):
        LoopPar().tpb(value)


def test_numpy_integers_are_thread_counts():
    assert parpy.threads(np.int64(5)) == parpy.threads(5)


@pytest.mark.parametrize("size", ElemSize)
def test_elem_size(size):
    assert np.dtype(size.to_numpy()).itemsize == size.size() == ctypes.sizeof(size.to_ctype())


def test_elem_size_examples():
    assert ElemSize.I32.to_numpy() is np.int32
    assert ElemSize.I32.to_ctype() is ctypes.c_int32
    with pytest.raises(ValueError, match="PyTorch"):
        ElemSize.U16.to_torch()


def test_backends():
    assert parpy.backend.is_enabled(CompileBackend.Cpu)
    assert CompileBackend.Cpu in parpy.backend.available()
    assert not parpy.backend.is_enabled(CompileBackend.Metal)
    with pytest.raises(TypeError, match="CompileBackend"):
        parpy.backend.is_enabled("cpu")


def test_the_default_backend_can_be_chosen():
    @parpy.jit
    def f(x):
        x[0] = 1

    opts = parpy.par({})
    parpy.backend.set_default(CompileBackend.Metal)
    try:
        with pytest.raises(parpy.BackendError):
            f(np.zeros(1), opts=opts)
    finally:
        parpy.backend.set_default(CompileBackend.Auto)


def test_write_output_keeps_what_does_not_compile(tmp_path, monkeypatch):
    @parpy.jit
    def f(x):
        x[0] = 1

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    opts = CompileOptions(backend=CompileBackend.Cpu, extra_flags=["--no-such-flag"])
    with pytest.raises(parpy.BackendError) as plain:
        f(np.zeros(1), opts=opts)
    assert "generated code is in" not in str(plain.value)
    opts.write_output = True
    with pytest.raises(parpy.BackendError, match="the generated code is in") as kept:
        f(np.zeros(1), opts=opts)
    path = str(kept.value).split("the generated code is in ")[1].split()[0]
    with open(path) as file:
        assert "// ---- host code ----" in file.read()


def test_verbose_backend_resolution_says_why(capsys):
    @parpy.jit
    def f(x):
        x[0] = 1

    opts = CompileOptions(verbose_backend_resolution=True)
    f(np.zeros(1), opts=opts)
    assert capsys.readouterr().out.startswith("the back end Cuda is ")
    f(np.zeros(1), opts=opts)
    assert capsys.readouterr().out == ""


def test_the_description_names_every_field():
    """The API reference and editors show it."""
    assert [name for name in dir(CompileOptions()) if f"`{name}" not in CompileOptions.__doc__] == []
