"""The options of ``cuda.jit``: which there are, and what each does here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_REGISTERS = 65536  # of a multiprocessor
_MOST_REGISTERS = 255  # of a thread
_CARVEOUTS = ("default", "maxl1", "maxshared")

# Options of numba.cuda that change nothing here, and why.
WITHOUT_EFFECT = {
    "cache": "compiled code is always kept on disk",
    "forceinline": "the compiler inlines device functions where that pays",
    "inline": "the compiler inlines device functions where that pays",
    "lto": "linked code is optimised with the kernel where it is LTO-IR",
    "nopython": "nothing runs in Python",
    "opt": "code is always optimised",
    "shared_memory_carveout": "the driver chooses by what the kernel needs",
}


@dataclass(frozen=True)
class KernelOptions:
    """How kernels are compiled. ``most_threads``: how many a block may have, 0: as many as the device allows."""

    fast_math: bool = False
    flags: tuple[str, ...] = ()  # of NVRTC
    debug: bool = False
    most_threads: int = 0
    extensions: tuple[Any, ...] = ()


def kernel_options(
    fastmath: Any,
    fma: Any,
    lineinfo: Any,
    debug: Any,
    max_registers: int | None,
    launch_bounds: int | tuple[int, ...] | None,
    carveout: int | str | None,
    extensions: Any,
) -> KernelOptions:
    """From what ``cuda.jit`` gets; TypeError or ValueError where that is wrong."""
    if max_registers is not None and (type(max_registers) is not int or max_registers < 1):
        raise ValueError(f"max_registers is how many registers a thread may use, an int from 1, not {max_registers!r}")
    _check_carveout(carveout)
    most, registers = _bounds(launch_bounds)
    limits = [each for each in (max_registers, registers) if each is not None]
    flags = [f"--fmad={str(bool(fma)).lower()}", *(["--generate-line-info"] if lineinfo else [])]
    if limits:
        flags.append(f"--maxrregcount={min(limits)}")
    taken = tuple(extensions or ())
    for each in taken:
        if not hasattr(each, "prepare_args"):
            raise TypeError(f"an extension has a method prepare_args(ty, val, stream, retr), and {each!r} has none")
    return KernelOptions(bool(fastmath), tuple(flags), bool(debug), most, taken)


def _check_carveout(given: int | str | None) -> None:
    named = isinstance(given, str) and given.lower() in _CARVEOUTS
    if not (given is None or named or (type(given) is int and -1 <= given <= 100)):
        raise ValueError(
            "shared_memory_carveout is 'default', 'maxl1', 'maxshared', or a percentage from 0 to 100 (-1: the "
            f"default), not {given!r}"
        )


def _bounds(given: int | tuple[int, ...] | None) -> tuple[int, int | None]:
    """How many threads a block has at most, and with how many registers so many blocks fit a multiprocessor."""
    if given is None:
        return 0, None
    parts = given if isinstance(given, tuple) else (given,)
    if not 1 <= len(parts) <= 3 or not all(type(each) is int and each > 0 for each in parts):
        raise ValueError(
            "launch_bounds is the most threads of a block, or a tuple of these, the blocks of a multiprocessor and "
            f"those of a cluster, ints from 1, not {given!r}"
        )
    if parts[0] > 1024:
        raise ValueError(f"launch_bounds: a block has at most 1024 threads, not {parts[0]}")
    if len(parts) == 1:
        return parts[0], None
    threads = -(-parts[0] // 32) * 32 * parts[1]
    return parts[0], max(min(_REGISTERS // threads // 8 * 8, _MOST_REGISTERS), 16)
