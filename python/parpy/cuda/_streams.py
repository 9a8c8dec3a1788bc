"""Streams and events. On the simulator a launch has ended when it returns, so there is nothing to wait for."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from .. import _native
from ._backend import on_gpu

if TYPE_CHECKING:
    import asyncio

__all__ = [
    "Event",
    "Stream",
    "default_stream",
    "event",
    "event_elapsed_time",
    "external_stream",
    "legacy_default_stream",
    "per_thread_default_stream",
    "stream",
    "synchronize",
]

_LEGACY, _PER_THREAD = 1, 2  # CUDA's reserved handles of the two default streams
_FAILED = 999  # CUDA_ERROR_UNKNOWN


class Stream:
    """A queue of work for the GPU. Work on one stream runs in order, and work on two streams may overlap. Launches and
    copies take a stream.
    """

    __slots__ = ("__weakref__", "_kind", "_lock", "_native", "_number", "_waiting", "handle")

    def __init__(
        self, handle: int = 0, native: object = None, kind: str = "CUDA stream", number: int | None = None
    ) -> None:
        self.handle, self._native = handle, native
        self._kind, self._number = kind, handle if number is None else number
        self._lock = threading.Lock()
        self._waiting: list[threading.Thread] = []  # the threads of pending callbacks

    def synchronize(self) -> None:
        """Waits for all work on the stream and for its callbacks. Raises BackendError if a kernel failed."""
        if on_gpu():
            _native.synchronize_stream(self.handle)
            for each in self._waiting:
                if each is not threading.current_thread():
                    each.join()

    @contextlib.contextmanager
    def auto_synchronize(self) -> Iterator[Stream]:
        """``with stream.auto_synchronize():`` waits for the stream at the end of the block."""
        yield self
        self.synchronize()

    def add_callback(self, callback: Callable[[Stream, int, Any], Any], arg: Any = None) -> None:
        """Calls ``callback(stream, status, arg)`` in a new thread when the work that is on the stream now has ended.
        The status is 0, or 999 if the work failed. Exceptions of the callback are printed."""
        if not callable(callback):
            raise TypeError(f"a callback is a function (stream, status, arg), not {callback!r}")
        self._behind(lambda error: callback(self, 0 if error is None else _FAILED, arg))

    def async_done(self) -> asyncio.futures.Future[Stream]:
        """Returns a future of the running event loop for ``await stream.async_done()``. Its result is the stream once
        the work that is on the stream now has ended; an error of that work is its exception."""
        import asyncio  # not at the top: loading it takes half as long as loading the package

        loop = asyncio.get_event_loop()
        future: asyncio.futures.Future[Stream] = loop.create_future()

        def done(error: Exception | None) -> None:
            if future.done():
                return
            if error is None:
                future.set_result(self)
            else:
                future.set_exception(error)

        self._behind(lambda error: loop.call_soon_threadsafe(done, error))
        return future

    def _behind(self, call: Callable[[Exception | None], Any]) -> None:
        """Makes the call with the error, or None, when the work that is on the stream now has ended."""
        if not on_gpu():
            call(None)
            return
        point = Event(timing=False)
        point.record(self)

        def wait() -> None:
            try:
                point.synchronize()
            except Exception as error:
                call(error)
            else:
                call(None)

        waiting = threading.Thread(target=wait, name="parpy.cuda callback")
        with self._lock:
            self._waiting = [each for each in self._waiting if each.is_alive()] + [waiting]
        waiting.start()

    def __int__(self) -> int:
        """The handle. The legacy and the per-thread default stream have 1 and 2, also on the simulator."""
        return self._number

    def __cuda_stream__(self) -> tuple[int, int]:
        """The version of the CUDA stream protocol, by which other libraries use the stream, and the handle."""
        return 0, self.handle

    def __repr__(self) -> str:
        return f"<{self._kind}{f' {self._number:#x}' if self._number > _PER_THREAD else ''} of parpy.cuda>"


def stream() -> Stream:
    """Returns a new stream. It and the default stream wait for each other's earlier work."""
    if not on_gpu():
        return Stream()
    made = _native.DeviceStream()
    return Stream(made.handle, made)


