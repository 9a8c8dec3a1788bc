"""Converts Python's text for the core, which requires UTF-8. Lone surrogates, which represent bytes of file names that
are no text, have no UTF-8 form."""

from __future__ import annotations


def is_text(text: str) -> bool:
    return text == as_text(text)


def as_text(text: str) -> str:
    """``text`` with lone surrogates in the notation of Python's source code: \\udc80."""
    return text.encode("utf-8", "backslashreplace").decode()
