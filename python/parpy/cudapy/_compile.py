"""``compile`` makes a launcher of typed Python functions; ``Template`` is a function whose names can be replaced."""

from __future__ import annotations

import ast
import inspect
import math
import re
import textwrap
from collections.abc import Callable
from math import prod
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from .. import cuda
from ..arrays.device_arrays import is_int
from ..calls.pickling import ByReference, give_reference
from ..calls.tracebacks import hides_frames
from ..cuda._kernel import Kernel
from ..cuda._options import KernelOptions
from ..frontend.parse import parse
from ..syntax.names import source_of
from ..syntax.source import FunctionSource
from ._arrays import CudaArray, elements
from ._errors import CudaPyError, TemplateError
from ._frontend import TypedProgram
from ._types import Bool, CType, Int, Pointer, Signature, Type, Void, as_signature, parse_signature


class dim3(NamedTuple):
    """The numbers of threads of a launch along x, y and z, which are 1 by default."""

    x: int
    y: int = 1
    z: int = 1


class Template:
    """A function in which ``substitute`` replaces names by other functions or by text. The comment above the function
    has its signature. Raises TemplateError for objects other than Python functions."""

    def __init__(self, function: Any) -> None:
        self.source: FunctionSource
        self.signature: Signature | None
        if isinstance(function, Template):
            self.source, self.signature = function.source, function.signature
            return
        if not isinstance(function, FunctionType):
            raise TemplateError(f"{function!r} is not a function")
        self.source = source_of(function)
        self.signature = _commented(function, self.source.text)

    @property
    def name(self) -> str:
        """The name of the function."""
        return str(self.source.function.__name__)

    def substitute(self, *pairs: tuple[Any, str] | list[tuple[Any, str]]) -> Template:
        """Returns a template in which each pair ``(new, 'old')`` has replaced the word ``old`` in the text of the
        function. ``new`` is a function or template that is compiled together with this one, a name, or a number. Raises
        TemplateError for other pairs, for names that the function does not use, and for results that do not parse."""
        text = self.source.text
        for new, old in _substitutions(pairs):
            if old == self.name:
                raise TemplateError(f"'{old}' is the template itself; substitute names that it uses")
            text, count = re.subn(rf"\b{re.escape(old)}\b", new.replace("\\", r"\\"), text)
            if not count:
                raise TemplateError(f"'{self.name}' has no name '{old}'")
            try:
                ast.parse(textwrap.dedent(text))
            except SyntaxError:
                raise TemplateError(f"'{self.name}' is not valid Python after '{old}' is replaced by '{new}'") from None
        made = Template(self)
        source = self.source
        made.source = FunctionSource(source.function, source.name, text, source.first_line)
        return made


def _substitutions(pairs: tuple[Any, ...]) -> list[tuple[str, str]]:
    """The replacement texts, each with the name that it replaces."""
    found = []
    for pair in (pair for each in pairs for pair in (each if isinstance(each, list) else [each])):
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TemplateError(f"a substitution is a pair (new, 'old'), not {pair!r}")
        new, old = pair
        if not isinstance(old, str) or not old.isidentifier():
            raise TemplateError(f"write a replacement as (new, 'old') with a name as 'old', not {old!r}")
        if isinstance(new, FunctionType) and new.__name__.isidentifier():
            found.append((new.__name__, old))
        elif isinstance(new, Template):
            found.append((new.name, old))
        elif isinstance(new, str | int | float):
            found.append((str(new), old))
        else:
            raise TemplateError(
                f"'{old}' is replaced by a function that is compiled with it, a name or a number, not {new!r}"
            )
    return found


@hides_frames
def template(*pairs: Any) -> Callable[[Any], Template]:
    """Returns a decorator that makes a ``Template`` of a function and applies the substitutions ``pairs``; see
    ``Template.substitute``."""
    _substitutions(pairs)
    return lambda function: Template(function).substitute(*pairs)


