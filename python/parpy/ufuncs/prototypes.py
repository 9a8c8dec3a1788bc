"""The signatures of ``vectorize`` and ``guvectorize``, and the function under the decorator."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..calls.errors import CompileError
from ..syntax.names import source_of
from ..syntax.source import FunctionSource
from ..vocabulary.signatures import Array, Scalar, Signature, TupleType, argument_type, is_signature, signature


class Prototype(NamedTuple):
    """Types of numbers, as IR text has them."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def __str__(self) -> str:
        return f"({', '.join(self.inputs)}) -> ({', '.join(self.outputs)})"


def signatures_of(given: Any) -> list[Signature]:
    """The signatures in a list, a single one, or nothing. Raises TypeError for what is none."""
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
    """Numba's types and signatures as ours, told by what they are called."""
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
    of_numba = type(given).__module__.startswith("numba.core")  # types, which can be called
    return callable(given) and not is_signature(given) and not of_numba


def element_prototype(found: Signature, name: str, parameters: int) -> Prototype:
    """The types of one loop of ``vectorize``. Raises TypeError where the function does not fit them."""
    if found.open or found.result is None:
        raise TypeError(
            f"the signature {found} of '{name}' says no result; write for example 'float64(float64, float64)'"
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
    return Prototype(_names(found.arguments), _names(results))


def elements_of(found: Signature) -> list[Scalar]:
    """The types of the numbers that a signature has for its operands, of arrays those of their elements."""
    results = found.result.parts if isinstance(found.result, TupleType) else (found.result,)
    kinds = [kind.element if isinstance(kind, Array) else kind for kind in (*found.arguments, *results)]
    return [kind for kind in kinds if isinstance(kind, Scalar)]


def _names(types: Sequence[Any]) -> tuple[str, ...]:
    return tuple(each.name for each in types)


def python_function(given: Any) -> Callable[..., Any]:
    """The plain function of a decorated one."""
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
    """How many numbers the function returns, told by its text."""
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
    return 0 if value is None or (isinstance(value, ast.Constant) and value.value is None) else 1


def _returns(node: ast.AST) -> list[ast.Return]:
    found: list[ast.Return] = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Return):
            found.append(child)
        elif not isinstance(child, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            found += _returns(child)
    return found


def core_call(source: FunctionSource, arguments: str) -> str:
    """The text of a statement that calls a function of arrays, in texts that call it ``function``: its body stands in
    place of the call, where that may be, so that its loops are mapped together with those around it."""
    early = _returns(source.tree())
    whole = not early or (len(early) == 1 and source.tree().body[-1] is early[0])
    return f"builtin.inline(function({arguments}))" if whole else f"function({arguments})"


def source_behind(given: Any) -> FunctionSource:
    """The captured text of a function. Raises TypeError where there is none to compile."""
    try:
        return source_of(python_function(given))
    except CompileError as error:
        raise TypeError(str(error)) from error
