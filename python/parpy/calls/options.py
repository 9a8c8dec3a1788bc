"""The options of a compilation: LoopPar, the enumerations, CompileOptions.

Options are validated here, on assignment. bindings/module/bind_options.cpp converts an object for the core once, and
again only after an assignment (``_OptionsBase._invalidate``).
"""

from __future__ import annotations

import enum
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, ClassVar, Final, Literal, NoReturn, SupportsIndex, TypedDict, Unpack

import numpy as np

from .. import _native
from ..syntax.text import is_text
from ..vocabulary.sizes import ElemSize
from .caller import refuse_call
from .tracebacks import hides_frames


class CompileBackend(enum.Enum):
    """The machine that compiled code runs on.

    ``Auto`` means CUDA if a driver and a device are present, and otherwise the CPU. ``Sim`` runs the CUDA text of a
    program on the CPU. Programs may compare with ``Triton``, but nothing can be compiled for it.
    """

    Auto = "auto"
    Cuda = "cuda"
    Metal = "metal"
    Cpu = "cpu"
    Sim = "sim"
    Triton = "triton"

    @property
    def value(self) -> str:
        """The name that the compiler uses. Raises BackendError for ``Triton``, which has no compiler here."""
        if self is CompileBackend.Triton:
            refuse_call(
                "P560",
                "the back end 'Triton' is not part of ParPy: GPUs are programmed in CUDA C++",
                "use CompileBackend.Cuda, or leave out 'backend'",
            )
        return str(self._value_)

    def __call__(self) -> CompileBackend:
        """Returns the back end itself, so that ``b.backend()`` of a buffer equals ``b.backend``."""
        return self


class Target(enum.Enum):
    """The place where an external function runs: the host or the device."""

    Host = "host"
    Device = "device"


class LoopPar:
    """The way in which one labelled loop runs. Objects are immutable: each method returns a changed copy."""

    __slots__ = ("_reduce", "_threads", "_tpb")
    DEFAULT_TPB: ClassVar[int] = 1024
    _threads: int
    _reduce: bool
    _tpb: int

    def __init__(self) -> None:
        self._set(0, False, self.DEFAULT_TPB)

    def _set(self, threads: int, reduce: bool, tpb: int) -> LoopPar:
        object.__setattr__(self, "_threads", threads)
        object.__setattr__(self, "_reduce", reduce)
        object.__setattr__(self, "_tpb", tpb)
        return self

    @hides_frames
    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a LoopPar is immutable; threads(), reduce() and tpb() return changed copies")

    def threads(self, nthreads: SupportsIndex) -> LoopPar:
        """Returns a copy that requests ``nthreads`` threads for the loop. Raises TypeError if that is not an integer,
        and ValueError if it is not positive.
        """
        count = _count(nthreads, "the number of threads")
        return LoopPar()._set(count, self._reduce, self._tpb)

    def reduce(self) -> LoopPar:
        """Returns a copy that declares the loop to be a reduction."""
        return LoopPar()._set(self._threads, True, self._tpb)

    par_reduction = reduce

    def tpb(self, tpb: SupportsIndex) -> LoopPar:
        """Returns a copy that requests ``tpb`` threads per block. Raises TypeError if that is not an integer, and
        ValueError if it is not positive.
        """
        count = _count(tpb, "the number of threads per block")
        return LoopPar()._set(self._threads, self._reduce, count)

    def is_parallel(self) -> bool:
        """Returns whether threads are requested. A loop that is mapped to ``LoopPar()`` stays sequential."""
        return self._threads > 0

    def _fields(self) -> tuple[int, bool, int]:
        return self._threads, self._reduce, self._tpb

    def __eq__(self, other: object) -> bool:
        return self._fields() == other._fields() if isinstance(other, LoopPar) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._fields())

    def __reduce__(self) -> tuple[Any, ...]:
        return _make_loop_par, self._fields()

    def __repr__(self) -> str:
        text = f"parpy.threads({self._threads})" if self._threads else "parpy.LoopPar()"
        if self._reduce:
            text += ".reduce()"
        if self._tpb != self.DEFAULT_TPB:
            text += f".tpb({self._tpb})"
        return text


