"""The module under construction: every function that one entry function reaches."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import TYPE_CHECKING, Any

from .. import _native
from ..calls.objects import functions_of
from ..syntax.fields import OF_VALUES
from ..syntax.names import Guard
from ..syntax.source import FunctionSource
from ..vocabulary.device import ForeignFunction
from .draws import Draws
from .forms import Composed, Kind, Span
from .initializers import attributes_made_by
from .uses import Uses

if TYPE_CHECKING:
    from .expressions.objects import Attributes, Members
    from .lowering import Language
    from .scope import FunctionScope


class Program:
    """The surface module of one entry function: every function that it reaches."""

    def __init__(self, language: Language) -> None:
        self.language = language
        self.module = _native.Module()
        self.diagnostics = _native.Diagnostics()
        self.guards: dict[tuple[int, str], Guard] = {}
        self.class_spaces: dict[type, Mapping[str, Any]] = {}
        self.items: dict[int, dict[str, Any]] = {}  # the elements of tuples, by the tuple's id
        self.record_places: dict[tuple[int, str], Mapping[str, Any]] = {}  # fields of global records, by their place
        # The called functions, each made once for every combination of forms of its arguments.
        self.helpers: dict[tuple[object, ...], FunctionScope] = {}
        self.uses = Uses()
        self.draws = Draws()
        self.owners: dict[FunctionType, FunctionScope] = {}  # the enclosing function of each nested function
        self.pending: list[FunctionScope] = []
        # Values of functions that have only a lowering of calls. They are made when the numbers of arguments of all
        # calls of values are known (function_values.py).
        self.late: list[tuple[FunctionScope, _native.Expr, Any, Any]] = []
        self.applied: set[int] = set()
        self.calling: dict[tuple[int, int], FunctionSource] = {}
        # The function for const.array_like of a global array, and its results by the array.
        self.make_constant: Callable[[Any], Any] | None = None
        self.constants: dict[str, Any] = {}
        self.constant_records: dict[int, dict[str, Any]] = {}
        # The known kinds of the kernel's parameters (`known`); the parameters whose kinds parsing needs (`asked`);
        # whether it needs all kinds (`asks_all`), and whether all are known and passed on to functions (`knows_all`).
        self.known: dict[str, Kind] = {}
        self.known_kinds: dict[str, Composed] = {}  # the kinds of parameters that are neither numbers nor arrays
        # The objects and named tuples among them, and the attributes that the program reads so far.
        self.objects: list[Attributes | Members] = []
        self.attributes: set[str] = set()
        # The classes that the program compares with those of objects, by the name of the attribute that only their
        # instances have; the methods of classes in the program that have the names of methods of arrays.
        self.asked_classes: dict[str, tuple[type, ...]] = {}
        self.like_arrays: set[str] = set()
        self.data: set[str] = set()  # the attributes that new objects of the program's classes have
        self.of_bases: dict[str, tuple[type, str]] = {}  # the methods that super() finds after a class
        self.named_tuples: dict[type, int] = {}  # the numbers of the classes of named tuples
        self.asked: set[str] = set()
        self.asks_all = False
        self.knows_all = False
        self.link: tuple[str, ...] = ()  # the files for foreign functions that name no files themselves
        # External C++ functions by their interface, and the sources that include their headers.
        self.externals: dict[tuple[Any, ...], _native.Function] = {}
        self.includes: dict[str, int] = {}
        self.foreign: dict[ForeignFunction, _native.Function] = {}
        # By path, the module's source for the text of a file, and the text; (0, None) for machine code.
        self.linked: dict[str, tuple[int, str | None]] = {}
        self._classes: set[type] = set()
        self._function_names: set[str] = set()
        self._sources: dict[FunctionSource, int] = {}
        self.reported: set[tuple[str, Span, str]] = set()

    def add_object(self, value: Attributes | Members, of_class: type) -> None:
        """Notes an object of the program, or the members of a named tuple, and its class."""
        self.objects.append(value)
        self.note_class(of_class)

    def note_class(self, of_class: type) -> None:
        """Notes the class of objects that the program has, or may make."""
        if of_class not in self._classes:
            self._classes.add(of_class)
            self.data.update(attributes_made_by(of_class))
            names = {name for kind in of_class.__mro__ for name in vars(kind) if name in OF_VALUES}
            self.like_arrays |= {
                name for name in names if not name.startswith("__") and any(functions_of(of_class, name))
            }

    def source_index(self, source: FunctionSource) -> int:
        """The number of the function's text among the sources of the module."""
        if source not in self._sources:
            self._sources[source] = self.module.add_source(source.name, source.text, source.first_line)
        return self._sources[source]

    def function_name(self, wanted: str) -> str:
        """`wanted`, made unique among the functions of the module."""
        first = name = identifier(wanted)
        count = 1
        while name in self._function_names:
            count += 1
            name = f"{first}_{count}"
        self._function_names.add(name)
        return name


def identifier(shown: str) -> str:
    """`config.N` or `d['k']` as a variable name: config_N, d_k."""
    if shown.isidentifier():
        return shown
    return re.sub(r"\W+", "_", shown).strip("_") or "value"
