"""`parpy.appy`: options of `jit`, vectors of subscripts, arrays and their places."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest

import parpy
import parpy.appy as appy
from backends import TARGETS
from parpy.appy._strip_mine import strip_mined

ADD = """
@appy.jit({})
def add(a, b, c, N):
    #pragma parallel for simd
    for i in range(N):
        c[i] = a[i] + b[i]
"""


def add(**options):
    text = ", ".join(f"{name}={value!r}" for name, value in options.items())
    return appy.compile_from_src(ADD.format(text))


def called(function, *more):
    a, b, c = np.arange(5.0), np.ones(5), np.zeros(5)
    function(a, b, c, 5, *more)
    assert (c == a + b).all()


@pytest.mark.parametrize("backend", [None, "triton", "metal", "ptx", "cuda", "numba", "cpu", "sim", "auto"])
def test_back_ends_of_all_versions(backend):
    called(add(backend=backend))


def test_a_back_end_of_parpy():
    called(appy.jit(add().py_func, backend=parpy.CompileBackend.Sim))


def test_unknown_back_end():
    with pytest.raises(ValueError, match=r"no back end 'trition'; there are 'cuda', 'metal'"):
        add(backend="trition")


def test_options_that_are_granted():
    called(
        add(
            auto_simd=True,
            verbose=False,
            tune={"B": (1, 2)},
            configs=[],
            dim_info={},
            lib="cupy",
            no_barrier_after_write=True,
        )
    )


def test_unknown_option_has_a_suggestion():
    with pytest.raises(TypeError, match=r"no option 'dump_cod'; did you mean 'dump_code'\?"):
        appy.jit(dump_cod=True)


def test_jit_of_no_function():
    with pytest.raises(TypeError, match=r"appy\.jit decorates a function, not int"):
        appy.jit(3)


def test_entry_to_device_names_variables():
    called(add(entry_to_device="a, b", exit_to_host=["c"]))
    with pytest.raises(
        TypeError, match=r"entry_to_device names 'aa', which is not a variable of 'add'; did you mean 'a'\?"
    ):
        add(entry_to_device="aa,b")


def test_dump_code(capsys, tmp_path):
    file = tmp_path / "add.cpp"
    function = add(dump_code=True, dump_code_to_file=str(file), backend="cpu")
    called(function)
    printed = capsys.readouterr().out
    assert "add" in printed and file.read_text() in printed
    called(function)
    assert capsys.readouterr().out == ""  # it has been shown


def test_dry_run_compiles_for_a_gpu_and_runs_in_python(capsys):
    called(add(dry_run=True, dump_code=True))
    assert "__global__" in capsys.readouterr().out


@pytest.mark.parametrize("option", ["dump_final_appy", "verbose_static_rewrite"])
def test_dump_final_appy(option, capsys):
    add(**{option: True})
    text = capsys.readouterr().out
    assert text == (
        "import parpy.appy as appy\n\n\n@appy.jit\ndef add(a, b, c, N):\n    #pragma parallel for\n"
        "    for _i0 in range(0, N, appy.MVL):\n        _v0 = appy.vidx(_i0, appy.MVL, N)\n"
        "        c[_v0] = a[_v0] + b[_v0]\n"
    )
    called(appy.compile_from_src(text))


def test_the_seeds_lowering_of_gemv():
    """Each stage is that of its authors: a loop over workers, steps of vectors, a register."""
    source = """
    @appy.jit(auto_simd=True)
    def gemv(alpha, A, x, y):
        M, N = A.shape
        #pragma :M=>parallel :N=>reduction(sum:y)
        y[:M] = appy.mv(alpha * A[:M, :N], x[:N])
    """
    text = strip_mined(appy.compile_from_src(source).__parpy_source__)
    body = text.partition("#pragma parallel for\n")[2]
    assert body.split("\n")[:6] == [
        "    for _i0 in range(0, M):",
        "        _t0 = 0",
        "        for _i1 in range(0, N, appy.MVL):",
        "            _t0 += appy.sum(alpha * A[_i0, appy.vidx(_i1, appy.MVL, N)] * x[appy.vidx(_i1, appy.MVL, N)])",
        "        y[_i0] = _t0",
        "",
    ]


def test_vidx_in_python():
    assert appy.MVL == 128
    assert appy.vidx(0, appy.MVL, 300) == slice(0, 128)
    assert appy.vidx(256, 128, 300) == slice(256, 300)
    assert appy.vidx(0, 128, 0) == slice(0, 0)
    assert appy.vidx(3, 4) == slice(3, 7)
    assert appy.step is appy.vidx is appy.vindex
    x = np.arange(10)
    assert (x[appy.vidx(8, 4, 10)] == [8, 9]).all()


def test_ranges_in_python():
    assert list(appy.prange(1, 7, 2)) == [1, 3, 5]
    assert list(appy.range(3, parallel=True, simd=True)) == [0, 1, 2]


def test_a_false_prange_is_refused():
    source = """
    @appy.jit
    def f(a, N):
        for i in appy.prange(1, N):
            a[i] = a[i - 1] + 1
    """
    with pytest.raises(parpy.ParallelError, match="iteration i=1 writes a\\[1\\], iteration i=2 reads a\\[1\\]"):
        appy.compile_from_src(source)(np.zeros(5), 5)


def test_transfers():
    a = np.arange(3.0)
    there = appy.to_gpu(a)
    assert (np.asarray(appy.to_cpu(there)) == a).all()
    assert appy.to_cpu(3) == 3


def test_np_shared_and_friends():
    a = appy.np_shared.zeros(4)
    b = appy.np_shared.copy(a + 1)
    c = appy.np_shared.empty_like(a)
    add()(a, b, c, 4)
    assert (c == 1).all() and appy.np_shared.randn(2, 3).shape == (2, 3)
    assert appy.cdiv(7, 2) == 4 and appy.rsqrt(4.0) == 0.5 and appy.clamp(5, 0, 3) == 3
    assert appy.utils.allclose(a + 1, c) and not appy.utils.allclose(a, c, verbose=False)
    assert appy.utils.bench(lambda: None, 3) >= 0
    assert appy.config.auto_simd in (True, False)


def test_functions_in_compiled_code():
    source = """
    @appy.jit
    def f(x, y, count, N):
        #pragma parallel for
        for i in range(N):
            y[i] = appy.rsqrt(x[i]) + appy.erf(x[i]) + appy.clamp(x[i], 0.2, 0.8) + appy.cdiv(i, 2)
            appy.atomic_add(count, i % 2, 1)
            appy.debug_barrier()
    """
    function = appy.compile_from_src(source)
    x = np.random.default_rng(1).random(50) + 0.1
    got, want = [(np.zeros(50), np.zeros(2, np.int64)) for _ in range(2)]
    function(x, *got, 50)
    function.py_func(x, *want, 50)
    np.testing.assert_allclose(got[0], want[0], rtol=1e-12)
    assert (got[1] == want[1]).all() and (got[1] == 25).all()


def test_explain_gives_pragmas():
    source = """
    @appy.jit
    def f(A, B, M, N):
        for i in range(M):
            for j in range(N):
                A[i, j] = 2 * B[i, j]
        #pragma :M=>parallel :N=>parallel
        B[:M, :N] = A[:M, :N]
    """
    function = appy.compile_from_src(source)
    A, B = np.ones((700, 900)), np.ones((700, 900))
    found = parpy.explain(function, A, B, 700, 900, opts=parpy.auto(backend=parpy.CompileBackend.Cuda))
    texts = [text for _, text in found.pragmas]
    assert texts and all(text.startswith("#pragma ") for text in texts)
    assert f"line {found.pragmas[0][0]}: {texts[0]}" in str(found)
    assert found.pragmas[-1][1].startswith("#pragma :M=>parallel")


def test_a_mapping_by_hand_takes_the_place_of_pragmas():
    source = """
    @parpy.jit
    def f(a, N):
        parpy.label("i")
        #pragma parallel for
        for i in range(N):
            a[i] += 1
    """
    function = appy.compile_from_src(source.replace("@parpy", "import parpy\n    @parpy"))
    mapping = {"i": parpy.threads(64)}
    a = np.zeros(1000)
    found = parpy.explain(function, a, 1000, opts=parpy.par(mapping, backend=parpy.CompileBackend.Cuda))
    assert found.mapping == mapping


@appy.jit
def three_nests(a, b, N, M):
    #pragma parallel for
    for i in range(N):
        #pragma simd
        for j in range(M):
            a[i, j] *= 2
    parpy.label("k")
    #pragma parallel for
    for k in range(N):
        #pragma simd
        for j in range(M):
            b[k, j] += a[k, j]
    #pragma :N=>parallel :M=>simd
    b[:N, :M] = b[:N, :M] * 3


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("name", ["k", "line"])
def test_pragmas_hold_in_nests_that_a_mapping_by_hand_does_not_name(backend, name):
    line = three_nests.__parpy_source__.first_line + 11
    key = f"j@{line}" if name == "line" else "k"
    opts = parpy.par({key: parpy.threads(64)}, backend=parpy.CompileBackend(backend))
    a, b = np.ones((70, 600)), np.ones((70, 600))
    found = parpy.explain(three_nests, a, b, 70, 600, opts=opts)
    assert [loop["threads"] for loop in found.facts["loops"] if loop["key"] == key] == [64]
    mapped = [loop["threads"] > 0 for loop in found.facts["loops"]]
    assert mapped[1] and mapped[2:4] == ([True, False] if name == "k" else [False, True]) and mapped[5]
    again = parpy.explain(three_nests, a, b, 70, 600, opts=found.opts)
    assert again.mapping == found.mapping
    three_nests(a, b, 70, 600, opts=opts)
    assert (a == 2).all() and (b == 9).all()


def test_other_comments_are_none(tmp_path):
    source = """
    @appy.jit
    def f(a, N):
        # pragma paralel for
        #pragma: no cover
        #pragmatic
        text = "#pragma paralel"
        for i in range(N):
            a[i] = 1
    """
    a = np.zeros(3)
    appy.compile_from_src(source)(a, 3)
    assert (a == 1).all()


def test_compile_from_src_of_nothing():
    with pytest.raises(ValueError, match="the text defines no function"):
        appy.compile_from_src("x = 1")


def test_functions_of_other_libraries(monkeypatch):
    """PyTorch's and CuPy's functions mean NumPy's; a module with such a name replaces them here."""

    class Function:
        def __init__(self, name, twin):
            self.__name__, self._twin = name, twin

        def __call__(self, *args):
            return self._twin(*args)

    torch = types.ModuleType("torch")
    torch.exp, torch.mv, torch.maximum = Function("exp", np.exp), Function("mv", np.matmul), np.maximum
    torch.clamp = Function("clamp", np.clip)
    monkeypatch.setitem(sys.modules, "torch", torch)
    source = """
    import sys
    from torch import exp, mv
    torch = sys.modules["torch"]

    @appy.jit(auto_simd=True)
    def f(A, x, y, M, N):
        #pragma :M=>parallel :N=>reduce(sum:y)
        y[:M] = mv(A[:M, :N], exp(x[:N]))
        #pragma parallel for
        for i in range(M):
            y[i] = torch.clamp(y[i], 0.0, 60.0)
    """
    function = appy.compile_from_src(source)
    A, x, y = np.ones((5, 40)), np.linspace(0, 1, 40), np.zeros(5)
    function(A, x, y, 5, 40)
    np.testing.assert_allclose(y, np.minimum(A @ np.exp(x), 60), rtol=1e-12)
    assert "__global__" in parpy.print_compiled(
        function, (A, x, y, 5, 40), parpy.auto(backend=parpy.CompileBackend.Cuda)
    )


