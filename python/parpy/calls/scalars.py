"""Converts numbers among the arguments to forms that compiled code takes."""

from __future__ import annotations

from collections.abc import Mapping
from types import FunctionType
from typing import Any

import numpy as np

from ..syntax.annotations import annotations_of, number_of_numpy
from ..types import BufferType


def in_their_place(
    function: FunctionType, codes: tuple[str, ...], given: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]] | None:
    """The positional and the keyword arguments with which a call that ended with errors of these codes may be repeated;
    None where nothing changes.

    An array of a GPU without dimensions (P556) is read. NumPy's numbers become Python's, which convert, where the
    annotation says another type (P231).
    """
    taken = dict(given)
    if "P556" in codes:
        taken |= {name: _read(value) for name, value in given.items() if _is_number_on_device(value)}
    if "P231" in codes:
        numbers = [name for name, each in annotations_of(function).items() if not isinstance(each, BufferType)]
        taken |= {name: number_of_numpy(taken[name]) for name in numbers if name in taken}
    if all(taken[name] is value for name, value in given.items()):
        return None
    positional = function.__code__.co_varnames[: function.__code__.co_argcount]
    named = {name: value for name, value in taken.items() if name not in positional}
    return [taken[name] for name in positional if name in taken], named


def _is_number_on_device(value: Any) -> bool:
    interface = getattr(value, "__cuda_array_interface__", None)
    return interface is not None and interface["shape"] == ()


def _read(value: Any) -> Any:
    """The number in an array of a GPU, with its type."""
    number = value.item() if hasattr(value, "item") else value.numpy()
    return np.dtype(value.__cuda_array_interface__["typestr"]).type(number)
