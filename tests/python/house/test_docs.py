"""The documentation: its Python blocks run, those of one page together in order, and its links have targets."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

import pytest

import parpy
import places

ROOT = places.ROOT
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r"^```(?:(\w*)|\{code-cell\} (\w+))$")


def program(page: Path) -> str:
    """The page in which all lines but those of Python blocks are blank, so that line numbers stay."""
    lines, language = [], ""
    for line in page.read_text().splitlines():
        fence = FENCE.match(line)
        lines.append(line if language in ("python", "ipython3") and not fence and not line.startswith(":") else "")
        if fence:
            language = "" if language else fence[1] or fence[2] or "text"
    return "\n".join(lines) + "\n"


def name_of(page: Path) -> str:
    return "_".join(page.relative_to(ROOT).with_suffix("").parts).lower()


@pytest.mark.parametrize("page", [p for p in PAGES if program(p).strip()], ids=name_of)
def test_examples_run(page, tmp_path, monkeypatch):
    if "import matplotlib" in page.read_text():
        pytest.importorskip("matplotlib")
        monkeypatch.setenv("MPLBACKEND", "Agg")
    for module in ("dask.array", "xarray"):  # make test installs them
        if f"import {module}" in program(page):
            pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    script = tmp_path / f"{name_of(page)}_examples.py"  # compiled functions need their source in a file
    script.write_text(program(page))
    runpy.run_path(str(script), run_name="__main__")


LINK = re.compile(r"\]\((?!https?://)([^)#\s]*)(?:#([\w-]+))?\)")


def headings(page: Path) -> set[str]:
    """The anchors of a page, as GitHub and the site derive them from its headings."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(), re.M)
    return {re.sub(r"[^\w -]", "", title.lower()).strip().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", sorted({*ROOT.glob("*.md"), *PAGES}), ids=name_of)
def test_links_lead_somewhere(page):
    broken = []
    text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", page.read_text(), flags=re.M | re.S)
    for target, anchor in LINK.findall(text):
        file = (page.parent / target).resolve() if target else page
        if "gallery" in file.parts:  # `make docs` writes its pages
            continue
        if not file.exists() or (anchor and file.suffix == ".md" and anchor not in headings(file)):
            broken.append(f"{target}#{anchor}")
    assert broken == []


def test_the_api_reference_has_every_name():
    text = "".join(page.read_text() for page in (ROOT / "docs/reference/api").glob("*.md"))
    modules = {"backend", "buffer", "builtin", "cuda", "math", "reduce", "types"}
    assert [name for name in parpy.__all__ if not re.search(rf"\b(parpy\.)?{name}\b", text)] == []
    assert [name for name in modules if f"parpy.{name}" not in text] == []


def test_the_first_screen_shows_what_was_measured():
    rows = json.loads((ROOT / "benchmarks/results/first_screen.json").read_text())
    shown = re.findall(r"^\| (\w+, \w+|\w+).*\| ([\d.]+) \|$", (ROOT / "README.md").read_text(), re.M)
    figures = {name.split(", `")[0]: f"{row['ms']:.3g}" for name, row in rows.items()}
    assert len(shown) >= 3 and dict(shown) == figures
