"""Regions: maximal sequences of statements between those that Python runs. Each is a jit function of the variables that
it reads, and returns the variables that are live after it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import _native
from ..calls import performance
from ..calls.errors import CompileError
from ..calls.options import CompileOptions
from ..syntax.fields import as_written
from ..syntax.lazy import lazy
from ..syntax.names import Binding, callable_source
from ..syntax.nested_source import NestedSource, free_names
from ..syntax.rebuilt import rebuilt
from ..syntax.source import FunctionSource
from ..syntax.walks import copy_of, walk
from .alike import forms_of
from .liveness import Names, assigned
from .replaced import Lent, copied, is_builtin, only_reads, replaced_at_times, share_memory
from .returns import Early, Needs, if_early, mark_ends, split_result
from .unset import NO_VALUE, at, marked, never_assigned, without_arrays

_SMALL = frozenset(
    map(np.dtype, ("int8", "int16", "int32", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "complex64"))
)
_MOST_APART = 3  # the most arrays without a certain value, because each combination of them has a return of its own
_MOST_FORMS = 64  # the most forms of arguments that one region remembers
DONE = "__parpy_done__"  # the results of a loop in which lists grow, or that the function may leave by `return`
EARLY = "__parpy_early__"  # the class Early
UNSET = object()  # the result of a region for a variable without a value


class RegionSource(NestedSource):
    """A part of a function's text that is compiled as a separate function."""

    __slots__ = ()

    part = True


class Around(NamedTuple):
    """The function that regions are parts of."""

    source: FunctionSource
    jit: Callable[[FunctionSource], _native.JitFunction]
    annotations: dict[str, Any]
    names: Names  # its variables
    unset: Names  # the variables that may be read without a value
    unset_arrays: Names
    is_label: Callable[[ast.stmt], bool]
    is_users: Callable[[ast.Call], bool]
    find: Callable[[ast.expr], Binding | None]

    def new_name(self, name: str) -> str:
        while name in self.names:
            name += "_"
        return name


class Call(NamedTuple):
    """A call of a region: the function for the inputs that have values, these inputs, and the old values of outputs
    that the region may not assign."""

    function: _native.JitFunction
    arguments: tuple[Any, ...]
    kept: dict[str, Any]


class ByPython(NamedTuple):
    """A refused function as Python's, and the forms of the arguments for which it was refused."""

    function: Callable[..., Any]
    forms: set[tuple[Any, ...]]


