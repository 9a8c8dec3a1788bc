"""Imports modules when they are first needed, so that programs without them start sooner."""

from __future__ import annotations

import os
import threading
from importlib import import_module
from types import ModuleType

_lock = threading.RLock()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


def imported(name: str) -> ModuleType:
    """The module ``name``. A fork() by another thread waits until the import ends: the child has only the forking
    thread, so that an import in progress would never end there, and later imports would wait for it."""
    with _lock:
        return import_module(name)
