"""Lowers calls of foreign functions: C++ functions that a header declares, and functions in files of device code."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Sequence
from posixpath import basename
from typing import Any

from ... import _native
from ...calls.external import External
from ...syntax.text import as_text
from ...vocabulary.device import ForeignFunction, Launchable
from ..expressions.arrays import subscripts_array
from ..expressions.evaluation import lower_arguments
from ..expressions.function_values import default_of
from ..kernels.record_paths import has_slice
from ..lowering import lower
from ..scope import FunctionScope
from .arguments import bound_arguments


def is_launch(fn: FunctionScope, node: ast.Call) -> bool:
    """Reports a call or launch of a kernel, because compiled code can make neither; False for other calls."""
    launched = isinstance(node.func, ast.Subscript)
    func = node.func.value if isinstance(node.func, ast.Subscript) else node.func
    binding = fn.resolve(func)
    kernel = binding.value if binding is not None and isinstance(binding.value, Launchable) else None
    if kernel is None or (not launched and kernel.is_callable and fn.kernel):
        return False
    shown = ast.unparse(func)
    fn.error(
        "P022",
        node,
        f"'{shown}' is a kernel, which compiled code can neither call nor launch",
        "launch it from Python after this function"
        if launched
        else f"decorate '{shown}' with @cuda.jit(device=True), or launch it from Python: {shown}[grid, block](…)",
    )
    return True


def is_buffer_of_cffi(fn: FunctionScope, node: ast.Call) -> bool:
    """Whether the call is `ffi.from_buffer(x)`, an array's address. Foreign functions get the array x instead."""
    binding = fn.resolve(node.func) if isinstance(node.func, ast.Attribute) else None
    if binding is None or getattr(binding.value, "__name__", "") != "from_buffer" or len(node.args) != 1:
        return False
    owner = type(getattr(binding.value, "__self__", None)).__module__
    return owner.partition(".")[0] in ("cffi", "_cffi_backend")


def foreign_called(fn: FunctionScope, node: ast.Call) -> ForeignFunction | None:
    """The declared device function that is called; None for other calls."""
    binding = None if isinstance(node.func, ast.Subscript) else fn.resolve(node.func)
    if binding is None or not isinstance(binding.value, ForeignFunction):
        return None
    fn.rely_on(binding)
    return binding.value


def call_foreign(fn: FunctionScope, node: ast.Call, function: ForeignFunction) -> _native.Expr:
    """A call of a device function that `declare_device` has declared."""
    if not fn.in_kernel(function.shown, node):
        return fn.poison(node)
    if node.keywords or len(node.args) != len(function.types):
        fn.error(
            "P105",
            node,
            f"'{function.shown}' takes {len(function.types)} positional arguments, not {len(node.args)}",
            "pass arguments of the declared types",
        )
        return fn.poison(node)
    return call_declared(fn, function, [pointed(fn, argument) for argument in node.args], node)


def call_declared(
    fn: FunctionScope, function: ForeignFunction, operands: list[_native.Expr], node: ast.Call
) -> _native.Expr:
    """A call of a declared function with these operands."""
    return fn.module.call(_declare_foreign(fn, function, node), operands, fn.span(node))


def _declare_foreign(fn: FunctionScope, function: ForeignFunction, node: ast.Call) -> _native.Function:
    """The module's declaration of the function, made once. Its place is in the source that defines the function."""
    known = fn.program.foreign.get(function)
    if known is not None:
        return known
    if function.texts is not None:
        return _declare_text(fn, function, function.texts)
    span = fn.span(node)
    name = function.__name__
    paths = function.link or fn.program.link
    if not paths:
        fn.error(
            "P105",
            node,
            f"'{name}' is declared, but no file is linked that defines it",
            f"write declare_device({name!r}, …, link='file.cu'), or cuda.jit(link=['file.cu'])",
        )
    found, abi = False, function.abi
    _link(fn, paths, node)
    for path in paths:
        index, text = fn.program.linked[path]
        if text is None:  # the linker of machine code finds the function
            found = True
        elif not found and re.search(rf"\b{re.escape(name)}\s*\(", text):
            span, found = (index, 1, 1, 1, 1), True
            abi = abi or _abi_of(function, text)
            if re.search(rf"__global__[^;{{}}]*\b{re.escape(name)}\s*\(", text):
                fn.error(
                    "P105",
                    node,
                    f"'{name}' is a kernel, __global__, in '{basename(path)}', and kernels call device functions",
                    f"write extern \"C\" __device__ before '{name}' there",
                )
    if paths and not found:
        shown = " and ".join(f"'{basename(path)}'" for path in paths)
        fn.error("P105", node, f"no function '{name}' is defined in {shown}", "link the file that does")
    made = fn.module.foreign(function.__name__, function.types, function.result, abi or "c", span)
    fn.program.foreign[function] = made
    return made


