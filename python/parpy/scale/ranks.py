"""``opts.comm``: the ranks of an MPI communicator share the iterations of a call, each with blocks of the arrays.

Every rank makes the same call. Messages use a copy of the communicator, so that they cannot match the program's own
messages. A failing rank sends a message to all others, and waiting ranks poll for such messages and have a timeout.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import time
from collections.abc import Sequence
from functools import reduce
from itertools import count
from typing import Any

import numpy as np

from .. import _native
from ..arrays.device_arrays import DeviceArray, described
from ..calls.caller import refuse_call
from ..calls.errors import ParallelError
from ..calls.options import CompileBackend, CompileOptions
from ..calls.tracebacks import hides_frames
from ..vocabulary.sizes import SIZES
from .actions import Actions, combine_of
from .cuts import Cut
from .devices import check, returns_array
from .given import GivenArray, given
from .partitioned import rows
from .plan import Action, Plan
from .plans import backend_of, is_array, part_of, plain, plan_of, refuse

_Array = np.ndarray[Any, Any]
_Given = _Array | GivenArray
_Begun = tuple[list[tuple[int, int, _Array]], list[Any]]
"""The first and the last row to be replaced, with memory for the received rows, and the requests."""
_DATA, _FAILED = 1, 2  # the tags of messages
_SPIN = 200  # the number of polls before a waiting rank sleeps between polls


def _seconds() -> int:
    """The timeout of a waiting rank: PARPY_MPI_TIMEOUT, or else ten minutes."""
    given = os.environ.get("PARPY_MPI_TIMEOUT", "")
    return int(given) if given.isascii() and given.isdecimal() and int(given) > 0 else 600


class _Channel:
    """A communicator that only calls of ParPy use, and the operations of a rank on it."""

    def __init__(self, comm: Any) -> None:
        from mpi4py import MPI

        self._mpi, self.comm = MPI, comm
        self.rank, self.size = comm.Get_rank(), comm.Get_size()
        self._private = False  # whether `comm` is the copy yet
        self.in_step = True  # an error that a call raises now is raised on all ranks
        copy, request = comm.Idup()
        _copies.append(copy)  # MPI writes to it, also after a failure
        self.wait([request])
        _copies.remove(copy)
        self.comm, self._private = copy, True

    def wait(self, requests: Sequence[Any]) -> None:
        """Waits until these requests have ended. Raises ParallelError if a rank failed, or after the timeout."""
        try:
            self._wait(list(requests))
        except BaseException:
            self.in_step = False
            _abandoned[:] = [request for request in _abandoned if not request.Test()]
            _abandoned.extend(requests)
            raise

    def _wait(self, requests: list[Any]) -> None:
        end, looks = time.monotonic() + _seconds(), 0
        while not self._mpi.Request.Testall(requests):
            looks += 1
            if looks % 16 == 0 and self._private:
                self._look_for_failures()
            if looks < _SPIN:
                os.sched_yield()
                continue
            if time.monotonic() > end:
                atexit.register(self._mpi.COMM_WORLD.Abort, 1)  # MPI would wait for the requests at the program's end
                raise ParallelError(
                    f"rank {self.rank} of {self.size} waited {_seconds()} s for other ranks: all ranks must make the "
                    "call (PARPY_MPI_TIMEOUT sets the seconds)"
                )
            time.sleep(2e-5)

    def _look_for_failures(self) -> None:
        status = self._mpi.Status()
        if not self.comm.Iprobe(self._mpi.ANY_SOURCE, _FAILED, status):
            return
        text = self.comm.recv(source=status.Get_source(), tag=_FAILED)
        raise ParallelError(f"rank {status.Get_source()} failed in a call that all ranks share: {text}")

    def fail(self, text: str) -> None:
        """Tells all other ranks that this rank has failed."""
        others = [rank for rank in range(self.size) if rank != self.rank]
        sent = [self.comm.isend(text, rank, _FAILED) for rank in others]
        end = time.monotonic() + 5
        while not self._mpi.Request.Testall(sent):
            if time.monotonic() > end:
                _abandoned.extend(sent)
                break
            time.sleep(1e-3)

    # ------------------------------------------------------------ messages

    def send(self, array: _Array, to: int) -> Any:
        return self.comm.Isend([_bytes(array), self._mpi.BYTE], to, _DATA)

    def receive(self, array: _Array, source: int) -> Any:
        return self.comm.Irecv([_bytes(array), self._mpi.BYTE], source, _DATA)

    def from_all(self, array: _Array) -> _Array:
        """The arrays of all ranks, which have one shape and type, in the order of the ranks."""
        mine = np.ascontiguousarray(array)
        found = np.empty((self.size, *mine.shape), mine.dtype)
        self.wait([self.comm.Iallgather([_bytes(mine), self._mpi.BYTE], [_bytes(found), self._mpi.BYTE])])
        return found

    def from_last(self, array: _Array) -> _Array:
        """The array of the last rank."""
        found = np.array(array, order="C")
        self.wait([self.comm.Ibcast([_bytes(found), self._mpi.BYTE], self.size - 1)])
        return found

    def texts(self, mine: str) -> list[str]:
        """The texts of all ranks."""
        given = np.frombuffer(mine.encode(), np.uint8)
        sizes = self.from_all(np.array([given.size]))[:, 0]
        padded = np.zeros(int(sizes.max()), np.uint8)
        padded[: given.size] = given
        found = self.from_all(padded)
        return [bytes(each[:size]).decode() for each, size in zip(found, sizes, strict=True)]


def _bytes(array: _Array) -> _Array:
    """The bytes of a contiguous array in C order."""
    return array.reshape(-1).view(np.uint8)


_abandoned: list[Any] = []  # requests of failed calls: MPI may still use the buffers that they hold
_copies: list[Any] = []  # communicators that are being copied
_channels: dict[int, _Channel] = {}  # by a number that no other channel ever has
_numbers = count()
_keyval: list[int] = []


def _channel_of(comm: Any) -> _Channel:
    """The channel of a communicator, which is kept until the program frees the communicator."""
    from mpi4py import MPI

    if not _keyval:

        def forget(_comm: Any, _keyval: int, number: Any) -> None:
            channel = _channels.pop(number, None)
            if channel is not None and channel.in_step and not MPI.Is_finalized():
                channel.comm.Free()

        _keyval.append(MPI.Comm.Create_keyval(delete_fn=forget))
    number = comm.Get_attr(_keyval[0])
    if number is None or number not in _channels:
        channel, number = _Channel(comm), next(_numbers)
        comm.Set_attr(_keyval[0], number)  # forgets the channel before
        _channels[number] = channel
    return _channels[number]


def _forget(channel: _Channel) -> None:
    """The next call on the channel's communicator makes another channel."""
    for number, one in list(_channels.items()):
        if one is channel:
            del _channels[number]


