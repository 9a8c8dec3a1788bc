"""``cuda.compile`` and its relatives: the PTX of a function for the types of its arguments, without a launch."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from typing import Any

from .. import _native
from ..calls.errors import CompileError
from ..calls.interface import HOST
from ..calls.tracebacks import hides_frames
from ..syntax.names import source_of
from ..syntax.source import FunctionSource
from ..syntax.walks import walk
from ..vocabulary import operators
from ..vocabulary.signatures import SCALARS, Array, Scalar, Signature, like_numbas, number_signature, void
from ._device_functions import DeviceFunction
from ._devices import get_current_device
from ._kernel import Kernel, check_count
from ._options import kernel_options
from ._overloads import SAMPLE_SIZES, sample

__all__ = ["compile", "compile_all", "compile_for_current_device", "compile_ptx", "compile_ptx_for_current_device"]

_RESULTS = ("boolean", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
            "float16", "bfloat16", "float32", "float64", "complex64", "complex128")  # fmt: skip
_HEAD = re.compile(r'extern "C" __global__ void(?: __launch_bounds__\([^)]*\))? (\w+)\(', re.MULTILINE)
# How CUDA C++ writes the types that C functions get and return.
_C_TYPES = {
    "bool": "bool", "i8": "signed char", "i16": "short", "i32": "int", "i64": "long long", "u8": "unsigned char",
    "u16": "unsigned short", "u32": "unsigned", "u64": "unsigned long long", "f32": "float", "f64": "double",
}  # fmt: skip


@hides_frames
def compile(
    pyfunc: Callable[..., Any],
    sig: Any,
    debug: bool | None = None,
    lineinfo: bool = False,
    device: bool = True,
    fastmath: bool = False,
    cc: tuple[int, int] | None = None,
    opt: bool | None = None,
    abi: str = "c",
    abi_info: dict[str, Any] | None = None,
    output: str = "ptx",
    **options: Any,
) -> tuple[Any, Any]:
    """Returns the code of a function for the types of its arguments, and the type of its result, which is Numba's own
    for Numba's types. The code is PTX as text or, with ``output="ltoir"``, LTO-IR as bytes.

    ``sig`` is a signature, or a tuple of the types of the arguments. ``device=True`` compiles a function that CUDA C++
    calls, with numbers as arguments and result. With the ``abi`` "c" it returns its result; with "numba" it stores the
    result through a pointer before its parameters and returns 0. ``abi_info["abi_name"]`` replaces its name.
    ``device=False`` compiles a kernel with the parameters that ``inspect_source`` shows. ``debug=True`` checks as
    kernels with this option do, and adds what debuggers need. ``cc`` is the compute
    capability, by default that of the current device. Raises NotImplementedError for another ``output``.
    """
    if output not in ("ptx", "ltoir"):
        raise NotImplementedError(f"functions are compiled to 'ptx' or 'ltoir', not to {output!r}")
    if abi not in ("c", "numba"):
        raise NotImplementedError(f"the abi of a compiled function is 'c' or 'numba', not {abi!r}")
    if not device and abi == "c" and abi_info:
        raise NotImplementedError("a kernel keeps its own name: abi_info is for device=True")
    wanted = number_signature(sig)
    check_count(source_of(pyfunc).function, wanted)
    chosen = kernel_options(
        fastmath,
        options.pop("fma", True),
        lineinfo,
        debug,
        options.pop("max_registers", None),
        options.pop("launch_bounds", None),
        None,
        None,
    )
    flags = [*chosen.flags, *(["--device-debug"] if debug else [])]
    own = pyfunc.__name__ if pyfunc.__name__.isidentifier() else "nameless"  # the name of a lambda is "<lambda>"
    name = str((abi_info or {}).get("abi_name", own))
    if not name.isidentifier():
        raise ValueError(f"{name!r} is not the name of a function")
    if not device:
        text = device_text(Kernel(pyfunc, (), chosen), wanted)
        return _code(text, pyfunc.__name__, cc, flags, chosen.fast_math, output), like_numbas(void, sig)
    _check_c_types(wanted.arguments)
    function = DeviceFunction(pyfunc, () if wanted.open else (wanted,))
    result: Any = _result_of(function, wanted, chosen) if wanted.open else wanted.result or void
    _check_c_types([result] if isinstance(result, Scalar) else [])
    text = _as_function(device_text(_calling(function, wanted, result, chosen), _with_place(wanted, result)), name,
                        wanted, result, abi)  # fmt: skip
    flags.append("--relocatable-device-code=true")
    return _code(text, name, cc, flags, chosen.fast_math, output), like_numbas(result, sig)


def compile_for_current_device(pyfunc: Callable[..., Any], sig: Any, **options: Any) -> tuple[Any, Any]:
    """``compile`` for the compute capability of the current device."""
    return compile(pyfunc, sig, **options, cc=get_current_device().compute_capability)


def compile_ptx(
    pyfunc: Callable[..., Any], sig: Any, device: bool = False, abi: str = "numba", **options: Any
) -> tuple[str, Any]:
    """``compile`` with the defaults of a kernel: ``device=False``, and ``abi="numba"`` for functions."""
    return compile(pyfunc, sig, device=device, abi=abi, **options)


def compile_ptx_for_current_device(pyfunc: Callable[..., Any], sig: Any, **options: Any) -> tuple[str, Any]:
    """``compile_ptx`` for the compute capability of the current device."""
    return compile_ptx(pyfunc, sig, **options, cc=get_current_device().compute_capability)


def compile_all(pyfunc: Callable[..., Any], sig: Any, **options: Any) -> tuple[list[Any], Any]:
    """``compile``, with the code in a list of one code to link."""
    code, result = compile(pyfunc, sig, **options)
    return [code], result


# ---------------------------------------------------------------- text


def device_text(kernel: Kernel, wanted: Signature) -> str:
    """The CUDA C++ of a kernel for a GPU and a signature."""
    samples = tuple(map(sample, wanted.arguments))
    try:
        kernel.surface_anew()
    except CompileError:
        if not kernel.asks_all:
            raise
    samples = tuple(kernel.with_views(samples))
    variant = kernel.variant(samples)
    given = (*SAMPLE_SIZES, *variant.with_fields(samples))
    return _native.source_text(variant.native, given, variant.options_for_gpu()).split(HOST)[0]


def _code(
    text: str, name: str, cc: tuple[int, int] | None, flags: list[str], fast_math: bool, output: str
) -> str | bytes:
    major, minor = get_current_device().compute_capability if cc is None else cc
    of_lto = output == "ltoir"
    made = _native.compile_cuda(text, f"{name}.cu", f"sm_{major}{minor}", fast_math, flags, not of_lto, of_lto)
    return made if of_lto else made.decode().rstrip("\0")


def _source(text: str, space: dict[str, Any]) -> FunctionSource:
    exec(text, space)
    return FunctionSource(space["call"], "<compile>", text, 1)


def _names(wanted: Signature) -> list[str]:
    return [f"a{place}" for place in range(len(wanted.arguments))]


def _result_of(function: DeviceFunction[..., Any], wanted: Signature, options: Any) -> Any:
    """The type of the function's result, found by compiling a kernel that fails with the name of that type."""
    names = ", ".join(_names(wanted))
    lines = [f"def call({names}):", f"    found = function({names})"]
    for each in _RESULTS:
        lines.append(f"    if same(found, types.{each}):\n        fail('{each}')")
    space = {"function": function, "same": operators.static_types_eq, "fail": operators.static_fail, "types": _Types}
    kernel = Kernel(_source("\n".join(lines) + "\n", space), (), options)
    try:
        device_text(kernel, wanted)
    except CompileError as error:
        found = re.search(r"error\[P232\]: (\w+)$", str(error), re.MULTILINE)
        if found is not None and found[1] in SCALARS:
            return SCALARS[found[1]]
        if not _gives_value(function):
            return void
        raise
    raise TypeError(f"'{function.py_func.__name__}' returns no number, but a C function must")


