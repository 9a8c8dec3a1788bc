"""Encodes the requests of pragmas as labels of loops, which src/analysis/pragmas.h decodes. A label of the user cannot
begin with "pragma".
"""

from __future__ import annotations

from .words import Dim, LoopPragma, Place

NOTHING = "pragma"
"""The label of a dimension that no pragma describes."""


def label_of_loop(pragma: LoopPragma) -> str:
    """The label, such as "pragma@7:5:24 parallel simd block=128 shared=s"; the numbers are the line and the columns."""
    words = [_begin(pragma.place)]
    words += ["parallel"] if pragma.parallel else []
    words += ["sequential"] if pragma.sequential else []
    words += ["simd"] if pragma.simd else []
    words += [f"block={pragma.width}"] if pragma.width else []
    words += [f"warps={pragma.warps}"] if pragma.warps else []
    words += [f"shared={name}" for name in pragma.names("shared", "reduction")]
    return " ".join(words)


def label_of_dim(dim: Dim) -> str:
    """The label, such as "pragma@7:13:33 parallel block=2"."""
    words = [_begin(dim.place)]
    words += ["parallel"] if dim.parallel else []
    words += ["simd"] if dim.simd or dim.reduction else []
    words += [f"block={dim.width}"] if isinstance(dim.width, int) and dim.width > 0 else []
    return " ".join(words)


def _begin(place: Place) -> str:
    return f"pragma@{place.line}:{place.begin}:{place.end}"
