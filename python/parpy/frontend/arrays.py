"""Lowers what is particular to arrays: subscripts, shapes, and which variable an expression names.

Python scalars and arrays look alike here; infer_types tells them apart. A dict argument is not a
value of its own: each of its entries is a parameter.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any, TypeGuard

from .. import _native
from ..syntax.names import NO_PLACE, Binding, is_array, is_scalar, is_unchanging, jit_source
from .scope import Axis, DictParam, Element, FunctionScope, View, describe, identifier

_MOST_ITEMS = 2**31


class Arrays(FunctionScope):
    """Arrays in one function. What lowers numbers is written out in Expressions."""

    def lower(self, node: ast.expr) -> _native.Expr:
        raise NotImplementedError

    def lower_all(self, nodes: list[ast.expr]) -> list[_native.Expr]:
        raise NotImplementedError

    def lower_settled(self, node: ast.expr) -> Callable[[], _native.Expr]:
        raise NotImplementedError

    def value_of(self, binding: Binding, shown: str, node: ast.expr) -> _native.Expr:
        raise NotImplementedError

    def resolve(self, node: ast.expr) -> Binding | None:
        return self._item(node) if isinstance(node, ast.Subscript) else super().resolve(node)

    def subscript(self, node: ast.Subscript) -> _native.Expr:
        base = node.value
        item = self._item(node)
        if item is not None:
            return self.value_of(item, ast.unparse(node), node)
        if (element := self.tuple_element(node)) is not None:
            return element
        if isinstance(base, ast.Attribute) and base.attr == "shape" and self.is_array_name(base.value):
            return self.extent_of(node, base.value)
        if isinstance(base, ast.Attribute) and base.attr == "shape" and not self.resolve(base):
            self.refuse_shape(base.value)
            return self.poison(node)
        if string_key(node) is not None and not self.is_field_of_element(node):
            view = self.view_named(node)
            var = self.array(node) if view is None else view.array
            return self.poison(node) if var is None else self.module.read(var, self.span(node))
        array, indices = self.element(node)
        if array is None:
            return self.poison(node)
        return self.module.load(array, indices, self.span(node))

    def extent_of(self, node: ast.Subscript, array_node: ast.expr) -> _native.Expr:
        """x.shape[k]"""
        index = integer_constant(node.slice)
        if index is None:
            self.error(
                "P026",
                node.slice,
                "which extent of a shape is meant must be an integer constant",
                "write x.shape[0]; a constant may be negative, to count from the end",
            )
            return self.poison(node)
        array = self.array(array_node)
        if array is None:
            return self.poison(node)
        return self.module.extent(array, index, self.span(node))

    def element(self, node: ast.Subscript) -> tuple[_native.Var | None, list[_native.Expr]]:
        """The array and the subscripts of `x[i, j]`, also written x[i][j]."""
        array, axes, parts = self._subscripts(node)
        values = self.lower_all([n for part in parts for n in self._numbers(part)])
        return array, self.through(array, axes, parts, iter(values), node)

    def held_element(self, node: ast.Subscript) -> tuple[_native.Var | None, Callable[[], list[_native.Expr]]]:
        """The array, and a function that makes the subscripts, evaluated now, as often as wanted."""
        array, axes, parts = self._subscripts(node)
        makers = [self.lower_settled(n) for part in parts for n in self._numbers(part)]
        return array, lambda: self.through(array, axes, parts, iter([make() for make in makers]), node)

    def _subscripts(self, node: ast.Subscript) -> tuple[_native.Var | None, tuple[Axis, ...], list[ast.expr]]:
        """The array, how the view that is subscripted stands in it, and the subscripts."""
        parts: list[ast.expr] = []
        base: ast.expr = node
        while isinstance(base, ast.Subscript) and self._is_subscript(base):
            if self._refuses_item(base):
                return None, (), []
            own = self.index_parts(base.slice)
            if parts and any(isinstance(part, ast.Slice) or _is_ellipsis(part) for part in own):
                if self.subscripts_array(base):
                    view = self.view_of(base)
                    return (None, (), []) if view is None else (view.array, view.axes, parts)
                self.error(
                    "P025",
                    base,
                    "a slice is subscripted again",
                    "give all subscripts at once: x[i, 1:]",
                )
            parts[:0] = own
            base = base.value
        if base is node and (self._item(node) is not None or self.is_tuple_element(node)):
            self._refuse_store(node)
            return None, (), []
        known = self.view_named(base)
        array, axes = (self.array(base), ()) if known is None else (known.array, known.axes)
        if parts and _is_ellipsis(parts[-1]):
            parts.pop()  # all of the dimensions that are left, as without it
        return array, axes, self.without_ellipsis(parts, base)

    def without_ellipsis(self, parts: list[ast.expr], base: ast.expr) -> list[ast.expr]:
        """The subscripts of `base` with a slice for each dimension that an ellipsis stands for, in a kernel."""
        raise NotImplementedError

    def _is_subscript(self, node: ast.Subscript) -> bool:
        """Whether the node is a subscript of an array, and no name of one itself."""
        return string_key(node) is None and self._item(node) is None and not self.is_tuple_element(node)

    def is_tuple_element(self, node: ast.expr) -> bool:
        """Whether `node` is pos[k] of a tuple of the function."""
        return (
            isinstance(node, ast.Subscript)
            and not isinstance(node.slice, ast.Slice)
            and isinstance(self.element_of_tuple(node.value), list)
        )

    def element_of_tuple(self, node: ast.expr) -> Element | None:
        """What `pos`, or pos[k] of constants, is of a tuple of the function; None if there is no such thing."""
        if isinstance(node, ast.Name):
            return self.tuples.get(node.id)
        index = integer_constant(node.slice, _MOST_ITEMS) if isinstance(node, ast.Subscript) else None
        owner = self.element_of_tuple(node.value) if isinstance(node, ast.Subscript) and index is not None else None
        if index is None or not isinstance(owner, list) or not -len(owner) <= index < len(owner):
            return None
        return owner[index]

    def element_variable(self, node: ast.Subscript) -> _native.Var | None:
        """The variable that pos[k] is; None after an error."""
        raise NotImplementedError

    def tuple_element(self, node: ast.Subscript) -> _native.Expr | None:
        """The value of pos[k], of a tuple of the function; None of other subscripts."""
        raise NotImplementedError

    def index_parts(self, index: ast.expr) -> list[ast.expr]:
        """The subscripts that x[index] has."""
        raise NotImplementedError

    def is_field_of_element(self, node: ast.expr) -> bool:
        """Whether `node` is p['x'] of an element of records."""
        base = node.value if isinstance(node, ast.Subscript) and string_key(node) is not None else None
        return isinstance(base, ast.Name) and base.id in self.records and bool(self.records[base.id].axes)

    def view_named(self, node: ast.expr) -> View | None:
        if not isinstance(node, ast.Name) or node.id not in self.views or not self.is_assigned(node):
            return None
        return self.views[node.id]

    def _numbers(self, part: ast.expr) -> list[ast.expr]:
        """The expressions of a subscript that have values: itself, or the bounds of a slice."""
        if isinstance(part, ast.Slice):
            return [bound for bound in (part.lower, part.upper, part.step) if self._is_given(bound)]
        return [] if self._is_none(part) or _is_ellipsis(part) else [part]

    def subscripts_array(self, node: ast.expr) -> bool:
        """Whether `node` is x[…] of an array that may be a view."""
        raise NotImplementedError

    def view_of(self, node: ast.expr) -> View | None:
        """The view that `node` is; None after an error."""
        raise NotImplementedError

    def through(
        self,
        array: _native.Var | None,
        axes: tuple[Axis, ...],
        parts: list[ast.expr],
        values: Iterator[_native.Expr],
        node: ast.expr,
    ) -> list[_native.Expr]:
        """The subscripts of the array for those of a view of it in `node`: `parts`, with the `values` of their
        numbers."""
        raise NotImplementedError

    def _index(self, part: ast.expr, values: Iterator[_native.Expr]) -> _native.Expr:
        if isinstance(part, ast.Slice):
            bounds = (part.lower, part.upper, part.step)
            begin, end, step = (next(values) if self._is_given(bound) else None for bound in bounds)
            return self.module.slice(begin, end, step, self.span(part))
        if _is_ellipsis(part):
            self.error("P025", part, "an ellipsis is followed by subscripts", "write ':' for each dimension")
            return self.poison(part)
        if self._is_none(part):
            return self.module.op("newaxis", [], self.span(part))
        return next(values)

    def _is_given(self, bound: ast.expr | None) -> TypeGuard[ast.expr]:
        return bound is not None and not self._is_none(bound)

    def _is_none(self, node: ast.expr) -> bool:
        """Whether the node is None, or np.newaxis, which is None too."""
        if isinstance(node, ast.Attribute):
            binding = self.resolve(node)
            return binding is not None and binding.value is None
        return isinstance(node, ast.Constant) and node.value is None

    def is_array_name(self, node: ast.expr) -> bool:
        """Whether `node` names something that may be an array, rather than a module or function."""
        if isinstance(node, ast.Name) and (node.id in self.scope.locals or node.id in self.views):
            return True
        if isinstance(node, ast.Subscript) and (string_key(node) is not None or self.is_tuple_element(node)):
            return True
        binding = self.resolve(node)
        return binding is not None and (is_array(binding.value) or is_scalar(binding.value))

    def array(self, node: ast.expr) -> _native.Var | None:
        """The variable that `node` names as a whole: x, d['k'] or module.x. None after an error."""
        if isinstance(node, ast.Name):
            if node.id in self.scope.locals:
                return self.local(node)
            binding = self.find(node)
            return None if binding is None else self._captured_array(binding, node.id, node)
        if isinstance(node, ast.Subscript):
            key = string_key(node)
            if key is not None:
                return self._dict_entry(node, key)
            item = self._item(node)
            if item is not None:
                return self._captured_array(item, ast.unparse(node), node)
            if self.is_tuple_element(node):
                return self.element_variable(node)
        elif isinstance(node, ast.Attribute):
            binding = self.resolve(node)
            if binding is not None:
                return self._captured_array(binding, ast.unparse(node), node)
            if self.starts_undefined(node):
                self.lower(node)
                return None
        self.error(
            "P025",
            node,
            "only a variable can be subscripted",
            "assign the value to a variable first, or subscript an array",
        )
        return None

    def _captured_array(self, binding: Binding, shown: str, node: ast.expr) -> _native.Var | None:
        if is_array(binding.value) and binding.container is not NO_PLACE:
            return self.captured(binding, shown, node)
        if isinstance(binding.value, dict):
            fix = "take one entry with a string constant: d['key']"
        elif isinstance(binding.value, tuple):
            fix = f"make an array of it outside: np.array({shown})"
        else:
            fix = "only arrays can be subscripted and have a shape"
        self.error("P103", node, f"'{shown}' is {describe(binding.value)}, not an array", fix)
        return None

    # ------------------------------------------------------------ tuples

    def tuple_of(self, node: ast.expr) -> tuple[Any, ...] | None:
        """The tuple that `node` names outside the function; None if it names none. Compiled code relies on it."""
        binding = self.resolve(node)
        if binding is None or not isinstance(binding.value, tuple) or not self._stays(node, binding):
            return None
        self.rely_on(binding)
        return binding.value

    def spelled_out(self, value: ast.expr) -> ast.expr:
        """A tuple that `value` names outside the function, as one of its elements; else `value` itself."""
        known = self.tuple_of(value)
        if known is None:
            return value
        places = [ast.copy_location(ast.Constant(index), value) for index in range(len(known))]
        items: list[ast.expr] = [ast.copy_location(ast.Subscript(value, at, ast.Load()), value) for at in places]
        return ast.copy_location(ast.Tuple(items, ast.Load()), value)

    def _stays(self, node: ast.expr, binding: Binding) -> bool:
        """Whether what `node` names is read anew where it may change, rather than computed at each access."""
        if binding.container is not NO_PLACE:
            return True
        if not isinstance(node, ast.Attribute):
            return False
        owner = self.resolve(node.value)
        return owner is not None and is_unchanging(owner.value, binding.value) and self._stays(node.value, owner)

    def _item(self, node: ast.expr) -> Binding | None:
        """The element that `node` takes of a tuple by a constant; None if it is no such thing."""
        if not isinstance(node, ast.Subscript):
            return None
        owner, index = self.tuple_of(node.value), integer_constant(node.slice, _MOST_ITEMS)
        if owner is None or index is None or not -len(owner) <= index < len(owner):
            return None
        items = self.program.items.setdefault(id(owner), {str(at): item for at, item in enumerate(owner)})
        key = str(index % len(owner))
        return Binding(items[key], items, key)

    def _refuses_item(self, node: ast.Subscript) -> bool:
        """Reports a subscript of a tuple that is none of its elements; False where there is no tuple."""
        binding = self.resolve(node.value)
        if binding is None or not isinstance(binding.value, tuple):
            return False
        shown, count = ast.unparse(node.value), len(binding.value)
        index = integer_constant(node.slice, _MOST_ITEMS)
        if self.tuple_of(node.value) is None:
            self.not_a_value(binding.value, shown, node.value)
        elif index is None:
            self.error(
                "P025",
                node.slice,
                f"which element of the tuple '{shown}' is meant must be an integer constant",
                f"to choose while the function runs, make an array of it outside: np.array({shown})",
            )
        else:
            self.error(
                "P025",
                node.slice,
                f"the tuple '{shown}' has no element {index}",
                f"constants from {-count} to {count - 1} are possible" if count else "it is empty",
            )
        return True

    def _refuse_store(self, node: ast.expr) -> None:
        self.error(
            "P016",
            node,
            f"'{ast.unparse(node)}' is an element of a tuple, which cannot be assigned to",
            "use an array, of which elements can be",
        )

    # ------------------------------------------------------------ dicts

    def _dict_entry(self, node: ast.Subscript, key: str) -> _native.Var | None:
        """d['k']: of a parameter, its own surface parameter; of a global dict, a captured value."""
        base = node.value
        if isinstance(base, ast.Name) and base.id in self.scope.locals:
            return self._dict_param(node, base, key)
        binding = self.resolve(base)
        if binding is None or not isinstance(binding.value, dict):
            if binding is None and self.starts_undefined(base):
                self.lower(first_name(base))
            elif isinstance(base, ast.Subscript) and string_key(base) is not None:
                self.error("P104", node, "dicts in dicts are not supported", f"pass {ast.unparse(base)} as an argument")
            else:
                self.error(
                    "P104",
                    node,
                    "only a dict argument or a global dict has a string subscript",
                    "index arrays with integers",
                )
            return None
        self.rely_on(binding)
        shown = ast.unparse(node)
        if key not in binding.value:
            self.error("P101", node, f"the dict '{ast.unparse(base)}' has no key '{key}'")
            return None
        entry = Binding(binding.value[key], binding.value, key)
        if is_scalar(entry.value) or is_array(entry.value):
            return self.captured(entry, shown, node)
        self.not_a_value(entry.value, shown, node)
        return None

    def _dict_param(self, node: ast.Subscript, base: ast.Name, key: str) -> _native.Var | None:
        name = base.id
        if name not in self.parameter_names():
            self.error(
                "P104",
                node,
                f"'{name}' has a string subscript but is no parameter",
                "only arguments can be dicts"
                + ("; records are r[i] of an array of them: write r[i].pos.x in full" if self.program.kernel else ""),
            )
            return None
        if not self.entry:
            self.error(
                "P104",
                node,
                f"'{name}' is used as a dict in a function that compiled code calls",
                "pass the entries as arguments of their own",
            )
            return None
        if name in self.plain_uses:
            self.error(
                "P104",
                self.plain_uses[name],
                f"'{name}' is used as a dict elsewhere, so it must be followed by a string subscript",
                f"write {name}['key'], or pass the value as an argument of its own",
                [(self.span(node), f"'{name}' is a dict here")],
            )
            del self.plain_uses[name]
        param = self.dict_params.setdefault(name, DictParam({}, node))
        if key not in param.entries:
            shown = self.unique_name(identifier(f"{name}_{key}"))
            field = f"{name}.{key}" if self.program.kernel and self.has_views else f"{name}[{key!r}]"
            param.entries[key] = self.module.variable(shown, self.span(node), field)
        return param.entries[key]

    def parameter_names(self) -> tuple[str, ...]:
        code = self.source.function.__code__
        return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]

    # ------------------------------------------------------------ what is none

    def refuse_shape(self, node: ast.expr) -> None:
        if self.starts_undefined(node):
            self.lower(first_name(node))
            return
        self.error(
            "P026",
            node,
            "only whole arrays have a shape",
            "take an extent of the array itself: x.shape[1]",
        )

    def starts_undefined(self, node: ast.expr) -> bool:
        name = first_name(node)
        return isinstance(name, ast.Name) and name.id not in self.scope.locals and self.scope.lookup(name.id) is None

    def not_a_value(self, value: object, shown: str, node: ast.expr) -> None:
        if jit_source(value) is not None:
            message, fix = f"'{shown}' is a function, not a value", f"call it: {shown}(…)"
        elif callable(value):
            message, fix = f"'{shown}' is {describe(value)}, not a value", "call it"
        elif is_scalar(value) or is_array(value) or (isinstance(value, tuple) and self.tuple_of(node) is None):
            message = f"'{shown}' is computed at each access, so it cannot be a constant"
            fix = "assign it to a global variable, or pass it as an argument"
        else:
            message = f"'{shown}' is {describe(value)}, which compiled code cannot use"
            fix = "numbers, NumPy scalars and arrays can be used; pass others in parts"
            if isinstance(value, tuple):
                fix = f"take its elements by constants, {shown}[0], or all of them: a, b = {shown}"
        self.error("P103", node, message, fix)


def first_name(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node


def with_axis(node: ast.expr, first: bool) -> ast.expr | None:
    """The array or slice of one dimension with a dimension of size 1 in front of it, or behind; None if it is none."""
    axis: ast.expr = ast.copy_location(ast.Constant(None), node)
    if isinstance(node, ast.Name):
        parts: list[ast.expr] = [ast.copy_location(ast.Slice(), node)]
        base: ast.expr = node
    elif isinstance(node, ast.Subscript):
        parts = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
        base = node.value
    else:
        return None
    slices = [index for index, part in enumerate(parts) if isinstance(part, ast.Slice)]
    if len(slices) != 1:
        return None
    parts.insert(slices[0] + (0 if first else 1), axis)
    index = ast.copy_location(ast.Tuple(parts, ast.Load()), node)
    return ast.copy_location(ast.Subscript(base, index, ast.Load()), node)


def mask_rank(node: ast.expr) -> int:
    """How many dimensions the mask `node` of a subscript has; 0 if it is none: masks compare slices."""
    compares = any(isinstance(part, ast.Compare) for part in ast.walk(node))
    if not compares or not isinstance(node, ast.Compare | ast.BinOp | ast.UnaryOp):
        return 0
    ranks = [0]
    for part in ast.walk(node):
        if isinstance(part, ast.Subscript):
            index = part.slice.elts if isinstance(part.slice, ast.Tuple) else [part.slice]
            ranks.append(sum(isinstance(each, ast.Slice) for each in index))
    return max(ranks)


def string_key(node: ast.Subscript) -> str | None:
    """The k of d['k']."""
    index = node.slice
    return index.value if isinstance(index, ast.Constant) and isinstance(index.value, str) else None


def integer_constant(node: ast.expr, limit: int = 64) -> int | None:
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        sign, node = -1, node.operand
    if isinstance(node, ast.Constant) and type(node.value) is int and node.value < limit:
        return sign * node.value
    return None


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...
