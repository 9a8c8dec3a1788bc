"""Python's text on its way to the core, which takes UTF-8: what is none there are lone surrogates, which stand for
bytes of file names that are no text."""

from __future__ import annotations


def is_text(text: str) -> bool:
    return text == as_text(text)


def as_text(text: str) -> str:
    """``text`` with lone surrogates as Python's source code spells them: \\udc80."""
    return text.encode("utf-8", "backslashreplace").decode()
