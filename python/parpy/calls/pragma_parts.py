"""Functions with pragmas that cannot be compiled as a whole: whether the statements behind the pragmas can."""

from __future__ import annotations

import ast
import re

from ..syntax.source import FunctionSource
from .errors import CompileError, ParallelError

_PLACE = re.compile(r"^.*?:(\d+):\d+: error\[", re.M)
_OF_PRAGMAS = ("P03", "P3", "P4", "P5")  # pragmas, mappings, legality, back ends


def is_wrong_elsewhere(source: FunctionSource, error: Exception) -> bool:
    """Whether nothing is wrong but statements without pragmas, which Python may run."""
    if not isinstance(error, CompileError) or isinstance(error, ParallelError):
        return False
    if not source.pragmas or source.only_pragmas or any(code.startswith(_OF_PRAGMAS) for code in error.codes):
        return False
    ranges = [
        (part.lineno + source.line_shift, (part.end_lineno or part.lineno) + source.line_shift)
        for part in ast.walk(source.written())
        if isinstance(part, ast.stmt) and source.pragmas.of(part) is not None
    ]
    lines = [int(line) for line in _PLACE.findall(str(error))]
    return bool(lines) and not any(first <= line <= last for line in lines for first, last in ranges)
