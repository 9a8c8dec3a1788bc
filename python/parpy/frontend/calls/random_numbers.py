"""Lowers draws of random numbers (docs/reference/random.md) to functions of a key and a place in library/random.py.

Each generator is a stream: a key, the number of the iteration, and the number of words that the iteration has drawn. A
key is drawn before a for loop, and each iteration has the sequence of that key and its own number. Likewise each call
of a function that draws gets a key. No iteration depends on the draws of others, so loops stay parallel.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import _native
from ...syntax.names import Capture
from ...syntax.patterns import is_absent, is_none, stored_in
from ...syntax.source import FunctionSource
from ...syntax.walks import walk
from ...vocabulary.generators import is_of_random
from ..draws import METHODS, OTHERS, Drawn, Root
from ..expressions.evaluation import lower_all
from ..expressions.tuples import number_or_list
from ..forms import Span
from ..lowering import lower
from ..scope import FunctionScope
from .functions import by_numpy, call_library


@dataclass(frozen=True, slots=True)
class Stream:
    """The place of the next draw. `index` is the number of the iteration; None outside of loops."""

    key: _native.Var
    index: _native.Var | None
    count: _native.Var


# ------------------------------------------------------------ the streams of a function and its loops


def begin_streams(fn: FunctionScope) -> list[_native.Stmt]:
    """The first statements of the function: the streams of its parameters and of generators outside of it."""
    if fn.kernel:
        return []
    known = fn.scope.known
    names = fn.program.draws.names(fn.source, known)
    origins = fn.program.draws.origins(fn.source, known)
    statements: list[_native.Stmt] = []
    for name, argument in fn.parameters.items():
        if name in names:
            span = fn.span(argument)
            _refuse_assignments(fn, name)
            if name in known and known[name] is None:
                fn.absent.add(name)
                unused = fn.module.variable(fn.unique_name("key"), span)
                statements.append(fn.module.assign(unused, fn.module.constant_u64(0, span), None, span))
                fn.streams[Root(name)] = Stream(unused, None, unused)
            else:
                statements += _stream(fn, Root(name), fn.variable(name, argument), span)
    for name in fn.program.draws.around(fn.source):
        var = fn.module.variable(fn.unique_name("generator"), fn.span(fn.node), name)
        fn.generators.append(var)
        statements += _stream(fn, Root(name), var, fn.span(fn.node))
    span = fn.span(fn.node)
    for root, origin in origins.items():
        var = fn.module.variable(fn.unique_name("generator"), span, origin.shown)
        if fn.entry:
            kind = fn.scope.kind_of(origin.shown.partition(".")[0])
            capture = Capture(origin.shown, kind, origin.container, origin.key, generator=True)
            fn.captures[root.place, root.name] = (capture, var)
        else:
            fn.generators.append(var)
        statements += _stream(fn, root, var, span)
    return statements


def _stream(fn: FunctionScope, root: Root, var: _native.Var, span: Span) -> list[_native.Stmt]:
    """A new stream from a parameter: a key, or in the entry a complex number with the two halves of a key."""
    statements = []
    key = var
    if fn.entry:
        parts = [
            fn.module.convert(fn.module.op(part, [fn.module.read(var, span)], span), "u64", span)
            for part in ("real", "imag")
        ]
        upper = fn.module.op("<<", [parts[1], fn.module.constant_u64(32, span)], span)
        key = fn.module.variable(fn.unique_name("key"), span)
        statements.append(fn.module.assign(key, fn.module.op("|", [parts[0], upper], span), None, span))
    count = fn.module.variable(fn.unique_name("drawn"), span)
    statements.append(fn.module.assign(count, fn.module.constant_u64(0, span), None, span))
    fn.streams[root] = Stream(key, None, count)
    return statements


def _refuse_assignments(fn: FunctionScope, name: str) -> None:
    for part in walk(fn.node):
        if isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Store):
            fn.error(
                "P204",
                part,
                f"the generator '{name}', a parameter, is given another value",
                "give the new generator a name of its own",
            )


@contextmanager
def streams_of_loop(
    fn: FunctionScope, node: ast.For, number: _native.Var
) -> Iterator[Callable[[list[_native.Stmt]], list[_native.Stmt]]]:
    """A context in which each iteration of the loop has streams of its own. Its value is a function that adds the
    statements which begin these streams before the loop's body."""
    outer = dict(fn.streams)
    span = fn.span(node, node.iter)
    first: list[_native.Stmt] = []
    stored = stored_in(*node.body) if outer else set()
    for root in fn.program.draws.roots(node.body, fn.scope) if outer else ():
        if root not in outer or (not root.place and root.name in stored | fn.absent):
            continue
        key = child(fn, root, node)
        index = fn.module.variable(fn.unique_name("iteration"), span)
        count = fn.module.variable(fn.unique_name("drawn"), span)
        value = fn.module.convert(fn.module.convert(fn.module.read(number, span), "i64", span), "u64", span)
        first.append(fn.module.assign(index, value, None, span))
        first.append(fn.module.assign(count, fn.module.constant_u64(0, span), None, span))
        fn.streams[root] = Stream(key, index, count)
    yield lambda body: [*first, *body]
    for root, stream in outer.items():
        fn.streams[root] = stream


