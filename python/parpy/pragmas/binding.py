"""Binds each pragma to the statement that follows it, and refuses pragmas that do not fit their statements."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from ..syntax.patterns import Function, is_label, names_in
from ..syntax.walks import walk
from .comments import comments_of
from .grammar import Comment, parse_pragma
from .words import Fault, LoopPragma, Names, Place, Pragma, StatementPragma

Bound = dict[tuple[int, int], Pragma]
"""The pragmas by the line and column of their statements."""

_UPDATES: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "+", ast.Mult: "*", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
}  # fmt: skip
_EXTREMES = {"max": "max", "maximum": "max", "fmax": "max", "min": "min", "minimum": "min", "fmin": "min"}


def bind(text: str, first_line: int, shift: int, tree: Function) -> tuple[Bound, list[Fault]]:
    """The pragmas in the text of a function, by the statements of `tree`, and the faults in pragmas. The line numbers
    of `tree` plus `shift` are those of the file."""
    bound: Bound = {}
    faults: list[Fault] = []
    statements = sorted(_statements(tree), key=lambda each: (each.lineno, each.col_offset))
    for comment in comments_of(text, first_line):
        if isinstance(comment, Fault):
            faults.append(comment)
            continue
        node = _follower(comment, statements, shift)
        pragma = parse_pragma(comment)
        if isinstance(pragma, Fault):
            faults.append(pragma)
            continue
        if isinstance(node, Fault):
            faults.append(node)
            continue
        found = _misfit(pragma, node, tree)
        faults += found
        other = bound.get((node.lineno, node.col_offset))
        if other is not None:
            joined = _joined(other, pragma)
            if isinstance(joined, Fault):
                faults.append(joined)
                continue
            pragma = joined
        bound[node.lineno, node.col_offset] = pragma
    return bound, faults


def _statements(tree: Function) -> Iterator[ast.stmt]:
    for part in walk(tree):
        if isinstance(part, ast.stmt) and part is not tree:
            yield part


def _follower(comment: Comment, statements: Sequence[ast.stmt], shift: int) -> ast.stmt | Fault:
    line = comment.line - shift
    behind: ast.stmt | None = None
    for each in statements:
        if each.lineno > line and behind is None and not is_label(each):
            behind = each
        simple = not hasattr(each, "body") and not hasattr(each, "cases")
        if simple and each.lineno < line <= (each.end_lineno or each.lineno):
            return Fault(
                "P031",
                comment.whole,
                "this pragma is inside of a statement, not before one",
                "write it before the statement",
            )
    fix = "write it directly before a for loop or an assignment, in the same block"
    if behind is None:
        return Fault("P031", comment.whole, "no statement follows the pragma", fix)
    if comment.column > behind.col_offset + 1:
        return Fault("P031", comment.whole, "no statement follows the pragma in its block", fix)
    return behind


def _joined(first: Pragma, second: Pragma) -> Pragma | Fault:
    """Two pragmas before one statement, joined if exactly one of them is `atomic`; otherwise a fault."""
    if isinstance(first, StatementPragma) and isinstance(second, StatementPragma) and first.atomic != second.atomic:
        return StatementPragma(first.place, True, first.dims + second.dims)
    fault = Fault("P032", second.place, "the same statement has another pragma", "write them as one")
    fault.notes.append((first.place, "the other pragma"))
    return fault


# ---------------------------------------------------------------- checks of pragmas and statements


def _misfit(pragma: Pragma, node: ast.stmt, tree: Function) -> list[Fault]:
    if isinstance(pragma, LoopPragma):
        return _misfit_of_loop(pragma, node, tree)
    if not isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
        what = "atomic" if pragma.atomic else "a pragma of dimensions"
        return [
            Fault(
                "P031", pragma.place, f"{what} needs an assignment, not {_described(node)}",
                "write '#pragma parallel for' before loops" if isinstance(node, ast.For) else "move it down",
            )
        ]  # fmt: skip
    if pragma.atomic and _operator_of(node) is None:
        return [
            Fault(
                "P031", pragma.place, f"'{ast.unparse(node)}' is not an update that can be atomic",
                "write x[i] += e, x[i] = x[i] + e or x[i] = max(x[i], e)",
            )
        ]  # fmt: skip
    return []


def _misfit_of_loop(pragma: LoopPragma, node: ast.stmt, tree: Function) -> list[Fault]:
    word = "sequential for" if pragma.sequential else "parallel for" if pragma.parallel else "simd"
    if not isinstance(node, ast.For):
        fix = "move it directly before the loop that follows" if _loop_follows(node, tree) else "write it before a loop"
        if isinstance(node, ast.While):
            fix = "write a loop over a range: the number of iterations of a while loop is not known"
        elif isinstance(node, ast.Assign | ast.AugAssign) and any(isinstance(p, ast.Slice) for p in walk(node)):
            fix = "for a statement over slices, name the dimension: '#pragma :N=>simd'"
        return [Fault("P031", pragma.place, f"'{word}' needs a for loop, not {_described(node)}", fix)]
    return [fault for each in pragma.lists for fault in _misfit_of_names(each, node, tree)]


def _misfit_of_names(clause: Names, loop: ast.For, tree: Function) -> list[Fault]:
    names = names_in(tree)
    names |= {part.arg for part in walk(tree.args) if isinstance(part, ast.arg)}
    arrays = {
        part.value.id for part in walk(tree) if isinstance(part, ast.Subscript) and isinstance(part.value, ast.Name)
    }
    faults: list[Fault] = []
    for name, place in zip(clause.names, clause.places, strict=True):
        if name not in names:
            close = get_close_matches(name, sorted(names), n=1)
            fix = f"did you mean '{close[0]}'?" if close else "name a variable of the function"
            faults.append(Fault("P031", place, f"the function has no variable '{name}'", fix))
        elif clause.clause == "shared" and name in arrays:
            what = f"'{name}' is an array, and arrays are shared by all workers anyway"
            faults.append(Fault("P031", place, what, f"leave out '{name}': shared(…) is for numbers"))
        elif clause.clause == "reduction":
            faults += _misfit_of_reduction(name, clause, loop, place)
    return faults


def _misfit_of_reduction(name: str, clause: Names, loop: ast.For, place: Place) -> list[Fault]:
    found: set[str] = set()
    assigned = False
    for part in walk(loop):
        if isinstance(part, ast.Assign | ast.AugAssign):
            target = part.targets[0] if isinstance(part, ast.Assign) else part.target
            root = target.value if isinstance(target, ast.Subscript) else target
            if isinstance(root, ast.Name) and root.id == name:
                assigned = True
                found.add(_operator_of(part) or "")
    found.discard("")
    if not found:
        what = f"the loop assigns '{name}' but does not update it" if assigned else f"the loop does not update '{name}'"
        return [Fault("P031", place, what, f"write {name} += … or {name} = max({name}, …) in the loop")]
    if clause.op not in found:
        other = min(found)
        what = f"'{name}' is declared a reduction by '{clause.op}', but the loop updates it by '{other}'"
        return [Fault("P032", place, what, f"write reduction({other}: {name})")]
    return []


def _operator_of(node: ast.stmt) -> str | None:
    """The operator of `x += e`, `x = x + e` or `x = max(x, e)`; None for statements that are no updates."""
    if isinstance(node, ast.AugAssign):
        return _UPDATES.get(type(node.op))
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return None
    target, value = ast.unparse(node.targets[0]), node.value
    if isinstance(value, ast.BinOp):
        sides = [value.left] if isinstance(value.op, ast.Sub) else _terms(value, type(value.op))
        return _UPDATES.get(type(value.op)) if target in map(ast.unparse, sides) else None
    if isinstance(value, ast.Call) and target in map(ast.unparse, value.args):
        name = value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", "")
        return _EXTREMES.get(name)
    return None


def _terms(value: ast.expr, op: type[ast.operator]) -> list[ast.expr]:
    """The operands a, b and c of a + b + c."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, op):
        return _terms(value.left, op) + _terms(value.right, op)
    return [value]


def _loop_follows(node: ast.stmt, tree: Function) -> bool:
    for part in walk(tree):
        for body in (getattr(part, "body", None), getattr(part, "orelse", None)):
            if isinstance(body, list) and node in body:
                return any(isinstance(each, ast.For) for each in body[body.index(node) + 1 :][:1])
    return False


def _described(node: ast.stmt) -> str:
    kinds: dict[type[ast.stmt], str] = {
        ast.While: "a while loop", ast.If: "an if statement", ast.With: "a with statement", ast.Return: "a return",
        ast.FunctionDef: "a function", ast.For: "a for loop", ast.Pass: "'pass'", ast.Try: "a try statement",
    }  # fmt: skip
    return kinds.get(type(node)) or f"'{ast.unparse(node).splitlines()[0]}'"
