"""Names of kernels that stand for one of several arrays: ``data = a if c else b``, ``src, dst = dst, src``.

Compiled code knows arrays, not names for several of them. So each such name becomes the number of an array, and what
uses the name chooses by it, where it is evaluated:

    data = a if c else b               array_of_data = 0 if c else 1
    y = data[i] + 1                    y = (a[i] if array_of_data == 0 else b[i]) + 1
    data[i] = y                        if array_of_data == 0:
                                           a[i] = y
                                       else:
                                           b[i] = y

Unlike turns (syntax/turns.py) nothing is repeated but accesses: threads of a block may choose differently, and no
barrier may come to stand in a branch.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable
from typing import Any, TypeVar

Function = ast.FunctionDef | ast.AsyncFunctionDef
_T = TypeVar("_T", bound=ast.AST)
_MARK = " as it was given"
_MOST = 8  # arrays of a name
_OPAQUE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.Try, ast.Global, ast.Nonlocal)


class _GiveUp(Exception):
    pass


def with_chosen_arrays(node: Function) -> tuple[Function, frozenset[str]]:
    """The function without names for several arrays, and the variables that it has instead; the tree that is given is
    left as it is."""
    groups = _groups(node)
    added: set[str] = set()
    for names, arrays in groups:
        made = _Chosen(names, arrays, node)
        try:
            node = made.rewritten(node)
        except _GiveUp:
            continue
        added |= {*made.numbers.values()}
    return node, frozenset(added)


def _groups(node: Function) -> list[tuple[set[str], list[str]]]:
    """Names that are assigned to each other, with the arrays that they stand for, of which there are several."""
    parts = [part for part in ast.walk(node) if part is not node]
    assigned = [(name, value) for part in parts for name, value in _bindings(part)]
    if not assigned or any(isinstance(part, _OPAQUE) for part in parts):
        return []
    stores: dict[str, int] = {}
    for part in parts:
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            stores[part.id] = stores.get(part.id, 0) + 1
    parameters = {each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
    bound: dict[str, int] = {}
    for name, _ in assigned:
        bound[name] = bound.get(name, 0) + 1
    names = {name for name in bound if bound[name] == stores[name]}
    links = [{name, *_names_in(value)} for name, value in assigned if name in names]
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
        if 1 < len(arrays) <= _MOST and _is_subscripted(parts, group) and all(stores[name] == 1 for name in local):
            found.append((chosen, arrays))
    return found


def _is_subscripted(parts: Iterable[ast.AST], group: set[str]) -> bool:
    return any(
        isinstance(part, ast.Subscript) and isinstance(part.value, ast.Name) and part.value.id in group
        for part in parts
    )


def _bindings(node: ast.AST) -> list[tuple[str, ast.expr]]:
    """What `a = b`, `a, b = c, d` and `a = b if … else c` of names give to which; empty: another statement."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return []
    target, value = node.targets[0], node.value
    pairs = [(target, value)]
    if isinstance(target, ast.Tuple):
        if not isinstance(value, ast.Tuple) or len(value.elts) != len(target.elts):
            return []
        pairs = list(zip(target.elts, value.elts, strict=True))
    found = [(name.id, given) for name, given in pairs if isinstance(name, ast.Name) and _names_in(given)]
    return found if len(found) == len(pairs) else []


def _names_in(value: ast.expr) -> set[str]:
    """The names among which the value is; empty: it is something else."""
    if isinstance(value, ast.Name):
        return {value.id}
    if isinstance(value, ast.IfExp):
        parts = _names_in(value.body), _names_in(value.orelse)
        return parts[0] | parts[1] if all(parts) else set()
    return set()


