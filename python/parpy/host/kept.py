"""Attributes of objects that Python assigns to. Compiled code assigns only to attributes that are numbers; Python must
replace arrays, lists, None and objects, set attributes that are not set yet, and make assignments that may fail. Python
also reads an attribute that the object computes once (`functools.cached_property`) if the computation failed before
the call."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable, MutableSequence, MutableSet
from typing import Any, NamedTuple

from ..calls.elements import attribute_of, is_series
from ..calls.hooks import has_say
from ..calls.misfits import Refusal
from ..calls.objects import Reads, attribute_name, attribute_of_class, is_object, stored_names
from ..syntax.names import is_array, is_scalar
from ..syntax.source import FunctionSource


class Kept(NamedTuple):
    """The attributes and entries of dicts that Python assigns to, the lists and sets that it changes, and the methods
    that do so."""

    attributes: frozenset[str] = frozenset()
    lists: frozenset[str] = frozenset()
    methods: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()  # parameters that are sets, or lists too long to be tuples
    computed: frozenset[str] = frozenset()  # cached properties whose computation failed
    rows: frozenset[tuple[str, int]] = frozenset()  # arrays of which parts are returned, with their dimensions
    # Whether compilation failed with an error that says that this helps (CompileError.python_may_call): Python calls
    # NumPy functions that compiled code supports only for some dimensions, and user functions that return one of
    # several arrays or a part of one.
    refused: bool = False
    # The lines of statements that compiled code has refused and that Python can run; None if compiled code has refused
    # no statement.
    refusals: tuple[Refusal, ...] | None = None
    objects: frozenset[str] = frozenset()  # those of `names` that are objects which Python uses as a whole
    texts: frozenset[str] = frozenset()  # those of `names` that are texts
    answers: tuple[Any, ...] = ()  # the answers to its questions about arguments (frontend/class_tests.py)

    def assigned_by(self, node: ast.AST) -> bool:
        """Whether the statement assigns to an attribute that Python keeps."""
        if not self.attributes or not isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            return False
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return any(name in self.attributes for each in targets for name in stored_names(each))

    def is_read(self, node: ast.AST) -> bool:
        """Whether the node reads a list that Python changes, or a cached property that Python reads."""
        return (bool(self.lists) and attribute_name(node) in self.lists) or self.is_computed(node)

    def is_computed(self, node: ast.AST) -> bool:
        return bool(self.computed) and attribute_name(node) in self.computed

    def is_called(self, call: ast.Call) -> bool:
        """Whether the call is one of a method that Python runs."""
        return bool(self.methods) and attribute_name(call.func) in self.methods


NOTHING_KEPT = Kept()
_LISTS = (list, set, frozenset, deque, bytes, bytearray)


def is_long(value: object) -> bool:
    """Whether an argument is a set, or a list that is too long to be a tuple in compiled code."""
    return is_list(value) and not is_series(value)


def is_list(value: object) -> bool:
    """Whether an argument is a list, or a set."""
    return isinstance(value, _LISTS)


def kept_for(source: FunctionSource, reads: Reads, values: tuple[Any, ...]) -> Kept:
    """The attributes and lists that Python keeps in a call with these values of the parameters."""
    if not any(is_object(value) or is_list(value) or has_objects(value) for value in values):
        return NOTHING_KEPT
    given = zip(source.function.__code__.co_varnames, values, strict=False)
    names = frozenset(name for name, value in given if is_long(value) or (is_list(value) and name in reads.grown))
    while True:  # objects of new classes may have other methods
        count = reads.count
        kept = _kept_attributes(reads, values)
        if count == reads.count:
            return kept._replace(names=names) if names else kept


def has_objects(value: Any) -> bool:
    """Whether an argument is a list or tuple with objects in it."""
    return is_series(value) and any(is_object(each) or has_objects(each) for each in value)


def _kept_attributes(reads: Reads, values: Iterable[Any]) -> Kept:
    """The kept attributes of the objects among the arguments, and of the objects in them."""
    found: set[str] = set()
    lists: set[str] = set()
    computed: set[str] = set()
    objects = False
    there: set[str] = set()  # the replaced attributes that are set
    called: set[str] = set()  # the names of attributes whose values may be called
    seen: set[int] = set()
    left = list(values)
    while left:
        value = left.pop()
        if id(value) in seen or not (is_object(value) or is_series(value)):
            continue
        seen.add(id(value))
        if is_series(value):
            left += value
            continue
        objects = True
        names = reads.of(value)
        for name in names:
            if has_say(value, name):  # Python runs the code that reads the attribute
                continue
            part = attribute_of(value, name)
            if name in reads.changed and isinstance(part, MutableSequence | MutableSet):
                lists.add(name)
            elif name in (reads.replaced if is_array(part) else reads.stored) and (
                name in reads.unlike or not is_scalar(part)
            ):
                found.add(name)
            if is_object(part) and callable(part):
                called.add(name)
            left.append(part)
        there.update(name for name in reads.replaced if _is_there(value, name))
        computed.update(reads.not_computed(value))
        kind = type(value)
        frozen = getattr(getattr(kind, "__dataclass_params__", None), "frozen", False)
        found |= {name for name in reads.stored if frozen or isinstance(attribute_of_class(kind, name), property)}
    attributes = frozenset(found | (reads.replaced - there if objects else set()))
    if not attributes and not lists and not computed:
        return NOTHING_KEPT
    methods = reads.methods_that(attributes, frozenset(lists | computed))
    methods |= called if "__call__" in methods else set()
    return Kept(attributes, frozenset(lists), methods, computed=frozenset(computed))


def _is_there(owner: Any, name: str) -> bool:
    return name in owner if isinstance(owner, dict) else hasattr(owner, name)
