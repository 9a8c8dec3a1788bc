"""Tuples in kernels: `pos = (i, j)`, `x[pos]`, `x[cuda.grid(2)]`, `x.shape`, tuples in tuples, as arguments and as
results of device functions.

A tuple is no value of the program: its elements are variables. A function that gets one gets these; one that returns
one stands in place of its call (inlining.py).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial, reduce

from .. import _native
from ..syntax.names import is_array, source_of
from ..syntax.source import FunctionSource
from ..vocabulary.device import DeviceFunction
from .arrays import (
    element_of_tuple,
    element_variable,
    is_array_name,
    is_tuple_element,
    numbers_of,
    outside_spelled_out,
    place_in_tuple,
    subscripts_array,
)
from .conditions import condition
from .effects import reads_elements
from .evaluation import lower_settled
from .forms import DictParam, Element, Kind, TupleKind
from .intrinsics import intrinsic_of
from .kinds import array_rank, ndim_of
from .lowering import inlined, lower, results_of_device
from .none import take_none
from .patterns import integer_constant
from .records import is_record, record_dimensions, record_path
from .scope import FunctionScope
from .subscripts import array_of
from .uses import TupleForm, arguments_of

_MOST = 2**31


# ------------------------------------------------------------ what is one


def tuple_form(fn: FunctionScope, node: ast.expr) -> TupleForm | None:
    """The form of the tuple that `node` is, in a kernel; None if it is none."""
    if not fn.aggregates:
        return None
    if isinstance(node, ast.Tuple):
        return _form_of_parts(fn, node)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left = tuple_form(fn, node.left)
        right = None if left is None else tuple_form(fn, node.right)
        return None if left is None or right is None else TupleForm(left.parts + right.parts)
    if isinstance(node, ast.Call):
        source = tuple_function(fn, node)
        if source is not None:
            return form_of_call(fn, node, source)
        count = tuple_of_device(fn, node)
        return None if count is None else TupleForm((None,) * count)
    if isinstance(node, ast.IfExp):
        one = tuple_form(fn, node.body)
        return one if one is not None and one == tuple_form(fn, node.orelse) else None
    if is_shape(fn, node):
        return _form_of_shape(fn, node)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        part = _slice_of_tuple(fn, node)
        owner = None if part is None or isinstance(node.value, ast.Call) else tuple_form(fn, node.value)
        return None if owner is None or part is None else TupleForm(owner.parts[part])
    if isinstance(element := element_of_tuple(fn, node), list):
        return form_of(element)
    if element is None and (made := _element_of_made(fn, node)) is not None:
        form, index = made
        return form.parts[index]
    known = fn.tuple_of(node) if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) else None
    return None if known is None else _form_of_value(known)


def _form_of_parts(fn: FunctionScope, node: ast.Tuple) -> TupleForm | None:
    parts: list[TupleForm | None] = []
    for part in node.elts:
        inner = tuple_form(fn, part.value if isinstance(part, ast.Starred) else part)
        if isinstance(part, ast.Starred) and inner is None:
            return None
        parts += inner.parts if isinstance(part, ast.Starred) and inner is not None else (inner,)
    return TupleForm(tuple(parts))


def tuple_function(fn: FunctionScope, node: ast.expr) -> FunctionSource | None:
    """The function that `node` calls, if it returns a tuple."""
    binding = fn.resolve(node.func) if isinstance(node, ast.Call) else None
    if binding is None or not fn.is_function(binding.value):
        return None
    source, uses = source_of(binding.value), fn.program.uses
    found = uses.returned_form(source) is not None or uses.returned_shape(source) is not None
    return source if found else None


def form_of_call(fn: FunctionScope, node: ast.Call, source: FunctionSource) -> TupleForm | None:
    """The form of the tuple that a function returns; of a shape as many numbers as the argument has dimensions."""
    form, name = fn.program.uses.returned_form(source), fn.program.uses.returned_shape(source)
    if form is not None or name is None:
        return form
    argument = next((part for _, to, part in arguments_of(node, fn.scope) if to == name), None)
    rank = None if argument is None else dimensions(fn, argument)
    if rank is None:
        fn.want_kinds(node)
    return None if rank is None else TupleForm((None,) * rank)


def _element_of_made(fn: FunctionScope, node: ast.expr) -> tuple[TupleForm, int] | None:
    """The form and the place, for f(x)[k] of a tuple that has no name."""
    kinds = ast.Subscript | ast.Call | ast.BinOp | ast.IfExp | ast.Tuple
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, kinds):
        return None
    form, index = tuple_form(fn, node.value), integer_constant(node.slice, _MOST)
    if form is None or index is None or not -len(form.parts) <= index < len(form.parts):
        return None
    return form, index


def _slice_of_tuple(fn: FunctionScope, node: ast.Subscript) -> slice | None:
    """The a:b of pos[a:b], if they are constants."""
    assert isinstance(node.slice, ast.Slice)
    given = (node.slice.lower, node.slice.upper, node.slice.step)
    bounds = [None if part is None else integer_constant(part, _MOST) for part in given]
    known = all(bound is not None or part is None for bound, part in zip(bounds, given, strict=True))
    return slice(*bounds) if known and bounds[2] != 0 else None


def tuple_of_device(fn: FunctionScope, node: ast.Call) -> int | None:
    """How many results the call of a device function such as cuda.grid(2) has; None if it is another call."""
    binding = fn.resolve(node.func)
    known = binding.value if binding is not None else None
    if known is not None and (intrinsic := intrinsic_of(known)) is not None and intrinsic.lowering == "pair":
        return 2
    if not isinstance(known, DeviceFunction) or known.lowering not in ("grid", "match_all"):
        return None
    count = integer_constant(node.args[0]) if known.lowering == "grid" and len(node.args) == 1 else 2
    return None if count == 1 else count


# ------------------------------------------------------------ shapes


def is_shape(fn: FunctionScope, node: ast.expr) -> bool:
    """Whether `node` is x.shape of an array."""
    if not isinstance(node, ast.Attribute) or node.attr != "shape" or fn.resolve(node) is not None:
        return False
    return is_array_name(fn, node.value) or is_record(fn, node.value)


def _form_of_shape(fn: FunctionScope, node: ast.expr) -> TupleForm | None:
    assert isinstance(node, ast.Attribute)
    rank = dimensions(fn, node.value)
    if rank is None:
        fn.want_kinds(node)
    return None if rank is None else TupleForm((None,) * rank)


def dimensions(fn: FunctionScope, node: ast.expr) -> int | None:
    """How many dimensions an array, a view or records have; None if that is not known."""
    if is_record(fn, node):
        path = record_path(fn, node)
        found = None if path is None else record_dimensions(fn, path)
        indices = [] if path is None else path.indices
    else:
        indices = []
        while isinstance(node, ast.Subscript) and subscripts_array(fn, node):
            indices.append(node.slice)
            node = node.value
        array = array_of(fn, node)
        found = None if array is None else array_rank(fn, array)
    return None if found is None else max(found - sum(_subscripts_in(fn, index) for index in indices), 0)


def array_dimensions(fn: FunctionScope, node: ast.expr) -> int | None:
    """How many dimensions the array has that is named or made by subscripts; None if that is not known, or it is
    something else."""
    if isinstance(node, ast.IfExp):
        found = array_dimensions(fn, node.body)
        return found if found == array_dimensions(fn, node.orelse) else None
    if isinstance(node, ast.Subscript) and subscripts_array(fn, node) and not is_tuple_element(fn, node):
        if (found := array_dimensions(fn, node.value)) is None:
            return None
        return max(found - _subscripts_in(fn, node.slice), 0)
    if isinstance(node, ast.Name) and node.id in fn.variables:
        return array_rank(fn, fn.variables[node.id])
    if isinstance(node, ast.Name) and node.id in fn.scope.locals:
        kind = fn.kind_of(node.id)
        return None if kind is None else kind.ndim
    element = element_of_tuple(fn, node)
    if element is not None:
        return None if isinstance(element, list) else array_rank(fn, element)
    binding = fn.resolve(node)
    return ndim_of(binding.value) if binding is not None and is_array(binding.value) else None


def without_ellipsis(fn: FunctionScope, parts: list[ast.expr], base: ast.expr) -> list[ast.expr]:
    """The subscripts of `base` with a slice for each dimension that an ellipsis stands for, in a kernel."""
    places = [i for i, part in enumerate(parts) if isinstance(part, ast.Constant) and part.value is ...]
    if len(places) != 1 or not fn.aggregates:
        return parts
    rank, at = dimensions(fn, base), places[0]
    if rank is None:
        fn.want_kinds(parts[at])
        return [*parts[:at], *parts[at + 1 :]]
    taken = sum(isinstance(part, ast.Slice) or bool(numbers_of(fn, part)) for part in parts)
    everything = [ast.copy_location(ast.Slice(), parts[at]) for _ in range(rank - taken)]
    return [*parts[:at], *everything, *parts[at + 1 :]]


def _subscripts_in(fn: FunctionScope, index: ast.expr) -> int:
    """How many dimensions x[index] takes away."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    form = tuple_form(fn, index)
    if form is not None and not isinstance(index, ast.Tuple):
        return len(form.parts)
    return sum(len(numbers_of(fn, part)) for part in parts if not isinstance(part, ast.Slice))


