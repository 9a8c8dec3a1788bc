"""Modules that are imported when they are first needed, so that programs that do not need them start sooner."""

from __future__ import annotations

import os
import threading
from importlib import import_module
from types import ModuleType

_lock = threading.RLock()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


def imported(name: str) -> ModuleType:
    """The module ``name``. A fork() of another thread waits until it is imported: in the child, which has only the
    thread that forked, an import under way would never end, and each further one would wait for it."""
    with _lock:
        return import_module(name)
