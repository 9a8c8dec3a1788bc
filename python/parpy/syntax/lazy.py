"""Attributes that are computed, and modules that are imported, at their first use; no forked child waits for them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class lazy(Generic[T]):
    """`functools.cached_property` without the lock of Python 3.11, for which a child that is forked while another
    thread computes the attribute would wait forever."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self.compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> lazy[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> lazy[T] | T:
        if instance is None:
            return self
        value = instance.__dict__[self.name] = self.compute(instance)
        return value


_lock = threading.RLock()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


def imported(name: str) -> ModuleType:
    """The module ``name``. A fork() by another thread waits until the import ends: the child has only the forking
    thread, so that an import in progress would never end there, and later imports would wait for it."""
    with _lock:
        return import_module(name)