# ------------------------------------------------------------ elements


def tuple_parts(fn: FunctionScope, node: ast.expr) -> list[ast.expr]:
    """The elements of a tuple, which is evaluated now if it is a call or the shape of a part of an array."""
    if isinstance(node, ast.Tuple):
        inner = [tuple_parts(fn, part.value) if isinstance(part, ast.Starred) else [part] for part in node.elts]
        return [part for each in inner for part in each]
    if isinstance(node, ast.BinOp):
        return [*tuple_parts(fn, node.left), *tuple_parts(fn, node.right)]
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        part = _slice_of_tuple(fn, node)
        return tuple_parts(fn, node.value)[part] if part is not None else []
    form = tuple_form(fn, node)
    count = 0 if form is None else len(form.parts)
    if isinstance(node, ast.Call):
        source = tuple_function(fn, node)
        found: list[Element] = []
        if source is None:
            found += [fn.hold(value, node) for value in results_of_device(fn, node)]
        else:
            found = inlined(fn, node, source)
        if not found:
            return [ast.copy_location(ast.Constant(0), node)] * count
        node = hidden_tuple(fn, found, node)
    elif isinstance(node, ast.IfExp):
        node = hidden_tuple(fn, _chosen_tuple(fn, node), node)
    elif isinstance(node, ast.Attribute) and subscripts_array(fn, node.value) and not is_record(fn, node.value):
        array, span = array_of(fn, node.value), fn.span(node)
        extents = [] if array is None else [fn.module.extent(array, axis, span) for axis in range(count)]
        node = hidden_tuple(fn, [fn.hold(extent, node) for extent in extents], node)
    elif is_shape(fn, node) or element_of_tuple(fn, node) is not None:
        pass
    elif isinstance(node, ast.Subscript) and (place := _element_of_made(fn, node)) is not None:
        return tuple_parts(fn, tuple_parts(fn, node.value)[place[1]])
    else:
        made = outside_spelled_out(fn, node)
        return made.elts if isinstance(made, ast.Tuple) else []
    places = [ast.copy_location(ast.Constant(index), node) for index in range(count)]
    return [ast.copy_location(ast.Subscript(node, at, ast.Load()), node) for at in places]