# ------------------------------------------------------------ draws


def _called(fn: FunctionScope, name: str, operands: list[_native.Expr], node: Any) -> _native.Expr:
    """A call of a function of library/random.py."""
    from ...library import random

    return call_library(fn, getattr(random, name), operands, node)


def _place(fn: FunctionScope, root: Root, node: Any) -> list[_native.Expr]:
    """Draws the next word of a stream: its key, iteration and place."""
    stream, span = fn.streams[root], fn.span(node)
    if not root.place and root.name in fn.absent:
        fn.out.append(
            fn.module.fail("P232", f"'{root.name}' is None here, but random numbers are drawn from it", [], span)
        )
    at = fn.hold(fn.module.read(stream.count, span), node)
    more = fn.module.op("+", [fn.module.read(at, span), fn.module.constant_u64(1, span)], span)
    fn.out.append(fn.module.assign(stream.count, more, None, span))
    index = fn.module.constant_u64(0, span) if stream.index is None else fn.module.read(stream.index, span)
    return [fn.module.read(stream.key, span), index, fn.module.read(at, span)]


def child(fn: FunctionScope, root: Root, node: Any) -> _native.Var:
    """A new key that is drawn from the generator."""
    return fn.hold(_called(fn, "word", _place(fn, root, node), node), node)


def generator_value(fn: FunctionScope, node: ast.Name) -> _native.Expr:
    """A generator as an argument of a function, which gets a key drawn from it."""
    root = Root(node.id)
    if node.id in fn.absent:
        return fn.op("none", node)
    if node in fn.passed_on and root in fn.streams and fn.is_assigned(node):
        return fn.module.read(child(fn, root, node), fn.span(node))
    if fn.is_assigned(node):
        fn.error(
            "P204",
            node,
            f"the generator '{node.id}' is used as a value",
            f"draw from it, {node.id}.random(), or pass it to a function",
        )
    return fn.poison(node)


def is_generator_name(fn: FunctionScope, node: ast.expr) -> bool:
    """Whether `node` is a variable that holds a generator; at run time it may also be None."""
    return isinstance(node, ast.Name) and Root(node.id) in fn.streams


def origins_of_call(
    fn: FunctionScope, source: FunctionSource, known: Mapping[str, Any], node: ast.Call
) -> list[_native.Expr]:
    """Keys for a function that draws from generators outside of functions."""
    if fn.kernel:
        return []
    roots = fn.program.draws.origins(source, known)
    around = [Root(name) for name in fn.program.draws.around(source)]
    if not {*roots, *around} <= fn.streams.keys():
        name = source.function.__name__
        fix = f"call '{name}' by its name, or pass it a generator"
        fn.error("P022", node, f"this call does not show that '{name}' draws random numbers", fix)
        return []
    return [fn.module.read(child(fn, root, node), fn.span(node)) for root in (*around, *roots)]


def made_generator(fn: FunctionScope, node: ast.Call) -> _native.Expr:
    """The key of np.random.default_rng(seed) in a loop or in a called function."""
    target = fn.made_generator
    span = fn.span(node)
    if target is not None:
        count = fn.module.variable(fn.unique_name("drawn"), span)
        fn.out.append(fn.module.assign(count, fn.module.constant_u64(0, span), None, span))
        fn.streams[Root(target.id)] = Stream(fn.variable(target.id, target), None, count)
    seed = node.args[0] if len(node.args) == 1 and not node.keywords else None
    made = fn.resolve(node.func)
    if seed is None or isinstance(seed, ast.Starred) or (made is not None and is_of_random(made.value, "Generator")):
        fn.error(
            "P023",
            node,
            "a generator that is made in a loop, or in a function that another function calls, takes one seed",
            "write np.random.default_rng(seed), or make the generator before the loop",
        )
        return fn.poison(node)
    if target is None:
        fn.error("P204", node, "the generator must be assigned to a name", "write rng = np.random.default_rng(seed)")
        return fn.poison(node)
    number = fn.module.op("as_index", [lower(fn, seed)], span)
    return _called(fn, "seeded", [number], node)


def refuse_seed(fn: FunctionScope, node: ast.Call) -> _native.Expr:
    """Reports a call of np.random.seed that Python does not run."""
    fn.error(
        "P022",
        node,
        "'np.random.seed' is called in a loop or in a function that another function calls",
        "call it before the loop, or write rng = np.random.default_rng(seed) here",
    )
    return fn.poison(node)


