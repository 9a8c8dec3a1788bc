"""From a Python function to a surface module: the function and every jit function it reaches.

`parse` is what the call path uses, once per decorated function. The result never changes; each
specialisation works on a clone of its module. How statements, expressions and calls are lowered
stands in the files beside this one; what names stand for in syntax/names.py.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .. import _native
from ..calls.errors import raise_for
from ..syntax.annotations import Declared as Annotation
from ..syntax.annotations import Places, converted_to, declared, symbol_places
from ..syntax.deep_stack import on_deep_stack, with_deep_stack
from ..syntax.names import MISSING, Capture, Guard, source_of
from ..syntax.paths import ends
from ..syntax.source import FunctionSource
from ..types import BufferType, Symbol, TypeVar, elem_size
from .memory import GEOMETRY
from .overloads import Overloads
from .scope import FunctionScope, Program, Span


@dataclass(frozen=True, slots=True)
class Param:
    """One declared surface parameter: an argument, or the entry `key` of a dict argument. Any object will do for one
    that is `unused`: nothing reads or annotates it."""

    name: str
    key: str | None = None
    unused: bool = False


@dataclass(frozen=True, slots=True)
class Declared:
    """One parameter as the Python function declares it. `keyword_only` and `positional_only` as in
    inspect; `default` counts only if `has_default`."""

    name: str
    has_default: bool
    default: Any
    keyword_only: bool = False
    positional_only: bool = False


@dataclass(frozen=True, slots=True)
class Surface:
    """A parsed function.

    The entry of `module` takes `params` and then one parameter for each of `captures`. Compiled
    code is valid while every guard holds; where one does not, parse again.
    """

    module: _native.Module
    name: str
    signature: tuple[Declared, ...]
    params: tuple[Param, ...]
    captures: tuple[Capture, ...]
    guards: tuple[Guard, ...]
    sources: tuple[_native.Source, ...]
    annotations: tuple[Annotation | None, ...]  # of the params
    results: int = 0  # how many arrays of one element follow the captures, for what the function returns
    returns_tuple: bool = False
    general: bool = False  # compiled once for all values and sizes of its parameters


@dataclass(frozen=True, slots=True)
class Findings:
    """What it relies on that functions were found right."""

    guards: tuple[Guard, ...]
    captures: tuple[Capture, ...]

    def hold(self) -> bool:
        return all(guard.holds() for guard in self.guards) and all(
            capture.read() is not MISSING for capture in self.captures
        )


class FunctionFrontend(Overloads):
    """One function from its head to its last statement."""

    def build(self) -> None:
        self.begin()
        node = self.node
        for name, form in self.forms:
            self.receive(name, form)
        if self.entry:
            self.take_tuples()
        try:
            first = [
                *self.keep_given(),
                *self.checked_parameters(),
                *self.checked_arrays(),
                *self.converted_parameters(),
            ]
            body = self.dispatch() if self.source.alternatives else self.body(node.body)
            body = [*first, *self.allocations, *body]
            self.module.set_body(self.function, self.as_kernel(body) if self.entry and self.program.kernel else body)
            self.check_returns()
        except RecursionError:
            if not on_deep_stack():
                raise
            self.error(
                "P011",
                node,
                f"the statements of '{node.name}' are nested too deeply",
                "split them, with variables for parts of an expression",
            )

    def begin(self) -> None:
        """Everything in front of the first statement."""
        node = self.node
        if isinstance(node, ast.AsyncFunctionDef):
            self.error(
                "P005",
                node,
                f"the async function '{node.name}' cannot be compiled",
                "compile an ordinary function and call it from the async one",
            )
        for argument, stars in ((node.args.vararg, "*"), (node.args.kwarg, "**")):
            if argument is not None:
                self.error(
                    "P006",
                    argument,
                    f"the parameter '{stars}{argument.arg}' cannot be compiled",
                    "name every parameter",
                )
        declared = {a.arg: a for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
        self.assigned.update(declared)
        for argument in (node.args.vararg, node.args.kwarg):
            if argument is not None:
                self.assigned.add(argument.arg)
        self.parameters = declared

    def converted_parameters(self) -> list[_native.Stmt]:
        """Numbers whose annotation says another type than a Python number has get that type."""
        statements = []
        for name, argument in self.parameters.items():
            scalar = converted_to(self.annotations.get(name))
            if scalar is not None and not self.is_no_variable(name):
                span = self.span(argument)
                var = self.variable(name, argument)
                value = self.module.read(var, span)
                if not self.entry and scalar.startswith(("i", "u")):
                    value = self.module.op("as_index", [value], span)  # no float
                value = self.module.convert(value, scalar, span)
                statements.append(self.module.assign(var, value, None, span))
        return statements

    def checked_parameters(self) -> list[_native.Stmt]:
        """What the annotations say of arguments that compiled code passes; infer-types compares it with those of each
        call, as bindings/annotations.cpp does for calls from Python."""
        statements: list[_native.Stmt] = []
        if self.entry:
            return statements
        places, op = symbol_places(self.annotations), self.module.op
        for name, argument in self.parameters.items():
            annotation, span = self.annotations.get(name), self.span(argument)
            known = declared(annotation)
            if known is None or self._comes_in_parts(name):
                continue
            fail = f"'{name}' is not what its annotation says", f"the annotation says {known.shown}"

            def require(holds: _native.Expr, fail: tuple[str, str] = fail, span: Span = span) -> None:
                failing = self.module.fail("P231", fail[0], [], span, fail[1])
                statements.append(self.module.if_(holds, [], [failing], span))

            whole = self.module.read(self.variable(name, argument), span)
            if isinstance(annotation, BufferType):
                rank = self.module.constant(len(annotation.shape), span)
                require(op("==", [self._rank_of(name, argument), rank], span))
                require(op("types_equal", [whole, self._type_of(annotation.elem, places, span)], span))
                for number, extent in enumerate(annotation.shape):
                    if isinstance(extent, int) or places[extent] != (name, number):
                        found = self._extent_of(name, number, argument)
                        require(op("==", [found, self._value_of(extent, places, argument)], span))
            elif isinstance(annotation, Symbol | TypeVar) and places[annotation] == (name, None):
                continue
            elif isinstance(annotation, Symbol):
                require(op("==", [whole, self._value_of(annotation, places, argument)], span))
            else:  # marked as a number
                elem = annotation if isinstance(annotation, TypeVar) else elem_size(annotation)
                require(op("types_equal", [op("pos", [whole], span), self._type_of(elem, places, span)], span))
        return statements

    def _comes_in_parts(self, name: str) -> bool:
        return name not in self.views and self.is_no_variable(name)

    def _type_of(self, elem: Any, places: Places, span: Span) -> _native.Expr:
        if isinstance(elem, TypeVar):
            first, _ = places[elem]
            return self.module.read(self.variable(first, self.parameters[first]), span)
        return self.module.convert(self.module.constant(0, span), elem.value, span)

    def _rank_of(self, name: str, argument: ast.arg) -> _native.Expr:
        if name in self.views:
            return self.view_rank(self.views[name], ast.copy_location(ast.Name(name, ast.Load()), argument))
        return self.module.rank(self.variable(name, argument), self.span(argument))

    def _extent_of(self, name: str, number: int, argument: ast.arg) -> _native.Expr:
        if name in self.views:
            return self.view_extent(self.views[name], number, ast.copy_location(ast.Name(name, ast.Load()), argument))
        return self.module.extent(self.variable(name, argument), number, self.span(argument))

    def _value_of(self, extent: int | Symbol, places: Places, argument: ast.arg) -> _native.Expr:
        """A constant, or what the first parameter with the symbol says."""
        if isinstance(extent, int):
            return self.module.constant(extent, self.span(argument))
        first, number = places[extent]
        if number is None:
            return self.module.read(self.variable(first, self.parameters[first]), self.span(argument))
        return self._extent_of(first, number, argument)

    def finish(self) -> list[Param]:
        """Adds the parameters, which the body decided about: dict entries, then captures."""
        params = []
        for name, var in zip(GEOMETRY, self.launch, strict=False):
            self.module.add_param(self.function, var)
            params.append(Param(name))
        for name, argument in self.parameters.items():
            entries = self.dict_params.get(name)
            unused = entries is None and (self.is_unused_record(name) or self._is_for_python(name))
            if name in self.absent or unused:
                continue
            if entries is None:
                nobody = self.entry and not self.program.kernel and not self._is_named(name)
                for var in self.received.get(name) or [self.variable(name, argument)]:
                    self.module.add_param(self.function, var)
                params.append(Param(name, unused=nobody))
                continue
            for key, var in entries.entries.items():
                self.module.add_param(self.function, var)
                params.append(Param(name, key))
        for _, var in self.captures.values():
            self.module.add_param(self.function, var)
        for var in self.results or ():
            self.module.add_param(self.function, var)
        return params

    def _is_for_python(self, name: str) -> bool:
        """Whether a parameter of the entry, which nothing here uses, has a default that is no number: mode="fast"."""
        if not self.entry or self.program.kernel or self._is_named(name):
            return False
        default = inspect.signature(self.source.function, follow_wrapped=False).parameters[name].default
        return default is None or isinstance(default, str)

    def _is_named(self, name: str) -> bool:
        """Whether the body reads the parameter, or its annotation says what it must be."""
        return name in self.variables or name in self.annotations or name in self.received

    def check_returns(self) -> None:
        """An entry with results has them on every path."""
        if self.results is None:
            return
        body = self.node.body
        if not self.bare_returns and ends(body):
            return
        self.error(
            "P211",
            self.bare_returns[0] if self.bare_returns else body[-1],
            f"'{self.node.name}' returns a value on some paths and none on others",
            "end every path with 'return' and a value",
        )


def parse(
    function: object,
    kernel: bool = False,
    program: Program | None = None,
    frontend: type[FunctionFrontend] = FunctionFrontend,
) -> Surface:
    """The surface module of a jit function, a captured source, or a plain Python function.

    Of a kernel written by hand the parameters begin with GEOMETRY. Languages of their own give a ``program`` and
    a ``frontend``.

    Raises CompileError, or one of its flavours, with everything found wrong in the function and in
    those it calls.
    """
    return with_deep_stack(lambda: _parse(function, program or Program(kernel), frontend))


def check(functions: Sequence[FunctionSource], undefined: Sequence[tuple[FunctionSource, ast.Name]]) -> Findings:
    """Raises CompileError with everything found wrong in the functions and in those they call, and with names that
    Python will not find."""
    program = Program()
    scopes: list[FunctionScope] = []

    def build() -> None:
        for source, name in undefined:
            FunctionFrontend(program, source, False).find(name)
        for source in functions:
            entry = FunctionFrontend(program, source, True)
            entry.build()
            scopes.append(entry)
        _build_pending(program)

    with_deep_stack(build)
    captures = [capture for scope in (*scopes, *program.pending) for capture, _ in scope.captures.values()]
    return Findings(tuple(program.guards.values()), tuple(captures))


def _build_pending(program: Program) -> None:
    """The functions that compiled code calls. Raises CompileError with all that was found wrong."""
    done = 0
    while done < len(program.pending):  # building one may meet others
        helper = program.pending[done]
        assert isinstance(helper, FunctionFrontend)
        helper.build()
        done += 1
    raise_for(program.diagnostics, program.module.sources)


def _parse(function: object, program: Program, frontend: type[FunctionFrontend]) -> Surface:
    entry = frontend(program, source_of(function), True)
    entry.build()
    _build_pending(program)
    functions: list[FunctionScope] = [entry, *program.helpers.values()]
    _pass_captures_on(functions)
    params: list[Param] = []
    for scope in functions:
        assert isinstance(scope, FunctionFrontend)
        own = scope.finish()
        params = own if scope is entry else params
        for call, callee, span in scope.calls:
            for key in callee.captures:
                value = scope.module.read(scope.captures[key][1], span)
                scope.module.add_operand(call, value)
    return Surface(
        module=program.module,
        name=entry.function.name,
        signature=_signature(entry.source.function),
        params=tuple(params),
        captures=tuple(capture for capture, _ in entry.captures.values()),
        guards=tuple(program.guards.values()),
        sources=tuple(program.module.sources),
        general=program.kernel,
        results=len(entry.results or ()),
        returns_tuple=entry.returns_tuple,
        annotations=tuple(
            declared(entry.annotations.get(param.name)) if param.key is None else None for param in params
        ),
    )


def _pass_captures_on(functions: list[FunctionScope]) -> None:
    """What a function captures, its callers must have to pass it on."""
    changed = True
    while changed:
        changed = False
        for scope in functions:
            for _, callee, span in scope.calls:
                for key, (capture, _) in list(callee.captures.items()):
                    if key not in scope.captures:
                        scope.pass_on(key, capture, span)
                        changed = True


def _signature(function: Any) -> tuple[Declared, ...]:
    code = function.__code__
    positional = code.co_varnames[: code.co_argcount]
    keyword_only = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    defaults = function.__defaults__ or ()
    first_default = len(positional) - len(defaults)
    declared = []
    for index, name in enumerate(positional):
        has = index >= first_default
        value = defaults[index - first_default] if has else None
        only = index < code.co_posonlyargcount
        declared.append(Declared(name, has, value, positional_only=only))
    for name in keyword_only:
        has = name in (function.__kwdefaults__ or {})
        value = function.__kwdefaults__[name] if has else None
        declared.append(Declared(name, has, value, keyword_only=True))
    return tuple(declared)