def hidden_tuple(fn: FunctionScope, elements: list[Element], node: ast.expr) -> ast.Name:
    """A name that no program has for a tuple of these elements."""
    name = fn.unique_name("(tuple)")
    fn.tuples[name] = elements
    fn.assigned.add(name)
    return ast.copy_location(ast.Name(name, ast.Load()), node)


def _chosen_tuple(fn: FunctionScope, node: ast.IfExp) -> list[Element]:
    """`(i, j) if c else (j, i)`"""
    span, form = fn.span(node), tuple_form(fn, node)
    test = condition(fn, node.test)
    sides = [fn.branch(partial(tuple_values, fn, part)) for part in (node.body, node.orelse)]
    held = [fn.temporary(span) for _ in sides[0][0]]
    for values, before in sides:
        before.extend(fn.module.assign(var, value, None, span) for var, value in zip(held, values, strict=True))
    fn.out.append(fn.module.if_(test, sides[0][1], sides[1][1], span))
    return [] if form is None else rebuilt(form, iter(held))


def tuple_values(fn: FunctionScope, node: ast.expr, settled: bool = False) -> list[_native.Expr]:
    """The numbers in a tuple, evaluated from the left; `settled`: what they are now, whatever is written later."""
    values: list[_native.Expr] = []
    sources: list[ast.expr] = []

    def settle(before: int) -> None:
        """What was put in front from number `before` on may write what the values read."""
        for index in reversed(range(len(values))) if len(fn.out) > before else ():
            if reads_elements(fn, sources[index]):
                held = fn.hold(values[index], sources[index], before)
                values[index] = fn.module.read(held, fn.span(sources[index]))

    def add(part: ast.expr) -> None:
        before = len(fn.out)
        if isinstance(part, ast.BinOp) and tuple_form(fn, part) is not None:
            add(part.left)
            add(part.right)
        elif tuple_form(fn, part) is not None:
            inner = tuple_parts(fn, part)
            settle(before)
            for each in inner:
                add(each)
        else:
            value = lower_settled(fn, part)() if settled else lower(fn, part)
            settle(before)
            values.append(value)
            sources.append(part)

    add(node)
    return values


