"""Translates a Python function and every jit function that it reaches to a surface module.

The call path uses `parse`, once per decorated function. The result never changes: each specialisation works on a
clone of its module. The files beside this one lower statements, expressions and calls. syntax/names.py resolves
names.
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
from ..syntax.annotations import declared
from ..syntax.deep_stack import on_deep_stack, with_deep_stack
from ..syntax.names import MISSING, OBJECT, Capture, Guard, is_choice, source_of
from ..syntax.source import FunctionSource
from ..syntax.walks import walk
from ..vocabulary.device import GEOMETRY
from .calls.random_numbers import begin_streams
from .composed import take_composed
from .draws import Root
from .expressions.function_values import settle_late
from .forms import RecordKind, Single, TupleKind
from .kernels.kernels import as_kernel
from .kernels.records import is_unused_record
from .languages import LOOPS
from .lowering import block
from .overloads import checked_arrays, dispatch
from .parameters import begin, checked_parameters, converted_parameters, keep_given, receive
from .program import Program
from .scope import OF_FUNCTION_AROUND, FunctionScope
from .statements.nested_functions import begin_nested


@dataclass(frozen=True, slots=True)
class Param:
    """One declared surface parameter: an argument, or the entry `key` of a dict argument. An `unused` parameter, which
    nothing reads or annotates, accepts any object."""

    name: str
    key: str | None = None
    unused: bool = False
    generator: bool = False  # whether the argument is a generator of random numbers; the module gets a key


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
    annotations: tuple[Annotation | None, ...]  # the annotations of `params`
    classes: tuple[type, ...] = ()  # the classes of returned named tuples, by their numbers
    general: bool = False  # whether one program serves all values and sizes of the parameters


@dataclass(frozen=True, slots=True)
class Findings:
    """The objects on which the result of a check of functions depends."""

    guards: tuple[Guard, ...]
    captures: tuple[Capture, ...]

    def hold(self) -> bool:
        return all(guard.holds() for guard in self.guards) and all(
            capture.read() is not MISSING for capture in self.captures
        )


def parse(function: object, program: Program | None = None) -> Surface:
    """The surface module of a jit function, a captured source, or a plain Python function.

    Languages other than loops pass a ``program`` of their own. The parameters of a kernel written by hand begin with
    GEOMETRY.

    Raises CompileError, or one of its flavours, with everything found wrong in the function and in
    those it calls.
    """
    return with_deep_stack(lambda: _parse(function, program or Program(LOOPS)))


def check(functions: Sequence[FunctionSource], undefined: Sequence[tuple[FunctionSource, ast.Name]]) -> Findings:
    """Raises CompileError with all errors in the functions and in those that they call, and with names that Python
    would not find."""
    program = Program(LOOPS)
    scopes: list[FunctionScope] = []

    def build() -> None:
        for source, name in undefined:
            FunctionScope(program, source, False).find(name)
        for source in functions:
            entry = FunctionScope(program, source, True)
            _build(entry)
            scopes.append(entry)
        _build_pending(program)

    with_deep_stack(build)
    captures = [capture for scope in (*scopes, *program.pending) for capture, _ in scope.captures.values()]
    return Findings(tuple(program.guards.values()), tuple(captures))


def _parse(function: object, program: Program) -> Surface:
    entry = FunctionScope(program, source_of(function), True)
    entry.know(_known(entry))
    _build(entry)
    _build_pending(program)
    functions: list[FunctionScope] = [entry, *program.helpers.values()]
    _pass_captures_on(functions)
    raise_for(program.diagnostics, program.module.sources)
    params: list[Param] = []
    for scope in functions:
        own = _finish(scope)
        params = own if scope is entry else params
        for call, callee, span in scope.calls:
            for key in callee.captures:
                var = scope.owned_variable(key) or scope.captures[key][1]
                scope.module.add_operand(call, scope.module.read(var, span))
                is_own = key in scope.enclosed and key not in scope.captures
                if callee.captures[key][0].kind == OF_FUNCTION_AROUND and not is_own and call in scope.function_values:
                    scope.module.set_lent(call)
    return Surface(
        module=program.module,
        name=entry.function.name,
        signature=_signature(entry.source.function),
        params=tuple(params),
        captures=tuple(capture for capture, _ in entry.captures.values()),
        guards=tuple(program.guards.values()),
        sources=tuple(program.module.sources),
        classes=tuple(program.named_tuples),
        general=program.language.kernel,
        annotations=tuple(
            declared(entry.annotations.get(param.name), entry.scope.name_of) if param.key is None else None
            for param in params
        ),
    )


def _known(entry: FunctionScope) -> dict[str, Any]:
    """The known arguments of a call: members of enums in parameters that are not assigned to, and those on which draws
    of random numbers depend."""
    kinds, draws = entry.program.known_kinds, entry.program.draws
    values = {name: kind.value for name, kind in kinds.items() if isinstance(kind, Single)}
    known = {name: value for name, value in values.items() if draws.may_be_drawing(value)}
    choices = {name: value for name, value in values.items() if is_choice(value)}
    if choices:
        names = (each for each in walk(entry.node) if isinstance(each, ast.Name))
        stored = {each.id for each in names if isinstance(each.ctx, ast.Store)}
        known |= {name: value for name, value in choices.items() if name not in stored}
    absent = {name for name, kind in kinds.items() if isinstance(kind, TupleKind) and kind.is_none}
    objects = {name: OBJECT for name, kind in kinds.items() if isinstance(kind, RecordKind)}
    return known | objects | dict.fromkeys(absent & draws.names(entry.source, known)) if kinds else {}


def _build_pending(program: Program) -> None:
    """Builds the functions that compiled code calls. Raises CompileError with all errors."""
    done = settled = 0
    while True:  # building a function may find others
        for each in program.objects:
            each.settle()
        if done < len(program.pending):
            _build_called(program.pending[done])
            done += 1
        elif settled < len(program.late):
            settle_late(*program.late[settled])
            settled += 1
        else:
            break
    raise_for(program.diagnostics, program.module.sources)


def _build_called(fn: FunctionScope) -> None:
    """Builds a called function. An optional one with errors becomes a function whose calls are an error."""
    program = fn.program
    if not fn.is_optional:
        _build(fn)
        return
    others, reported = program.diagnostics, {*program.reported}
    program.diagnostics = found = _native.Diagnostics()
    _build(fn)
    program.diagnostics, program.reported = others, reported
    if found.has_errors:
        message = found.render(list(program.module.sources)).partition("]: ")[2].partition("\n")[0]
        fail = fn.module.fail("P232", message, [], fn.span(fn.node), python_may_call=True)
        fn.module.set_body(fn.function, [fail])


def _build(fn: FunctionScope) -> None:
    """Builds one function from its head to its last statement."""
    node, before, behind = fn.node, fn.language.before, fn.language.behind
    if before is not None:
        before(fn)
    begin(fn)
    begin_nested(fn)
    receive(fn)
    try:
        streams = begin_streams(fn)
        taken = take_composed(fn) if fn.entry else []
        first = [*taken, *streams, *keep_given(fn), *checked_parameters(fn), *checked_arrays(fn)]
        first += converted_parameters(fn)
        body = dispatch(fn) if fn.source.alternatives else block(fn, node.body)
        body = [*first, *fn.allocations, *body]
        fn.module.set_body(fn.function, as_kernel(fn, body) if fn.entry and fn.kernel else body)
    except RecursionError:
        if not on_deep_stack():
            raise
        fn.error(
            "P011",
            node,
            f"the statements of '{node.name}' are nested too deeply",
            "split them, with variables for parts of an expression",
        )
    if behind is not None:
        behind(fn)


def _finish(fn: FunctionScope) -> list[Param]:
    """Adds the parameters that the body turned out to need: arguments and dict entries, then captures."""
    params = []
    for name, var in zip(GEOMETRY, fn.launch, strict=False):
        fn.module.add_param(fn.function, var)
        params.append(Param(name))
    for name, argument in fn.parameters.items():
        entries = fn.tuple_params.get(name) or fn.dict_params.get(name)
        unused = entries is None and (is_unused_record(fn, name) or _is_for_python(fn, name))
        if unused:
            continue
        if entries is None:
            nobody = fn.entry and not fn.kernel and not _is_named(fn, name)
            for var in fn.received.get(name) or [fn.variable(name, argument)]:
                fn.module.add_param(fn.function, var)
            generator = Root(name) in fn.streams
            params.append(Param(name, unused=nobody, generator=generator and fn.entry))
            continue
        for key, var in entries.entries.items():
            fn.module.add_param(fn.function, var)
            params.append(Param(name, key))
    for var in fn.generators:
        fn.module.add_param(fn.function, var)
    for _, var in fn.captures.values():
        fn.module.add_param(fn.function, var)
    return params


def _is_for_python(fn: FunctionScope, name: str) -> bool:
    """Whether a parameter of the entry is unused and has a default that is None or a text, such as mode="fast"."""
    if not fn.entry or fn.kernel or _is_named(fn, name):
        return False
    default = inspect.signature(fn.source.function, follow_wrapped=False).parameters[name].default
    return default is None or isinstance(default, str)


def _is_named(fn: FunctionScope, name: str) -> bool:
    """Whether the body reads the parameter, or an annotation gives its type."""
    return name in fn.variables or name in fn.annotations or name in fn.received


def _pass_captures_on(functions: list[FunctionScope]) -> None:
    """Adds the captures of each function to its callers, which pass them on."""
    changed = True
    while changed:
        changed = False
        for scope in functions:
            for _, callee, span in scope.calls:
                for key, (capture, _) in list(callee.captures.items()):
                    name = scope.enclosed.get(key, "")
                    if key in scope.captures or key in scope.owned or name in scope.variables:
                        continue
                    if name in scope.dict_params:
                        scope.misused_dict(name, scope.dict_params[name].first_use)
                    elif name:
                        scope.variable(name, scope.node)
                        changed = True
                    else:
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
