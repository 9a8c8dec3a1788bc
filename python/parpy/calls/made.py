"""Sets up the core's jit functions: the binding of arguments, and the function that Python runs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import update_wrapper
from types import FunctionType
from typing import Any

from .. import _native
from ..syntax.annotations import annotations_of, as_declared, converted_to
from ..syntax.source import FunctionSource
from ..syntax.starred import takes_rest, without_star
from ..types import BufferType, Symbol, TypeVar, bound_to
from .pickling import give_reference

_STARS = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


def begin(
    made: _native.JitFunction,
    source: FunctionSource,
    parse_again: Callable[[], Any],
    fill: Callable[..., None],
    gets_all: bool = False,
) -> None:
    """Makes `made` the jit function of the source. `parse_again` returns the program for its calls, and
    `fill(empty, source)` makes an empty jit function equal to this one, for pickles. A function that `gets_all`
    arguments in every call accepts keyword-only arguments by their places as well."""
    code = source.function.__code__
    plain = without_star(source).function.__code__
    names = plain.co_varnames[: plain.co_argcount + plain.co_kwonlyargcount]
    is_plain = gets_all or not (code.co_kwonlyargcount or code.co_posonlyargcount or code.co_flags & _STARS)
    bind = _listed(names) if gets_all else twin(source.function, names)
    made.__init__(  # type: ignore[misc]
        _with_symbols(source.function, names),
        parse_again,
        bind,
        names,
        len(names) if is_plain else -1,
        *source.defaults,
    )
    update_wrapper(made, source.function)
    made.__parpy_source__ = source
    made.py_func = source.function
    give_reference(made, source.function, fill, source)


def _listed(names: tuple[str, ...]) -> FunctionType:
    """A function with these parameters that returns the tuple of its arguments."""
    space: dict[str, Any] = {"__name__": __name__}
    exec(f"def listed({', '.join(names)}): return ({', '.join(names)}{',' if names else ''})", space)
    listed: FunctionType = space["listed"]
    return listed


def _with_symbols(function: FunctionType, names: tuple[str, ...]) -> FunctionType:
    """The function that Python runs: symbols of annotations have their values, and numbers their annotated types."""
    annotations = {name: each for name, each in annotations_of(function).items() if name in names}
    scalars = {name: each for name, each in annotations.items() if converted_to(each) is not None}
    if not scalars and not any(isinstance(each, BufferType | Symbol | TypeVar) for each in annotations.values()):
        return function

    def call(arguments: tuple[Any, ...]) -> Any:
        given = dict(zip(names, arguments, strict=True))
        given |= {name: as_declared(given[name], each) for name, each in scalars.items()}
        with bound_to(annotations, given):
            code = function.__code__
            positional = [given[name] for name in names[: code.co_argcount]]
            begin = code.co_argcount + (1 if takes_rest(function) else 0)
            positional += [each for name in names[code.co_argcount : begin] for each in given[name]]
            return function(*positional, **{name: given[name] for name in names[begin:]})

    made = twin(function, names, call)
    update_wrapper(made, function)
    return made


def twin(
    function: FunctionType, names: tuple[str, ...], of: Callable[[tuple[Any, ...]], Any] | None = None
) -> FunctionType:
    """A function with the same parameters that returns the tuple of its arguments in the order of these names, or the
    result of ``of`` for that tuple.

    It binds the arguments of calls with keywords or defaults, and raises the errors that Python would raise.
    """
    code = function.__code__
    own = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    positional = list(own[: code.co_argcount])
    if code.co_posonlyargcount:
        positional.insert(code.co_posonlyargcount, "/")
    keyword_only = list(own[code.co_argcount :])
    starred = iter(code.co_varnames[len(own) :])
    if code.co_flags & inspect.CO_VARARGS:
        keyword_only.insert(0, f"*{next(starred)}")
    elif keyword_only:
        keyword_only.insert(0, "*")
    if code.co_flags & inspect.CO_VARKEYWORDS:
        keyword_only.append(f"**{next(starred)}")
    parameters = ", ".join(positional + keyword_only)
    space: dict[str, Any] = {"of": of, "__name__": __name__}
    values = f"({', '.join(names)}{',' if names else ''})"
    exec(f"def twin({parameters}): return {'of' if of is not None else ''}{'(' + values + ')'}", space)
    twin: FunctionType = space["twin"]
    twin.__defaults__ = function.__defaults__
    twin.__kwdefaults__ = function.__kwdefaults__
    twin.__name__, twin.__qualname__ = function.__name__, function.__qualname__
    return twin
