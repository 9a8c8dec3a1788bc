"""The list of versions in the header: the folders beside the one that is built, with the newest first.

A site that keeps the folders of earlier releases offers them; a fresh build shows its own version alone.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

NUMBER = re.compile(r"\d+(\.\d+)*")


def versions_beside(output: Path) -> list[str]:
    found = {p.name for p in output.parent.iterdir() if NUMBER.fullmatch(p.name) and (p / "index.html").exists()}
    return sorted(found | {output.name}, key=lambda name: [int(n) for n in re.findall(r"\d+", name)], reverse=True)


def add_versions(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    context["versions"] = versions_beside(Path(app.outdir))


def write_redirect(app: Sphinx, error: Exception | None) -> None:
    """The folder above leads to this version."""
    if error is None:
        text = f'<!doctype html><meta http-equiv="refresh" content="0; url={app.outdir.name}/index.html">\n'
        (Path(app.outdir).parent / "index.html").write_text(text)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", add_versions)
    app.connect("build-finished", write_redirect)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
