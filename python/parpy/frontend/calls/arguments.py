"""Assigns the arguments of a call to parameters."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from typing import Any

from ..scope import FunctionScope
from .intrinsics import Intrinsic


def fits(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> bool:
    """Whether the function accepts this number and these kinds of arguments; reports an error if it does not."""
    name, least, most = intrinsic.name, intrinsic.least, intrinsic.most
    if intrinsic.lowering.startswith("misplaced_"):
        return True
    starred = next((a for a in node.args if isinstance(a, ast.Starred)), None)
    if starred is not None:
        fn.error("P023", starred, f"'{name}' cannot take a starred argument", "write it out")
        return False
    unknown = next((k for k in node.keywords if k.arg not in intrinsic.keywords), None)
    if unknown is not None:
        word = unknown.arg
        shown = f"keyword argument '{word}'" if word else "keyword arguments from a dict"
        fn.error(
            "P023",
            unknown,
            f"'{name}' takes no {shown} in compiled code",
            f"{' and '.join(map(repr, intrinsic.keywords))} can be given"
            if intrinsic.keywords
            else "pass positional arguments only",
        )
        return False
    count = len(node.args)
    if least <= count <= most:
        return True
    fix = f"leave out {count - most} of them" if count > most else "add the missing arguments"
    fn.error("P023", node, f"'{name}' takes {_counted(least, most)}, not {count}", fix)
    return False


def bound_arguments(fn: FunctionScope, node: ast.Call, function: Callable[..., Any]) -> dict[str, ast.expr] | None:
    """The arguments of the call by parameter, in the order of the call; None after an error."""
    name = function.__name__
    parameters = inspect.signature(function, follow_wrapped=False).parameters
    kinds = inspect.Parameter
    positional = [p.name for p in parameters.values() if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)]
    given: dict[str, ast.expr] = {}
    for index, argument in enumerate(node.args):
        if isinstance(argument, ast.Starred):
            fn.error("P105", argument, "a starred argument cannot be compiled", "write it out")
            return None
        if index >= len(positional):
            fn.error(
                "P105",
                node,
                f"'{name}' takes {_counted(len(positional), len(positional))}, not {len(node.args)}",
                f"its parameters are ({', '.join(parameters)})",
            )
            return None
        given[positional[index]] = argument
    for keyword in node.keywords:
        word = keyword.arg
        if word is None:
            fn.error("P105", keyword, "arguments from a dict cannot be compiled", "write them out")
            return None
        if word not in parameters or parameters[word].kind is kinds.POSITIONAL_ONLY:
            fn.error(
                "P105", keyword, f"'{name}' has no parameter '{word}'", f"its parameters are ({', '.join(parameters)})"
            )
            return None
        if word in given:
            fn.error("P105", keyword, f"'{name}' gets two values for parameter '{word}'", "leave one out")
            return None
        given[word] = keyword.value
    for parameter in parameters.values():
        if parameter.name not in given and parameter.default is kinds.empty:
            fn.error(
                "P105",
                node,
                f"'{name}' gets no value for its parameter '{parameter.name}'",
                f"its parameters are ({', '.join(parameters)})",
            )
            return None
    return given


def _counted(least: int, most: int) -> str:
    if least == most:
        return f"{least} argument" + ("" if least == 1 else "s")
    if most > 9:
        return f"at least {least} argument" + ("" if least == 1 else "s")
    return f"{least} to {most} arguments"
