"""Finds the calls in the text of a function that draw random numbers, and their generators: methods of variables and of
objects outside, functions of `np.random`, and called functions that get a generator or draw themselves.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from inspect import Parameter, signature
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from ..calls.objects import is_object
from ..syntax.fields import is_of_value
from ..syntax.names import NOTHING, OBJECT, Binding, Container, Scope, attribute, callable_source
from ..syntax.source import FunctionSource
from ..syntax.stored_views import views_of
from ..syntax.walks import walk
from ..vocabulary.generators import OF_GENERATORS, is_generator, is_global_state, is_of_random

METHODS = frozenset((
    "choice", "exponential", "integers", "normal", "permutation", "rand", "randint", "randn", "random", "random_sample",
    "shuffle", "standard_exponential", "standard_normal", "uniform",
))  # fmt: skip
# The other methods of NumPy's generators, which a program cannot call.
OTHERS = OF_GENERATORS - METHODS - {*dir(np.ndarray)}
_MAKERS = ("default_rng", "Generator", "RandomState")
_HINTS = METHODS | OTHERS | {*_MAKERS, "seed"}
_LIBRARIES = ("builtins", "cmath", "math", "numpy", "parpy")


class Root(NamedTuple):
    """A generator in a function: a variable, or the place of an object outside of the function."""

    name: str
    place: int = 0  # the id of the container; 0 for a variable


class Origin(NamedTuple):
    """The place of a generator outside of functions."""

    container: Container
    key: str
    shown: str


class Drawn(NamedTuple):
    """A call that draws: its generator and its method."""

    root: Root
    method: str


class Called(NamedTuple):
    """A call of a compiled function: its arguments by parameter, and the known values of arguments on which the draws
    of the function depend."""

    source: FunctionSource
    given: dict[str, ast.expr]
    known: dict[str, Any]


class Draws:
    """The draws of the functions of one program. Answers are cached."""

    def __init__(self) -> None:
        self._names: dict[object, frozenset[str]] = {}
        self._origins: dict[object, dict[Root, Origin]] = {}
        self._may_draw: dict[FunctionType, bool] = {}
        self._spaces: dict[type, Any] = {}

    def find(self, node: ast.expr, scope: Scope) -> Binding | None:
        """The object outside the function that a name or a chain of attributes refers to."""
        if isinstance(node, ast.Name):
            return scope.known_binding(node.id) if node.id in scope.locals else scope.lookup(node.id)
        owner = self.find(node.value, scope) if isinstance(node, ast.Attribute) else None
        return None if owner is None else attribute(owner.value, node.attr, self._spaces)  # type: ignore[attr-defined]

    def drawn(self, call: ast.Call, scope: Scope) -> Drawn | None:
        """The generator and the method of a call that draws; None for other calls."""
        func = call.func
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id in scope.locals:
            draws = func.attr in METHODS | OTHERS and is_of_value(func) and scope.known.get(func.value.id) is not OBJECT
            return Drawn(Root(func.value.id), func.attr) if draws else None
        found = self.origin(call, scope)
        if found is None:
            return None
        return Drawn(Root(found[0].key, id(found[0].container)), found[1])

    def origin(self, call: ast.Call, scope: Scope) -> tuple[Origin, str] | None:
        """The generator outside of functions that a call draws from, and the method."""
        binding = self.find(call.func, scope)
        owner = None if binding is None else getattr(binding.value, "__self__", None)
        if binding is None or not is_generator(owner) or binding.value.__name__ not in METHODS | OTHERS:
            return None
        method = str(binding.value.__name__)
        if is_global_state(owner):
            return Origin(np.random.mtrand.__dict__, "_rand", "np.random"), method
        place = self.find(call.func.value, scope) if isinstance(call.func, ast.Attribute) else None
        if place is None or place.value is not owner or not place.container:
            return None
        return Origin(place.container, place.key, ast.unparse(call.func.value)), method  # type: ignore[attr-defined]

    def makes(self, call: ast.AST, scope: Scope) -> bool:
        """Whether the node is a call that returns a new generator."""
        if not isinstance(call, ast.Call):
            return False
        binding = self.find(call.func, scope)
        return binding is not None and is_of_random(binding.value, *_MAKERS)

    def seeds(self, call: ast.AST, scope: Scope) -> bool:
        """Whether the node is a call of np.random.seed."""
        if not isinstance(call, ast.Call):
            return False
        binding = self.find(call.func, scope)
        return binding is not None and is_of_random(binding.value, "seed")

    def may_draw(self, function: FunctionType) -> bool:
        """False if the names in a function's code show that it does not draw. This settles most functions quickly."""
        if function not in self._may_draw:
            self._may_draw[function] = False  # the answer for recursive calls
            code, scope = function.__code__, Scope(function)
            used = [scope.lookup(name) for name in (*code.co_names, *code.co_freevars)]
            self._may_draw[function] = (
                not _HINTS.isdisjoint(code.co_names)
                or any(isinstance(each, CodeType) for each in code.co_consts)
                or any(binding is not None and self._hints(binding.value) for binding in used)
            )
        return self._may_draw[function]

    def _hints(self, value: object) -> bool:
        """Whether an object outside of a function may draw, or may have an attribute that does."""
        if isinstance(value, ModuleType):
            return value.__name__.partition(".")[0] not in _LIBRARIES
        if is_generator(getattr(value, "__self__", None)):
            return True
        source = callable_source(value)
        if source is not None:
            return self.may_draw(source.function)
        kind = value if isinstance(value, type) else type(value)
        return kind.__module__.partition(".")[0] not in _LIBRARIES

    def names(self, source: FunctionSource, known: Mapping[str, Any] = NOTHING) -> frozenset[str]:
        """The variables of a function that hold generators."""
        function, key = source.function, _key(source, known)
        if not known and not self.may_draw(function):
            return frozenset()
        if key not in self._names:
            self._names[key] = frozenset()
            scope, found = Scope(function), set[str]()
            scope.known = known
            for part in walk(source.tree()):
                if isinstance(part, ast.Assign) and self.makes(part.value, scope):
                    found |= {target.id for target in part.targets if isinstance(target, ast.Name)}
                elif isinstance(part, ast.Call):
                    found |= {root.name for root in self._roots(part, scope) if not root.place}
            self._names[key] = frozenset(found)
        return self._names[key]

    def around(self, source: FunctionSource) -> list[str]:
        """The generators among the outer variables that a nested function, or a function that it calls, reads."""
        code = source.function.__code__
        return sorted(self.names(source) - {*code.co_varnames, *code.co_cellvars, *views_of(source.function)})

    def origins(self, source: FunctionSource, known: Mapping[str, Any] = NOTHING) -> dict[Root, Origin]:
        """The generators outside of functions that a function or its callees draw from."""
        function, key = source.function, _key(source, known)
        if not known and not self.may_draw(function):
            return {}
        if key not in self._origins:
            found = self._origins[key] = {}
            scope = Scope(function)
            scope.known = known
            for part in walk(source.tree()):
                if not isinstance(part, ast.Call):
                    continue
                own = self.origin(part, scope)
                if own is not None:
                    found[Root(own[0].key, id(own[0].container))] = own[0]
                called = self._called(part, scope)
                if called is not None:
                    found.update(self.origins(called.source, called.known))
        return self._origins[key]

    def roots(self, nodes: Iterable[ast.AST], scope: Scope) -> list[Root]:
        """The generators that statements draw from or pass on, in the order of the first draws."""
        found: dict[Root, None] = {}
        for node in nodes:
            for part in walk(node):
                if isinstance(part, ast.Call):
                    found.update(dict.fromkeys(self._roots(part, scope)))
        return list(found)

    def _roots(self, call: ast.Call, scope: Scope) -> Iterator[Root]:
        own = self.drawn(call, scope)
        if own is not None:
            yield own.root
        called = self._called(call, scope)
        if called is not None:
            yield from self.origins(called.source, called.known)
            names = self.names(called.source, called.known)
            yield from map(Root, self.around(called.source))
            for name, node in called.given.items():
                if isinstance(node, ast.Name) and node.id in scope.locals and name in names:
                    yield Root(node.id)

    def _called(self, call: ast.Call, scope: Scope) -> Called | None:
        """The called function, the arguments, and the known values among them; None for other calls."""
        binding = self.find(call.func, scope)
        source = None if binding is None else callable_source(binding.value)
        if source is None or source.unparsed:
            return None
        names = source.function.__code__.co_varnames
        given = dict(zip(names, call.args, strict=False))
        given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
        return Called(source, given, self.known(source, given, scope))

    def known(self, source: FunctionSource, given: Mapping[str, ast.expr], scope: Scope) -> dict[str, Any]:
        """The arguments on which the draws depend: functions that draw, and None in place of generators."""
        objects = {name: self._object(node, scope) for name, node in given.items()}
        known = {name: value for name, value in objects.items() if self.may_be_drawing(value)}
        known |= {
            name: OBJECT
            for name, node in given.items()
            if is_object(objects[name]) or (isinstance(node, ast.Name) and scope.known.get(node.id) is OBJECT)
        }
        names = self.names(source, known)
        parameters = signature(source.function, follow_wrapped=False).parameters if names else {}
        for name in names:
            if name in parameters and objects.get(name, parameters[name].default) is None:
                known[name] = None
        return known

    def _object(self, node: ast.expr, scope: Scope) -> object:
        """The value of an argument that is None or an object outside of functions; otherwise Parameter.empty."""
        if isinstance(node, ast.Constant):
            return node.value
        binding = self.find(node, scope)
        return Parameter.empty if binding is None else binding.value

    def may_be_drawing(self, value: object) -> bool:
        """Whether the value is a function that may draw."""
        source = callable_source(value)
        return source is not None and self.may_draw(source.function)


def _key(source: FunctionSource, known: Mapping[str, Any]) -> object:
    return source.function, *((name, id(value)) for name, value in sorted(known.items()))
