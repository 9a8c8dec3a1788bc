"""Which calls of a function draw random numbers, and from which generators, read off its text: methods of its variables
and of objects outside, functions of `np.random`, and functions that are called with a generator or draw themselves.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from inspect import Parameter, signature
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from ..calls.generators import GLOBAL_STATE, is_generator
from ..syntax.constant_arguments import constant_parameters, is_constant, with_constants
from ..syntax.names import Binding, Container, Scope, attribute, callable_source
from ..syntax.source import FunctionSource

METHODS = frozenset((
    "choice", "exponential", "integers", "normal", "permutation", "rand", "randint", "randn", "random", "random_sample",
    "shuffle", "standard_exponential", "standard_normal", "uniform",
))  # fmt: skip
# Methods that NumPy's generators have besides, which a program cannot call.
OTHERS = frozenset(
    name for kind in (np.random.Generator, np.random.RandomState) for name in dir(kind) if not name.startswith("_")
) - METHODS - {*dir(np.ndarray)}  # fmt: skip
_MAKERS = (np.random.default_rng, np.random.Generator, np.random.RandomState)
_HINTS = METHODS | OTHERS | {each.__name__ for each in _MAKERS} | {"seed"}
_LIBRARIES = ("builtins", "cmath", "math", "numpy", "parpy")


class Root(NamedTuple):
    """A generator as a function knows it: a variable, or the place of an object outside."""

    name: str
    place: int = 0  # the id of the container, 0: of a variable


class Origin(NamedTuple):
    """Where a generator outside of functions is found."""

    container: Container
    key: str
    shown: str


class Drawn(NamedTuple):
    """A call that draws: of which generator, and the method."""

    root: Root
    method: str


class Draws:
    """Of the functions of one program; each question is answered once."""

    def __init__(self) -> None:
        self._names: dict[FunctionType, frozenset[str]] = {}
        self._origins: dict[FunctionType, dict[Root, Origin]] = {}
        self._may_draw: dict[FunctionType, bool] = {}
        self._spaces: dict[type, Any] = {}

    def find(self, node: ast.expr, scope: Scope) -> Binding | None:
        """What a name or a chain of attributes stands for outside the function."""
        if isinstance(node, ast.Name):
            return None if node.id in scope.locals else scope.lookup(node.id)
        owner = self.find(node.value, scope) if isinstance(node, ast.Attribute) else None
        return None if owner is None else attribute(owner.value, node.attr, self._spaces)  # type: ignore[attr-defined]

    def drawn(self, call: ast.Call, scope: Scope) -> Drawn | None:
        """What a call draws from; None of others."""
        func = call.func
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id in scope.locals:
            return Drawn(Root(func.value.id), func.attr) if func.attr in METHODS | OTHERS else None
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
        if owner is GLOBAL_STATE:
            return Origin(np.random.mtrand.__dict__, "_rand", "np.random"), method
        place = self.find(call.func.value, scope) if isinstance(call.func, ast.Attribute) else None
        if place is None or place.value is not owner or not place.container:
            return None
        return Origin(place.container, place.key, ast.unparse(call.func.value)), method  # type: ignore[attr-defined]

    def makes(self, call: ast.AST, scope: Scope) -> bool:
        """Whether it is a call that gives a new generator."""
        if not isinstance(call, ast.Call):
            return False
        binding = self.find(call.func, scope)
        return binding is not None and any(binding.value is each for each in _MAKERS)

    def seeds(self, call: ast.AST, scope: Scope) -> bool:
        """Whether it is a call of np.random.seed."""
        if not isinstance(call, ast.Call):
            return False
        binding = self.find(call.func, scope)
        return binding is not None and binding.value is np.random.seed

    def may_draw(self, function: FunctionType) -> bool:
        """False if the names in a function's code show that it does not: most functions need no closer look."""
        if function not in self._may_draw:
            self._may_draw[function] = False  # unless what it calls does
            code, scope = function.__code__, Scope(function)
            used = [scope.lookup(name) for name in (*code.co_names, *code.co_freevars)]
            self._may_draw[function] = (
                not _HINTS.isdisjoint(code.co_names)
                or any(isinstance(each, CodeType) for each in code.co_consts)
                or any(binding is not None and self._hints(binding.value) for binding in used)
            )
        return self._may_draw[function]

    def _hints(self, value: object) -> bool:
        """Whether an object outside of a function may draw, or lead to what does."""
        if isinstance(value, ModuleType):
            return value.__name__.partition(".")[0] not in _LIBRARIES
        if is_generator(getattr(value, "__self__", None)):
            return True
        source = callable_source(value)
        if source is not None:
            return self.may_draw(source.function)
        kind = value if isinstance(value, type) else type(value)
        return kind.__module__.partition(".")[0] not in _LIBRARIES

    def names(self, source: FunctionSource) -> frozenset[str]:
        """The variables of a function that are generators."""
        function = source.function
        if not self.may_draw(function):
            return frozenset()
        if function not in self._names:
            self._names[function] = frozenset()
            scope, found = Scope(function), set[str]()
            for part in ast.walk(source.tree()):
                if isinstance(part, ast.Assign) and self.makes(part.value, scope):
                    found |= {target.id for target in part.targets if isinstance(target, ast.Name)}
                elif isinstance(part, ast.Call):
                    found |= {root.name for root in self._roots(part, scope) if not root.place}
            self._names[function] = frozenset(found)
        return self._names[function]

    def origins(self, source: FunctionSource) -> dict[Root, Origin]:
        """The generators outside of functions that a function draws from, itself or in those that it calls."""
        function = source.function
        if not self.may_draw(function):
            return {}
        if function not in self._origins:
            found = self._origins[function] = {}
            scope = Scope(function)
            for part in ast.walk(source.tree()):
                if not isinstance(part, ast.Call):
                    continue
                own = self.origin(part, scope)
                if own is not None:
                    found[Root(own[0].key, id(own[0].container))] = own[0]
                called = self._called(part, scope)
                if called is not None:
                    found.update(self.origins(called[0]))
        return self._origins[function]

    def roots(self, nodes: Iterable[ast.AST], scope: Scope) -> list[Root]:
        """The generators that statements draw from or pass on, in the order of the first draws."""
        found: dict[Root, None] = {}
        for node in nodes:
            for part in ast.walk(node):
                if isinstance(part, ast.Call):
                    found.update(dict.fromkeys(self._roots(part, scope)))
        return list(found)

    def _roots(self, call: ast.Call, scope: Scope) -> Iterator[Root]:
        own = self.drawn(call, scope)
        if own is not None:
            yield own.root
        called = self._called(call, scope)
        if called is not None:
            yield from self.origins(called[0])
            for name, node in called[1].items():
                if isinstance(node, ast.Name) and node.id in scope.locals and name in self.names(called[0]):
                    yield Root(node.id)

    def _called(self, call: ast.Call, scope: Scope) -> tuple[FunctionSource, dict[str | None, ast.expr]] | None:
        """The function that is called, for those of its arguments that are constants, and the arguments."""
        binding = self.find(call.func, scope)
        source = None if binding is None else callable_source(binding.value)
        if source is None or source.unparsed:
            return None
        names = source.function.__code__.co_varnames
        given: dict[str | None, ast.expr] = dict(zip(names, call.args, strict=False))
        given |= {keyword.arg: keyword.value for keyword in call.keywords}
        wanted = constant_parameters(source)
        if not wanted:
            return source, given
        defaults = signature(source.function, follow_wrapped=False).parameters
        constants: dict[str, Any] = {}
        for name in wanted:
            found = self._constant(given[name], scope) if name in given else defaults[name].default
            if found is not Parameter.empty and is_constant(found):
                constants[name] = found
        return with_constants(source, constants, set(wanted) - constants.keys()), given

    def _constant(self, node: ast.expr, scope: Scope) -> object:
        """What an argument is, where no number and no array is."""
        if isinstance(node, ast.Constant):
            return node.value
        binding = self.find(node, scope)
        return Parameter.empty if binding is None else binding.value
