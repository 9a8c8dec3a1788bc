"""What the package tells the logger "parpy": nothing above DEBUG, as errors are exceptions and advice is warnings."""

from __future__ import annotations

import logging

logger = logging.getLogger("parpy")
logger.addHandler(logging.NullHandler())


def compiled(function: str, backend: str, seconds: float) -> None:
    """A function was compiled for the arguments of a call, or found on disk, in so many seconds."""
    logger.debug("compiled '%s' for %s in %.1f ms", function, backend, 1e3 * seconds)
