"""Objects and dicts as values: their attributes, methods and properties. The core determines the object that a value is
(lower_aggregates)."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Container, Mapping, Sequence
from types import MethodType
from typing import Any

from ... import _native
from ...calls.elements import comes_apart
from ...calls.hooks import hook_of_tuples, is_plain_method
from ...calls.objects import functions_of, is_object
from ...library import methods
from ...syntax.bases import of_base
from ...syntax.names import (
    MISSING,
    NO_PLACE,
    OBJECT,
    Binding,
    attribute,
    callable_source,
    is_array,
    is_scalar,
    source_of,
)
from ...syntax.patterns import OPERATOR_METHODS, string_key
from ...syntax.source import FunctionSource
from ..calls.arguments import bound_arguments
from ..forms import Span
from ..lowering import lower
from ..scope import FunctionScope
from .evaluation import lower_arguments
from .function_values import default_of, function_value


class Attributes:
    """An object value, which gets the attributes that the program reads. `attribute` makes the value of an attribute,
    or None if compiled code cannot use it. `cells` are attributes that may be assigned to, arrays of one element."""

    def __init__(
        self,
        fn: FunctionScope,
        node: Any,
        of_class: type,
        attribute: Callable[[str], _native.Expr | None],
        cells: Container[str] = (),
    ) -> None:
        self._fn, self._node, self._class, self._attribute, self._cells = fn, node, of_class, attribute, cells
        self.value = fn.module.record(of_class.__name__, False, fn.span(node))
        self._taken: set[str] = set()
        fn.program.add_object(self, of_class)

    def settle(self) -> None:
        """Adds the attributes that lowered code reads by now."""
        fn, span = self._fn, self._fn.span(self._node)
        for name in sorted(fn.program.attributes - self._taken):
            self._taken.add(name)
            if name in fn.program.of_bases:
                self._add_function_of_base(name, *fn.program.of_bases[name])
                continue
            found = inspect.getattr_static(self._class, name, None)
            value = None if isinstance(found, property) else self._attribute(name)  # properties hide own attributes
            if name in fn.program.asked_classes:
                if issubclass(self._class, fn.program.asked_classes[name]):
                    add_attribute(fn, self.value, name, fn.module.constant(True, span), span)
            elif name == "__bool__" and found is None and not issubclass(self._class, Mapping):
                self._add_truth()
            elif value is not None:
                add_attribute(fn, self.value, f"*{name}" if name in self._cells else name, value, span)
            elif (function := next(functions_of(self._class, name), None)) is not None:
                self._add_function(name, name, self._class.__mro__, found, callable_source(function))

    def _add_truth(self) -> None:
        """Adds the truth of an object whose class has no method for it: that of its length, or else True."""
        length = inspect.getattr_static(self._class, "__len__", None)
        if length is not None:
            function = next(functions_of(self._class, "__len__"), None)
            self._add_function("__bool__", "__len__", self._class.__mro__, length, callable_source(function))
            return
        source = source_of(methods.truth)
        made = function_value(self._fn, self._fn.helper(source, (), {"p": OBJECT}), source, self._node)
        add_attribute(self._fn, self.value, "__bool__()", made, self._fn.span(self._node))

    def _add_function_of_base(self, name: str, below: type, attribute: str) -> None:
        """Adds the function of this name of the next base after the class `below`, for super()."""
        classes = self._class.__mro__
        classes = classes[classes.index(below) + 1 :] if below in classes else ()
        kind = next((each for each in classes if attribute in vars(each)), None)
        function = None if kind is None else next(functions_of(kind, attribute), None)
        if kind is not None and function is not None:
            self._add_function(name, attribute, classes, vars(kind)[attribute], callable_source(function))

    def _add_function(
        self, shown: str, name: str, classes: tuple[type, ...], found: object, source: FunctionSource | None
    ) -> None:
        made = _function_of_class(self._fn, classes, name, found, source, self._node)
        if made is not None:
            add_attribute(self._fn, self.value, made[0].format(shown), made[1], self._fn.span(self._node))


class Members:
    """The methods and properties of a named tuple that the program reads and that need no values besides their
    arguments."""

    def __init__(self, fn: FunctionScope, node: Any, of_class: type, value: _native.Expr) -> None:
        self._fn, self._node, self._class, self._value = fn, node, of_class, value
        self._taken: set[str] = set()
        fn.program.add_object(self, of_class)

    def settle(self) -> None:
        """Adds the members that lowered code reads by now."""
        program = self._fn.program
        for name in sorted((program.attributes | {"__bool__"}) - self._taken):
            self._taken.add(name)
            if name in program.asked_classes:
                if issubclass(self._class, program.asked_classes[name]):
                    span = self._fn.span(self._node)
                    add_attribute(self._fn, self._value, f"@{name}", self._fn.module.constant(True, span), span)
                continue
            found = inspect.getattr_static(self._class, name, None)
            function = next(functions_of(self._class, name), None)
            hidden = name.startswith("_") and name not in OPERATOR_METHODS
            source = None if hidden or function is None else callable_source(function)
            if source is None or isinstance(found, staticmethod) or not is_plain_method(source.function):
                continue
            made = _function_of_class(self._fn, self._class.__mro__, name, found, source, self._node)
            if made is not None:
                add_attribute(self._fn, self._value, made[0].format(name), made[1], self._fn.span(self._node))


def _function_of_class(
    fn: FunctionScope, classes: tuple[type, ...], name: str, found: object, source: FunctionSource | None, node: Any
) -> tuple[str, _native.Expr] | None:
    """The method, static method or property of this name that the first of the classes defines, with the name by which
    the core tells the three forms apart."""
    parameters = () if source is None else source.function.__code__.co_varnames
    is_static = isinstance(found, staticmethod)
    if source is None or not (is_static or parameters):
        return None
    for kind in classes:  # later calls check that the attribute is unchanged
        space = fn.program.class_spaces.setdefault(kind, kind.__dict__)
        fn.scope.rely_on(Binding(space.get(name, MISSING), space, name))
        if name in space:
            break
    known = {} if is_static else {parameters[0]: OBJECT}
    form = "@{}" if isinstance(found, property) else "{}" if is_static else "{}()"
    return form, function_value(fn, fn.helper(source, (), known, name in OPERATOR_METHODS), source, node)


def attribute_of_base(fn: FunctionScope, node: ast.Attribute) -> _native.Expr | None:
    """`super().f`; None for other attributes."""
    found = of_base(node.value)
    below = None if found is None else fn.resolve(found[0])
    if found is None or below is None or fn.kernel:
        return None
    fn.rely_on(below)
    name = f"{node.attr} of a base of {below.value.__qualname__}"
    while fn.program.of_bases.setdefault(name, (below.value, node.attr)) != (below.value, node.attr):
        name += "_"  # another class with this name has the name already
    return field(fn, lower(fn, found[1]), name, node)


def add_attribute(fn: FunctionScope, record: _native.Expr, name: str, value: _native.Expr, span: Span) -> None:
    fn.module.add_operand(record, fn.module.text_value(name, "", span))
    fn.module.add_operand(record, value)


def field(fn: FunctionScope, owner: _native.Expr, name: str, node: ast.expr) -> _native.Expr:
    """`owner.name` or `owner["name"]`, which the core resolves."""
    fn.program.attributes.add(name)
    return fn.module.field(owner, name, isinstance(node, ast.Subscript), fn.span(node))


def has(fn: FunctionScope, value: ast.expr, name: str, node: ast.expr) -> _native.Expr:
    """Whether the value is an object or a tuple, with this attribute or method; of any names if `name` is empty."""
    return fn.op("has", node, lower(fn, value), fn.module.text_value(name, "", fn.span(node)))


def stored_field(fn: FunctionScope, target: ast.Attribute | ast.Subscript, in_place: bool) -> _native.Var:
    """The array that `owner.name = …` writes: the cell of a number or, with `in_place`, also an array attribute."""
    name = target.attr if isinstance(target, ast.Attribute) else string_key(target)
    assert name is not None
    fn.program.attributes.add(name)
    owner, span = lower(fn, target.value), fn.span(target)
    made = fn.module.field(owner, f"{'+' if in_place else '='}{name}", isinstance(target, ast.Subscript), span)
    return fn.hold(made, target, shown=ast.unparse(target))


# ------------------------------------------------------------ new objects


def new_object(fn: FunctionScope, node: ast.Call, made: Any) -> _native.Expr:
    """`Point(x, y=1.0)`, a new object of a class for which `is_made_of_fields` holds."""
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
    return _object_of(
        fn, node, made, {name: fn.hold(value, node, shown=f"{made.__name__}.{name}") for name, value in values.items()}
    )


def initialized_object(fn: FunctionScope, node: ast.Call, made: type, names: Sequence[str], whole: Any) -> _native.Expr:
    """A new object whose attributes with these names are the elements of the tuple `whole`."""
    fn.rely_on(Binding(vars(made)["__init__"], vars(made), "__init__"))
    span, values = fn.span(node), fn.hold(whole, node)
    held = {
        name: fn.hold(
            fn.op("item", node, fn.module.read(values, span), fn.integer(place, node)),
            node,
            shown=f"{made.__name__}.{name}",
        )
        for place, name in enumerate(names)
    }
    return _object_of(fn, node, made, held)


def _object_of(fn: FunctionScope, node: ast.Call, made: type, held: Mapping[str, _native.Var]) -> _native.Expr:
    span = fn.span(node)

    def attribute_of(name: str) -> _native.Expr | None:
        return fn.module.read(held[name], span) if name in held else None

    return Attributes(fn, node, made, attribute_of).value


def begin_named_tuple(fn: FunctionScope, of_class: type, node: Any) -> _native.Expr:
    """A new named tuple, to which the caller adds the elements."""
    if (hook := hook_of_tuples(of_class)) is not None:
        fix = "give the method another name, or call it outside of compiled code"
        fn.error("P022", node, f"the class '{of_class.__name__}' has its own {hook}", fix)
    classes = fn.program.named_tuples
    number = classes.setdefault(of_class, len(classes))
    value = fn.module.record(str(number), True, fn.span(node))
    Members(fn, node, of_class, value)
    return value


# ------------------------------------------------------------ objects outside of functions


def object_outside(
    fn: FunctionScope, binding: Binding, node: ast.expr, around: tuple[object, ...] = ()
) -> _native.Expr:
    """The value of an object outside the function that `node` names, or that is in the objects `around`. The program
    depends on the object's identity; numbers and arrays in it are read at each call."""
    fn.rely_on(binding)
    owner = binding.value
    inside = (*around, owner)

    own = owner if isinstance(owner, dict) else getattr(owner, "__dict__", None)

    def rely_on_own(name: str) -> None:
        if isinstance(own, Mapping) and own is not owner:
            fn.scope.rely_on(Binding(own.get(name, MISSING), own, name))

    def attribute_of(name: str) -> _native.Expr | None:
        part: ast.expr
        if isinstance(owner, dict):
            key = ast.copy_location(ast.Constant(name), node)
            part = ast.copy_location(ast.Subscript(node, key, ast.Load()), node)
            found = Binding(owner[name], owner, name) if name in owner else None
        else:
            part = ast.copy_location(ast.Attribute(node, name, ast.Load()), node)
            found = attribute(owner, name, fn.program.class_spaces)
            found = None if found is None or _is_of_class(owner, name) else found
        if found is not None and _is_usable(found.value) and not any(found.value is each for each in inside):
            if is_object(found.value):
                return object_outside(fn, found, part, inside)
            is_value = found.container is not NO_PLACE and (is_scalar(found.value) or is_array(found.value))
            if not is_value or (not around and not isinstance(node, ast.Subscript)):
                return lower(fn, part)
            if found.container is not own:
                rely_on_own(name)
            return fn.module.read(fn.captured(found, ast.unparse(part), node), fn.span(node))
        rely_on_own(name)
        return None

    return Attributes(fn, node, type(owner), attribute_of).value


def _is_usable(value: object) -> bool:
    """Whether compiled code has such values. Bound methods are not usable, since methods are found in classes."""
    if isinstance(value, tuple):
        return all(map(_is_usable, value))
    if isinstance(value, MethodType):
        return False
    return is_scalar(value) or is_array(value) or comes_apart(value) or is_object(value)


def _is_of_class(owner: object, name: str) -> bool:
    """Whether the attribute is a method or a property of the class that no attribute of the object hides."""
    found = inspect.getattr_static(type(owner), name, None)
    hidden = name in getattr(owner, "__dict__", ()) and not isinstance(found, property)
    return not hidden and next(functions_of(type(owner), name), None) is not None


def attribute_outside(fn: FunctionScope, node: ast.expr) -> _native.Expr | None:
    """A method or a property of an object outside the function; None for other expressions."""
    if fn.kernel or not isinstance(node, ast.Attribute):
        return None
    owner = fn.resolve(node.value)
    if owner is None or not is_object(owner.value) or not _is_of_class(owner.value, node.attr):
        return None
    return field(fn, object_outside(fn, owner, node.value), node.attr, node)
