"""Functions, types and texts as values of variables, arguments and elements of tuples. The core determines the function
that a value is, and calls it (lower_aggregates)."""

from __future__ import annotations

import ast
import inspect
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from ... import _native
from ...calls.external import External
from ...library import is_in_library
from ...syntax.names import callable_source, is_choice, is_scalar, jit_source
from ...syntax.source import FunctionSource
from ...syntax.starred import takes_rest
from ...syntax.text import is_text
from ...vocabulary.device import DeviceFunction
from ...vocabulary.operators import scalar_name, scalar_of_text
from ..calls.intrinsics import intrinsic_of
from ..scope import FunctionScope, describe
from .constants import number_of

# The types of function objects, among them those of NumPy's functions and of jit functions.
FUNCTIONS = (FunctionType, BuiltinFunctionType, np.ufunc, type(np.sum), External, DeviceFunction, _native.JitFunction)
_PYTHON_TYPES = (int, float, complex)
_MOST_ARGUMENTS = 8  # the most arguments of a function with a lowering, if it is used as a value


def single(fn: FunctionScope, value: object, node: ast.expr | ast.arg) -> _native.Expr | None:
    """The value at `node` of a function, a type, a text or an enum member from outside the function; None for other
    objects."""
    span = fn.span(node)
    if isinstance(value, str):
        if has_surrogate(fn, value, node):
            return fn.module.constant(0, span)
        return fn.module.text_value(value, scalar_of_text(value) or "", span)
    if is_choice(value):
        return fn.module.text_value(f"{type(value).__module__}.{type(value).__qualname__}.{value.name}", "", span)
    scalar = scalar_name(value)
    if scalar is not None:
        return fn.module.dtype_value(scalar, value in _PYTHON_TYPES, span)
    source = callable_source(value)
    if source is not None:
        return _of_source(fn, source, value, node)
    if _is_compiled(value):
        return _of_calls(fn, value, node, [])
    return None


def has_surrogate(fn: FunctionScope, text: str, node: Any) -> bool:
    """Whether the text has a lone surrogate, which is an error: the core cannot represent it."""
    if is_text(text):
        return False
    fn.error("P018", node, "a text with a lone surrogate has no value in compiled code", "use another text")
    return True


def _is_compiled(value: object) -> bool:
    """Whether calls of the object can be compiled."""
    if isinstance(value, External | _native.JitFunction):
        return True
    intrinsic = intrinsic_of(value) if isinstance(value, FUNCTIONS) else None
    return is_in_library(value) if intrinsic is None else not intrinsic.lowering.startswith("misplaced_")


def _of_source(fn: FunctionScope, source: FunctionSource, value: object, node: Any) -> _native.Expr:
    if source.declared or source.alternatives or source.arrays:
        return _of_calls(fn, value, node, defaults(fn, source, node))
    return function_value(fn, fn.helper(source), source, node)


def function_value(fn: FunctionScope, callee: FunctionScope, source: FunctionSource, node: Any) -> _native.Expr:
    """The value of a function that is compiled together with this one."""
    if takes_rest(source.function):
        name = source.function.__name__
        fix = "pass a function of plain parameters that calls it"
        fn.error("P006", node, f"'{name}' takes any number of arguments, and is used as a value", fix)
    span = fn.span(node)
    made = fn.module.function_value(callee.function, defaults(fn, source, node), span)
    fn.calls.append((made, callee, span))
    fn.function_values.add(made)
    return made


def defaults(fn: FunctionScope, source: FunctionSource, node: Any) -> list[_native.Expr]:
    """The values of the defaults of the function's last parameters."""
    parameters = inspect.signature(source.function, follow_wrapped=False).parameters.values()
    given = [each for each in parameters if each.default is not inspect.Parameter.empty]
    return [default_of(fn, each, source.function.__name__, node) for each in given]


def _of_calls(fn: FunctionScope, value: Any, node: Any, given: list[_native.Expr]) -> _native.Expr:
    """The value of a function that has only a lowering of calls, as `lambda a, b: np.maximum(a, b)`. The number of its
    arguments is known after all calls of values are lowered. `given` are the defaults."""
    made = fn.module.function_value(fn.function, given, fn.span(node))
    fn.program.late.append((fn, made, value, node))
    return made


def settle_late(fn: FunctionScope, made: _native.Expr, value: Any, node: Any) -> None:
    """Makes the function whose body calls `value`, for the value `made`."""
    least, names = _parameters(value)
    counts = set(range(least, len(names) + 1))
    count = max(counts & fn.program.applied, default=least)
    callee = fn.helper(_calling(fn, value, names[:count]))
    fn.module.set_callee(made, callee.function)
    fn.calls.append((made, callee, fn.span(node)))


def _parameters(value: Any) -> tuple[int, list[str]]:
    """The least number of arguments of such a function, and the names of its parameters."""
    source, intrinsic = jit_source(value), intrinsic_of(value)
    if source is not None or isinstance(value, External):
        given = inspect.signature(value if source is None else source.function, follow_wrapped=False).parameters
        return len(given), list(given)
    if isinstance(value, np.ufunc):
        least = most = value.nin
    elif intrinsic is not None:
        least, most = max(intrinsic.least, 1), min(intrinsic.most, _MOST_ARGUMENTS)
    else:
        least = most = 1
    return least, list("abcdefgh"[:most])


def _calling(fn: FunctionScope, value: Any, names: list[str]) -> FunctionSource:
    """The function `lambda a, b: value(a, b)` with the name of `value`."""
    key = (id(value), len(names))
    known = fn.program.calling.get(key)
    if known is None:
        name = str(getattr(value, "__name__", "function"))
        name = name if name.isidentifier() else "function"
        given = ", ".join(names)
        called = "called" if "called" not in names else "called_function"
        text = f"def {name}({given}):\n    return {called}({given})\n"
        space: dict[str, Any] = {called: value, "__name__": "parpy.calling"}
        exec(compile(text, f"<{name}>", "exec"), space)
        known = fn.program.calling[key] = FunctionSource(space[name], f"<{name}>", text, 1)
    return known


def default_of(fn: FunctionScope, parameter: inspect.Parameter, name: str, node: Any) -> _native.Expr:
    """The value of a default, for a parameter that the call leaves out."""

    def of(value: Any) -> _native.Expr:
        if is_scalar(value):
            return number_of(fn, value, node)
        if value is None:
            return fn.op("none", node)
        if isinstance(value, tuple):
            return fn.op("tuple", node, *map(of, value))
        made = single(fn, value, node)
        if made is not None:
            return made
        fn.error(
            "P106",
            node,
            f"the default of parameter '{parameter.name}' of '{name}' is {describe(value)}, not a number",
            f"pass '{parameter.name}' in the call",
        )
        return fn.poison(node)

    return of(parameter.default)