FALSE = """
@appy.jit
def f(a, b, n):
    #pragma parallel for
    for i in range(1, n):
        b[i] = {}
"""


def test_a_false_pragma_is_explained():
    function = appy.compile_from_src(FALSE.format("b[i - 1]"))
    found = parpy.explain(function, np.zeros(9), np.zeros(9), 9)
    assert found.facts["refused"] and "error[P401]" in str(found)
    assert found.facts["loops"][0]["witness"] == "iteration i=1 writes b[1], iteration i=2 reads b[1]"


def test_what_is_not_known_runs_and_says_so():
    function = appy.compile_from_src(FALSE.format("min(b[i], a[i] + b[1])"))
    assert "P403" in str(parpy.explain(function, np.zeros(9), np.zeros(9), 9))
    with pytest.warns(parpy.PerformanceWarning, match="values decide whether a minimum or maximum"):
        function(np.zeros(9), np.zeros(9), 9)
    with pytest.raises(parpy.ParallelError, match="under legality='strict'"):
        function(np.zeros(9), np.zeros(9), 9, opts=parpy.CompileOptions(legality="strict"))


def test_statements_that_overlap_are_not_taken_apart():
    """All values of a statement are computed before the first one is stored."""
    source = """
    @appy.jit
    def f(A, M, N):
        #pragma :M-1=>parallel :N=>parallel
        A[: M - 1, :N] = A[1:M, :N] + 1
        #pragma :M=>parallel :N=>parallel
        A[:M, :N] = A[:M, :N] * 2
    """
    text = strip_mined(appy.compile_from_src(source).__parpy_source__)
    assert "    #pragma :M-1=>parallel :N=>parallel\n    A[:M - 1, :N] = A[1:M, :N] + 1\n" in text
    assert "A[_i0, appy.vidx(_i1, appy.MVL, N)] * 2" in text