class Launcher(ByReference):
    """A compiled kernel. ``call(x, y, z)(*arguments)`` runs it on x * y * z threads and waits for it.

    ``x`` may be a ``dim3`` or a tuple; 0 threads run nothing. ParPy chooses the blocks. The last blocks may have more
    threads than given, so that kernels must compare ``idx`` with ``len(X)``. The argument of a pointer parameter is a
    ``CudaArray`` of the element type, a NumPy array, which is copied back, or a list, which is not. Raises CudaPyError
    for wrong numbers of threads or arguments, and for arguments of other types or outside of the range of their type.
    """

    def __init__(self, name: str, sources: dict[str, FunctionSource], signatures: dict[str, Signature]) -> None:
        """Parses the kernel of this name. Raises CompileError if it has a mistake."""
        if len(sources) > 1:
            parse(sources[name], TypedProgram(sources, signatures, whole=True))
        self._kernel = _TypedKernel(sources[name], lambda: TypedProgram(sources, signatures))
        self._kernel.options(0)  # parses the kernel: mistakes are reported here, not at the first launch
        function = sources[name].function
        self._names = function.__code__.co_varnames[: function.__code__.co_argcount]
        self.signature = signatures[name]
        give_reference(self, function, Launcher.__init__, name, sources, signatures)

    def __call__(self, x: Any, y: int = 1, z: int = 1) -> Callable[..., None]:
        sizes = tuple(x) if isinstance(x, tuple) else (x, y, z)
        if not 1 <= len(sizes) <= 3 or not all(is_int(n) and n >= 0 for n in sizes):
            shown = ", ".join(map(repr, sizes))
            raise CudaPyError(f"'{self.signature.name}' runs on a number of threads in x, y and z, not on ({shown})")
        tasks = (*(int(n) for n in sizes), 1, 1)[:3]
        few = prod(1 << max(n - 1, 0).bit_length() for n in tasks)
        launch = self._kernel.forall(tasks, few if few < 32 else 0)  # the block size, for less than a warp

        def call(*arguments: Any) -> None:
            launch(*self._convert(arguments))
            cuda.synchronize()

        return call

    def _convert(self, arguments: tuple[Any, ...]) -> list[Any]:
        name = self.signature.name
        wanted = self.signature.parameters
        if len(arguments) != len(wanted):
            raise CudaPyError(f"'{name}' takes {len(wanted)} arguments, not {len(arguments)}")
        return [
            _argument(each, kind, f"argument '{parameter}' of '{name}'")
            for each, kind, parameter in zip(arguments, wanted, self._names, strict=True)
        ]

    def source(self) -> str:
        """Returns the CUDA C++ of the kernel and the C++ of its launch as a str."""
        samples = [
            np.zeros(1, kind.element.dtype) if isinstance(kind, Pointer) else kind.dtype.type(0)
            for kind in self.signature.parameters
        ]
        return str(self._kernel.inspect_source(*samples))


class _TypedKernel(Kernel):
    """A kernel whose source has CudaPy's types."""

    def __init__(self, source: FunctionSource, make: Callable[[], TypedProgram]) -> None:
        self.program = make  # type: ignore[method-assign]
        super().__init__(source, (), KernelOptions())


