"""Functions with signatures: arrays must have the types of a signature. Among several signatures, a call uses the one
that fits best, or the first one that NumPy's rules allow.

The types of a call decide which signature fits. So a function with several signatures becomes a function that compares
the types of its parameters with each signature and calls that version; infer-types folds it to one call.
"""

from __future__ import annotations

import ast
from functools import partial, reduce

from .. import _native
from ..syntax.source import DeclaredArray, FunctionSource
from ..syntax.walks import walk
from .calls.calls import call_function
from .scope import FunctionScope

# The kind and the number of bits. _INTEGERS_OF has the bits of the integers that NumPy casts safely to a float type.
_SCALARS = {
    "bool": ("b", 1), "i8": ("i", 8), "i16": ("i", 16), "i32": ("i", 32), "i64": ("i", 64), "u8": ("u", 8),
    "u16": ("u", 16), "u32": ("u", 32), "u64": ("u", 64), "f16": ("f", 16), "bf16": ("g", 16), "f32": ("f", 32),
    "f64": ("f", 64), "c64": ("c", 64), "c128": ("c", 128),
}  # fmt: skip
_INTEGERS_OF = {"f16": 8, "bf16": 8, "f32": 16, "f64": 64, "c64": 16, "c128": 64}
# Python's numbers take the width of other operands. Each row has the kinds of these operands, the kinds of the types
# that the number then takes, the type of the number alone, and the narrowest type that it takes.
_WEAK = (("iufgc", "iufgc", "i64", "i8"), ("fgc", "fgc", "f64", "f16"), ("fgc", "c", "c128", "c64"))
# Costs of conversions, best first. A sum of costs orders by the number of unsafe ones, then of changes of the kind.
_EXACT, _WIDER, _SAFE, _OTHER, _NONE = 0, 1, 1 << 10, 1 << 20, 1 << 32


def dispatch(fn: FunctionScope) -> list[_native.Stmt]:
    """The body of a function with several signatures."""
    alternatives = fn.source.alternatives
    node, span = fn.node, fn.span(fn.node)
    listed = ", ".join(each.shown for each in alternatives)
    text = f"no signature of '{node.name}' takes the arguments of a call: {listed}"
    statements = [fn.module.fail("P105", text, [], span)]
    if fn.source.in_order:
        statements.append(fn.module.return_(_known(fn, 0), span))
    fn.out = []
    for number, alternative in reversed([*enumerate(alternatives)]):
        _, taken = fn.branch(partial(_take, fn, alternative))
        fits = _is_safe(fn, alternative) if fn.source.in_order else _is_best(fn, number)
        statements = [fn.module.if_(fits, taken, statements, span)]
    return statements


def _take(fn: FunctionScope, alternative: FunctionSource) -> None:
    """Appends `return f(a, b)`, where f is the version for one signature."""
    node, span = fn.node, fn.span(fn.node)
    arguments = [ast.copy_location(ast.Name(name, ast.Load()), node) for name in fn.parameters]
    name = ast.copy_location(ast.Name(node.name, ast.Load()), node)
    call = ast.copy_location(ast.Call(name, [*arguments], []), node)
    value = call_function(fn, call, alternative)
    if _gives_nothing(fn, alternative):
        fn.out += [fn.module.evaluate(value, span), fn.module.return_(None, span)]
    else:
        fn.out.append(fn.module.return_(value, span))


def _gives_nothing(fn: FunctionScope, source: FunctionSource) -> bool:
    if "return" in source.declared:
        return source.declared["return"] == "void"
    returns = (part for part in walk(fn.node) if isinstance(part, ast.Return))
    return all(part.value is None for part in returns)


def _is_best(fn: FunctionScope, number: int) -> _native.Expr:
    """Whether the signature accepts the arguments and no other one is better; the first of equal ones wins."""
    alternatives = fn.source.alternatives
    cost = partial(_cost, fn, alternatives[number])
    found = _rule(fn, "<", _cost(fn, alternatives[number]), _known(fn, _NONE))
    for other, alternative in enumerate(alternatives):
        if other != number:
            better = _rule(fn, "<" if other < number else "<=", cost(), _cost(fn, alternative))
            found = _rule(fn, "and", found, better)
    return found


def _is_safe(fn: FunctionScope, alternative: FunctionSource) -> _native.Expr:
    """Whether NumPy casts all numbers safely, where Python's numbers, which have no width, keep their kind."""
    found = _rule(fn, "==", _known(fn, 0), _known(fn, 0))
    for name in fn.parameters:
        wanted = alternative.declared[name]
        taken = [given for given in _SCALARS if conversion(given, wanted) < _OTHER]
        fits = [_has_elements(fn, _variable(fn, name), given) for given in taken]
        for others, kinds, *types in _WEAK:
            if _SCALARS[wanted][0] in kinds and (beside := _beside(fn, name, others)) is not None:
                fits.append(_rule(fn, "and", _is_weak(fn, name, *types), beside))
        found = _rule(fn, "and", found, reduce(partial(_rule, fn, "or"), fits))
    return found


