"""Runs a program in the form that NVRTC gives it, without a GPU: its body on one thread of the PTX interpreter."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import ptx

import nvrtc
import parpy
from parpy import CompileBackend, CompileOptions

from .data import Arguments

Unsupported = ptx.Unsupported


def on_one_thread(text: str) -> str:
    """The program with the body of its function in `with parpy.gpu:`, which becomes one kernel."""
    lines = text.split("\n")
    head = next(number for number, line in enumerate(lines) if line.startswith("def kernel"))
    body = [f"    {line}" if line.strip() else line for line in lines[head + 1 :] if "parpy.label" not in line]
    return "\n".join([*lines[: head + 1], "    with parpy.gpu:", *body])


def without_gpu(text: str) -> str:
    """The same text for the interpreter, which has no GPU blocks."""
    return text.replace("    with parpy.gpu:", "    if True:")


def run(function: Callable[..., Any], arguments: Arguments, change: Callable[[str], str] | None = None) -> None:
    """Runs the kernel's PTX on the memory of `arguments`. `change` edits the CUDA text first.

    Raises Unsupported if the text is not one kernel of arrays, or if its PTX has other instructions.
    """
    options = CompileOptions(backend=CompileBackend.Cuda)
    text = parpy.print_compiled(function, tuple(arguments.passed()), options)
    if change is not None:
        text = change(text)
    head = re.search(r"__global__ void (?:__launch_bounds__\(\d+\) )?(\w+)\(([^)]*)\)", text)
    if head is None:
        return  # the kernel has nothing to do
    if len(re.findall("__global__", text)) > 1:
        raise Unsupported("several kernels")
    module = ptx.parse(nvrtc.ptx(text))
    memory = ptx.Memory()
    places = [memory.add(array) for array in arguments.memory]
    values = []
    for parameter in filter(None, head.group(2).split(",")):
        name = re.split(r"[\s*]+", parameter.strip())[-1]
        name = name if name in arguments.views else name.removeprefix("d_")
        if name not in arguments.views:
            raise Unsupported(f"parameter {name}")
        view = arguments.views[name]
        values.append(places[view.memory] + view.offset)
    ptx.launch(module, head.group(1), values, memory)