@hides_frames
def compile(funs: Any, sig: Any = None, debug: bool = False, *, sigs: Any = None) -> Launcher:
    """Compiles a kernel and the functions that it calls, and returns a ``Launcher`` of the kernel.

    ``funs`` is a function, or a list of the kernel and its functions in any order; the kernel is the first function
    that returns void. The signature of a function is in the comment above it, ``# name : void (float a, float* X)``,
    or in ``sig``: a text or a list of types (the result first) for one function, and a list of such signatures for
    several functions. ``sigs`` is another name of ``sig``. The types are ``void bool int float double`` and pointers
    to them; there are no conversions without a cast. ``debug=True`` prints the CUDA C++.

    Raises CudaPyError for functions without a signature or with another number of parameters, CudaTypeError for
    signatures that cannot be read, and CompileError for functions that do not fit their types.
    """
    several = isinstance(funs, list | tuple)
    functions = [each if isinstance(each, Template) else Template(each) for each in (funs if several else [funs])]
    given = sig if sig is not None else sigs
    if given is None:
        texts: list[Any] = [None] * len(functions)
    elif several and not isinstance(given, list | tuple):
        raise CudaPyError(f"the signatures of several functions are a list of them, not {given!r}")
    else:
        texts = list(given) if several else [given]
    if len(texts) != len(functions):
        raise CudaPyError(f"there are {len(functions)} functions, but {len(texts)} signatures")
    signatures = {}
    for function, text in zip(functions, texts, strict=True):
        signature = function.signature if text is None else as_signature(text, function.name)
        if signature is None:
            raise CudaPyError(
                f"the function '{function.name}' has no signature; write '# {function.name} : void (…)' above it"
            )
        count = function.source.function.__code__.co_argcount
        if len(signature.parameters) != count:
            raise CudaPyError(
                f"'{function.name}' has {count} parameters, but its signature has {len(signature.parameters)}"
            )
        signatures[function.name] = signature
    if not functions:
        raise CudaPyError("there is no function to compile")
    kernel = next((each for each in functions if signatures[each.name].result is Void), None)
    if kernel is None:
        raise CudaPyError("none of the functions returns void, so none is a kernel")
    sources = {each.name: each.source for each in functions}
    launcher = Launcher(kernel.name, sources, signatures)
    if debug:
        print(launcher.source())
    return launcher


@hides_frames
def kernel(sig: Any = None, debug: bool = False) -> Any:
    """Returns a decorator that replaces a function by its ``Launcher``; ``compile`` describes ``sig`` and ``debug``.
    Used without parentheses, it reads the signature from the comment."""
    if isinstance(sig, FunctionType):
        return compile(sig)
    return lambda function: compile(function, sig, debug)


def _commented(function: FunctionType, text: str) -> Signature | None:
    """The signature in the comments directly above a function, or between it and its decorators."""
    lines = text.split("\n")
    head = next((n for n, line in enumerate(lines) if re.match(r"\s*def\b", line)), 0)
    for line in [*(inspect.getcomments(function) or "").split("\n"), *lines[:head]]:
        if re.match(rf"\s*#\s*{re.escape(function.__name__)}\s*:", line):
            return parse_signature(line)
    return None


def _argument(value: Any, kind: CType, what: str) -> Any:
    if isinstance(kind, Pointer):
        if isinstance(value, CudaArray):
            if value.elemType() != kind.element:
                raise CudaPyError(f"{what} must be an array of {kind.element}, not of {value.elemType()}")
            return value.pointer()
        if isinstance(value, np.ndarray) and value.dtype == kind.element.dtype:
            if value.ndim != 1:
                raise CudaPyError(f"{what} must have one dimension, not {value.ndim}")
            return value  # the launch copies the results back
        if isinstance(value, list | tuple):
            return CudaArray(elements(value, kind.element, what), kind.element).pointer()
        raise CudaPyError(f"{what} must be a CudaArray or a list, not {type(value).__name__}")
    number = np.asarray(value)
    allowed = {Bool: "b", Int: "iu"}.get(kind, "iuf")
    wide = type(value) is int and kind is not Bool
    if not wide and (number.ndim != 0 or number.dtype.kind not in allowed):
        raise CudaPyError(f"{what} must be {kind}, not {type(value).__name__}")
    if not _fits(value, kind):
        raise CudaPyError(f"{what} must fit {'an' if kind is Int else 'a'} {kind}, {value} does not")
    return kind.dtype.type(value)


def _fits(value: Any, kind: Type) -> bool:
    """Whether a number is in the range of the type; infinities fit the floating types."""
    if kind is Bool or kind is Int:
        return kind is Bool or -(2**31) <= int(value) < 2**31
    try:
        with np.errstate(over="ignore"):
            return bool(np.isfinite(kind.dtype.type(value))) or not math.isfinite(value)
    except OverflowError:
        return False
