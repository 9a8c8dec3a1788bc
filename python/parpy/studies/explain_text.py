"""The layout of explanations: rows of loops, lines that fit a terminal, a complete HTML page."""

from __future__ import annotations

import html
import re
import shutil
import textwrap
from typing import Any

_NARROWEST = 60
_OF_SOURCE = re.compile(r" *(\d+)? \| ")  # lines of diagnostics that quote the program, which are never wrapped


def width() -> int:
    """The columns of the terminal, or the value of the environment variable COLUMNS; 100 without a terminal."""
    return max(shutil.get_terminal_size((100, 24)).columns, _NARROWEST)


def table(head: tuple[str, ...], rows: list[tuple[str, ...]], remarks: list[list[str]], most: int) -> list[str]:
    """Rows below a head, each followed by its remarks. The second column is shortened if a line would be longer than
    `most`."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    others = sum(widths) - widths[1] + 2 * (len(head) - 1)
    widths[1] = min(widths[1], max(most - others, 16))
    lines = []
    for row, below in zip([head, *rows], [[], *remarks], strict=True):
        cells = [
            shortened(cell, wide) if i == 1 else cell for i, (cell, wide) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cell.ljust(wide) for cell, wide in zip(cells, widths, strict=True)).rstrip())
        indent = " " * (widths[0] + 2 + len(row[1]) - len(row[1].lstrip()))
        for remark in below:
            lines += wrapped(f"{indent}^ {remark}", most)
    return lines


def shortened(text: str, most: int) -> str:
    """The text, cut and ended with an ellipsis if it is longer than `most`."""
    return text if len(text) <= most else text[: most - 1] + "…"


def wrapped(text: str, most: int) -> list[str]:
    """The lines of a text, wrapped at `most` characters; lines that quote a program are not wrapped."""
    lines: list[str] = []
    for line in text.split("\n"):
        if len(line) <= most or _OF_SOURCE.match(line):
            lines.append(line)
            continue
        indent = line[: len(line) - len(line.lstrip())]
        lines += textwrap.wrap(line, most, subsequent_indent=indent + "  ", break_long_words=False) or [line]
    return lines


def page(title: str, body: str) -> str:
    """A complete HTML page, which follows the reader's light or dark mode."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>"
        ":root{color-scheme:light dark}body{font-family:sans-serif;margin:1.5em;overflow-wrap:anywhere}"
        f"</style></head><body>{body}</body></html>\n"
    )


Loop = dict[str, Any]


def in_turns(loops: list[Loop]) -> list[tuple[int, Loop, int]]:
    """The loops, each with its index and its number of copies. A loop in which names refer to other arrays in each
    turn is compiled once for each choice of arrays; copies that run alike are listed once."""
    if any(loop["steps"] for loop in loops):  # the parts of a split loop look alike but are different loops
        return [(number, loop, 1) for number, loop in enumerate(loops)]
    shown: list[tuple[int, Loop, int]] = []
    places: dict[tuple[Any, ...], int] = {}
    for number, loop in enumerate(loops):
        key = tuple(
            (name, loop[name]) for name in ("line", "text", "depth", "trips", "verdict", "level", "threads", "reason")
        )
        copy = re.fullmatch(r"(.*)#\d+", loop["key"])
        known = places.get(key)
        if copy and known is not None:
            first, same, count = shown[known]
            shown[known] = (first, same, count + 1)
            continue
        places[key] = len(shown)
        shown.append((number, loop, 1))
    return shown


def shown_text(loop: Loop) -> str:
    """The text of the loop. A loop of a library function begins with the name of the library."""
    return f"{loop['library']}: {loop['text']}" if loop["library"] else str(loop["text"])


def applies(loop: Loop, kind: str) -> bool:
    """Whether the note of this kind ("contraction", "time_tiles", …) says that the loop is transformed, not why not."""
    return bool(loop[kind]) and not re.match(r"no |a contraction without", loop[kind])


_TURN = re.compile(r"'turn_of_\w+' carries a value from one iteration to the next")


def remarks_of(loop: Loop, count: int) -> list[str]:
    """The remarks below a loop that has `count` copies."""
    if loop["waves"]:
        return [loop["waves"]]
    because = loop["witness"] or loop["reason"]
    because = _TURN.sub("its names refer to other arrays in the next iteration", because)
    turns = f"compiled {count} times, once for each array that its names refer to" if count > 1 else ""
    remarks = (because, loop["steps"], loop["time_tiles"], loop["contraction"], loop["flattened"], turns)
    return [each for each in remarks if each]