def default_stream() -> Stream:
    """Returns the stream of launches and copies without a stream argument."""
    return Stream(kind="Default CUDA stream")


def legacy_default_stream() -> Stream:
    """Returns the default stream that all threads of the process share and other streams wait for, CUDA's number 1."""
    return Stream(_LEGACY if on_gpu() else 0, None, "Legacy default CUDA stream", _LEGACY)


def per_thread_default_stream() -> Stream:
    """Returns the default stream of this thread, which other threads do not wait for, CUDA's number 2."""
    return Stream(_PER_THREAD if on_gpu() else 0, None, "Per-thread default CUDA stream", _PER_THREAD)


def external_stream(ptr: int) -> Stream:
    """Returns a Stream for the handle of another library's stream. Raises TypeError or ValueError for other values."""
    if isinstance(ptr, bool) or not isinstance(ptr, int):
        raise TypeError(f"the handle of a stream is an int, not {ptr!r}")
    if not 0 <= ptr < 2**64:
        raise ValueError(f"the handle of a stream is an address, not {ptr}")
    return Stream(ptr, kind="External CUDA stream")


def handle_of(given: Any) -> int:
    """The handle of a stream of ParPy or another library; 0 and None are the default stream. Raises TypeError for
    other objects."""
    if given is None or (type(given) is int and given == 0):
        return 0
    protocol = getattr(given, "__cuda_stream__", None)
    if protocol is not None and not isinstance(given, type):
        return int(protocol()[1])
    for name in ("handle", "cuda_stream", "ptr"):
        value = getattr(given, name, None)
        value = getattr(value, "value", value)  # numba-cuda's handle is a ctypes object
        if type(value) is int and not isinstance(given, type):
            return value
    hint = (
        f"; write cuda.external_stream({given}) for the stream with that handle"
        if type(given) is int and given > 0
        else ""
    )
    raise TypeError(f"{given!r} is not a stream; 0 and None are the default stream{hint}")


class Event:
    """A point in the work of a stream. ``record`` sets it; ``elapsed_time`` measures the time between two events."""

    __slots__ = ("__weakref__", "_native", "_seconds", "_timing")

    def __init__(self, timing: bool = True) -> None:
        self._native = _native.DeviceEvent(timing) if on_gpu() else None
        self._seconds: float | None = None
        self._timing = timing

    def record(self, stream: Any = 0) -> None:
        """Sets the event after the work that is on the stream now."""
        handle = handle_of(stream)
        if self._native is not None:
            self._native.record(handle)
        self._seconds = time.perf_counter()

    def query(self) -> bool:
        """Returns whether the work before the event has ended."""
        return self._native is None or self._native.query()

    def wait(self, stream: Any = 0) -> None:
        """Makes later work on the stream wait for the event."""
        handle = handle_of(stream)
        if self._native is not None:
            self._native.wait(handle)

    def synchronize(self) -> None:
        """Waits until the work before the event has ended."""
        if self._native is not None:
            self._native.synchronize()

    def elapsed_time(self, end: Event) -> float:
        """Returns the milliseconds from this event to ``end``; both must have happened."""
        if not isinstance(end, Event):
            raise TypeError(f"the time can be measured to another event, not to {end!r}")
        if not (self._timing and end._timing):
            raise ValueError("an event of event(timing=False) measures no time")
        if self._seconds is None or end._seconds is None:
            raise ValueError("an event that was not recorded has no time")
        if self._native is not None and end._native is not None:
            return self._native.milliseconds_until(end._native)
        return 1000 * (end._seconds - self._seconds)


def event(timing: bool = True) -> Event:
    """Returns a new event. Without ``timing`` it cannot measure time."""
    return Event(timing)


def event_elapsed_time(begin: Event, end: Event) -> float:
    """Returns the milliseconds between two events that have happened."""
    if not isinstance(begin, Event):
        raise TypeError(f"the time can be measured from an event, not from {begin!r}")
    return begin.elapsed_time(end)


def synchronize() -> None:
    """Waits for all work of this process on its GPUs. Raises BackendError if a kernel failed."""
    if on_gpu():
        _native.synchronize()