class _Exchanges(Actions):
    """The hook of ``run_part`` for one rank, which carries out the exchanges.

    On a GPU, during the program, arrays are on the GPU; messages take their rows through the host.
    """

    def __init__(self, plan: Plan, channel: _Channel, arrays: dict[str, _Given], opts: CompileOptions) -> None:
        super().__init__(plan, {})
        self._channel, self._given = channel, arrays
        self._on_gpu, self._stream = backend_of(opts) is CompileBackend.Cuda, opts.stream or 0
        self._begun: dict[str, _Begun] = {}  # by the name of the array

    def _array(self, action: Action, address: int) -> Any:
        value = self._given.get(action.name)
        if not self._on_gpu:
            return super()._array(action, address) if value is None else value
        shape, scalar = self._plan.shapes[action.name]
        strides = None if value is None else value.strides
        return GivenArray(described(address, shape, SIZES[scalar].dtype if value is None else value.dtype, strides))

    def move(self, action: Action, array: _Given) -> None:
        """Receives rows from the ranks that own them, and sends rows; all messages overlap."""
        assert action.cut is not None
        places, requests = self._begun.pop(action.name) if action.kind == "await" else self._begin(action, array)
        if action.kind == "post":
            self._begun[action.name] = places, requests
            return
        self._channel.wait(requests)
        for first, last, found in places:
            if isinstance(array, GivenArray):
                array.set_rows(action.cut.axis, first, last, found, self._stream)
            else:
                rows(array, action.cut.axis, first, last)[...] = found

    def _begin(self, action: Action, array: _Given) -> _Begun:
        """Begins all messages."""
        assert action.cut is not None
        view = array.view if isinstance(array, GivenArray) else array
        channel, axis = self._channel, action.cut.axis
        places, requests = [], []
        for source, first, last in action.transfers(channel.rank):
            found = np.empty(rows(view, axis, first, last).shape, view.dtype)
            places.append((first, last, found))
            requests.append(channel.receive(found, source))
        for other in range(channel.size):
            for source, first, last in action.transfers(other) if other != channel.rank else ():
                if source != channel.rank:
                    continue
                if isinstance(array, GivenArray):
                    mine = array.rows(axis, first, last, self._stream)
                else:
                    mine = np.array(rows(array, axis, first, last), order="C")
                requests.append(channel.send(mine, other))
        return places, requests

    # ------------------------------------------------------------ reductions

    def reduce(self, action: Action, array: _Given) -> None:
        if isinstance(array, GivenArray):
            found = self._reduced(action, array.rows(0, 0, array.shape[0], self._stream))
            array.set_rows(0, 0, array.shape[0], found, self._stream)
        else:
            array[...] = self._reduced(action, array)

    def number(self, action: Action, value: Any) -> Any:
        element = np.asarray(value, np.int64 if isinstance(value, int) else np.float64)
        return self._reduced(action, element)[()].item()

    def _reduced(self, action: Action, array: _Array) -> _Array:
        """The value with which the rank continues, before or after the loop."""
        channel = self._channel
        if action.ordered:
            return self._in_order(action, array)
        if action.kind == "start":
            begins = channel.rank == 0 or action.identity is None
            return array if begins else np.full_like(array, action.identity)
        result: _Array = np.asarray(reduce(combine_of(action), channel.from_all(array)))
        return result

    def _in_order(self, action: Action, array: _Array) -> _Array:
        """The value for an ordered reduction: before the loop the previous rank's, after it the last rank's."""
        channel = self._channel
        if action.kind == "combine":
            return channel.from_last(array)
        if action.kind == "start" and channel.rank > 0:
            found = np.empty(array.shape, array.dtype)
            channel.wait([channel.receive(found, channel.rank - 1)])
            return found
        if action.kind == "pass" and channel.rank < channel.size - 1:
            channel.wait([channel.send(np.array(array, order="C"), channel.rank + 1)])
        return array


