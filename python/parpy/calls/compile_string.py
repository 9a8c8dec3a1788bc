"""compile_string makes a function from text that print_compiled has returned, edited or not.

The text has up to three parts, each after a marker line: the interface, which consists of comments and describes the
arguments of a call (interface.py), device code, and host code.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

from .. import _native
from ..backend import is_enabled
from ..vocabulary.device import GEOMETRY
from ..vocabulary.generators import is_generator
from .elements import Elements, comes_apart
from .generators import key_of
from .interface import DEVICE, HOST, read_interface, refuse
from .options import CompileBackend, CompileOptions
from .tracebacks import hides_frames

_KERNEL = re.compile(r"__global__\s+void\s+(?:__\w+__\s*\([^)]*\)\s*)*(\w+)\s*\(")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_SLOT = re.compile(r"\bslots\s*\[\s*(\d+)\s*\]")
_MISSING = object()


@hides_frames
def compile_string(fun_name: str, code: str, opts: CompileOptions | None = None) -> Callable[..., Any]:
    """Returns the function ``fun_name`` of generated source text, which may have been edited.

    ``code`` is text that ``print_compiled`` has returned: the interface, the host part and, for a GPU, the device part.
    You may change everything except the interface, which lists the arguments, and the names of the entry functions. The
    result has the parameters of the Python function from which the text was made; its arguments have the same types,
    shapes and scalars. Only ``includes``, ``libs``, ``extra_flags``, ``stream`` and ``backend`` of ``opts`` are used.

    Raises BackendError if the text does not compile or its interface was changed.
    """
    if not isinstance(fun_name, str) or not isinstance(code, str):
        raise TypeError("compile_string takes the name of the function and the text, both str")
    if opts is not None and not isinstance(opts, CompileOptions):
        raise TypeError(f"opts must be a parpy.CompileOptions, not {type(opts).__name__}")
    opts = CompileOptions() if opts is None else opts
    code = code.replace("\r\n", "\n")
    interface = read_interface(code)
    if interface["name"] != fun_name:
        refuse(f"the text is that of '{interface['name']}', not of '{fun_name}'", "give the name that the text has")
    device, host = _parts(code)
    _check_slots(host, interface)
    interface["kernels"] = _KERNEL.findall(_COMMENT.sub("", device))
    backend = _backend(interface["backend"], opts)
    if interface["by_hand"]:
        sizes = [argument["name"] for argument in interface["arguments"][: len(GEOMETRY)]]
        interface["parameters"][: len(GEOMETRY)] = sizes
    program = _native.TextProgram(interface, device, host, opts, backend)
    function = _callable(fun_name, interface, program)
    return TextKernel(function) if interface["by_hand"] else function


class TextKernel:
    """A kernel made from generated text: ``k[grid, block](…)`` launches it on the stream of its options."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __getitem__(self, configuration: Any) -> Callable[..., None]:
        from ..cuda._launches import launch_sizes

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
    # Arrays that the function captured are additional arguments of the text's function.
    extra = [a["name"].removeprefix("global ") for a in interface["arguments"] if a["global"] and a["is_array"]]
    defaults: dict[str, Any] = interface["defaults"]
    space: dict[str, Any] = {"defaults": defaults, "missing": _MISSING, "__name__": __name__}
    first = next((index for index, each in enumerate(parameters) if each in defaults), len(parameters))
    listed = [
        each if index < first else f"{each}=defaults[{each!r}]" if each in defaults else f"{each}=missing"
        for index, each in enumerate(parameters + extra)
    ]
    exec(f"def bind({', '.join(listed)}): return {{{', '.join(f'{p!r}: {p}' for p in parameters + extra)}}}", space)
    bind = space["bind"]
    bind.__name__ = bind.__qualname__ = name
    take = [_taker(argument) for argument in interface["arguments"]]

    @hides_frames
    def function(*args: Any, **keywords: Any) -> Any:
        given = bind(*args, **keywords)
        for parameter, value in given.items():
            if value is _MISSING:
                raise TypeError(f"{name}() missing 1 required argument: '{parameter}'")
        return program.run(tuple(get(given) for get in take))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Compiled text: {name}({', '.join(parameters + extra)})."
    function.__wrapped__ = bind  # type: ignore[attr-defined]  # for inspect.signature
    return function


def _taker(argument: dict[str, Any]) -> Callable[[dict[str, Any]], Any]:
    name = argument["name"]
    if argument["entry"]:
        return partial(lambda parameter, key, given: _entries(given[parameter])[key], *argument["entry"])
    if argument["global"] and argument["scalar"] == "c128":
        refuse(
            "the text needs a generator of random numbers, or a complex number, from outside of the function",
            "make it a parameter of the function, and print the text again",
        )
    if argument["global"] and not argument["is_array"]:
        value = argument["integer"] if argument["integer"] is not None else argument["real"]
        if argument["scalar"] == "bool":
            value = bool(value)
        return partial(lambda kept, given: kept, value)
    return partial(lambda key, given: _passed(given[key]), name.removeprefix("global "))


def _entries(value: Any) -> Any:
    """The dict itself, or the elements of a tuple or a function as a dict."""
    return Elements(value) if comes_apart(value) else value


def _passed(value: Any) -> Any:
    """The value that the program gets for an argument; for a generator of random numbers a key."""
    return key_of(value) if is_generator(value) else value


def _backend(made_for: str, opts: CompileOptions) -> str:
    wanted = opts.backend
    if made_for == "metal":
        refuse("Metal text cannot be compiled on this machine", "compile it where there is a Mac")
    if wanted is CompileBackend.Auto:
        wanted = CompileBackend(made_for)
        if wanted is CompileBackend.Cuda and not is_enabled(wanted):
            wanted = CompileBackend.Sim
    on_cpu = wanted is CompileBackend.Cpu
    if on_cpu != (made_for == "cpu") or wanted is CompileBackend.Metal:
        refuse(
            f"the text is for the back end '{made_for}', but the options ask for '{wanted.value}'",
            "leave out 'backend', or print the text for that back end",
        )
    if wanted is CompileBackend.Cuda and not is_enabled(wanted):
        reason = _native.cuda_unavailable()
        refuse(f"the text is for a GPU, but {reason}", "backend=parpy.CompileBackend.Sim runs CUDA text on the CPU")
    return str(wanted.value)


def _parts(code: str) -> tuple[str, str]:
    """The device part and the host part."""
    before, marker, host = code.partition(HOST)
    if not marker:
        refuse(f"the text has no line '{HOST}'", "keep the marker lines as they were printed")
    _, _, device = before.partition(DEVICE)
    return device.lstrip("\n"), host.lstrip("\n")


def _check_slots(host: str, interface: dict[str, Any]) -> None:
    """Raises BackendError if the entry function reads more slots than a call passes."""
    _, _, entry = _COMMENT.sub("", host).partition(f"{interface['name']}_slots")
    most, count = max((int(index) for index in _SLOT.findall(entry)), default=-1), len(interface["slots"])
    if most >= count:
        refuse(
            f"the host code reads slots[{most}], but the interface lists {count}",
            "keep interface and host code of the same text",
        )
