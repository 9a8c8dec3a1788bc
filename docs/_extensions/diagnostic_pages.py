"""Writes the table of diagnostics into the page that asks for it with the comment `<!-- diagnostics -->`."""

from __future__ import annotations

from sphinx.application import Sphinx

from parpy.studies.codes import Diagnostic, diagnostics

MARK = "<!-- diagnostics -->"
GROUPS = {
    "P0": "Reading a function",
    "P1": "Names",
    "P2": "Types and shapes",
    "P3": "Mapping loops",
    "P4": "Legality, and errors while a program runs",
    "P5": "Back ends and arguments",
    "P8": "The text form of the IR",
    "P9": "Faults of ParPy itself",
}
MOST_CURES = 6


def table(found: list[Diagnostic]) -> list[str]:
    rows = [f"| [{each.code}](#{each.code.lower()}) | {each.title.replace('|', chr(92) + '|')} |" for each in found]
    return ["| code | title |", "|---|---|", *rows, ""]


def section(each: Diagnostic) -> list[str]:
    lines = [f"({each.code.lower()})=", f"### {each.code}: {each.title}", ""]
    raised = each.exception
    lines += [f"Exception: `{raised}`" if raised.isidentifier() else f"Exception: {raised}", ""]
    lines += ["Cures:", "", *(f"- {escaped(cure)}" for cure in each.cures[:MOST_CURES]), ""]
    if each.example:
        lines += ["````python", each.example, "````", "", "````text", each.message, "````", ""]
    return lines


def escaped(text: str) -> str:
    """Advice quotes code without marks; Markdown must take none of it for its own."""
    return "".join("\\" + each if each in "\\`*_{}[]<>()#+-!|$~^:" else each for each in text)


def fill(app: Sphinx, page: str, source: list[str]) -> None:
    if MARK not in source[0]:
        return
    found = diagnostics()
    lines: list[str] = []
    for prefix, title in GROUPS.items():
        group = [each for each in found if each.code.startswith(prefix)]
        lines += [f"## {title}", "", *table(group)]
        for each in group:
            lines += section(each)
    source[0] = source[0].replace(MARK, "\n".join(lines))


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
