"""parpy.tune: the mappings that it tries, the data that it measures on, its memory, and its errors."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import textwrap
import time
import warnings

import numpy as np
import pytest

import parpy
from parpy import _native
from parpy.studies import tune as _tune
from parpy.studies.tune_arguments import difference
from tuned_functions import FACTORS, into_global_here, rows, smooth_here, smoothed, sum_rows_here, tune

pytestmark = pytest.mark.usefixtures("tuning_time")

CPU, SIM, CUDA = parpy.CompileBackend.Cpu, parpy.CompileBackend.Sim, parpy.CompileBackend.Cuda


@parpy.jit
def softmax_here(x, out, n, m):
    for i in range(n):
        top = -parpy.builtin.inf
        for j in range(m):
            top = max(top, x[i, j])
        total = 0.0
        for j in range(m):
            out[i, j] = np.exp(x[i, j] - top)
            total += out[i, j]
        for j in range(m):
            out[i, j] /= total


@parpy.jit
def running_sum(a, n):
    for i in range(1, n):
        a[i] += a[i - 1]


@parpy.jit
def indirect(a, k, n):
    for i in range(n):
        a[k[i]] = i


@parpy.jit
def histogram(h, k, n):
    for i in range(n):
        h[k[i]] += 1


@parpy.jit
def no_loops(a):
    a[0] = 1.0


@parpy.jit
def allocating_here(x, n):
    y = np.empty(n)
    for i in range(n):
        y[i] = 2 * x[i]
    total = 0.0
    for i in range(n):
        total += y[i]
    return y, total


def forget(function, arguments, opts):
    """Removes the knowledge about such calls."""
    _native.remember(function, arguments, opts, opts, 0.0, 0.0)
    _native.forget_compiled(function)


def clock_of(times):
    """A clock by which a call lasts `times(options)` seconds."""
    return lambda call, copies: lambda function, arguments, opts: times(opts)


@pytest.fixture
def single_thread_wins(monkeypatch):
    """The automatic mapping takes 1 ms, each loop on one thread saves 0.1 ms."""
    monkeypatch.setattr(
        _tune,
        "_clock",
        clock_of(
            lambda o: 1e-3 - 1e-4 * sum(loop._threads == 1 for key, loop in o.parallelize.items() if key != "gpu")
        ),
    )


# ---------------------------------------------------------------- the answer


@pytest.mark.parametrize("backend", [CPU, SIM], ids=lambda b: b.name)
@pytest.mark.parametrize("function", [sum_rows_here, softmax_here], ids=lambda f: f.__name__)
def test_options_that_can_be_passed_on(function, backend):
    x = np.random.default_rng(0).random((30, 40))
    y = np.zeros(30) if function is sum_rows_here else np.zeros((30, 40))
    best = tune(function, x, y, 30, 40, seconds=5, opts=parpy.auto(backend=backend))
    assert isinstance(best, parpy.CompileOptions)
    assert not y.any()
    function(x, y, 30, 40, opts=best)
    expected = np.zeros_like(y)
    function.__wrapped__(x, expected, 30, 40)
    np.testing.assert_allclose(y, expected)
    tuning = best.tuning
    assert tuning.speedup >= 1
    assert tuning.best.opts.parallelize == best.parallelize
    assert sum(trial.outcome == "tried" for trial in tuning.trials) > 1
    assert tuning.trials[0].opts.automatic
    assert tuning.best.seconds <= tuning.automatic.seconds
    table = str(tuning)
    assert f"{function.__name__} on {backend.name}" in table
    assert "automatic\n" in table + "\n"


def test_the_fastest_is_found(single_thread_wins):
    best = tune(smooth_here, *smoothed(), opts=parpy.auto(backend=CPU))
    assert dict(best.parallelize) == {"there": parpy.threads(1), "back": parpy.threads(1)}
    assert best.legality == "check"
    assert best.tuning.speedup == pytest.approx(1 / 0.8)
    assert "parpy.threads(1)" in str(best.tuning).splitlines()[2]
    assert pickle.loads(pickle.dumps(best)) == best


def test_automatic_where_nothing_is_faster(monkeypatch):
    monkeypatch.setattr(_tune, "_clock", clock_of(lambda o: 1e-3 if o.automatic else 2e-3))
    best = tune(smooth_here, *smoothed(), opts=parpy.auto(backend=CPU))
    assert best.automatic
    assert not best.parallelize
    assert best.tuning.speedup == 1


def test_a_plain_call_is_tuned_where_it_runs():
    best = tune(sum_rows_here, *rows(), seconds=0.2)
    assert best.backend is CPU
    assert best.tuning.backend == "Cpu"


def test_fields_of_the_options_stay(single_thread_wins):
    opts = parpy.CompileOptions(backend=CPU, fast_math=True, max_unroll_count=2)
    best = tune(smooth_here, *smoothed(), opts=opts)
    assert best.fast_math
    assert opts == parpy.CompileOptions(backend=CPU, fast_math=True, max_unroll_count=2)


def test_a_mapping_of_the_caller_is_tried(single_thread_wins):
    opts = parpy.CompileOptions(backend=CPU, parallelize={"there": parpy.threads(17)})
    best = tune(smooth_here, *smoothed(), opts=opts)
    given = [trial for trial in best.tuning.trials if trial.change == "as given"]
    assert [trial.mapping for trial in given] == [{"there": parpy.threads(17)}]
    assert given[0].outcome == "tried"


def test_functions_of_which_python_runs_a_part(single_thread_wins):
    x = np.arange(5000.0)
    best = tune(allocating_here, x, 5000, opts=parpy.auto(backend=CPU))
    assert best.tuning.speedup > 1
    y, total = allocating_here(x, 5000, opts=best)
    np.testing.assert_array_equal(y, 2 * x)
    assert total == y.sum()
    again = parpy.tune(allocating_here, x, 5000, opts=parpy.auto(backend=CPU))
    assert again.tuning.remembered
    assert again == best
    assert parpy.explain(allocating_here, x, 5000, opts=parpy.auto(backend=CPU)).facts["tuned"]


# ---------------------------------------------------------------- the tried mappings


def tried(function, arguments, **fields):
    opts = parpy.auto(**fields)
    found = _native.neighbours(function, arguments, opts)
    call = _tune._Call(function, arguments, opts)
    return found, [call.candidate(step[1]) for step in found["neighbours"]]


CALLS = {
    "sum_rows": (sum_rows_here, rows(300, 700)),
    "few rows": (sum_rows_here, rows(4, 100_000)),
    "softmax": (softmax_here, (np.zeros((30, 400)), np.zeros((30, 400)), 30, 400)),
    "smooth": (smooth_here, smoothed(60_000)),
    "histogram": (histogram, (np.zeros(9, int), np.zeros(20_000, int), 20_000)),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("backend", [CPU, SIM, CUDA], ids=lambda b: b.name)
def test_candidates_are_legal_programs(call, backend):
    function, arguments = call
    found, candidates = tried(function, arguments, backend=backend)
    assert candidates
    automatic = parpy.auto(backend=backend)
    start = _tune._Call(function, arguments, automatic).candidate(found["start"])
    assert not start.automatic
    assert parpy.print_compiled(function, arguments, start) == parpy.print_compiled(function, arguments, automatic)
    for opts in candidates:
        assert opts.legality == "strict"
        assert parpy.print_compiled(function, arguments, opts)
    texts = [repr(opts) for opts in candidates]
    assert len(set(texts)) == len(texts)


def test_what_differs_between_candidates():
    changes = [step[0] for step in _native.neighbours(*CALLS["few rows"], parpy.auto(backend=CUDA))["neighbours"]]
    for part in ("in sequence", "threads for", "unrolled up to", "clusters of up to 16 blocks"):
        assert any(part in change for change in changes), (part, changes)
    rows, columns = (
        f"{name}@{sum_rows_here.__wrapped__.__code__.co_firstlineno + 2 + i}" for i, name in enumerate("ij")
    )
    by_hand = parpy.par({rows: parpy.threads(300)}, backend=CUDA)
    changes = [step[0] for step in _native.neighbours(*CALLS["sum_rows"], by_hand)["neighbours"]]
    assert f"loop '{columns}' instead of '{rows}'" in changes
    assert f"loop '{columns}' in parallel" in changes
    changes = [step[0] for step in _native.neighbours(*CALLS["smooth"], parpy.auto(backend=CUDA))["neighbours"]]
    assert "blocks of 128" in changes
    assert "blocks of 512 for 'there'" in changes


def test_loops_that_are_not_proved_stay_sequential():
    arguments = np.zeros(100), 100
    found, candidates = tried(running_sum, arguments, backend=CPU)
    assert (found["loops"], found["parallel"]) == (1, 0)
    assert not any(opts.parallelize for opts in candidates)
    arguments = np.zeros(100), np.arange(100), 100
    _, candidates = tried(indirect, arguments, backend=CPU)
    assert not any(opts.parallelize for opts in candidates)
    _, candidates = tried(indirect, arguments, backend=CPU, legality="trust")
    assert any(opts.parallelize for opts in candidates)
    assert all(opts.legality == "trust" for opts in candidates)


@pytest.mark.parametrize("backend", [CPU, CUDA], ids=lambda b: b.name)
def test_deterministic_sums_stay_in_order(backend):
    function, arguments = CALLS["sum_rows"]
    _, candidates = tried(function, arguments, backend=backend)
    assert any(key.startswith("j@") for opts in candidates for key in opts.parallelize)
    found, candidates = tried(function, arguments, backend=backend, deterministic=True)
    assert [key for key in found["start"]["parallelize"] if key.startswith("i@")]
    assert candidates and not any(key.startswith("j@") for opts in candidates for key in opts.parallelize)


def test_deterministic_calls_have_the_results_of_the_automatic_mode():
    x = np.random.default_rng(0).random((40, 999)) ** 9
    opts = parpy.auto(backend=CPU, deterministic=True)
    forget(sum_rows_here, (x, np.zeros(40), 40, 999), opts)
    expected, found = np.zeros(40), np.zeros(40)
    sum_rows_here(x, expected, 40, 999, opts=opts)
    best = tune(sum_rows_here, x, found, 40, 999, seconds=1, opts=opts)
    assert not any(trial.outcome == "differs" for trial in best.tuning.trials)
    for trial in best.tuning.trials:
        found[:] = 0
        sum_rows_here(x, found, 40, 999, opts=trial.opts)
        np.testing.assert_array_equal(found, expected)
    given = parpy.CompileOptions(backend=CPU, deterministic=True, parallelize={"there": parpy.threads(3)})
    trials = tune(smooth_here, *smoothed(), seconds=5, opts=given).tuning.trials  # the first that is tried
    assert [trial.outcome for trial in trials if trial.change == "as given"] == ["tried"]


# ---------------------------------------------------------------- results are compared


def test_results_that_differ():
    a = np.array([1.0, 2.0, np.nan, np.inf])
    near = a * (1 + 1e-12)
    assert difference([("y", a)], [("y", near)], exact=False) == ""
    assert difference([("y", a)], [("y", near)], exact=True) == "y[0] is 1.000000000001 instead of 1.0"
    far = a.copy()
    far[3] = 5
    assert difference([("y", a)], [("y", far)], exact=False) == "y[3] is 5.0 instead of inf"
    ints = np.arange(6).reshape(2, 3)
    assert difference([("k", ints)], [("k", ints + (ints == 4))], exact=False) == "k[1, 1] is 5 instead of 4"
    assert difference([("k", ints)], [("k", ints[0])], exact=False) == "k has shape (3,) instead of (2, 3)"
    assert difference([("z", a + 1j)], [("z", near + 1j)], exact=False) == ""
    assert difference([("e", a[:0])], [("e", a[:0])], exact=False) == ""


def test_a_candidate_whose_results_differ_is_left_out(monkeypatch, single_thread_wins):
    monkeypatch.setattr(_tune, "difference", lambda *_: "'y'[3] is 1.0 instead of 2.0")
    with pytest.warns(RuntimeWarning, match=r"leaves out .*: 'y'\[3\] is 1.0 instead of 2.0") as caught:
        best = parpy.tune(smooth_here, *smoothed(), opts=parpy.auto(backend=CPU), force=True)
    assert caught[0].filename == __file__
    assert best.automatic
    assert {trial.outcome for trial in best.tuning.trials[1:]} == {"differs"}
    assert "differs" in str(best.tuning)


# ---------------------------------------------------------------- time


def test_too_little_time_for_a_candidate():
    opts, arguments = parpy.auto(backend=CPU), smoothed(4001)
    forget(smooth_here, arguments, opts)
    best = parpy.tune(smooth_here, *arguments, seconds=1e-9, opts=opts)
    assert best.automatic
    assert len([trial for trial in best.tuning.trials if trial.runs]) == 1
    # Such a result is not remembered, so that a later search can find more.
    assert not parpy.tune(smooth_here, *arguments, seconds=0.2, opts=opts).tuning.remembered


@pytest.mark.clock
def test_the_budget_is_kept():
    begin = time.perf_counter()
    best = tune(softmax_here, np.zeros((500, 500)), np.zeros((500, 500)), 500, 500, seconds=0.3)
    assert time.perf_counter() - begin < 3  # a compilation may begin just before the end
    assert best.tuning.spent < 3


def test_candidates_that_would_take_too_long_are_skipped(monkeypatch):
    monkeypatch.setattr(_tune, "_clock", clock_of(lambda o: 100.0))
    best = tune(smooth_here, *smoothed(), seconds=1, opts=parpy.auto(backend=CPU))
    assert {trial.outcome for trial in best.tuning.trials[1:]} <= {"skipped"}


# ---------------------------------------------------------------- remembering


def test_a_later_search_returns_at_once(single_thread_wins):
    opts, arguments = parpy.auto(backend=CPU), smoothed(4002)
    first = tune(smooth_here, *arguments, opts=opts)
    again = parpy.tune(smooth_here, *arguments, opts=opts)
    assert again == first
    assert again.tuning.remembered
    assert again.tuning.speedup == pytest.approx(first.tuning.speedup)
    assert "as found before" in str(again.tuning)
    assert not tune(smooth_here, *arguments, opts=opts).tuning.remembered
    others = [(parpy.auto(backend=CPU, fast_math=True), arguments), (parpy.auto(backend=SIM), arguments)]
    for other, values in [*others, (opts, smoothed(4003))]:
        forget(smooth_here, values, other)
        assert not parpy.tune(smooth_here, *values, seconds=0.1, opts=other).tuning.remembered


def test_automatic_calls_use_what_was_found(single_thread_wins):
    automatic, arguments = parpy.auto(backend=CPU), smoothed(4004)
    forget(smooth_here, arguments, automatic)
    smooth_here(*arguments)
    assert smooth_here.cache_info().compilations >= 1
    before = parpy.print_compiled(smooth_here, arguments)
    best = tune(smooth_here, *smoothed(4004))
    text = parpy.print_compiled(smooth_here, arguments)
    assert text != before
    assert text == parpy.print_compiled(smooth_here, arguments, best)
    found = parpy.explain(smooth_here, *arguments)
    assert found.facts["tuned"]
    assert "mapping that parpy.tune found" in str(found)
    assert found.mapping == best.parallelize
    arguments = smoothed(4004)
    smooth_here(*arguments)
    assert smooth_here.cache_info().compilations == 1
    expected = smoothed(4004)
    smooth_here.__wrapped__(*expected)
    np.testing.assert_array_equal(arguments[0], expected[0])
    # Options by hand and other sizes do not use the remembered mapping.
    by_hand = parpy.par({"there": parpy.threads(8)}, backend=CPU)
    assert not parpy.explain(smooth_here, *arguments, opts=by_hand).facts["tuned"]
    assert not parpy.explain(smooth_here, *smoothed(70), opts=automatic).facts["tuned"]
    forget(smooth_here, arguments, automatic)
    assert parpy.print_compiled(smooth_here, arguments) == before


PROGRAM = """
import json, sys
import numpy as np
import parpy
from parpy.studies import tune as _tune


