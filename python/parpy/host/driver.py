"""Functions of which Python runs a part: allocation, callbacks, returned arrays, and other names for arrays.

Python runs these statements and the control flow around them; each maximal sequence of others is compiled, as a
function of the variables that it reads, which returns the numbers that are read later.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, MutableSequence, Set
from contextlib import AbstractContextManager
from functools import partial
from inspect import signature
from types import FunctionType, MethodType
from typing import Any

from .. import _native
from ..calls import performance
from ..calls.options import CompileOptions
from ..frontend.parse import Findings, check
from ..syntax.names import Guard, callable_source, source_of
from ..syntax.rebuilt import rebuilt
from ..syntax.source import FunctionSource
from ..types import bound_to
from .ahead import Seen, nothing
from .foreign_calls import gives_container
from .kept import NOTHING_KEPT, Kept
from .numpy_calls import dry, is_array_function
from .python_parts import Resolver, needs_driver
from .splitter import UNSET, Splitter, labels_of

_OF_PYTHON = (MutableSequence, Set, bytes)
_GPU_CODE = "gpu"  # in mappings: array code outside of the loops they name


class Driver:
    """What a call of such a function runs."""

    def __init__(self, source: FunctionSource, guards: tuple[Guard, ...], node: ast.FunctionDef, kept: Kept) -> None:
        self.guards = guards
        code = source.function.__code__
        self._names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        self._splitter = splitter = Splitter(source, node, _jit, kept)
        self.regions = splitter.regions
        self._live = rebuilt(source.function, splitter.driver(node, False))
        self._dry = rebuilt(source.function, splitter.driver(node, True))
        self._options: dict[int, tuple[CompileOptions, dict[str, Any], list[CompileOptions]]] = {}
        # What depends on objects shows when it is compiled for them.
        self._findings = _check(splitter) if kept == NOTHING_KEPT else Findings((), ())
        self._slow = splitter.slow_loops()
        self._plain: dict[FunctionType, _native.JitFunction] = {}

    def __call__(self, values: tuple[Any, ...], opts: CompileOptions | None, debug: bool) -> Any:
        if not self._findings.hold():
            self._findings = _check(self._splitter)
        per_region = None if opts is None else self._per_region(opts)

        def run(index: int, *inputs: Any) -> Any:
            chosen = None if per_region is None else per_region[index]
            region, arguments, open_outputs = self._splitter.region_for(index, inputs)
            results = region(*arguments, opts=chosen, debug=debug)
            return self._splitter.known(index, open_outputs, results) if open_outputs else results

        def call(function: Callable[..., Any]) -> Callable[..., Any]:
            if isinstance(function, MethodType) and isinstance(function.__func__, FunctionType | _native.JitFunction):
                compiled = self._compiled(function.__func__)
                return partial(compiled, function.__self__, opts=self._nested(opts, function.__func__))
            if callable_source(function) is None:
                return function
            return self._unless_lists(function, partial(self._compiled(function), opts=self._nested(opts, function)))

        for text in self._slow:
            performance.warn("P315", text)
        self._slow = []
        with self._symbols(values):
            return self._live(run, call, UNSET, *values)

    @staticmethod
    def _unless_lists(function: Callable[..., Any], compiled: Callable[..., Any]) -> Callable[..., Any]:
        """The compiled function, but for calls with lists and the like, which Python alone has: it runs these."""
        source = callable_source(function)
        plain = function if source is None else source.function

        def call(*given: Any, **named: Any) -> Any:
            of_python = any(isinstance(each, _OF_PYTHON) for each in (*given, *named.values()))
            return (plain if of_python else compiled)(*given, **named)

        return call

    def _compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The jit function of a plain one."""
        if not isinstance(function, FunctionType):
            return function
        if function not in self._plain:
            self._plain[function] = _jit(source_of(function))
        return self._plain[function]

    def _symbols(self, values: tuple[Any, ...]) -> AbstractContextManager[None]:
        return bound_to(self._splitter.annotations, dict(zip(self._names, values, strict=True)))

    @staticmethod
    def _nested(opts: CompileOptions | None, function: Callable[..., Any]) -> CompileOptions | None:
        """The options for a jit function of which Python runs a part, too."""
        source = callable_source(function)
        if opts is None or source is None:
            return opts
        labels = labels_of(source, set())
        kept = {label: loop for label, loop in opts.parallelize.items() if label in labels or label == _GPU_CODE}
        return CompileOptions(**{**opts._values, "parallelize": kept})

    def inspect(self, values: tuple[Any, ...], opts: CompileOptions | None, look: Callable[..., Any]) -> list[Any]:
        """`look(region, arguments, opts)` for each region that a call gets to, without running any."""
        found: list[Any] = []
        self._visit(
            _bound(self._splitter.source, values, {}), opts, lambda *region: found.append(look(*region)), Seen()
        )
        return found

    def _visit(
        self, values: tuple[Any, ...], opts: CompileOptions | None, look: Callable[..., None], seen: Seen
    ) -> Any:
        """The same, also for the functions that Python calls; those that were `seen` are not looked at."""
        per_region = None if opts is None else self._per_region(opts)
        seen.drivers[self._splitter.source.function] = self

        def run(index: int, *inputs: Any) -> tuple[int, ...]:
            region, arguments, _ = self._splitter.region_for(index, inputs)
            _look_at(look, region, arguments, None if per_region is None else per_region[index])
            return (0,) * len(self._splitter.parts[index].outputs)

        def call(function: Callable[..., Any]) -> Callable[..., Any]:
            source = callable_source(function)
            if source is None:
                return (
                    dry(function) if is_array_function(function) else function if gives_container(function) else nothing
                )
            again = source.function in seen.drivers
            driver = seen.drivers[source.function] if again else driver_of(source)
            assert driver is not None

            def visit(*arguments: Any, **named: Any) -> Any:
                if again and seen.ends():
                    return nothing()
                given, ours = _bound(source, arguments, named), self._nested(opts, function)
                return driver._visit(given, ours, (lambda *_: None) if again else look, seen)

            return visit

        with self._symbols(values):
            return self._dry(run, call, UNSET, *values)

    def _per_region(self, opts: CompileOptions) -> list[CompileOptions]:
        known = self._options.get(id(opts))
        if known is not None and known[0] is opts and known[1] == opts._values:
            return known[2]
        compiled = self._splitter.nested.union(*self._splitter.labels)
        for label in opts.parallelize:
            if label in self._splitter.run_by_python and label not in compiled:
                self._splitter.refuse_label(label)
        made = [self._restricted(opts, index) for index in range(len(self.regions))]
        if len(self._options) > 64:
            self._options.clear()
        self._options[id(opts)] = (opts, dict(opts._values), made)
        return made

    def _restricted(self, opts: CompileOptions, index: int) -> CompileOptions:
        """The options with the loops of one region; those of none go to the first, which says that they are unknown."""
        splitter = self._splitter
        own = splitter.labels[index]
        others: set[str] = splitter.nested.union(*splitter.labels) - own
        first, last = splitter.lines[index]
        kept = {}
        for label, loop in opts.parallelize.items():
            _, at, place = label.rpartition("@")
            line = place.partition("#")[0]
            if label == _GPU_CODE:
                kept[label] = loop
            elif at and line.isdigit():
                inside = first <= int(line) <= last
                placed = any(a <= int(line) <= b for a, b in splitter.lines)
                if inside or (index == 0 and not placed):
                    kept[label] = loop
            elif label in own or (index == 0 and label not in others):
                kept[label] = loop
        return CompileOptions(**{**opts._values, "parallelize": kept})