class Region:
    """One region. `number` is the end of its name."""

    def __init__(
        self,
        around: Around,
        number: str,
        nodes: list[ast.stmt],
        inputs: list[str],
        outputs: list[str],
        functions: Mapping[str, object] | None = None,
        early: Needs | None = None,
        objects: Names = frozenset(),
    ) -> None:
        """`functions` are further ones that the statements call, by name. `early` tells that the region may return
        early, and what must hold for that (returns.py). `objects` are those that Python has made."""
        self._objects = objects & {*inputs}
        self._python: dict[_native.JitFunction, Callable[..., Any]] = {}  # the functions as Python's
        self.early = early is not None
        self._dimensions = [] if early is None else sorted(early.dimensions)
        self._around = around
        self._number, self._functions = number, functions
        self.nodes, self.inputs, self.outputs = nodes, inputs, outputs
        self._has_names_of_options = not {"opts", "debug"}.isdisjoint(inputs)
        # The outputs that some paths do not assign, if they are arrays, and the calls that get them.
        self._replaced = replaced_at_times(nodes, outputs, inputs, around.is_users)
        self.is_plain = around.unset.isdisjoint(inputs) and not self._replaced.names
        self._variants: dict[tuple[Names, Names], _native.JitFunction] = {}
        self.by_python: dict[_native.JitFunction, ByPython] = {}  # replacements of refused functions

    @lazy
    def function(self) -> _native.JitFunction:
        """The function for calls in which all inputs have values."""
        return self._compiled(frozenset(), frozenset())

    @lazy
    def gives_functions(self) -> bool:
        """Whether outputs may be functions that read outer variables. A region cannot return them, because they must
        read these variables at the time of their calls."""
        parts = [part for node in self.nodes for part in walk(node)]
        made = [part for part in parts if isinstance(part, ast.Lambda) and free_names(part) & self._around.names]
        named = [part for part in parts if isinstance(part, ast.Assign) and assigned([part]) & frozenset(self.outputs)]
        return any(part in made for each in named for part in walk(each.value))

    def called_by(self, name: str, numbers: Sequence[int]) -> list[ast.stmt]:
        """The statements that assign the results of `name(*numbers, *inputs)` to the outputs."""
        last = self.nodes[-1]
        given = [*map(ast.Constant, numbers), *map(self.input, self.inputs)]
        call: ast.expr = ast.Call(ast.Name(name, ast.Load()), given, [])
        made: list[ast.stmt] = []
        if self.early:
            made += [ast.Assign([ast.Name(DONE, ast.Store())], call), if_early(DONE, EARLY)]
            call = ast.Name(DONE, ast.Load())
        if self.outputs:
            stores: list[ast.expr] = [ast.Name(each, ast.Store()) for each in self.outputs]
            made += [ast.Assign([ast.Tuple(stores, ast.Store())], call), *self.without_value()]
        elif not self.early:
            made.append(ast.Expr(call))
        return [at(each, last) for each in made]

    def without_value(self) -> list[ast.stmt]:
        """The statements that delete the outputs to which the region has not given a value."""
        made: list[ast.stmt] = []
        for each in (each for each in self.outputs if each in self.inputs and each in self._around.unset):
            is_unset = ast.Compare(ast.Name(each, ast.Load()), [ast.Is()], [ast.Name(NO_VALUE, ast.Load())])
            made.append(ast.If(is_unset, [ast.Delete([ast.Name(each, ast.Del())])], []))
        return made

    def input(self, name: str) -> ast.expr:
        """The variable or, if it may have no value, a function that returns it."""
        load = ast.Name(name, ast.Load())
        nothing = ast.arguments([], [], None, [], [], None, [])
        return ast.Lambda(nothing, load) if name in self._around.unset else load

    def call(self, inputs: tuple[Any, ...]) -> Call:
        if self.is_plain:
            return Call(self.function, inputs, {})
        values: dict[str, Any] = {}
        for name, value in zip(self.inputs, inputs, strict=True):
            try:
                values[name] = value() if name in self._around.unset else value
            except NameError:
                continue
        without = frozenset(self.inputs).difference(values)
        replaced = frozenset(name for name in self._replaced.names - without if self._is_replaced(name, values))
        given = tuple(values.values())
        if not without and not replaced:
            return Call(self.function, given, {})
        key = without, replaced
        if key not in self._variants:
            self._variants[key] = self._compiled(*key)
        kept = {name: values.get(name, UNSET) for name in self.outputs if name in without | replaced}
        return Call(self._variants[key], given, kept)

    def run(
        self, function: Callable[..., Any], arguments: tuple[Any, ...], opts: CompileOptions | None, debug: bool
    ) -> Any:
        """Calls the region's function. Variables of the user may have the names of the options, which are then those of
        the process."""
        if self._has_names_of_options:
            given = {"opts": opts, "debug": debug}
            return function(*arguments, **{name: value for name, value in given.items() if name not in self.inputs})
        return function(*arguments, opts=opts, debug=debug)

    def may_run(self, inputs: tuple[Any, ...], opts: CompileOptions | None = None) -> bool:
        """Whether results of compiled code are Python's for these inputs: early results share no memory with arrays,
        and numbers of objects, which are weak in Python, meet no numbers of NumPy's small types, unless the caller maps
        the loops."""
        if not self._dimensions and not self._objects:
            return True
        given = dict(zip(self.inputs, inputs, strict=False))
        if any(getattr(given.get(name), "ndim", 0) != count for name, count in self._dimensions):
            return False
        if not self._objects or (opts is not None and opts.parallelize):
            return True
        values = [*given.values()]
        values += [each for name in self._objects for each in getattr(given.get(name), "__dict__", {}).values()]
        small = next((each.dtype for each in values if getattr(each, "dtype", None) in _SMALL), None)
        if small is not None:
            code, line = self._around.source.function.__code__, self.nodes[-1].lineno + self._around.source.line_shift
            performance.python_runs(
                f"{code.co_filename}:{line}:{self.nodes[-1].col_offset + 1}",
                "this loop",
                f"numbers of an object that the function has made are weak beside numbers of type {small.name}",
            )
        return small is None

    def as_python(self, function: _native.JitFunction) -> Callable[..., Any]:
        if function not in self._python:
            self._python[function] = _as_python(function)
        return self._python[function]

    def _is_replaced(self, name: str, values: Mapping[str, Any]) -> bool:
        array, uses = values[name], self._replaced
        if getattr(array, "ndim", 0) == 0:
            return False
        if any(share_memory(array, values[other]) for other in uses.stored & values.keys()):
            return False
        lent = [other for other in uses.lent.keys() & values.keys() if share_memory(array, values[other])]
        return all(self._only_reads(call, values) for other in lent for call in uses.lent[other])

    def _only_reads(self, call: Lent, values: Mapping[str, Any]) -> bool:
        """Whether a called function only reads the array that it gets."""
        if isinstance(call.function, ast.Name) and call.function.id in values:
            function = values[call.function.id]
        else:
            binding = self._around.find(call.function)
            function = None if binding is None else binding.value
        source = callable_source(function)
        return is_builtin(function) if source is None else only_reads(source, call.place)

    def results(self, kept: dict[str, Any], results: Any) -> Any:
        """The outputs. Flags at the end of the results tell which of the `kept` outputs the region has assigned."""
        if self.early:
            results = split_result(results)
        if not kept or isinstance(results, Early):
            return results
        is_set = dict(zip(kept, results[len(self.outputs) :], strict=True))
        return tuple(
            value if is_set.get(name, True) else kept[name] for name, value in zip(self.outputs, results, strict=False)
        )

    def _compiled(self, without: Names, replaced: Names) -> _native.JitFunction:
        """The jit function. Variables `without` a value are no parameters. The arrays `replaced`, which some paths
        replace, are copied first, so that results are new arrays; flags among the results tell which are replaced."""
        around, nodes, first = self._around, self.nodes, self.nodes[0]
        arrays = without & around.unset_arrays - assigned(nodes)
        if arrays:
            nodes = without_arrays(nodes, arrays, around.new_name("unset"), around.is_label)
        never = (without | frozenset(self.outputs)) - assigned(nodes)
        body = [at(each, first) for each in never_assigned(never)]
        marks = {each: around.new_name(f"{each}_is_set") for each in self.outputs if each in without | replaced}
        body += [copied(each, first) for each in sorted(replaced)]
        body += marked(nodes, marks) if marks else nodes
        if self.outputs:
            values: dict[str, ast.expr] = {each: ast.Name(each, ast.Load()) for each in self.outputs}
            apart = [each for each in self.outputs if each in without & around.unset_arrays][:_MOST_APART]
            for each in without.intersection(self.outputs).difference(apart):
                values[each] = ast.IfExp(ast.Name(marks[each], ast.Load()), values[each], ast.Constant(False))
            ends = _returns(values, apart, marks)
            if self.early:
                mark_ends(ends)
            body += [at(each, nodes[-1]) for each in ends]
        elif self.early:
            body.append(at(ast.Return(ast.Tuple([ast.Constant(False)], ast.Load())), nodes[-1]))
        given = [each for each in self.inputs if each not in without]
        arguments = ast.arguments([], [at(ast.arg(each), first) for each in given], None, [], [], None, [])
        python = around.source.function
        node = at(ast.FunctionDef(python.__name__ + self._number, arguments, body, [], None), first)
        function = rebuilt(python, node, self._functions)
        function.__annotations__ = {each: around.annotations[each] for each in given if each in around.annotations}
        source = RegionSource(around.source, node, function)
        # Python cannot run the functions for lists, which change the memory that a repeated call begins with.
        source.undivided = self._functions is not None
        return around.jit(source)


