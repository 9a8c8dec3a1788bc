"""``appy.jit``: ``parpy.jit`` with the options of all versions of APPy."""

from __future__ import annotations

import hashlib
import linecache
import textwrap
from collections.abc import Callable
from copy import copy
from difflib import get_close_matches
from functools import partial, update_wrapper
from pathlib import Path
from types import FunctionType
from typing import Any, Final

import numpy as np

from .. import _native
from ..backend import is_enabled
from ..calls.jit import clear_cache, jit_of_source, print_compiled
from ..calls.options import CompileBackend, CompileOptions
from ..calls.tracebacks import hides_frames
from ..syntax.names import source_of
from ..syntax.source import FunctionSource
from ._strip_mine import strip_mined

# The options and their defaults.
_OPTIONS: Final[dict[str, Any]] = {
    "auto": True,
    "auto_simd": True,
    "backend": None,
    "clear_cache": False,
    "dry_run": False,
    "dump_code": False,
    "dump_code_to_file": None,
    "dump_final_appy": False,
    "entry_to_device": None,
    "exit_to_host": None,
    "verbose_static_rewrite": False,
}
# Options of APPy that are accepted and ignored, because ParPy's compiler makes these choices itself.
_GRANTED: Final = frozenset((
    "auto_block", "auto_transfer", "configs", "dim_info", "lib", "no_barrier_after_write", "print_ptx", "shader",
    "tune", "use_compiled_file", "use_file", "verbose", "verbose_block_loop",
))  # fmt: skip
_GPUS: Final = ("cuda", "metal", "ptx", "triton")
_BACKENDS: Final = {
    "cpu": CompileBackend.Cpu, "numba": CompileBackend.Cpu, "sim": CompileBackend.Sim, "auto": CompileBackend.Auto,
}  # fmt: skip


