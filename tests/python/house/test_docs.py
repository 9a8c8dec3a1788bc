"""Every Python block of the documentation and of the README runs, those of one page together in order."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

import places

ROOT = places.ROOT
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
FENCE = re.compile(r"^```(\w*)$")


def program(page: Path) -> str:
    """The page with everything but its Python blocks blanked out, so that line numbers stay."""
    lines, language = [], ""
    for line in page.read_text().splitlines():
        fence = FENCE.match(line)
        lines.append(line if language == "python" and not fence else "")
        if fence:
            language = "" if language else fence[1] or "text"
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("page", [p for p in PAGES if program(p).strip()], ids=lambda p: p.stem)
def test_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    script = tmp_path / f"{page.stem.lower()}_examples.py"  # compiled functions need their source in a file
    script.write_text(program(page))
    runpy.run_path(str(script), run_name="__main__")
