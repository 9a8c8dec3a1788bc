"""compile_string: text as print_compiled shows it, edited or not, back to a function.

The text has up to three parts, each behind a marker line: the interface, which is comment to a compiler and
describes the arguments of a call (bindings/interface_text.h), device code, host code.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

from . import _native
from ._errors import fail
from ._frontend_memory import GEOMETRY
from ._options import CompileBackend, CompileOptions
from .backend import is_enabled

INTERFACE = "// ---- interface ----"
_DEVICE = "// ---- device code ----"
_HOST = "// ---- host code ----"

_HEAD = re.compile(r"(\w+)\((.*)\)$")
_ARRAY = re.compile(r"(\w+)\[(.*?)\] strides \[(.*?)\]( written)?( shared)?(?: limit (\d+))?$")
_NUMBER = re.compile(r"(\w+)(?: = (\S+))?(?: limit (\d+))?$")
_PLACE = re.compile(r"place (\d+): (P\d+) (.*)$")
_KERNEL = re.compile(r"__global__\s+void\s+(?:__\w+__\s*\([^)]*\)\s*)*(\w+)\s*\(")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_WEAK = {"int": "i64", "float": "f64", "complex": "c128"}


def compile_string(fun_name: str, code: str, opts: CompileOptions | None = None) -> Callable[..., Any]:
    """The function ``fun_name`` of generated source text, which may have been edited.

    ``code`` is text as ``print_compiled`` gives it: the interface and the host part, for GPUs the device part too.
    Everything may be changed but the interface: the arguments, and the names of the entry functions. The result
    takes the arguments of the Python function that the text was made from, of the same types and shapes, and the
    same scalars. ``opts`` gives ``includes``, ``libs``, ``extra_flags``, ``stream`` and ``backend``.
    """
    if not isinstance(fun_name, str) or not isinstance(code, str):
        raise TypeError("compile_string takes the name of the function and the text, both str")
    if opts is not None and not isinstance(opts, CompileOptions):
        raise TypeError(f"opts must be a parpy.CompileOptions, not {type(opts).__name__}")
    opts = CompileOptions() if opts is None else opts
    interface = _interface(code)
    if interface["name"] != fun_name:
        _refuse(f"the text is that of '{interface['name']}', not of '{fun_name}'", "give the name that the text has")
    device, host = _parts(code)
    interface["kernels"] = _KERNEL.findall(_COMMENT.sub("", device))
    backend = _backend(interface["backend"], opts)
    if interface["by_hand"]:
        sizes = [argument["name"] for argument in interface["arguments"][: len(GEOMETRY)]]
        interface["parameters"][: len(GEOMETRY)] = sizes
    program = _native.TextProgram(interface, device, host, opts, backend)
    function = _callable(fun_name, interface, program)
    return TextKernel(function) if interface["by_hand"] else function


class TextKernel:
    """A kernel written by hand, of text: ``k[grid, block](…)`` launches it on the stream of its options."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __getitem__(self, configuration: Any) -> Callable[..., None]:
        from .cuda._kernel import launch_sizes

        parts = configuration if isinstance(configuration, tuple) else (configuration,)
        if not 2 <= len(parts) <= 4 or (len(parts) > 2 and parts[2] != 0):
            raise ValueError(
                f"a launch of text is configured by [grid, block[, 0, shared_bytes]], not by {configuration!r}; "
                "its stream is that of the options"
            )
        return partial(self._function, *launch_sizes(parts[0], parts[1]), *(parts[3:] or (0,)))

    def __call__(self, *_: Any, **__: Any) -> NoReturn:
        raise ValueError(f"'{self._function.__name__}' is a kernel: say on how many threads it runs, k[grid, block](…)")


def _callable(name: str, interface: dict[str, Any], program: _native.TextProgram) -> Callable[..., Any]:
    parameters: list[str] = interface["parameters"]
    # Arrays that the function captured are arguments of their own here.
    extra = [a["name"].removeprefix("global ") for a in interface["arguments"] if a["global"] and a["is_array"]]
    space: dict[str, Any] = {}
    listed = ", ".join(parameters + extra)
    exec(f"def bind({listed}): return {{{', '.join(f'{p!r}: {p}' for p in parameters + extra)}}}", space)
    bind = space["bind"]
    bind.__name__ = bind.__qualname__ = name
    take = [_taker(argument) for argument in interface["arguments"]]

    def function(*args: Any, **keywords: Any) -> Any:
        given = bind(*args, **keywords)
        return program.run(tuple(get(given) for get in take))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Compiled text: {name}({listed})."
    function.__wrapped__ = bind  # type: ignore[attr-defined]  # for inspect.signature
    return function