def _beside(fn: FunctionScope, name: str, kinds: str) -> _native.Expr | None:
    """Whether another argument is a NumPy number of one of these kinds; None if there is no other argument."""
    found = []
    for other in fn.parameters:
        if other != name:
            of_kind = [_has_elements(fn, _variable(fn, other), each) for each in _SCALARS if _SCALARS[each][0] in kinds]
            weak = reduce(partial(_rule, fn, "or"), [_is_weak(fn, other, *types) for _, _, *types in _WEAK])
            found.append(_rule(fn, "and", reduce(partial(_rule, fn, "or"), of_kind), _rule(fn, "not", weak)))
    return reduce(partial(_rule, fn, "or"), found) if found else None


def _is_weak(fn: FunctionScope, name: str, wide: str, narrow: str) -> _native.Expr:
    """Whether a number is a Python number: it has the wide type, but a sum with a narrow number stays narrow."""
    span, var = fn.span(fn.node), _variable(fn, name)
    least = partial(fn.module.convert, _known(fn, 0), narrow, span)
    total = _rule(fn, "+", fn.module.read(var, span), least())
    return _rule(fn, "and", _has_elements(fn, var, wide), _rule(fn, "types_equal", total, least()))


def _cost(fn: FunctionScope, alternative: FunctionSource) -> _native.Expr:
    """The cost of the conversions of all arguments, a constant once types are inferred."""
    total = _known(fn, 0)
    for name in fn.parameters:
        wanted, array = alternative.declared.get(name), alternative.arrays.get(name)
        if array is not None:
            each = _choice(fn, _has_type(fn, name, array), _EXACT, _known(fn, _NONE))
        elif wanted is None or name in fn.records:
            continue
        elif fn.program.uses.takes_array(fn.source, name):
            each = _known(fn, _NONE)
        else:
            each = _known(fn, _NONE)
            for given in _SCALARS:
                cost = conversion(given, wanted)
                each = _choice(fn, _has_elements(fn, _variable(fn, name), given), cost, each)
        total = _rule(fn, "+", total, each)
    return total


# ------------------------------------------------------------ arrays


def checked_arrays(fn: FunctionScope) -> list[_native.Stmt]:
    """Statements that check that arrays have the types of the signature."""
    statements = []
    for name, wanted in fn.source.arrays.items():
        span = fn.span(fn.parameters[name])
        text = f"'{name}' of '{fn.node.name}' is called with another kind of array than {fn.source.shown} says"
        fail = fn.module.fail("P105", text, [], span)
        statements.append(fn.module.if_(_has_type(fn, name, wanted), [], [fail], span))
    return statements


def _has_type(fn: FunctionScope, name: str, wanted: DeclaredArray) -> _native.Expr:
    """Whether an array parameter has this element type and number of dimensions."""
    var = _variable(fn, name)
    rank = fn.module.rank(var, fn.span(fn.parameters[name]))
    same_rank = _rule(fn, "==", rank, _known(fn, wanted.ndim))
    return _rule(fn, "and", _has_elements(fn, var, wanted.element), same_rank)


def _has_elements(fn: FunctionScope, var: _native.Var, wanted: str) -> _native.Expr:
    span = fn.span(fn.node)
    return _rule(fn, "types_equal", fn.module.read(var, span), fn.module.convert(_known(fn, 0), wanted, span))


# ------------------------------------------------------------ small pieces


def _node(fn: FunctionScope, name: str) -> ast.Name:
    return ast.copy_location(ast.Name(name, ast.Load()), fn.parameters[name])


def _variable(fn: FunctionScope, name: str) -> _native.Var:
    return fn.variable(name, fn.parameters[name])


def _known(fn: FunctionScope, value: int) -> _native.Expr:
    return fn.module.constant(value, fn.span(fn.node))


def _choice(fn: FunctionScope, test: _native.Expr, cost: int, other: _native.Expr) -> _native.Expr:
    return _rule(fn, "select", test, _known(fn, cost), other)


def _rule(fn: FunctionScope, text: str, *operands: _native.Expr) -> _native.Expr:
    return fn.module.op(text, list(operands), fn.span(fn.node))


def conversion(given: str, wanted: str) -> int:
    """The cost of converting a number from one type to another."""
    (kind, bits), (to, room) = _SCALARS[given], _SCALARS[wanted]
    if given == wanted:
        return _EXACT
    if kind == "c" and to != "c":
        return _NONE
    if kind == to:
        return _WIDER if bits < room else _OTHER
    if to == "b":
        return _OTHER
    if kind == "b":
        return _SAFE
    if kind in "iu":
        holds = bits <= _INTEGERS_OF[wanted] if wanted in _INTEGERS_OF else kind == "u" and bits < room
        return _SAFE if holds else _OTHER
    if to == "c":
        return _SAFE if bits <= room // 2 else _OTHER
    return _WIDER if kind == "g" and room > bits else _OTHER  # bfloat16