def _make_loop_par(threads: int, reduce: bool, tpb: int) -> LoopPar:
    return LoopPar()._set(threads, reduce, tpb)


def _count(value: Any, what: str, least: int = 1) -> int:
    try:
        if isinstance(value, bool):
            raise TypeError
        count = operator.index(value)
    except TypeError:
        raise TypeError(f"{what} must be an int, not {type(value).__name__}") from None
    if not least <= count < 1 << 63:
        allowed = "be positive" if least else "not be negative"
        raise ValueError(f"{what} must {allowed} and fit 64 bits, not {count}")
    return count


@hides_frames
def threads(n: SupportsIndex) -> LoopPar:
    """Returns a LoopPar that requests ``n`` threads. ``n`` is an int, or an object that has an integer value, such as a
    NumPy array of shape ``()``.

    Raises TypeError if ``n`` is not an integer, and ValueError if it is not positive.
    """
    return LoopPar().threads(n)


def par_reduction() -> LoopPar:
    """Returns a LoopPar that declares its loop to be a reduction."""
    return LoopPar().reduce()


def _refuse(self: object, *_: object, **__: object) -> NoReturn:
    kind = "dict" if isinstance(self, dict) else "list"
    raise TypeError(f"options cannot be changed in place: assign a new {kind} instead")


class _FrozenDict(dict[str, LoopPar]):
    """The parallelize field, a dict that cannot be changed in place; assignments replace it."""

    __setitem__ = __delitem__ = clear = pop = popitem = setdefault = update = _refuse

    def __ior__(self, other: Any) -> dict[str, LoopPar]:  # type: ignore[override,misc]
        return {**self, **other}

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


class _FrozenList(list[str]):
    """A list field that cannot be changed in place; ``opts.includes += [...]`` assigns a new list."""

    __setitem__ = __delitem__ = append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __iadd__(self, other: Iterable[str]) -> list[str]:  # type: ignore[override,misc]
        return [*self, *other]

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)


def _as_bool(name: str, value: object) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"option '{name}' must be True or False, not {value!r}")
    return bool(value)


def _as_bool_or_default(name: str, value: object) -> bool | None:
    return None if value is None else _as_bool(name, value)


def _as_positive(name: str, value: object) -> int:
    return _count(value, f"option '{name}'")


def _as_natural(name: str, value: object) -> int:
    return _count(value, f"option '{name}'", 0)


_LARGEST_CLUSTER: Final = 16  # blocks; no GPU has larger clusters


def _as_cluster_size(name: str, value: object) -> int:
    count = _as_positive(name, value)
    if count & (count - 1):
        raise ValueError(f"option '{name}' must be a power of two, not {count}")
    if count > _LARGEST_CLUSTER:
        raise ValueError(f"option '{name}' must be at most {_LARGEST_CLUSTER}, the most that a GPU allows, not {count}")
    return count


def _as_mapping(name: str, value: object) -> dict[str, LoopPar]:
    if not isinstance(value, Mapping):
        refuse_call(
            "P550",
            f"option '{name}' must be a dict from labels to parpy.LoopPar, not {type(value).__name__}",
            "write for example {'i': parpy.threads(128)}",
        )
    for label, loop in value.items():
        if not isinstance(label, str) or not is_text(label):
            refuse_call(
                "P550",
                f"labels must be str, not {label!r}",
                "parpy.label('i') names a loop in the code, {'i': parpy.threads(128)} maps it",
            )
        if not isinstance(loop, LoopPar):
            number = loop if type(loop) is int and loop > 0 else "n"
            refuse_call(
                "P550",
                f"label '{label}' is mapped to {loop!r}, which is not a parpy.LoopPar",
                f"write parpy.threads({number}), or parpy.threads({number}).reduce() for a loop that reduces",
            )
    return _FrozenDict(value)


