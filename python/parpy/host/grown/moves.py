"""Assignments of lists to other names in loops over memory for lists."""

from __future__ import annotations

import ast
from collections.abc import Container

from ...syntax.patterns import names_in
from ...syntax.walks import walk


def moves(node: ast.AST, names: Container[str]) -> list[ast.Assign]:
    """The assignments of lists to names: `frontier = following`."""
    return [
        part
        for part in walk(node)
        if isinstance(part, ast.Assign) and isinstance(part.value, ast.Name) and part.value.id in names
    ]


def is_moved_well(node: ast.AST, move: ast.Assign) -> bool:
    """Whether `a = b` may copy the list, since `b` is a list of this block alone, which makes it before, and no later
    statement of the block uses one of the two."""
    target, name = move.targets[0], getattr(move.value, "id", "")
    if len(move.targets) != 1 or not isinstance(target, ast.Name):
        return False
    for owner in walk(node):
        for block in (getattr(owner, each, None) for each in ("body", "orelse")):
            if not isinstance(block, list) or move not in block:
                continue
            place = block.index(move)
            uses = [name in names_in(each) for each in block]
            made = [
                isinstance(each, ast.Assign)
                and isinstance(each.value, ast.List)
                and isinstance(each.targets[0], ast.Name)
                and each.targets[0].id == name
                for each in block
            ]
            everywhere = sum(isinstance(part, ast.Name) and part.id == name for part in walk(node))
            here = sum(isinstance(part, ast.Name) and part.id == name for each in block for part in walk(each))
            later = any({name, target.id} & names_in(each) for each in block[place + 1 :])
            return True in made and uses.index(True) == made.index(True) and everywhere == here and not later
    return False
