"""Gives names to views of arrays through which statements store, and to generators that loops make to draw from. The
names are assigned before the statement.

x.T[i, j] = v                      x_T = x.T
                                   x_T[i, j] = v
for column in x.T:                 x_T = x.T
    column -= column.mean()        for column in x_T: …
v = default_rng(i).random()        generator = default_rng(i)
                                   v = generator.random()
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from types import FunctionType

from .fields import OF_VALUES
from .patterns import Function, is_label, root_of
from .walks import children, copy_of, walk

_ATTRIBUTES = ("T", "real", "imag")
_METHODS = ("reshape", "ravel", "transpose", "swapaxes")
_MAKERS = ("default_rng", "RandomState")
_WRITTEN = re.compile(rf"\.\s*({'|'.join((*_ATTRIBUTES, *_METHODS))})\b|\b({'|'.join(_MAKERS)})\b")
_BRANCHES = (
    ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.NamedExpr,
)  # fmt: skip
_VIEWS = "__parpy_views__"
# The nodes in the arguments of these methods.
_PLAIN = (ast.Name, ast.Constant, ast.UnaryOp, ast.BinOp, ast.Tuple, ast.operator, ast.unaryop, ast.expr_context)


def has_views(text: str) -> bool:
    """Whether a text may contain such views; most texts contain none, which this finds quickly."""
    return _WRITTEN.search(text) is not None


def note_views(function: FunctionType, node: ast.AST | None) -> None:
    """Stores the variables that `with_named_views` adds as an attribute of the function."""
    if isinstance(node, Function) and (names := _rewritten(node)[1]):
        setattr(function, _VIEWS, names)


def views_of(function: FunctionType) -> frozenset[str]:
    """The variables that `with_named_views` adds."""
    found: frozenset[str] = getattr(function, _VIEWS, frozenset())
    return found


def with_named_views(node: Function) -> Function:
    """A copy of the function with names for such views."""
    return _rewritten(node)[0]


def _rewritten(node: Function) -> tuple[Function, frozenset[str]]:
    """The rewritten function, and its new variables."""
    if not any(_is_view(part) or _is_generator(part) for part in walk(node)):
        return node, frozenset()
    made = copy_of(node)
    views = _Views(made)
    made.body = views.statements(made.body)
    return (made if views.names else node), frozenset(views.names)


class _Views:
    """Rewrites the statements of one function."""

    def __init__(self, node: Function) -> None:
        self.names: set[str] = set()
        self._loops = 0  # the number of loops around the statement
        parts = [*walk(node)]
        self._taken = {part.id for part in parts if isinstance(part, ast.Name)}
        self._objects = {
            part.value.id
            for part in parts
            if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.attr not in OF_VALUES
        }
        self._stored = _stored(parts)

    def statements(self, nodes: list[ast.stmt]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for node in nodes:
            self._loops += isinstance(node, ast.For | ast.While)
            for body in ("body", "orelse"):
                if isinstance(node, ast.For | ast.While | ast.If | ast.With) and getattr(node, body, None):
                    setattr(node, body, self.statements(getattr(node, body)))
            self._loops -= isinstance(node, ast.For | ast.While)
            labels = len(out)
            while isinstance(node, ast.For) and labels and is_label(out[labels - 1]):
                labels -= 1
            out[labels:labels] = self._named(node)
            out.append(node)
        return out

    def _named(self, node: ast.stmt) -> list[ast.stmt]:
        """The assignments of names to the views through which `node` stores; `node` then contains the names."""
        made: list[ast.stmt] = []
        if self._loops and isinstance(node, ast.Assign | ast.AugAssign | ast.Expr):
            for owner in _evaluated(node.value):
                if isinstance(owner, ast.Attribute) and _is_generator(owner.value):
                    owner.value = self._under(owner.value, "generator", made)
        if isinstance(node, ast.Assign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for each in (each for target in targets for each in _single(target)):
                at = each
                while isinstance(at, ast.Subscript) and isinstance(at.value, ast.Subscript):
                    at = at.value
                if isinstance(at, ast.Subscript):
                    at.value = self._name(at.value, made)
            if isinstance(node, ast.Assign) and isinstance(targets[0], ast.Tuple) and self._stores(targets[0]):
                node.value = self._name(node.value, made)
        elif isinstance(node, ast.For) and self._stores(node.target):
            node.iter = self._name(node.iter, made)
            if isinstance(node.iter, ast.Call):
                node.iter.args = [self._name(each, made) for each in node.iter.args]
        return made

    def _stores(self, target: ast.expr) -> bool:
        """Whether the function stores to elements of a value that it assigns to one of these names."""
        return any(isinstance(each, ast.Name) and each.id in self._stored for each in _single(target))

    def _name(self, value: ast.expr, made: list[ast.stmt]) -> ast.expr:
        """A name for the view, whose assignment is appended to `made`; other values are unchanged."""
        if not _is_view(value):
            return value
        at = value.func if isinstance(value, ast.Call) else value
        assert isinstance(at, ast.Attribute) and isinstance(at.value, ast.Name)
        if at.value.id in self._objects:
            return value
        named = self._under(value, f"{at.value.id}_{at.attr}", made)
        statement = made[-1]
        assert isinstance(statement, ast.Assign)
        for part in (statement, statement.targets[0]):
            part.col_offset = at.value.end_col_offset or part.col_offset
        return named

    def _under(self, value: ast.expr, name: str, made: list[ast.stmt]) -> ast.expr:
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        self.names.add(name)
        statement = ast.Assign([ast.Name(name, ast.Store())], value)
        for part in (statement, statement.targets[0]):
            ast.copy_location(part, value)
        made.append(statement)
        return ast.copy_location(ast.Name(name, ast.Load()), value)


def _is_view(node: ast.AST) -> bool:
    """Whether the node is x.T, x.real, x.reshape(n, m) or a similar view of a variable."""
    at = node
    if isinstance(node, ast.Call):
        plain = all(isinstance(part, _PLAIN) for each in node.args for part in walk(each))
        if not plain or node.keywords or not isinstance(node.func, ast.Attribute) or node.func.attr not in _METHODS:
            return False
        at = node.func
    elif not isinstance(node, ast.Attribute) or node.attr not in _ATTRIBUTES or not isinstance(node.ctx, ast.Load):
        return False
    return isinstance(at, ast.Attribute) and isinstance(at.value, ast.Name)


def _is_generator(node: ast.AST) -> bool:
    """Whether the node is np.random.default_rng(seed) or similar, with a seed that may be computed earlier."""
    if not isinstance(node, ast.Call) or node.keywords:
        return False
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    return name in _MAKERS and all(isinstance(part, _PLAIN) for each in node.args for part in walk(each))


def _evaluated(node: ast.expr) -> Iterator[ast.expr]:
    """The parts of an expression that are evaluated exactly once, unconditionally."""
    left = [node]
    while left:
        part = left.pop()
        yield part
        if not isinstance(part, _BRANCHES):
            left += [each for each in children(part) if isinstance(each, ast.expr)]


def _single(target: ast.expr) -> Iterator[ast.expr]:
    if isinstance(target, ast.Tuple | ast.List):
        for each in target.elts:
            yield from _single(each)
    else:
        yield target


def _stored(parts: list[ast.AST]) -> set[str]:
    """The names of the variables that statements update, or whose elements they store to."""
    found: set[str] = set()
    for part in parts:
        if isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name):
            found.add(part.target.id)
        elif isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store):
            found.add(root_of(part))
    return found - {""}
