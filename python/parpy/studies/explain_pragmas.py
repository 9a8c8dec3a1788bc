"""Writes the mapping of a call as pragmas, each with the line of the program that it belongs before."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from ..syntax.walks import walk

_OUTER = ("blocks", "workers")
_INNER = ("threads", "vector")
_FORMS = ("#pragma parallel for", "#pragma parallel for simd", "#pragma simd")  # the first one of a line counts


def pragmas_of(loops: Sequence[dict[str, Any]]) -> list[tuple[int, str]]:
    """Pairs of a line and the pragma to insert before it, for loops as `explain` describes them. A line of which the
    compiler has made several loops has one pragma, or none if one of them must keep its order."""
    in_order = {loop["line"] for loop in loops if _is_loop(loop) and loop["verdict"] == "refuted"}
    found: list[tuple[int, str]] = []
    lines: dict[int, int] = {}  # of loops, with their place in `found`
    index = 0
    while index < len(loops):
        loop = loops[index]
        if _is_loop(loop):
            line, text = loop["line"], _of_loop(loop, _around(loops, index, in_order))
            if text and line not in in_order:
                if line not in lines:
                    lines[line] = len(found)
                    found.append((line, text))
                elif _FORMS.index(text) < _FORMS.index(found[lines[line]][1]):
                    found[lines[line]] = (line, text)
            index += 1
            continue
        end = index + 1
        while end < len(loops) and loops[end]["line"] == loop["line"] and loops[end]["depth"] > loop["depth"]:
            end += 1
        if text := _of_statement(loops[index:end]):
            found.append((loop["line"], text))
        index = end
    return found


def _is_loop(loop: dict[str, Any]) -> bool:
    return bool(loop["text"].startswith("for "))


def _around(loops: Sequence[dict[str, Any]], index: int, in_order: set[int]) -> bool:
    """Whether a loop around this one, of a line that is not `in_order`, runs in parallel."""
    depth = loops[index]["depth"]
    for each in reversed(loops[:index]):
        if each["depth"] < depth:
            if each["level"] in (*_OUTER, *_INNER) and each["line"] not in in_order:
                return True
            depth = each["depth"]
    return False


def _of_loop(loop: dict[str, Any], around: bool) -> str:
    if loop["level"] in _OUTER:
        return "#pragma parallel for"
    if loop["level"] in _INNER:
        return "#pragma simd" if around else "#pragma parallel for simd"
    return ""


def _of_statement(loops: Sequence[dict[str, Any]]) -> str:
    """`#pragma :M=>parallel :N=>reduce(sum)`; '' where the statement does not write the bounds of its slices."""
    slices: list[ast.expr] = []
    others: list[str] = []  # texts of slices that occur in the value alone
    operator = "sum"
    with suppress(SyntaxError):
        node = ast.parse(loops[0]["text"].strip()).body[0]
        if isinstance(node, ast.Assign | ast.AugAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            own = target.slice if isinstance(target, ast.Subscript) else None
            slices = own.elts if isinstance(own, ast.Tuple) else [own] if own is not None else []
            known = {ast.unparse(part) for part in slices}
            found = [part for part in walk(node.value) if isinstance(part, ast.Slice)]
            others = [*dict.fromkeys(text for part in found if (text := ast.unparse(part)) not in known)]
            operator = _operator(node.value)
    parts = [part for part in slices if isinstance(part, ast.Slice)]
    words: list[str] = []
    for loop, part in zip(loops, parts, strict=False):
        if part.upper is None or part.step is not None:
            return ""
        if loop["level"] in (*_OUTER, *_INNER):
            bounds = ast.unparse(part).replace(" ", "")
            words.append(f"{bounds}=>{'parallel' if loop['level'] in _OUTER or not words else 'simd'}")
    for loop, text in zip(loops[len(parts) :], others, strict=False):
        if loop["reduce"] and text.rpartition(":")[2].strip():
            words.append(f"{text.replace(' ', '')}=>reduce({operator})")
    return "#pragma " + " ".join(words) if words else ""


def _operator(value: ast.expr) -> str:
    """The name in pragmas of the first reduction of an expression."""
    for part in walk(value):
        if isinstance(part, ast.Call):
            name = part.func.attr if isinstance(part.func, ast.Attribute) else getattr(part.func, "id", "")
            if name in ("max", "min", "prod", "any", "all"):
                return str(name)
    return "sum"
