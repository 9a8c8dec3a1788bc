"""parpy.explain: its facts are those of the call, its mapping can be used for calls, and it has three forms."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import numpy as np
import pytest

import parpy

CPU, CUDA = parpy.CompileBackend.Cpu, parpy.CompileBackend.Cuda


@parpy.jit
def steps(a, b, t, n):
    for _ in range(t):
        parpy.label("inner")
        for i in range(1, n - 1):
            b[i] = (a[i - 1] + a[i + 1]) / 2
        for i in range(1, n - 1):
            a[i] = b[i]


@parpy.jit
def running_sum(a, n):
    parpy.label("i")
    for i in range(1, n):
        a[i] += a[i - 1]


@parpy.jit
def histogram(h, k, n):
    for i in range(n):
        h[k[i]] += 1


ARGUMENTS = (np.zeros(60_000), np.zeros(60_000), 5, 60_000)


def test_loops_verdicts_and_levels():
    found = parpy.explain(steps, *ARGUMENTS, opts=parpy.auto(backend=CPU))
    loops = found.facts["loops"]
    assert [loop["verdict"] for loop in loops] == ["refuted", "proved", "proved"]
    assert [loop["level"] for loop in loops] == ["sequential", "workers", "workers"]
    assert [loop["depth"] for loop in loops] == [0, 1, 1]
    assert [loop["trips"] for loop in loops] == [5, 59_998, 59_998]
    assert loops[1]["key"] == "inner"
    assert "iteration _=0" in loops[0]["witness"]
    assert "iteration _=1" in loops[0]["witness"]
    assert loops[1]["text"] == "for i in range(1, n - 1):"


@pytest.mark.parametrize("backend", [CPU, CUDA], ids=lambda b: b.name)
def test_the_mapping_can_be_given_back(backend):
    found = parpy.explain(steps, *ARGUMENTS, opts=parpy.auto(backend=backend))
    assert found.mapping
    pasted = eval(repr(found.mapping), {"parpy": parpy})
    assert pasted == found.mapping
    by_hand = parpy.CompileOptions(parallelize=pasted, backend=backend)
    automatic = parpy.auto(backend=backend)
    assert parpy.print_compiled(steps, ARGUMENTS, by_hand) == parpy.print_compiled(steps, ARGUMENTS, automatic)
    again = parpy.explain(steps, *ARGUMENTS, opts=by_hand)
    assert again.mapping == found.mapping
    assert again.facts["loops"] == found.facts["loops"]


def test_a_refused_mapping_is_explained():
    a = np.ones(10)
    opts = parpy.CompileOptions(parallelize={"i": parpy.threads(4)}, backend=CPU)
    found = parpy.explain(running_sum, a, 10, opts=opts)
    assert found.facts["refused"]
    text = str(found)
    assert "refused" in text
    assert "^ iteration i=1 writes a[1], iteration i=2 reads a[1]" in text
    assert "error[P401]" in text
    assert a.tolist() == [1.0] * 10


def test_nothing_runs_and_errors_are_those_of_the_call():
    a = np.ones(10)
    parpy.explain(running_sum, a, 10)
    assert a.tolist() == [1.0] * 10
    with pytest.raises(IndexError, match="P405"):
        parpy.explain(running_sum, a, 12)
    with pytest.raises(TypeError):
        parpy.explain(running_sum, a)


def test_kernels_memory_and_arithmetic():
    found = parpy.explain(steps, np.zeros(1000), np.zeros(1000), 5, 1000, opts=parpy.auto(backend=CUDA))
    assert len(found.facts["kernels"]) == 2
    assert found.facts["kernels"][0]["grid"] == (4, 1, 1)
    assert found.facts["kernels"][0]["block"] == (256, 1, 1)
    arrays = {array["name"]: (array["read"], array["written"]) for array in found.facts["arrays"]}
    assert arrays == {"a": (8000.0, 7984.0), "b": (7984.0, 7984.0)}
    assert found.facts["flops"] == 5 * 998 * 2
    assert found.seconds > 0


@parpy.jit
def siblings(a, b, n):
    for i in range(n):
        for j in range(60):
            a[i, j] = b[i, j]
        for k in range(200):
            b[i, k] = a[i, k % 60]


def test_loops_of_other_sizes_side_by_side_can_be_given_back():
    arguments = np.zeros((50, 200)), np.ones((50, 200)), 50
    found = parpy.explain(siblings, *arguments, opts=parpy.auto(backend=CUDA))
    again = parpy.explain(siblings, *arguments, opts=found.opts)
    assert not again.facts["refused"] and again.mapping == found.mapping


def test_atomic_updates_are_named():
    arguments = np.zeros(8), np.zeros(100, np.int64), 100
    assert "reduction, atomic" in str(parpy.explain(histogram, *arguments, opts=parpy.auto(backend=CUDA)))


@pytest.mark.parametrize("backend", [CPU, CUDA], ids=lambda b: b.name)
def test_parts_between_allocations_are_explained_together(backend):
    @parpy.jit
    def f(x, n):
        y = np.empty((n, n))
        for i in range(n):
            x[i, 0] = 1.0
        z = np.empty((n, n))
        y[0, 0] = x[3, 0]
        for j in range(n):
            for i in range(n):
                z[i, j] = x[i, j]
        z[0, :] = 1; z[1, 1:] = 2  # fmt: skip # noqa: E702
        return z

    arguments = np.zeros((900, 900)), 900
    found = parpy.explain(f, *arguments, opts=parpy.auto(backend=backend))
    loops = [loop["line"] for loop in found.facts["loops"]]
    assert found.facts["restructured"] and loops != sorted(loops) and ("gpu" in found.mapping) == (backend is CUDA)
    assert any("#2" in key for key in found.mapping)
    again = parpy.explain(f, *arguments, opts=found.opts)
    assert not again.facts["refused"] and again.mapping == found.mapping
    assert [loop["line"] for loop in again.facts["loops"]] == loops


class Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_html_and_json():
    found = parpy.explain(steps, *ARGUMENTS, opts=parpy.auto(backend=CPU))
    page = Page()
    page.feed(found._repr_html_())
    assert not page.open
    assert page.texts.count("for i in range(1, n - 1):") == 4  # the tree has it, and the picture
    facts = json.loads(found.json())
    assert facts["function"] == "steps"
    assert facts["seconds"] == found.seconds
    assert len(facts["loops"]) == 3


def test_html_without_loops():
    @parpy.jit
    def first(a):
        a[0] = 1.0

    page = Page()
    page.feed(parpy.explain(first, np.zeros(3), opts=parpy.par({}))._repr_html_())
    assert not page.open and page.texts[0].startswith("first on ")


# ---------------------------------------------------------------- names


@parpy.jit
def shared_names(a, b, n):
    for i in range(n):
        a[i] = i
    for i in range(n):
        b[i] += a[n - 1 - i]
    b[1:-1] = a[2:] + a[:-2]
    for k in range(2):
        parpy.label("twice")
        for i in range(n):
            a[i] = k
        parpy.label("twice")
        for i in range(n):
            b[i] = k


@parpy.jit
def one_line(a, b):
    a[:, :] = a[:, :] + 1; b[:] = 2.0; a[:, :] *= b[:]; b[:] = 3.0  # fmt: skip # noqa: E702


@pytest.mark.parametrize("backend", [CPU, CUDA, parpy.CompileBackend.Sim], ids=lambda b: b.name)
def test_every_loop_has_a_name_of_its_own(backend):
    for function, arguments in (
        (shared_names, (np.zeros(5000), np.zeros(5000), 5000)),
        (one_line, (np.zeros((90, 90)), np.zeros(90))),
    ):
        found = parpy.explain(function, *arguments, opts=parpy.auto(backend=backend))
        keys = [loop["key"] for loop in found.facts["loops"]]
        assert len(set(keys)) == len(keys), keys
        assert not any("_" in key for key in keys)
        again = parpy.explain(function, *arguments, opts=found.opts)
        assert again.mapping == found.mapping and not again.facts["refused"]
    assert any("#2" in key for key in keys)


def test_messages_have_the_names_of_the_source():
    @parpy.jit
    def f(a, n):
        for i in range(n):
            a[i] = i
        parpy.label("x")
        for i in range(1, n):
            a[i] = a[i - 1]

    opts = parpy.CompileOptions(parallelize={"x": parpy.threads(8)}, backend=CPU)
    with pytest.raises(
        parpy.ParallelError, match=r"loop 'i' cannot run in parallel: iteration i=1 writes a\[1\], iteration i=2"
    ):
        f(np.zeros(100), 100, opts=opts)


def test_array_code_outside_of_loops_is_taken_back():
    @parpy.jit
    def f(a, out, n):
        out[0] = a[0]
        for i in range(n):
            a[i] = a[i] * 2
        if a[1] > 1:
            out[1] = a[2]

    sim = parpy.CompileBackend.Sim
    arguments = (np.ones(5000), np.zeros(2), 5000)
    found = parpy.explain(f, *arguments, opts=parpy.auto(backend=sim))
    assert found.mapping["gpu"] == parpy.threads(1) and len(found.mapping) == 2
    f(*arguments, opts=found.opts)
    assert arguments[1].tolist() == [1.0, 2.0]


@parpy.jit
def calls_itself_until_told(x, n):
    t = np.ones(2)
    for i in range(2):
        x[i] -= t[i]
    if x[0] > 0:
        calls_itself_until_told(x, n + 1)
        calls_itself_until_told(x, n + 2)


def test_functions_that_end_by_what_they_compute():
    """explain does not run the function, so x[0] keeps its value."""
    x = np.full(2, 3.0)
    text = str(parpy.explain(calls_itself_until_told, x, 0))
    assert text.count("for i in range(2):") == 1 and x[0] == 3
    want = x.copy()
    calls_itself_until_told(x, 0)
    calls_itself_until_told(want, 0, seq=True)
    assert x.tolist() == want.tolist()


@parpy.jit
def of_library(x, y, n):
    for i in range(n):
        y[i] = np.median(x[i])


@parpy.jit
def growing(x, n):
    found, counts = [], {}
    for i in range(n):
        if x[i] > 0:
            found.append(x[i])
    for i in range(n):
        counts[i % 7] = counts.get(i % 7, 0) + 1
    return found, counts


def test_loops_of_library_functions_have_no_lines_of_the_program():
    found = parpy.explain(
        of_library, np.ones((100, 20)), np.ones(100), 100, opts=parpy.auto(backend=parpy.CompileBackend.Cpu)
    )
    own, *others = found.facts["loops"]
    assert own["library"] == "" and others and all(loop["library"] == "NumPy" for loop in others)
    lines = str(found).split("\n")[2 : 2 + len(found.facts["loops"])]
    assert lines[0].startswith(f"{own['line']} ")
    assert all(line.startswith("  ") and "NumPy: " in line for line in lines[1:])
    assert "NumPy: s = a.copy()" in found.svg() and "NumPy: s = a.copy()" in found.html()
    assert {line for line, _ in found.pragmas} == {own["line"]}
    again = parpy.explain(of_library, np.ones((100, 20)), np.ones(100), 100, opts=found.opts)
    assert again.mapping == found.mapping


def test_memory_of_lists_and_dicts_is_not_shown():
    found = parpy.explain(growing, np.ones(100), 100)
    assert [array["name"] for array in found.facts["arrays"]] == ["x"]
    text = str(found)
    assert "its iterations change the list 'found' in turn" in text
    assert "its iterations change the dict 'counts' in turn" in text
    assert "memory: 800 B read, 0 B written" in text
    assert {loop["library"] for loop in found.facts["loops"]} == {"", "dict or set"}
