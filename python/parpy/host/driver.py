"""Drivers of functions of which Python runs a part: allocations, callbacks, returned arrays, and aliases of arrays.

Python runs these statements and the control flow around them. Each maximal sequence of other statements is compiled as
a function of the variables that it reads, which returns the live numbers.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from inspect import signature
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from .. import _native
from ..calls import performance
from ..calls.callback import shown
from ..calls.errors import CompileError
from ..calls.objects import Reads
from ..calls.options import CompileOptions
from ..frontend.parse import Findings, check
from ..syntax.lazy import lazy
from ..syntax.names import Guard, callable_source
from ..syntax.patterns import names_in
from ..syntax.rebuilt import rebuilt
from ..syntax.source import FunctionSource
from ..syntax.walks import walk
from ..types import bound_to
from .ahead import MappedRegions, Seen, nothing
from .called import Called, nested
from .checks import HELPERS
from .foreign_calls import gives_container, is_universal
from .grown.loops import LISTS, Growing
from .kept import NOTHING_KEPT, Kept, kept_for
from .labels import Place, near_miss_of_nested, per_region, shape_labels
from .numpy_calls import dry, is_array_function
from .python_parts import Resolver, needs_driver
from .regions import EARLY, UNSET, Region, run_region
from .returns import Early
from .slow_loops import slow_loops
from .small_regions import SmallRegions
from .splitter import AGAIN, BY_PYTHON, CALL, RUN, Splitter
from .unset import NO_VALUE

_MOST_CONFIGURED = 16


class _Configured(NamedTuple):
    """The parts of a driver that depend on options."""

    values: dict[str, Any]  # the values of the options
    per_region: list[CompileOptions]
    again: CompileOptions  # for statements that Python runs
    called: Called
    checked: set[Any]  # calls of which the mapped loops may be mapped


class Driver:
    """The replacement for a function that Python runs in parts."""

    def __init__(
        self,
        source: FunctionSource,
        guards: tuple[Guard, ...],
        node: ast.FunctionDef,
        kept: Kept,
        methods: Sequence[FunctionSource],
        called: bool,
    ) -> None:
        """`methods` are those that Python may call. `called` tells that Python calls the function repeatedly."""
        code = source.function.__code__
        self._names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        self._splitter = splitter = Splitter(source, node, _jit, kept, called)
        self.regions = splitter.regions
        more = splitter.resolver.scope.guards
        self.guards = (*guards, *(more[key] for key in more if more[key] not in guards))
        self._live = rebuilt(source.function, splitter.driver(node, False), shift=source.line_shift)
        self._node = node
        self._configured: list[_Configured] = []
        self._methods = methods
        self._findings = _check(splitter, methods)
        self._slow = slow_loops(source, splitter.resolver, splitter.listed)
        self._small = SmallRegions(splitter.statements, splitter.by_python)
        self._called = Called(None, _jit, _small_driver)

    def __call__(self, values: tuple[Any, ...], opts: CompileOptions | None, debug: bool) -> Any:
        if not self._findings.hold():
            self._findings = _check(self._splitter, self._methods)
        own = self._own(opts, debug)
        self._warn()
        if opts is not None and opts.parallelize:
            configured = self._configured_for(opts)
            self._mapped.check(dict(zip(self._names, values, strict=False)), configured.per_region, configured.checked)
        tells = shown() if opts is not None and opts.debug_callbacks else nullcontext()
        with tells, self._symbols(values):
            return self._live(*values, **own)

    @lazy
    def _mapped(self) -> MappedRegions:
        return MappedRegions(self._splitter.body, RUN, self.regions, frozenset(self._names))

    @lazy
    def _dry(self) -> Callable[..., Any]:
        """The function for inspections of calls, in which each loop runs once."""
        made = self._splitter.driver(self._node, True)
        return rebuilt(self._splitter.source.function, made, shift=self._splitter.source.line_shift)

    def _warn(self) -> None:
        for text in self._slow:
            performance.warn("P315", text)
        self._slow = []

    def as_python(self, opts: CompileOptions | None, called: Called) -> FunctionType | None:
        """The Python function that calls run, with the replacements `called` for its callees; None if the function to
        run depends on the arguments."""
        function = self._splitter.source.function
        if not self._splitter.is_python() or function.__kwdefaults__ or function.__code__.co_kwonlyargcount:
            return None
        self._warn()
        live = self._live
        made = FunctionType(live.__code__, live.__globals__, live.__name__, function.__defaults__, live.__closure__)
        made.__kwdefaults__ = self._own(opts, False) | {CALL: called}
        return made

    def _own(self, opts: CompileOptions | None, debug: bool) -> dict[str, Any]:
        """The globals of the function that Python runs, by which it calls regions and callees."""
        configured = None if opts is None else self._configured_for(opts)
        per_region = None if configured is None else configured.per_region

        def run(index: int, *inputs: Any) -> Any:
            return run_region(self.regions[index], inputs, None if per_region is None else per_region[index], debug)

        def again(index: int, group: int, *inputs: Any) -> Any:
            return self._small.run(index, group, inputs, None if configured is None else configured.again)

        def lists(index: int, given: tuple[Any, ...], *inputs: Any) -> Any:
            options = opts if configured is None else configured.again
            return self._splitter.lists[index].run(given, inputs, options, debug)

        called = self._called if configured is None else configured.called
        by_python = self._splitter.by_python
        own = {RUN: run, CALL: called, AGAIN: again, LISTS: lists, BY_PYTHON: by_python, EARLY: Early, NO_VALUE: UNSET}
        return own | HELPERS

    def _symbols(self, values: tuple[Any, ...]) -> AbstractContextManager[None]:
        return bound_to(self._splitter.annotations, dict(zip(self._names, values, strict=True)))

    def inspect(self, values: tuple[Any, ...], opts: CompileOptions | None, look: Callable[..., Any]) -> list[Any]:
        """`look(region, arguments, opts)` for each region that a call reaches, without running any region. If Python
        needs the result of a region, the inspection ends there. Statements that Python runs change copies of lists,
        dicts and sets."""
        found: list[Any] = []
        given = _bound(self._splitter.source, with_own_containers(values, {}), {})
        try:
            self._visit(given, opts, lambda *region: found.append(look(*region)), Seen())
        except CompileError:
            raise
        except Exception:
            if not found:
                raise
        return found

    def _visit(
        self, values: tuple[Any, ...], opts: CompileOptions | None, look: Callable[..., None], seen: Seen
    ) -> Any:
        """Inspects a call and the calls that Python makes for it; functions in `seen` are skipped."""
        per_region = None if opts is None else self._configured_for(opts).per_region
        seen.drivers[self._splitter.source.function] = self
        unknown: set[str] = set()  # variables that regions would assign, and that are zeros here

        def run(index: int, *inputs: Any) -> tuple[int, ...]:
            region = self.regions[index]
            try:
                function, arguments, _ = region.call(inputs)
                _look_at(look, function, arguments, None if per_region is None else per_region[index])
            except CompileError:
                if unknown.isdisjoint(region.inputs):
                    raise
            made = _allocated(region, inputs, self._splitter.source.function.__globals__)
            unknown.update(set(region.outputs).difference(made))
            return tuple(made.get(name, 0) for name in region.outputs)

        def call(function: Callable[..., Any]) -> Callable[..., Any]:
            source = callable_source(function)
            if source is None or is_universal(function):
                return (
                    dry(function) if is_array_function(function) else function if gives_container(function) else nothing
                )
            again = source.function in seen.drivers
            driver = seen.drivers[source.function] if again else driver_of(source)
            assert driver is not None

            def visit(*arguments: Any, **named: Any) -> Any:
                if again and seen.ends():
                    return nothing()
                given, ours = _bound(source, arguments, named), nested(opts, function)
                return driver._visit(given, ours, (lambda *_: None) if again else look, seen)

            return visit

        def lists(index: int, given: tuple[Any, ...], *inputs: Any) -> None:
            region = self._splitter.lists[index]
            region.inspect(given, inputs, lambda function, arguments: _look_at(look, function, arguments, None))

        with self._symbols(values):
            own = {RUN: run, CALL: call, AGAIN: _fail_again, BY_PYTHON: (), EARLY: Early, LISTS: lists, NO_VALUE: UNSET}
            return self._dry(*values, **own, **HELPERS)

    def by_python(self) -> list[ast.stmt]:
        """The statements that Python itself runs, with their places in the user's text. Loops and branches are among
        them unless they are compiled as a whole."""
        return [*_not_compiled(self._splitter.body)]

    def grown(self) -> dict[str, str]:
        """The names of the lists, dicts and sets that grow in compiled loops, each with the name of its class."""
        return {
            each.name: each.kind.__name__
            for region in self._splitter.lists
            for each in region.grown
            if each.kind is not str
        }

    @lazy
    def _named_places(self) -> list[Place]:
        """The places of the regions, with the labels from the symbols of annotations."""
        return [
            place._replace(labels=place.labels | shape_labels(region.function.__parpy_source__))
            for place, region in zip(self._splitter.places, self.regions, strict=True)
        ]

    def _configured_for(self, opts: CompileOptions) -> _Configured:
        for known in self._configured:
            if known.values == opts._values:
                return known
        ours = CompileOptions(**opts._values)  # a copy, since the caller may change its options
        again = CompileOptions(**{**opts._values, "parallelize": {}})
        made = _Configured(dict(ours._values), self._per_region(ours), again, Called(ours, _jit, _small_driver), set())
        self._configured = [made, *self._configured[: _MOST_CONFIGURED - 1]]
        return made

    def _per_region(self, opts: CompileOptions) -> list[CompileOptions]:
        compiled = self._splitter.nested.union(*(place.labels for place in self._splitter.places))
        for label in opts.parallelize:
            if label in self._splitter.run_by_python and label not in compiled:
                self._splitter.refuse_label(label)
        places = self._named_places if opts.implicit_shape_labels else self._splitter.places
        missed = near_miss_of_nested(opts, places, self._splitter.nested)
        if missed is not None:
            self._splitter.refuse_near_miss(*missed)
        return per_region(opts, places, self._splitter.nested)


def with_own_containers(value: Any, known: dict[int, Any]) -> Any:
    """The value with copies of the lists, dicts and sets in it, but with the same arrays and objects. `known` has the
    copies by the identity of the originals."""
    if id(value) in known:
        return known[id(value)]
    if type(value) is tuple:
        return tuple(with_own_containers(each, known) for each in value)
    if type(value) not in (list, dict, set):
        return value
    made = known[id(value)] = value.copy()
    if type(value) is list:
        made[:] = [with_own_containers(each, known) for each in value]
    elif type(value) is dict:
        made.update({key: with_own_containers(each, known) for key, each in value.items()})
    return made


def _allocated(region: Region, inputs: tuple[Any, ...], space: dict[str, Any]) -> dict[str, Any]:
    """The arrays without values that a region makes for later regions, if their sizes are known from its inputs."""
    values = dict(zip(region.inputs, inputs, strict=True))
    made: dict[str, Any] = {}
    for node in region.nodes:
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        if not isinstance(node, ast.Assign) or not isinstance(target, ast.Name) or not isinstance(node.value, ast.Call):
            continue
        with suppress(Exception):  # the size is a result of the region
            function = eval(compile(ast.Expression(node.value.func), "<allocation>", "eval"), space, values)
            if function in (np.empty, np.empty_like) and target.id in region.outputs:
                made[target.id] = eval(compile(ast.Expression(node.value), "<allocation>", "eval"), space, values)
    return made


def _fail_again(*_: Any) -> None:
    """Raises the present exception again, because an inspection runs no statements."""
    raise


def _not_compiled(nodes: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for node in nodes:
        parts = [part for name in ("body", "orelse", "finalbody") for part in getattr(node, name, ())]
        called = names_in(node) & {RUN, AGAIN, LISTS}
        trivial = isinstance(node, ast.Return) and not any(isinstance(part, ast.Call) for part in walk(node))
        if isinstance(node, Growing):
            continue
        if isinstance(node, ast.For | ast.While | ast.With | ast.If | ast.Try):
            if not isinstance(node, ast.Try):
                yield node
            yield from _not_compiled(parts)
        elif not (called or trivial or isinstance(node, ast.FunctionDef | ast.Pass | ast.Delete)):
            yield node


def _jit(source: FunctionSource) -> _native.JitFunction:
    from ..calls.compiling import jit_of_source

    return jit_of_source(source)


def _look_at(
    look: Callable[..., None], region: _native.JitFunction, arguments: tuple[Any, ...], opts: CompileOptions | None
) -> None:
    """Calls `look(function, arguments, opts)` for each program that a call of the region runs."""
    from ..calls.compiling import driver_behind

    driver = driver_behind(region, arguments)
    if driver is None:
        try:
            look(region, arguments, opts)
            return
        except CompileError as error:
            driver = driver_behind(region, arguments, refused=True) if error.python_may_call else None
            if driver is None:
                raise
    driver.inspect(arguments, opts, look)


def _check(splitter: Splitter, methods: Sequence[FunctionSource]) -> Findings:
    """Raises CompileError with the errors in all regions of the function and of its callees before the first region
    runs. If Python keeps attributes of objects, only errors that do not depend on the arguments count; others appear
    when a region is compiled."""
    kept = splitter.resolver.kept
    splitters = [splitter]
    known = {splitter.source.function}
    left = deque(methods)
    for each in splitters:  # the loop appends to this list
        left += each.calls
        while left:
            source = left.popleft()
            node = source.tree()
            if source.function not in known and isinstance(node, ast.FunctionDef):
                known.add(source.function)
                splitters.append(Splitter(source, node, _jit, kept))
    regions = [region.function.__parpy_source__ for each in splitters for region in each.regions]
    if kept != NOTHING_KEPT:
        regions = [region for region in regions if _is_wrong(region)]
    return check(regions, [(each.source, name) for each in splitters for name in each.undefined()])


def _is_wrong(region: FunctionSource) -> bool:
    """Whether a region has an error that does not depend on the arguments."""
    try:
        check([region], [])
    except CompileError as error:
        return error.says_only("certain")
    return False


def _small_driver(source: FunctionSource, values: tuple[Any, ...]) -> Driver | None:
    """The driver of a function that Python calls with these values of its parameters."""
    return driver_of(source, kept_for(source, Reads(source), values), called=True)


def _bound(source: FunctionSource, arguments: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
    """The values of the function's parameters in a call."""
    given = signature(source.function).bind(*arguments, **named)
    given.apply_defaults()
    return tuple(given.arguments.values())


def driver_of(
    source: FunctionSource, kept: Kept = NOTHING_KEPT, methods: Sequence[FunctionSource] = (), called: bool = False
) -> Driver | None:
    """The driver of the function; None if all of it is compiled. `methods` are those that Python may call. `called`
    tells that Python calls the function repeatedly."""
    node = source.tree()
    if not isinstance(node, ast.FunctionDef) or node.args.vararg is not None or node.args.kwarg is not None:
        return None  # the parser refuses such parameters
    resolver = Resolver(source, kept=kept)
    if not needs_driver(source, resolver, called=False):
        return None
    return Driver(source, tuple(resolver.scope.guards.values()), node, kept, methods, called)