def _as_strings(name: str, value: object) -> list[str]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise TypeError(f"option '{name}' must be a list of str, not {value!r}")
    items = list(value)
    for item in items:
        if not isinstance(item, str):
            raise TypeError(f"option '{name}' must be a list of str; {item!r} is not a str")
    return _FrozenList(items)


def _as_backend(name: str, value: object) -> CompileBackend:
    if not isinstance(value, CompileBackend):
        raise TypeError(f"option '{name}' must be a parpy.CompileBackend, not {value!r}")
    return value


def _as_elem_size(prefixes: str) -> Callable[[str, object], ElemSize | None]:
    def check(name: str, value: object) -> ElemSize | None:
        if value is not None and not isinstance(value, ElemSize):
            raise TypeError(f"option '{name}' must be a parpy.ElemSize or None, not {value!r}")
        if value is not None and (value is ElemSize.Bool or value.name[0] not in prefixes):
            kind = "floating-point" if prefixes == "F" else "integer"
            raise ValueError(f"option '{name}' must be one of the {kind} sizes, not ElemSize.{value.name}")
        return value

    return check


def _as_choice(*allowed: str | None) -> Callable[[str, object], str | None]:
    def check(name: str, value: object) -> str | None:
        if value not in allowed:
            raise ValueError(f"option '{name}' must be one of {', '.join(map(repr, allowed))}, not {value!r}")
        return None if value is None else str(value)

    return check


def _as_stream(name: str, value: object) -> Any:
    if value is None or isinstance(value, int) or hasattr(value, "__cuda_stream__"):
        return value
    if any(isinstance(getattr(value, a, None), int) for a in ("cuda_stream", "ptr", "handle")):
        return value
    raise TypeError(
        f"option '{name}' must be a CUDA stream (an int handle, a torch or cupy stream) or None, not {value!r}"
    )


def _as_devices(name: str, value: object) -> tuple[int, ...] | None:
    if value is None:
        return None
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise TypeError(f"option '{name}' must be a tuple of device numbers or None, not {value!r}")
    numbers = tuple(_count(each, "a device number", 0) for each in value)
    if not numbers:
        raise ValueError(f"option '{name}' must name at least one device")
    return numbers


def _as_comm(name: str, value: object) -> Any:
    if value is not None and not (hasattr(value, "Get_rank") and hasattr(value, "Iallgather")):
        raise TypeError(f"option '{name}' must be a communicator of mpi4py or None, not {value!r}")
    return value


_Field = tuple[object, Callable[[str, object], Any]]
_FIELDS: Final[dict[str, _Field]] = {
    "parallelize": ({}, _as_mapping),
    "automatic": (False, _as_bool),
    "restructure": (False, _as_bool),
    "verbose_backend_resolution": (False, _as_bool),
    "debug_print": (False, _as_bool),
    "debug_callbacks": (False, _as_bool),
    "write_output": (False, _as_bool),
    "backend": (CompileBackend.Auto, _as_backend),
    "use_cuda_thread_block_clusters": (False, _as_bool),
    "max_thread_blocks_per_cluster": (8, _as_cluster_size),
    "use_cuda_graphs": (False, _as_bool),
    "force_int_size": (None, _as_elem_size("IU")),
    "force_float_size": (None, _as_elem_size("F")),
    "includes": ([], _as_strings),
    "libs": ([], _as_strings),
    "extra_flags": ([], _as_strings),
    "legality": ("check", _as_choice("check", "strict", "trust")),
    "check": (None, _as_choice(None, "bounds", "races", "all")),
    "deterministic": (False, _as_bool),
    "max_unroll_count": (1, _as_natural),
    "implicit_shape_labels": (None, _as_bool_or_default),
    "stream": (None, _as_stream),
    "fast_math": (False, _as_bool),
    "devices": (None, _as_devices),
    "gather": (False, _as_bool),
    "comm": (None, _as_comm),
}