{blank}@parpy.jit
def double(x, y, n):
    for i in range(n):
        y[i] = 2 * x[i]


x, y = np.arange(90_000.0), np.zeros(90_000)
if "tune" in sys.argv[1]:
    _tune._clock = lambda *_: lambda f, a, o: 2e-3 if o.automatic else 1e-3 if o.max_unroll_count == 4 else 3e-3
    parpy.tune(double, x, y, 90_000)
if "clear" in sys.argv[1]:
    parpy.clear_cache()
found = parpy.explain(double, x, y, 90_000)
double(x, y, 90_000)
assert (y == 2 * x).all()
print(json.dumps([found.facts["tuned"], found.opts.max_unroll_count]))
"""


def run_program(folder, what, blank="", **environment):
    script = folder / "double.py"
    script.write_text(PROGRAM.format(blank=blank))
    paths = {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p), "PARPY_CACHE_DIR": str(folder / "cache")}
    run = subprocess.run(
        [sys.executable, str(script), what], env={**os.environ, **paths, **environment}, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_later_processes_remember(tmp_path):
    assert run_program(tmp_path, "tune") == [True, 4]
    # The function has moved within its file.
    assert run_program(tmp_path, "call", blank="N = 1\n\n\n") == [True, 4]
    # A damaged entry is ignored.
    entries = [path for path in (tmp_path / "cache").rglob("tuning-*") if path.is_file()]
    assert entries
    for path in entries:
        path.write_bytes(path.read_bytes()[:-3] + b"\0\0\0")
    assert run_program(tmp_path, "call") == [False, 1]


def test_clear_cache_forgets(tmp_path):
    assert run_program(tmp_path, "tune and clear") == [False, 1]
    assert run_program(tmp_path, "tune") == [True, 4]
    assert run_program(tmp_path, "clear") == [False, 1]
    assert run_program(tmp_path, "call") == [False, 1]


def test_without_a_disk_cache_the_process_remembers(tmp_path):
    assert run_program(tmp_path, "tune", PARPY_CACHE="0") == [True, 4]


def test_a_mapping_that_does_not_fit_any_more_is_passed_over():
    automatic, arguments = parpy.auto(backend=CPU), smoothed(4005)
    forget(smooth_here, arguments, automatic)
    before = parpy.print_compiled(smooth_here, arguments, automatic)
    wrong = parpy.par({"elsewhere": parpy.threads(5)}, backend=CPU)
    _native.remember(smooth_here, arguments, automatic, wrong, 1e-3, 2e-3)
    assert parpy.print_compiled(smooth_here, arguments, automatic) == before
    assert not parpy.explain(smooth_here, *arguments, opts=automatic).facts["tuned"]
    refuted = parpy.par({f"_@{smooth_here.__wrapped__.__code__.co_firstlineno + 2}": parpy.threads(5)}, backend=CPU)
    _native.remember(smooth_here, arguments, automatic, refuted, 1e-3, 2e-3)
    assert parpy.print_compiled(smooth_here, arguments, automatic) == before
    smooth_here(*arguments, opts=automatic)


# ---------------------------------------------------------------- interruption and mistakes


def test_an_interruption_leaves_everything_as_it_was(monkeypatch, single_thread_wins):
    opts = parpy.auto(backend=CPU)
    first = tune(smooth_here, *smoothed(4006), opts=opts)
    runs = iter(range(1000))

    def interrupted(opts):
        if next(runs) == 7:
            raise KeyboardInterrupt
        return 1e-3

    monkeypatch.setattr(_tune, "_clock", clock_of(interrupted))
    arguments = smoothed(4006)
    with pytest.raises(KeyboardInterrupt):
        tune(smooth_here, *arguments, opts=opts)
    np.testing.assert_array_equal(arguments[0], smoothed(4006)[0])
    assert not arguments[1].any()
    assert parpy.tune(smooth_here, *arguments, opts=opts) == first
    with pytest.raises(KeyboardInterrupt):
        runs = iter(range(1000))
        tune(into_global_here, np.ones(4), 4, opts=opts)
    assert not FACTORS.any()


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_seconds_are_positive(seconds):
    with pytest.raises(ValueError, match="seconds must be positive and finite"):
        tune(sum_rows_here, *rows(), seconds=seconds)


def test_mistakes_are_told():
    with pytest.raises(TypeError, match="seconds must be a number, not str"):
        tune(sum_rows_here, *rows(), seconds="ten")
    with pytest.raises(TypeError, match=r"opts must be a parpy.CompileOptions, not dict"):
        tune(sum_rows_here, *rows(), opts={})
    with pytest.raises(ValueError, match="leave 'check' out of the options"):
        tune(sum_rows_here, *rows(), opts=parpy.CompileOptions(check="bounds"))
    with pytest.raises(ValueError, match="'no_loops' has no loops that run for these arguments"):
        tune(no_loops, np.zeros(3))
    with pytest.raises(ValueError, match="'sum_rows_here' has no loops that run for these arguments"):
        tune(sum_rows_here, np.zeros((0, 5)), np.zeros(0), 0, 5)
    with pytest.raises(TypeError, match=r"missing a required argument|missing 1 required"):
        tune(sum_rows_here, *rows()[:3])
    with pytest.raises(TypeError, match="string indices must be integers"):  # Python runs loops over texts
        tune(sum_rows_here, "x", *rows()[1:])
    with pytest.raises(parpy.BackendError, match="Metal"):
        tune(histogram, *CALLS["histogram"][1], opts=parpy.CompileOptions(backend=parpy.CompileBackend.Metal))


def test_kernels_written_by_hand_are_not_tuned():
    @parpy.cuda.jit
    def kernel(x):
        x[0] = 1

    with pytest.raises(TypeError, match=r"functions decorated with parpy.jit, not Kernel"):
        tune(kernel, np.zeros(3))


def test_functions_that_are_not_decorated_are_tuned():
    best = tune(sum_rows_here.__wrapped__, *rows(), seconds=0.2, opts=parpy.auto(backend=CPU))
    assert best.tuning.function == "sum_rows_here"


def test_errors_of_the_call_are_its_own():
    with pytest.raises(IndexError):
        tune(sum_rows_here, *rows()[:2], 31, 40, opts=parpy.auto(backend=CPU))


# ---------------------------------------------------------------- progress


def test_progress_is_shown_on_request(capfd):
    pytest.importorskip("tqdm")
    tune(sum_rows_here, *rows(), seconds=0.2, opts=parpy.auto(backend=CPU), progress=True)
    shown = capfd.readouterr()
    assert "tune sum_rows_here" in shown.err
    assert "tried, best" in shown.err
    assert not shown.out
    tune(sum_rows_here, *rows(), seconds=0.2, opts=parpy.auto(backend=CPU))
    assert not capfd.readouterr().err  # standard error is not a terminal


def test_without_tqdm(tmp_path):
    program = textwrap.dedent("""
        import sys
        sys.modules["tqdm"] = None
        import numpy as np
        import parpy

        @parpy.jit
        def double(x, n):
            for i in range(n):
                x[i] *= 2

        parpy.tune(double, np.ones(9), 9, seconds=0.1)
        assert not sys.stderr.isatty()
        parpy.tune(double, np.ones(9), 9, seconds=0.1, progress=True, force=True)
    """)
    script = tmp_path / "double.py"
    script.write_text(program)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    run = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert len(run.stderr.splitlines()) == 1
    assert "tried, best" in run.stderr


def test_warnings_of_a_search_are_its_own():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tune(sum_rows_here, *rows(), seconds=0.2, opts=parpy.auto(backend=CPU), progress=True)


def test_what_is_no_array_has_no_view():
    assert _native.array_view(None) is None
    assert _native.array_view("text") is None
    assert _native.array_view(np.zeros((2, 3)))["shape"] == (2, 3)
