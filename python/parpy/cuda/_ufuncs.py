"""Universal functions on the GPU under the names of ``numba.cuda``."""

from __future__ import annotations

from typing import Any

from ..calls.tracebacks import hides_frames

__all__ = ["guvectorize", "vectorize"]


@hides_frames
def vectorize(signatures: Any = None, /, *, target: str = "cuda", **keywords: Any) -> Any:
    """``parpy.vectorize``, whose target is ``'cuda'`` if none is given: a universal function of a function of numbers,
    with the same keywords, results and errors."""
    from ..ufuncs.vectorize import vectorize as made

    return made(signatures, target=target, **keywords)


@hides_frames
def guvectorize(signatures: Any, layout: str | None = None, /, *, target: str = "cuda", **keywords: Any) -> Any:
    """``parpy.guvectorize``, whose target is ``'cuda'`` if none is given: a generalised universal function of a
    function of arrays, with the same keywords, results and errors."""
    from ..ufuncs.guvectorize import guvectorize as made

    return made(signatures, layout, target=target, **keywords)