def _taker(argument: dict[str, Any]) -> Callable[[dict[str, Any]], Any]:
    name = argument["name"]
    entry = re.fullmatch(r"(\w+)\['(.*)'\]", name)
    if entry:
        return partial(lambda parameter, key, given: given[parameter][key], entry[1], entry[2])
    if argument["global"] and not argument["is_array"]:
        value = argument["integer"] if argument["integer"] is not None else argument["real"]
        if argument["scalar"] == "bool":
            value = bool(value)
        return partial(lambda kept, given: kept, value)
    return partial(lambda key, given: given[key], name.removeprefix("global "))


def _backend(made_for: str, opts: CompileOptions) -> str:
    wanted = opts.backend
    if made_for == "metal":
        _refuse("Metal text cannot be compiled on this machine", "compile it where there is a Mac")
    if wanted is CompileBackend.Auto:
        wanted = CompileBackend(made_for)
        if wanted is CompileBackend.Cuda and not is_enabled(wanted):
            wanted = CompileBackend.Sim
    on_cpu = wanted is CompileBackend.Cpu
    if on_cpu != (made_for == "cpu") or wanted is CompileBackend.Metal:
        _refuse(
            f"the text is for the back end '{made_for}', the options ask for '{wanted.value}'",
            "leave out 'backend', or print the text for that back end",
        )
    if wanted is CompileBackend.Cuda and not is_enabled(wanted):
        reason = _native.cuda_unavailable()
        _refuse(f"{reason}, which the text needs", "backend=parpy.CompileBackend.Sim runs CUDA text on the CPU")
    return str(wanted.value)


def _parts(code: str) -> tuple[str, str]:
    """The device part and the host part."""
    before, marker, host = code.partition(_HOST)
    if not marker:
        _refuse(f"the text has no line '{_HOST}'", "keep the marker lines as they were printed")
    _, _, device = before.partition(_DEVICE)
    return device.lstrip("\n"), host.lstrip("\n")


def _interface(code: str) -> dict[str, Any]:
    _, marker, rest = code.partition(INTERFACE)
    if not marker:
        _refuse(f"the text has no line '{INTERFACE}'", "keep the first lines of what print_compiled showed")
    lines = []
    for line in rest.lstrip("\n").splitlines():
        if not line.startswith("// ") or line in (_DEVICE, _HOST):
            break
        lines.append(line[3:])
    head = _HEAD.match(lines[0]) if lines else None
    if head is None:
        _malformed(lines[0] if lines else "")
    found: dict[str, Any] = {
        "name": head[1],
        "parameters": [p for p in head[2].split(", ") if p],
        "backend": "cpu",
        "arguments": [],
        "returns": [],
        "returns_tuple": False,
        "slots": [],
        "places": [],
        "by_hand": head[2].startswith(", ".join(GEOMETRY)),
    }
    for line in lines[1:]:
        _read_line(line, found)
    return found


def _read_line(line: str, found: dict[str, Any]) -> None:
    place = _PLACE.match(line)
    if place:
        found["places"].append((place[2], place[3]))
        return
    name, colon, text = line.partition(": ")
    if line.rstrip() == "slots:":
        name, colon, text = "slots", ":", ""
    if not colon:
        _malformed(line)
    if name == "back end":
        found["backend"] = text
    elif name == "returns":
        found["returns_tuple"] = text.startswith("(")
        found["returns"] = text.strip("()").split(", ")
    elif name == "slots":
        names = [argument["name"] for argument in found["arguments"]]
        names += [f"result {index}" for index in range(len(found["returns"]))]
        for slot in text.split(", ") if text else ():
            if slot not in names:
                _malformed(line)
            found["slots"].append(names.index(slot))
    else:
        found["arguments"].append(_argument(name, text, line))


def _argument(name: str, text: str, line: str) -> dict[str, Any]:
    out: dict[str, Any] = {
        "name": name,
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
        sizes = ([None if n == "?" else int(n) for n in part.split(", ") if n] for part in (array[2], array[3]))
        extents, strides = sizes
        out |= {"is_array": True, "scalar": array[1], "extents": extents, "strides": strides}
        out |= {"written": bool(array[4]), "shared": bool(array[5]), "limit": int(array[6] or 0)}
        if len(extents) != len(strides):
            _malformed(line)
        return out
    number = _NUMBER.match(text)
    if number is None:
        _malformed(line)
    out["scalar"] = _WEAK.get(number[1], number[1])
    out["limit"] = int(number[3] or 0)
    if number[2] is not None:
        if out["scalar"][0] == "f":
            out["real"] = float(number[2])
        else:
            out["integer"] = int(number[2])
    return out


def _malformed(line: str) -> NoReturn:
    _refuse(f"the interface has a line that cannot be read: '{line}'", "keep it as it was printed")


def _refuse(message: str, help_text: str) -> NoReturn:
    sink = _native.Diagnostics()
    sink.error("P563", None, message, help_text)
    fail(sink, [])
