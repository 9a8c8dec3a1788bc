"""The messages for the logger "parpy". All have the level DEBUG: errors are exceptions and advice is a warning."""

from __future__ import annotations

import functools
import logging
import os
import sys
from collections.abc import Sequence
from typing import Any

from .. import _native

logger = logging.getLogger("parpy")
logger.addHandler(logging.NullHandler())


def compiled(function: str, backend: str, seconds: float, sources: Sequence[_native.Source]) -> None:
    """Logs that a function was compiled, or loaded from disk, for the arguments of a call. `sources` has its text and
    those of the functions that it calls."""
    logger.debug("compiled '%s' for %s in %.1f ms", function, backend, 1e3 * seconds)
    coverage = sys.modules.get("coverage")
    measuring = None if coverage is None else coverage.Coverage.current()
    if measuring is not None:
        _cover(measuring, sources)


def tuned(function: str, best: str, seconds: float, automatic: float) -> None:
    """Logs the mapping that parpy.tune found, with its time and that of the automatic mapping, in seconds."""
    logger.debug(
        "tuned '%s': %s takes %.3g ms, the automatic mapping %.3g ms", function, best, 1e3 * seconds, 1e3 * automatic
    )


def _cover(measuring: Any, sources: Sequence[_native.Source]) -> None:
    """Counts the statements of the sources as run, because coverage cannot observe compiled code. Files that coverage
    does not measure are left out."""
    data = measuring.get_data()
    files = data.measured_files()
    for source in sources:
        name = os.path.abspath(source.name)
        if name not in files:
            continue
        span = range(source.first_line, source.first_line + source.text.count("\n") + 1)
        parser = _parsed(name)
        if data.has_arcs():
            inside = {(a, b) for a, b in parser.arcs() if abs(a) in span and (abs(b) in span or b < 0)}
            data.add_arcs({name: inside})
        else:
            data.add_lines({name: parser.statements & {*span}})


@functools.cache
def _parsed(name: str) -> Any:
    """The statements and arcs of a file, found by coverage's own parser."""
    from coverage.parser import PythonParser

    parser = PythonParser(filename=name)
    parser.parse_source()
    return parser
