"""Streams and events. On the simulator every launch has ended when it returns, so they have nothing to wait for."""

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

_LEGACY, _PER_THREAD = 1, 2  # handles that CUDA gives a meaning
_FAILED = 999  # CUDA's number of errors that it has no other one for


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
        self._waiting: list[threading.Thread] = []  # for callbacks that are to come

    def synchronize(self) -> None:
        """Waits for all work on the stream and for its callbacks, and reports what went wrong there."""
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
        """Calls ``callback(stream, status, arg)``, in a thread of its own, when the work that is on the stream now has
        ended. The status is 0, or 999 where the work failed. What it raises is printed."""
        if not callable(callback):
            raise TypeError(f"a callback is a function (stream, status, arg), not {callback!r}")
        self._behind(lambda error: callback(self, 0 if error is None else _FAILED, arg))

    def async_done(self) -> asyncio.futures.Future[Stream]:
        """For ``await stream.async_done()``: a future of the running event loop, which has the stream as its result
        when the work that is on the stream now has ended; what went wrong there is its exception."""
        import asyncio  # here alone: it takes as long to load as half of the package

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
        """Calls it, with what went wrong, when the work that is on the stream now has ended."""
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
        """The handle; 1 and 2 for the legacy and the thread's default stream, on the simulator as well."""
        return self._number

    def __cuda_stream__(self) -> tuple[int, int]:
        """For other libraries: the version of the protocol, and the handle."""
        return 0, self.handle

    def __repr__(self) -> str:
        return f"<{self._kind}{f' {self._number:#x}' if self._number > _PER_THREAD else ''} of parpy.cuda>"


def stream() -> Stream:
    """A new stream. It waits for the default stream, and that one for it."""
    if not on_gpu():
        return Stream()
    made = _native.DeviceStream()
    return Stream(made.handle, made)


def default_stream() -> Stream:
    """The stream of launches and copies that are given none."""
    return Stream(kind="Default CUDA stream")


def legacy_default_stream() -> Stream:
    """The default stream that all threads of the process share and that other streams wait for: CUDA's number 1."""
    return Stream(_LEGACY if on_gpu() else 0, None, "Legacy default CUDA stream", _LEGACY)


def per_thread_default_stream() -> Stream:
    """The default stream of this thread, which others do not wait for: CUDA's number 2."""
    return Stream(_PER_THREAD if on_gpu() else 0, None, "Per-thread default CUDA stream", _PER_THREAD)


def external_stream(ptr: int) -> Stream:
    """Another library's stream, by its handle."""
    if isinstance(ptr, bool) or not isinstance(ptr, int):
        raise TypeError(f"the handle of a stream is an int, not {ptr!r}")
    if not 0 <= ptr < 2**64:
        raise ValueError(f"the handle of a stream is an address, not {ptr}")
    return Stream(ptr, kind="External CUDA stream")


def handle_of(given: Any) -> int:
    """The handle of a stream: ours or another library's; 0 and None are the default stream. TypeError for anything
    else."""
    if given is None or (type(given) is int and given == 0):
        return 0
    protocol = getattr(given, "__cuda_stream__", None)
    if protocol is not None and not isinstance(given, type):
        return int(protocol()[1])
    for name in ("handle", "cuda_stream", "ptr"):
        value = getattr(given, name, None)
        value = getattr(value, "value", value)  # numba-cuda's is of ctypes
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
        """Lets the stream wait for the event."""
        handle = handle_of(stream)
        if self._native is not None:
            self._native.wait(handle)

    def synchronize(self) -> None:
        """Waits for the event."""
        if self._native is not None:
            self._native.synchronize()

    def elapsed_time(self, end: Event) -> float:
        """Returns the milliseconds from this event to ``end``; both must have happened."""
        if not isinstance(end, Event):
            raise TypeError(f"the time between two events is asked for, not that to {end!r}")
        if not (self._timing and end._timing):
            raise ValueError("an event of event(timing=False) measures no time")
        if self._seconds is None or end._seconds is None:
            raise ValueError("an event that was not recorded has no time")
        if self._native is not None and end._native is not None:
            return self._native.milliseconds_until(end._native)
        return 1000 * (end._seconds - self._seconds)


def event(timing: bool = True) -> Event:
    """A new event; without ``timing`` it cannot measure time."""
    return Event(timing)


def event_elapsed_time(begin: Event, end: Event) -> float:
    """Milliseconds between two events that have happened."""
    if not isinstance(begin, Event):
        raise TypeError(f"the time between two events is asked for, not that from {begin!r}")
    return begin.elapsed_time(end)


def synchronize() -> None:
    """Waits for all work of this process on its GPUs, and reports what went wrong there."""
    if on_gpu():
        _native.synchronize()
