"""Names in kernels that refer to one of several arrays: ``data = a if c else b``, ``src, dst = dst, src``.

A name in compiled code refers to one array only. So each such name is replaced by the number of an array, and each use
of the name becomes a choice by that number at the place of its evaluation:

    data = a if c else b               array_of_data = 0 if c else 1
    y = data[i] + 1                    y = (a[i] if array_of_data == 0 else b[i]) + 1
    data[i] = y                        if array_of_data == 0:
                                           a[i] = y
                                       else:
                                           b[i] = y

Unlike in syntax/turns.py, only accesses are duplicated, because the threads of a block may choose differently and no
barrier may be moved into a branch.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterable
from typing import Any, TypeVar

from ...syntax.patterns import Function, chosen_names, names_given, names_in, node_parameters, stored_in
from ...syntax.walks import copy_of, walk

_T = TypeVar("_T", bound=ast.AST)
_MARK = " as it was given"
_ARRAYS = "parpy_arrays"  # the attribute of a node with the arrays that the name may refer to there
_MOST = 8  # the most arrays of a name
_OPAQUE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.Try, ast.Global, ast.Nonlocal)


class _GiveUp(Exception):
    pass


def with_chosen_arrays(node: Function) -> tuple[Function, frozenset[str]]:
    """A copy of the function without names that refer to several arrays, and the variables that replace these names.
    The given tree does not change."""
    groups = _groups(node)
    added: set[str] = set()
    for names, arrays in groups:
        made = _Chosen(names, arrays, node)
        try:
            node = made.rewritten(node)
        except _GiveUp:
            continue
        added |= made.added
    return node, frozenset(added)


def _groups(node: Function) -> list[tuple[set[str], list[str]]]:
    """The groups of names that are assigned to each other and refer to several arrays, with these arrays."""
    parts = [part for part in walk(node) if part is not node]
    assigned = [(name, value) for part in parts for name, value in names_given(part)]
    if not assigned or any(isinstance(part, _OPAQUE) for part in parts):
        return []
    stores = Counter(part.id for part in parts if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load))
    parameters = {*node_parameters(node)}
    loops = [part for part in parts if isinstance(part, ast.For | ast.While)]
    changing = stored_in(*loops)
    bound = Counter(name for name, _ in assigned)
    names = {name for name in bound if bound[name] == stores[name]}
    links = [{name, *chosen_names(value)} for name, value in assigned if name in names]
    links += [{name} for name in names & parameters]
    groups: list[set[str]] = []
    for link in links:
        touched = [group for group in groups if group & link & names]
        groups = [group for group in groups if not group & link & names] + [set().union(link, *touched)]
    found = []
    for group in groups:
        chosen = group & names
        arrays = sorted((group - chosen) | (chosen & parameters))
        local = [name for name in arrays if name in stores and name not in parameters]
        stay = all(stores[name] == 1 and name not in changing for name in local)
        if 1 < len(arrays) <= _MOST and stay and _used_as_arrays(parts, group):
            found.append((chosen, arrays))
    return found


def _used_as_arrays(parts: Iterable[ast.AST], group: set[str]) -> bool:
    """Whether a name of the group is subscripted, is the owner of an attribute, or is iterated over by a loop."""
    owners = (part.value for part in parts if isinstance(part, ast.Subscript | ast.Attribute))
    walked = (part.iter for part in parts if isinstance(part, ast.For))
    return any(isinstance(each, ast.Name) and each.id in group for each in (*owners, *walked))


def _optional(node: Function) -> set[str]:
    """The names that the function compares with None."""
    return {
        part.left.id
        for part in walk(node)
        if isinstance(part, ast.Compare)
        and isinstance(part.left, ast.Name)
        and isinstance(part.ops[0], ast.Is | ast.IsNot)
        and isinstance(part.comparators[0], ast.Constant)
        and part.comparators[0].value is None
    }


class _Chosen(ast.NodeTransformer):
    """Rewrites the uses of the names of one group."""

    def __init__(self, names: set[str], arrays: list[str], node: Function) -> None:
        # Arrays that may be None come first, so that each is tested and no access to it is an else branch.
        self._optional = _optional(node)
        arrays = sorted(arrays, key=lambda array: array not in self._optional)
        # If a parameter is also such a name, its array is marked until everything is rewritten.
        self._arrays = [f"{name}{_MARK}" if name in names else name for name in arrays]
        taken = names_in(node)
        self._taken = taken
        self.numbers = {name: _unused(f"array_of_{name}", taken) for name in sorted(names)}
        self._parameters = [name for name in arrays if name in names]
        self.added = {*self.numbers.values()}

    def rewritten(self, node: Function) -> Function:
        """The function with numbers in place of the names. Raises _GiveUp if a name is used in an unsupported way."""
        made = copy_of(node)
        _Paths(self.numbers, self._arrays).annotate(made.body)
        body = [each for statement in made.body for each in self._statement(statement)]
        first = made.body[0]
        begin: list[ast.stmt] = [
            _at(ast.Assign([ast.Name(self.numbers[name], ast.Store())], self._place(name)), first)
            for name in self._parameters
        ]
        made.body = begin + body
        for part in walk(made):
            if isinstance(part, ast.Name):
                part.id = part.id.removesuffix(_MARK)
        ast.fix_missing_locations(made)
        return made

    def _place(self, array: str) -> ast.expr:
        marked = f"{array}{_MARK}"
        return ast.Constant(self._arrays.index(marked if marked in self._arrays else array))

    # ------------------------------------------------------------ statements

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        bindings = [(name, value) for name, value in names_given(node) if name in self.numbers]
        if bindings:
            if len(bindings) != len(names_given(node)):
                raise _GiveUp
            return [self._binding(node, bindings)]
        if isinstance(node, ast.For) and isinstance(node.iter, ast.Name) and self._is_name(node.iter):
            self._count_elements(node)
        for field in ("body", "orelse"):
            block = getattr(node, field, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                setattr(node, field, [each for inner in block for each in self._statement(inner)])
        use = self._stored(node)
        if use is None:
            self._expressions(node)
            return [node]
        return self._branches(node, use)

    def _count_elements(self, node: ast.For) -> None:
        """`for v in x`   as   `for i in range(len(x)): v = x[i]`"""
        if any(isinstance(part, ast.Name) and part.id == node.iter.id for part in walk(node.target)):  # type: ignore[attr-defined]
            raise _GiveUp
        place = _unused(f"place_in_{node.iter.id}", self._taken)  # type: ignore[attr-defined]
        self._taken.add(place)
        self.added.add(place)
        element = ast.Subscript(node.iter, ast.Name(place, ast.Load()), ast.Load())
        node.body.insert(0, _at(ast.Assign([node.target], element), node))
        count = ast.Call(ast.Name("len", ast.Load()), [copy.copy(node.iter)], [])
        node.target = _at(ast.Name(place, ast.Store()), node)
        node.iter = _at(ast.Call(ast.Name("range", ast.Load()), [count], []), node)

    def _binding(self, node: ast.stmt, bindings: list[tuple[str, ast.expr]]) -> ast.stmt:
        targets: list[ast.expr] = [ast.Name(self.numbers[name], ast.Store()) for name, _ in bindings]
        values = [self._number(value) for _, value in bindings]
        if len(targets) == 1:
            return _at(ast.Assign(targets, values[0]), node)
        return _at(ast.Assign([ast.Tuple(targets, ast.Store())], ast.Tuple(values, ast.Load())), node)

    def _number(self, value: ast.expr) -> ast.expr:
        if isinstance(value, ast.IfExp):
            return ast.IfExp(self.visit(value.test), self._number(value.body), self._number(value.orelse))
        assert isinstance(value, ast.Name)
        if value.id in self.numbers:
            return ast.Name(self.numbers[value.id], ast.Load())
        return self._place(value.id)

    def _stored(self, node: ast.stmt) -> ast.Name | None:
        """A name through which the statement stores, or that it passes to a function called for its effects."""
        targets: list[ast.AST] = []
        if isinstance(node, ast.Assign):
            targets = [*node.targets]
        elif isinstance(node, ast.AugAssign | ast.AnnAssign):
            targets = [node.target]
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            targets = [*node.value.args, *node.value.keywords]
        elif isinstance(node, ast.For) and any(map(self._is_name, walk(node.target))):
            raise _GiveUp
        for target in targets:
            for part in walk(target):
                chain = part
                while isinstance(chain, ast.Subscript | ast.Attribute):
                    chain = chain.value
                is_store = isinstance(getattr(part, "ctx", None), ast.Store) or isinstance(node, ast.Expr)
                if is_store and isinstance(chain, ast.Name) and self._is_name(chain):
                    return chain
        return None

    def _branches(self, node: ast.stmt, use: ast.Name) -> list[ast.stmt]:
        """The branches of the statement, one for each array that the name may refer to."""
        *others, last = self._possible(use)
        whole = self._statement(_with_array(node, use.id, last))
        for array in reversed(others):
            made = self._statement(_with_array(node, use.id, array))
            whole = [_at(ast.If(self._is(use.id, array), made, whole), node)]
        return whole

    # ------------------------------------------------------------ expressions

    def _expressions(self, node: ast.stmt) -> None:
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                setattr(node, field, self.visit(value))
            elif isinstance(value, list) and value and isinstance(value[0], ast.expr):
                setattr(node, field, [self.visit(each) for each in value])
            elif isinstance(value, list):
                for each in value:
                    if isinstance(each, ast.AST) and not isinstance(each, ast.stmt):
                        self.generic_visit(each)

    def visit(self, node: ast.AST) -> Any:
        use = self._chosen_by(node)
        if use is None:
            if self._is_name(node):
                raise _GiveUp
            return self.generic_visit(node)
        assert isinstance(node, ast.expr)
        *others, last = self._possible(use)
        whole = self.visit(_with_array(node, use.id, last))
        for array in reversed(others):
            made = self.visit(_with_array(node, use.id, array))
            whole = _at(ast.IfExp(self._is(use.id, array), made, whole), node)
        return whole

    def _chosen_by(self, node: ast.AST) -> ast.Name | None:
        """The name that the expression subscripts, takes an attribute of, or passes to a function."""
        if isinstance(node, ast.Call):
            found = next((each for each in node.args if isinstance(each, ast.Name) and self._is_name(each)), None)
            if found is not None:
                return found
        while isinstance(node, ast.Subscript | ast.Attribute) or (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        ):
            node = node.func if isinstance(node, ast.Call) else node.value
            if isinstance(node, ast.Name) and self._is_name(node):
                return node
        return None

    def _is_name(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id in self.numbers

    def _possible(self, use: ast.Name) -> list[str]:
        found: list[str] = getattr(use, _ARRAYS, [])
        if not found:
            raise _GiveUp  # the name has no array yet
        return found

    def _is(self, name: str, array: str) -> ast.expr:
        place = self._arrays.index(array)
        test = ast.Compare(ast.Name(self.numbers[name], ast.Load()), [ast.Eq()], [ast.Constant(place)])
        if array.removesuffix(_MARK) not in self._optional:
            return test
        given = ast.Compare(ast.Name(array, ast.Load()), [ast.IsNot()], [ast.Constant(None)])
        return ast.BoolOp(ast.And(), [given, test])


State = dict[str, frozenset[str]]  # the arrays that each name may refer to


class _Paths:
    """Data flow analysis of the arrays that each name may refer to at its uses."""

    def __init__(self, names: dict[str, str], arrays: list[str]) -> None:
        self._names, self._arrays = names, arrays
        self._several = False
        self._breaks: list[list[State]] = []
        self._continues: list[list[State]] = []

    def annotate(self, body: list[ast.stmt]) -> None:
        """Notes the arrays at each use. Raises _GiveUp if every use has one array, which needs no rewriting."""
        parameters = {each.removesuffix(_MARK): frozenset([each]) for each in self._arrays if each.endswith(_MARK)}
        self._block(body, parameters)
        if not self._several:
            raise _GiveUp

    def _block(self, body: list[ast.stmt], state: State) -> State:
        for node in body:
            state = self._statement(node, state)
        return state

    def _statement(self, node: ast.stmt, state: State) -> State:
        bindings = [(name, value) for name, value in names_given(node) if name in self._names]
        if bindings:
            self._uses(node, state)
            return state | {name: self._values(value, state) for name, value in bindings}
        if isinstance(node, ast.If):
            self._uses(node.test, state)
            return _joined(self._block(node.body, state), self._block(node.orelse, state))
        if isinstance(node, ast.For | ast.While):
            return self._loop(node, state)
        if isinstance(node, ast.Break | ast.Continue):
            if self._breaks:
                (self._breaks if isinstance(node, ast.Break) else self._continues)[-1].append(state)
            return {}
        if isinstance(node, ast.Return):
            self._uses(node, state)
            return {}
        if isinstance(node, ast.With):
            for item in node.items:
                self._uses(item, state)
            return self._block(node.body, state)
        self._uses(node, state)
        return state

    def _loop(self, node: ast.For | ast.While, state: State) -> State:
        before = None
        while before != state:
            before = state
            self._breaks.append([])
            self._continues.append([])
            for part in [node.iter] if isinstance(node, ast.For) else [node.test]:
                self._uses(part, state)
            after = self._block(node.body, state)
            breaks, continues = self._breaks.pop(), self._continues.pop()
            state = _joined(state, after, *continues)
        return _joined(self._block(node.orelse, state), *breaks)

    def _values(self, value: ast.expr, state: State) -> frozenset[str]:
        if isinstance(value, ast.IfExp):
            return self._values(value.body, state) | self._values(value.orelse, state)
        assert isinstance(value, ast.Name)
        return state.get(value.id, frozenset()) if value.id in self._names else frozenset([value.id])

    def _uses(self, node: ast.AST, state: State) -> None:
        for part in walk(node):
            if isinstance(part, ast.Name) and part.id in self._names and isinstance(part.ctx, ast.Load):
                possible = [array for array in self._arrays if array in state.get(part.id, ())]
                setattr(part, _ARRAYS, possible)
                self._several = self._several or len(possible) > 1


def _joined(*states: State) -> State:
    names = set().union(*states)
    return {name: frozenset().union(*(each.get(name, frozenset()) for each in states)) for name in names}


class _Replaced(ast.NodeTransformer):
    def __init__(self, name: str, array: str) -> None:
        self._name, self._array = name, array

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.copy_location(ast.Name(self._array, node.ctx), node) if node.id == self._name else node


def _with_array(node: _T, name: str, array: str) -> _T:
    made: _T = _Replaced(name, array).visit(copy_of(node))
    return made


def _at(made: _T, node: ast.AST) -> _T:
    for part in walk(made):
        if isinstance(part, ast.stmt | ast.expr) and not hasattr(part, "lineno"):
            ast.copy_location(part, node)
    return made


def _unused(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name