def _returns(values: dict[str, ast.expr], apart: Sequence[str], marks: Mapping[str, str]) -> list[ast.stmt]:
    """Statements that return the values and the flags of variables that may have none. For arrays these are branches,
    because compiled code evaluates both operands of `a if c else b` if they are arrays."""
    if not apart:
        given = [*values.values(), *(ast.Name(mark, ast.Load()) for mark in marks.values())]
        return [ast.Return(ast.Tuple(given, ast.Load()))]
    name, rest = apart[0], apart[1:]
    without = values | {name: ast.Constant(False)}
    test = ast.Name(marks[name], ast.Load())
    return [ast.If(test, _returns(values, rest, marks), []), *_returns(without, rest, marks)]


def run_region(region: Region, inputs: tuple[Any, ...], opts: CompileOptions | None, debug: bool = False) -> Any:
    """The outputs of the region. If it cannot be compiled for these inputs, Python runs its statements, because earlier
    statements may have had effects already; not if the caller maps the loops."""
    function, arguments, kept = region.call(inputs)
    if not region.may_run(inputs, opts):
        return region.results(kept, region.as_python(function)(*arguments))
    by_python = region.by_python.get(function)
    if by_python is not None and forms_of(arguments) in by_python.forms:
        results = by_python.function(*arguments)
    else:
        try:
            results = region.run(function, arguments, opts, debug)
        except CompileError as error:
            mapped = opts is not None and opts.parallelize
            if not error.says_only("statement") or mapped or region.gives_functions:
                raise
            results = _run_by_python(region, function, arguments, error)
    return region.results(kept, results) if kept or region.early else results


def _run_by_python(
    region: Region, function: _native.JitFunction, arguments: tuple[Any, ...], error: CompileError
) -> Any:
    """The results of a call of the region's function by Python, after compilation was refused."""
    place, _, message = str(error).partition("\n")[0].partition(": error[")
    performance.python_runs(place, "this statement between the others", message.partition("]: ")[2])
    by_python = region.by_python.get(function) or ByPython(_as_python(function), set())
    try:
        results = by_python.function(*arguments)
    except (TypeError, ValueError) as failed:
        if isinstance(error, type(failed)):  # the first error has the place
            raise error from failed
        raise
    if len(by_python.forms) == _MOST_FORMS:
        by_python.forms.clear()
    by_python.forms.add(forms_of(arguments))
    region.by_python[function] = by_python
    return results


def _as_python(region: _native.JitFunction) -> Callable[..., Any]:
    source = region.__parpy_source__
    tree = source.tree()
    assert isinstance(tree, ast.FunctionDef)
    return rebuilt(source.function, as_written(copy_of(tree)), shift=source.line_shift)
