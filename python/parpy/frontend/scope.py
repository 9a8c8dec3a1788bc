"""What every part of the frontend needs about the function it is working on: positions, errors,
variables, and what a name or attribute stands for.

`Program` is the module under construction with its diagnostics; `FunctionScope` one function of it.
The lowering of expressions, calls and statements builds on FunctionScope, in that order.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from .. import _native
from ..calls.external import External
from ..syntax.annotations import annotations_of, symbol_places
from ..syntax.names import MISSING, Binding, Capture, Guard, Scope, attribute, is_array, is_scalar
from ..syntax.source import FunctionSource
from ..vocabulary.device import ForeignFunction, Group
from .uses import TupleForm, Uses

if TYPE_CHECKING:
    from .records import Record

Span = tuple[int, int, int, int, int]
Element: TypeAlias = "_native.Var | list[Element]"  # of a tuple
Note = tuple[Span | None, str]

# Modules whose numbers are constants of the language, not values that a user may change.
_LIBRARIES = ("math", "numpy", "parpy")


class Axis(NamedTuple):
    """A dimension of the array behind a view: subscripted once (`at`), a part of it (`begin` and `size`, every
    `step`-th element), or, with none of these, the whole of it."""

    at: _native.Var | None = None
    begin: _native.Var | None = None
    size: _native.Var | None = None
    step: int = 1

    @property
    def variables(self) -> list[_native.Var]:
        return [var for var in (self.at, self.begin, self.size) if var is not None]


class View(NamedTuple):
    """`array` with its first dimensions as `axes` say; those behind are whole."""

    array: _native.Var
    axes: tuple[Axis, ...]
    of_records: bool = False  # then the array is one of their fields, and may have dimensions of its own
    rank: int | None = None  # of records: how many dimensions their array has, where that is known

    @property
    def variables(self) -> list[_native.Var]:
        return [var for axis in self.axes for var in axis.variables]

    def of_variables(self, variables: list[_native.Var]) -> View:
        """The same kind of view with these variables."""
        left = iter(variables)

        def other(var: _native.Var | None) -> _native.Var | None:
            return None if var is None else next(left)

        axes = [Axis(other(axis.at), other(axis.begin), other(axis.size), axis.step) for axis in self.axes]
        return self._replace(axes=tuple(axes))

    @property
    def form(self) -> Form:
        return tuple((axis.at is not None, axis.begin is not None, axis.step) for axis in self.axes)


Form = tuple[tuple[bool, bool, int], ...]
"""What a function that gets a view knows of it before it runs, per axis: subscripted, a part, its step."""


def axes_of(form: Form, variables: Iterator[_native.Var]) -> tuple[Axis, ...]:
    """Axes of this form in these variables."""

    def one(is_there: bool) -> _native.Var | None:
        return next(variables) if is_there else None

    return tuple(Axis(one(is_index), one(is_part), one(is_part), step) for is_index, is_part, step in form)


class ArrayForm(NamedTuple):
    """The same of a view, and the number of dimensions that the array behind it has, where functions are told that."""

    axes: Form
    rank: int | None


class RecordForm(NamedTuple):
    """What a function that gets records knows of them: the fields it uses, how they are subscripted, how many
    dimensions there are and which type, where functions are told that."""

    keys: tuple[str, ...]
    axes: Form
    rank: int | None
    dtype: np.dtype[Any] | None


Forms = tuple[tuple[str, ArrayForm | RecordForm | TupleForm], ...]
"""The parameters of a function that are views, records, tuples or None."""


class Kind(NamedTuple):
    """What is known of an argument before the kernel is parsed: its elements, numbers or records, and how many
    dimensions it has."""

    element: str | np.dtype[Any]
    ndim: int


class TupleKind(NamedTuple):
    """The kinds of the elements of an argument that is a tuple; None where nothing is known of one."""

    parts: tuple[Kind | TupleKind | None, ...]
    is_none: bool = False  # it is None instead


class DictParam(NamedTuple):
    """A parameter of which the function uses entries: one surface parameter for each key."""

    entries: dict[str, _native.Var]
    first_use: ast.expr


class Program:
    """The surface module of one entry function: every function that it reaches."""

    def __init__(self, kernel: bool = False) -> None:
        self.kernel = kernel  # the entry is a kernel written by hand
        self.module = _native.Module()
        self.diagnostics = _native.Diagnostics()
        self.guards: dict[tuple[int, str], Guard] = {}
        self.class_spaces: dict[type, Mapping[str, Any]] = {}
        self.items: dict[int, dict[str, Any]] = {}  # of tuples, by the tuple's id
        self.record_places: dict[tuple[int, str], Mapping[str, Any]] = {}  # fields of global records, by their place
        # Called functions, each made once for every combination of forms of its arguments.
        self.helpers: dict[tuple[FunctionType, FunctionSource | None, Forms], FunctionScope] = {}
        self.uses = Uses()
        self.pending: list[FunctionScope] = []
        # What const.array_like makes of a global array, and what it has made, by the array.
        self.make_constant: Callable[[Any], Any] | None = None
        self.constants: dict[str, Any] = {}
        self.constant_records: dict[int, dict[str, Any]] = {}
        # Parameters of the kernel of which the kind is known; those that it would have to know; whether it has to know
        # all of them, and whether it does, so that functions are told as well.
        self.known: dict[str, Kind] = {}
        self.known_tuples: dict[str, TupleKind] = {}  # those that are tuples
        self.asked: set[str] = set()
        self.asks_all = False
        self.knows_all = False
        self.link: tuple[str, ...] = ()  # sources of foreign functions that name none themselves
        # Functions of C++, and the sources that include their headers.
        self.externals: dict[External, _native.Function] = {}
        self.includes: dict[str, int] = {}
        self.foreign: dict[ForeignFunction, _native.Function] = {}
        # By path: the module's source with its text, and the text; (0, None) for machine code.
        self.linked: dict[str, tuple[int, str | None]] = {}
        self._function_names: set[str] = set()
        self._sources: dict[FunctionSource, int] = {}
        self.reported: set[tuple[str, Span, str]] = set()

    def source_index(self, source: FunctionSource) -> int:
        """The number of the function's text among the sources of the module."""
        if source not in self._sources:
            self._sources[source] = self.module.add_source(source.name, source.text, source.first_line)
        return self._sources[source]

    def function_name(self, wanted: str) -> str:
        """`wanted`, made unique among the functions of the module."""
        first = name = identifier(wanted)
        count = 1
        while name in self._function_names:
            count += 1
            name = f"{first}_{count}"
        self._function_names.add(name)
        return name