class _Types:
    """The number types by name, as attributes."""


for _name in _RESULTS:
    setattr(_Types, _name, SCALARS[_name])


def _gives_value(function: DeviceFunction[..., Any]) -> bool:
    parts = walk(source_of(function.py_func).tree())
    return any(isinstance(part, ast.Return) and part.value is not None for part in parts)


def _check_c_types(kinds: Sequence[Any]) -> None:
    odd = next((each for each in kinds if not isinstance(each, Scalar) or each.name not in _C_TYPES), None)
    if odd is not None:
        raise NotImplementedError(
            f"a C function takes and returns only numbers here, not {odd}; for others compile a kernel: device=False"
        )


def _with_place(wanted: Signature, result: Any) -> Signature:
    """The types of the arguments of the kernel that `_calling` makes: the result's array is the first of them."""
    place = (Array(result, 1, "C"),) if isinstance(result, Scalar) else ()
    return Signature(None, (*place, *wanted.arguments))


def _calling(function: DeviceFunction[..., Any], wanted: Signature, result: Any, options: Any) -> Kernel:
    """A kernel that calls the function and stores its result to element 0 of its first argument."""
    names = _names(wanted)
    gives = isinstance(result, Scalar)
    head, call = ", ".join(["result"] * gives + names), f"function({', '.join(names)})"
    return Kernel(
        _source(f"def call({head}):\n    {'result[0] = ' * gives}{call}\n", {"function": function}), (), options
    )


def _as_function(text: str, name: str, wanted: Signature, result: Any, abi: str) -> str:
    """The text of the kernel of `_calling`, turned into the text of a CUDA C++ function."""
    found = _HEAD.search(text)
    assert found is not None
    body, end = f"program::{found[1]}", found.end()
    parameters = text[end:].split(")", 1)[0]
    # The namespace keeps the names of the program's own functions from colliding with linked code.
    text = f"namespace program {{\n{text[: found.start()]}static __device__ void {found[1]}({text[end:]}\n}}\n"
    types = {n: _C_TYPES[kind.name] for n, kind in zip(_names(wanted), wanted.arguments, strict=True)}  # type: ignore[union-attr]
    params = [f"{kind} {n}" for n, kind in types.items()]
    inner = []
    for each in filter(None, (part.split()[-1] for part in parameters.split(", ") if part.strip())):
        inner.append("&result" if each == "result" else "1" if each.startswith("result_") else each)
    call = f"{body}({', '.join(inner)});"
    c_type = _C_TYPES[result.name] if isinstance(result, Scalar) else "void"
    if abi == "numba":
        pointer = [] if c_type == "void" else [f"{c_type}* parpy_out"]
        call = call.replace("&result", "parpy_out")
        return f'{text}\nextern "C" __device__ int {name}({", ".join(pointer + params)}) {{ {call} return 0; }}\n'
    if c_type == "void":
        return f'{text}\nextern "C" __device__ void {name}({", ".join(params)}) {{ {call} }}\n'
    return (
        f'{text}\nextern "C" __device__ {c_type} {name}({", ".join(params)}) '
        f"{{ {c_type} result; {call} return result; }}\n"
    )