def method_of_generator(fn: FunctionScope, node: ast.Call) -> _native.Expr | None:
    """A call that draws from, makes or seeds a generator; None for other calls."""
    draws = fn.program.draws
    if fn.kernel or not draws.may_draw(fn.source.function):
        return None
    if draws.makes(node, fn.scope):
        return made_generator(fn, node)
    if draws.seeds(node, fn.scope):
        return refuse_seed(fn, node)
    drawn = draws.drawn(node, fn.scope)
    if drawn is None:
        return None
    if drawn.method in OTHERS:
        known = ", ".join(sorted(METHODS))
        fn.error("P022", node, f"the method '{drawn.method}' of generators cannot be compiled", f"there are {known}")
    elif drawn.root not in fn.streams:
        name = drawn.root.name
        fix = "draw from a parameter, or assign np.random.default_rng(seed) to this name"
        fn.error("P022", node, f"'{name}' is not a generator of random numbers that is known here", fix)
    else:
        return _draw(fn, node, drawn)
    return fn.poison(node)


# ------------------------------------------------------------ distributions

_PARAMETERS = {
    "random": ("size",), "random_sample": ("size",),
    "standard_normal": ("size",), "standard_exponential": ("size",),
    "normal": ("loc", "scale", "size"), "uniform": ("low", "high", "size"), "exponential": ("scale", "size"),
    "integers": ("low", "high", "size", "dtype", "endpoint"), "randint": ("low", "high", "size", "dtype"),
    "choice": ("a", "size", "replace", "p"), "permutation": ("x",), "shuffle": ("x",),
}  # fmt: skip
_NEEDED = {"integers": "low", "randint": "low", "choice": "a", "permutation": "x", "shuffle": "x"}
# The names of the functions that draw one number and an array of numbers.
_UNIT, _NORMAL, _EXPONENTIAL = ("unit", "units"), ("normal", "normals"), ("exponential", "exponentials")
_STANDARD = {
    "random": _UNIT, "random_sample": _UNIT, "rand": _UNIT, "uniform": _UNIT,
    "standard_normal": _NORMAL, "normal": _NORMAL, "randn": _NORMAL,
    "standard_exponential": _EXPONENTIAL, "exponential": _EXPONENTIAL,
}  # fmt: skip


def _draw(fn: FunctionScope, node: ast.Call, drawn: Drawn) -> _native.Expr:
    root, method = drawn
    if method in ("rand", "randn"):
        if node.keywords or any(isinstance(part, ast.Starred) for part in node.args):
            return _refuse_arguments(fn, node, f"'{method}' takes only extents", f"write {method}(n, m)")
        extents = ast.copy_location(ast.Tuple(node.args, ast.Load()), node) if node.args else None
        return _of_size(fn, node, root, _STANDARD[method], extents, [])
    given = _bound(fn, node, method)
    if given is None:
        return fn.poison(node)
    if method in ("permutation", "shuffle"):
        operands = [lower(fn, given["x"])]
        return _called(fn, method, [fn.module.read(child(fn, root, node), fn.span(node)), *operands], node)
    if method in ("integers", "randint"):
        return _integers(fn, node, root, given)
    if method == "choice":
        return _choice(fn, node, root, given)
    names = [name for name in ("loc", "low", "high", "scale") if name in given]
    values = dict(zip(names, lower_all(fn, [given[name] for name in names]), strict=True))
    value = _of_size(fn, node, root, _STANDARD[method], given.get("size"), [])
    span = fn.span(node)
    if method == "uniform" and values:
        low = values.get("low")
        high = values.get("high", fn.module.constant(1.0, span))
        if low is None:
            return fn.module.op("*", [high, value], span)
        base = fn.hold(low, node)
        high = fn.module.op("-", [high, fn.module.read(base, span)], span)
        return fn.module.op("+", [fn.module.read(base, span), fn.module.op("*", [high, value], span)], span)
    if "scale" in values:
        value = fn.module.op("*", [values["scale"], value], span)
    return fn.module.op("+", [values["loc"], value], span) if "loc" in values else value


def _of_size(
    fn: FunctionScope,
    node: ast.Call,
    root: Root,
    functions: tuple[str, str],
    size: ast.expr | None,
    operands: list[_native.Expr],
) -> _native.Expr:
    """A number that the first function draws for these operands, or with a size an array from the second function. The
    size may be x.shape."""
    one, many = functions
    if isinstance(size, ast.Attribute) and size.attr == "shape":
        elements = ast.copy_location(ast.Attribute(size.value, "size", ast.Load()), size)
        made = _array(fn, node, root, many, [lower(fn, elements)], operands)
        return _called(fn, "with_shape", [made, lower(fn, size.value)], node)
    sizes = _sizes(fn, size)
    if sizes is None:
        return _called(fn, one, [*_place(fn, root, node), *operands], node)
    return _array(fn, node, root, many, sizes, operands)


