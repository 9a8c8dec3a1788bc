"""Numbers that are known at compile time."""

from __future__ import annotations

import ast
from functools import partial
from typing import Any

import numpy as np

from ... import _native
from ...syntax.names import Binding
from ...syntax.whole_numbers import MOST_BITS, computed
from ...vocabulary.operators import scalar_name
from ...vocabulary.signatures import Scalar
from ..scope import FunctionScope

_INT64 = range(-(2**63), 2**63)


def constant_of(fn: FunctionScope, value: Any, node: ast.expr) -> _native.Expr:
    """A Python number as a constant at `node`."""
    if isinstance(value, bool | float | complex):
        return fn.module.constant(value, fn.span(node))
    if isinstance(value, int):
        if value in _INT64:
            return fn.module.constant(value, fn.span(node))
        _beyond_64_bits(fn, str(value) if value.bit_length() <= MOST_BITS else "of so many digits", node)
    elif isinstance(value, str | bytes):
        fn.error("P018", node, "a string has no value in compiled code", "use a number instead")
    else:
        fn.error("P018", node, f"{value!r} has no value in compiled code", "use a number")
    return fn.poison(node)


def number_of(fn: FunctionScope, value: Any, node: ast.expr) -> _native.Expr:
    """A Python number or NumPy scalar as a constant of its type at `node`."""
    scalar = scalar_name(value.dtype) if isinstance(value, np.generic) else None
    if scalar is None:
        return constant_of(fn, value, node)
    if scalar == "u64":
        return fn.module.constant_u64(int(value), fn.span(node))
    return fn.module.convert(constant_of(fn, value.item(), node), scalar, fn.span(node))


def limit_of(fn: FunctionScope, node: ast.Attribute) -> _native.Expr | None:
    """``np.finfo(np.float32).max`` and the other attributes of np.finfo and np.iinfo; None if `node` is another
    expression."""
    if (found := limit_asked(fn, node)) is None:
        return None
    asked, argument = found
    kind = fn.resolve(argument)
    if kind is None and not _is_text(argument):
        return None
    given = argument.value if kind is None else kind.value  # type: ignore[attr-defined]
    try:
        value = getattr(asked.value(given.dtype if isinstance(given, Scalar) else given), node.attr)
    except (AttributeError, TypeError, ValueError):
        return None
    if kind is not None:
        fn.rely_on(kind)
    return number_of(fn, value, node) if isinstance(value, int | float | np.generic) else None


def limit_asked(fn: FunctionScope, node: ast.Attribute) -> tuple[Binding, ast.expr] | None:
    """np.finfo or np.iinfo, and its argument; None if `node` is something else."""
    call = node.value
    if not (isinstance(call, ast.Call) and len(call.args) == 1 and not call.keywords):
        return None
    asked = fn.resolve(call.func)
    is_asked = asked is not None and (asked.value is np.finfo or asked.value is np.iinfo)
    return (asked, call.args[0]) if asked is not None and is_asked else None


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _beyond_64_bits(fn: FunctionScope, shown: str, node: ast.expr) -> None:
    fn.error(
        "P019",
        node,
        f"the integer {shown} needs more than 64 bits",
        "integers of compiled code have 64 bits; write a float as 1e20; np.uint64(…) reaches 2**64 - 1",
    )


def whole_number(fn: FunctionScope, node: ast.expr) -> int | float | None:
    """The exact value, as Python computes it, of an expression of integer constants of any size, or the quotient of two
    such expressions."""
    if isinstance(node, ast.BinOp) and not fn.language.exact_integers:
        return None
    chain = [node]
    while isinstance(part := chain[-1], ast.BinOp) and part.left not in fn.wholes:
        chain.append(part.left)
    for part in reversed(chain):
        if part in fn.wholes:
            continue
        try:
            fn.wholes[part] = computed(part, partial(whole_number, fn))
        except OverflowError:
            _beyond_64_bits(fn, "that this makes", part)
            fn.wholes[part] = 0
    return fn.wholes[node]
