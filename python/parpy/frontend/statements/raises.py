"""Lowers `raise E(…)`, where E is a class outside of the function and the arguments are a text or numbers."""

from __future__ import annotations

import ast
import re

from ...calls.errors import name_of
from ...syntax.patterns import is_none, is_text
from ..expressions.evaluation import lower_all
from ..expressions.function_values import has_surrogate
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
    if has_surrogate(fn, text, node):
        return
    values = lower_all(fn, numbers)
    fn.out.append(fn.module.raise_(name_of(exception), text, values, fn.span(node)))


def _exception(fn: FunctionScope, node: ast.Raise) -> tuple[type[BaseException], list[ast.expr]] | None:
    """The class that the statement raises and its arguments; None after an error."""
    if node.exc is None or (node.cause is not None and not is_none(node.cause)):
        what = "'raise' without an exception" if node.exc is None else "'raise … from …'"
        fn.error("P010", node, f"{what} cannot be compiled", _FIX)
        return None
    call = node.exc if isinstance(node.exc, ast.Call) else None
    binding = fn.resolve(call.func if call else node.exc)
    if binding is None or not isinstance(binding.value, type) or not issubclass(binding.value, BaseException):
        fn.error("P010", node.exc, "only classes of exceptions can be raised here", _FIX)
        return None
    arguments = call.args if call else []
    starred = any(isinstance(each, ast.Starred) for each in arguments)
    texts = sum(_is_text(fn, each) for each in arguments)
    if (call and call.keywords) or starred or (texts > 0 and len(arguments) > 1):
        fn.error("P010", node.exc, "an exception with these arguments cannot be compiled", _FIX)
        return None
    fn.rely_on(binding)
    return binding.value, list(arguments)


def _is_text(fn: FunctionScope, node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or _printf_parts(node) is not None or _text(fn, node) is not None


_PLACES = re.compile(r"%([-+ 0#]*)(\d*)(\.\d+)?([%disfegEGxoXr])")


def _printf_parts(node: ast.expr) -> list[ast.expr] | None:
    """The parts of `"… %d …" % (a, b)` or `"…" + name`, in the form of an f-string's; None for other expressions."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _summed_parts(node)
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mod) or not isinstance(node.left, ast.Constant):
        return None
    template = node.left.value
    if not isinstance(template, str):
        return None
    values = list(node.right.elts) if isinstance(node.right, ast.Tuple) else [node.right]
    parts: list[ast.expr] = []
    end = 0
    for found in _PLACES.finditer(template):
        parts.append(ast.Constant(template[end : found.start()]))
        end = found.end()
        flags, width, digits, kind = found.groups()
        if kind == "%":
            parts.append(ast.Constant("%"))
            continue
        if not values:
            return None
        spec = _format_spec(flags, width, digits or "", kind)
        conversion = ord("r") if kind == "r" else -1
        value = values.pop(0)
        if kind in "di":  # %d shows the integral part of a float
            value = ast.Call(ast.Name("int", ast.Load()), [value], [])
        shown = ast.JoinedStr([ast.Constant(spec)]) if spec else None
        parts.append(ast.FormattedValue(value, conversion, shown))
    if values or "%" in template[end:]:
        return None
    parts.append(ast.Constant(template[end:]))
    return [ast.fix_missing_locations(ast.copy_location(part, node)) for part in parts]


def _summed_parts(node: ast.expr) -> list[ast.expr] | None:
    """The parts of a sum of texts with at least one literal; None for other expressions."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add):
        if isinstance(node, ast.Constant | ast.JoinedStr):
            return [node]
        value = node
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str" and node.args:
            value = node.args[0]
        return [ast.copy_location(ast.FormattedValue(value, -1, None), node)]
    parts = [*(_summed_parts(node.left) or ()), *(_summed_parts(node.right) or ())]
    written = any(isinstance(each, ast.JoinedStr) or is_text(each) for each in parts)
    return parts if written else None


def _format_spec(flags: str, width: str, digits: str, kind: str) -> str:
    align = "<" if "-" in flags else ">" if kind in "sr" and width else ""
    sign = "+" if "+" in flags else " " if " " in flags else ""
    zero = "0" if "0" in flags and not align else ""
    return f"{align}{sign}{'#' if '#' in flags else ''}{zero}{width}{digits}{'' if kind in 'sir' else kind}"


def _text(fn: FunctionScope, node: ast.expr) -> str | None:
    """The value of a text literal or of a name outside of the function that is a text; otherwise None."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    binding = fn.resolve(node) if isinstance(node, ast.Name | ast.Attribute) else None
    if binding is None or not isinstance(binding.value, str):
        return None
    fn.rely_on(binding)
    return binding.value


def _format(fn: FunctionScope, node: ast.expr, numbers: list[ast.expr]) -> str:
    """A text for `str.format`; appends the numbers that it names to `numbers`."""
    parts = node.values if isinstance(node, ast.JoinedStr) else _printf_parts(node)
    if parts is not None:
        return "".join(_format(fn, part, numbers) for part in parts)
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
