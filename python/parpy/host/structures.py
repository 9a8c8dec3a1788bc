"""Calls with arguments that are neither numbers nor arrays: tuples, objects, dicts, None, functions, types and texts.
The compiled program depends on their contents.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from inspect import signature
from typing import Any, NamedTuple

import numpy as np

from .. import _native
from ..calls import performance
from ..calls.elements import NO_ELEMENTS, WHOLE, Cells, Elements, comes_apart, composed_kind, taker
from ..calls.errors import CompileError
from ..calls.hooks import ByPython
from ..calls.objects import Reads, is_object
from ..calls.options import CompileOptions
from ..frontend.forms import Composed, Single
from ..syntax.fields import as_written
from ..syntax.lazy import lazy
from ..syntax.names import Guard
from ..syntax.patterns import names_in, node_parameters, string_key
from ..syntax.rebuilt import rebuilt
from ..syntax.source import FunctionSource
from ..syntax.walks import copy_of, walk
from .alike import Alike

Places = list[tuple[Any, Any]]

_MOST = 256  # the most function arguments that are kept alive


class Structures:
    """Runs calls with such arguments by a jit function for the forms of the arguments, which gets their contents."""

    guards: tuple[Guard, ...] = ()

    def __init__(
        self, source: FunctionSource, make: Callable[[Mapping[str, Composed]], tuple[_native.JitFunction, Places]]
    ) -> None:
        self.wanted = False  # whether a call has passed such arguments
        self._places: dict[_native.JitFunction, Places] = {}  # the places outside that each function reads
        self._make = make
        self._source = source
        self._tree = source.tree()
        self._parameters = node_parameters(self._tree)
        self._positional = len(self._parameters) - len(self._tree.args.kwonlyargs)
        self._made: dict[tuple[tuple[int, Composed], ...], _native.JitFunction] = {}  # by parameter numbers and kinds
        self._alike: Alike[Composed] = Alike(texts=False)
        self._plans: dict[tuple[Any, ...], _Plan | None] = {}  # of earlier calls, by the keys of their arguments
        # By the types of the arguments, the attributes that are integers before a call and become floats.
        self._floats: dict[tuple[Any, ...], frozenset[str]] = {}
        self._reads: Reads | None = None
        self._count = 0  # the value of Reads.count for which the functions were made

    def are_for(self, values: tuple[Any, ...]) -> bool:
        """Whether some of these values come apart, and the function uses no object among them as a number or an
        array."""
        objects = {name for name, value in zip(self._parameters, values, strict=True) if is_object(value)}
        return any(map(comes_apart, values)) or (bool(objects) and objects.isdisjoint(_used_whole(self._tree)))

    def __call__(self, values: tuple[Any, ...], opts: CompileOptions | None, debug: bool) -> Any:
        cells = Cells() if self.reads.stored else None
        try:
            function, given = self._chosen(values, cells)
        except ByPython as reason:
            return self._by_python(values, str(reason))
        if cells is None and not self.reads.stored:
            return self._run(function, given, opts=opts, debug=debug)
        if cells is None:  # a new class has methods that assign to numbers
            return self(values, opts, debug)
        if cells.meet(self._places.get(function, ())):
            return self._by_python(
                values, "it assigns to a number of an object that it also reads as one outside of it"
            )
        types = self._types(function, given) if self._floats else ()
        if types in self._floats:
            cells = Cells(self._floats[types])
            function, given = self._chosen(values, cells)
        try:
            return self._run(function, given, opts=opts, debug=debug)
        except CompileError as error:  # the program has not run yet
            new = cells.floats.symmetric_difference(error.attributes) - cells.floats
            if not new or not all(map(cells.is_one_integer, new)):
                raise
            if len(self._floats) == _MOST:
                self._floats.clear()
            self._floats[types or self._types(function, given)] = cells.floats | new
        finally:
            cells.write_back()
        return self(values, opts, debug)

    def _types(self, function: _native.JitFunction, given: list[Any]) -> tuple[Any, ...]:
        """The types of all numbers and arrays of a call."""
        parts = [part for each in given for part in (each.values() if isinstance(each, Elements) else (each,))]
        for container, key in self._places.get(function, ()):
            with suppress(LookupError, TypeError):
                parts.append(container[key])
        return function, *(each.dtype if isinstance(each, np.ndarray) else type(each) for each in parts)

    def _run(self, function: Callable[..., Any], given: Sequence[Any], **more: Any) -> Any:
        """Calls the function with these values of its parameters, which may have the names of options."""
        if not more.keys().isdisjoint(self._parameters):
            more = {name: value for name, value in more.items() if name not in self._parameters}
        named = dict(zip(self._parameters[self._positional :], given[self._positional :], strict=True))
        return function(*given[: self._positional], **named, **more)

    def _by_python(self, values: tuple[Any, ...], what: str) -> Any:
        """Runs the Python function, because compiled code would differ: a number that the function assigns to is also
        read outside of it under another name, or a class defines its own assignments."""
        code = self._source.function.__code__
        performance.python_runs(f"{code.co_filename}:{code.co_firstlineno}:1", "this function", what)
        return self._run(self._python, values)

    @lazy
    def _python(self) -> Callable[..., Any]:
        """The function that Python runs. In a region, attributes are entries of dicts (syntax/fields.py)."""
        function = self._source.function
        if not self._source.part or not isinstance(self._tree, ast.FunctionDef):
            return function
        return rebuilt(function, as_written(copy_of(self._tree)), shift=self._source.line_shift)

    def inspect(self, values: tuple[Any, ...], opts: CompileOptions | None, look: Callable[..., Any]) -> list[Any]:
        """The result of `look(function, arguments, opts)` for the function that a call runs, in a list."""
        bound = signature(self._source.function).bind(*values)
        bound.apply_defaults()
        cells = Cells()
        try:
            function, given = self._chosen(tuple(bound.arguments.values()), cells)
        except ByPython:
            return []
        found = [look(function, tuple(given), opts)]
        cells.write_back()
        return found

    def _chosen(self, values: tuple[Any, ...], cells: Cells | None) -> tuple[_native.JitFunction, list[Any]]:
        given: list[Any] = list(values)
        found: list[tuple[int, Composed]] = []
        for place, value in enumerate(values):
            if type(value) not in WHOLE and (is_object(value) or comes_apart(value)):
                kind = self._kind(value)
                found.append((place, kind))
                empty = isinstance(kind, Single) and not kind.cells
                given[place] = NO_ELEMENTS if empty else Elements(value, kind, cells)
        if self._reads is not None and self._reads.count != self._count:  # a new class makes all functions outdated
            self._count = self._reads.count
            return self._chosen(values, cells)
        key = tuple(found)
        made = self._made.get(key)
        if made is None:
            if len(self._made) == _MOST:
                self._made.clear()
                self._places.clear()
            kinds = {self._parameters[place]: kind for place, kind in found}
            made, places = self._make(kinds)
            self._made[key], self._places[made] = made, places
        return made, given

    @property
    def reads(self) -> Reads:
        """The attributes that the program may read and assign to."""
        if self._reads is None:
            self._reads = Reads(self._source)
            self._count = self._reads.count
        return self._reads

    def _kind(self, value: Any) -> Composed:
        """The kind of such an argument."""
        reads = self.reads
        return self._alike.find(reads, (value,), lambda: composed_kind(value, reads=reads))

    # ------------------------------------------------------------ plans of earlier calls

    def key(self, values: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """The key of arguments for which plans are kept; None if there is none."""
        return self._alike.key(self.reads, values)

    def repeat(self, key: tuple[Any, ...], values: tuple[Any, ...], opts: CompileOptions | None, debug: bool) -> Any:
        """Runs a call by the plan of an earlier call with this key. NotImplemented: there is none, and nothing ran."""
        plan = self._plans.get(key)
        if plan is None:
            return NotImplemented
        cells = Cells() if plan.stores else None
        given: list[Any] = [*values]
        for place, take in plan.takers:
            given[place] = take(given[place], cells)
        if cells is not None and cells.meet(plan.places):
            return NotImplemented
        try:
            if opts is None and not debug and self._positional == len(given):
                return plan.function(*given)
            return self._run(plan.function, given, opts=opts, debug=debug)
        except CompileError as error:
            if not error.attributes:
                raise
            self._plans[key] = None
            return NotImplemented  # an integer becomes a float, and the program has not run yet
        finally:
            if cells is not None:
                cells.write_back()

    def remember(self, key: tuple[Any, ...], values: tuple[Any, ...], is_compiled: bool) -> None:
        """Keeps the plan of a call of these arguments, which has just run, if it is compiled as a whole."""
        if len(self._plans) == _MOST:
            self._plans.clear()
        self._plans[key] = self._plan(values) if is_compiled and key[0] == self.reads.count else None

    def _plan(self, values: tuple[Any, ...]) -> _Plan | None:
        apart = [place for place, value in enumerate(values) if is_object(value) or comes_apart(value)]
        try:
            kinds = [(place, self._kind(values[place])) for place in apart]
        except ByPython:
            return None
        function = self._made.get(tuple(kinds))
        if function is None:
            return None
        takers = [(place, taker(kind)) for place, kind in kinds]
        return _Plan(function, takers, bool(self.reads.stored), self._places[function])

    def is_new(self, key: tuple[Any, ...]) -> bool:
        return key not in self._plans

    def forget(self) -> None:
        """Drops the plans, because calls run differently from now on."""
        self._plans.clear()


class _Plan(NamedTuple):
    """How a call runs: the function that gets the elements of arguments, by the places of these, and whether it assigns
    to numbers of objects. `places` are those outside that it reads."""

    function: _native.JitFunction
    takers: list[tuple[int, Callable[[Any, Any], dict[str, Any]]]]
    stores: bool
    places: Places


def _used_whole(tree: ast.AST) -> set[str]:
    """The names that are used only as whole values: they have no attributes and no entries, are not called, and no
    call, operator or alias gets them."""
    owners = [part.value for part in walk(tree) if isinstance(part, ast.Attribute | ast.Assign | ast.Return)]
    owners += [each for part in walk(tree) if isinstance(part, ast.Tuple | ast.List) for each in part.elts]
    owners += [part.value for part in walk(tree) if isinstance(part, ast.Subscript) and string_key(part) is not None]
    owners += [part.iter for part in walk(tree) if isinstance(part, ast.For | ast.comprehension)]
    for part in walk(tree):  # whose class may have the operator
        match part:
            case ast.BinOp(left=left, right=right):
                owners += left, right
            case ast.UnaryOp(operand=operand):
                owners.append(operand)
            case ast.Compare(left=left, comparators=others):
                owners += left, *others
            case ast.AugAssign(target=target, value=value):
                owners += target, value
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test) | ast.Assert(test=test):
                owners.append(test)
            case ast.BoolOp(values=values):
                owners += values
    calls = [part for part in walk(tree) if isinstance(part, ast.Call)]
    owners += [
        each for call in calls for each in (call.func, *call.args, *(keyword.value for keyword in call.keywords))
    ]
    named = names_in(tree)
    return named - {owner.id for owner in owners if isinstance(owner, ast.Name)}