def _abi_of(function: ForeignFunction, text: str) -> str | None:
    """The way in which the function in the text returns its result. With "numba" and "out" it has one pointer more than
    the declaration, before or after the parameters."""
    for found in re.finditer(rf"\b{re.escape(function.__name__)}\s*\(([^(){{}};]*)\)\s*\{{", text):
        parameters = [part.strip() for part in found[1].split(",") if part.strip() not in ("", "void")]
        if len(parameters) == len(function.types) + 1 and function.result != "void":
            first = re.search(r"\bint\s*$", text[: found.start()]) is not None and "*" in parameters[0]
            return "numba" if first else "out" if "*" in parameters[-1] else "c"
    return None


def _declare_text(fn: FunctionScope, function: ForeignFunction, texts: tuple[str, ...]) -> _native.Function:
    """The declaration of a function that is built into CUDA C++ or defined by texts; a program has each text once."""
    new = [text for text in texts if text and text not in fn.program.includes]
    key = function.__name__ if new else ""  # all functions without new text share one source
    if key not in fn.program.includes:
        name = f"{key or 'cuda'}.cu"
        fn.program.includes[key] = fn.module.add_source(name, f'#line 1 "{name}"\n{"".join(new)}', 1)
    index = fn.program.includes[key]
    fn.program.includes.update(dict.fromkeys(new, index))
    made = fn.module.foreign(function.__name__, function.types, function.result, "c", (index, 1, 1, 1, 1))
    fn.program.foreign[function] = made
    return made


def _link(fn: FunctionScope, paths: Sequence[str], node: ast.AST) -> None:
    """Notes the text of each .cu file and the module's source for it. Files that are linked together may call each
    other and share one source. Machine code has no text."""
    texts: dict[str, str] = {}
    for path in paths:
        if not path.endswith(".cu"):
            fn.program.linked.setdefault(path, (0, None))
        elif path not in fn.program.linked:
            try:
                with open(path, encoding="utf-8") as file:
                    texts[path] = file.read()
            except OSError as error:
                fn.error("P105", node, f"'{path}' cannot be read: {error}")
                texts[path] = ""
    if texts:
        names = {path: _native.string_literal(as_text(basename(path))) for path in texts}
        whole = "\n".join(f"#line 1 {names[path]}  // linked\n{text}" for path, text in texts.items())
        index = fn.module.add_source(as_text(next(iter(texts))), whole, 1)
        fn.program.linked |= {path: (index, text) for path, text in texts.items()}


def call_external(fn: FunctionScope, node: ast.Call, function: External[..., Any]) -> _native.Expr:
    """A call of a C++ function that a header declares."""
    given = bound_arguments(fn, node, function.__wrapped__)
    if given is None:
        return fn.poison(node)
    lowered = lower_arguments(fn, given, function.parameters, pointed)
    known = fn.program.externals.get(function.interface)
    if known is None:
        known = _declare(fn, function, node)
    for name, parameter in inspect.signature(function.__wrapped__, follow_wrapped=False).parameters.items():
        if name not in lowered:
            lowered[name] = default_of(fn, parameter, function.__name__, node)
    return fn.module.call(known, [lowered[name] for name in function.parameters], fn.span(node))


def pointed(fn: FunctionScope, argument: ast.expr) -> _native.Expr:
    """An argument of a foreign function, which gets the address of an array's first element. In a kernel, a part of an
    array such as `x[i, b:]` is first assigned to a name, whose begin is checked to be inside of the array."""
    value = lower(fn, argument)
    if not fn.kernel or not has_slice(argument) or not subscripts_array(fn, argument):
        return value
    return fn.module.read(fn.hold(value, argument, shown=ast.unparse(argument)), fn.span(argument))


def _declare(fn: FunctionScope, function: External[..., Any], node: ast.Call) -> _native.Function:
    # All functions of a header share one source, the line that includes it.
    header = (function.header or "").strip('<">')  # `f.h` and `<f.h>` count as equal
    index = fn.program.includes.get(header)
    if index is None:
        name = f"{function.header or function.ext_name}.cu"
        index = fn.program.includes[header] = fn.module.add_source(name, function.include, 1)
    place = (index, 1, 1, 1, 1)
    # In a kernel written by hand, the text determines the threads that make the call.
    threads = 0 if fn.kernel else function.threads
    types = list(function.types)
    name = _own_name(fn, function)
    made = fn.module.foreign(name, types, function.result, "c", place, function.place, threads)
    fn.program.externals[function.interface] = made
    return made


def _own_name(fn: FunctionScope, function: External[..., Any]) -> str:
    """A spelling of the function's name that is unique for its back end in the program: `f`, `::f`, `:: f`. C++ sees
    one name, and chooses among the overloads by the types of the arguments."""
    taken = {known.name for (*_, place, _, _), known in fn.program.externals.items() if place == function.place}
    name, whole = function.ext_name, function.ext_name.removeprefix("::")
    blanks = 0
    while name in taken:
        name, blanks = f"::{' ' * blanks}{whole}", blanks + 1
    return name
