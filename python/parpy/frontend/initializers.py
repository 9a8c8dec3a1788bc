"""Classes whose `__init__` only assigns attributes, of which compiled code makes objects."""

from __future__ import annotations

import ast
import dataclasses
from collections import Counter
from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any, NamedTuple

from ..syntax.fields import OF_VALUES
from ..syntax.names import Binding, callable_source
from ..syntax.patterns import Function, names_in
from ..syntax.rebuilt import rebuilt
from ..syntax.source import FunctionSource
from ..syntax.walks import copy_of, walk


class Initialized(NamedTuple):
    """A function of the arguments of the class that returns the values of the attributes with these names."""

    source: FunctionSource
    names: tuple[str, ...]


def initialized(value: object) -> Initialized | None:
    """How compiled code makes the objects of a class; None for other classes and objects."""
    written = vars(value).get("__init__") if type(value) is type else None
    return None if written is None else _initialized(value, written)


@cache
def _initialized(of_class: Any, written: Any) -> Initialized | None:
    is_plain = not hasattr(of_class, "__getattr__") and all(
        getattr(of_class, each) is getattr(object, each) for each in ("__new__", "__setattr__", "__getattribute__")
    )
    source = callable_source(written) if isinstance(written, FunctionType) and is_plain else None
    node = None if source is None or source.function.__code__.co_filename == "<string>" else source.written()
    if not isinstance(node, ast.FunctionDef) or node.args.vararg or node.args.kwarg or node.args.posonlyargs:
        return None
    made = copy_of(node)
    own = made.args.args.pop(0).arg if made.args.args else ""
    names = _Attributes(own, names_in(node))
    made.body = [names.visit(each) for each in made.body if not _is_text(each)]
    missing = {name for name in names.found if hasattr(of_class, name)}
    if missing or own in names_in(made) or not all(map(_is_simple, made.body)) or not names.found:
        return None
    values = ast.Tuple([ast.Name(names.of(name), ast.Load()) for name in names.found], ast.Load())
    made.body.append(ast.fix_missing_locations(ast.copy_location(ast.Return(values), made.body[-1])))
    made.decorator_list, made.returns = [], None
    made.args.defaults, made.args.kw_defaults = [], [None for _ in made.args.kwonlyargs]
    for each in (*made.args.args, *made.args.kwonlyargs):
        each.annotation = None
    assert source is not None
    function = rebuilt(source.function, made)
    function.__defaults__, function.__kwdefaults__ = source.function.__defaults__, source.function.__kwdefaults__
    function.__module__ = source.function.__module__
    own_source = FunctionSource(function, source.name, source.text, source.first_line, made)
    return Initialized(own_source, tuple(names.found))


def is_made_of_fields(value: object) -> bool:
    """Whether the value is a class of named tuples, a dataclass whose instances consist of their fields alone, or a
    class whose `__init__` only assigns attributes."""
    if not isinstance(value, type):
        return False
    if issubclass(value, tuple):
        return hasattr(value, "_fields") and value.__new__.__module__ == f"namedtuple_{value.__name__}"
    if initialized(value) is not None:
        return True
    if not dataclasses.is_dataclass(value) or hasattr(value, "__post_init__"):
        return False
    written = getattr(value.__init__, "__code__", None)
    by_itself = written is not None and written.co_filename == "<string>"
    return by_itself and all(_is_plain_field(each) for each in dataclasses.fields(value))


def _is_plain_field(field: dataclasses.Field[Any]) -> bool:
    return field.init and field.default_factory is dataclasses.MISSING


def attributes_made_by(of_class: type) -> tuple[str, ...]:
    """The attributes that new objects of such a class have; none for other classes."""
    made = initialized(of_class)
    if made is not None:
        return made.names
    is_data = is_made_of_fields(of_class) and dataclasses.is_dataclass(of_class)
    return tuple(each.name for each in dataclasses.fields(of_class)) if is_data else ()


def names_of_new_objects(node: Function, find: Callable[[ast.expr], Binding | None]) -> frozenset[str]:
    """The local variables of a function that only get new objects of such classes, other than named tuples, if the
    function reads an attribute of one that arrays have as well."""
    like = {
        part.value.id
        for part in walk(node)
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.attr in OF_VALUES
    }
    found: dict[str, bool] = {}
    counted: Counter[str] = Counter()
    for part in walk(node) if like else ():
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load) and part.id in like:
            counted[part.id] += 1
        elif isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name) and part.targets[0].id in like:
            name, made = part.targets[0].id, object
            if len(part.targets) == 1 and isinstance(part.value, ast.Call):
                made = getattr(find(part.value.func), "value", object)
            is_object = is_made_of_fields(made) and not issubclass(made, tuple)
            found[name] = is_object and found.get(name, True)
            counted[name] -= 1
    return frozenset(name for name, is_object in found.items() if is_object and counted[name] == 0)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_simple(node: ast.stmt) -> bool:
    """Whether the statement assigns, or raises an exception under a condition."""
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.List):
        return False
    if isinstance(node, ast.If):
        return not node.orelse and all(isinstance(each, ast.Raise) for each in node.body)
    return isinstance(node, ast.Assign | ast.AugAssign) and not any(
        (isinstance(part, ast.Attribute | ast.Subscript) and isinstance(part.ctx, ast.Store))
        or isinstance(part, _OF_PYTHON)
        for part in walk(node)
    )


# Values that only Python makes.
_OF_PYTHON = ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp | ast.GeneratorExp | ast.JoinedStr


class _Attributes(ast.NodeTransformer):
    """Replaces the attributes of the object by variables, and notes those that are assigned."""

    def __init__(self, own: str, names: set[str]) -> None:
        self.found: dict[str, str] = {}  # the variables of attributes
        self._own, self._names = own, names

    def of(self, name: str) -> str:
        return self.found[name]

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if not (isinstance(node.value, ast.Name) and node.value.id == self._own):
            return node
        if isinstance(node.ctx, ast.Store) and node.attr not in self.found:
            name = f"{self._own}_{node.attr}"
            while name in self._names:
                name += "_"
            self._names.add(name)
            self.found[node.attr] = name
        if node.attr not in self.found:
            return node
        return ast.copy_location(ast.Name(self.found[node.attr], node.ctx), node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        node.value = self.visit(node.value)  # before its targets are assigned
        node.targets = [self.visit(each) for each in node.targets]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is None:
            return node
        return self.visit_Assign(ast.copy_location(ast.Assign([node.target], node.value), node))