@hides_frames
def jit(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Compiles the loops and tensor statements of a function according to its ``#pragma`` comments; used as a decorator
    with or without parentheses.

    ``backend``: "triton", "cuda", "ptx" and "metal" select the GPU, or the CPU if there is none; "numba" and "cpu"
    select the CPU and "sim" the simulator; a ``parpy.CompileBackend`` is used as given. ``auto=False`` compiles only
    statements with pragmas; Python runs the others. ``dump_code`` prints the code of each call that is compiled,
    ``dump_code_to_file`` writes it to a file; ``dry_run`` compiles for the GPU and has Python run the loops.
    ``dump_final_appy`` and ``verbose_static_rewrite`` print the strip-mined program, which is an APPy program, too.
    ``entry_to_device`` and ``exit_to_host`` name arrays, as a list or separated by commas; they are checked but have
    no effect, because arrays are copied whenever necessary. ``auto_simd`` is always on.

    Raises TypeError for unknown options and names, and ValueError for an unknown back end.
    """
    if function is None:
        _check(options)
        return partial(_decorated, options=options)
    return _decorated(function, options)


def _check(options: dict[str, Any]) -> None:
    for name in options:
        if name in _OPTIONS or name in _GRANTED:
            continue
        close = get_close_matches(name, [*_OPTIONS, *_GRANTED], n=1)
        hint = f"; did you mean '{close[0]}'?" if close else f"; there are {', '.join(_OPTIONS)}"
        raise TypeError(f"appy.jit has no option '{name}'{hint}")
    _backend(options.get("backend"))


def _backend(wanted: Any) -> CompileBackend:
    if isinstance(wanted, CompileBackend):
        return wanted
    if wanted is None:
        return CompileBackend.Auto
    if wanted in _GPUS:
        return CompileBackend.Cuda if is_enabled(CompileBackend.Cuda) else CompileBackend.Cpu
    if wanted not in _BACKENDS:
        known = ", ".join(repr(name) for name in (*_GPUS, *_BACKENDS))
        raise ValueError(f"appy.jit has no back end {wanted!r}; there are {known}")
    return _BACKENDS[wanted]


def _decorated(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    _check(options)
    if not isinstance(function, FunctionType | _native.JitFunction):
        raise TypeError(f"appy.jit decorates a function, not {type(function).__name__}")
    source = copy(source_of(function))
    _ = source.pragmas  # wrong pragmas are reported at once
    source.only_pragmas = not options.get("auto", True)
    _check_names(source, options)
    made = jit_of_source(source)
    made.__wrapped__ = made.py_func = source.function
    given = {**_OPTIONS, **options}
    if given["clear_cache"]:
        clear_cache()
    if given["verbose_static_rewrite"] or given["dump_final_appy"]:
        print(strip_mined(source), end="")
    plain = not any(given[name] for name in ("dump_code", "dump_code_to_file", "dry_run"))
    if plain and _backend(given["backend"]) is CompileBackend.Auto:
        return made
    return Annotated(made, given)


def _check_names(source: FunctionSource, options: dict[str, Any]) -> None:
    code = source.function.__code__
    known = code.co_varnames
    for option in ("entry_to_device", "exit_to_host"):
        given = options.get(option) or ()
        names = [name.strip() for name in given.split(",")] if isinstance(given, str) else list(given)
        for name in filter(None, names):
            if name not in known:
                close = get_close_matches(name, known, n=1)
                hint = f"; did you mean '{close[0]}'?" if close else ""
                raise TypeError(f"{option} names '{name}', which is not a variable of '{code.co_name}'{hint}")


class Annotated:
    """A function of ``appy.jit`` with options for every call. ``seq=True``, ``opts`` and ``debug`` have the meaning
    that they have for ``parpy.jit``."""

    def __init__(self, function: _native.JitFunction, options: dict[str, Any]) -> None:
        self._function = function
        self._given = options
        self._shown: set[str] = set()
        self._options = CompileOptions(automatic=True, backend=_backend(options["backend"]))
        self.__parpy_source__: FunctionSource = function.__parpy_source__
        self.py_func: Any = function.py_func
        update_wrapper(self, function.__parpy_source__.function)

    def __call__(self, *args: Any, opts: CompileOptions | None = None, **keywords: Any) -> Any:
        chosen = opts or self._options
        if any(self._given[name] for name in ("dump_code", "dump_code_to_file", "dry_run")):
            self._dump(args, chosen)
        if self._given["dry_run"]:
            keywords.pop("debug", None)
            return self._function(*args, **{**keywords, "seq": True})
        return self._function(*args, opts=chosen, **keywords)

    def _dump(self, args: tuple[Any, ...], opts: CompileOptions) -> None:
        if self._given["dry_run"] and opts.backend is CompileBackend.Auto:
            opts = CompileOptions(**{**opts._values, "backend": CompileBackend.Cuda})
        text = print_compiled(self._function, args, opts)
        if text in self._shown:
            return
        self._shown.add(text)
        if self._given["dump_code"]:
            print(text)
        if self._given["dump_code_to_file"]:
            Path(self._given["dump_code_to_file"]).write_text(text)

    def __reduce__(self) -> str:
        """Pickles the function by its name, like Python's functions."""
        return str(self.__parpy_source__.function.__qualname__)

    def __repr__(self) -> str:
        return f"<appy.jit {self.__parpy_source__.function.__qualname__}>"


def shader(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """``appy.jit`` for a function whose loops run in parallel if that is proved, with or without pragmas."""
    return jit(function, **options)


def cpu_shader(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """``appy.shader`` on the CPU."""
    return jit(function, **{"backend": "cpu", **options})


def compile_from_src(src: str, **options: Any) -> Callable[..., Any]:
    """Returns the first function that the text ``src`` defines, compiled by ``appy.jit(**options)``. The text can use
    NumPy as ``np`` and this module as ``appy``. Raises ValueError if the text defines no function."""
    from .. import appy

    text = textwrap.dedent(src)
    name = f"<appy source {hashlib.sha256(text.encode()).hexdigest()[:16]}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space: dict[str, Any] = {"__name__": name, "appy": appy, "np": np}
    exec(compile(text, name, "exec"), space)
    for found in space.values():
        if isinstance(found, FunctionType) and found.__globals__ is space:
            made: Callable[..., Any] = jit(found, **options)
            return made
        if isinstance(found, Annotated | _native.JitFunction):
            return found
    raise ValueError("the text defines no function")
