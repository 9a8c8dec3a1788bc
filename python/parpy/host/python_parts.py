"""Finds the parts of a function that Python runs: allocations, callbacks, aliases of arrays, and calls of functions
with such parts.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping
from types import FunctionType
from typing import Any, TypeGuard

import numpy as np

from ..calls.callback import Callback
from ..calls.errors import CompileError
from ..calls.misfits import Refusal
from ..frontend.draws import OTHERS, Draws
from ..frontend.statements.nests import is_nest
from ..library import gives_array, is_for_loops, is_in_library, library_method, stores_method
from ..pragmas.words import StatementPragma
from ..syntax.fields import is_of_value
from ..syntax.lazy import lazy
from ..syntax.lists import fixed_lists, is_kept_by_python, kept_names, makes_list
from ..syntax.names import callable_source
from ..syntax.nested_source import definitions, free_names, is_plain
from ..syntax.patterns import names_in, node_parameters, root_of
from ..syntax.source import FunctionSource
from ..syntax.starred import hands_on_rest
from ..syntax.walks import walk, walk_own
from ..vocabulary import operators, workers
from .allocations import Allocations
from .foreign_calls import (
    chooses_item,
    gives_container,
    gives_text,
    has_open_keyword,
    is_for_python,
    is_foreign,
    is_identity,
    is_made_text,
    is_statement_of_python,
    is_universal,
    makes_object,
    mixed_items,
    takes_elements,
)
from .kept import NOTHING_KEPT, Kept
from .liveness import assigned
from .lookup import Lookup
from .numpy_calls import METHODS, is_array_function, is_left_to_numpy
from .places import (
    chooses,
    is_part,
    is_stored,
    named_values,
    outermost_loops,
    refused_parts,
    selects,
    takes_less,
)
from .replaced import Lent, is_builtin, only_reads, stored_names
from .returns import elements_of, returned_places, returns_parts, shared_roots

_GRIDS = (np.mgrid, np.ogrid, np.r_, np.c_)
_WITH_TEST = ast.If | ast.While | ast.IfExp | ast.Assert
# The only nodes that Python may have to run. Most nodes are constants and operators, which need no further test.
_MAY_BE_PYTHONS = (
    ast.stmt, ast.Call, ast.Subscript, ast.Attribute, ast.Name, ast.Yield, ast.YieldFrom, ast.JoinedStr, ast.BinOp,
    ast.Compare, ast.Constant,
)  # fmt: skip


def needs_driver(source: FunctionSource, resolver: Resolver, called: bool) -> bool:
    """Whether Python runs a part of the function. If a jit function calls it (`called`), it may return parameters."""
    if source.only_pragmas or resolver.made_by_python or (resolver.kept.refusals is not None and not called):
        return True
    node = source.tree()
    made = {
        name
        for part in resolver.nodes
        if isinstance(part, ast.Assign | ast.AnnAssign) and resolver.is_python(part)
        for name in assigned([part])
    }
    arguments = {*node_parameters(node)}
    arguments -= assigned(node.body)
    for part in resolver.nodes:
        if isinstance(part, ast.Return) and part.value is not None:
            names = arguments | made
            if (
                resolver.is_python(part)
                or shared_roots(resolver, part.value)
                or (not called and any(root_of(place) in names for place in returned_places(resolver, part.value)))
            ):
                return True
        elif isinstance(part, ast.Expr | ast.Assign | ast.AnnAssign | ast.AugAssign) and part.value is not None:
            if resolver.is_python(part) or resolver.keeps(part):
                return True
        elif is_statement_of_python(part) or (isinstance(part, ast.With) and resolver.is_python(part)):
            return True
        elif isinstance(part, _WITH_TEST):
            if resolver.calls_back(part.test):
                return True
        elif isinstance(part, ast.For | ast.comprehension) and resolver.calls_back(part.iter):
            return True
    return bool(made)


def is_driven(source: FunctionSource) -> bool:
    """Whether Python runs a part of the function if another jit function calls it."""
    try:
        return needs_driver(source, Resolver(source, called=True), called=True)
    except CompileError:
        return False  # the error is reported when the function is compiled


def is_left_to_python(value: object) -> TypeGuard[Callable[..., Any]]:
    """Whether Python makes all calls of an object, which is a callback or print."""
    return isinstance(value, Callback) or value is print


# The functions that are being analysed, to end recursions.
_open: set[FunctionType] = set()


class Resolver(Lookup):
    """The callees of a function's calls, and the names that are arrays.

    `driven` tells that Python is known to run a part of the function. `called` tells
    that compiled code calls it. `kept` are the attributes that Python assigns to.
    """

    def __init__(
        self, source: FunctionSource, driven: bool = False, called: bool = False, kept: Kept = NOTHING_KEPT
    ) -> None:
        super().__init__(source, kept.rows)
        self.kept = kept
        self._driven = driven
        self._called = called
        self._drivers: dict[FunctionType, bool] = {}
        self._allocations = Allocations(source, self, self._is_callback)
        self._only_pragmas = source.only_pragmas

    def is_left_out(self, node: ast.stmt) -> bool:
        """Whether only statements with pragmas are compiled, and this statement has none."""
        return self._only_pragmas and not self._asks_for_workers(node)

    def _asks_for_workers(self, node: ast.stmt) -> bool:
        pragma = self._source.pragmas.of(node)
        if isinstance(node, ast.For) and isinstance(node.iter, ast.Call):
            binding = self.find(node.iter.func)
            ranges = (workers.prange, workers.range)
            if binding is not None and any(binding.value is each for each in ranges):
                return True
        return pragma is not None and not (isinstance(pragma, StatementPragma) and not pragma.dims)

    def is_python(
        self, node: ast.AST, but: Container[str] = (), originals: Mapping[ast.AST, ast.AST] | None = None
    ) -> bool:
        """Whether `node`, a part of the function, contains a part that Python runs, other than a name among `but`.
        `originals`: parts of the function, by the nodes that are their copies."""
        return self._has_python_parts and any(
            self._is_python_part(part if originals is None else originals.get(part, part))
            for part in walk_own(node)
            if not (isinstance(part, ast.Name) and part.id in but)
        )

    @lazy
    def made_objects(self) -> frozenset[str]:
        """The names that only get new objects of users' classes, which Python makes and compiled loops may change."""
        given: dict[str, list[ast.expr]] = {}
        for part in self.nodes:
            if isinstance(part, ast.Assign | ast.AnnAssign):
                for name, value in named_values(part):
                    given.setdefault(name, []).append(value)
        stores = Counter(
            part.id for part in self.nodes if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)
        )
        return frozenset(
            name
            for name, values in given.items()
            if name in self._kept and stores[name] == len(values) and all(map(self._makes_users_object, values))
        )

    def _makes_users_object(self, value: ast.expr) -> bool:
        made = self.find(value.func) if isinstance(value, ast.Call) else None
        if made is None or not isinstance(made.value, type):
            return False
        new: object = made.value.__new__
        return new is object.__new__

    @lazy
    def made_by_python(self) -> frozenset[str]:
        """The nested functions that cannot be compiled, for example because they assign to outer variables."""
        return frozenset(part.name for part in self.nodes if isinstance(part, ast.FunctionDef) and not is_plain(part))

    @lazy
    def _nested_with_lists(self) -> frozenset[str]:
        """The nested functions that read lists of this function, so that Python runs them."""
        found = definitions(self._source.tree(), self.nodes)
        return frozenset(name for name, _, node in found if not free_names(node).isdisjoint(self._kept))

    @lazy
    def _has_python_parts(self) -> bool:
        return any(self._is_python_part(part) for part in self.nodes)

    def _is_python_part(self, part: ast.AST) -> bool:
        return isinstance(part, _MAY_BE_PYTHONS) and (
            (isinstance(part, ast.Call) and self._calls_python(part))
            or (isinstance(part, ast.Subscript) and self._is_grid(part))
            or (isinstance(part, ast.Assign | ast.AnnAssign) and self._renames(part))
            or self.keeps(part)
            or self.kept.assigned_by(part)
            or is_statement_of_python(part)
            or (isinstance(part, ast.Assign) and self.resizes(part))
            or (isinstance(part, ast.With) and not self.is_on_gpu(part))
            or (isinstance(part, ast.Subscript) and self.is_of_list(part))
            or self._assigns_part(part)
            or part in self._values_of_python
        )

    @lazy
    def _values_of_python(self) -> frozenset[ast.AST]:
        """The texts that Python makes, the returns of texts to Python, elements of several types outside of loops and,
        after a refusal, the tests whether two names refer to one array and, outside of loops, statements that choose a
        value, which may be an array or a number."""
        found = {part for part in self.nodes if is_made_text(part)}
        if found:
            messages = [part for part in self.nodes if isinstance(part, ast.Raise | ast.Assert) or self.is_label(part)]
            found.difference_update(each for part in messages for each in walk(part))
            found.difference_update(part.slice for part in self.nodes if isinstance(part, ast.Subscript))
        if not self._called:
            found |= {part for part in self.nodes if isinstance(part, ast.Return) and gives_text(part.value)}
            found |= mixed_items(self.nodes) - self._in_loops
        if self.kept.refused:
            found |= {part for part in self.nodes if is_identity(part)}
            found |= {part for part in self.nodes if chooses(part)} - self._in_loops
            found |= {part for part in self.nodes if chooses_item(part)} - self._in_loops
        return frozenset(found.union(self.refused_parts))

    @lazy
    def refused_parts(self) -> dict[ast.AST, Refusal]:
        """The simple statements, and the parts of heads of others, that compiled code has refused, with the reasons."""
        return refused_parts(self.nodes, self.kept.refusals or (), self._source.line_shift)

    def _assigns_part(self, part: ast.AST) -> bool:
        """Whether the node assigns to all real or imaginary parts of an array, or to elements by their flat index:
        `x.imag = 0`, `x.flat[3] = 1`."""
        if isinstance(part, ast.Subscript):
            return is_stored(part) and isinstance(part.value, ast.Attribute) and part.value.attr == "flat"
        if not isinstance(part, ast.Attribute) or not isinstance(part.ctx, ast.Store):
            return False
        return part.attr in ("real", "imag") and root_of(part) not in self.objects

    def resizes(self, node: ast.Assign) -> bool:
        """Whether a statement in a loop assigns a smaller array to its name: `x = x[1:] + x[:-1]` and, after a refusal,
        `x = x[m]`."""
        if node not in self._in_loops:
            return False
        if self.kept.refused and any(selects(value, name) for name, value in named_values(node)):
            return True
        target = node.targets[0]
        return isinstance(target, ast.Name) and isinstance(node.value, ast.BinOp) and takes_less(node.value, target.id)

    @lazy
    def _in_loops(self) -> frozenset[ast.AST]:
        return frozenset(part for loop in outermost_loops(self._source.tree().body) for part in walk(loop))

    def is_on_gpu(self, node: ast.With) -> bool:
        """Whether the statement is `with parpy.gpu`, which compiled code supports."""
        found = self.find(node.items[0].context_expr)
        return found is not None and found.value is operators.gpu

    def is_of_list(self, node: ast.Subscript) -> bool:
        """Whether the node is an element of a list outside of the function, which may change at any time."""
        found = self.find(node.value) if isinstance(node.value, ast.Name | ast.Attribute) else None
        return found is not None and isinstance(found.value, list)

    def keeps(self, part: ast.AST) -> bool:
        """Whether the node makes a list, dict or set that Python keeps, or is the name of one."""
        if isinstance(part, ast.Name):
            return part.id in self._kept
        if self.kept.is_read(part):
            return True
        return is_kept_by_python(part, self._fixed)

    @lazy
    def _fixed(self) -> frozenset[str]:
        return fixed_lists(self.nodes)

    @lazy
    def _kept(self) -> frozenset[str]:
        kept = kept_names(self.nodes, self._fixed, self._gives_list, self.kept.refused)
        if not self._called:
            kept |= self._returned_texts
        outer = (part.names for part in self.nodes if isinstance(part, ast.Global | ast.Nonlocal))
        return kept.union(self.kept.names, self.made_by_python, *outer)

    @lazy
    def _returned_texts(self) -> frozenset[str]:
        """The returned names that get one of several texts."""
        assignments = [part for part in self.nodes if isinstance(part, ast.Assign | ast.AnnAssign)]
        values = [each for part in assignments for each in named_values(part) if each[0] in self.returned]
        texts = {name for name, value in values if gives_text(value)}
        count = Counter(name for name, _ in values)
        return frozenset(
            name for name, value in values if name in texts and (count[name] > 1 or isinstance(value, ast.IfExp))
        )

    def _gives_list(self, call: ast.Call, place: int | None) -> bool:
        """Whether the call is one of a user's function that returns a list, dict or set, or a tuple with one at this
        place, or of a class that compiled code does not support."""
        binding = self.find(call.func)
        if binding is not None and (
            gives_container(binding.value) or (self.kept.refused and makes_object(binding.value))
        ):
            return place is None
        source = None if binding is None else callable_source(binding.value)
        if source is None or source.function is self.function or not self.has_driver(source.function):
            return False
        callee = Resolver(source, called=True, kept=self.kept)
        returned = [part.value for part in callee.nodes if isinstance(part, ast.Return) and part.value is not None]
        if place is not None:
            tuples = [value.elts for value in returned if isinstance(value, ast.Tuple)]
            returned = [elements[place] for elements in tuples if place < len(elements)]
        return any(makes_list(value) or callee.keeps(value) for value in returned)

    def _is_grid(self, node: ast.Subscript) -> bool:
        """Whether the node subscripts np.mgrid or a similar object, as np.mgrid[0:n, 0:m]."""
        binding = self.find(node.value) if isinstance(node.value, ast.Attribute | ast.Name) else None
        if binding is None or not any(binding.value is each for each in _GRIDS):
            return False
        self.scope.rely_on(binding)
        return True

    def _renames(self, node: ast.Assign | ast.AnnAssign) -> bool:
        """Whether the statement makes an alias of an array that only Python can make: `src = a`, `a, b = b, a`."""
        return any(
            (
                (self.place(value) in self.arrays() or self.is_captured_array(value))
                and (self._calls_python_anywhere or not self._is_name_for_good(name))
            )
            for name, value in named_values(node)
            if isinstance(value, ast.Name | ast.Attribute | ast.Subscript)
        ) or any(
            (name in self.returned and any(map(self._is_part_of_argument, elements_of(value))))
            or ((moved := self.moved(value)) is not None and self._renames_moved(name, value, moved))
            for name, value in named_values(node)
        )

    def _is_part_of_argument(self, value: ast.expr) -> bool:
        return self.is_row(value) or (is_part(value) and self.place(value.value) in self.parameters)

    def _renames_moved(self, name: str, value: ast.expr, moved: ast.expr) -> bool:
        """Whether only Python can make this alias with another shape, or of the real parts, rather than a value."""
        if self.place(moved) in self.arrays() and (self._calls_python_anywhere or name in self.returned):
            return True
        root, stored = root_of(moved), self._stored
        is_part = isinstance(value, ast.Attribute) and value.attr != "T"
        return root in self.plain_arrays and (name in stored or (is_part and root in stored))

    @lazy
    def _stored(self) -> frozenset[str]:
        """The names of arrays that statements may store to, including aliases."""
        return stored_names(self._source.tree().body, self.is_users, self._is_pythons, self._only_reads)

    def _is_pythons(self, call: ast.Call) -> bool:
        return is_builtin(getattr(self.find(call.func), "value", None))

    def _only_reads(self, call: Lent) -> bool:
        """Whether a called function does not store to the array that it gets."""
        source = callable_source(getattr(self.find(call.function), "value", None))
        return source is not None and only_reads(source, call.place)

    @lazy
    def _calls_python_anywhere(self) -> bool:
        return any(isinstance(part, ast.Call) and self._calls_python(part) for part in self.nodes)

    def _is_name_for_good(self, name: str) -> bool:
        """Whether the name always refers to one array and is not returned, so that compiled code can have it."""
        return name not in self._names_of_several

    @lazy
    def _names_of_several(self) -> frozenset[str]:
        """The names that are assigned several times, and those that the function returns."""
        counts = Counter(self.parameters)
        for part in self.nodes:
            if isinstance(part, ast.Assign | ast.AnnAssign):
                counts.update(name for name, _ in named_values(part))  # twice for `a if c else b`
        return frozenset(name for name, count in counts.items() if count > 1) - self._copied | self.returned

    @lazy
    def _copied(self) -> frozenset[str]:
        """The names that only one outermost loop uses and whose arrays it does not store to; they may be copies."""
        everywhere = Counter(part.id for part in self.nodes if isinstance(part, ast.Name))
        everywhere.update(self.parameters)
        found: set[str] = set()
        for loop in outermost_loops(self._source.tree().body):
            parts = list(walk(loop))
            here = Counter(part.id for part in parts if isinstance(part, ast.Name))
            sources: dict[str, set[str]] = {}
            stored = {root_of(part) for part in parts if isinstance(part, ast.Subscript) and is_stored(part)}
            for part in parts:
                if isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name):
                    stored.add(part.target.id)
                elif isinstance(part, ast.Call) and callable_source(getattr(self.find(part.func), "value", None)):
                    stored |= names_in(part)
                elif isinstance(part, ast.Assign | ast.AnnAssign):
                    for name, value in named_values(part):
                        sources.setdefault(name, set()).add(root_of(value))
            for name in sources:
                met: set[str] = set()
                while more := {name}.union(*(sources.get(each, ()) for each in met)) - met:
                    met |= more
                if here[name] == everywhere[name] and not met & stored:
                    found.add(name)
        return frozenset(found)

    def calls_back(self, node: ast.AST) -> bool:
        """Whether `node` contains a call of a function that Python runs."""
        return self._has_python_parts and any(
            (isinstance(part, ast.Call) and self._runs_in_python(part))
            or self.keeps(part)
            or part in self._values_of_python
            for part in walk(node)
        )

    def _calls_python(self, call: ast.Call) -> bool:
        return call in self._made_generators or self._is_run_by_python(call)

    def _is_run_by_python(self, call: ast.Call) -> bool:
        """Whether Python makes the call, apart from calls that make or seed generators of random numbers."""
        return self._runs_in_python(call) or (self.is_allocation(call) and call not in self._allocations.compiled)

    @lazy
    def _made_generators(self) -> frozenset[ast.Call]:
        """The calls that make and seed generators of random numbers outside of compiled loops. Python makes them, and
        each region draws a key of its own. There are none if compiled code calls the function."""
        draws, tree = Draws(), self._source.tree()
        if self._called or not draws.may_draw(self.function):
            return frozenset()
        found = {part for part in self.nodes if draws.makes(part, self.scope) or draws.seeds(part, self.scope)}
        if not found:
            return frozenset()
        inside = {part for loop in self._compiled_loops(tree.body) for part in walk(loop)}
        return frozenset(part for part in found - inside if isinstance(part, ast.Call))

    def _compiled_loops(self, nodes: list[ast.stmt]) -> Iterator[ast.stmt]:
        """The outermost loops that are compiled as a whole."""
        for node in nodes:
            calls = [part for part in walk(node) if isinstance(part, ast.Call)]
            if isinstance(node, ast.For | ast.While) and not any(map(self._is_run_by_python, calls)):
                yield node
                continue
            for body in ("body", "orelse"):
                yield from self._compiled_loops(getattr(node, body, []))

    def _is_callback(self, part: ast.AST) -> bool:
        return isinstance(part, ast.Call) and self._runs_in_python(part)

    def _runs_in_python(self, call: ast.Call) -> bool:
        binding = self.find(call.func)
        if call in self._nests:
            return False
        source = None if binding is None else callable_source(binding.value)
        if is_for_python(call) and (source is None or not hands_on_rest(call, source.function)):
            return True
        if isinstance(call.func, ast.Name) and call.func.id in self._nested_with_lists:
            return True
        if binding is None:
            return self._is_method_of_numpy(call) or self.kept.is_called(call)
        if not self.is_called_by_python(binding.value, call):
            return False
        self.rely_on(call.func, binding)
        return True

    @lazy
    def _nests(self) -> frozenset[ast.Call]:
        """The calls over which loops iterate and that compiled code turns into nests of loops."""
        heads = [part.iter for part in self.nodes if isinstance(part, ast.For | ast.comprehension)]
        calls = [each for each in heads if isinstance(each, ast.Call)]
        return frozenset(each for each in calls if is_nest(getattr(self.find(each.func), "value", None), each))

    def _is_method_of_numpy(self, call: ast.Call) -> bool:
        """Whether the call is one of an array method that compiled code does not support."""
        func = call.func
        if not isinstance(func, ast.Attribute):
            return False
        of_local = root_of(func.value) in self.scope.locals and is_of_value(func)
        known = func.attr in METHODS or func.attr in OTHERS
        if stores_method(func.attr, call) and (self._called or call in self._in_loops):
            known = False
        if self.kept.refused and library_method(func.attr, func.value, call) is not None:
            known = True
        return (of_local and known) or has_open_keyword(call)

    def is_called_by_python(self, value: object, call: ast.Call) -> bool:
        """Whether Python makes this call of an object."""
        if value is sum and self._adds_arrays(call):
            return True
        if self.kept.refused and (value is min or value is max) and any(each.arg == "key" for each in call.keywords):
            return True
        if call in self._returned_views or (
            self.kept.refused
            and (is_in_library(value) or makes_object(value) or self._gives_view(call) or self._is_recursive(value))
        ):
            return True
        if is_universal(value):
            return call not in self._in_loops or not takes_elements(call, value, self._is_of_array)
        left = is_left_to_python(value) or (is_left_to_numpy(value, call) and not self._is_compiled_besides(call))
        left = left or (is_for_loops(value) and not self._called and call not in self._in_loops)
        return left or is_foreign(value) or self.has_driver(value)

    @lazy
    def _returned_views(self) -> frozenset[ast.Call]:
        """The calls whose results are returned and may be parts of their arguments."""
        if self._called:
            return frozenset()
        given: dict[str, list[ast.expr]] = {}
        for part in self.nodes:
            if isinstance(part, ast.Assign | ast.AnnAssign):
                for name, value in named_values(part):
                    given.setdefault(name, []).append(value)
        values = [part.value for part in self.nodes if isinstance(part, ast.Return) and part.value is not None]
        found = {each for value in values for each in elements_of(value)}
        found |= {each for value in [*found] if isinstance(value, ast.Name) for each in given.get(value.id, ())}
        return frozenset(each for each in found if isinstance(each, ast.Call) and self._gives_view(each))

    def _adds_arrays(self, call: ast.Call) -> bool:
        """Whether the call of sum adds arrays, which NumPy's functions return, to the number 0."""
        given = call.args[0] if call.args else None
        if not isinstance(given, ast.GeneratorExp | ast.ListComp):
            return False
        calls = (part for part in walk(given.elt) if isinstance(part, ast.Call))
        return any(gives_array(getattr(self.find(each.func), "value", None)) for each in calls)

    def _gives_view(self, call: ast.Call) -> bool:
        source = callable_source(getattr(self.find(call.func), "value", None))
        node = None if source is None else source.tree()
        return isinstance(node, ast.FunctionDef) and returns_parts(node)

    def _is_recursive(self, value: object) -> bool:
        """Whether the value is a user's function that returns a tuple and calls itself."""
        source = callable_source(value)
        node = None if source is None else source.tree()
        if not isinstance(node, ast.FunctionDef):
            return False
        returned = (part.value for part in walk(node) if isinstance(part, ast.Return))
        calls = (part.func for part in walk(node) if isinstance(part, ast.Call))
        return any(isinstance(each, ast.Tuple) for each in returned) and any(
            isinstance(each, ast.Name) and each.id == node.name for each in calls
        )

    def _is_of_array(self, node: ast.expr) -> bool:
        """Whether the node is an array or a part of one."""
        if isinstance(node, ast.Subscript):
            return is_part(node)
        return self.place(node) in self.arrays() or self.is_captured_array(node)

    def calls_unknown(self, call: ast.Call) -> bool:
        """Whether Python makes this call because compiled code does not support the function."""
        binding = self.find(call.func)
        if binding is None:
            return self._is_method_of_numpy(call)
        known = is_array_function(binding.value) or is_foreign(binding.value)
        return known and self._runs_in_python(call)

    def _is_compiled_besides(self, call: ast.Call) -> bool:
        """Whether compiled code itself makes the array of this NumPy call."""
        return self.is_allocation(call) or self.moved(call) is not None

    def has_driver(self, value: object) -> bool:
        """Whether the value is a jit function of which Python runs a part."""
        source = callable_source(value)
        if source is not None and source.function is self.function and not self._driven:
            return False
        if source is None or source.function in _open:
            return False
        known = self._drivers.get(source.function)
        if known is None:
            _open.add(source.function)
            try:
                known = needs_driver(source, Resolver(source, called=True, kept=self.kept), called=True)
            except CompileError:
                known = False  # the error is reported when the function is compiled
            finally:
                _open.discard(source.function)
            self._drivers[source.function] = known
        return known

    def is_users(self, call: ast.Call) -> bool:
        """Whether the call is one of a user's function."""
        binding = self.find(call.func)
        return binding is not None and callable_source(binding.value) is not None

    def is_label(self, node: ast.AST) -> bool:
        if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
            return False
        binding = self.find(node.value.func)
        return binding is not None and binding.value is operators.label
