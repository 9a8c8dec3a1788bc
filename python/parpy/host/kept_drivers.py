"""The drivers of functions in which Python assigns to attributes (kept.py)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..calls.elements import WHOLE
from ..calls.errors import CompileError
from ..calls.misfits import is_refused_by_python, refusals
from ..calls.objects import is_object
from ..calls.options import CompileOptions
from ..frontend.class_tests import ClassTests
from ..syntax.lazy import lazy
from ..syntax.names import is_array
from ..syntax.patterns import node_parameters
from ..syntax.source import FunctionSource
from ..syntax.walks import walk
from .alike import Alike, forms_of
from .kept import NOTHING_KEPT, Kept, has_objects, is_list, kept_for
from .python_parts import is_driven
from .regions import RegionSource
from .returns import returned_parts
from .structures import Structures

if TYPE_CHECKING:
    from .driver import Driver

_MOST_REFUSED = 256


class KeptDrivers:
    """Runs the calls of a function by a driver for the attributes that Python keeps in the call, or by the structures
    of the function as a whole if there is no driver."""

    def __init__(
        self,
        source: FunctionSource,
        structures: Structures,
        driver_of: Callable[[FunctionSource, Kept, list[FunctionSource]], Driver | None],
        structures_of: Callable[[FunctionSource], Structures],
    ) -> None:
        """`driver_of` makes the driver for a source, its kept attributes and the methods that Python calls."""
        self.wanted = False
        self._refused: set[tuple[Any, ...]] = set()  # the forms of the arguments of calls with Kept.refused
        self.keeps_objects = False  # whether Python runs statements that use an object among the arguments as a whole
        self.guarded = False  # whether the caller checks the guards of the driver without kept attributes
        self._source, self._structures, self._driver_of = source, structures, driver_of
        self._structures_of = structures_of
        self._drivers: dict[Kept, Driver | Structures] = {}
        self._alike: Alike[Kept] = Alike(texts=True)
        self._apart: dict[frozenset[str], frozenset[str]] = {}  # by the parameters that are texts, those taken apart

    def forget(self) -> None:
        """Drops all drivers, because an object that they depend on has changed."""
        self._drivers.clear()
        self._structures.forget()

    def refuse(self, values: Iterable[Any]) -> None:
        """Sets Kept.refused for calls with arguments of these types and dimensions."""
        if len(self._refused) == _MOST_REFUSED:
            self._refused.clear()
        self._refused.add(forms_of(values))

    def may_divide(self, error: CompileError, values: Iterable[Any], opts: CompileOptions | None) -> bool:
        """Whether Python may run the statements of a call that the error refuses, because the caller maps no loops."""
        source = self._source
        if _maps(opts) or source.pragmas or source.part or isinstance(source, RegionSource):
            return False
        if not error.facts or not error.says_only("statement"):
            return False
        return not error.says("argument") or (error.says("elements") and any(map(_has_fields, values)))

    def divide(self, error: CompileError, values: Iterable[Any]) -> None:
        """Sets Kept.refused and Kept.refusals, by the error, for calls with arguments of these types and dimensions."""
        known = self._source.refusals
        if len(known) >= _MOST_REFUSED:
            known.clear()
        kept = known[forms_of(values)] = error.again()
        kept.lines = refusals(self._source, error)

    def divided(self, error: CompileError, values: tuple[Any, ...], opts: CompileOptions | None, debug: bool) -> Any:
        """The result of a call that ended with the error before anything has run, by a driver. From now on calls with
        arguments of these types and dimensions are made in the same way. If Python refuses the same statement,
        the arrays among the arguments have their elements of before the call."""
        self.divide(error, values)
        try:
            driver = self.of(values)
        except CompileError:
            driver = self._structures
        if driver is self._structures:
            raise error  # Python cannot run the statement either
        before = [(each, each.copy()) for each in values if type(each) is np.ndarray and each.flags.writeable]
        try:
            return driver(values, opts, debug)
        except Exception as failed:
            again = failed if isinstance(failed, CompileError) and not failed.says("run") else None
            if again is None and not is_refused_by_python(self._source, error, failed):
                raise
            self._source.refusals.pop(forms_of(values), None)  # another thread may have removed it
            for array, elements in before:
                array[...] = elements
            if again is None:
                raise error from failed
            if again.says_only("statement") or isinstance(again, UnboundLocalError):  # a consequence of the first error
                raise error from None
            raise

    def is_refused(self, values: Iterable[Any]) -> bool:
        known = self._source.refusals
        forms = forms_of(values) if self._refused or known else ()
        return forms in self._refused or forms in known

    def begin_with(self, usual: Driver) -> None:
        """Drops all drivers but this new one, for calls in which Python keeps no attributes."""
        self._drivers = {NOTHING_KEPT: usual}

    def kept(self, values: Iterable[Any]) -> Kept:
        values = tuple(values)
        kept = NOTHING_KEPT
        if not WHOLE.issuperset(map(type, values)):
            reads = self._structures.reads
            kept = self._alike.find(reads, values, lambda: self._kept_for(values))
        known = self._source.refusals
        forms = forms_of(values) if self._refused or known else ()
        if forms in self._refused or forms in known:
            objects = self._objects(values) if self.keeps_objects else frozenset()
            names = kept.names | objects
            error = known.get(forms)
            lines = None if error is None else error.lines
            kept = kept._replace(refused=True, refusals=lines, names=names, objects=objects)
        if str in map(type, values):
            names = kept.names | self._texts_apart(values)
            kept = kept._replace(names=names, texts=names & self._texts(values))
        if self.tests.texts:
            kept = kept._replace(answers=self.tests.answers(values))
        return kept._replace(rows=self._rows(values)) if self._returned else kept

    def _kept_for(self, values: tuple[Any, ...]) -> Kept:
        reads = self._structures.reads
        kept = kept_for(self._source, reads, values)
        driven = frozenset(name for name in reads.method_names() if any(map(is_driven, reads.functions([name]))))
        return kept._replace(methods=kept.methods | driven) if driven else kept

    @lazy
    def tests(self) -> ClassTests:
        return ClassTests(self._source)

    def _objects(self, values: tuple[Any, ...]) -> frozenset[str]:
        given = zip(node_parameters(self._tree()), values, strict=False)
        return frozenset(
            name for name, value in given if is_object(value) or has_objects(value) or isinstance(value, str)
        )

    def takes_texts_apart(self, values: Iterable[Any]) -> bool:
        """Whether the function reads the characters of a text among the arguments, or calls a method of it."""
        return bool(self._texts_apart(values))

    def _texts(self, values: Iterable[Any]) -> frozenset[str]:
        given = zip(node_parameters(self._tree()), values, strict=False)
        return frozenset(name for name, value in given if type(value) is str)

    def _texts_apart(self, values: Iterable[Any]) -> frozenset[str]:
        """The parameters that are texts of which the function reads characters, or calls a method."""
        names = self._texts(values)
        if names not in self._apart:
            nodes = list(walk(self._tree())) if names else []
            left = names - {name for part in nodes for name in _not_of_text(part)}
            self._apart[names] = frozenset(name for name in left if any(_takes_apart(part, {name}) for part in nodes))
        return self._apart[names]

    def _tree(self) -> Any:
        return self._source.tree()

    @lazy
    def _returned(self) -> dict[str, int]:
        """The parameters of which elements may be returned, with the number of subscripts of these."""
        node = self._source.tree()
        return returned_parts(node) if isinstance(node, ast.FunctionDef) else {}

    def _rows(self, values: tuple[Any, ...]) -> frozenset[tuple[str, int]]:
        given = zip(self._source.function.__code__.co_varnames, values, strict=False)
        arrays = ((name, getattr(each, "ndim", 0)) for name, each in given if name in self._returned and is_array(each))
        return frozenset((name, count) for name, count in arrays if count > self._returned[name])

    def of(self, values: Iterable[Any]) -> Driver | Structures:
        kept = self.kept(values)
        driver = self._drivers.get(kept)
        if driver is None or not all(guard.holds() for guard in driver.guards):
            methods = self._structures.reads.functions(kept.methods) if kept.methods else []
            source, structures = self._source, self._structures
            if kept.answers:
                source = self.tests.answered(kept.answers)
                structures = self._structures_of(source)
            driver = self._drivers[kept] = self._driver_of(source, kept, methods) or structures
        return driver

    def __call__(self, values: tuple[Any, ...], opts: CompileOptions | None, debug: bool) -> Any:
        key = (
            None
            if self._returned or self._refused or self._source.refusals or self.tests.texts
            else self._structures.key(values)
        )
        if key is None:
            return self._run(values, opts, debug)
        result = self._structures.repeat(key, values, opts, debug)
        if result is not NotImplemented:
            return result
        kept = self.kept(values) if self._structures.is_new(key) else None  # before the call changes attributes
        result = self._run(values, opts, debug)
        if kept is not None:
            self._structures.remember(key, values, self._drivers.get(kept) is self._structures)
        return result

    def _run(self, values: tuple[Any, ...], opts: CompileOptions | None, debug: bool) -> Any:
        if self._source.refusals and _maps(opts) and (error := self._source.refusals.get(forms_of(values))) is not None:
            raise error.again()
        usual = self._drivers.get(NOTHING_KEPT)
        if usual is self._structures and not self.is_refused(values):
            # The function is compiled as a whole, so nothing has run if that fails.
            reads = self._structures.reads
            if not reads.assigns and not self._returned and not any(map(is_list, values)):
                try:
                    return usual(values, opts, debug)
                except CompileError as error:
                    if self._source.undivided:
                        raise
                    if error.python_may_call:
                        self.refuse(values)
                    elif not reads.assigns:  # still no class whose methods assign to attributes
                        if not self.may_divide(error, values, opts):
                            raise
                        return self.divided(error, values, opts, debug)
        elif usual is not None and self.guarded and not self._returned and WHOLE.issuperset(map(type, values)):
            return usual(values, opts, debug)
        try:
            driver = self.of(values)
        except CompileError as error:
            if not self.may_divide(error, values, opts):
                raise
            return self.divided(error, values, opts, debug)
        if driver is not self._structures:
            return driver(values, opts, debug)
        try:  # nothing has run if this fails
            return driver(values, opts, debug)
        except CompileError as error:
            if error.python_may_call and not self._source.undivided and not self.is_refused(values):
                self.refuse(values)
                return self._run(values, opts, debug)
            if not self.may_divide(error, values, opts):
                raise
            return self.divided(error, values, opts, debug)


def _maps(opts: CompileOptions | None) -> bool:
    """Whether the caller maps the loops, or asks for none to be mapped."""
    return opts is not None and not opts.automatic


def _has_fields(value: Any) -> bool:
    """Whether the value is an array of records."""
    return getattr(getattr(value, "dtype", None), "names", None) is not None


_READERS = frozenset(("len", "enumerate", "zip", "reversed", "sorted", "list", "tuple", "set", "ord"))


def _not_of_text(part: ast.AST) -> list[str]:
    """The name of which the node stores an element or reads an entry by a key."""
    match part:
        case ast.Subscript(value=ast.Name(id=name), slice=key, ctx=ctx):
            is_key = isinstance(key, ast.Constant) and isinstance(key.value, str)
            return [name] if is_key or not isinstance(ctx, ast.Load) else []
    return []


def _takes_apart(part: ast.AST, names: Container[str]) -> bool:
    """Whether the node reads characters, or calls a method, of a text with one of these names."""
    match part:
        case ast.For(iter=ast.Name(id=name)) | ast.comprehension(iter=ast.Name(id=name)):
            return name in names
        case ast.Subscript(value=ast.Name(id=name)) | ast.Attribute(value=ast.Name(id=name)):
            return name in names
        case ast.Call(func=ast.Name(id=reader), args=args):
            return reader in _READERS and any(isinstance(each, ast.Name) and each.id in names for each in args)
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[ast.Name(id=name)]):
            return name in names
    return False
