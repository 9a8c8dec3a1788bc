"""parpy.explain_code, and the page of diagnostics, which shows the same."""

from __future__ import annotations

import re

import pytest

import parpy
import places
from parpy.studies import codes


def test_every_code_has_a_title_and_a_cure():
    registry = (places.ROOT / "src/support/diagnostics.def").read_text()
    found = codes.diagnostics()
    assert [each.code for each in found] == re.findall(r"^DIAGNOSTIC\((P\d+)", registry, re.M)
    assert [each.code for each in found if not (each.title and each.cures)] == []
    assert codes._CURES.keys() <= {each.code for each in found}


def test_every_code_of_programs_has_an_example():
    shown = {path.stem.partition("_")[0] for path in (places.TESTS / "golden/diag").glob("*.py")}
    for each in codes.diagnostics():
        assert bool(each.example) == bool(each.message) == (each.code in shown)
        assert not each.message or f"[{each.code}]" in each.message


def test_explain_code():
    text = parpy.explain_code("p401 ")
    assert text.startswith("P401: iterations of a parallel loop depend on each other\nexception: ParallelError\n")
    assert "help: leave the loop out of the mapping to run it sequentially" in text
    assert "    @parpy.jit\n" in text and "error[P401]: loop 'i' cannot run in parallel: iteration i=" in text


def test_the_cures_of_a_code_are_those_of_its_own_messages():
    text = "a.py:1:1: error[P101]: a\nhelp: one\na.py:2:1: error[P102]: b\nhelp: two\nhelp: three\nnote[P101]: c\n"
    assert codes._cures("P102", text) == ["two", "three"] and codes._cures("P101", text) == ["one"]


@pytest.mark.parametrize("code", ["P999", "401", ""])
def test_codes_that_there_are_not(code):
    with pytest.raises(ValueError, match="no diagnostic has the code"):
        parpy.explain_code(code)