def _described(function: _native.JitFunction, values: tuple[Any, ...], opts: CompileOptions) -> str:
    """A text that must be equal on all ranks before the call runs, with a line for each argument."""
    source = function.__parpy_source__
    lines = [f"the function {function.__qualname__}, text {hashlib.sha256(source.text.encode()).hexdigest()[:16]}"]
    for number, value in enumerate(values):
        if is_array(value):
            lines.append(f"argument {number + 1}: an array of shape {value.shape}, {value.dtype}")
        else:
            lines.append(f"argument {number + 1}: {type(value).__name__} {value!r}")
    options = {name: value for name, value in opts._values.items() if name not in ("comm", "parallelize", "stream")}
    return "\n".join([*lines, f"the options {options!r}"])


def _check_equal(channel: _Channel, texts: list[str], name: str) -> None:
    for rank, text in enumerate(texts):
        if text == texts[0]:
            continue
        mine, first = text.split("\n"), texts[0].split("\n")
        pairs = [(a, b) for a, b in zip(mine, first, strict=False) if a != b]
        one, other = pairs[0] if pairs else (f"{len(mine) - 2} arguments", f"{len(first) - 2} arguments")
        refuse_call(
            "P401",
            f"the ranks call '{name}' differently: rank {rank} with {one}, rank 0 with {other}",
            "all ranks of opts.comm make the same call",
        )


