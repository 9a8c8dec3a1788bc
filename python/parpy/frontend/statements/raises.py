"""Lowers `raise E(…)`: the exception of a class outside of the function, of a text or of numbers, ends the call."""

from __future__ import annotations

import ast

from ...calls import raised
from ..expressions.evaluation import lower_all
from ..scope import FunctionScope

_FIX = "raise a class of exceptions with one text, or with numbers: raise ValueError(f'element {i} is {x[i]}')"
_CONVERSIONS = {-1: "", ord("s"): "!s", ord("r"): "!r", ord("a"): "!a"}


def lower_raise(fn: FunctionScope, node: ast.Raise) -> None:
    found = _exception(fn, node)
    if found is None:
        fn.give_up_on(node)
        return
    exception, numbers = found
    text = ""
    if len(numbers) == 1 and _is_text(fn, numbers[0]):
        template, numbers = numbers[0], []
        text = _format(fn, template, numbers)
    values = lower_all(fn, numbers)
    fn.out.append(fn.module.raise_(raised.name_of(exception), text, values, fn.span(node)))


def _exception(fn: FunctionScope, node: ast.Raise) -> tuple[type[BaseException], list[ast.expr]] | None:
    """The class that the statement raises and its arguments; None after an error."""
    if node.exc is None or (node.cause is not None and not _is_none(node.cause)):
        what = "'raise' without an exception" if node.exc is None else "'raise … from …'"
        fn.error("P010", node, f"{what} cannot be compiled", _FIX)
        return None
    call = node.exc if isinstance(node.exc, ast.Call) else None
    binding = fn.resolve(call.func if call else node.exc)
    if binding is None or not isinstance(binding.value, type) or not issubclass(binding.value, BaseException):
        fn.error("P010", node.exc, "what is raised here is no class of exceptions", _FIX)
        return None
    arguments = call.args if call else []
    starred = any(isinstance(each, ast.Starred) for each in arguments)
    texts = sum(_is_text(fn, each) for each in arguments)
    if (call and call.keywords) or starred or (texts > 0 and len(arguments) > 1):
        fn.error("P010", node.exc, "an exception of these arguments cannot be compiled", _FIX)
        return None
    fn.rely_on(binding)
    return binding.value, list(arguments)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_text(fn: FunctionScope, node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or _text(fn, node) is not None


def _text(fn: FunctionScope, node: ast.expr) -> str | None:
    """The text that a literal or a name outside of the function stands for."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    binding = fn.resolve(node) if isinstance(node, ast.Name | ast.Attribute) else None
    if binding is None or not isinstance(binding.value, str):
        return None
    fn.rely_on(binding)
    return binding.value


def _format(fn: FunctionScope, node: ast.expr, numbers: list[ast.expr]) -> str:
    """A text for `str.format`; appends the numbers that it names to `numbers`."""
    if isinstance(node, ast.JoinedStr):
        return "".join(_format(fn, part, numbers) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        text = _text(fn, node.value)
        if text is not None and node.conversion in (-1, ord("s")) and node.format_spec is None:
            return _escaped(text)
        numbers.append(node.value)
        number = len(numbers) - 1
        spec = "" if node.format_spec is None else ":" + _format(fn, node.format_spec, numbers)
        return f"{{{number}{_CONVERSIONS[node.conversion]}{spec}}}"
    return _escaped(_text(fn, node) or "")


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