def _array(
    fn: FunctionScope,
    node: ast.Call,
    root: Root,
    function: str,
    sizes: list[_native.Expr],
    operands: list[_native.Expr],
) -> _native.Expr:
    span = fn.span(node)
    key = child(fn, root, node)
    extents = [fn.hold(fn.module.op("as_index", [size], span), node) for size in sizes]
    count = fn.module.read(extents[0], span) if extents else fn.module.constant(1, span)
    for extent in extents[1:]:
        count = fn.module.op("*", [count, fn.module.read(extent, span)], span)
    made = _called(fn, function, [fn.module.read(key, span), count, *operands], node)
    if len(extents) < 2:
        return made
    shaped = fn.module.op("reshape", [made, *(fn.module.read(each, span) for each in extents)], span)
    return by_numpy(fn, shaped, node)


def _sizes(fn: FunctionScope, size: ast.expr | None) -> list[_native.Expr] | None:
    """The extents of an argument `size`; None if one number is drawn."""
    if size is None or is_none(size):
        return None
    parts = list(size.elts) if isinstance(size, ast.Tuple | ast.List) else [size]
    shape = next((part for part in parts if isinstance(part, ast.Attribute) and part.attr == "shape"), None)
    if shape is not None or not parts or any(isinstance(part, ast.Starred) for part in parts):
        fn.error(
            "P023", size, "the size is neither a number nor a tuple of numbers", "write size=(x.shape[0], x.shape[1])"
        )
        return [fn.poison(size)]
    return lower_all(fn, parts)


def _integers(fn: FunctionScope, node: ast.Call, root: Root, given: dict[str, ast.expr]) -> _native.Expr:
    span = fn.span(node)
    dtype = given.get("dtype")
    binding = None if dtype is None else fn.resolve(dtype)
    if dtype is not None and (binding is None or binding.value not in (int, np.int64)):
        return _refuse_arguments(fn, node, "integers are int64 in compiled code", "convert them: np.int32(…)")
    endpoint = given.get("endpoint")
    if endpoint is not None and not (isinstance(endpoint, ast.Constant) and isinstance(endpoint.value, bool)):
        return _refuse_arguments(fn, node, "'endpoint' is not a constant", "write endpoint=True or endpoint=False")
    high = given.get("high")
    if high is None or is_none(high):
        bounds = [fn.module.constant(0, span), lower(fn, given["low"])]
    else:
        bounds = lower_all(fn, [given["low"], high])
    bounds = [fn.module.op("as_index", [each], span) for each in bounds]
    upto = isinstance(endpoint, ast.Constant) and endpoint.value is True
    functions = ("integer_up_to", "integers_up_to") if upto else ("integer", "integers")
    return _of_size(fn, node, root, functions, given.get("size"), bounds)


def _choice(fn: FunctionScope, node: ast.Call, root: Root, given: dict[str, ast.expr]) -> _native.Expr:
    replace = given.get("replace")
    weighed = "p" in given and not is_none(given["p"])
    size = given.get("size")
    single = is_absent(size)
    if replace is not None and not (isinstance(replace, ast.Constant) and replace.value is True) and not single:
        return _refuse_arguments(
            fn, node, "'choice' without replacement cannot be compiled", "write rng.permutation(a)[:n]"
        )
    operands = lower_all(fn, [given["a"], *([given["p"]] if weighed else [])], number_or_list)
    functions = ("weighed_choice", "weighed_choices") if weighed else ("choice", "choices")
    return _of_size(fn, node, root, functions, size, operands)


def _bound(fn: FunctionScope, node: ast.Call, method: str) -> dict[str, ast.expr] | None:
    """The arguments by NumPy's names; None after an error."""
    names = _PARAMETERS[method]
    given = dict(zip(names, node.args, strict=False))
    wrong = len(node.args) > len(names) or any(isinstance(part, ast.Starred) for part in node.args)
    for keyword in node.keywords:
        wrong = wrong or keyword.arg not in names or keyword.arg in given
        if keyword.arg is not None:
            given[keyword.arg] = keyword.value
    if wrong or _NEEDED.get(method, names[0]) not in (given if method in _NEEDED else names):
        takes = ", ".join(names)
        _refuse_arguments(fn, node, f"'{method}' takes ({takes}) in compiled code", "convert the result if necessary")
        return None
    return given


def _refuse_arguments(fn: FunctionScope, node: ast.Call, message: str, fix: str) -> _native.Expr:
    fn.error("P023", node, message, fix)
    return fn.poison(node)
