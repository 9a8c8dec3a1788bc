"""Decides which arrays that a function allocates are made by compiled code rather than by Python."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable

import numpy as np

from ..syntax.lazy import lazy
from ..syntax.patterns import node_parameters
from ..syntax.source import FunctionSource
from ..syntax.walks import walk
from ..vocabulary import operators
from .liveness import assigned, updated
from .lookup import Lookup
from .places import is_element, named_values, outermost_loops

_MADE_HERE = (
    *(kind + like for kind in ("empty", "zeros", "ones", "full") for like in ("", "_like")),
    *("copy", "ndarray"),
)
_OF_FORM = ("shape", "ndim", "size")


class Allocations:
    """The allocations of a function with these names. `is_callback` tells whether a node is a call by Python."""

    def __init__(self, source: FunctionSource, names: Lookup, is_callback: Callable[[ast.AST], bool]) -> None:
        self._source = source
        self._names = names
        self._is_callback = is_callback

    @lazy
    def compiled(self) -> frozenset[ast.Call]:
        """The allocations in loops that compiled code makes. The arrays have names that only one outermost loop uses,
        and sizes that are known at the entry of the function or are computed once before the loop."""
        tree = self._source.tree()
        parameters = {*node_parameters(tree)}
        everywhere = Counter(part.id for part in self._names.nodes if isinstance(part, ast.Name))
        found: set[ast.Call] = set()
        for loop in outermost_loops(tree.body):
            parts = list(walk(loop))
            if any(isinstance(part, ast.Return) or self._is_callback(part) for part in parts):
                continue
            here = Counter(part.id for part in parts if isinstance(part, ast.Name))
            names: dict[ast.expr, str] = {}
            for part in parts:
                if isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name):
                    names[part.value] = part.targets[0].id
            known = parameters - assigned(tree.body)
            known |= self._sizes_before(loop, tree.body, known)
            for part in parts:
                name = names.get(part) if isinstance(part, ast.Call) else None
                local = name is None or here[name] == everywhere[name]
                if (
                    isinstance(part, ast.Call)
                    and local
                    and (self._is_made_here(part, known) or self._is_range(part, known))
                ):
                    found.add(part)
                    known |= {name} if name is not None else set()
        return frozenset(
            found | self._replaced_allocations(tree.body, parameters) | self._temporaries(tree.body, parameters)
        )

    def _sizes_before(self, loop: ast.stmt, body: list[ast.stmt], known: set[str]) -> set[str]:
        """The names of sizes that are assigned once, before the loop, from `known` names."""
        found: set[str] = set()
        for statement in _of_one_target(body):
            names = assigned([statement])
            given_once = all(self._times_given[name] == 1 for name in names)
            if statement.lineno < loop.lineno and given_once and self._is_size(statement.value, known | found):
                found |= names
        return found

    @lazy
    def _times_given(self) -> Counter[str]:
        names = (part for part in self._names.nodes if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store))
        return Counter(name.id for name in names)

    def _temporaries(self, body: list[ast.stmt], parameters: set[str]) -> set[ast.Call]:
        """The allocations of arrays that do not escape the function, other than as results. Compiled code has memory
        for them where it runs, also on a GPU."""
        nodes = self._names.nodes
        calls = [part for part in nodes if isinstance(part, ast.Call)]
        if self._source.only_pragmas or any(map(self._is_callback, nodes)):
            return set()
        if any(self._names.find(call.func) is None for call in calls):  # Python may have to run methods of objects
            return set()
        names = Counter(part.id for part in nodes if isinstance(part, ast.Name))
        read = Counter(name for part in nodes for name in _names_read(part))
        returned = Counter(name for part in nodes if isinstance(part, ast.Return) for name in _names_returned(part))
        known = parameters - assigned(body)
        times = Counter(name for part in nodes if isinstance(part, ast.Assign) for name in assigned([part]))
        found: set[ast.Call] = set()
        for statement in _of_one_target(body):
            values = statement.value.elts if isinstance(statement.value, ast.Tuple) else [statement.value]
            for name, value in named_values(statement):
                if value in values and isinstance(value, ast.Call) and self._is_made_here(value, known):
                    apart = read[name] + returned[name] == names[name] - 1
                    if apart and (returned[name] > 0 or self._is_empty(value)):
                        found.add(value)
                elif self._is_size(value, known) and times[name] == 1:
                    known |= {name}
        return found

    def _is_empty(self, call: ast.Call) -> bool:
        binding = self._names.find(call.func)
        return binding is not None and binding.value in (np.empty, np.empty_like, np.ndarray)

    def _replaced_allocations(self, body: list[ast.stmt], parameters: set[str]) -> set[ast.Call]:
        """The allocations before loops whose names get other arrays later. Compiled code makes them, because it then
        knows that the first array has no other owner."""
        if any(map(self._is_callback, self._names.nodes)):
            return set()
        times = Counter(name for part in self._names.nodes if isinstance(part, ast.Assign) for name in assigned([part]))
        known = parameters - assigned(body)
        found: dict[ast.Call, str] = {}
        for statement in _of_one_target(body):
            target, value = statement.targets[0], statement.value
            if isinstance(target, ast.Name) and isinstance(value, ast.Call) and self._is_made_here(value, known):
                found[value] = target.id
                known |= {target.id}
                continue
            names = assigned([statement])
            if self._is_size(value, known) and all(times[name] == 1 for name in names):
                known |= names
        return set(found) if any(times[name] > 1 for name in found.values()) else set()

    def _is_size(self, value: ast.expr, known: set[str]) -> bool:
        """Whether the value consists of constants, shapes and numbers that are known at the entry of the function."""
        calls = [part for part in walk(value) if isinstance(part, ast.Call) and not self._is_length(part)]
        return not calls and self._is_known(value, known)

    def _is_known(self, value: ast.expr, known: set[str]) -> bool:
        """Whether all variables in the value are `known`, except for the arrays in `x.shape` and `len(x)`: these may be
        parameters that augmented assignments store to."""
        sizes = [part.value for part in walk(value) if isinstance(part, ast.Attribute) and part.attr in _OF_FORM]
        sizes += [part.args[0] for part in walk(value) if isinstance(part, ast.Call) and self._is_length(part)]
        names = (part for part in walk(value) if isinstance(part, ast.Name) and part.id in self._names.scope.locals)
        return all(name.id in known or (name.id in self._stored_parameters and name in sizes) for name in names)

    @lazy
    def _stored_parameters(self) -> frozenset[str]:
        return frozenset(self._names.parameters) & updated(self._source.tree().body)

    def _is_made_here(self, call: ast.Call, known: set[str]) -> bool:
        """Whether the call makes a NumPy array that compiled code can make, sized by constants and `known` names."""
        binding = self._names.find(call.func)
        made = None if binding is None else next((n for n in _MADE_HERE if binding.value is getattr(np, n)), None)
        if made is None or not call.args:
            return False
        keywords = {keyword.arg: keyword.value for keyword in call.keywords}
        most = 1 if made == "copy" else 3 if made.startswith("full") else 2
        allowed = set() if made == "copy" else {"dtype", "fill_value"} if made.startswith("full") else {"dtype"}
        dtype = keywords.get("dtype", call.args[most - 1] if made != "copy" and len(call.args) == most else None)
        if len(call.args) > most or not keywords.keys() <= allowed or not self._is_scalar_type(dtype):
            return False
        size = call.args[0]
        if made == "copy" or made.endswith("_like"):
            size = size.value if is_element(size) else size
        lengths = {part for part in walk(size) if isinstance(part, ast.Call) and self._is_length(part)}
        if any(isinstance(part, ast.Slice | ast.Starred | ast.Call) and part not in lengths for part in walk(size)):
            return False
        return self._is_known(size, known)

    def _is_range(self, call: ast.Call, known: set[str]) -> bool:
        """Whether the call makes an array of numbers at equal distances, of a number that is known."""
        binding = self._names.find(call.func)
        made = None if binding is None else binding.value
        lengths = {part for each in call.args for part in walk(each) if isinstance(part, ast.Call)}
        return (
            (made is np.arange or made is np.linspace)
            and not call.keywords
            and all(map(self._is_length, lengths))
            and all(self._is_known(each, known) for each in call.args)
        )

    def _is_scalar_type(self, node: ast.expr | None) -> bool:
        """Whether the dtype of a new array is missing, a number type, or the dtype of another array."""
        if node is None or (isinstance(node, ast.Attribute) and node.attr == "dtype"):
            return True
        if isinstance(node, ast.Name) and node.id in self._constant_parameters:
            return True
        if isinstance(node, ast.Constant):
            return node.value is None or (
                isinstance(node.value, str) and operators.scalar_of_text(node.value) is not None
            )
        binding = self._names.find(node)
        return binding is not None and operators.scalar_name(binding.value) is not None

    @lazy
    def _constant_parameters(self) -> frozenset[str]:
        return frozenset(self._names.parameters) - assigned(self._source.tree().body)

    def _is_length(self, call: ast.Call) -> bool:
        binding = self._names.find(call.func)
        return binding is not None and binding.value is len and len(call.args) == 1


def _names_read(node: ast.AST) -> list[str]:
    """The arrays whose elements the node reads or stores, or that are operands of it."""
    parts: list[ast.expr] = []
    if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Del):
        parts = [node.value]
    elif isinstance(node, ast.BinOp):
        parts = [node.left, node.right]
    elif isinstance(node, ast.UnaryOp):
        parts = [node.operand]
    elif isinstance(node, ast.Compare):
        parts = [node.left, *node.comparators]
    return [part.id for part in parts if isinstance(part, ast.Name)]


def _names_returned(node: ast.Return) -> list[str]:
    """The arrays that the node returns once, alone or in a tuple."""
    parts = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    return [name for name in names if names.count(name) == 1]


def _of_one_target(body: list[ast.stmt]) -> list[ast.Assign]:
    return [each for each in body if isinstance(each, ast.Assign) and len(each.targets) == 1]