def held_tuple(fn: FunctionScope, node: ast.expr, shown: str = "") -> list[Element]:
    """The tuple that `node` is now, in variables that messages call `shown`."""
    form = tuple_form(fn, node)
    values = [fn.hold(value, node, shown=shown) for value in tuple_values(fn, node)]
    return [] if form is None else rebuilt(form, iter(values))


# ------------------------------------------------------------ using


def spelled_out(fn: FunctionScope, value: ast.expr) -> ast.expr:
    """A tuple as one of its elements; other values, and the shapes of arrays, as they are."""
    if is_shape(fn, value):
        return value  # unpacked without asking how many dimensions there are
    named = element_of_tuple(fn, value) is not None and tuple_form(fn, value) is not None
    if isinstance(value, ast.Tuple) and any(isinstance(part, ast.Starred) for part in value.elts):
        named = tuple_form(fn, value) is not None
    made = isinstance(value, ast.BinOp | ast.Subscript | ast.IfExp) and tuple_form(fn, value) is not None
    if not named and not made and tuple_function(fn, value) is None:
        return outside_spelled_out(fn, value)
    return ast.copy_location(ast.Tuple(tuple_parts(fn, value), ast.Load()), value)


def index_parts(fn: FunctionScope, index: ast.expr) -> list[ast.expr]:
    """The subscripts that x[index] has."""
    if isinstance(index, ast.Tuple):
        return index.elts
    return [index] if tuple_form(fn, index) is None else tuple_parts(fn, index)


def tuple_element(fn: FunctionScope, node: ast.Subscript) -> _native.Expr | None:
    """The value of pos[k], of a tuple of the function; None of other subscripts."""
    if is_shape(fn, node.value) or isinstance(node.slice, ast.Slice):
        return None
    form = tuple_form(fn, node.value)
    if form is None:
        return None
    if integer_constant(node.slice, _MOST) is None:
        return chosen_element(fn, node)
    index = place_in_tuple(fn, node, len(form.parts))
    part = None if index is None else tuple_parts(fn, node.value)[index]
    if part is None:
        return fn.poison(node)
    var = element_variable(fn, part) if isinstance(part, ast.Subscript) and is_tuple_element(fn, part) else None
    return lower(fn, part) if var is None else fn.module.read(var, fn.span(node))


def chosen_element(fn: FunctionScope, node: ast.Subscript) -> _native.Expr:
    """pos[k] of a tuple of numbers, where `k` is known when the kernel runs."""
    form = tuple_form(fn, node.value)
    if form is None or not form.parts or any(part is not None for part in form.parts):
        place_in_tuple(fn, node, 0 if form is None else len(form.parts))
        return fn.poison(node)
    elements = [fn.hold(value, node) for value in tuple_values(fn, node.value)]
    span, count = fn.span(node), fn.integer(len(elements), node)
    index = fn.op("int", node, fn.op("as_index", node, lower(fn, node.slice)))
    at = partial(fn.module.read, fn.hold(index, node), span)
    outside = fn.op(
        "or", node, fn.op("<", node, at(), fn.integer(-len(elements), node)), fn.op(">=", node, at(), count)
    )
    text = "subscript {0} is out of bounds for a tuple of {1} elements"
    fail = fn.module.fail("P421", text, [at(), fn.integer(len(elements), node)], span)
    fn.out.append(fn.module.if_(outside, [fail], [], span))

    def choose(value: _native.Expr, index: int) -> _native.Expr:
        places = (fn.integer(place, node) for place in (index, index - len(elements)))
        first, last = (fn.op("==", node, at(), place) for place in places)
        own = fn.module.read(elements[index], span)
        return fn.op("select", node, fn.op("or", node, first, last), own, value)

    last = fn.module.read(elements[-1], span)
    return reduce(choose, reversed(range(len(elements) - 1)), last)


