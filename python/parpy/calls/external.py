"""Functions of C++ or CUDA C++ that compiled code calls."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import update_wrapper
from typing import Any, Generic, ParamSpec, Protocol, TypeVar

from ..types import BufferType, elem_size
from ..vocabulary.sizes import Size
from .options import CompileBackend, LoopPar, Target
from .tracebacks import hides_frames

# The name and the header are copied to the generated text without changes.
_NAME = re.compile(r"(?:::)?[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*(?:<[\w:<>, *&]*>)?", re.ASCII)
_HEADER = re.compile(r'[^\s<>"\\]([^<>"\\\x00-\x1f]*)|<[^<>"\\\x00-\x1f]+>|"[^<>"\\\x00-\x1f]+"')

_PYTHON = {int: "i64", float: "f64", bool: "bool", complex: "c128"}

_P = ParamSpec("_P")
_R = TypeVar("_R", covariant=True)
_T = TypeVar("_T")


class External(Generic[_P, _R]):
    """A Python function in whose place compiled code calls an external function; see `external`.

    `types` and `result` are names of types in IR text, with a star for arrays.
    """

    __name__: str
    __wrapped__: Callable[_P, _R]

    def __init__(
        self,
        function: Callable[_P, _R],
        ext_name: str,
        backend: CompileBackend,
        target: Target,
        header: str | None,
        parallelize: LoopPar | None,
    ) -> None:
        self.__wrapped__ = function
        update_wrapper(self, function)
        self.ext_name: str = ext_name
        self.backend: CompileBackend = backend
        self.target: Target = target
        self.header: str | None = header
        self.parallelize: LoopPar | None = parallelize
        signature = inspect.signature(function, eval_str=True)
        self.parameters: tuple[str, ...] = tuple(signature.parameters)
        self.types: tuple[str, ...] = tuple(
            _type(p.annotation, f"parameter '{p.name}'", self) for p in signature.parameters.values()
        )
        returned = signature.return_annotation
        if returned is None or returned is inspect.Signature.empty:
            self.result: str = "void"
        else:
            self.result = _type(returned, "the result", self)
            if self.result.endswith("*"):
                raise TypeError(f"'{self.__name__}' cannot return an array")

    def __call__(self, *args: _P.args, **keywords: _P.kwargs) -> _R:
        return self.__wrapped__(*args, **keywords)

    def __repr__(self) -> str:
        return f"<parpy.external {self.ext_name}>"

    @property
    def include(self) -> str:
        """The include line that declares the function; empty if the compiler knows the function."""
        if not self.header:
            return ""
        return f"#include {self.header}" if self.header[0] in '<"' else f'#include "{self.header}"'

    @property
    def threads(self) -> int:
        """The number of threads of a block that make each call together; 0 means that a single thread calls."""
        return 0 if self.parallelize is None else self.parallelize._threads

    @property
    def effect(self) -> bool:
        """Whether a call may have effects besides its result."""
        return self.result == "void" or any(kind.endswith("*") for kind in self.types)

    @property
    def place(self) -> str:
        """The name of the back end in IR text. "host" and "cuda host" mean host code only (host_calls.h). Programs of
        the simulator are those of CUDA. Host code of Metal, and any code of Triton, cannot call the function."""
        on_cuda = self.backend in (CompileBackend.Cuda, CompileBackend.Sim)
        if self.target is Target.Host and self.backend is not CompileBackend.Auto:
            if on_cuda:
                return f"{CompileBackend.Cuda.value} host"
            return "host" if self.backend is CompileBackend.Cpu else f"{self.backend._value_} (host code)"
        if on_cuda:
            return str(CompileBackend.Cuda.value)
        return "" if self.backend is CompileBackend.Auto else str(self.backend._value_)

    @property
    def interface(self) -> tuple[Any, ...]:
        """The facts that compiled code depends on: functions with equal interfaces are interchangeable."""
        return self.ext_name, self.types, self.result, self.place, self.include, self.threads


def _type(annotation: Any, what: str, of: External[..., Any]) -> str:
    if isinstance(annotation, BufferType) and isinstance(annotation.elem, Size):
        return f"{annotation.elem.value}*"
    if isinstance(annotation, type) and annotation in _PYTHON:
        return _PYTHON[annotation]
    scalar = elem_size(annotation)
    if scalar is None:
        raise TypeError(
            f"{what} of the external function '{of.__name__}' needs a type of parpy.types as its annotation, "
            f"not {'none' if annotation is inspect.Parameter.empty else repr(annotation)}"
        )
    return scalar.value


class _Declaration(Protocol):
    """The type of ``external(…)``, which decorates a Python function."""

    def __call__(self, function: Callable[_P, _T], /) -> External[_P, _T]: ...


@hides_frames
def external(
    ext_name: str,
    backend: CompileBackend,
    target: Target,
    header: str | None = None,
    parallelize: LoopPar | None = None,
) -> _Declaration:
    """Declares the function ``ext_name`` of C++ or CUDA C++ by a Python function with the same parameters.

    The annotations of the Python function are types of ``parpy.types`` and give the types of the external function.
    Arrays, and rows of arrays such as ``h(x[i])``, are passed as pointers to their first element. ``header`` is a file
    to include, which is searched for in ``opts.includes``; functions that the compiler knows need no header.
    ``backend`` is the back end on which the function exists, and ``target`` says whether it runs on the host or on the
    device. CUDA functions are ``__device__`` functions, or with ``Target.Host`` C++ functions that the host calls
    between kernels. The simulator uses the functions of CUDA.

    With ``parallelize=parpy.threads(n)`` the first ``n`` threads of a block make each call with the same arguments, and
    must agree on the result; on the CPU there is one call. In plain Python the Python function runs.

    Raises ValueError for a name that C++ does not allow.
    """
    if not isinstance(ext_name, str) or not ext_name:
        raise TypeError("external takes the name of the function, a str")
    if not _NAME.fullmatch(ext_name):
        raise ValueError(f"{ext_name!r} is not the name of a C++ function: write for example 'f' or 'std::cbrt'")
    if not isinstance(backend, CompileBackend):
        raise TypeError(f"backend must be a parpy.CompileBackend, not {backend!r}")
    if not isinstance(target, Target):
        raise TypeError(f"target must be a parpy.Target, not {target!r}")
    if header is not None and not isinstance(header, str):
        raise TypeError(f"header must be the name of a file, not {header!r}")
    if header and not _HEADER.fullmatch(header):
        raise ValueError(f"{header!r} is not the name of a header: write for example 'f.h' or '<cmath>'")
    if parallelize is not None and not isinstance(parallelize, LoopPar):
        raise TypeError(f"parallelize must be a parpy.LoopPar, not {parallelize!r}")
    if parallelize is not None and parallelize._threads > (most := min(parallelize._tpb, LoopPar.DEFAULT_TPB)):
        raise ValueError(f"the threads of one block make the call: at most {most}, not {parallelize._threads}")
    if parallelize is not None and target is Target.Host:
        raise ValueError("only a function of the device can run in parallel: target=parpy.Target.Device")

    @hides_frames
    def declare(function: Callable[_P, _T]) -> External[_P, _T]:
        if not callable(function):
            raise TypeError(f"external decorates a function, not {type(function).__name__}")
        return External(function, ext_name, backend, target, header, parallelize)

    return declare
