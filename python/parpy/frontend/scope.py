"""The state of the frontend for one function: positions, errors, variables, and the meaning of names and attributes.

All other parts of the frontend are functions of a FunctionScope and a node of the syntax tree (lowering.py).
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
    LIBRARIES,
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
from ..syntax.patterns import first_name, integer_constant, is_none, stored_in, string_key
from ..syntax.source import FunctionSource
from ..syntax.walks import walk
from ..vocabulary.device import GEOMETRY, Group
from ..vocabulary.workers import is_range
from .draws import Root
from .forms import CapturedRecords, DictParam, Forms, Kind, Note, Record, RecordArray, Span
from .initializers import names_of_new_objects
from .program import Program, identifier

# Modules whose numbers are constants, which users do not change.
_LIBRARIES = ("math", "numpy", "parpy")
OF_FUNCTION_AROUND = (
    "variable around"  # the kind of captures that are variables of a function in which this function is nested
)
T = TypeVar("T")
_MOST_ITEMS = 2**31


class FunctionScope:
    """The state of one Python function while it is lowered."""

    def __init__(self, program: Program, source: FunctionSource, entry: bool) -> None:
        self.program = program
        self.source = source
        self.entry = entry
        self.module = program.module
        self.language = language = program.language
        self.kernel = language.kernel
        self.is_optional = False  # errors in the function count if it is called
        self.has_records = language.records
        self.names_arrays = language.records or not language.kernel  # whether names may refer to parts of arrays
        self.node = program.uses.tree(source) if self.has_records else source.tree()
        self.named_inside = {part.target.id for part in walk(self.node) if isinstance(part, ast.NamedExpr)}
        self.scope = language.names(program, source)
        self.scope.guards = program.guards
        for binding in program.uses.field_names(source) if self.has_records else ():
            self.rely_on(binding)
        if not self.kernel and (made := names_of_new_objects(self.node, self.resolve)):
            self.node = with_entries(self.node, made)
        self.wholes: dict[ast.expr, int | float | None] = {}  # the results of constants.whole_number
        if not self.kernel:
            self._note_classes(source.function)
        self.out: list[_native.Stmt] = []  # the statements so far, before the one that is being lowered
        self.source_index = program.source_index(source)
        self.line_shift = source.line_shift
        name = program.function_name(source.function.__name__)
        self.function = self.module.function(name, entry, self.span(self.node))
        self.function.part = entry and self.source.part
        # Python variables by name, and captured values by place.
        self.variables: dict[str, _native.Var] = {}
        self.captures: dict[tuple[int, str], tuple[Capture, _native.Var]] = {}
        # The variables for values in the closures of functions that are arguments of the entry, by place.
        self.owned: dict[tuple[int, str], _native.Var] = {}
        # Nested functions by name, and the names of the variables that nested functions read, by place.
        self.nested: dict[str, FunctionType] = {}
        self.enclosed: dict[tuple[int, str], str] = {}
        self.dict_params: dict[str, DictParam] = {}
        self.tuple_params: dict[str, DictParam] = {}  # composed parameters, with entries by the places in them
        self.parameters: dict[str, ast.arg] = {}
        self.annotations = annotations_of(source.function)
        self.symbols = symbol_places(self.annotations)
        self.plain_uses: dict[str, ast.expr] = {}
        # The calls of helpers, which get captured values as extra arguments.
        self.calls: list[tuple[_native.Expr, FunctionScope, Span]] = []
        self.function_values: set[_native.Expr] = set()  # the expressions in `calls` that are values of functions
        # The variables that a path to the current statement assigns, and the loops around it.
        self.assigned: set[str] = set()
        self.loops: list[tuple[ast.For | ast.While, int]] = []
        self.left_by_break: dict[ast.For | ast.While, _native.Var] = {}  # flags of loops with an else branch, of nests
        self.lowered_loops: dict[ast.For, list[_native.Stmt]] = {}  # the loops that labels before a for loop name
        self.conditions = 0  # the number of branches and loops around the current statement
        self.choices = 0  # the number of enclosing operands that may not be evaluated, or several times
        self.on_device = False  # whether the statement is inside of `with parpy.gpu`
        # The whole value that the statement assigns to a name or returns; a copy in it needs no temporary.
        self.whole_value: ast.expr | None = None
        self.tensor_pragma: StatementPragma | None = None  # the pragma before the statement
        # In a kernel, the sizes of its launch, the statements before it, and the names of the grid group.
        self.launch: list[_native.Var] = []
        self.in_front: list[_native.Stmt] = []
        self.allocations: list[_native.Stmt] = []  # arrays that loops and branches make exist from the start
        self.grids: set[str] = set()
        self.element_types: dict[str, str] = {}  # by name, the element types of the kernel's own arrays
        self.records: dict[str, Record] = {}
        self.record_arrays: dict[str, RecordArray] = {}  # the arrays of records that the kernel makes, by name
        self.captured_records: list[CapturedRecords] = []  # the arrays of records outside that the kernel uses
        self.forms: Forms = ()
        self.received: dict[str, list[_native.Var]] = {}  # the variables in place of parameters with forms
        self.given: dict[str, _native.Var] = {}  # the initial values of annotated parameters
        self.outputs: set[ast.Call] = set()  # the calls whose values NumPy stores to an argument `out`
        # Generators of random numbers: the stream of each, the arguments that pass generators on, the variables for
        # generators outside of functions that a called function gets, and the name that a new generator is assigned to.
        self.streams: dict[Root, Any] = {}
        self.absent: set[str] = set()  # the parameters that are None in place of generators
        self.passed_on: set[ast.expr] = set()
        self.generators: list[_native.Var] = []
        self.made_generator: ast.Name | None = None
        self._taken: set[str] = set(self.scope.locals)
        self._reported_names: set[str] = set()
        self._counters: frozenset[str] | None = None
        # The enclosing function, and the variables of it that this function may read, by name.
        self.outer = program.owners.get(source.function)
        self.around: dict[str, CellType] = {}
        if self.outer is not None:
            self._see(self.outer)

    def _note_classes(self, function: FunctionType) -> None:
        for name in function.__code__.co_names:
            value = function.__globals__.get(name)
            if isinstance(value, type) and str(value.__module__).partition(".")[0] not in LIBRARIES:
                self.program.note_class(value)

    def know(self, known: Mapping[str, Any]) -> None:
        """Notes the known values of parameters on which the meaning of the text depends."""
        self.scope.known = known
        objects = {name for name, value in known.items() if value is OBJECT}
        if objects:
            self.node = with_entries(self.node, objects)

    def counters(self) -> frozenset[str]:
        """The variables that only loops over ranges assign."""
        if self._counters is None:
            self._counters = self._find_counters()
        return self._counters

    def _find_counters(self) -> frozenset[str]:
        stored: Counter[str] = Counter()
        counted: Counter[str] = Counter()
        for part in walk(self.node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                stored[part.id] += 1
            elif isinstance(part, ast.For) and isinstance(part.target, ast.Name) and isinstance(part.iter, ast.Call):
                binding = self.resolve(part.iter.func)
                if binding is not None and is_range(binding.value):
                    counted[part.target.id] += 1
        return frozenset(name for name in counted if counted[name] == stored[name]) - self.parameters.keys()

    def _see(self, outer: FunctionScope) -> None:
        """Makes the variables of the enclosing function `outer` readable."""
        function = self.source.function
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        names = {name for name in cells if name in self.scope.locals and name in outer.scope.locals}
        names -= self.program.draws.names(self.source) if names else frozenset()
        self.around = {name: cells[name] for name in cells if name in names}
        self.assigned |= names

    def owned_variable(self, key: tuple[int, str]) -> _native.Var | None:
        """The variable of this function that a nested function reads from this place; None if there is none."""
        if key in self.enclosed and key not in self.captures:
            return self.variable(self.enclosed[key], self.node)
        return self.owned.get(key)

    def of_function_around(self, owner: FunctionScope, var: _native.Var, shown: str, node: ast.expr) -> _native.Var:
        """The variable of this function for a variable of an enclosing function."""
        key = id(owner), shown
        owner.owned[key] = var
        if key not in self.captures:
            capture = Capture(shown, OF_FUNCTION_AROUND, NO_PLACE, shown)
            self.captures[key] = (capture, self._capture_variable(shown, self.span(node)))
        return self.captures[key][1]

    # ------------------------------------------------------------ positions and errors

    def span(self, node: Any, end: Any = None) -> Span:
        """The place of `node`, or from its start to the end of `end`. The place of a definition is
        that of its name. Columns count bytes, as in ast."""
        end = end or node
        line, end_line = node.lineno, end.end_lineno
        begin, stop = node.col_offset, end.end_col_offset
        shift = self.line_shift
        if isinstance(end, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            end_line, stop = line, begin + len(f"def {end.name}")
        return (self.source_index, line + shift, begin + 1, end_line + shift, stop + 1)

    def error(self, code: str, node: Any, message: str, help_text: str = "", notes: list[Note] | None = None) -> None:
        place = node if isinstance(node, tuple) else self.span(node)
        if (code, place, message) not in self.program.reported:  # a function may be lowered several times
            self.program.reported.add((code, place, message))
            self.program.diagnostics.error(code, place, message, help_text, notes or [])

    def give_up_on(self, node: ast.AST) -> None:
        """Counts the variables that the refused `node` would assign as assigned, to avoid further errors."""
        for part in walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                self.assigned.add(part.id)

    def poison(self, node: ast.expr) -> _native.Expr:
        """The value in place of an expression that was reported as an error."""
        return self.module.constant(0, self.span(node))

    # ------------------------------------------------------------ variables

    def variable(self, name: str, node: ast.AST) -> _native.Var:
        """The local variable `name`, which is made at its first use, at `node`; the place of a parameter is
        that of its declaration."""
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
        """The name of a new variable for statements of the syntax tree; messages call it `shown`."""
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
        """Whether an earlier iteration may have assigned `name`, though no path from above did.

        False if the use is unconditional in the loop's body, because the first use then precedes the assignment.
        """
        return any(depth < self.conditions and name in stored_in(loop) for loop, depth in self.loops)

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
        """The object that a non-local name refers to; None after an error."""
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
        """The object outside the function that a name, or a chain of attributes and subscripts of tuples, refers to.

        None without an error if the chain begins with a local variable or is another expression, which the
        caller then lowers.
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
        """Makes later calls check that the place still holds this object, unless it is a place in a library."""
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
        """Captures a value that a called function captures, so that the call can pass it."""
        self.captures[key] = (capture, self._capture_variable(capture.name, span))

    # ------------------------------------------------------------ tuples outside the function

    def tuple_of(self, node: ast.expr) -> tuple[Any, ...] | None:
        """The tuple outside the function that `node` names, on which the program then depends; None for others."""
        binding = self.resolve(node)
        if binding is None or not isinstance(binding.value, tuple) or not self._stays(node, binding):
            return None
        self.rely_on(binding)
        return binding.value

    def _stays(self, node: ast.expr, binding: Binding) -> bool:
        """Whether the object that `node` names has a place or never changes, rather than being computed anew."""
        if binding.container is not NO_PLACE:
            return True
        if not isinstance(node, ast.Attribute):
            return False
        owner = self.resolve(node.value)
        return owner is not None and is_unchanging(owner.value, binding.value) and self._stays(node.value, owner)

    def item(self, node: ast.expr) -> Binding | None:
        """The element of a tuple that `node` selects by a constant, or, in kernels, the attribute of a known member of
        an enum, whose name is a text there; None for other expressions."""
        if not isinstance(node, ast.Subscript):
            return None
        if self.has_records and isinstance(node.value, ast.Name) and (key := string_key(node)) is not None:
            known = self.scope.known.get(node.value.id)
            return attribute(known, key, self.program.class_spaces) if isinstance(known, Enum) else None
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
        """Whether `node` begins with an undefined name."""
        name = first_name(node)
        return isinstance(name, ast.Name) and name.id not in self.scope.locals and self.scope.lookup(name.id) is None

    # ------------------------------------------------------------ the meanings of names

    def want_kinds(self, node: ast.AST) -> None:
        """Asks for the kinds of all arguments, without which the kernel cannot be parsed. The error remains if they are
        known already."""
        self.program.asks_all = True
        self.error(
            "P026", node, "the number of dimensions or the fields of this value are not known here", "write it out"
        )

    def kind_of(self, name: str) -> Kind | None:
        """The kind of a parameter of the kernel."""
        return self.program.known.get(name) if self.entry and name in self.parameters else None

    def may_rebind(self, name: str) -> bool:
        """Whether the name may get another meaning from here on: it has none yet, or all paths to the following
        statements pass this one."""
        return not self.conditions or not (name in self.variables or name in self.records)

    def is_function(self, found: object) -> bool:
        """Whether calls of an object are those of a function that is compiled with this one. Kernels call no plain
        functions, but functions of the library, which kernels may call, do."""
        of_library = str(self.source.function.__module__).startswith("parpy.library.")
        source = callable_source(found) if of_library or not self.kernel else jit_source(found)
        is_own = found is self.source.function or source is not None or found in self.program.owners
        return is_own or isinstance(found, self.language.functions)

    # ------------------------------------------------------------ small pieces

    def is_new_axis(self, node: ast.expr) -> bool:
        """Whether the node is None or np.newaxis, which equals None."""
        if isinstance(node, ast.Attribute):
            binding = self.resolve(node)
            return binding is not None and binding.value is None
        return is_none(node)

    def is_given(self, bound: ast.expr | None) -> TypeGuard[ast.expr]:
        """Whether a slice has this bound."""
        return bound is not None and not self.is_new_axis(bound)

    def integer(self, value: int, node: ast.expr | ast.arg) -> _native.Expr:
        """An integer constant at `node`."""
        return self.module.constant(value, self.span(node))

    def op(self, text: str, node: ast.expr, *operands: _native.Expr) -> _native.Expr:
        """An operation on these operands at `node`."""
        return self.module.op(text, list(operands), self.span(node))

    def received_variable(self, name: str, what: str, shown: str = "") -> _native.Var:
        """A new variable for the part of a parameter at the place `what`."""
        wanted = self.unique_name(f"{name}_{what.replace('.', '_')}")
        return self.module.variable(wanted, self.span(self.parameters[name]), shown)

    # ------------------------------------------------------------ statements before the current one

    def hold(
        self, value: _native.Expr, node: ast.expr | ast.stmt, at: int | None = None, shown: str = ""
    ) -> _native.Var:
        """A temporary with this value, assigned before the current statement or, with `at`, before the
        statement of this number in `out`. Messages call it `shown`."""
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
        """The result of `lower`, and the statements that must run before it, which are not added to `out`."""
        outer, self.out = self.out, []
        try:
            return lower(), self.out
        finally:
            self.out = outer

    # ------------------------------------------------------------ kernels

    def in_kernel(self, name: str, node: ast.AST) -> bool:
        """Whether this is a kernel or a function that a kernel calls; otherwise reports the use of `name`."""
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
        """Adds an allocation, at the beginning of the function if a loop or a branch makes the array."""
        (self.allocations if self.conditions else self.out).append(allocation)

    def head(self, node: ast.stmt) -> tuple[int, int, int, int, int]:
        """The place of a compound statement, which is its first line."""
        source, line, column, end_line, end_column = self.span(node)
        if end_line == line:
            return source, line, column, end_line, end_column
        text = self.source.text.split("\n")[line - self.source.first_line]
        return source, line, column, line, len(text.rstrip().encode()) + 1

    def helper(
        self, source: FunctionSource, forms: Forms = (), known: Mapping[str, Any] = NOTHING, is_optional: bool = False
    ) -> FunctionScope:
        """The surface function for a called jit function, made once per module, forms of arguments, and known values
        of arguments. Perhaps nothing calls it if it `is_optional`."""
        own = source if source.alternatives or source.arrays else None  # signatures make functions of their own
        key = (source.function, own, forms, *((name, id(value)) for name, value in sorted(known.items())))
        made = self.program.helpers.get(key)
        if made is None:
            made = FunctionScope(self.program, source, False)
            made.forms = forms
            made.is_optional = True
            made.know({**made.scope.known, **known})
            self.program.helpers[key] = made
            self.program.pending.append(made)
        made.is_optional = made.is_optional and (is_optional or self.is_optional)
        return made

    def is_applied(self, node: ast.Call) -> bool:
        """Whether the call is one of a value, which the core resolves (function_values.py)."""
        func = node.func
        binding = self.resolve(func)
        if binding is not None:  # among bound methods, only those of objects are values
            return not self.kernel and is_object(getattr(binding.value, "__self__", None))
        while isinstance(func, ast.Subscript):
            func = func.value
        if isinstance(func, ast.Attribute) and not is_of_value(func) and not self.kernel:  # a method of an object
            return self.resolve(func.value) is None and not self.starts_undefined(func)
        return isinstance(func, ast.Call | ast.IfExp | ast.Lambda) or (
            isinstance(func, ast.Name) and func.id in self.scope.locals
        )


def attribute_hint(owner: object, name: str) -> str:
    """A hint at the attribute that a misspelt name may mean; empty if there is none."""
    from difflib import get_close_matches

    close = get_close_matches(name, dir(owner), n=1)
    hint = f"did you mean '{close[0]}'?" if close else ""
    return f"{hint} it has: {', '.join(owner.names)}".strip() if isinstance(owner, Group) else hint


def describe(value: object) -> str:
    """The description of an object for messages: "the module 'math'", "a str"."""
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


def _is_library(container: Any) -> bool:
    if not isinstance(container, dict):
        return False
    name = container.get("__name__")
    return isinstance(name, str) and name.partition(".")[0] in _LIBRARIES and "__spec__" in container