def _jit(source: FunctionSource) -> _native.JitFunction:
    from ..calls.jit import jit_of_source

    return jit_of_source(source)


def _look_at(
    look: Callable[..., None], region: _native.JitFunction, arguments: tuple[Any, ...], opts: CompileOptions | None
) -> None:
    """`look(function, arguments, opts)` for what a call of the region runs."""
    from ..calls.jit import driver_behind

    driver = driver_behind(region, arguments)
    if driver is None:
        look(region, arguments, opts)
    else:
        driver.inspect(arguments, opts, look)


def _check(splitter: Splitter) -> Findings:
    """Raises CompileError with what is wrong in any region of the function or of those that Python calls for it,
    before the first one runs."""
    splitters = [splitter]
    known = {splitter.source.function}
    for each in splitters:  # grows meanwhile
        for source in each.calls:
            node = source.tree()
            if source.function not in known and isinstance(node, ast.FunctionDef):
                known.add(source.function)
                splitters.append(Splitter(source, node, _jit, splitter.resolver.kept))
    regions = [region.__parpy_source__ for each in splitters for region in each.regions]
    return check(regions, [(each.source, name) for each in splitters for name in each.undefined()])


def _bound(source: FunctionSource, arguments: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
    """The values of the function's parameters in a call."""
    given = signature(source.function).bind(*arguments, **named)
    given.apply_defaults()
    return tuple(given.arguments.values())


def driver_of(source: FunctionSource, kept: Kept = NOTHING_KEPT) -> Driver | None:
    """What runs calls of the function; None where all of it is compiled."""
    node = source.tree()
    if not isinstance(node, ast.FunctionDef) or node.args.vararg is not None or node.args.kwarg is not None:
        return None  # whoever parses it refuses such parameters
    resolver = Resolver(source, kept=kept)
    if not needs_driver(source, resolver, called=False):
        return None
    return Driver(source, tuple(resolver.scope.guards.values()), node, kept)
