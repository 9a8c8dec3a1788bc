"""The state of the frontend for one function: positions, errors, variables, and the meaning of names and attributes.

Everything else the frontend does is a function of a FunctionScope and a node of the syntax tree (lowering.py).
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Mapping
from enum import Enum
from types import CellType, FunctionType, ModuleType
from typing import Any, TypeGuard, TypeVar

from .. import _native
from ..calls.objects import is_object
from ..pragmas.words import StatementPragma
from ..syntax.annotations import annotations_of, symbol_places
from ..syntax.fields import is_of_value, with_entries
from ..syntax.names import (
    MISSING,
    NO_PLACE,
    NOTHING,
    OBJECT,
    Binding,
    Capture,
    attribute,
    callable_source,
    is_array,
    is_scalar,
    is_unchanging,
    jit_source,
)
from ..syntax.source import FunctionSource
from ..vocabulary.device import GEOMETRY, Group
from ..vocabulary.workers import is_range
from .draws import Root
from .forms import CapturedRecords, DictParam, Forms, Kind, Note, Record, RecordArray, Span
from .patterns import first_name, integer_constant
from .program import Program, identifier

# Modules whose numbers are constants of the language, not values that a user may change.
_LIBRARIES = ("math", "numpy", "parpy")
OF_FUNCTION_AROUND = (
    "variable around"  # the kind of captures that are variables of a function that the function stands in
)
T = TypeVar("T")
_MOST_ITEMS = 2**31


class FunctionScope:
    """One Python function while it is lowered."""

    def __init__(self, program: Program, source: FunctionSource, entry: bool) -> None:
        self.program = program
        self.source = source
        self.entry = entry
        self.module = program.module
        self.language = language = program.language
        self.kernel = language.kernel
        self.has_records = language.records
        self.names_arrays = language.records or not language.kernel  # and parts of them, and computed ones
        self.node = program.uses.tree(source) if self.has_records else source.tree()
        self.named_inside = {part.target.id for part in ast.walk(self.node) if isinstance(part, ast.NamedExpr)}
        self.scope = language.names(program, source)
        self.scope.guards = program.guards
        for binding in program.uses.field_names(source) if self.has_records else ():
            self.rely_on(binding)
        self.wholes: dict[ast.expr, int | float | None] = {}  # constants made of constants (constants.whole_number)
        self.out: list[_native.Stmt] = []  # the statements in front of the one that is being lowered
        self.source_index = program.source_index(source)
        self.line_shift = source.line_shift
        name = program.function_name(source.function.__name__)
        self.function = self.module.function(name, entry, self.span(self.node))
        self.function.part = entry and self.source.part
        # Python variables by name; captured values by place.
        self.variables: dict[str, _native.Var] = {}
        self.captures: dict[tuple[int, str], tuple[Capture, _native.Var]] = {}
        # What functions that are arguments of the entry read of those that made them: by place, its variables.
        self.owned: dict[tuple[int, str], _native.Var] = {}
        # The nested functions that names stand for; what nested functions read of this one: by place, the name.
        self.nested: dict[str, FunctionType] = {}
        self.enclosed: dict[tuple[int, str], str] = {}
        self.dict_params: dict[str, DictParam] = {}
        self.tuple_params: dict[str, DictParam] = {}  # with entries by the places in the tuples
        self.parameters: dict[str, ast.arg] = {}
        self.annotations = annotations_of(source.function)
        self.symbols = symbol_places(self.annotations)
        self.plain_uses: dict[str, ast.expr] = {}
        # Calls of helpers, for the captured values that they get as extra arguments.
        self.calls: list[tuple[_native.Expr, FunctionScope, Span]] = []
        self.function_values: set[_native.Expr] = set()  # those of them that are functions as values
        # Variables that some path to the current statement assigns; the loops around it.
        self.assigned: set[str] = set()
        self.loops: list[tuple[ast.For | ast.While, int]] = []
        self.left_by_break: dict[ast.For | ast.While, _native.Var] = {}  # of loops with an else branch, of nests
        self.lowered_loops: dict[ast.For, list[_native.Stmt]] = {}  # those that labels in front of a loop name
        self.conditions = 0  # how many branches and loops are around it
        self.choices = 0  # how many operands around the current one may not be evaluated, or several times
        self.on_device = False  # inside `with parpy.gpu`
        # What the statement gives a name or returns: a copy in it is no part of anything larger.
        self.whole_value: ast.expr | None = None
        self.tensor_pragma: StatementPragma | None = None  # in front of the statement
        # Of a kernel: the sizes of its launch, statements in front of it, names of the grid itself.
        self.launch: list[_native.Var] = []
        self.in_front: list[_native.Stmt] = []
        self.allocations: list[_native.Stmt] = []  # of arrays made in loops and branches: they exist from the start
        self.grids: set[str] = set()
        self.element_types: dict[str, str] = {}  # of the arrays that the kernel itself has
        self.records: dict[str, Record] = {}
        self.record_arrays: dict[str, RecordArray] = {}  # those that the kernel makes, by name
        self.captured_records: list[CapturedRecords] = []  # those from outside that it uses
        self.forms: Forms = ()
        self.received: dict[str, list[_native.Var]] = {}  # what such parameters are instead
        self.given: dict[str, _native.Var] = {}  # what annotated parameters were when the function began
        self.outputs: set[ast.Call] = set()  # whose values NumPy stores to an argument out
        # Generators of random numbers: what the next draw of each comes from, arguments that hand one on, variables of
        # those outside of functions that a called function gets; the name that one is being made for.
        self.streams: dict[Root, Any] = {}
        self.absent: set[str] = set()  # parameters that would be generators and are None
        self.passed_on: set[ast.expr] = set()
        self.generators: list[_native.Var] = []
        self.made_generator: ast.Name | None = None
        self._taken: set[str] = set(self.scope.locals)
        self._reported_names: set[str] = set()
        self._counters: frozenset[str] | None = None
        # The function that it stands in, and the variables of that one that it may read, by name.
        self.outer = program.owners.get(source.function)
        self.around: dict[str, CellType] = {}
        if self.outer is not None:
            self._see(self.outer)

    def know(self, known: Mapping[str, Any]) -> None:
        """What parameters are, where that decides what the text means."""
        self.scope.known = known
        objects = {name for name, value in known.items() if value is OBJECT}
        if objects:
            self.node = with_entries(self.node, objects)

    def counters(self) -> frozenset[str]:
        """The variables that nothing but loops over ranges gives values."""
        if self._counters is None:
            self._counters = self._find_counters()
        return self._counters

    def _find_counters(self) -> frozenset[str]:
        stored: Counter[str] = Counter()
        counted: Counter[str] = Counter()
        for part in ast.walk(self.node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                stored[part.id] += 1
            elif isinstance(part, ast.For) and isinstance(part.target, ast.Name) and isinstance(part.iter, ast.Call):
                binding = self.resolve(part.iter.func)
                if binding is not None and is_range(binding.value):
                    counted[part.target.id] += 1
        return frozenset(name for name in counted if counted[name] == stored[name]) - self.parameters.keys()

    def _see(self, outer: FunctionScope) -> None:
        """The function stands in `outer`, of which it reads variables as it reads its own."""
        function = self.source.function
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        names = {name for name in cells if name in self.scope.locals and name in outer.scope.locals}
        names -= self.program.draws.names(self.source) if names else frozenset()
        self.around = {name: cells[name] for name in cells if name in names}
        self.assigned |= names

    def owned_variable(self, key: tuple[int, str]) -> _native.Var | None:
        """The variable of this function that another one reads from this place."""
        if key in self.enclosed and key not in self.captures:
            return self.variable(self.enclosed[key], self.node)
        return self.owned.get(key)

    def of_function_around(self, owner: FunctionScope, var: _native.Var, shown: str, node: ast.expr) -> _native.Var:
        """The variable that stands for one of a function around this one."""
        key = id(owner), shown
        owner.owned[key] = var
        if key not in self.captures:
            capture = Capture(shown, OF_FUNCTION_AROUND, NO_PLACE, shown)
            self.captures[key] = (capture, self._capture_variable(shown, self.span(node)))
        return self.captures[key][1]

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

    def error(self, code: str, node: Any, message: str, help_text: str = "", notes: list[Note] | None = None) -> None:
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

    def variable(self, name: str, node: ast.AST) -> _native.Var:
        """The local variable `name`, made when it is first met at `node`; parameters stand where they
        are declared."""
        var = self.variables.get(name)
        if var is None:
            place = self.span(self.parameters.get(name, node))
            var = self.variables[name] = self.module.variable(name, place, "")
            if name in self.around:
                cell = self.around[name]
                self.captures[id(cell), name] = (Capture(name, OF_FUNCTION_AROUND, cell, name), var)
        return var

    def unique_name(self, wanted: str) -> str:
        """A variable name that the function does not use yet, close to `wanted`."""
        name, count = wanted, 1
        while name in self._taken:
            count += 1
            name = f"{wanted}_{count}"
        self._taken.add(name)
        return name

    def own_variable(self, shown: str, node: ast.expr) -> str:
        """The name of a new variable that statements may use, which messages call `shown`."""
        name = self.unique_name(shown if shown.isidentifier() else "found")
        self.scope.locals |= {name}
        self.variables[name] = self.module.variable(name, self.span(node), shown)
        return name

    def temporary(self, span: Span, shown: str = "") -> _native.Var:
        """A new variable, which messages call `shown`."""
        return self.module.variable(self.unique_name("tmp"), span, shown)

    def local(self, node: ast.Name) -> _native.Var | None:
        """The local variable that `node` reads; None after an error."""
        name = node.id
        if not self.is_assigned(node):
            return None
        if name in self.dict_params:
            self.misused_dict(name, node)
            return None
        if name in self.records:
            self.error("P204", node, f"the record '{name}' is used as a number", f"take a field, {name}.x")
            return None
        self.plain_uses.setdefault(name, node)
        return self.variable(name, node)

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
        """Reports a dict that is used as a whole."""
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
        treats it as an expression.
        """
        if isinstance(node, ast.Subscript):
            return self.item(node)
        if isinstance(node, ast.Name):
            if node.id in self.scope.locals:
                return self.scope.known_binding(node.id)
            return self.scope.lookup(node.id)
        if isinstance(node, ast.Attribute):
            owner = self.resolve(node.value)
            if owner is None or is_array(owner.value):
                return None
            if is_scalar(owner.value) and not isinstance(owner.value, Enum):
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
        """Whether the object is found in a library."""
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

    # ------------------------------------------------------------ tuples outside the function

    def tuple_of(self, node: ast.expr) -> tuple[Any, ...] | None:
        """The tuple that `node` names outside the function; None if it names none. Compiled code relies on it."""
        binding = self.resolve(node)
        if binding is None or not isinstance(binding.value, tuple) or not self._stays(node, binding):
            return None
        self.rely_on(binding)
        return binding.value

    def _stays(self, node: ast.expr, binding: Binding) -> bool:
        """Whether what `node` names is read anew where it may change, rather than computed at each access."""
        if binding.container is not NO_PLACE:
            return True
        if not isinstance(node, ast.Attribute):
            return False
        owner = self.resolve(node.value)
        return owner is not None and is_unchanging(owner.value, binding.value) and self._stays(node.value, owner)

    def item(self, node: ast.expr) -> Binding | None:
        """The element that `node` takes of a tuple by a constant; None if it is no such thing."""
        if not isinstance(node, ast.Subscript):
            return None
        owner, index = self.tuple_of(node.value), integer_constant(node.slice, _MOST_ITEMS)
        if owner is None or index is None or not -len(owner) <= index < len(owner):
            return None
        items = self.program.items.setdefault(id(owner), {str(at): item for at, item in enumerate(owner)})
        key = str(index % len(owner))
        return Binding(items[key], items, key)

    def parameter_names(self) -> tuple[str, ...]:
        """The names of the parameters, without those of `*args` and `**kwargs`."""
        code = self.source.function.__code__
        return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]

    def starts_undefined(self, node: ast.expr) -> bool:
        """Whether `node` starts with a name that nothing defines."""
        name = first_name(node)
        return isinstance(name, ast.Name) and name.id not in self.scope.locals and self.scope.lookup(name.id) is None

    # ------------------------------------------------------------ what a name stands for

    def want_kinds(self, node: ast.AST) -> None:
        """The kernel cannot be parsed without the kinds of its arguments. Where they are known, what is missing here is
        no argument's."""
        self.program.asks_all = True
        self.error("P026", node, "how many dimensions this has, or which fields, is not known here", "write it out")

    def kind_of(self, name: str) -> Kind | None:
        """The kind of a parameter of the kernel."""
        return self.program.known.get(name) if self.entry and name in self.parameters else None

    def may_rebind(self, name: str) -> bool:
        """Whether the name may stand for something else from here on: it stands for nothing yet, or every path that
        leads to what follows comes along here."""
        return not self.conditions or not (name in self.variables or name in self.records)

    def is_function(self, found: object) -> bool:
        """Whether calls of an object are those of a function that is compiled with this one."""
        source = jit_source(found) if self.kernel else callable_source(found)
        is_own = found is self.source.function or source is not None or found in self.program.owners
        return is_own or isinstance(found, self.language.functions)

    # ------------------------------------------------------------ small pieces

    def is_new_axis(self, node: ast.expr) -> bool:
        """Whether the node is None, or np.newaxis, which is None too."""
        if isinstance(node, ast.Attribute):
            binding = self.resolve(node)
            return binding is not None and binding.value is None
        return isinstance(node, ast.Constant) and node.value is None

    def is_given(self, bound: ast.expr | None) -> TypeGuard[ast.expr]:
        """Whether a slice has this bound."""
        return bound is not None and not self.is_new_axis(bound)

    def integer(self, value: int, node: ast.expr | ast.arg) -> _native.Expr:
        """An integer constant at `node`."""
        return self.module.constant(value, self.span(node))

    def op(self, text: str, node: ast.expr, *operands: _native.Expr) -> _native.Expr:
        """The operator of these operands, at `node`."""
        return self.module.op(text, list(operands), self.span(node))

    def received_variable(self, name: str, what: str, shown: str = "") -> _native.Var:
        """A variable for the part of a parameter that `what` says."""
        wanted = self.unique_name(f"{name}_{what.replace('.', '_')}")
        return self.module.variable(wanted, self.span(self.parameters[name]), shown)

    # ------------------------------------------------------------ statements in front of the current one

    def hold(
        self, value: _native.Expr, node: ast.expr | ast.stmt, at: int | None = None, shown: str = ""
    ) -> _native.Var:
        """A temporary with this value, assigned in front of the current statement; `at`: and of all
        that stands there from this number on. Messages call it `shown`."""
        span = self.span(node)
        var = self.temporary(span, shown)
        place = len(self.out) if at is None else at
        self.out.insert(place, self.module.assign(var, value, None, span))
        return var

    def branch(self, lower: Callable[[], T]) -> tuple[T, list[_native.Stmt]]:
        """An operand that may not be evaluated, with the statements that must run before it."""
        self.conditions += 1
        self.choices += 1
        try:
            return self.apart(lower)
        finally:
            self.conditions -= 1
            self.choices -= 1

    def apart(self, lower: Callable[[], T]) -> tuple[T, list[_native.Stmt]]:
        """What `lower` makes, and the statements that must run before it, not yet in front."""
        outer, self.out = self.out, []
        try:
            return lower(), self.out
        finally:
            self.out = outer

    # ------------------------------------------------------------ kernels

    def in_kernel(self, name: str, node: ast.AST) -> bool:
        """Whether this is a kernel, or called by one; reports what `name` calls otherwise."""
        if self.kernel:
            return True
        self.error(
            "P028",
            node,
            f"'{name}' is used outside of a kernel",
            "decorate the function with @parpy.cuda.jit; loops of @parpy.jit functions are mapped by the compiler",
        )
        return False

    def geometry(self) -> list[_native.Var]:
        """The sizes of the launch, which are parameters of every kernel."""
        if not self.launch:
            span = self.span(self.node)
            names = (name.replace(".", "_").replace(" ", "_") for name in GEOMETRY)
            self.launch = [self.module.variable(self.unique_name(name), span) for name in names]
        return self.launch

    def add_allocation(self, allocation: _native.Stmt) -> None:
        """An array is used behind the loop or branch that makes it, too."""
        (self.allocations if self.conditions else self.out).append(allocation)

    def head(self, node: ast.stmt) -> tuple[int, int, int, int, int]:
        """The place of a statement that may hold others: its first line."""
        source, line, column, end_line, end_column = self.span(node)
        if end_line == line:
            return source, line, column, end_line, end_column
        text = self.source.text.split("\n")[line - self.source.first_line]
        return source, line, column, line, len(text.rstrip().encode()) + 1

    def helper(self, source: FunctionSource, forms: Forms = (), known: Mapping[str, Any] = NOTHING) -> FunctionScope:
        """The surface function for a called jit function, made once per module, forms of arguments, and what the
        frontend has to know of them."""
        own = source if source.alternatives or source.arrays else None  # what it checks is its own
        key = (source.function, own, forms, *((name, id(value)) for name, value in sorted(known.items())))
        made = self.program.helpers.get(key)
        if made is None:
            made = FunctionScope(self.program, source, False)
            made.forms = forms
            made.know({**made.scope.known, **known})
            self.program.helpers[key] = made
            self.program.pending.append(made)
        return made

    def is_applied(self, node: ast.Call) -> bool:
        """Whether the call is one of a value, which the core finds out (function_values.py)."""
        func = node.func
        binding = self.resolve(func)
        if binding is not None:  # of methods those of objects
            return not self.kernel and is_object(getattr(binding.value, "__self__", None))
        while isinstance(func, ast.Subscript):
            func = func.value
        if isinstance(func, ast.Attribute) and not is_of_value(func) and not self.kernel:  # a method of an object
            return self.resolve(func.value) is None and not self.starts_undefined(func)
        return isinstance(func, ast.Call | ast.IfExp | ast.Lambda) or (
            isinstance(func, ast.Name) and func.id in self.scope.locals
        )


def attribute_hint(owner: object, name: str) -> str:
    """What may be meant by an attribute that there is not."""
    from difflib import get_close_matches

    close = get_close_matches(name, dir(owner), n=1)
    hint = f"did you mean '{close[0]}'?" if close else ""
    return f"{hint} there is: {', '.join(owner.names)}".strip() if isinstance(owner, Group) else hint


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


def _assigned_names(loop: ast.For | ast.While) -> set[str]:
    return {node.id for node in ast.walk(loop) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _is_library(container: Any) -> bool:
    if not isinstance(container, dict):
        return False
    name = container.get("__name__")
    return isinstance(name, str) and name.partition(".")[0] in _LIBRARIES and "__spec__" in container
