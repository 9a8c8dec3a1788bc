"""Loops and arrays of a call that are not in the user's program: those of NumPy's functions, which the package writes
in the language, and the memory of lists, dicts and sets that grow in compiled loops."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from .. import library

_LABELS = {"lists": "list", "hash_tables": "dict or set"}  # of other files: NumPy
_MEMORY = re.compile(r"\b(\w+)_(?:floats|wholes|kinds|ends|keys|table|sizes)_\d+\b")


def mark_library(loops: Iterable[dict[str, Any]], file: str) -> None:
    """Sets `library` of each loop: "" for a loop of the user's program, else the name of the library that has it.
    `file` is that of the function."""
    for loop in loops:
        own = linecache.getline(file, loop["line"]).strip().startswith(loop["text"])
        found = () if own else _lines().get(loop["line"], ())
        loop["library"] = next((label for text, label in found if text.startswith(loop["text"])), "")


@cache
def _lines() -> dict[int, list[tuple[str, str]]]:
    """The lines of all library files by their numbers, each with the label of its file."""
    found: dict[int, list[tuple[str, str]]] = {}
    for path in sorted(Path(*library.__path__).glob("*.py")):
        label = _LABELS.get(path.stem, "NumPy")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if line.strip():
                found.setdefault(number, []).append((line.strip(), label))
    return found


def hide_memory(facts: dict[str, Any], grown: Mapping[str, str]) -> None:
    """Replaces facts about the memory of lists, dicts and sets, which maps their names to their classes: it is reserved
    for many more elements than a call uses."""
    facts["arrays"] = [each for each in facts["arrays"] if _owner(each["name"], grown) is None]
    for loop in facts["loops"]:
        owner = _owner(loop["witness"] or loop["reason"], grown)
        if owner is not None:
            loop["witness"], loop["reason"] = "", f"its iterations change the {grown[owner]} '{owner}' in turn"


def _owner(text: str, grown: Mapping[str, str]) -> str | None:
    return next((name for name in _MEMORY.findall(text) if name in grown), None)