def _check_whole(channel: _Channel, plan: Plan, arrays: dict[str, _Given], name: str) -> None:
    """Raises ParallelError if an array that is everywhere has different elements on some ranks."""
    for array in sorted(plan.everywhere & arrays.keys()):
        value = arrays[array]
        whole = value.rows(0, 0, value.shape[0]) if isinstance(value, GivenArray) else np.ascontiguousarray(value)
        digest = hashlib.blake2b(whole.tobytes(), digest_size=16).digest()
        found = channel.from_all(np.frombuffer(digest, np.uint8))
        for rank in range(channel.size):
            if not np.array_equal(found[rank], found[0]):
                refuse_call(
                    "P401",
                    f"the ranks call '{name}' differently: rank {rank} has other elements of '{array}' than rank 0",
                    "each rank needs all elements of this array",
                )


def _exchange_at_first(hook: _Exchanges, plan: Plan, arrays: dict[str, _Given]) -> None:
    """Replaces the rows of halos by the rows of the ranks that own them."""
    for name, cut in plan.cut.items():
        if name in arrays and (cut.low or cut.high):
            hook.move(Action("halo", name, cut, cut.low, cut.high, cut.periodic), arrays[name])


def _gather_at_last(hook: _Exchanges, plan: Plan, arrays: dict[str, _Given]) -> None:
    for name in sorted(plan.written & arrays.keys()):
        cut: Cut | None = plan.cut.get(name)
        if cut is not None:
            hook.move(Action("gather", name, cut), arrays[name])


@hides_frames
def call(function: _native.JitFunction, values: tuple[Any, ...], opts: CompileOptions) -> Any:
    """Makes a call with ``opts.comm``, which all its ranks must make."""
    if backend_of(opts) not in (CompileBackend.Cpu, CompileBackend.Cuda):
        refuse_call("P560", f"ranks do not share a call on {backend_of(opts).name}", "use CUDA, or the CPU")
    values = tuple(map(given, values))
    channel = _channel_of(opts.comm)
    try:
        return _call_on(channel, function, values, opts)
    except BaseException as failure:
        if not channel.in_step or not isinstance(failure, Exception):
            channel.fail(f"{type(failure).__name__}: {failure}")
            _forget(channel)  # messages of the call may still be in flight
        raise


def _call_on(channel: _Channel, function: _native.JitFunction, values: tuple[Any, ...], opts: CompileOptions) -> Any:
    _check_equal(channel, channel.texts(_described(function, values, opts)), function.__name__)
    plan = plan_of(function, values, opts, channel.size)
    check(function, values, plan)
    arrays = {name: values[number] for name, number in plan.arguments.items()}
    _check_whole(channel, plan, arrays, function.__name__)
    if backend_of(opts) is CompileBackend.Cpu and any(isinstance(value, GivenArray) for value in values):
        refuse(function, "an argument is in the memory of a GPU", "use backend=parpy.CompileBackend.Cuda")
    hook = _Exchanges(plan, channel, arrays, opts)
    channel.in_step = False
    _exchange_at_first(hook, plan, arrays)
    program = part_of(function, plan, channel.rank, values)
    passed = [DeviceArray(value.view, True) if isinstance(value, GivenArray) else value for value in values]
    result = _native.run_part(lambda: program(*passed, opts=plain(opts)), hook)
    if returns_array(result):
        raise ParallelError(f"'{function.__name__}' cannot be shared by several ranks: it returns an array")
    _gather_at_last(hook, plan, arrays)
    channel.in_step = True
    return result