class _Chosen(ast.NodeTransformer):
    """The names of one group."""

    def __init__(self, names: set[str], arrays: list[str], node: Function) -> None:
        # Of parameters that are names as well, the arrays are marked until all is rewritten.
        self._arrays = [f"{name}{_MARK}" if name in names else name for name in arrays]
        taken = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        self.numbers = {name: _unused(f"array_of_{name}", taken) for name in sorted(names)}
        self._parameters = [name for name in arrays if name in names]

    def rewritten(self, node: Function) -> Function:
        """The function with the numbers in place of the names. Raises _GiveUp where a name is used as a whole."""
        made = copy.deepcopy(node)
        body = [each for statement in made.body for each in self._statement(statement)]
        first = made.body[0]
        begin: list[ast.stmt] = [
            _at(ast.Assign([ast.Name(self.numbers[name], ast.Store())], self._place(name)), first)
            for name in self._parameters
        ]
        made.body = begin + body
        for part in ast.walk(made):
            if isinstance(part, ast.Name):
                part.id = part.id.removesuffix(_MARK)
        ast.fix_missing_locations(made)
        return made

    def _place(self, array: str) -> ast.expr:
        marked = f"{array}{_MARK}"
        return ast.Constant(self._arrays.index(marked if marked in self._arrays else array))

    # ------------------------------------------------------------ statements

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        bindings = [(name, value) for name, value in _bindings(node) if name in self.numbers]
        if bindings:
            if len(bindings) != len(_bindings(node)):
                raise _GiveUp
            return [self._binding(node, bindings)]
        for field in ("body", "orelse"):
            block = getattr(node, field, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                setattr(node, field, [each for inner in block for each in self._statement(inner)])
        name = self._stored(node)
        if name is None:
            self._expressions(node)
            return [node]
        return self._branches(node, name)

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

    def _stored(self, node: ast.stmt) -> str | None:
        """A name through which the statement stores, or that it hands to a function for the sake of what that does."""
        targets: list[ast.AST] = []
        if isinstance(node, ast.Assign):
            targets = [*node.targets]
        elif isinstance(node, ast.AugAssign | ast.AnnAssign):
            targets = [node.target]
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            targets = [*node.value.args, *node.value.keywords]
        elif isinstance(node, ast.For) and any(self._name_of(part) for part in ast.walk(node.target)):
            raise _GiveUp
        for target in targets:
            for part in ast.walk(target):
                chain = part
                while isinstance(chain, ast.Subscript | ast.Attribute):
                    chain = chain.value
                is_store = isinstance(getattr(part, "ctx", None), ast.Store) or isinstance(node, ast.Expr)
                if is_store and (name := self._name_of(chain)) is not None:
                    return name
        return None

    def _branches(self, node: ast.stmt, name: str) -> list[ast.stmt]:
        """The statement for each array that the name may be."""
        *others, last = [self._statement(_with_array(node, name, array)) for array in self._arrays]
        for place, made in reversed([*enumerate(others)]):
            last = [_at(ast.If(self._is(name, place), made, last), node)]
        return last

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
        name = self._chosen_by(node)
        if name is None:
            if self._name_of(node) is not None:
                raise _GiveUp
            return self.generic_visit(node)
        assert isinstance(node, ast.expr)
        *others, last = [self.visit(_with_array(node, name, array)) for array in self._arrays]
        for place, made in reversed([*enumerate(others)]):
            last = _at(ast.IfExp(self._is(name, place), made, last), node)
        return last

    def _chosen_by(self, node: ast.AST) -> str | None:
        """The name of which the expression is an element, an attribute, or the result of a function."""
        if isinstance(node, ast.Call):
            found = next((self._name_of(each) for each in node.args if self._name_of(each) is not None), None)
            return found or (self._chosen_by(node.func) if isinstance(node.func, ast.Attribute) else None)
        while isinstance(node, ast.Subscript | ast.Attribute):
            node = node.value
            if (name := self._name_of(node)) is not None:
                return name
        return None

    def _name_of(self, node: ast.AST) -> str | None:
        return node.id if isinstance(node, ast.Name) and node.id in self.numbers else None

    def _is(self, name: str, place: int) -> ast.expr:
        return ast.Compare(ast.Name(self.numbers[name], ast.Load()), [ast.Eq()], [ast.Constant(place)])


class _Replaced(ast.NodeTransformer):
    def __init__(self, name: str, array: str) -> None:
        self._name, self._array = name, array

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.copy_location(ast.Name(self._array, node.ctx), node) if node.id == self._name else node


def _with_array(node: _T, name: str, array: str) -> _T:
    made: _T = _Replaced(name, array).visit(copy.deepcopy(node))
    return made


def _at(made: _T, node: ast.AST) -> _T:
    for part in ast.walk(made):
        if isinstance(part, ast.stmt | ast.expr) and not hasattr(part, "lineno"):
            ast.copy_location(part, node)
    return made


def _unused(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name