# Pairs of options that exclude each other: a mapping by hand or by the compiler, exact bits of results or speed.
_RIVALS: Final = (
    ({"automatic", "parallelize"}, "a mapping in 'parallelize' and automatic=True"),
    ({"deterministic", "fast_math"}, "deterministic=True and fast_math=True"),
)


class OptionsBeside(TypedDict, total=False):
    """The fields of CompileOptions as keywords, without ``parallelize`` and ``automatic``."""

    restructure: bool
    verbose_backend_resolution: bool
    debug_print: bool
    debug_callbacks: bool
    write_output: bool
    backend: CompileBackend
    use_cuda_thread_block_clusters: bool
    max_thread_blocks_per_cluster: int
    use_cuda_graphs: bool
    force_int_size: ElemSize | None
    force_float_size: ElemSize | None
    includes: Iterable[str]
    libs: Iterable[str]
    extra_flags: Iterable[str]
    legality: Literal["check", "strict", "trust"]
    check: Literal["bounds", "races", "all"] | None
    deterministic: bool
    max_unroll_count: int
    implicit_shape_labels: bool | None
    stream: Any
    fast_math: bool
    devices: Iterable[int] | None
    gather: bool
    comm: Any


class OptionsOfPar(OptionsBeside, total=False):
    """The fields of CompileOptions as keywords, without ``parallelize``."""

    automatic: bool


class OptionFields(OptionsOfPar, total=False):
    """The fields of CompileOptions, as keywords."""

    parallelize: Mapping[str, LoopPar]


