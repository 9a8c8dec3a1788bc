"""The options of ``cuda.jit``, their checks and their effects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_REGISTERS = 65536  # the registers of a multiprocessor
_MOST_REGISTERS = 255  # the most registers of a thread
_CARVEOUTS = ("default", "maxl1", "maxshared")

# Options of numba.cuda that have no effect here, with the reasons.
WITHOUT_EFFECT = {
    "cache": "compiled code is always kept on disk",
    "forceinline": "the compiler inlines device functions where that pays",
    "inline": "the compiler inlines device functions where that pays",
    "lto": "linked code is optimised with the kernel where it is LTO-IR",
    "nopython": "nothing runs in Python",
    "opt": "code is always optimised",
    "shared_memory_carveout": "the driver chooses it from the needs of the kernel",
}


@dataclass(frozen=True)
class KernelOptions:
    """Options of a kernel. ``most_threads`` limits the threads of a block; 0 leaves the limit to the device."""

    fast_math: bool = False
    flags: tuple[str, ...] = ()  # for NVRTC
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
    """Makes options of the keywords of ``cuda.jit``. Raises TypeError or ValueError for wrong values."""
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
    """The most threads of a block, and the most registers of a thread with which the wanted blocks are resident."""
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
