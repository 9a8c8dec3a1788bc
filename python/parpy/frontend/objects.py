"""Objects and dicts as values: their attributes, methods and properties. The core finds out which object a value is
(lower_aggregates)."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from .. import _native
from ..calls.elements import comes_apart
from ..calls.objects import functions_of, is_object
from ..syntax.names import OBJECT, Binding, attribute, callable_source, is_array, is_scalar
from .arguments import bound_arguments
from .evaluation import lower_arguments
from .forms import Span
from .function_values import default_of, function_value
from .lowering import lower
from .scope import FunctionScope


class Attributes:
    """An object, of which those attributes are taken that the program reads: `attribute` makes the value of one, None
    of what compiled code cannot use."""

    def __init__(
        self, fn: FunctionScope, node: Any, of_class: type, attribute: Callable[[str], _native.Expr | None]
    ) -> None:
        self._fn, self._node, self._class, self._attribute = fn, node, of_class, attribute
        self.value = fn.module.record(of_class.__name__, False, fn.span(node))
        self._taken: set[str] = set()
        fn.program.objects.append(self)

    def settle(self) -> None:
        """Takes those that are read by now."""
        for name in sorted(self._fn.program.attributes - self._taken):
            self._taken.add(name)
            function = next(functions_of(self._class, name), None)
            if function is not None:
                self._add_function(name, function)
            elif (value := self._attribute(name)) is not None:
                add_attribute(self._fn, self.value, name, value, self._fn.span(self._node))

    def _add_function(self, name: str, function: Any) -> None:
        fn = self._fn
        found = inspect.getattr_static(self._class, name)
        is_static = isinstance(found, staticmethod)
        source = callable_source(function)
        if source is None:
            return
        parameters = source.function.__code__.co_varnames
        if not is_static and not parameters:
            return
        known = {} if is_static else {parameters[0]: OBJECT}
        shown = f"@{name}" if isinstance(found, property) else name if is_static else f"{name}()"
        value = function_value(fn, fn.helper(source, (), known), source, self._node)
        add_attribute(fn, self.value, shown, value, fn.span(self._node))


def add_attribute(fn: FunctionScope, record: _native.Expr, name: str, value: _native.Expr, span: Span) -> None:
    fn.module.add_operand(record, fn.module.text_value(name, "", span))
    fn.module.add_operand(record, value)


def field(fn: FunctionScope, owner: _native.Expr, name: str, node: ast.expr) -> _native.Expr:
    """`owner.name`, or `owner["name"]`, which the core finds out."""
    fn.program.attributes.add(name)
    return fn.module.field(owner, name, isinstance(node, ast.Subscript), fn.span(node))


# ------------------------------------------------------------ new objects


def is_made_of_fields(value: object) -> bool:
    """Whether it is a class of named tuples, or of dataclasses that consist of what they are made of."""
    if not isinstance(value, type):
        return False
    if issubclass(value, tuple):
        return hasattr(value, "_fields") and value.__new__.__module__ == f"namedtuple_{value.__name__}"
    if not is_dataclass(value) or hasattr(value, "__post_init__"):
        return False
    written = getattr(value.__init__, "__code__", None)
    by_itself = written is not None and written.co_filename == "<string>"
    return by_itself and all(each.init and each.default_factory is MISSING for each in fields(value))


def new_object(fn: FunctionScope, node: ast.Call, made: Any) -> _native.Expr:
    """`Point(x, y=1.0)` of such a class."""
    given = bound_arguments(fn, node, made)
    if given is None:
        return fn.poison(node)
    parameters = inspect.signature(made, follow_wrapped=False).parameters
    lowered = lower_arguments(fn, given, parameters, lower)
    values = {
        name: lowered[name] if name in lowered else default_of(fn, parameter, made.__name__, node)
        for name, parameter in parameters.items()
    }
    span = fn.span(node)
    if issubclass(made, tuple):
        value = begin_named_tuple(fn, made, node)
        for name, each in values.items():
            add_attribute(fn, value, name, each, span)
        return value
    held = {name: fn.hold(value, node, shown=f"{made.__name__}.{name}") for name, value in values.items()}

    def attribute_of(name: str) -> _native.Expr | None:
        return fn.module.read(held[name], span) if name in held else None

    return Attributes(fn, node, made, attribute_of).value


def begin_named_tuple(fn: FunctionScope, of_class: type, node: Any) -> _native.Expr:
    """A named tuple, whose elements are to be added."""
    classes = fn.program.named_tuples
    number = classes.setdefault(of_class, len(classes))
    return fn.module.record(str(number), True, fn.span(node))


# ------------------------------------------------------------ objects outside of functions


def object_outside(fn: FunctionScope, binding: Binding, node: ast.expr) -> _native.Expr:
    """An object outside the function, which `node` names. Compiled code relies on it; its numbers and arrays are read
    at each call."""
    fn.rely_on(binding)

    def attribute_of(name: str) -> _native.Expr | None:
        found = attribute(binding.value, name, fn.program.class_spaces)
        if found is None or not _is_usable(found.value):
            return None
        return lower(fn, ast.copy_location(ast.Attribute(node, name, ast.Load()), node))

    return Attributes(fn, node, type(binding.value), attribute_of).value


def _is_usable(value: object) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_usable, value))
    return is_scalar(value) or is_array(value) or comes_apart(value) or is_object(value)


def attribute_outside(fn: FunctionScope, node: ast.expr) -> _native.Expr | None:
    """A method or a property of an object outside the function; None if `node` is something else."""
    if fn.kernel or not isinstance(node, ast.Attribute):
        return None
    owner = fn.resolve(node.value)
    if owner is None or not is_object(owner.value) or next(functions_of(type(owner.value), node.attr), None) is None:
        return None
    return field(fn, object_outside(fn, owner, node.value), node.attr, node)