class CompileOptions(_native.OptionsBase):
    """Options of a compilation. Fields are keyword arguments and attributes; each assignment is validated.

    The mapping:

    - `parallelize={}`: a dict from the label of a loop, a str, to its LoopPar.
    - `automatic=False`: the compiler chooses the mapping.
    - `restructure=False`: loops of a mapping by hand are split, fused and exchanged as in the automatic mode.
    - `implicit_shape_labels`: symbols of annotations label the loops over them; True unless the mapping is automatic.
    - `legality='check'`: mapped loops that are refuted are refused, and loops that are neither proved nor refuted run
      with a warning; `'strict'` refuses these as well, and `'trust'` refuses none.

    The machine:

    - `backend=CompileBackend.Auto`: the back end that runs the call.
    - `devices=None`: a tuple of numbers of devices that share the call; on the CPU these are virtual.
    - `comm=None`: a communicator of mpi4py whose ranks share the call.
    - `gather=False`: with `devices` or `comm`, arrays that a nest needs as a whole are gathered before it.
    - `stream=None`: the CUDA stream of the call, an int or a stream of PyTorch or CuPy; None means the current one.
    - `use_cuda_graphs=False`: the launches of the first call are captured, and later calls replay them.
    - `use_cuda_thread_block_clusters=False`: the blocks of one reduction combine in a cluster of at most
      `max_thread_blocks_per_cluster=8` blocks, a power of two up to 16.

    Numbers and code:

    - `check=None`: `'bounds'`, `'races'` or `'all'` checks subscripts, races or both while the program runs.
    - `deterministic=False`: all bits of results depend on the arguments alone.
    - `fast_math=False`: floating-point operations may be reassociated and approximated.
    - `force_int_size=None`, `force_float_size=None`: the ElemSize of integers and of floats that no array determines.
    - `max_unroll_count=1`: loops of at most this number of iterations are unrolled.
    - `includes=[]`, `libs=[]`, `extra_flags=[]`: headers, libraries and compiler flags for the generated text.

    Messages: `debug_print=False` prints the program after every stage that changed it, `debug_callbacks=False` each
    call of a callback, and `verbose_backend_resolution=False` why a back end cannot be used. `write_output=False` keeps
    generated text that does not compile in a file. An assignment raises AttributeError for unknown names, and TypeError
    or ValueError for values that a field does not accept.
    """

    __slots__ = ("_values",)
    _values: dict[str, Any]

    parallelize: Mapping[str, LoopPar]
    automatic: bool
    restructure: bool
    verbose_backend_resolution: bool
    debug_print: bool
    debug_callbacks: bool
    write_output: bool
    backend: CompileBackend
    use_cuda_thread_block_clusters: bool
    max_thread_blocks_per_cluster: int
    use_cuda_graphs: bool
    force_int_size: ElemSize | None
    force_float_size: ElemSize | None
    includes: list[str]
    libs: list[str]
    extra_flags: list[str]
    legality: Literal["check", "strict", "trust"]
    check: Literal["bounds", "races", "all"] | None
    deterministic: bool
    max_unroll_count: int
    implicit_shape_labels: bool
    stream: Any
    fast_math: bool
    devices: tuple[int, ...] | None
    gather: bool
    comm: Any

    @hides_frames
    def __init__(self, **fields: Unpack[OptionFields]) -> None:
        object.__setattr__(self, "_values", {name: check(name, each) for name, (each, check) in _FIELDS.items()})
        for name, value in fields.items():
            _assign(self, name, value)

    def __getattr__(self, name: str) -> Any:
        if name not in _FIELDS:
            raise AttributeError(_no_field(name))
        value = self._values[name]
        if value is None and name == "implicit_shape_labels":
            return not self._values["automatic"]  # labels serve mappings by hand
        return value

    @hides_frames
    def __setattr__(self, name: str, value: object) -> None:
        _assign(self, name, value)

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("options cannot be deleted; assign the default instead")

    def __dir__(self) -> Iterator[str]:
        return iter(_FIELDS)

    def __eq__(self, other: object) -> bool:
        return self._values == other._values if isinstance(other, CompileOptions) else NotImplemented

    __hash__: ClassVar[None] = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(CompileOptions, **self._values), ()

    def __repr__(self) -> str:
        changed = (f"{n}={v!r}" for n, v in self._values.items() if v != _FIELDS[n][0])
        return f"CompileOptions({', '.join(changed)})"


def _assign(options: CompileOptions, name: str, value: object) -> None:
    if name not in _FIELDS:
        raise AttributeError(_no_field(name))
    value = _FIELDS[name][1](name, value)
    for rivals, both in _RIVALS:
        if value and name in rivals and any(options._values[rival] for rival in rivals - {name}):
            raise ValueError(f"options are contradictory: {both}")
    options._values[name] = value
    options._invalidate()


def _no_field(name: str) -> str:
    import difflib

    close = difflib.get_close_matches(name, _FIELDS, 1)
    return f"CompileOptions has no option '{name}'" + (f"; did you mean '{close[0]}'?" if close else "")


@hides_frames
def par(p: Mapping[str, LoopPar], **fields: Unpack[OptionsOfPar]) -> CompileOptions:
    """Returns the default options with a mapping: ``p`` is a dict from the label of a loop to its LoopPar.

    ``fields`` are further fields of CompileOptions, such as ``backend``. Raises CompileError, which is also a
    TypeError, if ``p`` is not such a dict.
    """
    return CompileOptions(parallelize=p, **fields)


def seq() -> CompileOptions:
    """Returns the default options without a mapping: all loops of compiled code run sequentially."""
    return CompileOptions()


@hides_frames
def auto(**fields: Unpack[OptionsBeside]) -> CompileOptions:
    """Returns options under which the compiler chooses the mapping, as in a call without ``opts``.

    The compiler runs a loop in parallel if it has proved that the iterations are independent or form a reduction, and
    if that pays. ``fields`` are the fields of CompileOptions except ``parallelize``, for example ``backend``.
    """
    return CompileOptions(automatic=True, **fields)