def compared_tuples(fn: FunctionScope, node: ast.Compare) -> _native.Expr | None:
    """`x.shape == y.shape`; None of other comparisons."""
    sides = (node.left, *node.comparators)
    if len(sides) != 2 or tuple_form(fn, sides[0]) is None or tuple_form(fn, sides[1]) is None:
        return None
    span = fn.span(node)
    if not isinstance(node.ops[0], ast.Eq | ast.NotEq):
        fn.error("P011", node, "tuples are compared by '==' and '!=' only", "compare their elements")
        return fn.poison(node)
    both = ast.copy_location(ast.Tuple(list(sides), ast.Load()), node)
    values, forms = tuple_values(fn, both), [tuple_form(fn, side) for side in sides]
    equal = forms[0] == forms[1]
    result = fn.module.constant(equal, span)
    for left, right in zip(values, values[len(values) // 2 :], strict=False) if equal else ():
        result = fn.module.op("and", [result, fn.module.op("==", [left, right], span)], span)
    return result if isinstance(node.ops[0], ast.Eq) else fn.module.op("not", [result], span)


# ------------------------------------------------------------ parameters


def take_tuples(fn: FunctionScope) -> None:
    """The parameters of the entry that are known to be tuples: each number or array in one is an entry of its
    own, under the name of its place."""
    for name, kind in fn.program.known_tuples.items():
        if kind.is_none:
            take_none(fn, name)
            continue
        node = fn.parameters[name]
        form = _form_of_kind(kind)
        places = _places(form)
        variables = [fn.received_variable(name, place) for place in places]
        fn.dict_params[name] = DictParam(dict(zip(places, variables, strict=True)), _name_of(node))
        fn.tuples[name] = rebuilt(form, iter(variables))
        for var, part in zip(variables, _leaves(kind), strict=True):
            if part is not None and part.ndim > 0:
                fn.ranks[var] = part.ndim


def receive_tuple(fn: FunctionScope, name: str, form: TupleForm) -> None:
    """The parameter is a tuple, which is received as its numbers, or None."""
    if form.is_none:
        take_none(fn, name)
        return
    variables = [fn.received_variable(name, what) for what in _places(form)]
    fn.received[name] = variables
    fn.tuples[name] = rebuilt(form, iter(variables))


# ------------------------------------------------------------ forms and places


def rebuilt(form: TupleForm, numbers: Iterator[_native.Var]) -> list[Element]:
    """A tuple of this form of the numbers."""
    return [next(numbers) if part is None else rebuilt(part, numbers) for part in form.parts]


def numbers_in(elements: list[Element]) -> list[_native.Var]:
    """The numbers in a tuple, from the left."""
    return [var for each in elements for var in (numbers_in(each) if isinstance(each, list) else [each])]


def form_of(elements: list[Element]) -> TupleForm:
    """The form of a tuple of these elements."""
    return TupleForm(tuple(form_of(each) if isinstance(each, list) else None for each in elements))


def _form_of_kind(kind: TupleKind) -> TupleForm:
    return TupleForm(tuple(_form_of_kind(part) if isinstance(part, TupleKind) else None for part in kind.parts))


def _form_of_value(value: tuple[object, ...]) -> TupleForm:
    return TupleForm(tuple(_form_of_value(each) if isinstance(each, tuple) else None for each in value))


def _leaves(kind: TupleKind) -> list[Kind | None]:
    nested = [_leaves(part) if isinstance(part, TupleKind) else [part] for part in kind.parts]
    return [leaf for each in nested for leaf in each]


def _name_of(node: ast.arg) -> ast.Name:
    return ast.copy_location(ast.Name(node.arg, ast.Load()), node)


def _places(form: TupleForm) -> list[str]:
    """The number in 1, 0 of a tuple is called 1_0."""
    nested = [
        [str(index)] if part is None else [f"{index}_{place}" for place in _places(part)]
        for index, part in enumerate(form.parts)
    ]
    return [place for each in nested for place in each]


def entries_of(value: tuple[object, ...]) -> dict[str, object]:
    """What is in a tuple, and in those in it, by the names of the places."""
    found: dict[str, object] = {}
    for index, each in enumerate(value):
        if isinstance(each, tuple):
            found |= {f"{index}_{place}": part for place, part in entries_of(each).items()}
        else:
            found[str(index)] = each
    return found
