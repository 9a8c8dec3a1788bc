"""Splits a function into the statements that Python runs and the regions that are compiled."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeVar

from .. import _native
from ..calls.errors import fail
from ..syntax.annotations import annotations_of, symbol_places
from ..syntax.fields import as_written
from ..syntax.names import callable_source
from ..syntax.nested_source import NestedSource, definitions, free_names, own_nodes
from ..syntax.patterns import names_in, node_parameters
from ..syntax.source import FunctionSource
from ..syntax.walks import copy_of, walk, walk_own
from ..types import Symbol
from .ahead import Once
from .checks import HELPERS
from .foreign_calls import is_universal
from .grown.calls import ListRegion
from .grown.loops import LISTS, Growing, kind_of, rewritten
from .kept import Kept
from .labels import Place, labels_in
from .liveness import Names, assigned, live_before, live_before_each, live_in_loop, reads, updated
from .places import is_part, is_whole, named_values
from .python_parts import Resolver
from .regions import DONE, EARLY, Around, Region
from .returns import Fresh, Needs, Returns, if_early, leaves_by_return_alone, returned_in, with_marked_returns
from .small_statements import Small, SmallStatements
from .unset import NO_VALUE, at, never_assigned

RUN, CALL, AGAIN, BY_PYTHON = "__parpy_run__", "__parpy_call__", "__parpy_again__", "__parpy_by_python__"
_OWN = {RUN, CALL, AGAIN, BY_PYTHON, EARLY, LISTS, NO_VALUE, *HELPERS}
_NONE: Names = frozenset()
_Node = TypeVar("_Node", ast.stmt, ast.expr)


class Splitter:
    """Splits one function; `driver` makes the function that Python runs, and `regions` are compiled."""

    def __init__(
        self,
        source: FunctionSource,
        node: ast.FunctionDef,
        jit: Callable[[FunctionSource], _native.JitFunction],
        kept: Kept,
        called: bool = False,
    ) -> None:
        """`called` tells that Python calls the function repeatedly."""
        self.source = source
        self._again_and_again = called
        self.resolver = Resolver(source, driven=True, kept=kept)
        self.locals = self.resolver.scope.locals
        self.annotations = annotations_of(source.function)
        self.regions: list[Region] = []
        self.lists: list[ListRegion] = []  # the loops in which lists grow
        self.listed: set[ast.stmt] = set()  # these loops in the text
        self.places: list[Place] = []  # the places of the regions
        self.run_by_python: dict[str, ast.stmt] = {}
        self.nested: set[str] = set()  # the labels of called functions with drivers of their own
        self.calls: list[FunctionSource] = []  # these functions
        self._returns = Returns(self.resolver)
        self._fresh = Fresh(self.resolver.nodes)
        given = {*node_parameters(node)}
        # Nested functions, whose definitions are copied to the regions that use them.
        self._nested = {name: each for name, each, _ in definitions(node, own_nodes(node))}
        defined = [
            each for each in own_nodes(node) if isinstance(each, ast.FunctionDef) and not self._stands_for_itself(each)
        ]
        # The variables that nested functions which Python makes read at the time of their calls.
        self._captured = frozenset().union(*map(free_names, defined)) & self.locals
        around = frozenset().union(*map(reads, self._nested.values())) - self._nested.keys()
        unset = ((live_before(node.body, frozenset()) | around) & self.locals) - given  # may be read without a value
        arrays = unset & self.resolver.arrays()
        resolver = self.resolver
        self._around = Around(
            source,
            jit,
            self.annotations,
            self.locals,
            unset,
            arrays,
            resolver.is_label,
            resolver.is_users,
            resolver.find,
        )
        self._small = SmallStatements(self.resolver, frozenset(self.annotations))
        self.statements: list[Region] = []  # the regions of small statements
        self._small_regions = 0  # the number of regions for groups of small statements
        self.by_python: list[bool] = []  # for each group of small statements, whether Python runs it
        self.body = self._split(node.body, frozenset(), frozenset(), frozenset())

    def driver(self, node: ast.FunctionDef, dry: bool) -> ast.FunctionDef:
        """The function that Python runs. With `dry`, each loop runs once."""
        made = copy_of(ast.FunctionDef(node.name, node.args, self.body, [], None))
        made.args.defaults, made.args.kw_defaults = [], []
        given = [*made.args.posonlyargs, *made.args.args, *made.args.kwonlyargs]
        for each in given:
            each.annotation = None
        own = [*map(ast.arg, sorted(_OWN))]
        made.args.posonlyargs, made.args.args, made.args.kwonlyargs = [], given, own
        made.args.kw_defaults = [None] * len(own)
        ast.copy_location(made, node)
        made.body = made.body or [ast.copy_location(ast.Pass(), node)]
        if dry:
            made = Once().visit(made)
        made.body += [
            at(each, node) for each in never_assigned(self._around.unset)
        ]  # makes variables that only regions assign local
        return ast.fix_missing_locations(as_written(made))

    def is_python(self) -> bool:
        """Whether Python runs all statements, apart from small ones, for all arguments."""
        parameters = {*self.source.function.__code__.co_varnames[: self.source.function.__code__.co_argcount]}
        return (
            not self.annotations
            and len(self.regions) == self._small_regions
            and parameters.isdisjoint(updated(self.source.tree().body))
        )

    # ------------------------------------------------------------ statements for Python

    def _stands_for_itself(self, node: ast.stmt) -> bool:
        """Whether the statement defines a nested function that its name always refers to; regions copy it."""
        return any(node is each for each in self._nested.values())

    def _is_python(self, node: ast.stmt) -> bool:
        changes = self._changes_objects(node)
        return (
            self._leaves(node)
            or self.resolver.is_left_out(node)
            or (not changes and self.resolver.is_python(node))
            or not self._captured.isdisjoint(assigned([node]))
            # An array that may have no value is passed only to regions that read it.
            or (isinstance(node, ast.If) and not self._around.unset_arrays.isdisjoint(assigned([node]) | reads(node)))
        )

    def _changes_objects(self, node: ast.stmt) -> bool:
        """Whether the node is a loop that needs Python only for objects that Python has made. It is compiled as a
        function of the objects, which may change their numbers and arrays."""
        made = self.resolver.made_objects
        if not isinstance(node, ast.For | ast.While) or made.isdisjoint(names_in(node)):
            return False
        if self.resolver.is_python(node, made):
            return False
        self.listed.add(node)
        return True

    def _leaves(self, node: ast.stmt, in_loop: bool = False) -> bool:
        """Whether control may leave the statement other than at its end."""
        if isinstance(node, ast.Return):
            return True
        if isinstance(node, ast.Break | ast.Continue):
            return not in_loop
        inside = in_loop or isinstance(node, ast.For | ast.While)
        parts = [(part, inside) for part in getattr(node, "body", ())]
        parts += [(part, in_loop) for part in getattr(node, "orelse", ())]
        return any(self._leaves(part, loop) for part, loop in parts)

    def _split(self, nodes: Sequence[ast.stmt], after: Names, at_break: Names, at_continue: Names) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        group: list[ast.stmt] = []
        nodes = list(self._written_out(nodes))
        live = live_before_each(nodes, after, at_break, at_continue)
        if any(isinstance(node, ast.Delete) for node in nodes):
            nodes = [node for node, behind in zip(nodes, live[1:], strict=True) if not self._only_ends(node, behind)]
            live = live_before_each(nodes, after, at_break, at_continue)
        for node, rest, behind in zip(nodes, live, live[1:], strict=False):
            if isinstance(node, ast.FunctionDef) or node in self._nested.values():
                if not self._stands_for_itself(node):
                    out += self._region(group, rest)
                    group = []
                out.append(node)
                continue
            if not self._is_python(node):
                group.append(node)
                continue
            out += self._region(self._without_labels(group, node), rest)
            group = []
            by_python = partial(self._python, node, behind, at_break, at_continue)
            out += self._growing(node, behind, by_python) or self._left_early(node, behind) or by_python()
        return out + self._region(group, after)

    def _only_ends(self, node: ast.stmt, behind: Names) -> bool:
        """Whether the statement is `del t` for local variables that have values and that no later statement reads."""
        if not isinstance(node, ast.Delete) or not all(isinstance(each, ast.Name) for each in node.targets):
            return False
        names = names_in(node)
        is_once = len(names) == len(node.targets)
        return is_once and names <= self.locals and names.isdisjoint(behind | self._captured | self._around.unset)

    def _without_labels(self, group: list[ast.stmt], node: ast.stmt) -> list[ast.stmt]:
        """The statements before a statement that Python runs, without the labels of that statement."""
        while group and self.resolver.is_label(group[-1]):
            self._label_of_python(group[-1], node)
            group = group[:-1]
        return group

    def _python(self, node: ast.stmt, behind: Names, at_break: Names, at_continue: Names) -> list[ast.stmt]:
        """The statements that Python runs for this one, if the names `behind` are live after it."""
        made = copy.copy(node)
        before: list[ast.stmt] = []
        if isinstance(made, ast.If):
            if self._small.is_condition(made.test) and not self.resolver.is_python(made.test):
                before, made.test = self._small.condition(made, self._again)
            else:
                made.test = self._called(made.test)
            made.body = self._split(made.body, behind, at_break, at_continue) or [_pass(node)]
            made.orelse = self._split(made.orelse, behind, at_break, at_continue)
        elif isinstance(made, ast.For | ast.While):
            if isinstance(made, ast.For):
                made.iter = self._called(made.iter)
            else:
                made.test = self._called(made.test)
            _, end = live_in_loop(made, behind, live_before(made.orelse, behind, at_break, at_continue))
            around, self._again_and_again = self._again_and_again, True
            made.body = self._split(made.body, end, behind, end) or [_pass(node)]
            self._again_and_again = around
            made.orelse = self._split(made.orelse, behind, at_break, at_continue)
        elif isinstance(made, ast.With) and not self.resolver.is_on_gpu(made):
            made = copy.copy(self._called_in_head(made))
            made.body = self._split(made.body, behind, at_break, at_continue) or [_pass(node)]
        elif isinstance(made, ast.With):
            if self._leaves(made):
                fix = "put the return, break or continue after the block"
                self._refuse("P308", made, "'with parpy.gpu' is left before its end", fix)
            fix = "allocate, call callbacks and assign names of arrays before the block"
            self._refuse("P022", made, "'with parpy.gpu' contains a statement that only Python can run", fix)
        else:
            made = self._called(node)
        return [*before, made]

    def _called(self, node: _Node) -> _Node:
        """A copy of a node that Python runs, with calls that go through the driver."""
        self.nested |= labels_in([node], self.resolver)
        made: _Node = _Calls(self.resolver, self.calls).visit(copy_of(node))
        return made

    def _called_in_head(self, node: ast.With) -> ast.With:
        """The statement, with calls in its head that go through the driver."""
        made = copy.copy(node)
        made.items = [ast.withitem(self._called(item.context_expr), item.optional_vars) for item in node.items]
        return made

    def _written_out(self, nodes: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
        """The statements, with returns that get their values from variables, so that compiled code computes the
        values."""
        for node in nodes:
            whole = isinstance(node, ast.Return) and (node.value is None or not self.resolver.is_python(node.value))
            if isinstance(node, ast.Return) and whole and not self.source.only_pragmas:
                yield from self._returns.written_out(node)
            else:
                yield node

    # ------------------------------------------------------------ statements for compiled code

    def _is_view(self, node: ast.stmt) -> bool:
        """Whether the statement only assigns parts of arrays, or a list display, to names."""
        if not isinstance(node, ast.Assign):
            return False
        if not all(isinstance(target, ast.Name | ast.Tuple) for target in node.targets):
            return False
        if isinstance(node.value, ast.List):
            return True
        values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        return all(isinstance(each, ast.Subscript) and self._is_of_array(each) for each in values)

    def _names_views(self, node: ast.stmt, behind: Names) -> bool:
        """Whether the statement assigns a part of an array to a name that is live after the region, so that Python must
        run it. In loops and branches, elements have the same form as rows."""
        if isinstance(node, ast.Assign):
            return self._is_view(node) and not assigned([node]).isdisjoint(behind)
        views = [part for part in walk_own(node) if isinstance(part, ast.Assign) and self._is_view(part)]
        return bool(views) and not assigned(views).isdisjoint(behind & self.resolver.arrays())

    def _is_of_array(self, node: ast.Subscript) -> bool:
        """Whether the node is an element, a row or another part of an array."""
        root = ast.unparse(node.value)
        return is_part(node) or (is_whole(node.value) and root in self.resolver.arrays())

    def _region(self, nodes: list[ast.stmt], after: Names) -> list[ast.stmt]:
        after = self._through_nested(after)
        for index, node in enumerate(nodes):  # Python must name parts of arrays that are live after the region
            if self._names_views(node, after):
                rest = nodes[index + 1 :]
                before = self._without_labels(nodes[:index], node)
                made = self._region(before, live_before(nodes[index:], after))
                made += self._python(node, live_before(rest, after), frozenset(), frozenset())
                return made + self._region(rest, after)
        light = all(map(_is_light, nodes))
        computes = not light or any(isinstance(part, ast.BinOp) for node in nodes for part in walk(node))
        if nodes and computes and (light or self._again_and_again) and self._small.are(nodes):
            return [self._small_group(nodes, after, light)]
        return nodes if light else self._whole(nodes, after)

    def _small_group(self, nodes: list[ast.stmt], after: Names, light: bool) -> ast.stmt:
        """A group of small statements that Python runs as long as compiled code would have the same results."""
        group = len(self.by_python)
        self.by_python.append(True)

        test = ast.Subscript(ast.Name(BY_PYTHON, ast.Load()), ast.Constant(group), ast.Load())
        body = self._small.by_python(nodes, partial(self._again, group=-1 if light else group), light)
        self._small_regions += not light
        made: ast.stmt = at(Small(test, body, nodes if light else self._whole(nodes, after)), nodes[0])
        return made

    def _growing(self, node: ast.stmt, behind: Names, by_python: Callable[[], list[ast.stmt]]) -> list[ast.stmt] | None:
        """The statements that run a loop in which lists grow by compiled code, or else by Python; None for others."""
        names = {part.id for part in walk_own(node) if isinstance(part, ast.Name) and self.resolver.keeps(part)}
        early = self._early(node, frozenset(names)) if self._leaves(node) else None
        if not isinstance(node, ast.For | ast.While) or (early is None and self._leaves(node)):
            return None
        behind = self._through_nested(behind)
        before, unset = live_before([node], behind), self._around.unset - assigned([node])
        values = [each for part in self.resolver.nodes if isinstance(part, ast.Assign) for each in named_values(part)]
        kinds = {name: kind_of(name, values, self.resolver.nodes) for name in sorted(names)}
        kinds |= dict.fromkeys(names & self.resolver.kept.texts, str)
        resolver = self.resolver
        found = rewritten(node, resolver.nodes, kinds, before, self._around.new_name, resolver) if names else None
        if found is None or any(self.resolver.is_label(part) for part in walk_own(node) if isinstance(part, ast.stmt)):
            return None
        made, grown, more, functions, originals = found
        is_unsafe = any(each.is_made and each.name in behind for each in grown)  # the loop may have no iterations
        if is_unsafe or self.resolver.is_python(made, (), originals) or not unset.isdisjoint(names | reads(node)):
            return None
        outputs = sorted((assigned([node]) - names - (updated([node]) & self.resolver.arrays())) & behind)
        inputs = sorted(self._inputs([node], frozenset(outputs)) - names)
        code, line = self.source.function.__code__, node.lineno + self.source.line_shift
        number = f"_lists_{len(self.lists) + 1}"
        loop = made if early is None else with_marked_returns(made)
        nodes = [*self._nested_in([node]), loop]
        region = Region(self._around, number, nodes, [*inputs, *more], outputs, functions, early)
        index = len(self.lists)
        self.lists.append(ListRegion(region, grown, f"{code.co_filename}:{line}:{node.col_offset + 1}", node))
        self.listed.add(node)
        given: list[ast.expr] = [
            ast.Constant(None) if each.is_made else ast.Name(each.name, ast.Load()) for each in grown
        ]
        names_in_call = [
            ast.Constant(index),
            ast.Tuple(given, ast.Load()),
            *map(region.input, inputs),
        ]
        call = ast.Call(ast.Name(LISTS, ast.Load()), names_in_call, [])
        done = ast.Name(DONE, ast.Load())
        targets = [each.name if each.name in behind else DONE for each in grown] + outputs
        stores = ast.Tuple([ast.Name(each, ast.Store()) for each in targets], ast.Store())
        taken: list[ast.stmt] = [] if early is None else [if_early(DONE, EARLY)]
        taken += [ast.Assign([stores], done), *region.without_value()]
        test = ast.Compare(done, [ast.Is()], [ast.Constant(None)])
        return [
            at(ast.Assign([ast.Name(DONE, ast.Store())], call), node),
            at(Growing(test, by_python(), taken), node),
        ]

    def _early(self, node: ast.stmt, lists: Names = _NONE) -> Needs | None:
        """What must hold if the node is a loop that the function leaves by returning numbers, None or new arrays; None
        for others. `lists` have numbers as elements."""
        if not isinstance(node, ast.For | ast.While) or not leaves_by_return_alone(node):
            return None
        if any(self.resolver.is_label(part) for part in walk_own(node) if isinstance(part, ast.stmt)):
            return None  # a mapping may name the loops, which must not return then
        needs = Needs(lists, set())
        if not all(self._fresh.is_fresh(part.value, needs) for part in returned_in(node)):
            return None
        return needs if assigned([node]).isdisjoint(name for name, _ in needs.dimensions) else None

    def _left_early(self, node: ast.stmt, behind: Names) -> list[ast.stmt] | None:
        """The statements that run such a loop as a region; None for others."""
        early = self._early(node) if returned_in(node) and not self.source.only_pragmas else None
        if early is None:
            return None
        if self.resolver.is_python(node, self.resolver.made_objects) or self._names_views(node, behind):
            return None
        if not self._around.unset.isdisjoint(reads(node)) or not self._captured.isdisjoint(assigned([node])):
            return None
        self.listed.add(node)
        return self._whole([with_marked_returns(node)], behind, early)

    def _again(self, node: ast.stmt, group: int = -1) -> list[ast.stmt]:
        """The statements that run a small statement as a region."""
        made = self._part([node], assigned([node]), f"_statement_{len(self.statements) + 1}")
        self.statements.append(made)
        return made.called_by(AGAIN, [len(self.statements) - 1, group])

    def _whole(self, nodes: list[ast.stmt], after: Names, early: Needs | None = None) -> list[ast.stmt]:
        """The call of a new region with all the statements, which may return `early`."""
        first, last = nodes[0], nodes[-1]
        index = len(self.regions)
        made = self._part(nodes, after, f"_{index + 1}" if index else "", early)
        self.regions.append(made)
        shift = self.source.line_shift
        lines = first.lineno + shift, (last.end_lineno or last.lineno) + shift
        self.places.append(Place(labels_in(made.nodes, self.resolver), *lines))
        return made.called_by(RUN, [index])

    def _part(self, nodes: list[ast.stmt], after: Names, number: str, early: Needs | None = None) -> Region:
        stored = assigned(nodes) - (updated(nodes) & self.resolver.arrays()) - self._nested.keys()
        outputs = sorted(stored & self._through_nested(after))
        inputs = sorted(self._inputs(nodes, frozenset(outputs)))
        return Region(
            self._around,
            number,
            [*self._nested_in(nodes), *nodes],
            inputs,
            outputs,
            None,
            early,
            self.resolver.made_objects,
        )

    def _nested_in(self, nodes: list[ast.stmt]) -> list[ast.stmt]:
        """The definitions of the nested functions that the statements use directly or indirectly, unless the statements
        contain them."""
        found: dict[str, ast.stmt] = {}
        there = {part for node in nodes for part in walk_own(node)}
        left = list(nodes)
        while left:
            for name in sorted(reads(left.pop()) & self._nested.keys() - found.keys()):
                found[name] = self._nested[name]
                left.append(found[name])
        return [each for each in found.values() if each not in there]

    def _through_nested(self, names: Names) -> Names:
        """The names, with nested functions among them replaced by the variables that they read."""
        nested = self._nested_in([ast.Expr(ast.Name(name, ast.Load())) for name in names])
        return names.union(*map(reads, nested)) - self._nested.keys()

    def _inputs(self, nodes: list[ast.stmt], outputs: Names) -> set[str]:
        live = self._through_nested(live_before(nodes, outputs))
        found = {name for name in live if name in self.locals or name.startswith("result_")}
        places = symbol_places(self.annotations)
        for name in frozenset().union(*(reads(node) for node in nodes)):
            binding = None if name in self.locals else self.resolver.scope.lookup(name)
            place = places.get(binding.value) if binding is not None and isinstance(binding.value, Symbol) else None
            if place is not None:
                found.add(place[0])
        return found

    # ------------------------------------------------------------ messages

    def undefined(self) -> list[ast.Name]:
        """The undefined names in the statements that Python runs."""
        parts = [part for node in self.body for part in walk(node)]
        names = [part for part in parts if isinstance(part, ast.Name)]
        known = self.locals | _OWN | {part.arg for part in parts if isinstance(part, ast.arg)}
        known |= {name.id for name in names if isinstance(name.ctx, ast.Store)}
        return [name for name in names if name.id not in known and self.resolver.scope.lookup(name.id) is None]

    def _label_of_python(self, label: ast.stmt, node: ast.stmt) -> None:
        assert isinstance(label, ast.Expr) and isinstance(label.value, ast.Call)
        name = label.value.args[0] if label.value.args else None
        if isinstance(name, ast.Constant):
            self.run_by_python[str(name.value)] = node

    def refuse_label(self, label: str) -> None:
        node = self.run_by_python[label]
        self._refuse(
            "P303",
            node,
            f"label '{label}' is mapped, but Python runs the statement that it names",
            "allocate, return, call callbacks and assign names of arrays outside of parallel loops",
        )

    def refuse_near_miss(self, label: str, meant: str) -> None:
        """Refuses an unknown label that resembles the label of a function which Python calls."""
        message = f"the mapping names the label '{label}', which no loop of '{self.source.function.__name__}' carries"
        self._refuse("P301", self.source.tree(), message, f"write '{meant}'")

    def _refuse(self, code: str, node: ast.stmt | ast.expr, message: str, help_text: str = "") -> None:
        sink = _native.Diagnostics()
        sink.error(code, self.source.place(node), message, help_text)
        fail(sink, [self.source.native()])


class _Calls(ast.NodeTransformer):
    """Replaces calls by calls through the driver, which decides whether they are made."""

    def __init__(self, resolver: Resolver, found: list[FunctionSource]) -> None:
        self._resolver = resolver
        self._found = found  # the called jit functions

    def visit_Call(self, node: ast.Call) -> ast.AST:
        binding = self._resolver.find(node.func)
        self.generic_visit(node)
        if binding is None and self._resolver.kept.is_called(node):
            node.func = at(ast.Call(ast.Name(CALL, ast.Load()), [node.func], []), node)
        elif binding is not None and self._resolver.is_called_by_python(binding.value, node):
            source = callable_source(binding.value)
            if isinstance(source, NestedSource):
                return node  # the driver defines it
            if source is not None and not is_universal(binding.value):
                self._found.append(source)
            node.func = at(ast.Call(ast.Name(CALL, ast.Load()), [node.func], []), node)
        return node


def _is_light(node: ast.stmt) -> bool:
    """Whether the statement only assigns shapes, constants and arithmetic on them, which does not justify a region."""
    if not isinstance(node, ast.Assign) or not all(isinstance(t, ast.Name | ast.Tuple) for t in node.targets):
        return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    allowed = (
        ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.Tuple, ast.Attribute, ast.Subscript, ast.operator,
        ast.unaryop, ast.expr_context,
    )  # fmt: skip
    for part in walk(node.value):
        if not isinstance(part, allowed):
            return False
        if isinstance(part, ast.Attribute) and part.attr not in ("shape", "size", "ndim", "dtype"):
            return False
        if isinstance(part, ast.Subscript) and not (
            isinstance(part.value, ast.Attribute) and isinstance(part.slice, ast.Constant)
        ):
            return False
    return True


def _pass(node: ast.stmt) -> ast.stmt:
    return ast.copy_location(ast.Pass(), node)
