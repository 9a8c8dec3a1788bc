"""``%load_ext parpy`` and the cell magic ``%%parpy``, which shows the code and the time of a cell's calls."""

from __future__ import annotations

import ast
import html
import shlex
import time
from types import MethodType
from typing import Any

from .. import _native
from ..calls.jit import print_compiled
from .explain import _duration, explain
from .tune_arguments import time_of_call

_FLAGS = {
    "--no-code": "shows no generated code",
    "--explain": "shows parpy.explain of each call, too",
    "--once": "runs each call once, and does not time it on copies of its arguments",
}
_CALL = "__parpy_seen_call__"
_OF_FRAMES = ("super", "locals", "globals", "vars", "dir", "eval", "exec")  # they inspect the frame of their caller


def load_ipython_extension(shell: Any) -> None:
    """Registers ``%%parpy`` (``%load_ext parpy``)."""
    shell.register_magic_function(lambda line, cell: run_cell(shell, line, cell), "cell", "parpy")


def unload_ipython_extension(shell: Any) -> None:
    """Unregisters ``%%parpy``."""
    shell.magics_manager.magics["cell"].pop("parpy", None)


class SeenCall:
    """A call of a jit function in a cell: the code that it ran and its times, as text or HTML."""

    def __init__(self, title: str, times: str, code: str, explanation: Any) -> None:
        self.title, self.times, self.code, self.explanation = title, times, code, explanation

    def __repr__(self) -> str:
        parts = [f"{self.title}: {self.times}"]
        parts += [str(self.explanation)] if self.explanation is not None else []
        parts += [self.code.rstrip("\n")] if self.code else []
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        code, explained = "", ""
        if self.code:
            text = html.escape(self.code.rstrip("\n"))
            code = f"<details open><summary>generated code</summary><pre>{text}</pre></details>"
        if self.explanation is not None:
            explained = self.explanation._repr_html_()
        return f"<div><b>{html.escape(self.title)}</b>: {html.escape(self.times)}{explained}{code}</div>"


def run_cell(shell: Any, line: str, cell: str) -> None:
    """Runs the cell unchanged, then displays the generated code and the times of each call of a jit function in its
    statements. Calls inside functions that the cell defines are not shown."""
    flags = shlex.split(line)
    for each in flags:
        if each not in _FLAGS:
            known = "; ".join(f"{name} {what}" for name, what in _FLAGS.items())
            raise ValueError(f"%%parpy has no option {each!r}: {known}")
    seen: list[tuple[_native.JitFunction, tuple[Any, ...], dict[str, Any], float]] = []

    def call(function: Any, /, *arguments: Any, **keywords: Any) -> Any:
        if isinstance(function, MethodType) and isinstance(function.__func__, _native.JitFunction):
            function, arguments = function.__func__, (function.__self__, *arguments)
        if not isinstance(function, _native.JitFunction):
            return function(*arguments, **keywords)
        begin = time.perf_counter()
        result = function(*arguments, **keywords)
        seen.append((function, arguments, keywords, time.perf_counter() - begin))
        return result

    shell.user_ns[_CALL] = call
    transformer = _Calls()
    shell.ast_transformers.append(transformer)
    try:
        result = shell.run_cell(cell)
    finally:
        shell.ast_transformers.remove(transformer)
        shell.user_ns.pop(_CALL, None)
    if not result.success:
        return
    for function, arguments, keywords, seconds in seen:
        _display(_described(function, arguments, keywords, seconds, flags))


def _display(shown: SeenCall) -> None:
    from IPython.display import display

    display(shown)  # type: ignore[no-untyped-call, unused-ignore]


def _described(
    function: _native.JitFunction, arguments: tuple[Any, ...], given: dict[str, Any], seconds: float, flags: list[str]
) -> SeenCall:
    keywords = dict(given)
    opts = keywords.pop("opts", None)
    by_python = keywords.pop("seq", False)
    keywords.pop("debug", None)
    times = f"{_duration(seconds)}, including compilation"
    if by_python or keywords:  # arguments by name: the call is not repeated or explained
        return SeenCall(function.__name__, "run by Python" if by_python else times, "", None)
    if "--once" not in flags:
        try:
            again, runs = time_of_call(function, arguments, opts)
            times += f"; then {_duration(again)} (median of {runs} runs on copies)"
        except TypeError as error:
            times += f"; not timed again: {error}"
    code = "" if "--no-code" in flags else print_compiled(function, list(arguments), opts)
    explanation = explain(function, list(arguments), opts=opts) if "--explain" in flags else None
    return SeenCall(function.__name__, times, code, explanation)


class _Calls(ast.NodeTransformer):
    """Passes each call among the statements to a function; leaves functions and classes unchanged."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AsyncFunctionDef:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        return node

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in _OF_FRAMES:
            return node
        made = ast.Call(ast.copy_location(ast.Name(_CALL, ast.Load()), node), [node.func, *node.args], node.keywords)
        return ast.copy_location(made, node)
