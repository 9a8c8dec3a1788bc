"""The interface of generated text: a comment before the code that lists the arguments of a call.

bindings/module/interface_text.h writes most of it. This module adds the facts that only Python knows and a checksum,
because a program with a changed interface would read memory outside of its arguments.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, NoReturn

from .. import _native
from ..syntax.text import as_text
from ..vocabulary.device import GEOMETRY
from . import errors
from .options import CompileOptions

INTERFACE = "// ---- interface ----"
DEVICE = "// ---- device code ----"
HOST = "// ---- host code ----"

_HEAD = re.compile(r"(\w+)\((.*)\)$")
_ARRAY = re.compile(r"(\w+)\[(.*?)\] strides \[(.*?)\]( written)?( shared)?(?: limit (\d+))?$")
_NUMBER = re.compile(r"(\w+)(?: = (\S+))?(?: limit (\d+))?$")
# The names of arguments: x, d['k'] (the key in Python's notation), global w.
_NAME = re.compile(r"(?:global )?\w+(?:\[(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")\])?")
_ENTRY = re.compile(r"(\w+)\[(['\"].*)\]")
_SLOT = re.compile(rf"result \d+|{_NAME.pattern}")
_FORMS = {each: each for each in "()}|"} | {"None": "-", "{": "{."}  # words in the form of a result that are no types
_PLACE = re.compile(r"place (\d+): (P\d+) (.*)$")
_INTEGER = re.compile(r"-?\d{1,19}$")
_WEAK = {"int": "i64", "float": "f64", "complex": "c128", "pybool": "bool"}
_CHECKSUM, _PART, _DEFAULTS = "checksum", "part of", "defaults"


def source_text(
    function: _native.JitFunction,
    arguments: tuple[Any, ...],
    opts: CompileOptions | None,
    python: FunctionType | None = None,
    part_of: str | None = None,
) -> str:
    """The text of a program. ``python`` has the defaults of its parameters. If the program is a part of a function
    whose rest Python runs, ``part_of`` names that function."""
    added = [] if part_of is None else [f"{_PART}: {_native.one_line(as_text(part_of))}"]
    defaults = {} if python is None or part_of is not None else _defaults(python)
    if defaults:
        added.append(f"{_DEFAULTS}: {defaults!r}")
    return sealed(_native.source_text(function, arguments, opts), added)


def sealed(text: str, added: Sequence[str] = ()) -> str:
    """The text with these lines and a checksum at the end of its interface."""
    lines = _lines(text)
    added = [*added, f"{_CHECKSUM}: {_checksum([*lines, *added])}"]
    interface, _, code = text.partition("\n\n")
    return "\n// ".join([interface, *added]) + "\n\n" + code


def _defaults(function: FunctionType) -> dict[str, Any]:
    """The defaults of parameters that have a literal form, such as numbers."""
    code = function.__code__
    positional = code.co_varnames[: code.co_argcount]
    given = function.__defaults__ or ()
    found = dict(zip(positional[len(positional) - len(given) :], given, strict=True)) | (function.__kwdefaults__ or {})
    return {name: value for name, value in found.items() if _is_literal(value)}


def _is_literal(value: Any) -> bool:
    try:
        if value is None or isinstance(value, str):
            return value is None or (value.isascii() and value.isprintable())
        return type(value) in (int, float, complex, bool) and bool(ast.literal_eval(repr(value)) == value)
    except ValueError:  # inf and nan are no literals
        return False


def read_interface(code: str) -> dict[str, Any]:
    """Parses the interface of ``code``. Raises BackendError if it was changed."""
    lines = _lines(code)
    head = _HEAD.match(lines[0]) if lines else None
    if head is None:
        _malformed(lines[0] if lines else "")
    found: dict[str, Any] = {
        "name": head[1],
        "parameters": [p for p in head[2].split(", ") if p],
        "backend": "cpu",
        "arguments": [],
        "returns": [],
        "result_form": "",
        "slots": [],
        "places": [],
        "by_hand": head[2].startswith(", ".join(GEOMETRY)),
        _PART: None,
        _DEFAULTS: {},
        _CHECKSUM: None,
    }
    for line in lines[1:]:
        _read_line(line, found)
    if found[_PART] is not None:
        refuse(
            f"Python runs a part of '{found[_PART]}', of which the text has only the compiled parts",
            "move the loops into a function of their own, without allocation, callbacks and returned arrays, "
            "and print that one",
        )
    if found[_CHECKSUM] != _checksum([line for line in lines if not line.startswith(f"{_CHECKSUM}: ")]):
        refuse(
            "the interface of the text was changed",
            "keep its lines as they were printed; for other arguments call print_compiled with them",
        )
    return found


def refuse(message: str, help_text: str) -> NoReturn:
    errors.refuse("P563", message, help_text)


def _lines(code: str) -> list[str]:
    """The lines of the interface without the comment markers."""
    _, marker, rest = code.partition(INTERFACE)
    if not marker:
        refuse(f"the text has no line '{INTERFACE}'", "keep the first lines that print_compiled showed")
    lines: list[str] = []
    for line in rest.lstrip("\n").split("\n"):
        if not line.startswith("// ") or line in (DEVICE, HOST):
            break
        lines.append(line[3:].rstrip())
    return lines


def _checksum(lines: Sequence[str]) -> str:
    import hashlib

    return hashlib.blake2b("\n".join(lines).encode(), digest_size=4).hexdigest()


def _read_line(line: str, found: dict[str, Any]) -> None:
    place = _PLACE.match(line)
    if place:
        found["places"].append((place[2], place[3]))
        return
    begin = _NAME.match(line)
    end = begin.end() if begin and line.startswith(": ", begin.end()) else line.find(": ")
    name, text = line[:end], line[end + 2 :]
    if line == "slots:":
        name, text = "slots", ""
    elif end < 0:
        _malformed(line)
    if name in found["parameters"] and not any(name == argument["name"] for argument in found["arguments"]):
        found["arguments"].append(_argument(name, text, line))  # an argument may also be called "result" and the like
    elif name == "back end":
        found["backend"] = text
    elif name in (_PART, _CHECKSUM):
        found[name] = text
    elif name == _DEFAULTS:
        found[name] = _parsed(ast.literal_eval, text, line)
    elif name == "returns":
        parts = [part.strip() for part in re.findall(r"[(){}|]|None|[^(){}|,\s][^(){}|,]*", text)]
        forms = [_FORMS.get(part, "?" if part.endswith("?") else ".") for part in parts]
        found["result_form"] = "".join(forms)
        for form, part in zip(forms, parts, strict=True):
            found["returns"] += {".": [part], "?": [part[:-1], "bool"], "{.": ["i64"]}.get(form, [])
    elif name == "slots":
        names = [argument["name"] for argument in found["arguments"]]
        names += [f"result {index}" for index in range(len(found["returns"]))]
        slots = _SLOT.findall(text)
        if ", ".join(slots) != text or not set(slots) <= set(names):
            _malformed(line)
        found["slots"] = [names.index(slot) for slot in slots]
    else:
        found["arguments"].append(_argument(name, text, line))


def _argument(name: str, text: str, line: str) -> dict[str, Any]:
    entry = _ENTRY.fullmatch(name)
    out: dict[str, Any] = {
        "name": name,
        "entry": (entry[1], _parsed(ast.literal_eval, entry[2], line)) if entry else None,
        "global": name.startswith("global "),
        "is_array": False,
        "written": False,
        "shared": False,
        "extents": [],
        "strides": [],
        "integer": None,
        "real": None,
        "limit": 0,
    }
    array = _ARRAY.match(text)
    if array:
        sizes = (
            [None if n == "?" else _integer(n, line) for n in part.split(", ") if n] for part in (array[2], array[3])
        )
        extents, strides = sizes
        out |= {"is_array": True, "scalar": array[1], "extents": extents, "strides": strides}
        out |= {"written": bool(array[4]), "shared": bool(array[5]), "limit": _integer(array[6] or "0", line)}
        if len(extents) != len(strides):
            _malformed(line)
        return out
    number = _NUMBER.match(text)
    if number is None:
        _malformed(line)
    out["scalar"] = _WEAK.get(number[1], number[1])
    out["limit"] = _integer(number[3] or "0", line)
    if number[2] is not None:
        if out["scalar"][0] == "f":
            out["real"] = _parsed(float, number[2], line)
        else:
            out["integer"] = _integer(number[2], line)
    return out


def _integer(text: str, line: str) -> int:
    if not _INTEGER.match(text) or not -(2**63) <= int(text) < 2**63:
        _malformed(line)
    return int(text)


def _parsed(parse: Callable[[str], Any], text: str, line: str) -> Any:
    try:
        return parse(text)
    except (ValueError, SyntaxError):
        _malformed(line)


def _malformed(line: str) -> NoReturn:
    refuse(f"the interface has a line that cannot be read: '{line}'", "keep it as it was printed")
