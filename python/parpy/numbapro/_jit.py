"""``jit`` and ``autojit`` with NumbaPro's keywords."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..calls import jit as _host
from ..calls.tracebacks import hides_frames
from ..cuda._decorators import jit as _cuda_jit
from ..vocabulary.signatures import Signature, argument_type

_DEVICES = ("gpu", "cuda")


def _with_types(given: Any, argtypes: Sequence[Any] | None, restype: Any) -> Any:
    """The signature with ``argtypes`` and ``restype``, or ``given`` if there are no ``argtypes``."""
    if argtypes is None:
        return given
    arguments = tuple(argument_type(each) for each in argtypes)
    result = None if restype is None else argument_type(restype)
    return Signature(result, arguments, open=result is None)  # type: ignore[arg-type]


@hides_frames
def jit(
    signature: Any = None,
    *,
    argtypes: Sequence[Any] | None = None,
    restype: Any = None,
    target: str = "cpu",
    **keywords: Any,
) -> Any:
    """Returns ``parpy.jit`` of a function for these types, or with ``target='gpu'`` or ``'cuda'`` the kernel that
    ``parpy.cuda.jit`` makes of it.

    ``signature`` is a signature, or the function itself. ``argtypes`` and ``restype`` give the types of the arguments
    and of the result instead. Other keywords are those of ``parpy.jit`` and ``parpy.cuda.jit``. Raises ValueError for
    another target, and TypeError for types that cannot be read.
    """
    if target not in ("cpu", *_DEVICES):
        raise ValueError(f"the targets are 'cpu', 'gpu' and 'cuda', not {target!r}")
    chosen = _with_types(signature, argtypes, restype)
    if target in _DEVICES:
        return _cuda_jit(chosen, **keywords)
    return _host.jit(**keywords) if chosen is None else _host.jit(chosen, **keywords)


@hides_frames
def autojit(function: Callable[..., Any] | None = None, *, target: str = "cpu", **keywords: Any) -> Any:
    """Returns the function compiled for the types of each call: ``jit`` without types. ``target`` and the other
    keywords are those of ``jit``."""
    if function is None:
        return partial(autojit, target=target, **keywords)
    return jit(function, target=target, **keywords)


@hides_frames
def cuda_jit(
    signature: Any = None,
    *more: Any,
    argtypes: Sequence[Any] | None = None,
    restype: Any = None,
    target: str = "gpu",
    **keywords: Any,
) -> Any:
    """Returns the kernel or device function that ``parpy.cuda.jit`` makes. The types of the arguments and of the result
    may also be given as ``argtypes`` and ``restype``. Raises ValueError for a ``target`` other than ``'gpu'`` and
    ``'cuda'``, and as ``parpy.cuda.jit`` does."""
    if target not in _DEVICES:
        raise ValueError(f"kernels run on 'gpu', not on {target!r}")
    return _cuda_jit(_with_types(signature, argtypes, restype), *more, **keywords)