class FunctionScope:
    """One Python function while it is lowered; where there is a `caller`, in place of a call in it."""

    has_views = True  # kernels: and tuples, and records; languages without them say so

    def __init__(
        self, program: Program, source: FunctionSource, entry: bool, caller: FunctionScope | None = None
    ) -> None:
        self.program = program
        self.source = source
        self.entry = entry
        self.module = program.module
        self.node = program.uses.tree(source) if program.kernel and self.has_views else source.tree()
        self.scope = Scope(source.function)
        self.scope.guards = program.guards
        self._wholes: dict[ast.expr, int | float | None] = {}  # constants made of constants (Expressions.whole)
        self.source_index = program.source_index(source)
        self.line_shift = source.line_shift
        self.caller = caller
        if caller is None:
            name = program.function_name(source.function.__name__)
            self.function = self.module.function(name, entry, self.span(self.node))
        else:
            self.function = caller.function
        # Python variables by name; captured values by place.
        self.variables: dict[str, _native.Var] = {}
        self.captures: dict[tuple[int, str], tuple[Capture, _native.Var]] = {} if caller is None else caller.captures
        self.dict_params: dict[str, DictParam] = {}
        self.parameters: dict[str, ast.arg] = {}
        self.annotations = annotations_of(source.function)
        self.symbols = symbol_places(self.annotations)
        self.plain_uses: dict[str, ast.expr] = {}
        # Of the entry: what its results are stored to; None as long as it returns nothing.
        self.results: list[_native.Var] | None = None
        self.returns_tuple = False
        self.bare_returns: list[ast.Return] = []
        # Calls of helpers, for the captured values that they get as extra arguments.
        self.calls: list[tuple[_native.Expr, FunctionScope, Span]] = [] if caller is None else caller.calls
        # Variables that some path to the current statement assigns; the loops around it.
        self.assigned: set[str] = set()
        self.loops: list[tuple[ast.For | ast.While, int]] = []
        self.left_by_break: dict[ast.For | ast.While, _native.Var] = {}  # of loops with an else branch
        self.conditions = 0
        self.goes_on = True  # whether what follows the current statement is reached, as far as None tells
        # Of a kernel: the sizes of its launch, statements in front of it, names of the grid itself.
        self.launch: list[_native.Var] = []
        self.in_front: list[_native.Stmt] = []
        self.allocations: list[_native.Stmt] = []  # of arrays made in loops and branches: they exist from the start
        self.grids: set[str] = set()
        self.element_types: dict[str, str] = {}  # of the arrays that the kernel itself has
        self.ranks: dict[_native.Var, int] = {}  # of those, and of arrays that the function gets, where it is told
        self.views: dict[str, View] = {}  # by name
        self.tuples: dict[str, list[Element]] = {}  # the elements, by name
        self.records: dict[str, Record] = {}
        self.nones: set[str] = set()  # names of None
        self.absent: set[str] = set()  # parameters that are None, which have no variable
        self.forms: Forms = ()
        self.received: dict[str, list[_native.Var]] = {}  # what such parameters are instead
        self.given_views: dict[str, View] = {}  # what annotated parameters were when the function began
        # Where there is a caller: what is returned; and, of functions that return anywhere, whether a loop did.
        self.inlined_results: list[Element] | None = None
        self.has_returned: _native.Var | None = None
        self._taken: set[str] = set(self.scope.locals) if caller is None else caller._taken
        self._reported_names: set[str] = set()

    # ------------------------------------------------------------ positions and errors

    def span(self, node: Any, end: Any = None) -> Span:
        """The place of `node`, or from its start to the end of node `end`. Of definitions: their
        name. Columns count bytes, as those of ast do."""
        end = end or node
        line, end_line = node.lineno, end.end_lineno
        begin, stop = node.col_offset, end.end_col_offset
        shift = self.line_shift
        if isinstance(end, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            end_line, stop = line, begin + len(f"def {end.name}")
        return (self.source_index, line + shift, begin + 1, end_line + shift, stop + 1)

    def error(
        self,
        code: str,
        node: Any,
        message: str,
        help_text: str = "",
        notes: list[Note] | None = None,
    ) -> None:
        place = node if isinstance(node, tuple) else self.span(node)
        if (code, place, message) not in self.program.reported:  # a function may stand in several places
            self.program.reported.add((code, place, message))
            self.program.diagnostics.error(code, place, message, help_text, notes or [])

    def give_up_on(self, node: ast.AST) -> None:
        """What the refused `node` would have assigned is no further error where it is used."""
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                self.assigned.add(part.id)

    def poison(self, node: ast.expr) -> _native.Expr:
        """What stands for an expression that was reported as an error."""
        return self.module.constant(0, self.span(node))

    # ------------------------------------------------------------ variables

    def variable(self, name: str, node: ast.expr | ast.arg) -> _native.Var:
        """The local variable `name`, made when it is first met at `node`; parameters stand where they
        are declared."""
        var = self.variables.get(name)
        if var is None:
            place = self.span(self.parameters.get(name, node))
            own = name if self.caller is None else self.unique_name(name)
            var = self.variables[name] = self.module.variable(own, place, "" if own == name else name)
        return var

    def unique_name(self, wanted: str) -> str:
        """A variable name that the function does not use yet, close to `wanted`."""
        name, count = wanted, 1
        while name in self._taken:
            count += 1
            name = f"{wanted}_{count}"
        self._taken.add(name)
        return name

    def temporary(self, span: Span, shown: str = "") -> _native.Var:
        """A new variable, which messages call `shown`."""
        return self.module.variable(self.unique_name("tmp"), span, shown)

    def local(self, node: ast.Name) -> _native.Var | None:
        """The local variable that `node` reads; None after an error."""
        name = node.id
        if not self.is_assigned(node):
            return None
        if name in self.dict_params and name not in self.tuples:
            self.misused_dict(name, node)
            return None
        if name in self.nones:
            self.refuse_none(node)
            return None
        if name in self.views:
            self.error("P204", node, f"the view '{name}' is used as a number", f"subscript it, {name}[0] or {name}[:]")
            return None
        if name in self.records:
            self.error("P204", node, f"the record '{name}' is used as a number", f"take a field, {name}.x")
            return None
        if name in self.tuples:
            self.error("P204", node, f"the tuple '{name}' is used as a number", f"take an element, {name}[0]")
            return None
        self.plain_uses.setdefault(name, node)
        return self.variable(name, node)

    def refuse_none(self, node: ast.Name) -> None:
        raise NotImplementedError

    def is_assigned(self, node: ast.Name) -> bool:
        """Whether some path to here assigns the local variable; False after an error."""
        name = node.id
        if name in self.assigned or self._may_come_round(name):
            return True
        if name not in self._reported_names:
            self._reported_names.add(name)
            self.error("P102", node, f"variable '{name}' is used before it is assigned", self._assign_first(name))
        return False

    def _assign_first(self, name: str) -> str:
        if self.scope.global_value_exists(name):
            return (
                f"the function assigns '{name}', which makes it local; give the local variable "
                "another name to read the global one"
            )
        return f"give '{name}' a value before this line, on every path that leads here"

    def _may_come_round(self, name: str) -> bool:
        """Whether an earlier iteration may have assigned `name`, which no path from above did.

        Not where the use stands unconditionally in the loop's body: it runs before the assignment.
        """
        return any(depth < self.conditions and name in _assigned_names(loop) for loop, depth in self.loops)

    def misused_dict(self, name: str, node: ast.expr) -> None:
        self.error(
            "P104",
            node,
            f"'{name}' is used as a dict elsewhere, so it must be followed by a string subscript",
            f"write {name}['key'], or pass the value as an argument of its own",
            [(self.span(self.dict_params[name].first_use), f"'{name}' is a dict here")],
        )

    # ------------------------------------------------------------ names that are not local

    def find(self, node: ast.Name) -> Binding | None:
        """What the non-local name stands for; None after an error."""
        binding = self.scope.lookup(node.id)
        if binding is None and node.id not in self._reported_names:
            self._reported_names.add(node.id)
            close = "" if self.scope.is_cell(node.id) else self.scope.undefined_hint(node.id)
            self.error(
                "P101",
                node,
                f"name '{node.id}' is not defined",
                f"did you mean '{close}'?" if close else "define it before the function is called",
            )
        return binding

    def resolve(self, node: ast.expr) -> Binding | None:
        """What a name, or a chain of attributes and subscripts of tuples on one, stands for outside the function.

        None without an error if it starts at a local variable or is something else; the caller then
        treats it as an expression. Errors are reported by `resolve_or_report`.
        """
        if isinstance(node, ast.Name):
            if node.id in self.scope.locals:
                return None
            return self.scope.lookup(node.id)
        if isinstance(node, ast.Attribute):
            owner = self.resolve(node.value)
            if owner is None or is_scalar(owner.value) or is_array(owner.value):
                return None
            found = attribute(owner.value, node.attr, self.program.class_spaces)
            if found is not None:
                self.rely_on(owner)
                for space in found.nearer:
                    self.scope.rely_on(Binding(MISSING, space, found.key))
            return found
        return None

    def rely_on(self, binding: Binding) -> None:
        """Later calls check that the place still holds this object, unless it is a library's."""
        container = binding.container
        if container and not _is_library(container):
            self.scope.rely_on(binding)

    def is_library_place(self, binding: Binding) -> bool:
        return _is_library(binding.container)

    def captured(self, binding: Binding, shown: str, node: ast.expr) -> _native.Var:
        """The variable that holds a captured value."""
        key = (id(binding.container), binding.key)
        known = self.captures.get(key)
        if known is None:
            kind = self.scope.kind_of(re.split(r"[.\[]", shown, maxsplit=1)[0])
            capture = Capture(shown, kind, binding.container, binding.key)
            known = self.captures[key] = (capture, self._capture_variable(shown, self.span(node)))
        return known[1]

    def _capture_variable(self, shown: str, span: Span) -> _native.Var:
        return self.module.variable(self.unique_name(identifier(shown)), span, shown)

    def pass_on(self, key: tuple[int, str], capture: Capture, span: Span) -> None:
        """A called function captures this value, so its caller must have it."""
        self.captures[key] = (capture, self._capture_variable(capture.name, span))


def identifier(shown: str) -> str:
    """`config.N` or `d['k']` as a variable name: config_N, d_k."""
    if shown.isidentifier():
        return shown
    return re.sub(r"\W+", "_", shown).strip("_") or "value"


def _is_library(container: Any) -> bool:
    if not isinstance(container, dict):
        return False
    name = container.get("__name__")
    return isinstance(name, str) and name.partition(".")[0] in _LIBRARIES and "__spec__" in container


def _assigned_names(loop: ast.For | ast.While) -> set[str]:
    return {node.id for node in ast.walk(loop) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def describe(value: object) -> str:
    """An object found under a name, for messages: "module 'math'", "a str"."""
    if isinstance(value, ModuleType):
        return f"the module '{value.__name__}'"
    if isinstance(value, type):
        return f"the class '{value.__name__}'"
    if callable(value) and hasattr(value, "__name__"):
        return f"the function '{value.__name__}'"
    if isinstance(value, Group):
        return f"'cuda.{value.name}'"
    kind = type(value).__name__
    return f"{'an' if kind[:1] in 'aeiou' else 'a'} {kind}"


def attribute_hint(owner: object, name: str) -> str:
    """What may be meant by an attribute that there is not."""
    from difflib import get_close_matches

    close = get_close_matches(name, dir(owner), n=1)
    hint = f"did you mean '{close[0]}'?" if close else ""
    return f"{hint} there is: {', '.join(owner.names)}".strip() if isinstance(owner, Group) else hint
