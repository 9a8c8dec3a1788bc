"""Arguments that are neither numbers nor arrays: tuples, objects, dicts, None, functions, types and texts. A program is
specialised for their structure and receives only the numbers and arrays in them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from types import FunctionType, MethodType
from typing import Any, TypeGuard

import numpy as np

from ..frontend.expressions.function_values import FUNCTIONS
from ..frontend.forms import CELL, Cell, Composed, Kind, RecordKind, Single, TupleKind
from ..syntax.names import cell_of, is_array, is_choice, is_scalar, jit_source
from ..vocabulary.operators import scalar_name
from .errors import CompileError
from .hooks import ByPython, check_hooks, hook_of_tuples
from .objects import Reads, is_object

_LONGEST_LIST = 32
_EXACT = 2**53  # a float64 represents all integers up to this magnitude
WHOLE = frozenset((np.ndarray, np.float64, np.float32, np.int64, int, float, complex, bool))


def comes_apart(argument: object) -> bool:
    """Whether a program receives parts of an argument instead of the argument: the elements of a tuple, the numbers and
    arrays in the closure of a function, and nothing of None, types and texts."""
    kind = type(argument)
    if kind in WHOLE:
        return False
    return argument is None or is_series(argument) or is_single(argument)


def has_other_keys(argument: object) -> bool:
    """Whether the argument is a dict without texts as keys, of which a program receives no entries."""
    return isinstance(argument, dict) and not any(isinstance(each, str) for each in argument)


def is_series(argument: object) -> TypeGuard[Sequence[Any]]:
    """Whether the argument is a tuple, or a short list, which compiled code treats as a tuple."""
    return isinstance(argument, tuple) or (type(argument) is list and len(argument) <= _LONGEST_LIST)


def is_single(argument: object) -> bool:
    """Whether an argument is a function, a type, a text or an enum member that is no number."""
    if isinstance(argument, (str, *FUNCTIONS)) or is_choice(argument):
        return True
    return scalar_name(argument) is not None or jit_source(argument) is not None


_CONVERSIONS = ("__array__", "__array_ufunc__", "__float__", "__int__", "__index__")
_OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor")
_METHODS = (*_CONVERSIONS, *(f"__{side}{name}__" for name in _OPERATORS for side in ("", "r")))


def has_operators(value: object) -> bool:
    """Whether the argument is an object that Python can compute with."""
    if not is_object(value) or isinstance(value, dict):
        return False
    return any(not vars(base).keys().isdisjoint(_METHODS) for base in type(value).__mro__)


def is_misused(values: Iterable[object], error: CompileError) -> bool:
    """Whether the errors of a program may be due to arguments that are None, texts or lists."""
    apart = [value for value in values if comes_apart(value)]
    if not apart:
        return False
    if error.says_only("stored", "as number") and any(type(value) is list for value in apart):
        return True
    if all(value is None for value in apart):
        return True
    return all(isinstance(value, str) for value in apart if value is not None) and error.says_only("text", "as number")


def composed_kind(
    argument: Any,
    kind_of: Callable[[Any], Kind | None] = lambda _: None,
    reads: Reads | None = None,
    around: tuple[object, ...] = (),
) -> Composed:
    """The kind of an argument that comes apart. `kind_of` gives the kinds of numbers and arrays in it. `reads` has the
    attributes that a program reads of objects and dicts. `around` are the objects that contain the argument. Raises
    ByPython if Python must run the program."""
    if argument is None:
        return TupleKind((), is_none=True)

    inside = (*around, argument)

    def part(value: Any) -> Kind | Composed | None:
        within = any(value is each for each in inside)
        apart = not within and (comes_apart(value) or (reads is not None and is_object(value)))
        return composed_kind(value, kind_of, reads, inside) if apart else kind_of(value)

    if is_series(argument):
        of_class = type(argument) if hasattr(argument, "_fields") else None
        if of_class is not None and reads is not None and (hook := hook_of_tuples(of_class)) is not None:
            raise ByPython(f"the class '{of_class.__name__}' has its own {hook}")
        return TupleKind(tuple(map(part, argument)), of_class=of_class)
    if reads is None or not is_object(argument):
        return Single(argument, identity(argument), tuple(_cells(argument)))
    found: dict[str, Kind | Cell | Composed | None] = {}
    names = reads.of(argument)
    check_hooks(argument, names, reads)
    for name in names:
        value = attribute_of(argument, name)
        if name in reads.computed and type(value) is bool:  # True + True is 2
            raise ByPython(f"it computes with '{name}', which is a bool, and assigns to it")
        if name in reads.stored and is_scalar(value):
            found[name] = CELL
        elif type(value) in WHOLE:
            found[name] = kind_of(value)
        elif _is_usable(value, inside):
            found[name] = part(value)
    is_whole = isinstance(argument, dict) and reads.all_entries and len(found) == len(argument)
    return RecordKind(type(argument), tuple(found), tuple(found.values()), is_whole)


def attribute_of(owner: Any, name: str) -> Any:
    """The attribute of an object, or the entry of a dict; None where it is not set."""
    return owner[name] if isinstance(owner, dict) else getattr(owner, name, None)


def _is_usable(value: object, around: tuple[object, ...]) -> bool:
    """Whether compiled code may use an attribute with this value in an object that these objects contain."""
    if any(value is each for each in around) or isinstance(value, MethodType):
        return False
    return is_scalar(value) or is_array(value) or comes_apart(value) or is_object(value)


def _cells(value: object) -> dict[str, Any]:
    """The numbers and arrays in the closure of a function, by name."""
    if not isinstance(value, FunctionType) or value.__closure__ is None:
        return {}
    found = {}
    for name in value.__code__.co_freevars:
        try:
            read = cell_of(value, name).cell_contents
        except ValueError:  # the variable has no value yet
            continue
        if is_scalar(read) or is_array(read):
            found[name] = read
    return found


def identity(value: object) -> object:
    """A key that is equal for arguments with the same meaning, such as closures of one function that calls create."""
    if isinstance(value, FunctionType):
        own = _cells(value)
        others = (cell_of(value, name) for name in value.__code__.co_freevars if name not in own)
        named = (value.__kwdefaults__ or {}).items()
        defaults = (*map(id, value.__defaults__ or ()), *((name, id(each)) for name, each in named))
        return value.__code__, id(value.__globals__), tuple(own), tuple(map(id, others)), defaults
    return value if isinstance(value, str) else id(value)


class Cells:
    """The numbers in objects and dicts that a call may assign to, each in an array of one element. `floats` has the
    names of the integers that the call changes to floats."""

    def __init__(self, floats: Collection[str] = ()) -> None:
        self.floats = frozenset(floats)
        self._found: dict[tuple[int, str], tuple[Any, np.ndarray, Any]] = {}

    def of(self, owner: Any, name: str, value: Any) -> np.ndarray:
        """The array of one element for an attribute or an entry that has this value when the call begins."""
        key = id(space_of(owner)), name
        found = self._found.get(key)
        if found is None:
            becomes_float = name in self.floats and type(value) is int and abs(value) <= _EXACT
            found = self._found[key] = owner, np.array([float(value) if becomes_float else value]), value
        return found[1]

    def is_one_integer(self, name: str) -> bool:
        """Whether exactly one of these numbers is a Python integer with this name, so that the name is unambiguous."""
        return sum(name == each and type(value) is int for (_, each), (*_, value) in self._found.items()) == 1

    def meet(self, places: Iterable[tuple[Any, Any]]) -> bool:
        """Whether one of these places, each a container and a key, holds one of the numbers."""
        return bool(self._found) and any((id(container), key) in self._found for container, key in places)

    def write_back(self) -> None:
        """Assigns the changed numbers to the objects, as Python numbers unless they were NumPy's. The first exception
        of an assignment is raised after all assignments."""
        failed: BaseException | None = None
        for (_, name), (owner, array, value) in self._found.items():
            new = array[0] if isinstance(value, np.generic) else array.item()
            if new == value and (new or array.tobytes() == np.array([value]).tobytes()):  # zeros have signs
                continue
            try:
                if isinstance(owner, dict):
                    owner[name] = new
                else:
                    setattr(owner, name, new)
            except Exception as error:
                failed = failed or error
        if failed is not None:
            raise failed


def space_of(owner: Any) -> Any:
    """The dict with the attributes of an object or, for a dict, the dict itself; the object if it has no __dict__."""
    return owner if isinstance(owner, dict) else getattr(owner, "__dict__", owner)


def taker(kind: Kind | Composed | Cell) -> Callable[[Any, Cells], dict[str, Any]]:
    """The function that gives the numbers and arrays in values of this kind, as Elements does, where all attributes are
    in the dicts of their objects."""
    if isinstance(kind, Single):
        return (lambda value, cells: _cells(value)) if kind.cells else (lambda value, cells: NO_ELEMENTS)
    if isinstance(kind, TupleKind) and kind.is_none:
        return lambda value, cells: NO_ELEMENTS
    assert isinstance(kind, TupleKind | RecordKind)
    names = kind.names if isinstance(kind, RecordKind) else tuple(map(str, range(len(kind.parts))))
    is_plain = all(part is None for part in kind.parts)
    if isinstance(kind, TupleKind) and is_plain:
        return lambda value, cells: dict(zip(names, value, strict=True))
    parts = zip(names, kind.parts, strict=True)
    inner = [(name, part, None if part is None or part is CELL else taker(part)) for name, part in parts]

    def take(value: Any, cells: Cells) -> dict[str, Any]:
        if isinstance(kind, TupleKind):
            own = dict(zip(names, value, strict=True))
        else:
            own = value if type(value) is dict else value.__dict__
        found: dict[str, Any] = {}
        for name, part, taken in inner:
            if taken is not None:
                found.update((place_in(name, place), each) for place, each in taken(own[name], cells).items())
            else:
                found[name] = own[name] if part is None else cells.of(value, name, own[name])
        return found

    return take


class Elements(dict[str, Any]):
    """The numbers and arrays in a tuple, an object of this kind or a function, as a dict by their places; empty for
    None. `cells` holds the numbers that the call may assign to."""

    def __init__(self, given: Any, kind: object = None, cells: Cells | None = None) -> None:
        self.given = given
        super().__init__(_entries_of(given, kind, cells))


def _entries_of(value: Any, kind: object, cells: Cells | None) -> dict[str, Any]:
    """The numbers and arrays in a value, also those in nested values, by the names of their places."""
    if isinstance(kind, RecordKind):
        parts = {name: attribute_of(value, name) for name in kind.names}
    elif is_series(value):
        parts = {str(index): each for index, each in enumerate(value)}
    else:
        return _cells(value)
    kinds = kind.parts if isinstance(kind, RecordKind | TupleKind) else (None,) * len(parts)
    found: dict[str, Any] = {}
    for (place, each), of in zip(parts.items(), kinds, strict=True):
        if of is CELL and cells is not None:
            found[place] = cells.of(value, place, each)
        elif of is not None or (kind is None and comes_apart(each)):
            found |= {place_in(place, inner): part for inner, part in _entries_of(each, of, cells).items()}
        else:
            found[place] = each
    return found


def place_in(outer: str, inner: str) -> str:
    """The name of the place `inner` of a part, which is at the place `outer` of the whole."""
    return f"{outer}.{inner}"


NO_ELEMENTS = Elements(None)
