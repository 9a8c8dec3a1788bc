"""The keywords and signatures that ``parpy.jit`` shares with ``numba.jit``, and their effects."""

from __future__ import annotations

from copy import copy
from types import FunctionType
from typing import Any, Final, NamedTuple

from ..syntax.source import CallDefaults, FunctionSource
from ..types import BufferType, symbol
from ..vocabulary.signatures import Array, Scalar, Signature, signature
from ..vocabulary.sizes import SIZES


class Decoration(NamedTuple):
    """The defaults for calls without options, and the types of parameters and result, as a decorator gives them."""

    defaults: CallDefaults
    signature: Signature | None

    def applied(self, source: FunctionSource) -> FunctionSource:
        """A copy of the source with the types and defaults of the decorator."""
        made = copy(source) if self.signature is None else _with_types(source, self.signature)
        made.defaults = self.defaults
        return made


# Keywords without effect, because ParPy always behaves like that, with the values that they may have.
_GRANTED: Final[dict[str, tuple[Any, ...]]] = {
    "nopython": (True, False),
    "parallel": (True, False),
    "cache": (True, False),
    "nogil": (True, False),
    "looplift": (True, False),
    "inline": ("always", "never"),
    "error_model": ("python", "numpy"),
}

_INSTEAD: Final = {
    "forceobj": "Python runs the parts that cannot be compiled; to run all in Python, call the function with seq=True",
    "debug": "call the function with debug=True",
    "locals": "annotate parameters, or convert values where they are made, as in parpy.types.F32(x)",
    "target": "name the back end at the call: opts=parpy.auto(backend=parpy.CompileBackend.Cuda)",
    "device": "functions that compiled code calls need no mark; for kernels by hand use parpy.cuda.jit",
}


def read(given: tuple[object, ...], keywords: dict[str, Any]) -> Decoration:
    """Reads the arguments of ``parpy.jit(*given, **keywords)``. Raises TypeError for unknown keywords and signatures,
    and ValueError for values that a keyword cannot have."""
    flags = {"fastmath": False, "boundscheck": False}
    for keyword, value in keywords.items():
        if keyword == "fastmath":
            flags[keyword] = _is_fast(value)
        elif keyword == "boundscheck":
            flags[keyword] = False if value is None else _one_of(keyword, value, (True, False))
        elif keyword in _GRANTED:
            _one_of(keyword, value, _GRANTED[keyword])
        else:
            known = ", ".join(sorted((*flags, *_GRANTED)))
            nearest = _INSTEAD.get(keyword, f"the keywords are {known}")
            raise TypeError(f"parpy.jit takes no argument '{keyword}': {nearest}")
    return Decoration(CallDefaults(flags["fastmath"], flags["boundscheck"]), _only_signature(given))


def _one_of(keyword: str, value: Any, allowed: tuple[Any, ...]) -> Any:
    if not any(value is each or (isinstance(each, str) and value == each) for each in allowed):
        raise ValueError(f"'{keyword}' is {' or '.join(map(repr, allowed))}, not {value!r}")
    return value


def _is_fast(value: object) -> bool:
    """Whether ``fastmath=value`` means ``fast_math=True``. A set of LLVM's flags does only if it contains 'fast'."""
    if isinstance(value, set | frozenset | list | tuple):
        return "fast" in value
    return bool(_one_of("fastmath", value, (True, False)))


def _only_signature(given: tuple[object, ...]) -> Signature | None:
    """The signature if there is exactly one. With several, each call has the types of its own arguments."""
    found = [signature(one) for each in given for one in (each if isinstance(each, list) else [each])]
    return found[0] if len(found) == 1 else None


def _with_types(source: FunctionSource, wanted: Signature) -> FunctionSource:
    code = source.function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    if len(names) != len(wanted.arguments):
        name, count = source.function.__name__, len(wanted.arguments)
        raise TypeError(f"'{name}' has {len(names)} parameters, but its signature {wanted} has {count}")
    made = copy(source)
    made.function = _annotated(source.function, dict(zip(names, wanted.arguments, strict=True)))
    made.shown = str(wanted)
    if not wanted.open and (wanted.result is None or isinstance(wanted.result, Scalar)):
        made.declared = {"return": wanted.number}
    return made


def _annotated(function: FunctionType, types: dict[str, Any]) -> FunctionType:
    """A copy of the function with these types as its annotations."""
    made = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__, made.__module__, made.__doc__ = function.__qualname__, function.__module__, function.__doc__
    made.__dict__.update(function.__dict__)
    made.__annotations__ = {name: _annotation(kind) for name, kind in types.items()}
    return made


def _annotation(kind: object) -> object:
    if isinstance(kind, Scalar):
        return SIZES[kind.name]
    if isinstance(kind, Array) and isinstance(kind.element, Scalar):
        return BufferType(SIZES[kind.element.name], tuple(symbol(":") for _ in range(kind.ndim)))
    raise TypeError(f"parpy.jit takes numbers and arrays, not {kind}")
