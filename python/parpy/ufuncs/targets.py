"""Where a ufunc runs."""

from __future__ import annotations

import enum


class Target(enum.Enum):
    """A target by its name; GPU is CUDA by another one."""

    CPU = "cpu"
    PARALLEL = "parallel"
    CUDA = "cuda"
    SIM = "sim"
    AUTO = "auto"


def target_of(name: object) -> Target:
    """The target of this name. Raises ValueError where there is none."""
    found = {"gpu": Target.CUDA, **{each.value: each for each in Target}}.get(name) if isinstance(name, str) else None
    if found is None:
        raise ValueError(f"the targets are 'cpu', 'parallel', 'gpu' or 'cuda', 'sim' and 'auto', not {name!r}")
    return found
