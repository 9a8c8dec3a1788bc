"""Jit functions as operators of PyTorch: under ``torch.compile``, with fake tensors and, given a backward, autograd.

    @parpy.torch.op(like="x")
    @parpy.jit
    def scaled(x, a: float):
        return x * a

    scaled(torch.ones(4), 2.0)

PyTorch must be installed; ``import parpy`` does not load it.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from . import _native
from .calls.jit import _as_jit
from .calls.options import CompileOptions
from .calls.tracebacks import hides_frames
from .host.replaced import only_reads
from .syntax.source import FunctionSource
from .syntax.walks import walk

try:
    import torch
except ModuleNotFoundError as error:
    error.msg = "parpy.torch needs PyTorch: pip install torch"
    raise

__all__ = ["op"]

_NUMBERS = {int: "int", float: "float", bool: "bool", "int": "int", "float": "float", "bool": "bool"}


@hides_frames
def op(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    mutates: Sequence[str] | None = None,
    like: str | Sequence[str] | None = None,
    fake: Callable[..., Any] | None = None,
    backward: Callable[..., Any] | None = None,
    setup_context: Callable[..., None] | None = None,
    opts: CompileOptions | None = None,
) -> Any:
    """Registers a function, decorated with ``parpy.jit`` or not, with ``torch.library`` and returns the operator, which
    is called like the function.

    Parameters annotated as ``int``, ``float`` or ``bool`` are numbers; all others are tensors, on the CPU or on a GPU.
    ``name`` is the name of the operator; the default is ``parpy::`` and the name of the function. ``mutates`` names the
    tensors that the function stores to; by default these are all tensors that its text does not show to be read-only.

    A function that returns tensors must describe their shapes and types for calls that compute nothing. ``like`` names
    the tensor that each result resembles, or ``fake`` is a function that makes empty results from fake arguments, as
    for ``torch.library.register_fake``. A function annotated with ``-> float`` or ``-> int`` returns a number.

    ``backward(ctx, *gradients)`` returns a gradient for each parameter, and None for numbers. ``ctx.saved_tensors`` are
    the tensors among the arguments and ``ctx.numbers`` the other arguments by name, unless ``setup_context(ctx, inputs,
    output)`` saves something else. ``opts`` are the options of the calls.

    Raises TypeError if the function returns tensors and neither ``like`` nor ``fake`` describes them, and ValueError
    for names that are not parameters.
    """
    if function is None:
        return partial(
            op,
            name=name,
            mutates=mutates,
            like=like,
            fake=fake,
            backward=backward,
            setup_context=setup_context,
            opts=opts,
        )
    return _Operator(_as_jit(function), mutates, like, opts).registered(name, fake, backward, setup_context)


class _Operator:
    """A function that becomes an operator: its signature, its results and the tensors that it stores to."""

    def __init__(
        self,
        compiled: _native.JitFunction,
        mutates: Sequence[str] | None,
        like: str | Sequence[str] | None,
        opts: CompileOptions | None,
    ) -> None:
        self.compiled, self.opts = compiled, opts
        source: FunctionSource = compiled.__parpy_source__
        signature = inspect.signature(source.function)
        self.parameters = tuple(signature.parameters)
        self.numbers = {n: _NUMBERS.get(p.annotation) for n, p in signature.parameters.items()}
        self.tensors = tuple(each for each in self.parameters if self.numbers[each] is None)
        self.like = (like,) if isinstance(like, str) else tuple(like or ())
        written = [each for each in self.tensors if not only_reads(source, each)] if mutates is None else mutates
        for each in (*written, *self.like):
            if each not in self.tensors:
                raise ValueError(f"'{each}' is not a tensor among the parameters of '{compiled.__name__}'")
        self.written = tuple(written)
        self.number = _NUMBERS.get(signature.return_annotation)
        self.returns = self.number is not None or _returns_values(source)

    def registered(
        self,
        name: str | None,
        fake: Callable[..., Any] | None,
        backward: Callable[..., Any] | None,
        setup_context: Callable[..., None] | None,
    ) -> Any:
        if self.returns and self.number is None and fake is None and not self.like:
            raise TypeError(
                f"'{self.compiled.__name__}' returns tensors: say like='x' for one that is like the argument 'x', or "
                "fake= a function that makes empty ones"
            )
        made = torch.library.custom_op(
            name or f"parpy::{self.compiled.__name__}", self._run, mutates_args=self.written, schema=self._schema(fake)
        )
        if fake is not None or self.number is None:
            made.register_fake(fake or self._fake)
        if backward is not None:
            made.register_autograd(backward, setup_context=setup_context or self._keep)
        return made

    def _schema(self, fake: Callable[..., Any] | None) -> str:
        parts = []
        for number, each in enumerate(self.parameters):
            mark = f"({chr(ord('a') + number)}!)" if each in self.written else ""
            parts.append(f"{self.numbers[each] or f'Tensor{mark}'} {each}")
        one = self.number or "Tensor"
        count = max(len(self.like), 1) if fake is None else _count_of_results(self.compiled.__parpy_source__)
        results = "()" if not self.returns else one if count == 1 else f"({', '.join([one] * count)})"
        return f"({', '.join(parts)}) -> {results}"

    def _run(self, *arguments: Any) -> Any:
        given = [each.detach() if isinstance(each, torch.Tensor) else each for each in arguments]
        result = self.compiled(*given, opts=self.opts)
        if self.number is not None or result is None:
            return result
        devices = [each.device for each in given if isinstance(each, torch.Tensor)]
        if isinstance(result, tuple):
            return tuple(_tensor(each, devices) for each in result)
        return _tensor(result, devices)

    def _fake(self, *arguments: Any) -> Any:
        given = dict(zip(self.parameters, arguments, strict=True))
        made = tuple(torch.empty_like(given[each], memory_format=torch.contiguous_format) for each in self.like)
        return made[0] if len(made) == 1 else made or None

    def _keep(self, ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.save_for_backward(*(each for each in inputs if isinstance(each, torch.Tensor)))
        pairs = zip(self.parameters, inputs, strict=True)
        ctx.numbers = {name: each for name, each in pairs if not isinstance(each, torch.Tensor)}


def _returns_values(source: FunctionSource) -> bool:
    return any(isinstance(node, ast.Return) and node.value is not None for node in walk(source.tree()))


def _count_of_results(source: FunctionSource) -> int:
    """The number of results, read from the return statements of the text."""
    values = [node.value for node in walk(source.tree()) if isinstance(node, ast.Return) and node.value is not None]
    return max((len(each.elts) for each in values if isinstance(each, ast.Tuple)), default=1)


def _tensor(result: Any, devices: list[Any]) -> Any:
    """The result of a jit function as a tensor; a NumPy result goes to the GPU of the arguments, if they have one."""
    if isinstance(result, torch.Tensor):
        return result
    if hasattr(result, "__dlpack__") and not isinstance(result, np.ndarray | np.generic):
        return torch.from_dlpack(result)
    found = torch.from_numpy(np.ascontiguousarray(result)) if np.ndim(result) else torch.tensor(result)
    on_gpu = next((each for each in devices if each.type != "cpu"), None)
    return found if on_gpu is None else found.to(on_gpu)
