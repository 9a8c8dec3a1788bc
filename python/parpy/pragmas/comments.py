"""Finds the pragmas in the text of a function. Only comments that begin with '#pragma' are pragmas; '# pragma' and
'#pragma: no cover' are not."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from difflib import SequenceMatcher

from .grammar import Comment
from .words import Fault, Place

# The single search that a function without pragmas costs.
_MAY_BE = re.compile(r"#[Pp][A-Za-z]{3,8}(?![\w:])")
_WORD = re.compile(r"#(\w+)(?![\w:])")
_FIRST = re.compile(r"\s*(parallel|sequential|simd|atomic)\b|\s*\S*:\S+=>")


def has_pragmas(text: str) -> bool:
    """Whether a text may have pragmas."""
    return "#pragma" in text or _MAY_BE.search(text) is not None


def comments_of(text: str, first_line: int) -> Iterator[Comment | Fault]:
    """The pragmas of a text whose first line has this number, and faults for comments like misspelt pragmas."""
    lines = text.split("\n")
    for row, column in _comments(text):
        line = lines[row - 1]
        found = _WORD.match(line, column)
        if found is None:
            continue
        comment = Comment(
            line[found.end() :].rstrip("\r"), first_line + row - 1, len(line[:column].encode()) + 1, len(found[0])
        )
        if found[1] != "pragma":
            if _is_misspelt(found[1], comment.text):
                yield Fault(
                    "P030", _word(comment, found[0]), f"'{found[0]}' begins no pragma", "did you mean '#pragma'?"
                )
        elif line[:column].strip():
            yield Fault(
                "P031",
                comment.whole,
                "this pragma follows a statement on the same line",
                "write it on a line of its own, before the statement",
            )
        else:
            yield comment


def _comments(text: str) -> Iterator[tuple[int, int]]:
    """The places of comments: rows from 1 on, columns from 0 on."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.start
    except (tokenize.TokenError, IndentationError):
        return  # the text continues after the end of the function


def _word(comment: Comment, word: str) -> Place:
    return Place(comment.line, comment.column, comment.column + len(word.encode()))


def _is_misspelt(word: str, rest: str) -> bool:
    """Whether `#word rest` is a misspelt pragma: the word resembles `pragma`, and words of a pragma follow."""
    return SequenceMatcher(None, word.lower(), "pragma").ratio() > 0.75 and _FIRST.match(rest) is not None
