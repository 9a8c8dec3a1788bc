"""Finds the reasons why Python runs a loop, for the warnings P315."""

from __future__ import annotations

import ast
from collections.abc import Container

from .. import _native
from ..calls.objects import attribute_name
from ..frontend.refused import EXPRESSIONS, STATEMENTS
from ..library import is_in_library
from ..syntax.source import FunctionSource
from ..syntax.walks import walk
from .foreign_calls import is_for_python, is_statement_of_python
from .places import outermost_loops
from .python_parts import Resolver


def slow_loops(source: FunctionSource, resolver: Resolver, listed: Container[ast.stmt]) -> list[str]:
    """The warnings about the outermost loops that Python runs, and about other statements that compiled code has
    refused. Compiled code may run the loops `listed`."""
    texts: list[str] = []
    if source.only_pragmas:
        return texts  # the user chose this
    for loop in outermost_loops(source.tree().body):
        if loop in listed:
            continue
        reason = next(filter(None, (_why_python(part, resolver) for part in walk(loop))), None)
        if reason is not None:
            sink = _native.Diagnostics()
            sink.performance("P315", source.place(loop), f"Python runs this loop: {reason[0]}", reason[1])
            texts.append(sink.render([source.native()]))
    in_loops = {part for loop in outermost_loops(source.tree().body) for part in walk(loop)}
    for part, refusal in resolver.refused_parts.items():
        if isinstance(part, ast.stmt) and part not in in_loops:
            sink = _native.Diagnostics()
            sink.performance(
                "P315",
                source.place(part),
                f"Python runs this statement between the others: {refusal.why}",
                refusal.help,
            )
            texts.append(sink.render([source.native()]))
    return texts


def _why_python(part: ast.AST, resolver: Resolver) -> tuple[str, str] | None:
    """The reason why Python runs a part of a loop, and a remedy; None if Python does not run it."""
    if part in resolver.refused_parts:
        refusal = resolver.refused_parts[part]
        return f"{refusal.why} (line {refusal.line})", refusal.help
    if isinstance(part, ast.Call) and not is_for_python(part) and resolver.calls_unknown(part):
        shown = ast.unparse(part.func)
        found = resolver.find(part.func)
        what = "make this call of" if found is not None and is_in_library(found.value) else "know"
        return f"compiled code does not {what} '{shown}'", "call it before the loop, or write it out"
    if is_statement_of_python(part):
        what, fix = (STATEMENTS | EXPRESSIONS)[type(part)]  # type: ignore[index]
        return f"compiled code has no {what.removeprefix('a ').removeprefix('an ')}", fix
    if resolver.kept.assigned_by(part):
        return "it assigns to attributes that are not numbers", "change elements instead, self.x[:] = …"
    if isinstance(part, ast.Call) and resolver.kept.is_called(part) and not is_for_python(part):
        what = (
            f"Python runs parts of '{ast.unparse(part.func)}', for example because it replaces an array of the object"
        )
        return what, "change elements instead, self.x[:] = …, and give attributes numbers instead of None"
    if isinstance(part, ast.Call) and is_for_python(part):
        starred = any(isinstance(each, ast.Starred) for each in part.args) or any(
            each.arg is None for each in part.keywords
        )
        fix = "write the arguments out" if starred else "compute it in a for loop"
        return f"compiled code cannot call '{ast.unparse(part)}'", fix
    if isinstance(part, ast.Subscript) and resolver.is_of_list(part):
        return f"'{ast.unparse(part.value)}' is a list outside of the function", "make it an array, or a tuple"
    if isinstance(part, ast.Assign) and resolver.resizes(part):
        return (
            f"'{ast.unparse(part.targets[0])}' gets another size",
            "count the elements that are used, or keep the size",
        )
    if isinstance(part, ast.With) and not resolver.is_on_gpu(part):
        return "compiled code has no such 'with'", "put it around the call of the function"
    if resolver.kept.is_computed(part):
        return f"'{attribute_name(part)}' could not be computed before the call", "assign it when the object is made"
    if resolver.keeps(part):
        if isinstance(part, ast.Name) and part.id in resolver.made_by_python:
            what = f"'{part.id}' is a function that compiled code does not have"
            return what, "give it plain parameters and no assignments to outer variables"
        if isinstance(part, ast.Name) and part.id in resolver.kept.texts:
            what = f"'{part.id}' is a text, of which compiled loops only compare characters"
            return what, "write s[i] == t[j], or make an array of numbers, np.frombuffer(s.encode(), np.uint8)"
        if isinstance(part, ast.Name) and part.id in resolver.kept.objects:
            return f"'{part.id}' is an object that the function computes with", "read its attributes before the loop"
        shown = f"'{part.id}' is a list, dict or set" if isinstance(part, ast.Name) else "it makes a list, dict or set"
        return shown, "store to an array, x[i] = value, which np.empty makes before the loop"
    return None
