"""The devices of this machine, and the context of one."""

from .._devices import close as reset
from .._devices import current_context as get_context
from .._devices import gpus, require_context

__all__ = ["get_context", "gpus", "require_context", "reset"]
