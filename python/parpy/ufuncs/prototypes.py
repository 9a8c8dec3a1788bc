"""The signatures of ``vectorize`` and ``guvectorize``, and the function under the decorator."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..calls.errors import CompileError
from ..syntax.names import source_of
from ..syntax.patterns import is_absent
from ..syntax.source import FunctionSource
from ..syntax.walks import children
from ..vocabulary.signatures import Array, Scalar, Signature, TupleType, argument_type, is_signature, signature


class Prototype(NamedTuple):
    """The types of numbers in a loop, by their names in IR text. If some are dates or durations, which are integers
    there, ``dates`` has NumPy's name of each operand's type or, for numbers, ""."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    dates: tuple[str, ...] = ()

    @property
    def kinds(self) -> list[np.dtype[Any] | None]:
        """The types of dates and durations; None for numbers."""
        return [np.dtype(each) if each else None for each in self.dates]

    def __str__(self) -> str:
        return f"({', '.join(self.inputs)}) -> ({', '.join(self.outputs)})"


def signatures_of(given: Any) -> list[Signature]:
    """The signatures of a list, a single signature or None. Raises TypeError for other objects."""
    if given is None:
        return []
    given = _of_numba(given)
    several = isinstance(given, list) or (isinstance(given, tuple) and any(_is_whole(each) for each in given))
    found = [signature(each) for each in (given if several else [given])]
    for number, each in enumerate(found):
        if each.arguments in [other.arguments for other in found[:number]]:
            raise TypeError(f"the signature {each} occurs twice in the list, with the same types of arguments")
    return found


def _of_numba(given: Any) -> Any:
    """Numba's types and signatures converted to those of ParPy by their names."""
    if isinstance(given, list | tuple):
        return type(given)(_of_numba(each) for each in given)
    if type(given).__module__.partition(".")[0] != "numba":
        return given
    if hasattr(given, "return_type"):
        result = None if str(given.return_type) in ("none", "None") else _of_numba(given.return_type)
        return Signature(result, tuple(_of_numba(each) for each in given.args))
    if hasattr(given, "ndim") and hasattr(given, "dtype"):
        return Array(_of_numba(given.dtype), given.ndim, given.layout if given.layout in ("C", "F") else "A")
    return argument_type(str(given).replace("bool", "boolean") if str(given) == "bool" else str(given))


def _is_whole(given: Any) -> bool:
    return isinstance(given, Signature) or (isinstance(given, str) and "(" in given)


def begins_with_function(given: Any) -> bool:
    """Whether a decorator was used without parentheses."""
    of_numba = type(given).__module__.startswith("numba.core")  # Numba's types are callable, too
    return callable(given) and not is_signature(given) and not of_numba


def element_prototype(found: Signature, name: str, parameters: int) -> Prototype:
    """The types of one loop of ``vectorize``. Raises TypeError if the function does not fit the signature."""
    if found.open or found.result is None:
        raise TypeError(
            f"the signature {found} of '{name}' has no result; write for example 'float64(float64, float64)'"
        )
    results = found.result.parts if isinstance(found.result, TupleType) else (found.result,)
    for each in (*found.arguments, *results):
        if not isinstance(each, Scalar):
            raise TypeError(
                f"vectorize takes functions of numbers, but the signature {found} of '{name}' has {each}; "
                "functions of arrays are for guvectorize"
            )
    if len(found.arguments) != parameters:
        raise TypeError(f"'{name}' has {parameters} parameters, but its signature {found} has {len(found.arguments)}")
    return Prototype(_names(found.arguments), _names(results), dates_of(found))


def elements_of(found: Signature) -> list[Scalar]:
    """The scalar types of a signature's operands and results; for arrays, the types of their elements."""
    results = found.result.parts if isinstance(found.result, TupleType) else (found.result,)
    kinds = [kind.element if isinstance(kind, Array) else kind for kind in (*found.arguments, *results)]
    return [kind for kind in kinds if isinstance(kind, Scalar)]


def date_of(name: str) -> np.dtype[Any] | None:
    """The type of dates or durations with this name; None for the name of another type."""
    return np.dtype(name) if name.startswith(("datetime64", "timedelta64")) else None


def dates_of(found: Signature) -> tuple[str, ...]:
    """The names of the dates and durations of a signature, as in ``Prototype.dates``."""
    kinds = elements_of(found)
    return tuple(each.shown if each.is_date else "" for each in kinds) if any(each.is_date for each in kinds) else ()


def _names(types: Sequence[Any]) -> tuple[str, ...]:
    return tuple(each.name for each in types)


def python_function(given: Any) -> Callable[..., Any]:
    """The plain function under a decorator."""
    found = getattr(given, "py_func", given)
    if not callable(found):
        raise TypeError(f"a function is expected, not {given!r}")
    function: Callable[..., Any] = found
    return function


def parameter_count(source: FunctionSource) -> int:
    code = source.function.__code__
    if code.co_kwonlyargcount or code.co_flags & 0x0C:
        raise TypeError(f"'{source.function.__name__}': all parameters of a ufunc are given by position")
    return code.co_argcount


def result_count(source: FunctionSource) -> int:
    """The number of results, read from the text. Raises TypeError if paths differ or return nothing."""
    counts = {_count(node.value) for node in _returns(source.tree())}
    name = source.function.__name__
    if not counts or 0 in counts:
        raise TypeError(f"'{name}' returns nothing on some path, but a ufunc has a result")
    if len(counts) > 1:
        raise TypeError(
            f"'{name}' returns {' or '.join(map(str, sorted(counts)))} numbers; it must be one or the other"
        )
    return counts.pop()


def _count(value: ast.expr | None) -> int:
    if isinstance(value, ast.Tuple):
        return len(value.elts)
    return 0 if is_absent(value) else 1


def _returns(node: ast.AST) -> list[ast.Return]:
    found: list[ast.Return] = []
    for child in children(node):
        if isinstance(child, ast.Return):
            found.append(child)
        elif not isinstance(child, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            found += _returns(child)
    return found


def core_call(source: FunctionSource, arguments: str) -> str:
    """The text of a statement that calls ``function``, a function of arrays. A function that returns only at its end is
    inlined, so that its loops are mapped together with the loops around the call."""
    early = _returns(source.tree())
    whole = not early or (len(early) == 1 and source.tree().body[-1] is early[0])
    return f"builtin.inline(function({arguments}))" if whole else f"function({arguments})"


def source_behind(given: Any) -> FunctionSource:
    """The captured source of a function. Raises TypeError if it has none."""
    try:
        return source_of(python_function(given))
    except CompileError as error:
        raise TypeError(str(error)) from error
